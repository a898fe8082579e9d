import { allowTexts, requireTexts } from '../base/arguments.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import { makeYielder } from '../base/yielder.ts'
import { fixedTypeOf, fixWalletType } from '../keys/quirks.ts'
import { checkRepoKeys, hideWalletInfo, makeWalletInfo, mergeWalletInfos } from '../keys/wallet-info.ts'
import type { Login } from '../login/login.ts'
import type { Services } from '../plugins/services.ts'
import type { PluginId, TokenId, WalletId } from '../types/ids.ts'
import type { SecretWalletInfo, WalletInfo, WalletKeys, WalletStatesChange } from '../types/keys.ts'
import { copyPluginData } from '../wallet/engine/validate.ts'
import { checkFiatCode, DEFAULT_FIAT } from '../wallet/settings.ts'
import { callTools } from '../wallet/tools.ts'
import type { CurrencyWallet } from '../wallet/wallet.ts'
import type { NewWalletSettings, OpenWallets, UnfinishedWallets, WalletResult } from './open-wallets.ts'
import { checkStatesChange, type WalletList } from './wallet-list.ts'

/** The options of a new wallet. */
export interface NewWallet extends KeysSource {
  readonly name?: string
  /** Such as `iso:USD`, the default. */
  readonly fiatCurrencyCode?: string
  readonly enabledTokenIds?: readonly TokenId[]
  /** The wallet that this one replaces. */
  readonly migratedFromWalletId?: WalletId
}

/** A new wallet among several. */
export interface NewWalletOfType extends NewWallet {
  /** Such as `wallet:bitcoin`. */
  readonly type: string
}

/** The account that gets the wallets. */
export interface WalletCreatorOptions {
  readonly services: Services
  readonly login: Login
  readonly book: WalletList
  readonly wallets: OpenWallets
  readonly unfinished: UnfinishedWallets
}

/** Creates the wallets of one account: keys first, safe on the server, then settings and files. */
export class WalletCreator {
  readonly #options: WalletCreatorOptions

  constructor(options: WalletCreatorOptions) {
    this.#options = options
  }

  /**
   * Makes many wallets with one request; one result each, in order, and the failure of one harms no other.
   *
   * From the request on the wallets exist, whatever happens: one that cannot be opened can be opened later. Their settings are
   * on this device before the request, and are written when they are next opened, if they cannot be written now. Keys that
   * the account has make no second wallet.
   */
  async createMany(requests: readonly NewWalletOfType[]): Promise<WalletResult[]> {
    const { services, wallets } = this.#options
    const planning: Promise<Plan>[] = []
    const pause = makeYielder(services.io.clock)
    for (const request of requests) {
      planning.push(planWallet(services, request))
      await pause()
    }
    const plans = await Promise.all(planning)
    this.#findKnown(plans)
    await this.#attachNew(plans)
    const made = plans.flatMap(plan => madeOf(plan) ?? [])
    await this.#keepStates(made)
    const opened = await wallets.forEach(made, plan => this.openNew(plan))
    return plans.map(plan => {
      const result = plan.error === undefined ? opened.shift() : undefined
      return result ?? { ok: false, error: plan.error }
    })
  }

