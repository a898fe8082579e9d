// A policy: a rule that may refuse to use private keys. A wallet whose policy cannot be loaded pays nothing.
import { compare, nativeAmount, type PolicyPlugin, WalletError } from 'holdfast/plugin'

/** The most that one payment may cost, fee included, in native units by currency plugin: here 0.01 BTC and 1 LTC. */
const LIMITS: Readonly<Record<string, string>> = { bitcoin: '1000000', litecoin: '100000000' }

/** Refuses payments above a limit. */
export const plugin: PolicyPlugin = {
  kind: 'policy',
  // The name of this plugin in settings, logs and lists; it stays the same for ever.
  id: 'my-plugin',
  apply({ hooks, log, options }) {
    // What the owner of the wallet sets replaces the limits above: { pluginOptions: { 'my-plugin': { bitcoin: '5000' } } }
    const limits = new Map(
      Object.entries({ ...LIMITS, ...options }).map(([currency, limit]) => [
        currency,
        nativeAmount(String(limit))
      ])
    )

    // Called before each use of private keys, with what they are used for. Returning lets it pass; throwing stops it.
    hooks.beforeSign.tapPromise(
      'my-plugin',
      async ({ use, pluginId, tokenId, nativeAmount: cost, walletId }) => {
        if (use !== 'spend' || tokenId !== null) return
        const limit = limits.get(pluginId)
        if (limit === undefined || compare(nativeAmount(cost), limit) <= 0) return
        log.warn(`stopped a payment of ${cost} from ${walletId}`)
        // The reason is shown to the user.
        throw new WalletError('SIGN_REFUSED', { pluginId: 'my-plugin', reason: `more than ${limit}` })
      }
    )
  }
}
