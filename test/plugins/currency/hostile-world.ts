import type { Channel, Io, Json } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { messagesOf } from '../../helpers/lying-server.ts'
import { makeTestWorld, type TestWorld } from './utxo-world.ts'

/** A line of the Electrum protocol. */
export interface Reply {
  id?: number
  method?: string
  params?: Json
  result?: Json
}

/**
 * Changes what the bad server answers. Gets the method asked, its reply and its parameters; gives the text to send, or
 * undefined for silence.
 */
export type Twist = (method: string, reply: Reply, params: Json | undefined) => string | undefined

/** The server that lies, for a world without an honest one. */
export const BAD = 'tcp://bad.test:1'
/** The honest one. */
export const GOOD = 'tcp://good.test:2'

/** A world with a bad server first and, unless others are named, an honest one second; time runs `speed` times as fast. */
export const makeHostileWorld = (
  twist: Twist,
  {
    servers = [BAD, GOOD],
    speed = 1,
    ...options
  }: { servers?: string[]; speed?: number } & Pick<
    NonNullable<Parameters<typeof makeTestWorld>[0]>,
    'chain' | 'plugin'
  > = {}
): TestWorld & { readonly ports: number[] } => {
  const base = makeNodeIo()
  const ports: number[] = []
  const clock: Io['clock'] = {
    ...base.clock,
    monotonic: () => base.clock.monotonic() * speed,
    after: (delayMs, task) => base.clock.after(delayMs / speed, task)
  }
  let world: TestWorld | undefined
  const connect: NonNullable<Io['connect']> = async (address, handlers): Promise<Channel> => {
    ports.push(address.port)
    const electrum = (world as TestWorld).electrum
    if (address.port !== 1) return electrum.connect(address, handlers)
    const questions = new Map<number, Reply>()
    const channel = await electrum.connect(address, {
      onText(text) {
        for (const reply of messagesOf(text) as Reply[]) {
          const { method = '', params } =
            reply.method === undefined ? (questions.get(reply.id ?? -1) ?? {}) : reply
          const twisted = twist(method, reply, params)
          if (twisted !== undefined) handlers.onText(twisted)
        }
      },
      onClose: error => handlers.onClose(error)
    })
    return {
      close: () => channel.close(),
      send(text) {
        for (const question of messagesOf(text) as Reply[]) questions.set(question.id ?? -1, question)
        channel.send(text)
      }
    }
  }
  world = makeTestWorld({ ...options, io: { connect, clock }, servers })
  return Object.assign(world, { ports })
}

/** A reply as it travels. */
export const line = (reply: Reply): string => `${JSON.stringify(reply)}\n`
/** Changes the results of one method alone. */
export const only =
  (name: string, change: (result: Json) => Json): Twist =>
  (method, reply) =>
    line(method === name && reply.result !== undefined ? { ...reply, result: change(reply.result) } : reply)
