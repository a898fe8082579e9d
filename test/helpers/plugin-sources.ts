/** A rate source that needs a key, keeps a file and asks a server. */
export const RATES: string = `import type { RatePlugin } from 'holdfast/plugin'
import { isWalletError } from 'holdfast/plugin'
const plugin: RatePlugin = {
  kind: 'rates', id: 'prices', displayName: 'Prices', bias: -0.1,
  checkOptions: ({ apiKey }) => (apiKey === undefined ? 'it needs a key' : undefined),
  apply({ hooks, io, disk, options, log }) {
    hooks.fetchRates.tapPromise('prices', async ({ wanted, offer, signal }) => {
      await disk.setText('last', String(io.clock.now()))
      try {
        await io.fetch('https://elsewhere.example/', { signal })
      } catch (error) {
        log.info('code ' + isWalletError(error, 'NETWORK') + ' ' + options.apiKey)
      }
      offer({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, Number(await disk.getText('last')) > 1e12 ? 64_000 : 1)
    })
  }
}
export default plugin`

/** A swap provider for one price, which orders on approval. */
export const SHOP: string = `import { nativeAmount, type SwapPlugin, WalletError } from 'holdfast/plugin'
const shop: SwapPlugin = {
  kind: 'swap', id: 'shop', displayName: 'Shop', supportEmail: 'help@shop.example',
  checkSettings: ({ token }) => ({ needsActivation: token === 'missing' }),
  apply({ hooks, io }) {
    hooks.fetchQuotes.tapPromise('shop', async context => {
      const { from, to, nativeAmount: amount } = context.request
      const tag = io.crypto.toHex(io.crypto.sha256(new Uint8Array([1, 2, 3])))
      if (!tag.startsWith('039058c6f2c0cb492c533b0a4d14ef77')) throw new Error('a wrong digest: ' + tag)
      if (BigInt(amount) < 10000n)
        throw new WalletError('SWAP_BELOW_LIMIT', { pluginId: 'shop', nativeMin: nativeAmount('10000'), direction: 'from' })
      const toNativeAmount = nativeAmount(String(BigInt(amount) * 740n))
      const spendTargets = [{ nativeAmount: amount }]
      context.offer({
        fromNativeAmount: amount, toNativeAmount, isEstimate: false,
        expirationDate: new Date(io.clock.now() + 60_000),
        networkFee: await context.feeFor([{ tokenId: null, spendTargets }]),
        payment: { order: async () => {
          const orderId = 'for ' + (await context.depositTo()).slice(0, 4)
          const paid = [{ publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', nativeAmount: amount }]
          return { orderId, spends: [{ tokenId: null, spendTargets: paid }], fromNativeAmount: amount, toNativeAmount }
        } }
      })
    })
  }
}
export default shop`

/** A policy that refuses to sign for more than 1,500,000 native units. */
export const LIMIT: string = `import { compare, nativeAmount, type PolicyPlugin, WalletError } from 'holdfast/plugin'
const limit: PolicyPlugin = {
  kind: 'policy', id: 'limit',
  apply({ hooks }) {
    hooks.beforeSign.tapPromise('limit', async spend => {
      if (compare(nativeAmount(spend.nativeAmount), nativeAmount('1500000')) <= 0) return
      throw new WalletError('SIGN_REFUSED', { pluginId: 'limit', reason: 'more than 1500000' })
    })
  }
}
export default limit`

/** An observer that prints the stages of payments. */
export const WATCH: string = `import type { ObserverPlugin } from 'holdfast/observer'
const watch: ObserverPlugin = {
  kind: 'observer', id: 'watch',
  apply({ hooks }) {
    hooks.spendChanged.tap('watch', ({ stage }) => console.log('spend', stage))
  }
}
export default watch`

/** A store on a Map of this realm, which is gone with it. */
export const CELLAR: string = `import { checkPath, type Disk, type StoragePlugin, WalletError } from 'holdfast/plugin'
const openDisk = (files: Map<string, string>): Disk => {
  let isOpen = true
  const check = (path: string): string => {
    if (!isOpen) throw new WalletError('STORAGE_FAILED', { path, reason: 'the disk is closed' })
    return checkPath(path)
  }
  return {
    getText: async path => files.get(check(path)),
    setText: async (path, text) => void files.set(check(path), text),
    delete: async path => void files.delete(check(path)),
    list: async folder => [...files.keys()].filter(path => folder === '' || path.startsWith(check(folder) + '/')).sort(),
    close: async () => { isOpen = false }
  }
}
const cellar: StoragePlugin = {
  kind: 'storage', id: 'cellar',
  apply({ hooks }) {
    const files = new Map<string, string>()
    hooks.openDisk.tapPromise('cellar', async () => openDisk(files))
  }
}
export default cellar`
