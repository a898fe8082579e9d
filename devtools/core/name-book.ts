import type { ActionName, Actions } from './actions.ts'
import { type ActionNames, UNSAFE, type WalletWords } from './command-line-of.ts'
import type { View } from './slices.ts'

/** What amounts of a currency are shown in, by plugin id; undefined where nobody knows. */
export type DenominationOf = (pluginId: string) => WalletWords['denomination']

/**
 * The names of what a panel sees, as its commands need them.
 *
 * It reads the newest view, and remembers of the panel's own actions what drafts and rounds were about.
 */
export class NameBook implements ActionNames {
  readonly #view: () => View
  readonly #denominationOf: DenominationOf
  readonly #drafts = new Map<string, Actions['spend.draft']['in'] | Actions['swap.review']['in']>()
  readonly #rounds = new Map<string, Actions['swap.ask']['in']>()

  constructor(view: () => View, denominationOf: DenominationOf = () => undefined) {
    this.#view = view
    this.#denominationOf = denominationOf
  }

  /** Takes note of an action that was done. */
  note<K extends ActionName>(name: K, input: Actions[K]['in'], output: Actions[K]['out']): void {
    const [asked, done] = [input as never, output as { draftId: string; roundId: string }]
    if (name === 'spend.draft' || name === 'swap.review') keep(this.#drafts, done.draftId, asked)
    if (name === 'swap.ask') keep(this.#rounds, done.roundId, asked)
  }

  userOf(accountId: string): string {
    return this.#view().accounts.get(accountId)?.username ?? accountId
  }

  accountFlagOf(accountId: string): string | undefined {
    const open = [...this.#view().accounts.values()].filter(({ isLoggedIn }) => isLoggedIn)
    return open.length > 1 ? this.userOf(accountId) : undefined
  }

  walletOf(walletId: string): WalletWords {
    const { accounts, wallets } = this.#view()
    const owner = [...accounts.values()].find(({ walletIds }) => walletIds.includes(walletId))
    const account = owner === undefined ? undefined : this.accountFlagOf(owner.accountId)
    const wallet = wallets.get(walletId)
    const name = wallet?.name ?? ''
    const denomination = wallet && this.#denominationOf(wallet.pluginId)
    return {
      word: this.#isPlain(name) ? name : walletId,
      ...(account === undefined ? {} : { account }),
      ...(denomination === undefined ? {} : { denomination })
    }
  }

  draftOf(draftId: string): ReturnType<ActionNames['draftOf']> {
    return this.#drafts.get(draftId)
  }

  quoteOf(quoteId: string): ReturnType<ActionNames['quoteOf']> {
    const quote = [...this.#view().quotes.values()].find(one => one.quoteId === quoteId)
    const asked = quote && this.#rounds.get(quote.roundId)
    return asked && quote && { pluginId: quote.pluginId, asked }
  }

  quoteIdOf(roundId: string): string {
    const quote = [...this.#view().quotes.values()].find(
      one => one.roundId === roundId && one.quoteId !== undefined
    )
    return quote?.quoteId ?? `${roundId}-1`
  }

  /** Whether a command finds by a name the one wallet that is called so. */
  #isPlain(name: string): boolean {
    if (name.trim() === '' || name.startsWith('-') || name.search(UNSAFE) >= 0 || ADDRESS.test(name))
      return false
    const wallets = [...this.#view().wallets.values()]
    const same = wallets.filter(one => one.name?.toLowerCase() === name.toLowerCase())
    // The beginning of an id counts before a name.
    return same.length === 1 && !wallets.some(({ walletId }) => walletId.startsWith(name))
  }
}

/** What would be taken for an address: the commands of the fake chain take both. */
const ADDRESS = /^[A-Za-z0-9]{26,90}$/

const MOST = 200

const keep = <T>(map: Map<string, T>, id: string, value: T): void => {
  map.set(id, value)
  const [oldest] = map.keys()
  if (map.size > MOST && oldest !== undefined) map.delete(oldest)
}
