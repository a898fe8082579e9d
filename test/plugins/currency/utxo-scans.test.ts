import test, { type ExecutionContext } from 'ava'
import type { Channel, Io } from '../../../kernel/plugin-api.ts'
import { makeTestStore, makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

interface HeldWorld extends TestWorld {
  /** Notifications of scripts that have not been delivered yet. */
  readonly held: string[]
  /** While it is true, notifications of scripts are held. */
  holds: boolean
  /** Delivers what is held. */
  deliver(): void
  /** Ends the connection once it has sent this. */
  endsAt: string | undefined
  /** How many connections were opened. */
  connections: number
}

const makeHeldWorld = (t: ExecutionContext): HeldWorld => {
  const held: string[] = []
  let onText: ((text: string) => void) | undefined
  const connect: NonNullable<Io['connect']> = async (address, handlers): Promise<Channel> => {
    world.connections += 1
    const channel = await (world as TestWorld).electrum.connect(address, {
      ...handlers,
      onText(text) {
        if (world.holds && text.includes('"method":"blockchain.scripthash.subscribe"')) held.push(text)
        else handlers.onText(text)
      }
    })
    onText = text => handlers.onText(text)
    return {
      close: () => channel.close(),
      send(text) {
        if (world.endsAt !== undefined && text.includes(`"${world.endsAt}"`)) {
          world.endsAt = undefined
          channel.close()
        } else channel.send(text)
      }
    }
  }
  const world: HeldWorld = Object.assign(makeTestWorld({ io: { connect } }), {
    ...{ held, holds: false, endsAt: undefined, connections: 0 },
    deliver: () => {
      for (const text of held.splice(0)) onText?.(text)
    }
  })
  t.teardown(() => world.close())
  return world
}

const isSynced = ({ reported }: TestWallet): boolean => reported.ratios.at(-1) === 1

/** Within a few seconds: the next look of the kernel is a minute away. */
const soon = async (holds: () => boolean): Promise<boolean> => {
  for (let tries = 0; tries < 1000 && !holds(); tries += 1)
    await new Promise(resolve => setTimeout(resolve, 3))
  return holds()
}

test('a payment that is announced in any moment of a scan, and at its very end, is seen at once', async t => {
  const world = makeHeldWorld(t)
  const alice = await world.openWallet()
  await until('it is in step', () => isSynced(alice))
  const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
  let expected = 0n
  const missed: number[] = []
  for (let moment = 0; moment < 120; moment += 1) {
    world.holds = true
    world.chain.fund(publicAddress, '1000')
    expected += 1000n
    await until('it is held', () => world.held.length > 0)
    const looking = alice.engine.syncNetwork({})
    for (let steps = 0; steps < moment; steps += 1) await Promise.resolve()
    world.holds = false
    world.deliver()
    await looking
    if (!(await soon(() => alice.balance() === String(expected)))) {
      missed.push(moment)
      await alice.engine.syncNetwork({})
    }
    await until('it has come', () => alice.balance() === String(expected))
  }
  t.deepEqual(missed, [])
})

test('a connection that comes back while the scan of the lost one still writes is scanned by itself', async t => {
  const world = makeHeldWorld(t)
  const store = makeTestStore()
  const alice = await world.openWallet({ store })
  await until('it is in step', () => isSynced(alice))
  const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
  let release: (() => void) | undefined
  const isLost = (): boolean => world.endsAt === undefined
  const write = store.write.bind(store)
  store.write = async changes => {
    if (isLost() && release === undefined) await new Promise<void>(resolve => (release = resolve))
    await write(changes)
  }
  // The scan loses the server before it has the history, and keeps the addresses that it has derived meanwhile.
  world.endsAt = 'blockchain.scripthash.get_history'
  world.chain.fund(publicAddress, '1000')
  await until('the scan writes', () => release !== undefined)
  await until('there is another connection', () => world.connections === 2)
  await until('the wallet has it', () => alice.reported.connections.at(-1) === undefined)
  release?.()
  t.true(await soon(() => alice.balance() === '1000'), 'the payment is seen')
})
