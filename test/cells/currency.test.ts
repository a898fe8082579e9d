import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { applied, bundled, HONEST, openCellStage, pricesOf } from '../helpers/cell-stage.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { ledgerIo, TOLLAR } from '../helpers/tollar-source.ts'

test('a contained currency makes keys, syncs and pays from a process of its own, and goes on when that is killed', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const asks = { kind: 'currency', hosts: ['ledger.example'], keys: true } as const
  const code = await bundled(TOLLAR)
  await t.throwsAsync(stage.load(code, { ...asks, id: 'tollar', keys: false }), {
    message: /asks.keys is false/
  })
  const honest = applied(stage, await stage.load(HONEST, { id: 'honest' }))
  const tollar = await stage.load(code, { ...asks, id: 'tollar' })
  t.deepEqual(
    stage.cells.processes.map(({ cells }) => cells),
    [1, 1]
  )
  const world = makeFakeWorld({ io: makeNodeIo() })
  const { io, ledger } = ledgerIo(world)
  const kernel = await openDevice(world, { plugins: [tollar], io })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:tollar')
  await waitFor(() => wallet.balanceOf(null) === nativeAmount('5000'))
  const spendTargets = [{ publicAddress: 'tolshop', nativeAmount: nativeAmount('1000') }]
  await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  t.deepEqual(ledger.sent, ['{"to":"tolshop","amount":"1000"}'])
  await waitFor(() => wallet.balanceOf(null) === nativeAmount('4000'))
  const pid = stage.cells.processes.map(process => process.pid).at(-1) ?? 0
  process.kill(pid, 'SIGKILL')
  ledger.balance = 9000n
  await waitFor(() => wallet.balanceOf(null) === nativeAmount('9000'))
  await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  t.is(ledger.sent.length, 2)
  t.deepEqual(await pricesOf(stage, honest), [64_000])
  t.deepEqual(
    stage.faults.map(({ pluginId, state }) => `${pluginId} ${state}`),
    ['tollar restarting', 'tollar running']
  )
})

test('an engine that was killed is gone from its cell, and is not made again when the cell is', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const info = {
    ...{ pluginId: 'heavy', walletType: 'wallet:heavy', currencyCode: 'HVY', displayName: 'Heavy' },
    denominations: [{ name: 'HVY', multiplier: '1' }]
  }
  // Each engine takes a fourth of the memory of its cell.
  const code = `definePlugin({ kind: 'currency', id: 'heavy', info: ${JSON.stringify(info)}, apply({ hooks, log }) {
    hooks.makeTools.tapPromise('heavy', async () => ({}))
    hooks.makeEngine.tapPromise('heavy', async () => {
      log.info('made')
      const block = new Array(1_000_000).fill(0.5)
      return { killEngine: async () => void block.length, syncNetwork: async () => block.length, startEngine: async () => log.info('started') }
    })
  } })`
  const taps = applied(stage, await stage.load(code, { id: 'heavy', kind: 'currency' }))
  const store = { entries: () => [], write: async () => {} }
  const request = {
    walletInfo: {},
    callbacks: {},
    store,
    log: stage.log,
    enabledTokenIds: [],
    customTokens: {}
  }
  type Engine = Readonly<Record<'killEngine' | 'startEngine' | 'syncNetwork', () => Promise<unknown>>>
  const make = async (): Promise<Engine> => (await taps.get('makeEngine')?.(request)) as Engine
  for (let turn = 0; turn < 12; turn += 1) {
    const engine = await make()
    await engine.startEngine()
    await engine.killEngine()
  }
  const [killed, live] = [await make(), await make()]
  await killed.startEngine()
  await live.startEngine()
  await killed.killEngine()
  t.deepEqual(stage.faults, [])
  process.kill(stage.cells.processes[0]?.pid ?? 0, 'SIGKILL')
  const count = (line: string): number => stage.seen.filter(seen => seen === line).length
  const [made, started] = [count('made'), count('started')]
  await waitFor(async () => (await live.syncNetwork().catch(() => 0)) === 1_000_000)
  await t.throwsAsync(killed.syncNetwork(), { message: /its engine was ended/ })
  await t.notThrowsAsync(killed.killEngine())
  t.deepEqual([count('made') - made, count('started') - started], [1, 1])
})
