import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openDevice, waitFor } from '../helpers/device.ts'

test('a stuck payment that the mempool no longer keeps reaches a block once a second one pays for both', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world)
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const shop = await account.createCurrencyWallet('wallet:bitcoin')
  world.chain.fund((await wallet.getReceiveAddress()).publicAddress, '150000000')
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '150000000')
  const { publicAddress } = await shop.getReceiveAddress()
  const rate = (satPerByte: string) =>
    ({ networkFeeOption: 'custom', customNetworkFee: { satPerByte } }) as const
  const spendTargets = [{ publicAddress, nativeAmount: nativeAmount('50000000') }]
  const stuck = await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets, ...rate('2') }))
  await waitFor(() => shop.balanceOf(null) === '50000000')
  world.chain.setLeastFee(20_000)
  await waitFor(async () => (await wallet.getTransaction(stuck.txid)).confirmations === 'dropped')
  t.is(world.chain.view.mempool.size, 0)
  t.deepEqual(
    (await wallet.lookAtOpenPayments()).map(({ txid }) => txid),
    [stuck.txid]
  )
  const bump = { tokenId: null, spendTargets: [], bumps: stuck.txid, ...rate('25') }
  const child = await wallet.spend(await wallet.makeSpend(bump))
  t.is(world.chain.view.mempool.size, 2)
  world.chain.mine(1)
  for (const txid of [stuck.txid, child.txid])
    await waitFor(async () => (await wallet.getTransaction(txid)).confirmations === 'confirmed')
  await waitFor(() => shop.balanceDetailsOf(null).spendable === '50000000')
  t.deepEqual(wallet.unfinishedSpends(), [])
  await kernel.close()
  await world.close()
})
