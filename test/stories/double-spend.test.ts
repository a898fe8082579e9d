import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openDevice, waitFor } from '../helpers/device.ts'

test('of two drafts over the same coins only the first is paid: a dearer second one does not replace it', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world)
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const shop = await account.createCurrencyWallet('wallet:bitcoin')
  world.chain.fund((await wallet.getReceiveAddress()).publicAddress, '150000000')
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '150000000')
  const { publicAddress } = await shop.getReceiveAddress()
  const draftOf = (amount: string, satPerByte: string) =>
    wallet.makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress, nativeAmount: nativeAmount(amount) }],
      networkFeeOption: 'custom',
      customNetworkFee: { satPerByte }
    })
  const [cheap, dear] = [await draftOf('50000000', '2'), await draftOf('60000000', '50')]
  const [first, second] = await Promise.allSettled([wallet.spend(cheap), wallet.spend(dear)])
  t.is(first.status, 'fulfilled')
  t.is(second.status, 'rejected')
  t.like(second, { reason: { code: 'SIGN_REFUSED', details: { pluginId: 'bitcoin', refusedBy: 'wallet' } } })
  t.regex(`${second.status === 'rejected' && second.reason}`, /The wallet refused to sign: it spends a coin/)
  const txid = first.status === 'fulfilled' ? first.value.txid : ''
  await t.throwsAsync(wallet.spend(cheap), { code: 'SIGN_REFUSED' })
  world.chain.mine(1)
  await waitFor(async () => (await wallet.getTransaction(txid)).confirmations === 'confirmed')
  await waitFor(() => shop.balanceOf(null) === '50000000')
  t.deepEqual(wallet.unfinishedSpends(), [])
  await kernel.close()
  await world.close()
})
