import { requireTexts } from '../base/arguments.ts'
import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import { type AccountRules, exemptPass, type KeyPass, requestKeys } from '../keys/key-gate.ts'
import { openWalletInfo } from '../keys/wallet-info.ts'
import type { Services } from '../plugins/services.ts'
import type { CurrencyTools, KeyPaths } from '../types/engine.ts'
import type { WalletId } from '../types/ids.ts'
import type { WalletInfo, WalletKeys } from '../types/keys.ts'
import { copyPluginData } from '../wallet/engine/validate.ts'
import { callTools } from '../wallet/tools.ts'
import type { WalletList } from './wallet-list.ts'

/** The wallets whose keys are shown. */
export interface WalletKeysOptions {
  readonly services: Services
  readonly book: WalletList
  readonly rules: Pick<AccountRules, 'check'>
  /** @throws LOGGED_OUT */
  check(): void
}

/**
 * The keys of the account's wallets, as data and as people write them down; no wallet needs to be open.
 *
 * Where keys are hidden, private ones are refused with HIDDEN_KEYS; public ones stay available (specification §6).
 *
 * @example
 * ```ts
 * const words = await account.walletKeys.getDisplayPrivateKey(wallet.id) // a secret
 * const xpub = await account.walletKeys.getDisplayPublicKey(wallet.id)
 * ```
 */
export class WalletKeyViews {
  readonly #options: WalletKeysOptions

  constructor(options: WalletKeysOptions) {
    this.#options = options
  }

  /**
   * Returns all keys of a wallet. Secrets. @throws HIDDEN_KEYS, WALLET_ID_UNKNOWN, LOGGED_OUT, the objection of a policy
   */
  async getRawPrivateKey(walletId: WalletId): Promise<WalletKeys> {
    return (await this.#privateInfo(walletId)).keys
  }

  /** Returns the keys for an engine; none of them can spend. @throws WALLET_ID_UNKNOWN, PLUGIN_FOR_TYPE, ENGINE_NO_KEY, … */
  async getRawPublicKey(walletId: WalletId): Promise<JsonObject> {
    const info = this.#info(walletId, exemptPass('derive public keys'))
    const { pluginId } = this.#options.services.plugins.infoOf(info.type)
    return this.#query(info.type, async tools => {
      const answer: unknown = await tools.derivePublicKey(info)
      const keys = copyPluginData({ pluginId, what: 'public keys' }, answer, MAX_KEYS)
      if (isRecord(keys)) return keys as JsonObject
      throw new WalletError('ENGINE_NO_KEY', {})
    })
  }

  /**
   * Returns the private keys as a person writes them down, such as a mnemonic. A secret.
   *
   * @throws HIDDEN_KEYS, WALLET_ID_UNKNOWN, WATCH_ONLY, ENGINE_NO_KEY, the objection of a policy, …
   */
  async getDisplayPrivateKey(walletId: WalletId): Promise<string> {
    const info = await this.#privateInfo(walletId)
    if (info.keys.isWatchOnly === true) throw new WalletError('WATCH_ONLY', {})
    return this.#query(info.type, async tools => textOf(await tools.getDisplayPrivateKey?.(info)))
  }

  /** Returns the keys for a watch-only wallet, such as an extended public key. @throws WALLET_ID_UNKNOWN, ENGINE_NO_KEY, … */
  async getDisplayPublicKey(walletId: WalletId): Promise<string> {
    const keys = await this.getRawPublicKey(walletId)
    const { id, type } = this.#options.book.get(walletId)
    return this.#query(type, async tools => textOf(await tools.getDisplayPublicKey?.({ id, type, keys })))
  }

  /** Returns where below its keys a wallet has its addresses; undefined where its currency does not say. @throws WALLET_ID_UNKNOWN, ENGINE_NO_KEY, … */
  async getKeyPaths(walletId: WalletId): Promise<KeyPaths | undefined> {
    const keys = await this.getRawPublicKey(walletId)
    const { type } = this.#options.book.get(walletId)
    const { pluginId } = this.#options.services.plugins.infoOf(type)
    return this.#query(type, async tools => {
      const answer: unknown = await tools.getKeyPaths?.(keys)
      if (answer === undefined) return undefined
      const paths = copyPluginData({ pluginId, what: 'key paths' }, answer, MAX_KEYS)
      const { givenOut, watched } = isRecord(paths) ? paths : {}
      if (isTexts(givenOut) && isTexts(watched)) return { givenOut, watched }
      throw new WalletError('BOGUS_DATA', { pluginId, what: 'key paths', path: '' })
    })
  }

  async #privateInfo(walletId: WalletId): Promise<WalletInfo> {
    const { services, book, check } = this.#options
    check()
    requireTexts({ walletId })
    if (services.config.hideKeys) throw new WalletError('HIDDEN_KEYS', {})
    const currency = services.plugins.findByWalletType(book.get(walletId).type)
    const pass = await requestKeys(services, this.#options.rules, {
      use: 'show',
      walletId,
      ...compact({ pluginId: currency?.pluginId, currencyCode: currency?.currencyCode })
    })
    return this.#info(walletId, pass)
  }

  #info(walletId: WalletId, pass: KeyPass): WalletInfo {
    this.#options.check()
    requireTexts({ walletId })
    return openWalletInfo(this.#options.book.get(walletId), pass)
  }

  #query<T>(type: string, call: (tools: CurrencyTools) => Promise<T>): Promise<T> {
    const { services } = this.#options
    const { pluginId } = services.plugins.infoOf(type)
    return callTools(services, { pluginId, what: 'showing keys', call })
  }
}

const MAX_KEYS = 1_000_000

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(text => typeof text === 'string' && text.length <= MAX_PATH)

const MAX_PATH = 200

const textOf = (text: unknown): string => {
  if (typeof text === 'string' && text !== '' && text.length <= MAX_KEYS) return text
  throw new WalletError('ENGINE_NO_KEY', {})
}
