import type { NativeAmount } from '../base/amount.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { FreshAddress, ParsedUri } from '../types/engine.ts'
import type { SpendInfo, Transaction } from '../types/transaction.ts'

/** What a swap needs of a wallet; `CurrencyWallet` has it. */
export interface SwapWallet {
  readonly id: string
  readonly currencyInfo: CurrencyInfo
  balanceOf(tokenId: string | null): NativeAmount
  getReceiveAddress(options?: { tokenId?: string | null }): Promise<FreshAddress>
  /** Stands for a recipient who is not known yet. */
  sampleAddress(): Promise<string>
  /** @throws ADDRESS_INVALID */
  parseUri(uri: string): Promise<ParsedUri>
  makeSpend(request: SpendInfo): Promise<Transaction>
  getMaxSpendable(request: SpendInfo): Promise<NativeAmount>
  /** Signs, sends and saves, as one journalled action. */
  spend(
    draft: Transaction,
    options?: { readonly maxNetworkFee?: NativeAmount | undefined }
  ): Promise<Transaction>
}
