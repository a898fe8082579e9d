import {
  type CurrencyInfo,
  compare,
  nativeAmount,
  negate,
  type QuoteSnapshot,
  type SpendInfo,
  type SwapOptions,
  type SwapPlugin,
  type SwapRequest,
  type SwapWallet,
  sum,
  type TokenMap,
  type Transaction,
  WalletError
} from '../../kernel/index.ts'
import { makeKernelHooks } from '../../kernel/plugins/hooks.ts'
import { swapHost } from '../../kernel/plugins/plugin.ts'
import { PluginCalls } from '../../kernel/plugins/plugin-calls.ts'
import { PluginSet } from '../../kernel/plugins/plugin-set.ts'
import type { Services } from '../../kernel/plugins/services.ts'
import { OrderIds } from '../../kernel/swap/approval.ts'
import type { QuoteRound } from '../../kernel/swap/round.ts'
import { type ProviderSettings, SwapService } from '../../kernel/swap/service.ts'
import type { EngineStore } from '../../kernel/types/engine.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { toyTransaction } from './toy-currency.ts'

/** A swap service between two wallets without a kernel around them; time stands still until a test moves it. */
export interface SwapTable {
  readonly clock: FakeClock
  readonly service: SwapService
  readonly from: TableWallet
  readonly to: TableWallet
  readonly faults: { readonly pluginId: string; readonly error: unknown }[]
  /** What observers heard, in order. */
  readonly reported: QuoteSnapshot[]
  readonly hooks: Services['hooks']
  /** By plugin id; a plugin that is not here is enabled. */
  readonly settings: Map<string, Partial<ProviderSettings>>
  /** Addresses in other wallets of the user. */
  readonly own: Set<string>
  /** The payments whose orders are followed. */
  readonly followed: Set<string>
  /** Asks for quotes of 1000 units, unless the wish says otherwise. */
  query(swapRequest?: Partial<SwapRequest>, options?: SwapOptions): QuoteRound
}

/** A wallet that keeps books of what it was asked. */
export interface TableWallet extends SwapWallet {
  balance: string
  /** What each transaction costs. */
  fee: string
  readonly spent: Transaction[]
  readonly requested: { addresses: number; readonly spends: SpendInfo[] }
  /** Thrown by the next spend. */
  failure: WalletError | undefined
}

/** Applies plugins to a service of their own. */
export const openSwapTable = (plugins: readonly SwapPlugin[], tokens: TokenMap = {}): SwapTable => {
  const clock = makeFakeClock()
  const io = { ...makeNodeIo(), clock }
  const faults: { pluginId: string; error: unknown }[] = []
  const reported: QuoteSnapshot[] = []
  const hooks = makeKernelHooks({ clock, onFault: fault => faults.push(fault) })
  hooks.quoteChanged.tap('test', snapshot => void reported.push(snapshot))
  const set = new PluginSet(hooks)
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  for (const plugin of plugins)
    set.add(plugin, () =>
      plugin.apply(swapHost(plugin.id, { hooks, io, disk: memoryDisk(), log, options: {}, onFault() {} }))
    )
  const report = (_source: string, error: unknown): void => void faults.push({ pluginId: '', error })
  const services = {
    io,
    hooks,
    calls: new PluginCalls({ clock, onFault: fault => faults.push(fault) }),
    plugins: set,
    report,
    inBackground: (_name: string, promise: Promise<unknown>) => void promise.catch(error => report('', error))
  } as unknown as Services
  const settings = new Map<string, Partial<ProviderSettings>>()
  const own = new Set<string>()
  const followed = new Set<string>()
  const service = new SwapService({
    services,
    settings: {
      swapConfig: id => ({
        getSnapshot: () => ({
          isEnabled: true,
          needsActivation: false,
          userSettings: {},
          ...settings.get(id)
        })
      }),
      currencyConfig: pluginId => ({
        getSnapshot: () => ({ allTokens: pluginId === 'alphacoin' ? tokens : {} })
      })
    },
    orderIds: new OrderIds(mapStore(), clock),
    orders: {
      begin: async ({ txid }) => void followed.add(txid),
      forget: async txid => void followed.delete(txid)
    },
    findOwn: async (_pluginId, addresses) => ({
      own: new Set([...addresses].filter(address => own.has(address))),
      isComplete: true
    })
  })
  const from = makeTableWallet('alpha')
  const to = makeTableWallet('beta')
  return {
    ...{ clock, service, from, to, faults, reported, hooks, settings, own, followed },
    query: (swapRequest = {}, options = {}) =>
      service.request(
        {
          fromWallet: from,
          toWallet: to,
          nativeAmount: nativeAmount('1000'),
          quoteFor: 'from',
          ...swapRequest
        },
        options
      )
  }
}

