import {
  type CurrencyEngine,
  type CurrencyInfo,
  type CurrencyPlugin,
  type CurrencyTools,
  compare,
  type EngineRequest,
  type EngineTransaction,
  nativeAmount,
  negate,
  sum,
  type TokenMap,
  WalletError
} from '../../kernel/plugin-api.ts'

/** How a toy currency differs from a good one. */
export interface ToyOptions {
  readonly id?: string
  readonly info?: Partial<CurrencyInfo>
  readonly balance?: string
  /** The tokens that the plugin brings. */
  readonly tokens?: TokenMap
  /** Replaces methods of every engine. */
  readonly engine?: (good: CurrencyEngine, request: EngineRequest) => Partial<CurrencyEngine>
  /** Replaces methods of the tools. */
  readonly tools?: Partial<CurrencyTools>
  /** Hears what every method was called with. */
  readonly onCall?: (method: string, args: readonly unknown[]) => void
}

/** A toy currency and the engine requests it was given. */
export interface Toy {
  readonly plugin: CurrencyPlugin
  readonly requests: EngineRequest[]
}

/** A currency without a chain: it spends up to its balance and believes itself. */
export const makeToy = (options: ToyOptions = {}): Toy => {
  const id = options.id ?? 'toycoin'
  const requests: EngineRequest[] = []
  const plugin: CurrencyPlugin = {
    kind: 'currency',
    id,
    info: {
      pluginId: id,
      displayName: 'Toy Coin',
      walletType: `wallet:${id}`,
      currencyCode: 'TOY',
      denominations: [{ name: 'TOY', multiplier: '100' }],
      ...options.info
    },
    apply({ hooks, io }) {
      hooks.makeTools.tapPromise(id, async () => ({
        createPrivateKey: async () => ({ toyKey: io.crypto.toHex(io.random(32)) }),
        derivePublicKey: async ({ keys }) => ({
          address: io.crypto.toHex(io.crypto.sha256(io.crypto.fromHex(String(keys.toyKey)))).slice(0, 20)
        }),
        parseUri: async uri => ({ publicAddress: uri }),
        encodeUri: async ({ publicAddress }) => `toy:${publicAddress}`,
        ...options.tools
      }))
      const { tokens } = options
      if (tokens !== undefined) hooks.builtinTokens.tapPromise(id, async () => tokens)
      hooks.makeEngine.tapPromise(id, async request => {
        requests.push(request)
        const good = makeEngine(request, options.balance ?? '1000')
        return listened({ ...good, ...options.engine?.(good, request) }, options.onCall)
      })
    }
  }
  return { plugin, requests }
}

/** A transaction that a toy engine may report. */
export const toyTransaction = (
  txid: string,
  changes: Partial<EngineTransaction> = {}
): EngineTransaction => ({
  tokenId: null,
  txid,
  date: 1_700_000_000,
  blockHeight: 0,
  nativeAmount: nativeAmount('5'),
  networkFee: nativeAmount('0'),
  ourReceiveAddresses: [],
  signedTx: '',
  ...changes
})

const makeEngine = ({ walletInfo, callbacks }: EngineRequest, balance: string): CurrencyEngine => ({
  async startEngine() {},
  async killEngine() {},
  async syncNetwork() {
    callbacks.onTokenBalanceChanged(null, balance)
    callbacks.onBlockHeightChanged(100)
    callbacks.onAddressesChecked(1)
    return 10_000
  },
  async resyncBlockchain() {},
  getFreshAddress: async () => ({ publicAddress: String(walletInfo.keys.address) }),
  async addGapLimitAddresses() {},
  isAddressUsed: async () => false,
  async makeSpend({ spendTargets }) {
    const total = sum(spendTargets.map(target => nativeAmount(target.nativeAmount ?? '0')))
    if (compare(total, nativeAmount(balance)) > 0)
      throw new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'TOY' })
    return toyTransaction('', { nativeAmount: negate(total), networkFee: nativeAmount('1'), date: 0 })
  },
  signTx: async (tx, keys) => ({
    ...tx,
    txid: `txid-${walletInfo.id.slice(0, 6)}`,
    signedTx: `signed:${Object.keys(keys).length}`
  }),
  broadcastTx: async tx => tx,
  async saveTx() {}
})

const listened = (engine: CurrencyEngine, onCall: ToyOptions['onCall']): CurrencyEngine => {
  if (onCall === undefined) return engine
  const entries = Object.entries(engine).map(([method, call]) => [
    method,
    (...args: unknown[]) => {
      onCall(method, args)
      return (call as (...args: unknown[]) => unknown)(...args)
    }
  ])
  return Object.fromEntries(entries)
}
