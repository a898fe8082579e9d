import type { CurrencyPlugin } from '../../../kernel/plugin-api.ts'
import { bitcoinRow, bitcoinTestnetRow } from './params/bitcoin.ts'
import { bitcoinCashRow, bitcoinCashTestnetRow } from './params/bitcoin-cash.ts'
import type { CoinRow } from './params/coin.ts'
import { dashRow } from './params/dash.ts'
import { dogecoinRow } from './params/dogecoin.ts'
import { feathercoinRow } from './params/feathercoin.ts'
import { litecoinRow } from './params/litecoin.ts'
import { qtumRow } from './params/qtum.ts'
import { ufoRow } from './params/ufo.ts'
import { zcoinRow } from './params/zcoin.ts'
import { bitcoin, bitcoinTestnet, litecoin, utxoPlugin } from './plugin.ts'

/** Bitcoin Cash, on mainnet unless the option `network` says `testnet` or `regtest`. */
export const bitcoinCash: CurrencyPlugin = utxoPlugin(bitcoinCashRow)

/** Bitcoin Cash's test network. */
export const bitcoinCashTestnet: CurrencyPlugin = utxoPlugin(bitcoinCashTestnetRow)

/** Dogecoin. */
export const dogecoin: CurrencyPlugin = utxoPlugin(dogecoinRow)

/** Dash. */
export const dash: CurrencyPlugin = utxoPlugin(dashRow)

/** Feathercoin. */
export const feathercoin: CurrencyPlugin = utxoPlugin(feathercoinRow)

/** Qtum. */
export const qtum: CurrencyPlugin = utxoPlugin(qtumRow)

/** UFO. */
export const ufo: CurrencyPlugin = utxoPlugin(ufoRow)

/** Firo, whose wallets are of the type of its first name, Zcoin. */
export const zcoin: CurrencyPlugin = utxoPlugin(zcoinRow)

/**
 * Every currency of the UTXO family, for a program on the real networks. The rows of most name no server: set the plugin
 * option `servers`. The fake world has only those of `defaultPlugins`.
 *
 * @example
 * import { utxoCurrencies } from 'holdfast/plugins/currency/utxo/all-coins'
 *
 * utxoCurrencies.map(({ info }) => info.currencyCode).includes('BCH') // true
 */
export const utxoCurrencies: readonly CurrencyPlugin[] = [
  bitcoin,
  bitcoinTestnet,
  bitcoinCash,
  bitcoinCashTestnet,
  litecoin,
  dogecoin,
  dash,
  feathercoin,
  qtum,
  ufo,
  zcoin
]

/**
 * The currencies of the family that have a network, such as `mainnet`.
 *
 * @example
 * import { utxoCurrenciesOn } from 'holdfast/plugins/currency/utxo/all-coins'
 *
 * utxoCurrenciesOn('regtest').map(({ id }) => id).includes('litecoin') // true
 */
export const utxoCurrenciesOn = (network: string): readonly CurrencyPlugin[] =>
  utxoCurrencies.filter(({ id }) =>
    ROWS.some(row => row.pluginId === id && row.networks.some(({ name }) => name === network))
  )

const ROWS: readonly CoinRow[] = [
  ...[bitcoinRow, bitcoinTestnetRow, bitcoinCashRow, bitcoinCashTestnetRow, litecoinRow, dogecoinRow],
  ...[dashRow, feathercoinRow, qtumRow, ufoRow, zcoinRow]
]
