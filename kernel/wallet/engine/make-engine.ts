import { WalletError } from '../../errors/wallet-error.ts'
import { openWalletInfo } from '../../keys/wallet-info.ts'
import type { Repo } from '../../repo/repo.ts'
import { storeBelow } from '../../repo/store/bulk.ts'
import { isRecord } from '../../schema/fields.ts'
import { parseJson } from '../../schema/parse.ts'
import type { CurrencyEngine, EngineCallbacks } from '../../types/engine.ts'
import type { JsonObject } from '../../types/json.ts'
import type { PublicWalletInfo } from '../../types/keys.ts'
import { readAddresses } from '../address-files.ts'
import type { WalletParts } from '../wallet-place.ts'
import type { EngineInputs } from './engine-feed.ts'

/** What an engine is given besides its wallet. */
export interface EngineWishes {
  readonly callbacks: EngineCallbacks
  readonly inputs: EngineInputs
  readonly seenTxCheckpoint: string | undefined
}

/**
 * Asks the plugin for the engine of a wallet, with its public keys and the addresses that were given out.
 *
 * An engine that fails on the way is killed.
 *
 * @throws PLUGIN_FAILED, BOGUS_DATA, or the plugin's error
 */
export const makeWalletEngine = async (
  parts: WalletParts,
  { callbacks, inputs, seenTxCheckpoint }: EngineWishes
): Promise<CurrencyEngine> => {
  const { services, repo, info, report } = parts
  const { pluginId } = info
  const request = Object.freeze({
    walletInfo: await publicInfoOf(parts),
    callbacks,
    store: storeBelow(repo.local, ENGINE),
    log: services.logOf(pluginId),
    ...inputs,
    ...(seenTxCheckpoint === undefined ? {} : { seenTxCheckpoint })
  })
  const engine = await services.hooks.makeEngine.for(pluginId).promise(request)
  if (engine === undefined) {
    throw new WalletError('PLUGIN_FAILED', { pluginId, hook: 'makeEngine', reason: 'it made none' })
  }
  try {
    await addUsedAddresses(engine, repo, report)
    return engine
  } catch (error) {
    // Nobody waits for an engine that is given up.
    void (async () => engine.killEngine())().catch(() => undefined)
    throw error
  }
}

/** Tells an engine the addresses that were given out for good: they count as used (protocol §3.5 `Addresses/`). */
export const addUsedAddresses = async (
  engine: CurrencyEngine,
  repo: Repo,
  report: (error: unknown) => void
): Promise<void> => {
  const used = (await readAddresses(repo, report)).filter(
    ({ recycleable, address }) => !recycleable && address !== ''
  )
  await engine.addGapLimitAddresses(used.map(({ address }) => address))
}

const PUBLIC_KEYS = 'public-keys'
const ENGINE = 'engine/'

/** The identity and public keys of a wallet: made from named fields, kept for the next time, never the rest. */
const publicInfoOf = async ({
  services,
  walletInfo,
  info: { pluginId },
  repo: { local }
}: WalletParts): Promise<PublicWalletInfo> => {
  const { id, type } = walletInfo
  const tools = await services.plugins.toolsOf(pluginId)
  const kept = readKeys(local.get(PUBLIC_KEYS))
  if (kept !== undefined && (await (tools.checkPublicKey?.(kept) ?? true))) return { id, type, keys: kept }
  const keys = await tools.derivePublicKey(openWalletInfo(walletInfo))
  if (!isRecord(keys)) throw new WalletError('BOGUS_DATA', { pluginId, what: 'public keys', path: '' })
  await local.write(new Map([[PUBLIC_KEYS, JSON.stringify(keys)]]))
  return { id, type, keys }
}

const readKeys = (text: string | undefined): JsonObject | undefined => {
  if (text === undefined) return undefined
  const value = parseJson(text, 'public keys')
  return isRecord(value) && Object.keys(value).length > 0 ? (value as JsonObject) : undefined
}
