import { isRecord, type Json, type JsonObject } from '../base/json.ts'
import type { PluginId, WalletId } from '../types/ids.ts'
import type { WalletKeys } from '../types/keys.ts'
import { copyPluginData } from './engine/validate.ts'
import type { WalletContext } from './options.ts'
import type { WalletRuntime } from './runtime.ts'

/** The facts of a wallet that support needs (protocol §7.2 `dumpData`). */
export interface WalletDump {
  readonly walletId: WalletId
  readonly walletType: string
  readonly pluginId: PluginId
  /** The snapshot of the wallet. */
  readonly wallet: JsonObject
  /** The snapshot of its engine. */
  readonly engine: JsonObject
  /** The engine's own data; {} if it has none. */
  readonly data: Json
}

/** Asks an engine for its facts, and takes out whatever is a private key of the wallet. @throws ENGINE_FAILED, DEADLINE */
export const dumpWallet = async (context: WalletContext, runtime: WalletRuntime): Promise<WalletDump> => {
  const { pluginId } = context.info
  const data = await runtime.engine.call(
    'telling about itself',
    async engine =>
      copyPluginData({ pluginId, what: 'dump' }, (await engine.dumpData?.()) ?? {}, MAX_DUMP) ?? {}
  )
  return context.keys.use(keys => ({
    walletId: context.walletId,
    walletType: context.walletInfo.type,
    pluginId: context.info.pluginId,
    wallet: { ...runtime.state.snapshot.getSnapshot() } as unknown as JsonObject,
    // It quotes the plugin too: its status, and how it failed.
    engine: withoutKeys(runtime.engine.getSnapshot(), keys) as JsonObject,
    data: withoutKeys(data, keys)
  }))
}

/** Copies data, masks each text that holds a private key, and leaves out what is no JSON. */
const withoutKeys = (data: unknown, keys: WalletKeys): Json => {
  const secrets = textsOf(keys).filter(text => text.length >= MIN_SECRET)
  const clean = (value: unknown, depth: number): Json => {
    if (typeof value === 'string') return secrets.some(secret => value.includes(secret)) ? HIDDEN : value
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
    if (depth === MAX_DEPTH) return HIDDEN
    if (Array.isArray(value)) return value.map(item => clean(item, depth + 1))
    if (!isRecord(value)) return null
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, clean(field, depth + 1)]))
  }
  return clean(data, 0)
}

const textsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return isRecord(value) || Array.isArray(value) ? Object.values(value).flatMap(textsOf) : []
}

const HIDDEN = '[secret]'
const MAX_DUMP = 16_000_000
const MAX_DEPTH = 20
/** Shorter ones, such as a format, are no keys. */
const MIN_SECRET = 12
