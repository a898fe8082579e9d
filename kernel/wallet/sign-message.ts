import { WalletError } from '../errors/wallet-error.ts'
import type { MessageOptions } from '../types/engine.ts'
import type { EngineRunner } from './engine/engine-runner.ts'

/**
 * Signs a text with the keys of a wallet.
 *
 * @throws NOT_SUPPORTED, BOGUS_DATA, or what the engine objects
 * @see specification §5
 */
export const signMessage = async (
  { engine, pluginId }: { readonly engine: EngineRunner; readonly pluginId: string },
  message: string,
  options: MessageOptions
): Promise<string> => {
  const signature: unknown = await engine.call('signing a message', async made => {
    if (made.signMessage === undefined) throw new WalletError('NOT_SUPPORTED', { what: 'signing messages' })
    return made.signMessage(message, engine.privateKeys(), options)
  })
  if (typeof signature === 'string' && signature !== '' && signature.length <= MAX_SIGNATURE) return signature
  throw new WalletError('BOGUS_DATA', { pluginId, what: 'signature', path: '' })
}

const MAX_SIGNATURE = 100_000
