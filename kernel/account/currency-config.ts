import { requireTextList, requireTexts } from '../base/arguments.ts'
import { frozenCopy } from '../base/copy-data.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { copyJson, isRecord, isSameJson, type JsonObject } from '../base/json.ts'
import { Observable, type Readable } from '../base/observable.ts'
import type { Scheduler } from '../base/scheduler.ts'
import { makeYielder } from '../base/yielder.ts'
import type { Services } from '../plugins/services.ts'
import { contractTokenId, parseToken, parseTokenId } from '../schema/account-files.ts'
import type { CurrencyConfigSnapshot, CurrencyInfo, Token, TokenMap } from '../types/currency.ts'
import type { PluginId, TokenId } from '../types/ids.ts'
import { callTools } from '../wallet/tools.ts'
import {
  alwaysEnabledEdits,
  alwaysEnabledOf,
  checkUserSettings,
  customTokenEdits,
  customTokenRemoval,
  customTokensOf,
  NO_TOKENS,
  type SettingsFiles,
  tokenMapOf,
  userSettingsEdits,
  userSettingsOf
} from './settings-files.ts'
import type { WalletList } from './wallet-list.ts'

/** The currency, and what its settings are made of. */
export interface CurrencyConfigOptions {
  readonly services: Services
  readonly files: SettingsFiles
  readonly scheduler: Scheduler
  readonly info: CurrencyInfo
  /** The wallets of the account. */
  readonly book: Pick<WalletList, 'list'>
}

const RETRY_MS = 300_000

/**
 * The tokens and settings of one currency in an account (specification §3 "Account settings per plugin").
 *
 * The plugin's own tokens arrive after the account has opened; a plugin that fails is asked again every five minutes.
 *
 * @example
 * ```ts
 * const config = account.currencyConfig('bitcoin')
 * config.subscribe(() => console.log(config.getSnapshot().userSettings))
 * await config.changeUserSettings({ servers: ['ssl://electrum.example.org:50002'] })
 * ```
 */
export class CurrencyConfig implements Readable<CurrencyConfigSnapshot> {
  readonly currencyInfo: CurrencyInfo
  readonly #options: CurrencyConfigOptions
  readonly #state: Observable<CurrencyConfigSnapshot>
  readonly #firstAnswer: Promise<void>
  /** Undefined until the plugin has answered, null if it has no tokens. */
  #builtinTokens: TokenMap | null | undefined
  /** The fields from which the custom tokens were read last, so that a bad one is reported once. */
  #customFields: JsonObject | undefined

