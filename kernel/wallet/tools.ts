import { requireObject, requireTexts } from '../base/arguments.ts'
import { WalletError } from '../base/errors.ts'
import type { Services } from '../plugins/services.ts'
import type { CurrencyTools, FreshAddress, MessageVerdict, SignedMessage } from '../types/engine.ts'
import type { PluginId } from '../types/ids.ts'
import { checkFreshAddress } from './engine/validate.ts'

const CALL_MS = 60_000

/**
 * One call of a currency's tools; `what` says what for, such as "reading a URI". `call` answers with what it has checked
 * and copied.
 */
export interface ToolsCall<T> {
  readonly pluginId: PluginId
  readonly what: string
  call(tools: CurrencyTools): Promise<T>
}

/**
 * Calls the tools of a currency under a deadline; a throw is a rejection.
 *
 * @throws PLUGIN_FAILED, DEADLINE, or the plugin's error
 */
export const callTools = <T>(services: Services, { pluginId, what, call }: ToolsCall<T>): Promise<T> => {
  const sentence = `The plugin ${pluginId}, ${what}`
  return services.calls.call({ pluginId, kind: what, what: sentence, milliseconds: CALL_MS }, async () =>
    call(await services.plugins.toolsOf(pluginId))
  )
}

/**
 * An address that stands for a recipient who is not known yet: the currency's own sample, else one of the wallet.
 *
 * @throws PLUGIN_FAILED, BOGUS_DATA
 */
export const sampleAddress = async (
  services: Services,
  { pluginId, own }: { readonly pluginId: PluginId; own(): Promise<FreshAddress> }
): Promise<string> => {
  const sample = await callTools(services, {
    pluginId,
    what: 'giving a sample address',
    async call(tools) {
      const answer = await tools.sampleAddress?.()
      if (answer === undefined) return undefined
      return checkFreshAddress(pluginId, { publicAddress: answer }).publicAddress
    }
  })
  return sample ?? (await own()).publicAddress
}

/**
 * Verifies the signature of a text with the tools of a currency.
 *
 * @throws NOT_SUPPORTED, ADDRESS_INVALID, OPTION_INVALID, PLUGIN_FAILED, BOGUS_DATA
 */
export const verifyMessage = async (
  services: Services,
  pluginId: PluginId,
  signed: SignedMessage
): Promise<MessageVerdict> => {
  requireTexts({ pluginId })
  requireObject('signed', signed)
  const { message, address, signature } = signed
  requireTexts({ message, address, signature })
  if (!services.plugins.currencies.some(info => info.pluginId === pluginId))
    throw new WalletError('OPTION_INVALID', { option: 'pluginId', rule: 'is no currency of this kernel' })
  return callTools(services, {
    pluginId,
    what: 'verifying a message',
    async call(tools) {
      if (tools.verifyMessage === undefined)
        throw new WalletError('NOT_SUPPORTED', { what: 'verifying messages' })
      const verdict: unknown = await tools.verifyMessage({ message, address, signature })
      if (isVerdict(verdict)) return verdict
      throw new WalletError('BOGUS_DATA', { pluginId, what: 'verdict of a message', path: '' })
    }
  })
}

const isVerdict = (value: unknown): value is MessageVerdict =>
  value === 'valid' || value === 'invalid' || value === 'inconclusive'
