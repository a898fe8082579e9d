import {
  type CurrencyPlugin,
  compare,
  nativeAmount,
  negate,
  sum,
  WalletError,
  ZERO
} from '../../kernel/plugin-api.ts'
import { makeToy, toyTransaction } from './toy-currency.ts'

/** A contract address of no chain, and the token id that it gives. */
export const CONTRACT = '0xAbCdEf0123456789aBcDeF0123456789abcdef01'

/** Takes less than ten times the network's fee, and should cost no fee at all. */
const DEAR_ACTIVATOR = 'dear activator'

/** A token of the toy chain, by its number of decimals. */
const tokenOf = (currencyCode: string, displayName: string, decimals: number) => ({
  currencyCode,
  displayName,
  denominations: [{ name: currencyCode, multiplier: `1${'0'.repeat(decimals)}` }],
  networkLocation: { contractAddress: `0x${currencyCode.toLowerCase()}` }
})

/**
 * A toy chain with two tokens of its own, one of which each wallet finds; with staking, activation by payment, which
 * for EURX has an unusual network fee, and a sister chain that its wallets can be split into.
 */
export const tokenChain: CurrencyPlugin = withTokens(
  makeToy({
    id: 'tokenchain',
    info: { displayName: 'Token Chain', currencyCode: 'TKC' },
    tools: {
      getSplittableTypes: async () => ['wallet:sisterchain', 'wallet:nochain'],
      getDisplayPrivateKey: async ({ keys }) => String(keys.toyKey),
      importPrivateKey: async text => ({ toyKey: text.trim() })
    },
    engine: (good, { callbacks }) => ({
      async makeSpend(spend, keys) {
        if (spend.tokenId === null) {
          const draft = await good.makeSpend(spend, keys)
          const isDear = spend.spendTargets.some(({ publicAddress }) => publicAddress === DEAR_ACTIVATOR)
          return isDear ? { ...draft, usualNetworkFee: ZERO } : draft
        }
        const total = sum(spend.spendTargets.map(target => nativeAmount(target.nativeAmount ?? '0')))
        if (compare(total, nativeAmount('2500000')) > 0)
          throw new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'USDX' })
        return toyTransaction('', {
          ...{ tokenId: spend.tokenId, nativeAmount: negate(total), date: 0 },
          parentNetworkFee: nativeAmount('1')
        })
      },
      async syncNetwork(keys) {
        callbacks.onTokenBalanceChanged('usdx', '2500000')
        callbacks.onNewTokens(['usdx'])
        return good.syncNetwork(keys)
      },
      getStakingStatus: async () => ({
        stakedAmounts: [{ nativeAmount: nativeAmount('250'), unlockDate: '2027-01-01T00:00:00.000Z' }]
      }),
      getActivationAssets: async () => [{ pluginId: 'tokenchain', tokenId: null }],
      async activateWallet({ tokenIds = [] }) {
        const isDear = tokenIds.includes('eurx')
        const [publicAddress, paid] = isDear ? [DEAR_ACTIVATOR, '5'] : ['activator', '40']
        return {
          fromNativeAmount: nativeAmount(paid),
          networkFee: { tokenId: null, nativeAmount: nativeAmount('1') },
          spends: [{ tokenId: null, spendTargets: [{ publicAddress, nativeAmount: nativeAmount(paid) }] }]
        }
      }
    })
  }).plugin
)

/** The chain that wallets of {@link tokenChain} can be split into. */
export const sisterChain: CurrencyPlugin = makeToy({
  id: 'sisterchain',
  info: { displayName: 'Sister Chain', currencyCode: 'SIS' }
}).plugin

function withTokens(plugin: CurrencyPlugin): CurrencyPlugin {
  return {
    ...plugin,
    apply(host) {
      plugin.apply(host)
      host.hooks.builtinTokens.tapPromise(plugin.id, async () => ({
        usdx: tokenOf('USDX', 'Dollar X', 6),
        eurx: tokenOf('EURX', 'Euro X', 2)
      }))
    }
  }
}
