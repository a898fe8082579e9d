import { compact } from '../../base/compact.ts'
import { frozenCopy } from '../../base/copy-data.ts'
import { WalletError } from '../../base/errors.ts'
import { isRecord, type JsonObject, parseJson } from '../../base/json.ts'
import type { Io } from '../../io/io.ts'
import { exemptPass } from '../../keys/key-gate.ts'
import { openWalletInfo } from '../../keys/wallet-info.ts'
import { type EngineMethods, engineMethods } from '../../plugins/method-names.ts'
import { captureMethods } from '../../plugins/plugin-set.ts'
import { storeBelow } from '../../repo/store/bulk.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
import type { CurrencyEngine, EngineCallbacks, EngineStore } from '../../types/engine.ts'
import type { PluginId } from '../../types/ids.ts'
import type { PublicWalletInfo, SecretWalletInfo } from '../../types/keys.ts'
import type { EngineTransaction } from '../../types/transaction.ts'
import type { EngineConfig } from './config.ts'
import { type EngineFilesOptions, engineFilesOf } from './engine-files.ts'
import { copyPluginData } from './validate.ts'

/** The wallet that an engine is made for. */
export interface EngineWallet extends EngineFilesOptions {
  readonly walletInfo: SecretWalletInfo
}

/** The arguments of an engine besides its wallet. */
export interface EngineOptions {
  readonly callbacks: EngineCallbacks
  readonly config: EngineConfig
  readonly seenTxCheckpoint: string | undefined
  readonly reservedPayments: readonly EngineTransaction[]
  /** The addresses that were given out for good: they count as used (protocol §3.5 `Addresses/`). */
  usedAddresses(): Promise<readonly string[]>
  /** The coins that no draft may take. */
  frozenCoins(engine: CurrencyEngine): Promise<readonly string[]>
  /** True while a write of the kernel is about to come, with which the engine's own are saved. */
  mayWait(): boolean
}

/**
 * Asks the plugin for the engine of a wallet, with its public keys and the addresses that were given out.
 *
 * An engine that fails on the way is killed.
 *
 * @throws PLUGIN_FAILED, BOGUS_DATA, or the plugin's error
 */
export const makeWalletEngine = async (
  wallet: EngineWallet,
  options: EngineOptions
): Promise<CurrencyEngine> => {
  const { callbacks, config, seenTxCheckpoint, reservedPayments, usedAddresses, frozenCoins } = options
  const { services, info } = wallet
  const { pluginId } = info
  const files = engineFilesOf(wallet)
  const request = Object.freeze({
    walletInfo: await publicInfoOf(wallet),
    callbacks,
    store: engineStore(wallet, options),
    get localFiles() {
      return files('localFiles')
    },
    get syncedFiles() {
      return files('syncedFiles')
    },
    log: services.logOf(pluginId),
    ...config,
    ...compact({ seenTxCheckpoint })
  })
  const made: unknown = await services.hooks.makeEngine.for(pluginId).promise(request)
  if (made === undefined) {
    throw new WalletError('PLUGIN_FAILED', { pluginId, hook: 'makeEngine', reason: 'it made none' })
  }
  const engine = await captureEngine(made, info, services.io)
  try {
    await engine.addGapLimitAddresses(await usedAddresses())
    await engine.reservePayments?.(reservedPayments)
    if (engine.freezeCoins !== undefined) await engine.freezeCoins(await frozenCoins(engine))
    return engine
  } catch (error) {
    // The failure is thrown without waiting for the engine to stop.
    void (async () => engine.killEngine())().catch(() => undefined)
    throw error
  }
}

/** The engine with the methods that the kernel knows or the info declares, each read once. @throws TypeError for what is no object */
export const captureEngine = async (
  made: unknown,
  info: CurrencyInfo,
  io: Pick<Io, 'clock' | 'crypto'>
): Promise<CurrencyEngine> => {
  const { otherMethods: declared, signing } = info
  const captured = captureMethods<EngineMethods>(made, engineMethods)
  let engine: CurrencyEngine = captured
  if (signing !== undefined) {
    const { engineWithKernelSignatures } = await import('../../crypto/kernel-signing.ts')
    engine = engineWithKernelSignatures(captured, { ...info, signing }, io)
  }
  if (declared === undefined) return engine
  const { otherMethods = {} } = made as Pick<CurrencyEngine, 'otherMethods'>
  const names = Object.fromEntries(Object.keys(declared).map(name => [name, true as const]))
  return Object.freeze({ ...engine, otherMethods: captureMethods<typeof otherMethods>(otherMethods, names) })
}

/** A store of one engine's own: nothing of the kernel's class is reached through it. */
const engineStore = (
  { repo, services, info }: EngineWallet,
  { mayWait }: Pick<EngineOptions, 'mayWait'>
): EngineStore => {
  const store = storeBelow(repo.local, ENGINE)
  const report = (error: unknown): void => services.report(`engine ${info.pluginId}`, error)
  return Object.freeze({
    get: (key: string) => store.get(key),
    // No generator: engines would share its prototype with the kernel.
    entries: (prefix: string) => [...store.entries(prefix)],
    write: async (changes: ReadonlyMap<string, string | null>) => {
      const copy = new Map(changes)
      const size = checkEntries(info.pluginId, copy)
      if (!mayWait() || size > MAX_WAITING) return store.write(copy)
      // The engine does not wait for it: the kernel writes once the engine is done.
      store.write(copy, { mayWait: true, onHeld: report }).catch(report)
    }
  })
}

/** The characters of changes of an engine's store. @throws BOGUS_DATA if one is no text: others share its batch */
const checkEntries = (pluginId: PluginId, changes: ReadonlyMap<unknown, unknown>): number => {
  let size = 0
  for (const [key, text] of changes) {
    if (typeof key !== 'string' || !(text === null || typeof text === 'string'))
      throw new WalletError('BOGUS_DATA', { pluginId, what: 'store entry', path: '' })
    size += key.length + (text?.length ?? 0)
  }
  return size
}

/** What is larger, in characters, is no part of a payment's write. */
const MAX_WAITING = 100_000

const PUBLIC_KEYS = 'public-keys'
const ENGINE = 'engine/'

/** The identity and public keys of a wallet: made from named fields, kept for the next time, never the rest. */
const publicInfoOf = async ({
  services,
  walletInfo,
  info: { pluginId },
  repo: { local }
}: EngineWallet): Promise<PublicWalletInfo> => {
  const { id, type } = walletInfo
  const tools = await services.plugins.toolsOf(pluginId)
  const kept = readKeys(local.get(PUBLIC_KEYS))
  if (kept !== undefined && (await (tools.checkPublicKey?.(kept) ?? true)))
    return frozenCopy({ id, type, keys: kept })
  const derived = await tools.derivePublicKey(openWalletInfo(walletInfo, exemptPass('derive public keys')))
  const keys = copyPluginData({ pluginId, what: 'public keys' }, derived, MAX_KEYS)
  if (!isRecord(keys)) throw new WalletError('BOGUS_DATA', { pluginId, what: 'public keys', path: '' })
  await local.write(new Map([[PUBLIC_KEYS, JSON.stringify(keys)]]))
  return frozenCopy({ id, type, keys: keys as JsonObject })
}

const readKeys = (text: string | undefined): JsonObject | undefined => {
  if (text === undefined) return undefined
  const value = parseJson(text, 'public keys')
  return isRecord(value) && Object.keys(value).length > 0 ? (value as JsonObject) : undefined
}

const MAX_KEYS = 1_000_000
