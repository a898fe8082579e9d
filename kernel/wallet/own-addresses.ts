import type { Metadata } from '../types/transaction.ts'
import type { CurrencyWallet } from './wallet.ts'

/** The methods of a wallet that {@link findOwnAddresses} calls. */
export type AddressSource = Pick<
  CurrencyWallet,
  'getReceiveAddress' | 'savedAddresses' | 'streamTransactions'
>

/**
 * Finds which of some addresses belong to a wallet, with what is noted on them: those that were saved, those that
 * its transactions have paid to, and the one it shows now. The history is read only for what is still missing.
 */
export const findOwnAddresses = async (
  wallet: AddressSource,
  wanted: ReadonlySet<string>
): Promise<ReadonlyMap<string, Metadata>> => {
  const own = new Map<string, Metadata>()
  const missing = new Set(wanted)
  const found = (address: string, metadata: Metadata): void => {
    if (missing.delete(address)) own.set(address, metadata)
  }
  for (const { address, metadata } of await wallet.savedAddresses()) found(address, metadata)
  if (missing.size === 0) return own
  // An engine without an address now only makes that one unknown.
  const fresh = await wallet.getReceiveAddress().catch(() => undefined)
  for (const address of [fresh?.publicAddress, fresh?.segwitAddress, fresh?.legacyAddress]) {
    if (address !== undefined) found(address, {})
  }
  if (missing.size === 0) return own
  for await (const batch of wallet.streamTransactions({ batchSize: BATCH })) {
    for (const { ourReceiveAddresses } of batch) for (const address of ourReceiveAddresses) found(address, {})
    if (missing.size === 0) break
  }
  return own
}

const BATCH = 100
