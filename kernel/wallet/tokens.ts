import { type JsonObject, parseJson } from '../base/json.ts'
import { JsonFile, type JsonFileOptions } from '../sync/json-file.ts'
import type { CurrencyConfigSnapshot, Token } from '../types/currency.ts'
import type { TokenId } from '../types/ids.ts'
import type { TokenSnapshot } from '../types/snapshots.ts'
import type { WalletContext } from './options.ts'

/** The options of {@link WalletTokens}. */
export type WalletTokensOptions = JsonFileOptions &
  Pick<WalletContext, 'walletId' | 'clock' | 'config' | 'scheduler' | 'mutex'>

/** Receives changes of a wallet's tokens. */
export interface TokensListener {
  /** The lists may be others now. */
  tokensChanged(): void
}

/**
 * Keeps which tokens of a wallet are enabled or detected, in memory and in its file (specification §3 "Wallet settings").
 *
 * Ids that this device does not know stay in the file and are not shown. The file is read before anything is
 * written, written at most once in 100 ms (specification §9), and never if it would say the same.
 */
export class WalletTokens {
  readonly #options: WalletTokensOptions
  readonly #listener: TokensListener
  /** The lists in the file when it was last read or written. */
  #saved: TokenLists = NO_TOKEN_LISTS
  #wanted: TokenLists = NO_TOKEN_LISTS
  /** Without it nothing is written, unless the user asks for it. */
  #isRead = false
  /** The currency codes of an old file, for as long as there is no newer one. */
  #codes: unknown
  #queued: Promise<void> | undefined
  #saving: Promise<void> | undefined
  #nextSaveAt = Number.NEGATIVE_INFINITY
  #endWait: (() => void) | undefined
  #isClosed = false

  constructor(options: WalletTokensOptions, listener: TokensListener) {
    this.#options = options
    this.#listener = listener
  }

  /** Reads the files, and again after a sync; one that cannot be read is reported and changes nothing. */
  read(): Promise<void> {
    return this.#options.mutex.run(() => this.#read())
  }

