import test from 'ava'
import { openToyHome } from '../../helpers/toy-home.ts'

test('the parts of a balance are in the snapshot; nonsense and more than the supply of a coin are refused', async t => {
  const { account, toy, reports, clock } = await openToyHome(t, { info: { maxSupply: '2100' } })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(1000)
  t.is(String(wallet.balanceOf(null)), '1000')
  const whole = { spendable: '1000', incoming: '0', immature: '0', reserved: '0' }
  t.deepEqual({ ...wallet.balanceDetailsOf(null) } as object, whole, 'an engine that tells only the sum')
  const { callbacks } = toy.requests[0] ?? {}
  const parts = { spendable: '700', incoming: '100', immature: '150', reserved: '50' }
  callbacks?.onBalanceDetailsChanged(null, { ...parts, more: 'x' } as never)
  await clock.advance(1000)
  t.deepEqual(wallet.getSnapshot().balanceDetails as object, { '': parts })
  const refused = reports.length
  callbacks?.onBalanceDetailsChanged(null, { ...parts, spendable: '-1' } as never)
  callbacks?.onBalanceDetailsChanged(null, { ...parts, spendable: '1801' } as never)
  callbacks?.onBalanceDetailsChanged(null, undefined as never)
  callbacks?.onTokenBalanceChanged(null, '2101')
  await clock.advance(1000)
  t.is(reports.length, refused + 4)
  t.true(reports.slice(refused).every(([, error]) => (error as { code?: string }).code === 'BOGUS_BALANCE'))
  t.is(String(wallet.balanceOf(null)), '1000')
  t.deepEqual(wallet.getSnapshot().balanceDetails as object, { '': parts })
  callbacks?.onTokenBalanceChanged('gold', '9999')
  await clock.advance(1000)
  t.is(String(wallet.balanceOf('gold')), '9999', 'a token has a supply of its own')
})