  /**
   * Adds keys of any type, which need no plugin where they are given; nothing is opened (protocol §5.1).
   *
   * @returns the id; keys that the account has are brought back
   * @throws what makes no keys of the request, or keeps them from the server
   */
  async addKeys(request: Pick<NewWalletOfType, 'type' | 'keys'>): Promise<WalletId> {
    checkKeyType(request.type)
    const info = await makeWalletKeys(this.#options.services, request.type, request)
    const plan: Plan = { request, info, isKnown: false, error: undefined }
    this.#findKnown([plan])
    await this.#attachNew([plan])
    const made = madeOf(plan)
    if (made === undefined) throw plan.error
    await this.#keepStates([made])
    return made.walletId
  }

  /** Opens a wallet that was created or requested again. It gets its settings even if another caller opened it first. */
  async openNew({ walletId, request, isKnown }: MadeWallet): Promise<CurrencyWallet> {
    const { services, wallets } = this.#options
    const { name, fiatCurrencyCode, enabledTokenIds } = request
    // Given keys may be those of a repo that is in use elsewhere: what it holds comes first.
    const isNew = !isKnown && request.keys?.syncKey === undefined
    const wallet = await wallets.get(walletId, isNew ? { settings: settingsOf(request) } : {})
    try {
      if (name !== undefined && wallet.name !== name) await wallet.rename(name)
      const isFiatNew = wallet.getSnapshot().fiatCurrencyCode !== fiatCurrencyCode
      if (fiatCurrencyCode !== undefined && isFiatNew) await wallet.setFiatCurrencyCode(fiatCurrencyCode)
      if (enabledTokenIds !== undefined) await wallet.changeEnabledTokenIds(enabledTokenIds)
    } catch (error) {
      services.report('account', error)
    }
    return wallet
  }

  /** Keys that contradict those of another wallet must not keep the others from being made. */
  #findKnown(plans: readonly Plan[]): void {
    const { services, book } = this.#options
    const taken = new Map<WalletId, SecretWalletInfo>()
    for (const plan of plans) {
      const { info } = plan
      if (info === undefined) continue
      const hidden = hideWalletInfo(info, services.config.appId)
      const known = taken.get(info.id) ?? book.find(info.id)
      if (known === undefined) {
        taken.set(info.id, hidden)
        continue
      }
      try {
        const [merged = known] = mergeWalletInfos(services.io, [known, hidden], throwIt)
        taken.set(info.id, merged)
        plan.isKnown = merged.keys === known.keys
      } catch (error) {
        plan.error = error
      }
    }
  }

  /** All keys go out at once. What a lost answer hides is found by the login itself. */
  async #attachNew(plans: readonly Plan[]): Promise<void> {
    const { services, login, unfinished } = this.#options
    const fresh = plans.filter(plan => madeOf(plan)?.isKnown === false)
    if (fresh.length === 0) return
    const settings = new Map(fresh.map(plan => [plan.info?.id ?? '', settingsOf(plan.request)]))
    try {
      await unfinished.begin(settings, services.io.clock.now())
      await login.addWalletInfos(fresh.flatMap(({ info }) => info ?? []))
    } catch (error) {
      // A second request for the same keys was to find what the first one makes.
      const failed = new Set(fresh.map(({ info }) => info?.id))
      for (const plan of plans) if (failed.has(plan.info?.id)) plan.error ??= error
    }
  }

  /** A wallet that is asked for again is wanted, wherever it had been put. */
  async #keepStates(made: readonly MadeWallet[]): Promise<void> {
    const { services, book } = this.#options
    const changes = new Map<WalletId, WalletStatesChange>()
    for (const { walletId, request, isKnown } of made) {
      const change = { ...(isKnown ? { archived: false, deleted: false } : {}), ...statesChangeOf(request) }
      if (Object.keys(change).length > 0) changes.set(walletId, { ...changes.get(walletId), ...change })
    }
    try {
      await book.changeStates(Object.fromEntries(changes))
    } catch (error) {
      services.report('account', error)
    }
  }
}

/** Checks the type of new keys, which may be that of no plugin. @throws OPTION_INVALID */
export const checkKeyType = (type: unknown): void => {
  if (typeof type === 'string' && type !== '' && type.length <= MAX_TYPE) return
  throw new WalletError('OPTION_INVALID', { option: 'type', rule: 'is no short text' })
}

/** A key box with a longer type is not read again. */
const MAX_TYPE = 1000

/** One request on its way. */
interface Plan {
  readonly request: NewWalletOfType
  /** Undefined where the keys could not be made. */
  readonly info: WalletInfo | undefined
  /** The account has these keys already. */
  isKnown: boolean
  /** Why there will be no wallet. */
  error: unknown
}

/** A wallet whose keys are safe. */
interface MadeWallet {
  readonly walletId: WalletId
  readonly request: NewWalletOfType
  readonly isKnown: boolean
}

const madeOf = ({ request, info, isKnown, error }: Plan): MadeWallet | undefined =>
  error === undefined && info !== undefined ? { walletId: info.id, request, isKnown } : undefined

