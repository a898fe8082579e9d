import type { CurrencyInfo } from '../../../../kernel/plugin-api.ts'
import { memoOptions } from '../tx/memo.ts'
import type { CoinRow } from './coin-row.ts'

/** What the kernel and its interfaces know of a coin. */
export const infoOf = (coin: CoinRow): CurrencyInfo => ({
  pluginId: coin.pluginId,
  displayName: coin.displayName,
  walletType: coin.walletType,
  currencyCode: coin.code,
  denominations: coin.denominations,
  requiredConfirmations: coin.requiredConfirmations,
  memoOptions,
  maxSupply: String(coin.maxSupply),
  canImportKeys: true,
  customFeeTemplate: [{ key: 'satPerByte', displayName: 'Fee rate', unit: 'sat/vB' }],
  ...(coin.addressExplorer === undefined ? {} : { addressExplorer: coin.addressExplorer }),
  ...(coin.transactionExplorer === undefined ? {} : { transactionExplorer: coin.transactionExplorer })
})
