import type { CommandNames } from '../../../app/actions/command-line.ts'
import type { QuotesRequest, SpendDraftInput } from '../../../app/actions/spend-review.ts'
import { amountIn, readAmount } from '../../../app/format/amounts.ts'
import { UNSAFE_CHARACTERS } from '../../../app/format/safe-text.ts'
import { compact } from '../../../kernel/index.ts'
import { unitsOf } from './amounts.ts'
import type { View } from './slices.ts'

/** The inputs of the panel's own actions, which no table has. */
export interface ActionMemory {
  /** The input of each draft. */
  readonly drafts: ReadonlyMap<string, SpendDraftInput>
  /** The request of each round of quotes. */
  readonly rounds: ReadonlyMap<string, QuotesRequest>
}

/** Returns the words that commands use for the subjects of actions: a name if it is unique, else the id (pure). */
export const commandNamesOf = (view: View, memory: ActionMemory): CommandNames => {
  const accounts = [...view.accounts.values()].filter(({ isLoggedIn }) => isLoggedIn)
  const quotes = [...view.quotes.values()]
  const userOf = (accountId: string): string => view.accounts.get(accountId)?.username ?? accountId
  const accountFlagOf = (accountId: string): string | undefined =>
    accounts.length > 1 ? userOf(accountId) : undefined
  return {
    userOf,
    accountFlagOf,
    walletOf(walletId) {
      const owner = accounts.find(({ walletIds }) => walletIds.includes(walletId))
      const account = owner && accountFlagOf(owner.accountId)
      const wallet = view.wallets.get(walletId)
      const name = wallet?.name ?? ''
      return {
        word: isPlain(view, name) ? name : walletId,
        ...compact({ account })
      }
    },
    amountOf(native, walletId, tokenId) {
      const units = unitsOf(view, { walletId, tokenId })
      const text = amountIn(native, units)
      // What a plugin calls a unit may be no word that a command knows.
      return readAmount(text, units).native === native ? text : `${native} native`
    },
    repoOf: repoId => view.repos.get(repoId),
    draftOf: draftId => memory.drafts.get(draftId),
    quoteOf(quoteId) {
      const quote = quotes.find(one => one.quoteId === quoteId)
      const requested = quote && memory.rounds.get(quote.roundId)
      return requested && quote && { pluginId: quote.pluginId, requested }
    },
    quoteIdOf: roundId =>
      quotes.find(one => one.roundId === roundId && one.quoteId !== undefined)?.quoteId ?? `${roundId}-1`
  }
}

/** Returns true if a command finds exactly one wallet by this name. */
const isPlain = (view: View, name: string): boolean => {
  if (name.trim() === '' || name.startsWith('-') || name.search(UNSAFE_CHARACTERS) >= 0 || ADDRESS.test(name))
    return false
  const wallets = [...view.wallets.values()]
  const same = wallets.filter(one => one.name?.toLowerCase() === name.toLowerCase())
  // The beginning of an id counts before a name.
  return same.length === 1 && !wallets.some(({ walletId }) => walletId.startsWith(name))
}

/** Matches text that looks like an address: the commands of the fake chain take both. */
const ADDRESS = /^[A-Za-z0-9]{26,90}$/
