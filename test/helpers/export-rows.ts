import { shownAssetOf } from '../../app/format/amounts.ts'
import type { ExportRow } from '../../cli/export/formats.ts'
import { nativeAmount, type Transaction } from '../../kernel/index.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'

/** A payment that says everything a transaction can say. */
export const payment: Transaction = {
  txid: 'f91d0a8a78462bc59398f2c5d7a84fcff491c26ba54c4833478b202796c8aafd',
  walletId: 'wallet-1',
  tokenId: null,
  currencyCode: 'BTC',
  date: 1_767_607_200.25,
  blockHeight: 812_345,
  confirmations: 'confirmed',
  nativeAmount: nativeAmount('-1251128'),
  networkFee: nativeAmount('1128'),
  isSend: true,
  ourReceiveAddresses: ['bc1qours'],
  signedTx: '0200',
  memos: [{ type: 'text', value: 'for 4' }],
  metadata: {
    name: 'Joe’s "Shop", Ltd',
    category: 'expense:Food',
    notes: '=HYPERLINK("http://x")\nsecond line',
    exchangeAmount: { 'iso:USD': 812.4, 'iso:EUR': 1e-7 }
  },
  networkFeeOption: 'standard',
  feeRateUsed: { satPerVByte: '8' },
  spendTargets: [{ currencyCode: 'BTC', nativeAmount: nativeAmount('1250000'), publicAddress: 'bc1qtheirs' }],
  swapData: {
    orderId: '-order',
    isEstimate: false,
    plugin: { pluginId: 'swapper', displayName: 'Swapper' },
    payoutAddress: '0xabc',
    payoutCurrencyCode: 'ETH',
    payoutNativeAmount: nativeAmount('20000000000000000'),
    payoutWalletId: 'wallet-2'
  },
  deviceDescription: 'Holdfast'
}

/** An incoming one of which nothing is known but that it came. */
export const receipt: Transaction = {
  txid: 'aa',
  walletId: 'wallet-1',
  tokenId: null,
  currencyCode: 'BTC',
  date: 1_767_600_000,
  blockHeight: 0,
  confirmations: 3,
  nativeAmount: nativeAmount('1'),
  networkFee: nativeAmount('0'),
  isSend: false,
  ourReceiveAddresses: ['bc1qours', 'bc1qmine'],
  signedTx: '',
  memos: [],
  metadata: {}
}

/** A row of a wallet that is called `+Savings`. */
export const rowOf = (tx: Transaction, fiatCode = 'iso:USD'): ExportRow => ({
  tx,
  asset: shownAssetOf(bitcoin.info, {}, null),
  walletName: '+Savings',
  fiatCode
})