  async #read(): Promise<void> {
    try {
      const file = await this.#file.read()
      const codes = file === undefined ? await this.#readOldFile() : undefined
      const lists = file === undefined ? this.#listsOfCodes(codes) : tokenListsOfFile(file)
      if (lists === undefined) return
      this.#isRead = true
      this.#codes = codes
      this.#apply(lists)
    } catch (error) {
      this.#options.report(error)
    }
  }

  /** Another config: codes of an old file may mean tokens now. */
  configChanged(): void {
    if (this.#codes !== undefined) this.#apply(this.#listsOfCodes(this.#codes))
    this.#listener.tokensChanged()
  }

  /** The tokens that are on, those that are on in every wallet included. */
  get enabledTokenIds(): readonly string[] {
    return enabledTokenIdsOf(this.#wanted, this.#options.config.getSnapshot())
  }

  get detectedTokenIds(): readonly string[] {
    return this.#wanted.detected
  }

  /** Switches tokens on and off; ids that the currency does not have are left out. Durable when it resolves. */
  async changeEnabled(tokenIds: readonly TokenId[]): Promise<void> {
    const config = this.#options.config.getSnapshot()
    const { enabled } = this.#wanted
    const unknown = enabled.filter(id => !isKnownToken(id, config))
    // What is on everywhere is not this wallet's own choice.
    const chosen = tokenIds.filter(
      id => isKnownToken(id, config) && (!config.alwaysEnabledTokenIds.includes(id) || enabled.includes(id))
    )
    this.#isRead = true
    await this.#change({ enabled: tokenIdList([...chosen, ...unknown]) })
  }

  /**
   * Notes tokens that the engine found, and switches on those that are new (protocol §7.2 `onNewTokens`).
   *
   * @returns the ones that were switched on just now and that the currency has
   */
  detect(tokenIds: readonly TokenId[]): readonly string[] {
    const { enabled, detected } = this.#wanted
    const known = new Set([...enabled, ...detected, ...this.enabledTokenIds])
    const found = tokenIdList(tokenIds).filter(id => !known.has(id))
    this.#change({
      detected: tokenIdList([...detected, ...tokenIds]),
      enabled: tokenIdList([...enabled, ...found])
    }).catch(this.#options.report)
    const config = this.#options.config.getSnapshot()
    return Object.freeze(found.filter(id => isKnownToken(id, config)))
  }

  /** Forgets what the engine found: it will find it again. */
  forgetDetected(): Promise<void> {
    return this.#change({ detected: tokenIdList([]) })
  }

  /** Saves what is not saved, without waiting any longer. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#endWait?.()
    await this.#queued?.catch(() => {})
    await this.#saving?.catch(() => {})
  }

  /** Applies lists that were read, under the changes that are not saved yet. */
  #apply(read: TokenLists): void {
    this.#wanted = rebase({ base: this.#saved, mine: this.#wanted, theirs: read })
    this.#saved = read
  }

  async #change(changes: Partial<TokenLists>): Promise<void> {
    const next = { ...this.#wanted, ...changes }
    if (!isSame(next, this.#wanted)) {
      this.#wanted = next
      this.#listener.tokensChanged()
    }
    if (isSame(next, this.#saved) || !this.#isRead) return this.#queued ?? this.#saving
    this.#queued ??= this.#saveSoon()
    return this.#queued
  }

  async #saveSoon(): Promise<void> {
    await this.#untilNextSave()
    this.#queued = undefined
    this.#nextSaveAt = this.#now() + SAVE_PERIOD_MS
    this.#saving = this.#options.mutex.run(() => this.#save())
    await this.#saving
  }

  async #save(): Promise<void> {
    const [before, next] = [this.#saved, this.#wanted]
    if (isSame(before, next)) return
    this.#saved = next
    let written = next
    try {
      await this.#file.edit(fields => {
        // A sync may have brought a file that was not read yet.
        const present = (fields === undefined ? undefined : tokenListsOfFile(fields)) ?? before
        written = rebase({ base: before, mine: next, theirs: present })
        return [
          { path: ['enabledTokenIds'], value: written.enabled },
          { path: ['detectedTokenIds'], value: written.detected }
        ]
      })
      this.#codes = undefined
    } catch (error) {
      written = before
      throw error
    } finally {
      this.#saved = written
      // What could not be kept is not shown either; what was changed since then is.
      this.#wanted = rebase({ base: next, mine: this.#wanted, theirs: written })
      if (!isSame(written, next)) this.#listener.tokensChanged()
    }
  }

  #untilNextSave(): Promise<void> {
    const { scheduler, walletId } = this.#options
    const restMs = this.#nextSaveAt - this.#now()
    if (restMs <= 0 || this.#isClosed) return Promise.resolve()
    return new Promise(resolve => {
      this.#endWait = resolve
      scheduler.schedule(`tokens ${walletId}`, restMs, resolve)
    })
  }

  #now(): number {
    return this.#options.clock.monotonic()
  }

  get #file(): JsonFile {
    return new JsonFile(this.#options, TOKENS_PATH)
  }

  async #readOldFile(): Promise<unknown> {
    const text = await this.#options.repo.getText(OLD_TOKENS_PATH)
    return text === undefined ? undefined : parseJson(text, OLD_TOKENS_PATH)
  }

  #listsOfCodes(codes: unknown): TokenLists {
    return Array.isArray(codes)
      ? tokenListsOfCodes(codes, this.#options.config.getSnapshot())
      : NO_TOKEN_LISTS
  }
}

const SAVE_PERIOD_MS = 100

const isSame = (one: TokenLists, other: TokenLists): boolean =>
  isSameList(one.enabled, other.enabled) && isSameList(one.detected, other.detected)

interface ThreeLists {
  readonly base: TokenLists
  readonly mine: TokenLists
  readonly theirs: TokenLists
}

/** Makes the changes from `base` to `mine` on top of `theirs`. */
const rebase = ({ base, mine, theirs }: ThreeLists): TokenLists => {
  const rebaseList = (name: keyof TokenLists): readonly string[] => {
    if (isSameList(base[name], mine[name])) return theirs[name]
    const removed = new Set(base[name].filter(id => !mine[name].includes(id)))
    const added = mine[name].filter(id => !base[name].includes(id))
    return tokenIdList([...theirs[name].filter(id => !removed.has(id)), ...added])
  }
  return { enabled: rebaseList('enabled'), detected: rebaseList('detected') }
}

/** The file of a wallet's tokens, and the older one that is read only where that is missing. */
export const TOKENS_PATH = 'Tokens.json'
export const OLD_TOKENS_PATH = 'EnabledTokens.json'

