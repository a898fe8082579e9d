import { WalletError } from '../../errors/wallet-error.ts'
import type { Repo } from '../../repo/repo.ts'
import { isRecord } from '../../schema/fields.ts'
import { parseJson } from '../../schema/parse.ts'
import type { Services } from '../../services.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
import type { CurrencyEngine, EngineCallbacks, EngineStore } from '../../types/engine.ts'
import type { JsonObject } from '../../types/json.ts'
import type { PublicWalletInfo, SecretWalletInfo } from '../../types/keys.ts'
import { readAddresses } from '../address-file.ts'
import type { EngineInputs } from './engine-feed.ts'

/** What the engine of a wallet is made from. */
export interface EnginePlace {
  readonly services: Services
  readonly info: SecretWalletInfo
  readonly repo: Repo
  readonly currency: CurrencyInfo
  /** The wallet's own store; the engine sees a part of it. */
  readonly store: EngineStore
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
export const makeWalletEngine = async ({
  services,
  info,
  repo,
  currency,
  store,
  callbacks,
  inputs,
  seenTxCheckpoint
}: EnginePlace): Promise<CurrencyEngine> => {
  const { pluginId } = currency
  const walletInfo = await publicInfoOf(services, { info, pluginId, store })
  const request = Object.freeze({
    walletInfo,
    callbacks,
    store: prefixedStore(store, ENGINE),
    log: services.logOf(pluginId),
    ...inputs,
    ...(seenTxCheckpoint === undefined ? {} : { seenTxCheckpoint })
  })
  const engine = await services.hooks.makeEngine.for(pluginId).promise(request)
  if (engine === undefined) {
    throw new WalletError('PLUGIN_FAILED', { pluginId, hook: 'makeEngine', reason: 'it made none' })
  }
  try {
    await addUsedAddresses(engine, repo, error => services.report(`wallet ${pluginId}`, error))
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
const publicInfoOf = async (
  services: Services,
  { info, pluginId, store }: { info: SecretWalletInfo; pluginId: string; store: EngineStore }
): Promise<PublicWalletInfo> => {
  const { id, type } = info
  const tools = await services.plugins.toolsOf(pluginId)
  const kept = readKeys(store.get(PUBLIC_KEYS))
  if (kept !== undefined && (await (tools.checkPublicKey?.(kept) ?? true))) return { id, type, keys: kept }
  const keys = await info.keys.use(secret => tools.derivePublicKey({ id, type, keys: secret }))
  if (!isRecord(keys)) throw new WalletError('BOGUS_DATA', { pluginId, what: 'public keys', path: '' })
  await store.write(new Map([[PUBLIC_KEYS, JSON.stringify(keys)]]))
  return { id, type, keys }
}

const readKeys = (text: string | undefined): JsonObject | undefined => {
  if (text === undefined) return undefined
  const value = parseJson(text, 'public keys')
  return isRecord(value) && Object.keys(value).length > 0 ? (value as JsonObject) : undefined
}

const prefixedStore = (store: EngineStore, prefix: string): EngineStore => ({
  get: key => store.get(prefix + key),
  *entries(inner) {
    for (const [key, text] of store.entries(prefix + inner)) yield [key.slice(prefix.length), text] as const
  },
  write: changes => store.write(new Map([...changes].map(([key, text]) => [prefix + key, text])))
})
