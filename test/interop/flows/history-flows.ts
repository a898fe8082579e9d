import { nativeAmount, type SwapData } from '../../../kernel/index.ts'
import type { ChainTransaction } from '../chain-transaction.ts'
import type { Device } from '../device.ts'
import { differences, seesTheSame } from '../differences.ts'
import type { Flow } from '../flow.ts'
import { makeKnownAccount } from '../known-account.ts'
import type { Peer } from '../peer.ts'

const DAY = 86_400
const START = 1_700_000_000

const received = (txid: string, day: number, tokenId?: string): ChainTransaction => ({
  txid,
  date: START + day * DAY,
  nativeAmount: '2500',
  networkFee: '0',
  ...(tokenId === undefined ? {} : { tokenId })
})

const NOTE = {
  name: 'Bicycle shop',
  category: 'Income:Räder',
  notes: '2 × 28″ 🚲',
  bizId: 12,
  exchangeAmount: { 'iso:EUR': 12.5, 'iso:USD': 14 }
}

const SWAP: SwapData = {
  orderId: 'order 1',
  orderUri: 'https://swap.invalid/order/1',
  isEstimate: true,
  plugin: { pluginId: 'labswap', displayName: 'Lab swap', supportEmail: 'help@swap.invalid' },
  payoutAddress: 'payout address',
  payoutCurrencyCode: 'LCH',
  payoutNativeAmount: nativeAmount('77'),
  payoutWalletId: 'any wallet',
  refundAddress: 'refund address'
}

