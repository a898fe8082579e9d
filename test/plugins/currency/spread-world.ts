import type { ExecutionContext } from 'ava'
import { type ElectrumConnect, makeElectrumConnect } from '../../../fake-server/electrum/connect.ts'
import { type ServerKind, serverKinds } from '../../../fake-server/electrum/kinds.ts'
import type { Channel, Io } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { messagesOf } from '../../helpers/lying-server.ts'
import { makeTestWorld, type TestWallet, type TestWorld } from './utxo-world.ts'

/** One of the named servers. */
export interface SpreadServer {
  readonly url: string
  /** Scripts that are subscribed on the connections that are open. */
  subscribed(): ReadonlySet<string>
  /** All scripts that it was ever requested for with a subscription. */
  readonly learned: Set<string>
  /** Connections that were opened, and those of them that subscribed something. */
  opened: number
  /** Connections that were tried. */
  tried: number
  subscribing: number
  /** Requests about scripts. */
  sent: number
  /** The script of each of them, in order. */
  readonly scripts: string[]
  /** The most subscriptions that waited for an answer at once. */
  mostWaiting: number
  /** How many subscriptions it gives each connection from its next revival on. */
  limit: number
  /** True while payments reach it late; each then waits to be let through. */
  holdsPayments: boolean
  readonly held: (() => void)[]
  /** Ends all connections, and takes no others until it is revived. */
  kill(): void
  revive(): void
}

/** A chain with several servers of different hosts. */
export interface SpreadWorld extends TestWorld {
  readonly servers: readonly SpreadServer[]
  /** Moves the clock on by which the plugin measures how long something is ago. */
  pass(ms: number): void
  /** How many pauses of so many milliseconds have ended, before they were hurried. */
  ended(ms: number): number
}

/** Options of {@link makeSpreadWorld}. */
export interface SpreadOptions {
  /** For each server how many subscriptions it gives one connection. */
  readonly limits: readonly number[]
  readonly kind?: ServerKind
  readonly isProxied?: boolean
  readonly hosts?: readonly string[]
  /** Pauses of half a minute and a minute take a hundredth of it. */
  readonly isHurried?: boolean
}

const SUBSCRIBE = 'blockchain.scripthash.subscribe'

/** Makes a chain with several servers, which end with the test. */
export const makeSpreadWorld = (t: ExecutionContext, options: SpreadOptions): SpreadWorld => {
  const { limits, kind = serverKinds.ours, isProxied = false } = options
  const byHost = new Map<string, SpreadServer & { connect: NonNullable<Io['connect']> }>()
  const connect: NonNullable<Io['connect']> = (address, handlers, opening) =>
    (byHost.get(address.host) as SpreadServer & { connect: NonNullable<Io['connect']> }).connect(
      address,
      handlers,
      opening
    )
  const hosts = options.hosts ?? limits.map((_, at) => `s${at + 1}.test`)
  const { clock: base } = makeNodeIo()
  let passed = 0
  const endedOf = new Map<number, number>()
  const ended = (ms: number): number => endedOf.get(ms) ?? 0
  const clock: Io['clock'] = {
    ...base,
    monotonic: () => base.monotonic() + passed,
    after: (ms, callback) =>
      base.after(options.isHurried === true && (ms === 30_000 || ms === 60_000) ? ms / 100 : ms, () => {
        callback()
        endedOf.set(ms, ended(ms) + 1)
      })
  }
  const world = makeTestWorld({
    io: { connect, isProxied, clock },
    servers: hosts.map(host => `tcp://${host}:1`)
  })
  for (const [at, host] of hosts.entries()) {
    const make = (maxSubscriptions: number): ElectrumConnect =>
      makeElectrumConnect(world.chain, { kind, limits: { maxSubscriptions } })
    let electrum = make(limits[at] ?? 0)
    const open = new Map<object, Set<string>>()
    const server: SpreadServer & { connect: NonNullable<Io['connect']> } = {
      url: `tcp://${host}:1`,
      ...{
        learned: new Set(),
        opened: 0,
        tried: 0,
        subscribing: 0,
        sent: 0,
        scripts: [],
        mostWaiting: 0,
        limit: limits[at] ?? 0
      },
      ...{ holdsPayments: false, held: [] },
      subscribed: () => new Set([...open.values()].flatMap(scripts => [...scripts])),
      kill: () => electrum.close(),
      revive: () => {
        electrum = make(server.limit)
      },
      async connect(address, handlers, opening): Promise<Channel> {
        server.tried += 1
        const scripts = new Set<string>()
        const requested = new Map<number, { method: string; script: string }>()
        const key = {}
        let hasSubscribed = false
        const end = (): void => void open.delete(key)
        const channel = await electrum.connect(
          address,
          {
            onText(text) {
              for (const { id, result, error } of messagesOf(text) as {
                id?: number
                result?: unknown
                error?: unknown
              }[]) {
                const request = requested.get(id ?? -1)
                requested.delete(id ?? -1)
                if (request?.method === SUBSCRIBE && error === undefined) scripts.add(request.script)
                if (request?.method === 'blockchain.scripthash.unsubscribe' && result === true)
                  scripts.delete(request.script)
              }
              handlers.onText(text)
            },
            onClose(error) {
              end()
              handlers.onClose(error)
            }
          },
          opening
        )
        server.opened += 1
        open.set(key, scripts)
        return {
          close() {
            end()
            channel.close()
          },
          send(text) {
            for (const { id, method, params } of messagesOf(text) as {
              id: number
              method: string
              params: string[]
            }[]) {
              if (server.holdsPayments && method === 'blockchain.transaction.broadcast') {
                server.held.push(() => channel.send(text))
                return
              }
              if (!method.startsWith('blockchain.scripthash.')) continue
              requested.set(id, { method, script: params[0] ?? '' })
              server.sent += 1
              server.scripts.push(params[0] ?? '')
              if (method !== SUBSCRIBE) continue
              server.learned.add(params[0] ?? '')
              if (!hasSubscribed) server.subscribing += 1
              hasSubscribed = true
            }
            const waiting = [...requested.values()].filter(({ method }) => method === SUBSCRIBE).length
            server.mostWaiting = Math.max(server.mostWaiting, waiting)
            channel.send(text)
          }
        }
      }
    }
    byHost.set(host, server)
  }
  t.teardown(() => {
    for (const server of byHost.values()) server.kill()
    return world.close()
  })
  return Object.assign(world, {
    servers: [...byHost.values()],
    ended,
    pass(ms: number) {
      passed += ms
    }
  })
}

/** Opens many wallets, of which each has a payment of its own amount. */
export const openMany = async (
  world: SpreadWorld,
  count: number
): Promise<readonly { readonly wallet: TestWallet; readonly amount: string; readonly address: string }[]> => {
  const made = []
  for (let at = 0; at < count; at += 1) {
    const wallet = await world.openWallet({ format: 'bip32', isStarted: false })
    const { publicAddress: address } = await wallet.engine.getFreshAddress({ tokenId: null })
    const amount = String(10_000 + at)
    world.chain.fund(address, amount)
    made.push({ wallet, amount, address })
  }
  world.chain.mine()
  return made
}

/** True of a wallet that has read all. */
export const isSynced = ({ reported }: TestWallet): boolean => reported.ratios.at(-1) === 1
