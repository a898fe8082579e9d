import { WalletError } from '../base/errors.ts'
import { isRecord, isShortText, isText, parseJson } from '../base/json.ts'
import { isoOf } from '../base/time.ts'
import type { BulkStore } from '../repo/store/bulk.ts'
import type { PluginId, WalletId } from '../types/ids.ts'
import type { DamagedEntry, LostPayment } from '../types/policy.ts'
import type { SpendJournal } from '../wallet/spend/journal.ts'

/** The journal of a wallet. */
export interface JournalOfWallet {
  readonly walletId: WalletId
  readonly pluginId: PluginId
  readonly journal: SpendJournal
}

/**
 * Entries of spend journals that cannot be read. An account with rules pays nothing while it has one, since nobody knows what it
 * paid. Its owner can set it aside: limits over a window count as used up until the window after it was noticed has passed, as the
 * payment was reserved before.
 */
export class JournalDamage {
  readonly #store: BulkStore
  readonly #now: () => number

  /** @param store - of the account, on this device only @param now - the time of the account */
  constructor(store: BulkStore, now: () => number) {
    this.#store = store
    this.#now = now
  }

  /** Lists the entries that cannot be read, and notes when each was first met. @throws STORAGE_FULL, STORAGE_FAILED */
  async find(wallets: readonly JournalOfWallet[]): Promise<readonly DamagedEntry[]> {
    const now = Math.ceil(this.#now())
    const writes = new Map<string, string>()
    const found = wallets.flatMap(({ walletId, journal }) =>
      journal.damaged().map((entry): DamagedEntry => {
        const key = NOTICED + keyOf({ walletId, entry })
        const noticedAt = this.#timeOf(key)
        if (noticedAt === undefined) writes.set(key, String(now))
        return { walletId, entry, noticedAt: noticedAt ?? now }
      })
    )
    if (writes.size > 0) await this.#store.write(writes)
    return found
  }

  /**
   * Sets entries aside. Their texts are kept, and read by nothing any more.
   *
   * @throws OPTION_INVALID for what is not damaged, or was noticed at another time; STORAGE_FULL, STORAGE_FAILED
   */
  async setAside(entries: readonly DamagedEntry[], wallets: readonly JournalOfWallet[]): Promise<void> {
    const present = await this.find(wallets)
    const isPresent = (given: DamagedEntry): boolean =>
      present.some(each => keyOf(each) === keyOf(given) && each.noticedAt === given.noticedAt)
    if (entries.length === 0 || !entries.every(isPresent))
      throw new WalletError('OPTION_INVALID', { option: 'entries', rule: 'must be those that are damaged' })
    // Counted first: after a crash in between an entry is damaged still, and can be set aside once more.
    const lost = entries.map((each): [string, string] => {
      const { pluginId = '' } = wallets.find(({ walletId }) => walletId === each.walletId) ?? {}
      const { walletId, noticedAt: at } = each
      return [LOST + keyOf(each), JSON.stringify({ walletId, pluginId, at })]
    })
    await this.#store.write(new Map(lost))
    for (const { walletId, journal } of wallets) {
      const own = entries.filter(each => each.walletId === walletId).map(({ entry }) => entry)
      if (own.length > 0) await journal.setAside(own)
    }
  }

  /** The payments that were set aside. @throws CORRUPT_FILE */
  lost(): readonly LostPayment[] {
    return [...this.#store.entries(LOST)].map(([, text]) => readLost(text))
  }

  /** One that is no number was noticed just now: then limits count as used up for longer. */
  #timeOf(key: string): number | undefined {
    const noticedAt = Number(this.#store.get(key))
    return Number.isFinite(noticedAt) ? noticedAt : undefined
  }
}

/** Says which entries keep an account from paying, as a clause (pure). @param owner - the name of the wallet of the first */
export const damageText = (damage: readonly DamagedEntry[], owner: string | undefined): string => {
  const name = owner === undefined ? 'a wallet' : `the wallet "${owner}"`
  const since = isoOf(Math.min(...damage.map(({ noticedAt }) => noticedAt)))
  const what = damage.length === 1 ? 'a payment' : `${damage.length} payments, the first`
  return `${what} in the journal of ${name} cannot be read since ${since}; nothing is paid until that is set aside`
}

const NOTICED = 'noticed/'
const LOST = 'lost/'

const keyOf = ({ walletId, entry }: Pick<DamagedEntry, 'entry' | 'walletId'>): string =>
  `${encodeURIComponent(walletId)}/${entry}`

/** Nothing is paid while what was lost is not known. */
const readLost = (text: string): LostPayment => {
  const lost = parseJson(text, 'lost payments')
  const { walletId, pluginId, at } = isRecord(lost) ? lost : {}
  if (!isShortText(walletId) || !isText(pluginId) || typeof at !== 'number')
    throw new WalletError('CORRUPT_FILE', { path: 'lost payments', rule: 'it cannot be read' })
  return Object.freeze({ walletId, pluginId, at })
}
