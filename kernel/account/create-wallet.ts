import { WalletError } from '../errors/wallet-error.ts'
import { makeWalletInfo } from '../keys/wallet-info.ts'
import { isRecord } from '../schema/fields.ts'
import type { Services } from '../services.ts'
import type { JsonObject } from '../types/json.ts'
import type { WalletInfo } from '../types/keys.ts'
import { callTools } from '../wallet/call-tools.ts'

/**
 * Makes the keys of a new wallet: the plugin's own, a data key and a sync key (protocol §5.1).
 *
 * @throws PLUGIN_FOR_TYPE, ENGINE_NO_KEY, PLUGIN_FAILED, DEADLINE
 */
export const createWalletInfo = async (
  services: Services,
  type: string,
  keyOptions: JsonObject = {}
): Promise<WalletInfo> => {
  const { io, plugins } = services
  const { pluginId } = plugins.infoOf(type)
  const keys = await callTools(services, {
    pluginId,
    what: 'making keys',
    call: tools => tools.createPrivateKey(type, keyOptions)
  })
  if (!isRecord(keys) || Object.keys(keys).length === 0) throw new WalletError('ENGINE_NO_KEY', {})
  return makeWalletInfo(io, type, {
    dataKey: io.crypto.toBase64(io.random(32)),
    syncKey: io.crypto.toBase64(io.random(20)),
    ...keys,
    imported: false
  })
}
