import { compact } from '../../base/compact.ts'
import { frozenCopy } from '../../base/copy-data.ts'
import { WalletError } from '../../base/errors.ts'
import { isRecord, type JsonObject, parseJson } from '../../base/json.ts'
import type { Io } from '../../io/io.ts'
import { exemptPass } from '../../keys/key-gate.ts'
import { openWalletInfo } from '../../keys/wallet-info.ts'
import { type EngineMethods, engineMethods } from '../../plugins/method-names.ts'
import { captureMethods } from '../../plugins/plugin-set.ts'
import { pluginStore } from '../../plugins/plugin-store.ts'
import { storeBelow } from '../../repo/store/bulk.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
import type { CurrencyEngine, EngineCallbacks } from '../../types/engine.ts'
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
  { callbacks, config, seenTxCheckpoint, reservedPayments, usedAddresses, frozenCoins }: EngineOptions
): Promise<CurrencyEngine> => {
  const { services, repo, info } = wallet
  const { pluginId } = info
  const files = engineFilesOf(wallet)
  const request = Object.freeze({
    walletInfo: await publicInfoOf(wallet),
    callbacks,
    store: pluginStore(storeBelow(repo.local, ENGINE), pluginId),
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