const mapStore = (): EngineStore => {
  const texts = new Map<string, string>()
  return {
    get: key => texts.get(key),
    entries: prefix => [...texts].filter(([key]) => key.startsWith(prefix)),
    async write(changes) {
      for (const [key, text] of changes) {
        if (text === null) texts.delete(key)
        else texts.set(key, text)
      }
    }
  }
}

/** A wallet of a currency of its own; addresses that begin with `bad` are none of it. */
const makeTableWallet = (name: string, id = `${name}-wallet`): TableWallet => {
  const requested = { addresses: 0, spends: [] as SpendInfo[] }
  const wallet: TableWallet = {
    id,
    currencyInfo: infoOf(name),
    balance: '5000',
    fee: '7',
    spent: [],
    requested,
    failure: undefined,
    balanceOf: () => nativeAmount(wallet.balance),
    async getReceiveAddress() {
      requested.addresses += 1
      return { publicAddress: `${id}-address` }
    },
    sampleAddress: async () => `${name}-sample`,
    async parseUri(uri) {
      if (uri.startsWith('bad')) throw new WalletError('ADDRESS_INVALID', { rule: 'is bad' })
      const [publicAddress = '', amount] = uri.replace(`${name}:`, '').split('?amount=')
      return { publicAddress, ...(amount === undefined ? {} : { nativeAmount: nativeAmount(amount) }) }
    },
    async makeSpend(spend) {
      requested.spends.push(spend)
      return draftOf(wallet, spend)
    },
    getMaxSpendable: async spend => {
      requested.spends.push(spend)
      return nativeAmount(String(BigInt(wallet.balance) - BigInt(wallet.fee)))
    },
    async spend(draft, options) {
      const sent = { ...draft, txid: `txid-${wallet.spent.length + 1}` }
      await options?.onSigned?.(sent)
      if (wallet.failure !== undefined) throw wallet.failure
      wallet.spent.push(sent)
      return sent
    }
  }
  return wallet
}

const draftOf = (wallet: TableWallet, spend: SpendInfo): Transaction => {
  const total = sum(spend.spendTargets.map(target => nativeAmount(target.nativeAmount ?? '0')))
  const fee = nativeAmount(wallet.fee)
  if (compare(total, nativeAmount(wallet.balance)) > 0)
    throw new WalletError('INSUFFICIENT_FUNDS', { currencyCode: wallet.currencyInfo.currencyCode })
  const isCoin = spend.tokenId === null
  return {
    ...toyTransaction('', {
      tokenId: spend.tokenId,
      nativeAmount: negate(isCoin ? sum([total, fee]) : total),
      networkFee: isCoin ? fee : nativeAmount('0'),
      ...(isCoin ? {} : { parentNetworkFee: fee })
    }),
    walletId: wallet.id,
    currencyCode: wallet.currencyInfo.currencyCode,
    confirmations: 'unconfirmed',
    isSend: true,
    memos: spend.memos ?? [],
    metadata: spend.metadata ?? {}
  }
}

const infoOf = (name: string): CurrencyInfo => ({
  pluginId: `${name}coin`,
  displayName: `${name} coin`,
  walletType: `wallet:${name}`,
  currencyCode: name.slice(0, 3).toUpperCase(),
  denominations: [{ name, multiplier: '100' }]
})