/** The tokens of a wallet as its file has them, known here or not: ascending by code unit, each once. */
interface TokenLists {
  readonly enabled: readonly string[]
  /** Tokens that an engine found. */
  readonly detected: readonly string[]
}

const NO_IDS: readonly string[] = Object.freeze([])

/** A wallet without tokens. */
const NO_TOKEN_LISTS: TokenLists = Object.freeze({ enabled: NO_IDS, detected: NO_IDS })

/** Reads the lists of a token file (protocol §3.5 `Tokens.json`); undefined if it is something else. */
const tokenListsOfFile = ({ enabledTokenIds, detectedTokenIds = [] }: JsonObject): TokenLists | undefined =>
  Array.isArray(enabledTokenIds) && Array.isArray(detectedTokenIds)
    ? { enabled: tokenIdList(enabledTokenIds), detected: tokenIdList(detectedTokenIds) }
    : undefined

/**
 * Finds the tokens that an older file names by their currency codes (protocol §3.5 `EnabledTokens.json`).
 *
 * A token of the user wins over one of the plugin with the same code; unknown codes are left out.
 */
const tokenListsOfCodes = (codes: readonly unknown[], config: CurrencyConfigSnapshot): TokenLists => {
  const idOf = new Map<unknown, string>()
  for (const tokens of [config.builtinTokens, config.customTokens]) {
    for (const [tokenId, { currencyCode }] of Object.entries(tokens)) idOf.set(currencyCode, tokenId)
  }
  return { enabled: tokenIdList(codes.map(code => idOf.get(code))), detected: NO_IDS }
}

/** The ids among any values: ascending by code unit, each once, none endless. */
export const tokenIdList = (values: Iterable<unknown>): readonly string[] => {
  const ids = new Set<string>()
  for (const value of values) {
    if (ids.size === MAX_IDS) break
    if (typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH) ids.add(value)
  }
  return ids.size === 0 ? NO_IDS : Object.freeze([...ids].sort())
}

/** Checks if two ordered lists of ids are the same. */
const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one === other || (one.length === other.length && one.every((id, index) => id === other[index]))

/**
 * The tokens that are on in a wallet: those of its file that the currency has, and those that are on everywhere.
 *
 * @see specification §5 "Enabled token ids are limited to those known for the plugin"
 */
const enabledTokenIdsOf = ({ enabled }: TokenLists, config: CurrencyConfigSnapshot): readonly string[] =>
  enabled.length + config.alwaysEnabledTokenIds.length === 0
    ? NO_IDS
    : tokenIdList([...enabled, ...config.alwaysEnabledTokenIds].filter(id => isKnownToken(id, config)))

/** Checks if a currency has a token; true for any while its plugin has not said which it has. */
const isKnownToken = (
  tokenId: TokenId,
  { allTokens, areBuiltinTokensKnown }: CurrencyConfigSnapshot
): boolean => !areBuiltinTokensKnown || Object.hasOwn(allTokens, tokenId)

const MAX_IDS = 10_000
const MAX_ID_LENGTH = 200

/** Describes the tokens of some lists, each once and in their order; ids that the currency does not know are left out. */
export const tokenSnapshotsOf = (
  lists: readonly (readonly string[])[],
  { allTokens }: Pick<CurrencyConfigSnapshot, 'allTokens'>
): readonly TokenSnapshot[] => {
  const tokens: TokenSnapshot[] = []
  for (const tokenId of new Set(lists.flat())) {
    const token = Object.hasOwn(allTokens, tokenId) ? allTokens[tokenId] : undefined
    if (token !== undefined) tokens.push(snapshotOf(tokenId, token))
  }
  return tokens.length === 0 ? NO_SNAPSHOTS : Object.freeze(tokens)
}

const NO_SNAPSHOTS: readonly TokenSnapshot[] = Object.freeze([])

/** Hundreds of wallets share one object for a token. */
const snapshotOf = (tokenId: TokenId, token: Token): TokenSnapshot => {
  const known = knownSnapshots.get(token)
  if (known !== undefined) return known
  const { currencyCode, displayName, denominations } = token
  const snapshot = Object.freeze({ tokenId, currencyCode, displayName, denominations })
  knownSnapshots.set(token, snapshot)
  return snapshot
}

const knownSnapshots = new WeakMap<Token, TokenSnapshot>()
