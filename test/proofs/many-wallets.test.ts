import test from 'ava'
import { isSynced, makeSpreadWorld, openMany } from '../plugins/currency/spread-world.ts'
import { until } from '../plugins/currency/utxo-world.ts'

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
