import type { Actions } from './actions.ts'
import { amountIn, readAmount, unitsOf } from './amount-in-units.ts'
import { type ActionNames, type DraftInput, UNSAFE } from './command-line-of.ts'
import type { View } from './slices.ts'

/** What a panel remembers of its own actions, since no table tells it. */
export interface ActMemory {
  /** Of what each draft was made. */
  readonly drafts: ReadonlyMap<string, DraftInput>
  /** What each round of quotes was asked for. */
  readonly rounds: ReadonlyMap<string, Actions['swap.ask']['in']>
}

/** What commands call the things that actions are about: names where only one thing is meant by them, else ids (pure). */
export const actionNamesOf = (view: View, memory: ActMemory): ActionNames => {
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
        ...(account === undefined ? {} : { account })
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
      const asked = quote && memory.rounds.get(quote.roundId)
      return asked && quote && { pluginId: quote.pluginId, asked }
    },
    quoteIdOf: roundId =>
      quotes.find(one => one.roundId === roundId && one.quoteId !== undefined)?.quoteId ?? `${roundId}-1`
  }
}

/** Whether a command finds by a name the one wallet that is called so. */
const isPlain = (view: View, name: string): boolean => {
  if (name.trim() === '' || name.startsWith('-') || name.search(UNSAFE) >= 0 || ADDRESS.test(name))
    return false
  const wallets = [...view.wallets.values()]
  const same = wallets.filter(one => one.name?.toLowerCase() === name.toLowerCase())
  // The beginning of an id counts before a name.
  return same.length === 1 && !wallets.some(({ walletId }) => walletId.startsWith(name))
}

/** What would be taken for an address: the commands of the fake chain take both. */
const ADDRESS = /^[A-Za-z0-9]{26,90}$/
