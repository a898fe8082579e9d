import { COIN_NETWORKS, type FakeCoinId } from '../../../fake-server/chain/coin-networks.ts'
import type { CurrencyPlugin } from '../../../kernel/plugin-api.ts'
import {
  bitcoinCash,
  bitcoinCashTestnet,
  dash,
  qtum,
  zcoin
} from '../../../plugins/currency/utxo/all-coins.ts'
import type { CoinRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { dogecoinRow } from '../../../plugins/currency/utxo/params/dogecoin.ts'
import { feathercoinRow } from '../../../plugins/currency/utxo/params/feathercoin.ts'
import { ufoRow } from '../../../plugins/currency/utxo/params/ufo.ts'
import { bitcoinTestnet, utxoPlugin } from '../../../plugins/currency/utxo/plugin.ts'

/**
 * The plugin of a coin that takes any blocks on its main network, also those without work, and begins where the fake chain does.
 * All else is as it is shipped: keys, addresses, signatures, headers, dust and fees.
 */
const onFreeBlocks = (row: CoinRow, id: FakeCoinId): CurrencyPlugin => {
  const [{ work: _work, linking: _linking, checkpoint: _checkpoint, ...mainnet }] = row.networks
  return utxoPlugin({ ...row, networks: [{ ...mainnet, genesis: COIN_NETWORKS[id].genesis.hash }] })
}

/** The currencies of the family but Bitcoin and Litecoin, as they are shipped where that is possible, with the chain that each lives on. */
export const coinSuites: readonly (readonly [plugin: CurrencyPlugin, id: FakeCoinId])[] = [
  [bitcoinTestnet, 'bitcoin'],
  [bitcoinCash, 'bitcoincash'],
  [bitcoinCashTestnet, 'bitcoincash'],
  [dash, 'dash'],
  [onFreeBlocks(dogecoinRow, 'dogecoin'), 'dogecoin'],
  [onFreeBlocks(feathercoinRow, 'feathercoin'), 'feathercoin'],
  [qtum, 'qtum'],
  [onFreeBlocks(ufoRow, 'ufo'), 'ufo'],
  [zcoin, 'zcoin']
]