/** What users note, and what wallets note by themselves, on transactions. */
export const historyFlows: readonly Flow[] = [
  {
    row: 'notes and payments',
    title: 'USER shows the history of MAKER with all that is noted, and each keeps what the other noted',
    async run(t, pair) {
      const account = makeKnownAccount(pair)
      const maker = await account.logIn(pair.openMaker)
      const [id = ''] = await maker.createWallets([
        { type: 'wallet:labcoin', name: 'Notes', fiatCurrencyCode: 'iso:EUR' }
      ])
      await maker.changeWallet(id, { enabledTokenIds: ['aa11'] })
      const chain = [received('one', 1), received('two', 2), received('two', 2, 'aa11'), received('three', 3)]
      await maker.showTransactions(id, chain)
      await maker.writeMetadata(id, { txid: 'one' }, NOTE)
      await maker.writeMetadata(
        id,
        { txid: 'two', tokenId: 'aa11' },
        { name: 'Of the token', category: 'Income:A' }
      )
      await maker.writeMetadata(id, { txid: 'two' }, { name: 'Of the coin', notes: 'below' })
      const swapped = await maker.pay(id, {
        payTo: 'swapper',
        nativeAmount: '300',
        customNetworkFee: { centsPerByte: '7' },
        metadata: { name: 'Swap', category: 'Exchange', exchangeAmount: { 'iso:EUR': 3 } },
        swapData: { ...SWAP, payoutWalletId: id }
      })
      const paid = await maker.pay(id, {
        payTo: 'shop',
        nativeAmount: '5',
        tokenId: 'aa11',
        networkFeeOption: 'high'
      })
      await maker.sync()
      const user = await account.logIn(pair.openUser)
      await user.showTransactions(id, [...chain, swapped, paid])
      await seesTheSame(t, maker, user)

      await user.writeMetadata(id, { txid: 'one' }, CHANGE)
      await user.writeMetadata(id, { txid: 'two', tokenId: 'aa11' }, { category: 'Income:B' })
      await user.writeMetadata(id, { txid: 'three' }, { exchangeAmount: { 'iso:EUR': 9 } })
      await user.writeMetadata(id, { txid: swapped.txid }, { notes: 'arrived' })
      await user.writeMetadata(id, { txid: paid.txid, tokenId: 'aa11' }, { name: 'Shop' })
      await user.sync()
      const before = await historyOf(maker, id)
      await account.logInAgain(maker)
      await maker.showTransactions(id, chain)
      // Version 1.14.0 lists the payment of a token among those of the coin too, until the next login.
      await account.logInAgain(user)
      await seesTheSame(t, user, maker)
      const after = await historyOf(maker, id)
      t.deepEqual(differences(before, after).sort(), [
        '/one/metadata/bizId: 12 | nothing',
        '/one/metadata/exchangeAmount/iso:USD: 14 | nothing',
        '/one/metadata/name: "Bicycle shop" | "Bike shop"',
        '/one/metadata/notes: "2 × 28″ 🚲" | nothing',
        '/paid swapper/metadata/notes: nothing | "arrived"',
        '/three/metadata/exchangeAmount: nothing | {"iso:EUR":9}',
        'aa11/paid shop/metadata/name: nothing | "Shop"',
        'aa11/two/metadata/category: "Income:A" | "Income:B"'
      ])
      const ofCoin = after?.['']?.[swapped.txid]
      t.like(ofCoin, {
        deviceDescription: pair.direction === '→' ? 'Holdfast' : `Peer ${pair.version}`,
        networkFeeOption: 'custom',
        requestedCustomFee: { centsPerByte: '7' },
        feeRateUsed: { centsPerByte: 3 },
        swapData: { ...SWAP, payoutWalletId: id }
      })
      t.deepEqual(ofCoin?.spendTargets, [
        { currencyCode: 'LAB', nativeAmount: '300', publicAddress: 'swapper' }
      ])
      const ofToken = after?.aa11?.[paid.txid]
      t.like(ofToken, { currencyCode: 'AAA', networkFeeOption: 'high' })
      t.deepEqual(ofToken?.spendTargets, [{ currencyCode: 'AAA', nativeAmount: '5', publicAddress: 'shop' }])
    }
  },
  {
    row: 'incoming payments',
    title:
      'USER and MAKER see payments at once, each with a file of its own, and both show the same of them later',
    async run(t, pair) {
      const account = makeKnownAccount(pair)
      const maker = await account.logIn(pair.openMaker)
      const [id = ''] = await maker.createWallets([{ type: 'wallet:labcoin', fiatCurrencyCode: 'iso:EUR' }])
      await maker.sync()
      const user = await account.logIn(pair.openUser)
      // One that the engines date later than the files.
      const later = { ...received('later', 0), date: Math.floor(Date.now() / 1000) + DAY }
      const chain = [received('old', 1), received('token', 2, 'aa11'), later]
      await maker.showTransactions(id, chain)
      await user.showTransactions(id, chain)
      for (const device of [maker, user, maker]) await account.logInAgain(device)
      await seesTheSame(t, maker, user)
      await maker.writeMetadata(id, { txid: 'old' }, { name: 'Of the maker' })
      await maker.sync()
      await account.logInAgain(user)
      await user.writeMetadata(id, { txid: 'old' }, { notes: 'Of the user' })
      await user.sync()
      for (const device of [maker, user]) await account.logInAgain(device)
      await seesTheSame(t, maker, user)
      const shown = (await historyOf(user, id))?.['']
      t.like(shown?.old, { date: START + DAY, metadata: { name: 'Of the maker', notes: 'Of the user' } })
      t.true(Number(shown?.later?.date) < later.date)
    }
  },
  {
    row: 'actions of the newer core',
    title: 'MAKER finds what it noted of the purpose of a payment after USER has written a note on it',
    lacking: ({ version, direction }) =>
      version === '1.14.0' || direction === '→'
        ? 'only version 2 of the published core knows them'
        : undefined,
    async run(t, pair) {
      const account = makeKnownAccount(pair)
      const maker = (await account.logIn(pair.openMaker)) as Peer
      const [id = ''] = await maker.createWallets([{ type: 'wallet:labcoin', fiatCurrencyCode: 'iso:EUR' }])
      const paid = await maker.pay(id, { payTo: 'stake', nativeAmount: '300' })
      await maker.saveAction(id, paid.txid, ACTION)
      await maker.sync()
      const before = await historyOf(maker, id)
      const { savedAction, assetAction } = before?.['']?.[paid.txid] ?? {}
      t.deepEqual({ savedAction, assetAction }, ACTION)
      const user = await account.logIn(pair.openUser)
      await user.showTransactions(id, [paid])
      await user.writeMetadata(id, { txid: paid.txid }, { name: 'Stake' })
      await user.sync()
      await account.logInAgain(maker)
      t.deepEqual(differences(before, await historyOf(maker, id)), [
        '/paid stake/metadata/name: nothing | "Stake"'
      ])
    }
  }
]

const ACTION = {
  savedAction: {
    actionType: 'stake',
    pluginId: 'labstake',
    stakeAssets: [{ pluginId: 'labcoin', tokenId: null }]
  },
  assetAction: { assetActionType: 'stake' }
}

const CHANGE = { name: 'Bike shop', notes: null, bizId: null, exchangeAmount: { 'iso:USD': null } }

const historyOf = async (device: Device, walletId: string) =>
  (await device.picture()).wallets[walletId]?.open?.history