const planWallet = async (services: Services, request: NewWalletOfType): Promise<Plan> => {
  try {
    const { type, name, fiatCurrencyCode, migratedFromWalletId } = request
    requireTexts({ type })
    allowTexts({ name, fiatCurrencyCode, migratedFromWalletId })
    checkFiatCode(request.fiatCurrencyCode ?? DEFAULT_FIAT)
    checkStatesChange(statesChangeOf(request))
    services.plugins.infoOf(fixedTypeOf(request.type))
    const info = await makeWalletKeys(services, request.type, request)
    return { request, info, isKnown: false, error: undefined }
  } catch (error) {
    return { request, info: undefined, isKnown: false, error }
  }
}

const statesChangeOf = ({ migratedFromWalletId }: NewWallet): WalletStatesChange =>
  migratedFromWalletId === undefined ? {} : { migratedFromWalletId }

const settingsOf = ({ name, fiatCurrencyCode, enabledTokenIds }: NewWallet): NewWalletSettings => ({
  name,
  fiatCurrencyCode: fiatCurrencyCode ?? DEFAULT_FIAT,
  enabledTokenIds
})

const throwIt = (error: unknown): never => {
  throw error
}

/** The source of a new wallet's keys: its plugin makes them, reads them from a text, or they are given. */
interface KeysSource {
  /** For the plugin, such as `{ format: 'bip86' }`. */
  readonly keyOptions?: JsonObject
  /** The keys as a person wrote them down, such as a mnemonic. A secret. */
  readonly importText?: string
  /** Raw keys, as `walletKeys.getRawPrivateKey` gives them. Secrets. */
  readonly keys?: WalletKeys
}

/**
 * Makes the identity of a new wallet: its keys, a data key and a sync key, and the id that follows (protocol §5.1).
 *
 * The keys say whether a person brought them; given ones say what they say. Of a legacy type such as
 * `wallet:bitcoin-bip49`, the plugin is asked for keys of that form.
 *
 * A plugin may need no more than these: keys without a field are keys. Given ones need no plugin.
 *
 * @throws OPTION_INVALID, PLUGIN_FOR_TYPE, IMPORT_UNSUPPORTED, IMPORT_INVALID, ENGINE_NO_KEY, KEY_INTEGRITY, PLUGIN_FAILED, DEADLINE
 */
const makeWalletKeys = async (services: Services, type: string, source: KeysSource): Promise<WalletInfo> => {
  if (source.keys !== undefined && source.importText !== undefined)
    throw new WalletError('OPTION_INVALID', { option: 'keys', rule: 'cannot be given with a text to import' })
  const keys = source.keys ?? (await makeOrImportKeys(services, type, source))
  if (!isRecord(keys)) throw new WalletError('ENGINE_NO_KEY', {})
  const info = makeWalletInfo(services.io, type, keys)
  checkRepoKeys(services.io, info.keys)
  return info
}

/** Keys as a plugin has made them; what is no data at all is left for the caller to refuse. */
const readKeys = (pluginId: PluginId, answer: unknown): WalletKeys =>
  copyPluginData({ pluginId, what: 'keys' }, answer, MAX_KEYS) as WalletKeys

const MAX_KEYS = 1_000_000

const makeOrImportKeys = async (
  services: Services,
  type: string,
  source: KeysSource
): Promise<WalletKeys> => {
  const { importText } = source
  const fixedType = fixedTypeOf(type)
  const { pluginId, canImportKeys } = services.plugins.infoOf(fixedType)
  const legacy = fixedType === type ? {} : fixWalletType({ type, keys: {} }).keys
  const options = { ...legacy, ...source.keyOptions }
  const keys = await callTools(services, {
    pluginId,
    what: 'making keys',
    async call(tools) {
      if (importText === undefined)
        return readKeys(pluginId, await tools.createPrivateKey(fixedType, options))
      if (canImportKeys === false || tools.importPrivateKey === undefined)
        throw new WalletError('IMPORT_UNSUPPORTED', {})
      return readKeys(pluginId, await tools.importPrivateKey(importText, options))
    }
  }).catch(error => {
    // No stored key is damaged: the text was mistyped.
    if (importText === undefined || !isWalletError(error, 'KEY_INTEGRITY')) throw error
    throw new WalletError('IMPORT_INVALID', { rule: error.details.rule }, error)
  })
  return isRecord(keys) ? { ...keys, imported: importText !== undefined } : keys
}
