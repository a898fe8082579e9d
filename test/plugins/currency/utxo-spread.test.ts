import test, { type ExecutionContext } from 'ava'
import { type ElectrumConnect, makeElectrumConnect } from '../../../fake-server/electrum/connect.ts'
import { type ServerKind, serverKinds } from '../../../fake-server/electrum/kinds.ts'
import type { Channel, Io } from '../../../kernel/plugin-api.ts'
import { messagesOf } from '../../helpers/lying-server.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

/** One of the named servers. */
interface Server {
  readonly url: string
  /** Scripts that are subscribed on the connections that are open. */
  subscribed(): ReadonlySet<string>
  /** All scripts that it was ever requested for with a subscription. */
  readonly learned: Set<string>
  /** Connections that were opened, and those of them that subscribed something. */
  opened: number
  subscribing: number
  /** Requests about scripts. */
  sent: number
  /** The most subscriptions that waited for an answer at once. */
  mostWaiting: number
  /** Ends all connections, and takes no others until it is revived. */
  kill(): void
  revive(): void
}

interface SpreadWorld extends TestWorld {
  readonly servers: readonly Server[]
}

interface SpreadOptions {
  /** For each server how many subscriptions it gives one connection. */
  readonly limits: readonly number[]
  readonly kind?: ServerKind
  readonly isProxied?: boolean
  readonly hosts?: readonly string[]
}

const SUBSCRIBE = 'blockchain.scripthash.subscribe'

