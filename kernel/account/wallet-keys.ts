import { WalletError } from '../errors/wallet-error.ts'
import { openWalletInfo } from '../keys/wallet-info.ts'
import { isRecord } from '../schema/fields.ts'
import type { Services } from '../services.ts'
import type { CurrencyTools } from '../types/engine.ts'
import type { JsonObject } from '../types/json.ts'
import type { WalletInfo, WalletKeys } from '../types/keys.ts'
import { callTools } from '../wallet/call-tools.ts'
import type { WalletBook } from './wallet-book.ts'

/** What the views of keys work on. */
export interface WalletKeysParts {
  readonly services: Services
  readonly book: WalletBook
  /** @throws LOGGED_OUT */
  check(): void
}

/**
 * The keys of the account's wallets, as data and as people write them down; none needs an open wallet.
 *
 * Where keys are hidden, private ones are refused with HIDDEN_KEYS, and public ones stay (specification §6).
 */
export class WalletKeyViews {
  readonly #parts: WalletKeysParts

  constructor(parts: WalletKeysParts) {
    this.#parts = parts
  }

  /** All keys of a wallet. Secrets. @throws HIDDEN_KEYS, WALLET_ID_UNKNOWN, LOGGED_OUT */
  getRawPrivateKey(walletId: string): WalletKeys {
    return this.#privateInfo(walletId).keys
  }

  /** What an engine may see; nothing in it can spend. @throws WALLET_ID_UNKNOWN, PLUGIN_FOR_TYPE, ENGINE_NO_KEY, … */
  async getRawPublicKey(walletId: string): Promise<JsonObject> {
    const info = this.#info(walletId)
    const keys = await this.#ask(info.type, tools => tools.derivePublicKey(info))
    if (isRecord(keys) && Object.keys(keys).length > 0) return keys
    throw new WalletError('ENGINE_NO_KEY', {})
  }

  /** What a person writes down, such as a mnemonic. A secret. @throws HIDDEN_KEYS, WALLET_ID_UNKNOWN, ENGINE_NO_KEY, … */
  async getDisplayPrivateKey(walletId: string): Promise<string> {
    const info = this.#privateInfo(walletId)
    return textOf(await this.#ask(info.type, async tools => tools.getDisplayPrivateKey?.(info)))
  }

  /** What a watcher may have, such as an extended public key. @throws WALLET_ID_UNKNOWN, ENGINE_NO_KEY, … */
  async getDisplayPublicKey(walletId: string): Promise<string> {
    const keys = await this.getRawPublicKey(walletId)
    const { id, type } = this.#info(walletId)
    return textOf(await this.#ask(type, async tools => tools.getDisplayPublicKey?.({ id, type, keys })))
  }

  #privateInfo(walletId: string): WalletInfo {
    this.#parts.check()
    if (this.#parts.services.config.hideKeys) throw new WalletError('HIDDEN_KEYS', {})
    return this.#info(walletId)
  }

  #info(walletId: string): WalletInfo {
    this.#parts.check()
    return openWalletInfo(this.#parts.book.get(walletId))
  }

  #ask<T>(type: string, call: (tools: CurrencyTools) => Promise<T>): Promise<T> {
    const { services } = this.#parts
    const { pluginId } = services.plugins.infoOf(type)
    return callTools(services, { pluginId, what: 'showing keys', call })
  }
}

const textOf = (text: unknown): string => {
  if (typeof text === 'string' && text !== '') return text
  throw new WalletError('ENGINE_NO_KEY', {})
}
