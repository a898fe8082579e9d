import type { CurrencyWallet, JsonObject, Transaction } from '../../kernel/index.ts'
import { txDetailsJson } from '../output/tx-facts.ts'

/** Whether a second device sees what the first one sees. */
export interface Comparison {
  readonly sameWallet: boolean
  readonly sameHistory: boolean
  readonly sameNote: boolean
}

/** Compares the same wallet on two devices: what it is, every transaction in order, and the notes. */
export const compareDevices = async (first: CurrencyWallet, second: CurrencyWallet): Promise<Comparison> => {
  const [ours, theirs] = [await first.getTransactions(), await second.getTransactions()]
  return {
    sameWallet: isSame(walletFacts(first), walletFacts(second)),
    sameHistory: ours.length > 0 && isSame(ours.map(historyFacts(first)), theirs.map(historyFacts(second))),
    sameNote:
      ours.some(({ metadata }) => metadata.notes !== undefined) &&
      isSame(
        ours.map(({ metadata }) => metadata),
        theirs.map(({ metadata }) => metadata)
      )
  }
}

const walletFacts = (wallet: CurrencyWallet): JsonObject => ({
  id: wallet.id,
  name: wallet.name,
  type: wallet.type,
  balance: wallet.balanceOf(null)
})

const historyFacts =
  (wallet: CurrencyWallet) =>
  (tx: Transaction): JsonObject => {
    const { date: _date, metadata: _metadata, ...facts } = txDetailsJson(tx, wallet.currencyInfo)
    return facts
  }

const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b)

/** JSON with sorted keys, so that only what is said counts and not in which order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item
  )