const makeSpreadWorld = (t: ExecutionContext, options: SpreadOptions): SpreadWorld => {
  const { limits, kind = serverKinds.ours, isProxied = false } = options
  const byHost = new Map<string, Server & { connect: NonNullable<Io['connect']> }>()
  const connect: NonNullable<Io['connect']> = (address, handlers, opening) =>
    (byHost.get(address.host) as Server & { connect: NonNullable<Io['connect']> }).connect(
      address,
      handlers,
      opening
    )
  const hosts = options.hosts ?? limits.map((_, at) => `s${at + 1}.test`)
  const world = makeTestWorld({
    io: { connect, isProxied },
    servers: hosts.map(host => `tcp://${host}:1`)
  })
  for (const [at, host] of hosts.entries()) {
    const maxSubscriptions = limits[at] ?? 0
    const make = (): ElectrumConnect =>
      makeElectrumConnect(world.chain, { kind, limits: { maxSubscriptions } })
    let electrum = make()
    const open = new Map<object, Set<string>>()
    const server: Server & { connect: NonNullable<Io['connect']> } = {
      url: `tcp://${host}:1`,
      ...{ learned: new Set(), opened: 0, subscribing: 0, sent: 0, mostWaiting: 0 },
      subscribed: () => new Set([...open.values()].flatMap(scripts => [...scripts])),
      kill: () => electrum.close(),
      revive: () => {
        electrum = make()
      },
      async connect(address, handlers, opening): Promise<Channel> {
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
              if (!method.startsWith('blockchain.scripthash.')) continue
              requested.set(id, { method, script: params[0] ?? '' })
              server.sent += 1
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
  return Object.assign(world, { servers: [...byHost.values()] })
}

/** Opens many wallets, of which each has a payment of its own amount. */
const openMany = async (
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

const isSynced = ({ reported }: TestWallet): boolean => reported.ratios.at(-1) === 1

test.serial(
  'wallets spread over the named servers, none has more than it gives, and one that dies takes no wallet with it',
  async t => {
    const limits = [1500, 3500, 3500]
    const world = makeSpreadWorld(t, { limits, kind: serverKinds.fulcrum })
    const made = await openMany(world, 220)
    await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
    await until('all are in step', () => made.every(({ wallet }) => isSynced(wallet)))
    t.true(made.every(({ wallet, amount }) => wallet.balance() === amount))
    const loads = (): readonly number[] => world.servers.map(server => server.subscribed().size)
    t.log(`subscriptions: ${loads().join(', ')}`)
    for (const [at, load] of loads().entries()) t.true(load <= (limits[at] ?? 0))
    t.true(loads().filter(load => load > 700).length === 3, 'all servers carry wallets')
    const [first, ...others] = world.servers
    const scripts = world.servers.flatMap(server => [...server.subscribed()])
    t.is(new Set(scripts).size, scripts.length, 'each wallet has one server')
    for (const server of others) server.mostWaiting = 0
    const lost = first?.subscribed().size ?? 0
    first?.kill()
    await until('the others have all wallets', () => {
      const there = new Set(others.flatMap(server => [...server.subscribed()]))
      return scripts.every(script => there.has(script))
    })
    t.true(
      others.every(({ mostWaiting }) => mostWaiting < lost),
      'not all of them at once'
    )
    t.log(`subscriptions: ${loads().join(', ')}`)
    for (const [at, load] of loads().entries()) t.true(load <= (limits[at] ?? 0))
    for (const { address } of made) world.chain.fund(address, '5000')
    world.chain.mine()
    await until('all see a payment', () =>
      made.every(({ wallet, amount }) => wallet.balance() === String(Number(amount) + 5000))
    )
  }
)

test.serial('a few wallets stay with the first server, and no other one learns what they watch', async t => {
  const world = makeSpreadWorld(t, { limits: [9000, 9000] })
  const made = await openMany(world, 5)
  await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
  await until('all are in step', () => made.every(({ wallet }) => isSynced(wallet)))
  const [first, second] = world.servers
  t.is(first?.subscribed().size, 5 * 26)
  t.is(second?.learned.size, 0)
})

test.serial(
  'wallets go past the share of a server only if that is of the network of their owner',
  async t => {
    for (const [host, isShared] of [
      ['192.168.1.5', false],
      ['public.test', true]
    ] as const) {
      const world = makeSpreadWorld(t, { limits: [9000, 9000], hosts: [host, 'other.test'] })
      const made = await openMany(world, 205)
      await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
      await until('all are in step', () => made.every(({ wallet }) => isSynced(wallet)))
      t.is((world.servers[1]?.learned.size ?? 0) > 0, isShared, host)
      await world.close()
    }
  }
)

test.serial(
  'a server alone serves as many wallets as it can, and the others say once that it is full, without asking again',
  async t => {
    const world = makeSpreadWorld(t, { limits: [140], kind: serverKinds.fulcrum })
    const [server] = world.servers
    const made = await openMany(world, 8)
    await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
    const isRefused = ({ reported }: TestWallet): boolean =>
      /watches no more than/.test(reported.statuses.at(-1) ?? '')
    await until('each is served or refused', () =>
      made.every(({ wallet }) => isSynced(wallet) || isRefused(wallet))
    )
    const served = made.filter(({ wallet }) => isSynced(wallet))
    const refused = made.filter(({ wallet }) => !isSynced(wallet))
    t.is(served.length, 5)
    const requested = server?.learned.size
    const sent = server?.sent
    for (const { wallet } of refused) {
      t.deepEqual(
        wallet.reported.statuses.filter(text => text !== ''),
        [
          'tcp://s1.test:1 watches no more than 140 addresses for this device, and no other server has room for this wallet'
        ]
      )
      for (let looks = 0; looks < 3; looks += 1)
        await t.throwsAsync(wallet.engine.syncNetwork({}), { code: 'SERVER_FULL' })
    }
    t.is(server?.learned.size, requested)
    t.is(server?.sent, sent, 'it is not requested again')
    t.is(server?.opened, 1)
    for (const { address } of served) world.chain.fund(address, '5000')
    await until('those that are served see a payment', () =>
      served.every(({ wallet, amount }) => wallet.balance() === String(Number(amount) + 5000))
    )
    await served[0]?.wallet.engine.killEngine()
    const [next] = refused
    await next?.wallet.engine.syncNetwork({})
    t.true(next !== undefined && isSynced(next.wallet), 'there is room for one more')
    t.is(next?.wallet.balance(), next?.amount)
    t.is(next?.wallet.reported.statuses.at(-1), '')
  }
)

for (const atLimit of ['exhausted', 'closed'] as const)
  test.serial(
    `a server that ends the connection of a device that asks too much (${atLimit}) loses its wallets to another one`,
    async t => {
      const world = makeSpreadWorld(t, {
        limits: [300, 9000],
        kind: { ...serverKinds.ours, atLimit }
      })
      const made = await openMany(world, 40)
      await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
      await until('all are in step', () => made.every(({ wallet }) => isSynced(wallet)))
      t.true(made.every(({ wallet, amount }) => wallet.balance() === amount))
      const [first] = world.servers
      t.log(
        `connections of the first: ${first?.subscribing}, subscriptions: ${world.servers.map(server => server.subscribed().size)}`
      )
      t.true((first?.subscribing ?? 0) <= 3)
      for (const { address } of made) world.chain.fund(address, '5000')
      await until('all see a payment', () =>
        made.every(({ wallet, amount }) => wallet.balance() === String(Number(amount) + 5000))
      )
    }
  )

test.serial(
  'through a proxy each wallet has a connection of its own, to one server, and more than a share go to the next',
  async t => {
    const world = makeSpreadWorld(t, { limits: [9000, 9000], isProxied: true })
    const made = await openMany(world, 205)
    await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
    await until('all are in step', () => made.every(({ wallet }) => isSynced(wallet)))
    const [first, second] = world.servers
    t.is((first?.subscribing ?? 0) + (second?.subscribing ?? 0), 205)
    t.true((second?.subscribing ?? 0) >= 4)
    const learned = [...(first?.learned ?? [])].filter(script => second?.learned.has(script) === true)
    t.deepEqual(learned, [])
  }
)
