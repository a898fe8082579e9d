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
