import type { Actions } from '../core/actions.ts'
import type { ActionNames, WalletWords } from '../core/command-line-of.ts'
import type { View } from '../core/slices.ts'

/** What the panel remembers of what it did, since no table tells it. */
export interface ActMemory {
  /** Of what each draft was made. */
  readonly drafts: ReadonlyMap<string, Actions['spend.draft']['in'] | Actions['swap.review']['in']>
  /** What each round of quotes was asked for. */
  readonly rounds: ReadonlyMap<string, Actions['swap.ask']['in']>
}

/** What commands call the things that actions are about: names where only one thing is meant by them, else ids. */
export const actionNamesOf = (view: View, memory: ActMemory): ActionNames => {
  const accounts = [...view.accounts.values()].filter(({ isLoggedIn }) => isLoggedIn)
  const userOf = (accountId: string): string => view.accounts.get(accountId)?.username ?? accountId
  const accountFlagOf = (accountId: string): string | undefined =>
    accounts.length > 1 ? userOf(accountId) : undefined
  return {
    userOf,
    accountFlagOf,
    walletOf: walletId => {
      const owner = accounts.find(({ walletIds }) => walletIds.includes(walletId))
      const words = wordsOf(view, walletId)
      const account = owner === undefined ? undefined : accountFlagOf(owner.accountId)
      return account === undefined ? words : { ...words, account }
    },
    draftOf: draftId => memory.drafts.get(draftId),
    quoteOf: quoteId => {
      const quote = [...view.quotes.values()].find(known => known.quoteId === quoteId)
      const asked = memory.rounds.get(quote?.roundId ?? '')
      return quote === undefined || asked === undefined ? undefined : { pluginId: quote.pluginId, asked }
    },
    quoteIdOf: roundId =>
      [...view.quotes.values()].find(quote => quote.roundId === roundId && quote.quoteId !== undefined)
        ?.quoteId ?? roundId
  }
}

const wordsOf = ({ wallets }: View, walletId: string): WalletWords => {
  const name = wallets.get(walletId)?.name ?? ''
  const namesakes = [...wallets.values()].filter(wallet => wallet.name === name)
  return { word: name !== '' && namesakes.length === 1 ? name : walletId }
}
