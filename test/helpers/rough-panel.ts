import fc from 'fast-check'
import { type DevtoolsClient, makeClient } from '../../devtools/core/client/client.ts'
import { makeChannelPair } from '../../devtools/core/protocol/channel-pair.ts'
import type { HostMessage } from '../../devtools/core/protocol/protocol.ts'
import { account, engine, pair, quote, type Stage } from './devtools-stage.ts'

/** What happens to a panel and its kernel. */
export type RoughStep =
  | { readonly kind: 'tell'; readonly id: number; readonly what: number }
  | { readonly kind: 'wait' | 'drop' | 'reconnect' | 'slow' }

/** News in the first place, and now and then a batch that is lost, a slow socket or a new one. */
export const roughStep: fc.Arbitrary<RoughStep> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('tell' as const), id: fc.nat(6), what: fc.nat(4) })
  },
  { weight: 4, arbitrary: fc.constantFrom<RoughStep>({ kind: 'wait' }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<RoughStep>({ kind: 'drop' }, { kind: 'reconnect' }, { kind: 'slow' })
  }
)

/** A panel whose connection is not to be relied on. */
export interface RoughPanel {
  readonly client: DevtoolsClient
  /** Does a step; `turn` makes what is told new. */
  take(step: RoughStep, turn: number): Promise<void>
  /** Tells one event more, over a good connection, so that the panel notices what it lacks. */
  calm(): Promise<void>
}

/** Joins a panel to the devtools of a stage. */
export const makeRoughPanel = async (stage: Stage): Promise<RoughPanel> => {
  const listeners: ((message: HostMessage) => void)[] = []
  let link = makeChannelPair()
  let mode: 'drop' | 'slow' | undefined
  const connect = (): void => {
    link = makeChannelPair()
    const { host } = link
    link.client.onMessage(message => {
      for (const listener of listeners) listener(message)
    })
    const send = (message: HostMessage): void => {
      if (mode !== 'drop' || message.type !== 'batch') host.send(message)
    }
    stage.devtools.attach(
      { ...host, send },
      { isReadOnly: true, hasWorld: false, isSlow: () => mode === 'slow' }
    )
  }
  const client = makeClient({
    send: message => link.client.send(message),
    onMessage: listener => void listeners.push(listener),
    onClose() {},
    close() {}
  })
  connect()
  await stage.settle()
  return {
    client,
    async take(step, turn) {
      if (step.kind === 'tell') emitAny(stage, step.id, step.what, turn)
      else if (step.kind === 'wait') {
        await stage.clock.advance(100)
        mode = undefined
      } else if (step.kind === 'reconnect') {
        link.client.close()
        await stage.settle()
        connect()
        await stage.settle()
      } else mode = step.kind
    },
    async calm() {
      mode = undefined
      stage.emit('addressChanged', { walletId: 'last' })
      await stage.clock.advance(1100)
    }
  }
}

const emitAny = (stage: Stage, id: number, what: number, turn: number): void => {
  if (what === 0) stage.emit('engineChanged', engine(`w${id}`, { blockHeight: turn }))
  if (what === 1) stage.emit('ratesChanged', { pairs: [pair(`C${id}`, 'iso:USD', turn)], providers: [] })
  if (what === 2) stage.emit('quoteChanged', quote(`r${id}`, `p${turn % 2}`))
  if (what === 3)
    stage.emit('accountChanged', account('a', { walletIds: [`w${id}`, 'w0'], isLoggedIn: turn % 3 > 0 }))
  if (what === 4)
    stage.emit('usersChanged', [{ loginId: `u${id}`, isPinLoginEnabled: false, isLoggedIn: turn % 2 === 0 }])
}
