import { isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import { fixedTypeOf, fixWalletType } from '../keys/quirks.ts'
import { keyBytesOf, makeWalletInfo } from '../keys/wallet-info.ts'
import type { Services } from '../plugins/services.ts'
import type { WalletInfo, WalletKeys } from '../types/keys.ts'
import { copyPluginData } from '../wallet/engine/validate.ts'
import { callTools } from '../wallet/tools.ts'

/** Where the keys of a new wallet come from: its plugin makes them, reads them from a text, or they are given. */
export interface KeysSource {
  /** For the plugin, such as `{ format: 'bip86' }`. */
  readonly keyOptions?: JsonObject
  /** What a person wrote down, such as a mnemonic. A secret. */
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
export const makeWalletKeys = async (
  services: Services,
  type: string,
  source: KeysSource
): Promise<WalletInfo> => {
  if (source.keys !== undefined && source.importText !== undefined)
    throw new WalletError('OPTION_INVALID', { option: 'keys', rule: 'cannot be given with a text to import' })
  const keys = source.keys ?? (await makeOrImportKeys(services, type, source))
  if (!isRecord(keys)) throw new WalletError('ENGINE_NO_KEY', {})
  const info = makeWalletInfo(services.io, type, keys)
  for (const [name, length] of LENGTHS) {
    if (keyBytesOf(services.io, info.keys[name])?.length !== length)
      throw new WalletError('KEY_INTEGRITY', { rule: `the ${name} of a wallet is not ${length} bytes` })
  }
  return info
}

/** A repo needs keys of these lengths (protocol §1.7). */
const LENGTHS: readonly (readonly ['dataKey' | 'syncKey', number])[] = [
  ['dataKey', 32],
  ['syncKey', 20]
]

/** Keys as a plugin has made them; what is no data at all is left for the caller to refuse. */
const readKeys = (pluginId: string, said: unknown): WalletKeys =>
  copyPluginData({ pluginId, what: 'keys' }, said, MAX_KEYS) as WalletKeys

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
    // Nobody's keys are damaged yet: a person mistyped.
    if (importText === undefined || !isWalletError(error, 'KEY_INTEGRITY')) throw error
    throw new WalletError('IMPORT_INVALID', { rule: error.details.rule }, error)
  })
  return isRecord(keys) ? { ...keys, imported: importText !== undefined } : keys
}
