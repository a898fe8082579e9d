import { compact } from '../base/compact.ts'
import { isRecord, tryParseJson } from '../base/json.ts'
import type { EngineStore } from '../types/engine.ts'
import { DEFAULT_FIAT, FIAT_PATH, NAME_PATH } from '../wallet/settings.ts'
import { TOKENS_PATH, tokenIdList } from '../wallet/tokens.ts'

/** The initial settings of a new wallet. */
export interface NewWalletSettings {
  readonly name?: string | undefined
  /** Such as `iso:USD`. */
  readonly fiatCurrencyCode: string
  readonly enabledTokenIds?: readonly string[] | undefined
}

/** The files of a new wallet, for one write: there is no moment at which half of them is there (protocol §3.5). */
export const newWalletFiles = ({
  name,
  fiatCurrencyCode,
  enabledTokenIds
}: NewWalletSettings): ReadonlyMap<string, string> => {
  const files = new Map([[FIAT_PATH, JSON.stringify({ fiat: fiatCurrencyCode })]])
  if (name !== undefined) files.set(NAME_PATH, JSON.stringify({ walletName: name }))
  if (enabledTokenIds !== undefined) {
    const lists = { enabledTokenIds: tokenIdList(enabledTokenIds), detectedTokenIds: [] }
    files.set(TOKENS_PATH, JSON.stringify(lists))
  }
  return files
}

/**
 * The settings of wallets that are being made, kept on this device from before their keys are sent until their files are
 * written: a process that ends in between leaves no wallet without its name.
 */
export class UnfinishedWallets {
  readonly #store: EngineStore

  /** @param store - of the account's repo, never synced */
  constructor(store: EngineStore) {
    this.#store = store
  }

  /** Remembers the settings of new wallets, by wallet id, durable when it resolves. @throws STORAGE_FULL, STORAGE_FAILED */
  async begin(settings: ReadonlyMap<string, NewWalletSettings>, now: number): Promise<void> {
    const writes = new Map<string, string | null>()
    for (const [key, text] of this.#store.entries('')) {
      const left = tryParseJson(text)
      const at = isRecord(left) && typeof left.at === 'number' ? left.at : 0
      if (at < now - KEEP_MS) writes.set(key, null)
    }
    for (const [walletId, wanted] of settings) writes.set(walletId, JSON.stringify({ ...wanted, at: now }))
    if (writes.size > 0) await this.#store.write(writes)
  }

  /** Returns the initial settings of a wallet if they were never written. */
  find(walletId: string): NewWalletSettings | undefined {
    const left = tryParseJson(this.#store.get(walletId))
    if (!isRecord(left)) return undefined
    const { name, fiatCurrencyCode, enabledTokenIds } = left
    return {
      ...compact({ name: typeof name === 'string' ? name : undefined }),
      fiatCurrencyCode: typeof fiatCurrencyCode === 'string' ? fiatCurrencyCode : DEFAULT_FIAT,
      ...compact({ enabledTokenIds: Array.isArray(enabledTokenIds) ? enabledTokenIds : undefined })
    }
  }

  /** Forgets what has been written. */
  async end(walletId: string): Promise<void> {
    if (this.#store.get(walletId) !== undefined) await this.#store.write(new Map([[walletId, null]]))
  }
}

/** A request whose keys never came to be leaves its settings behind for so long. */
const KEEP_MS = 30 * 24 * 3600 * 1000
