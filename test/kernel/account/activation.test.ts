import test from 'ava'
import { isWalletError } from '../../../kernel/base/errors.ts'
import {
  type ActivationOffer,
  type CurrencyEngine,
  type EngineTransaction,
  nativeAmount
} from '../../../kernel/index.ts'
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

test('an activation lists the assets that can pay, costs what was approved, and is paid once', async t => {
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

test('an activation is confirmed with the exact drafts, and pays nothing if the answer is an error', async t => {
  const { account, clock } = await openToyHome(t, offering(OFFER))
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const refused = await account.activateWallet({ walletId: wallet.id })
  const confirm = async (drafts: readonly EngineTransaction[]): Promise<void> => {
    t.like(drafts, [{ nativeAmount: '-10', txid: '', spendTargets: [{ publicAddress: 'chain' }] }])
    throw new Error('no')
  }
  await t.throwsAsync(refused.approve({ confirm }), { message: 'no' })
  await t.throwsAsync(refused.approve(), { message: 'no' })
  t.deepEqual(wallet.getSnapshot().openPayments, [])
  const wanted = await account.activateWallet({ walletId: wallet.id })
  t.is((await wanted.approve({ confirm: async () => {} })).transactions.length, 1)
})

test('an activation that is closed, or that would cost more than shown, pays nothing', async t => {
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

test('an activation that is closed while its confirmation is awaited pays nothing', async t => {
  const { account, clock } = await openToyHome(t, offering(OFFER))
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const quote = await account.activateWallet({ walletId: wallet.id })
  const confirm = async (): Promise<void> => quote.close()
  await t.throwsAsync(quote.approve({ confirm }), { code: 'OPTION_INVALID' })
  t.deepEqual(wallet.unfinishedSpends(), [])
  t.is((await wallet.getTransactions()).length, 0)
})

test('an activation is refused for an unknown wallet, and for an engine that lacks support or lies', async t => {
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

test('the cost of an activation stays as shown, even if the plugin changes its offer later', async t => {
  const offer = structuredClone({ ...OFFER, spends: [...OFFER.spends] })
  const { account, clock } = await openToyHome(t, offering(offer))
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const quote = await account.activateWallet({ walletId: wallet.id })
  Object.assign(offer, { fromNativeAmount: '500' })
  Object.assign(offer.networkFee, { nativeAmount: '500' })
  const target = { publicAddress: 'thief', nativeAmount: nativeAmount('400') }
  offer.spends.splice(0, 1, { tokenId: null, spendTargets: [target] })
  t.like(quote, { fromNativeAmount: '10', networkFee: FEE })
  const { transactions } = await quote.approve()
  t.deepEqual(
    transactions.map(tx => [tx.nativeAmount, tx.spendTargets?.[0]?.publicAddress]),
    [['-10', 'chain']]
  )
})

test('an activation pays at most the shown amount, in the shown asset, token fees included', async t => {
  let draft: Partial<EngineTransaction> = {}
  let offer: unknown = OFFER
  const { account, clock } = await openToyHome(t, {
    engine: good => ({
      activateWallet: async () => offer as ActivationOffer,
      makeSpend: async (spend, keys) => ({ ...(await good.makeSpend(spend, keys)), ...draft })
    })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const amount = (text: string): Partial<EngineTransaction> => ({ nativeAmount: nativeAmount(`-${text}`) })
  const pays = async (tokenId: string | null, said: unknown, drafted: typeof draft): Promise<boolean> => {
    draft = drafted
    offer = said
    const before = (await wallet.getTransactions()).length
    const payment = { walletId: wallet.id, tokenId }
    try {
      const quote = await account.activateWallet({ walletId: wallet.id, payment })
      await quote.approve()
      return true
    } catch (error) {
      t.true(isWalletError(error, 'BOGUS_DATA'), String(error))
      t.is((await wallet.getTransactions()).length, before)
      return false
    }
  }
  t.true(await pays(null, OFFER, amount('12')))
  t.false(await pays(null, OFFER, amount('13')))
  t.false(await pays(null, OFFER, { ...amount('10'), tokenId: 'gold' }))
  const [spend] = OFFER.spends
  const gold = { ...OFFER, spends: [{ ...spend, tokenId: 'gold' }] }
  const fee = (text: string) => ({ parentNetworkFee: nativeAmount(text), tokenId: 'gold' })
  t.true(await pays('gold', gold, { ...amount('10'), ...fee('2') }))
  t.false(await pays('gold', gold, { ...amount('11'), ...fee('2') }))
  t.false(await pays('gold', gold, { ...amount('10'), ...fee('3') }))
  t.false(await pays(null, gold, amount('10')))
  const inSilver = {
    networkFees: [
      { tokenId: null, nativeAmount: nativeAmount('1') },
      { tokenId: 'silver', nativeAmount: nativeAmount('1') }
    ]
  }
  t.false(await pays(null, OFFER, { ...amount('10'), ...inSilver }))
  for (const spends of [[{ tokenId: null }], [null], 'none', Array(11).fill(spend)])
    t.false(await pays(null, { ...OFFER, spends }, amount('0')))
})

test('a later payment of an activation that has become dearer is not made', async t => {
  let drafts = 0
  const [spend] = OFFER.spends
  const { account, clock } = await openToyHome(t, {
    engine: good => ({
      activateWallet: async () => ({ ...OFFER, spends: [spend, spend] }) as ActivationOffer,
      async makeSpend(request, keys) {
        drafts += 1
        // Both are cheap when the whole is looked at, before anything is paid.
        return {
          ...(await good.makeSpend(request, keys)),
          nativeAmount: nativeAmount(drafts < 3 ? '-5' : '-9')
        }
      }
    })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const quote = await account.activateWallet({ walletId: wallet.id })
  await t.throwsAsync(quote.approve(), { code: 'BOGUS_DATA' })
  t.is(drafts, 3)
  t.deepEqual(
    (await wallet.getTransactions()).map(tx => String(tx.nativeAmount)),
    ['-5']
  )
})
