import { looseCopy } from '../base/copy-data.ts'
import { WalletError } from '../base/errors.ts'
import type { MessageOptions } from '../types/engine.ts'
import { readPluginText } from './engine/engine-data.ts'
import type { EngineRunner } from './engine/engine-runner.ts'

/**
 * Signs a text with the keys of a wallet.
 *
 * @throws NOT_SUPPORTED, BOGUS_DATA, or what a policy or the engine objects
 * @see specification §5
 */
export const signMessage = async (
  { engine, pluginId }: { readonly engine: EngineRunner; readonly pluginId: string },
  message: string,
  options: MessageOptions
): Promise<string> => {
  const isAble = await engine.call('signing a message', async made => made.signMessage !== undefined)
  if (!isAble) throw new WalletError('NOT_SUPPORTED', { what: 'signing messages' })
  const privateKeys = await engine.privateKeys({ use: 'message', message })
  const place = { pluginId, what: 'signature' }
  return engine.call('signing a message', async made =>
    readPluginText(place, await made.signMessage?.(message, privateKeys, looseCopy(options)))
  )
}
