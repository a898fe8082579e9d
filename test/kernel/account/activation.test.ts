import test from 'ava'
import { type ActivationOffer, type CurrencyEngine, nativeAmount } from '../../../kernel/index.ts'
import { openToyHome, type ToyHomeOptions } from '../../helpers/toy-home.ts'

const FEE = { tokenId: null, nativeAmount: nativeAmount('2') }

const offering = (offer: unknown, more: Partial<CurrencyEngine> = {}): ToyHomeOptions => ({
  engine: good => ({
    ...good,
    getActivationAssets: async ({ wallets }) =>
      wallets.map(({ walletId, pluginId }) => ({ walletId, pluginId, tokenId: null })),
    activateWallet: async () => offer as ActivationOffer,
    ...more
  })
})

const OFFER: ActivationOffer = {
  fromNativeAmount: nativeAmount('10'),
  networkFee: FEE,
  spends: [{ tokenId: null, spendTargets: [{ publicAddress: 'chain', nativeAmount: nativeAmount('10') }] }]
}

test('an activation names what can pay, costs what was approved, and is paid once', async t => {
  const requests: unknown[] = []
  const { account, clock } = await openToyHome(
    t,
    offering(OFFER, {
      async activateWallet(request) {
        requests.push(request)
        return OFFER
      }
    })
  )
  const [wallet, payer] = [
    await account.createCurrencyWallet('wallet:toycoin'),
    await account.createCurrencyWallet('wallet:toycoin')
  ]
  await clock.advance(100)
  const assets = await account.getActivationAssets({ walletId: wallet.id })
  t.deepEqual(
    assets.map(({ walletId }) => walletId),
    account.getSnapshot().activeWalletIds
  )

  const payment = { walletId: payer.id, tokenId: null }
  const quote = await account.activateWallet({ walletId: wallet.id, tokenIds: ['gold'], payment })
  t.like(quote, { paymentWalletId: payer.id, fromNativeAmount: '10', networkFee: FEE })
  const { publicAddress } = await payer.getReceiveAddress()
  t.deepEqual(requests, [
    {
      tokenIds: ['gold'],
      payment: {
        walletId: payer.id,
        type: 'wallet:toycoin',
        pluginId: 'toycoin',
        publicAddress,
        tokenId: null
      }
    }
  ])
  const metadata = { name: 'Activation' }
  const [{ transactions }, again] = await Promise.all([quote.approve({ metadata }), quote.approve()])
  t.is(transactions.length, 1)
  t.is(again.transactions, transactions)
  t.like(transactions[0], { walletId: payer.id, nativeAmount: '-10', metadata })
  t.is((await payer.getTransactions()).length, 1)
})

test('an activation that is closed, or that would cost more than was said, pays nothing', async t => {
  const { account, clock } = await openToyHome(
    t,
    offering({ ...OFFER, spends: [...OFFER.spends, ...OFFER.spends] })
  )
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const closed = await account.activateWallet({ walletId: wallet.id })
  closed.close()
  await t.throwsAsync(closed.approve(), { code: 'OPTION_INVALID' })
  t.is((await wallet.getTransactions()).length, 0)
  const dear = await account.activateWallet({ walletId: wallet.id })
  await t.throwsAsync(dear.approve(), { code: 'BOGUS_DATA' })
  t.is((await wallet.getTransactions()).length, 0)
})

test('an activation of or with an unknown wallet, or by an engine that cannot or lies, is refused', async t => {
  const { account, clock } = await openToyHome(t, offering({ ...OFFER, fromNativeAmount: '-10' }))
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const unknown = { walletId: 'nobody' }
  const missing = { code: 'WALLET_NOT_FOUND', message: 'Invalid wallet: nobody not found' }
  await t.throwsAsync(account.getActivationAssets(unknown), missing)
  await t.throwsAsync(account.activateWallet(unknown), missing)
  const payment = { walletId: 'nobody', tokenId: null }
  await t.throwsAsync(account.activateWallet({ walletId: wallet.id, payment }), missing)
  await t.throwsAsync(account.activateWallet({ walletId: wallet.id }), { code: 'BOGUS_DATA' })
  const plain = await openToyHome(t)
  const { id } = await plain.account.createCurrencyWallet('wallet:toycoin')
  await t.throwsAsync(plain.account.activateWallet({ walletId: id }), { code: 'NOT_SUPPORTED' })
})
