import type { Plugin } from '../kernel/plugin-api.ts'
import { bitcoin, bitcoinTestnet, litecoin } from './currency/utxo/plugin.ts'
import { spendRules } from './policy/spend-rules.ts'
import { binance } from './rates/binance.ts'
import { coinbase } from './rates/coinbase.ts'
import { coincap } from './rates/coincap.ts'
import { coingecko } from './rates/coingecko.ts'
import { constantRate } from './rates/constant-rate.ts'
import { ecb } from './rates/ecb.ts'
import { edgeRates } from './rates/edge-rates.ts'
import { kraken } from './rates/kraken.ts'
import { mempool } from './rates/mempool.ts'
import { coinmonitor, nomics, wazirx } from './rates/retired.ts'

import { changenow } from './swap/changenow.ts'
import { letsexchange } from './swap/letsexchange.ts'
import { sideshift } from './swap/sideshift.ts'
import { mayaprotocol, thorchain } from './swap/thorchain.ts'
import { transfer } from './swap/transfer.ts'

const currencies: readonly Plugin[] = [bitcoin, bitcoinTestnet, litecoin]

const rates: readonly Plugin[] = [
  constantRate,
  coinbase,
  kraken,
  ecb,
  mempool,
  coincap,
  coingecko,
  binance,
  edgeRates,
  coinmonitor,
  wazirx,
  nomics
]

const swaps: readonly Plugin[] = [transfer, changenow, sideshift, letsexchange, thorchain, mayaprotocol]

/**
 * The plugins that the command line starts with, besides a storage plugin. Its currencies are those that have a chain in the
 * fake world; `plugins/currency/utxo/all-coins` has the others.
 */
export const defaultPlugins: readonly Plugin[] = [...currencies, ...rates, ...swaps, spendRules]