  constructor(options: CurrencyConfigOptions) {
    this.currencyInfo = options.info
    this.#options = options
    this.#state = new Observable<CurrencyConfigSnapshot>(this.#read(EMPTY), undefined, options.files.report)
    options.files.subscribe(() => this.#update())
    this.#firstAnswer = this.#queryPlugin()
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): CurrencyConfigSnapshot => this.#state.getSnapshot()

  /** Waits until the plugin has named its tokens, or has failed to within its deadline. */
  builtinTokensReady(): Promise<void> {
    return this.#firstAnswer
  }

  /**
   * Adds a token, or replaces the user's own token of the same id, and returns its id.
   *
   * The plugin checks the token and names its id. For a plugin that cannot, the id is the contract address, and the account
   * must have a wallet of the currency (specification §5).
   *
   * @throws OPTION_INVALID, NOT_SUPPORTED, WALLET_MISSING, LOGGED_OUT, or the error of the plugin
   */
  async addCustomToken(token: Token): Promise<TokenId> {
    const checked = checkToken(token)
    const tokenId = await this.#tokenIdOf(checked)
    const { files, info } = this.#options
    await files.editCustomTokens(() => customTokenEdits(info.pluginId, tokenId, checked))
    return tokenId
  }

  /**
   * Changes one of the user's own tokens; its id stays.
   *
   * @throws TOKEN_NOT_FOUND; OPTION_INVALID, also for a change that would give it another id; LOGGED_OUT
   */
  async changeCustomToken(tokenId: TokenId, token: Token): Promise<void> {
    const { files, info } = this.#options
    requireTexts({ tokenId })
    const checkKnown = (tokens: TokenMap): void => {
      if (!Object.hasOwn(tokens, tokenId)) throw new WalletError('TOKEN_NOT_FOUND', { tokenId })
    }
    checkKnown(this.getSnapshot().customTokens)
    const checked = checkToken(token)
    if ((await this.#tokenIdOf(checked)) !== tokenId)
      throw new WalletError('OPTION_INVALID', {
        option: 'token',
        rule: 'would be another one, with another id'
      })
    await files.editCustomTokens(fields => {
      checkKnown(customTokensOf(fields, info.pluginId, () => {}))
      return customTokenEdits(info.pluginId, tokenId, checked)
    })
  }

  /** Removes one of the user's own tokens; no error if there is none. @throws OPTION_INVALID, LOGGED_OUT */
  async removeCustomToken(tokenId: TokenId): Promise<void> {
    const { files, info } = this.#options
    requireTexts({ tokenId })
    await files.editCustomTokens(() => [customTokenRemoval(info.pluginId, tokenId)])
  }

  /**
   * Chooses the tokens that are on in every wallet; ids that the currency does not have are left out.
   *
   * @throws OPTION_INVALID, LOGGED_OUT
   */
  async changeAlwaysEnabledTokenIds(tokenIds: readonly TokenId[]): Promise<void> {
    requireTextList('tokenIds', tokenIds)
    if (!this.getSnapshot().areBuiltinTokensKnown) await this.#firstAnswer
    const { files, info } = this.#options
    const choice = { wanted: [...tokenIds], known: Object.keys(this.getSnapshot().allTokens) }
    await files.editPluginSettings(shown => alwaysEnabledEdits(shown, info.pluginId, choice))
  }

  /** Replaces the plugin's own settings, or removes them with undefined. @throws OPTION_INVALID, LOGGED_OUT */
  async changeUserSettings(settings: JsonObject | undefined): Promise<void> {
    const { files, info } = this.#options
    const checked = settings === undefined ? undefined : checkUserSettings(settings)
    await files.editPluginSettings(shown => userSettingsEdits(shown, info.pluginId, checked))
  }

  async #tokenIdOf(token: Token): Promise<TokenId> {
    const { services, info, book } = this.#options
    const { pluginId } = info
    const unsupported = (what: string): WalletError => new WalletError('NOT_SUPPORTED', { what })
    const found = await callTools(services, {
      pluginId,
      what: 'checking a token',
      async call(tools) {
        const canName = tools.getTokenId !== undefined
        return {
          canName,
          named: canName ? checkTokenId(pluginId, await tools.getTokenId?.(token)) : undefined
        }
      }
    })
    if (found.named !== undefined) return found.named
    await this.#firstAnswer
    if (this.#builtinTokens === null) throw unsupported('tokens')
    const tokenId = contractTokenId(token)
    if (tokenId === undefined) throw unsupported('tokens without a contract address')
    const hasWallet = book.list().some(({ type, deleted }) => type === info.walletType && !deleted)
    if (!hasWallet) throw new WalletError('WALLET_MISSING', {})
    return checkTokenId(pluginId, tokenId)
  }

  async #queryPlugin(): Promise<void> {
    const { services, info, scheduler } = this.#options
    try {
      this.#builtinTokens = (await fetchBuiltinTokens(services, info.pluginId)) ?? null
      this.#update()
    } catch (error) {
      services.report(`currency ${info.pluginId}`, error)
      scheduler.schedule(`tokens ${info.pluginId}`, RETRY_MS, () => void this.#queryPlugin())
    }
  }

  #update(): void {
    const next = this.#read(this.getSnapshot())
    if (!isSameSnapshot(next, this.getSnapshot())) this.#state.set(next)
  }

  /** The present state; a part that says the same is the same object as before. */
  #read(before: CurrencyConfigSnapshot): CurrencyConfigSnapshot {
    const { files, info } = this.#options
    const { pluginSettings, customTokens: fields } = files.getSnapshot()
    const kept = <T>(old: T, next: T): T => (isSameJson(old, next) ? old : Object.freeze(next))
    const builtinTokens = this.#builtinTokens ?? NO_TOKENS
    const customTokens =
      fields === this.#customFields
        ? before.customTokens
        : kept(before.customTokens, customTokensOf(fields, info.pluginId, files.report))
    this.#customFields = fields
    const isUnchanged = builtinTokens === before.builtinTokens && customTokens === before.customTokens
    const allTokens = isUnchanged
      ? before.allTokens
      : tokenMapOf([...Object.entries(builtinTokens), ...Object.entries(customTokens)])
    const always = alwaysEnabledOf(pluginSettings, info.pluginId).filter(id => Object.hasOwn(allTokens, id))
    return {
      builtinTokens,
      areBuiltinTokensKnown: this.#builtinTokens !== undefined,
      customTokens,
      allTokens,
      alwaysEnabledTokenIds: kept(before.alwaysEnabledTokenIds, always),
      userSettings: kept(before.userSettings, frozenCopy(userSettingsOf(pluginSettings, info.pluginId)))
    }
  }
}

const EMPTY: CurrencyConfigSnapshot = {
  builtinTokens: NO_TOKENS,
  areBuiltinTokensKnown: false,
  customTokens: NO_TOKENS,
  allTokens: NO_TOKENS,
  alwaysEnabledTokenIds: Object.freeze([]),
  userSettings: Object.freeze({})
}

const isSameSnapshot = (one: CurrencyConfigSnapshot, other: CurrencyConfigSnapshot): boolean =>
  Object.entries(one).every(([name, value]) => value === other[name as keyof CurrencyConfigSnapshot])

const checkToken = (token: unknown): Token => {
  try {
    return parseToken(token)
  } catch (error) {
    if (!isWalletError(error, 'BAD_REPLY')) throw error
    const { path, rule } = error.details
    throw new WalletError(
      'OPTION_INVALID',
      { option: path === '' ? 'token' : `token's ${path}`, rule },
      error
    )
  }
}

const checkTokenId = (pluginId: PluginId, tokenId: unknown): string => {
  try {
    return parseTokenId(tokenId)
  } catch (error) {
    throw new WalletError('BOGUS_DATA', { pluginId, what: 'token id', path: '' }, error)
  }
}

const MAX_TOKENS = 100_000
/** A plugin whose tokens are all bad must not fill the log. */
const MAX_REPORTS = 10

/**
 * Asks a plugin which tokens its currency has, under the hook's deadline; a bad one is reported and left out.
 *
 * @returns undefined if the currency has none
 * @throws PLUGIN_FAILED, BOGUS_DATA
 */
const fetchBuiltinTokens = async (services: Services, pluginId: PluginId): Promise<TokenMap | undefined> => {
  const { hooks, io } = services
  const answer: unknown = await hooks.builtinTokens.for(pluginId).promise()
  if (answer === undefined) return undefined
  const entries = entriesOf(answer)
  if (entries === undefined) throw new WalletError('BOGUS_DATA', { pluginId, what: 'tokens', path: '' })
  const pause = makeYielder(io.clock)
  const tokens = new Map<string, Token>()
  let reports = 0
  for (const [tokenId, value] of entries) {
    try {
      tokens.set(parseTokenId(tokenId), parseToken(copyJson(value, 'token', MAX_TOKEN)))
    } catch (error) {
      reports += 1
      if (reports <= MAX_REPORTS)
        services.report(`currency ${pluginId}`, bogusToken(pluginId, tokenId, error))
    }
    await pause()
  }
  return tokenMapOf(tokens)
}

/** The tokens by their ids, each read once; undefined for what is no object. */
const entriesOf = (answer: unknown): readonly (readonly [string, unknown])[] | undefined => {
  try {
    return isRecord(answer) ? Object.entries(answer).slice(0, MAX_TOKENS) : undefined
  } catch {
    return undefined
  }
}

const MAX_TOKEN = 100_000

const bogusToken = (pluginId: PluginId, tokenId: TokenId, error: unknown): WalletError => {
  const field = isWalletError(error, 'BAD_REPLY') && error.details.path !== '' ? `.${error.details.path}` : ''
  return new WalletError(
    'BOGUS_DATA',
    { pluginId, what: 'token', path: tokenId.slice(0, 200) + field },
    error
  )
}
