import type {
  CurrencyEngine,
  CurrencyHost,
  CurrencyTools,
  EngineCallbacks,
  ObserverPlugin,
  Plugin,
  PolicyPlugin,
  QuoteContext,
  QuoteSnapshot,
  RateContext,
  RatePlugin,
  StoragePlugin,
  SwapOffer
} from '../../kernel/index.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { makeShop, offerOf } from './swap-shop.ts'
import { makeToy, type ToyOptions } from './toy-currency.ts'

/** Something that a plugin does wrong when it is called. */
export interface CallMistake {
  readonly what: string
  /** Makes the plugin under an id of its own. */
  make(id: string): Plugin
  /** What the author sees of it; `{id}` stands for the id of the plugin. */
  readonly sentence: string
}

type Offer = (pair: unknown, rate: unknown) => void

const rates =
  (answer: (offer: Offer, context: RateContext) => unknown) =>
  (id: string): RatePlugin => ({
    ...{ kind: 'rates', id, displayName: id },
    apply({ hooks }) {
      hooks.fetchRates.tapPromise(id, (async (context: RateContext) =>
        answer(context.offer as Offer, context)) as never)
    }
  })

const swap =
  (answer: (context: QuoteContext) => unknown) =>
  (id: string): Plugin =>
    makeShop({ id, displayName: id, answer: async context => answer(context) })

/** An offer of the wrong shape. */
const offers = (changes: object): ((id: string) => Plugin) =>
  swap(context => context.offer({ ...offerOf(context), ...changes } as SwapOffer))

const coin =
  (options: ToyOptions) =>
  (id: string): Plugin =>
    makeToy({ ...options, id }).plugin

const tools = (changes: object): ((id: string) => Plugin) =>
  coin({ tools: changes as Partial<CurrencyTools> })

const engine = (changes: object): ((id: string) => Plugin) =>
  coin({ engine: () => changes as Partial<CurrencyEngine> })

/** A currency that says something wrong once its engine starts. */
const says = (
  start: (callbacks: Readonly<Record<keyof EngineCallbacks, (...args: unknown[]) => void>>) => void
) =>
  coin({
    engine: (_good, { callbacks }) => ({
      async startEngine() {
        start(callbacks as never)
      }
    })
  })

/** A currency one of whose makers is another function. */
const maker =
  (hook: 'builtinTokens' | 'makeEngine' | 'makeTools', make: () => unknown) =>
  (id: string): Plugin => {
    const { plugin } = makeToy({ id, tokens: {} })
    return {
      ...plugin,
      apply(host: CurrencyHost) {
        const tap = { tapPromise: () => host.hooks[hook].tapPromise(id, make as never) }
        plugin.apply({ ...host, hooks: { ...host.hooks, [hook]: tap } } as never)
      }
    }
  }

const ranks =
  (rank: (quotes: readonly QuoteSnapshot[]) => unknown) =>
  (id: string): PolicyPlugin => ({
    ...{ kind: 'policy', id },
    apply: ({ hooks }) => hooks.rankQuotes.tap(id, quotes => rank(quotes) as never)
  })

const watches =
  (answer: (wallet: { name: unknown }) => unknown) =>
  (id: string): ObserverPlugin => ({
    ...{ kind: 'observer', id },
    apply: ({ hooks }) => hooks.walletChanged.tap(id, answer as never)
  })

const life =
  (hook: 'closing' | 'ready', answer: () => unknown) =>
  (id: string): ObserverPlugin => ({
    ...{ kind: 'observer', id },
    apply: ({ hooks }) => hooks[hook].tapPromise(id, answer as never)
  })

const GIVEN = 'only what is given to the functions of the context counts'
const pair = { fromCurrency: 'BTC', toCurrency: 'iso:USD' }
const fails = (error: unknown) => async (): Promise<never> => {
  throw error
}

/** Each mistake with what is seen of it. All are made in one kernel, and each is blamed on its own plugin. */
export const CALL_MISTAKES: readonly CallMistake[] = [
  {
    what: 'a price as a text',
    make: rates(offer => offer(pair, '64000')),
    sentence: 'Invalid data format: the rate is a text, and no number above zero'
  },
  {
    what: 'a price that is no number',
    make: rates(offer => offer(pair, Number('none'))),
    sentence: 'Invalid data format: the rate is NaN, and no number above zero'
  },
  {
    what: 'a price of nothing',
    make: rates(offer => offer(pair, 0)),
    sentence: 'Invalid data format: the rate is 0, and no number above zero'
  },
  {
    what: 'a price below nothing',
    make: rates(offer => offer(pair, -1)),
    sentence: 'Invalid data format: the rate is -1, and no number above zero'
  },
  {
    what: 'a pair as a text',
    make: rates(offer => offer('BTC/USD', 1)),
    sentence: 'Invalid data format: fromCurrency of the pair is no code'
  },
  {
    what: 'half a pair',
    make: rates(offer => offer({ fromCurrency: 'BTC' }, 1)),
    sentence: 'Invalid data format: toCurrency of the pair is no code'
  },
  {
    what: 'a price before its pair',
    make: rates(offer => offer(64_000, pair)),
    sentence: 'Invalid data format: fromCurrency of the pair is no code'
  },
  {
    what: 'a rate source that throws a text',
    make: rates(fails('no price')),
    sentence: 'Could not fetch rates: Error: no price'
  },
  {
    what: 'a rate source that throws an error',
    make: rates(fails(new Error('no price'))),
    sentence: 'Could not fetch rates: Error: no price'
  },
  {
    what: 'a rate source that reads a reply as it is not',
    make: rates((_offer, context) => (context as never as { data: { price: number } }).data.price),
    sentence: "Could not fetch rates: TypeError: Cannot read properties of undefined (reading 'price')"
  },
  {
    what: 'an offer in numbers',
    make: offers({ toNativeAmount: 740_000 }),
    sentence: 'The plugin failed in fetchQuotes: Plugin sent bogus swap offer: toNativeAmount (BOGUS_DATA)'
  },
  {
    what: 'an offer in coins',
    make: offers({ toNativeAmount: '0.0074' }),
    sentence: 'The plugin failed in fetchQuotes: Plugin sent bogus swap offer: toNativeAmount (BOGUS_DATA)'
  },
  {
    what: 'an offer without a fee',
    make: offers({ networkFee: undefined }),
    sentence: 'The plugin failed in fetchQuotes: Plugin sent bogus swap offer: networkFee (BOGUS_DATA)'
  },
  {
    what: 'an offer without a payment',
    make: offers({ payment: undefined }),
    sentence: 'The plugin failed in fetchQuotes: Plugin sent bogus swap offer: payment (BOGUS_DATA)'
  },
  {
    what: 'an offer with one spend in place of a list',
    make: offers({ payment: { spends: {} } }),
    sentence: 'The plugin failed in fetchQuotes: Plugin sent bogus swap offer: payment (BOGUS_DATA)'
  },
  {
    what: 'an offer that ends at a number',
    make: offers({ expirationDate: 1_900_000_000_000 }),
    sentence: 'The plugin failed in fetchQuotes: Plugin sent bogus swap offer: expirationDate (BOGUS_DATA)'
  },
  {
    what: 'an offer for another amount',
    make: offers({ fromNativeAmount: '7' }),
    sentence: 'The plugin failed in fetchQuotes: Plugin sent bogus swap offer: fromNativeAmount (BOGUS_DATA)'
  },
  {
    what: 'an exchange without an offer',
    make: swap(() => {}),
    sentence: 'The plugin {id} failed in fetchQuotes: it made no offer'
  },
  {
    what: 'an exchange that throws an error',
    make: swap(fails(new Error('The shop is shut'))),
    sentence: 'The plugin {id} failed in fetchQuotes: Error: The shop is shut'
  },
  {
    what: 'no tools',
    make: maker('makeTools', async () => undefined),
    sentence: 'The plugin {id} failed in makeTools: it made none'
  },
  {
    what: 'tools that cannot make keys',
    make: tools({ createPrivateKey: undefined }),
    sentence: 'tools.createPrivateKey is not a function'
  },
  {
    what: 'a private key as a text',
    make: tools({ createPrivateKey: async () => 'secret' }),
    sentence: 'The engine failed to return a key'
  },
  {
    what: 'a public key as a text',
    make: tools({ derivePublicKey: async () => 'address' }),
    sentence: 'Plugin sent bogus public keys (BOGUS_DATA)'
  },
  {
    what: 'no engine',
    make: maker('makeEngine', async () => undefined),
    sentence: 'The plugin {id} failed in makeEngine: it made none (PLUGIN_FAILED)'
  },
  {
    what: 'makeEngine that throws',
    make: maker('makeEngine', fails(new Error('No server is set'))),
    sentence: 'The plugin {id} failed in makeEngine: it threw Error: No server is set (PLUGIN_FAILED)'
  },
  {
    what: 'an engine that cannot sync',
    make: engine({ syncNetwork: undefined }),
    sentence: 'The sync failed: TypeError: engine.syncNetwork is not a function'
  },
  {
    what: 'an engine that does not start',
    make: engine({ startEngine: fails(new Error('No server answers')) }),
    sentence: 'Error: No server answers'
  },
  {
    what: 'an engine that fails to sync',
    make: engine({ syncNetwork: fails(new TypeError('reply.txs is not iterable')) }),
    sentence: 'The sync failed: TypeError: reply.txs is not iterable'
  },
  {
    what: 'a delay as a text',
    make: engine({ syncNetwork: async () => 'soon' }),
    sentence: 'syncNetwork answered with a string, and not with milliseconds; it is called every 10 s'
  },
  {
    what: 'a balance as a number',
    make: says(({ onTokenBalanceChanged }) => onTokenBalanceChanged(null, 5)),
    sentence: 'Plugin sent bogus balance (BOGUS_BALANCE)'
  },
  {
    what: 'a balance in coins',
    make: says(({ onTokenBalanceChanged }) => onTokenBalanceChanged(null, '0.05')),
    sentence: 'Plugin sent bogus balance (BOGUS_BALANCE)'
  },
  {
    what: 'one transaction in place of a list',
    make: says(({ onTransactionsChanged }) => onTransactionsChanged({})),
    sentence: 'Plugin sent bogus transactions (BOGUS_DATA)'
  },
  {
    what: 'a transaction without an id',
    make: says(({ onTransactionsChanged }) => onTransactionsChanged([{ nativeAmount: '5' }])),
    sentence: 'Plugin sent bogus tx: txid (BOGUS_TX)'
  },
  {
    what: 'a height as a text',
    make: says(({ onBlockHeightChanged }) => onBlockHeightChanged('840000')),
    sentence: 'Plugin sent bogus block height (BOGUS_DATA)'
  },
  {
    what: 'a callback that there is not',
    make: says(callbacks => (callbacks as never as { onBalance(): void }).onBalance()),
    sentence: 'TypeError: callbacks.onBalance is not a function'
  },
  {
    what: 'an address as a text',
    make: engine({ getFreshAddress: async () => 'address' }),
    sentence: 'Plugin sent bogus address'
  },
  {
    what: 'tokens as a list',
    make: maker('builtinTokens', async () => []),
    sentence: 'Plugin sent bogus tokens (BOGUS_DATA)'
  },
  {
    what: 'a token without units',
    make: maker('builtinTokens', async () => ({ usdc: { currencyCode: 'USDC', displayName: 'USD Coin' } })),
    sentence: 'Plugin sent bogus token: usdc.denominations (BOGUS_DATA)'
  },
  {
    what: 'a ranking that is a promise',
    make: ranks(async quotes => quotes),
    sentence: 'The plugin failed in rankQuotes: TypeError: It answered with a promise, and is not waited for'
  },
  {
    what: 'a ranking that is no list',
    make: ranks(quotes => quotes[0]),
    sentence:
      'The plugin failed in rankQuotes: Plugin sent bogus answer to rankQuotes: no list of all 2 quotes (BOGUS_DATA)'
  },
  {
    what: 'a ranking that leaves quotes out',
    make: ranks(() => []),
    sentence:
      'The plugin failed in rankQuotes: Plugin sent bogus answer to rankQuotes: no list of all 2 quotes (BOGUS_DATA)'
  },
  {
    what: 'a ranking with a quote of its own',
    make: ranks(quotes => [{ ...quotes[0], quoteId: 'x' }, ...quotes.slice(1)]),
    sentence:
      'The plugin failed in rankQuotes: Plugin sent bogus answer to rankQuotes: a quote that is not among those, or is there twice (BOGUS_DATA)'
  },
  {
    what: 'an observer that changes what it sees',
    make: watches(wallet => {
      wallet.name = 'mine'
    }),
    sentence:
      "The plugin failed in walletChanged: TypeError: Cannot assign to read only property 'name' of object '#<Object>'"
  },
  {
    what: 'an observer that throws',
    make: watches(() => {
      throw new Error('The file is full')
    }),
    sentence: 'The plugin failed in walletChanged: Error: The file is full'
  },
  {
    what: 'an asynchronous observer that throws',
    make: watches(fails(new Error('The hook answers 404'))),
    sentence: 'The plugin failed in walletChanged: Error: The hook answers 404'
  },
  {
    what: 'ready that throws',
    make: life('ready', fails(new Error('No list of coins'))),
    sentence: 'The plugin failed in ready: Error: No list of coins'
  },
  {
    what: 'closing that throws',
    make: life('closing', fails(new Error('The file is gone'))),
    sentence: 'The plugin failed in closing: Error: The file is gone'
  },
  {
    what: 'prices that are returned',
    make: rates(() => [{ ...pair, rate: 64_000 }]),
    sentence: `fetchRates answered with a list, which is ignored: ${GIVEN}`
  },
  {
    what: 'an offer that is returned',
    make: swap(context => offerOf(context)),
    sentence: `fetchQuotes answered with an object, which is ignored: ${GIVEN}`
  },
  {
    what: 'ready with an answer',
    make: life('ready', async () => true),
    sentence: 'ready answered with the boolean true, which is ignored'
  }
]

const disk =
  (changes: object) =>
  (id: string): Plugin =>
    store(async () => ({ ...memoryDisk(), ...changes }))(id)

const store =
  (open: () => unknown) =>
  (id: string): StoragePlugin => ({
    ...{ kind: 'storage', id },
    apply: ({ hooks }) => hooks.openDisk.tapPromise(id, open as never)
  })

const guard =
  (answer: () => unknown) =>
  (id: string): PolicyPlugin => ({
    ...{ kind: 'policy', id },
    apply: ({ hooks }) => hooks.beforeSign.tapPromise(id, answer as never)
  })

/** Mistakes of stores and policies: each in a kernel of its own, which pays twice, since one of them can stop all of it. */
export const ALONE_MISTAKES: readonly CallMistake[] = [
  {
    what: 'a storage without a disk',
    make: store(async () => undefined),
    sentence: 'The following plugins are missing or failed to load: storage'
  },
  {
    what: 'a storage whose disk is a map',
    make: store(async () => new Map()),
    sentence: 'The storage gave no disk'
  },
  {
    what: 'a storage that throws',
    make: store(fails(new Error('The disk is locked'))),
    sentence: 'The plugin {id} failed in openDisk: it threw Error: The disk is locked'
  },
  {
    what: 'a file as bytes',
    make: disk({ getText: async () => new Uint8Array(3) }),
    sentence: 'The disk failed: it answered with no text'
  },
  {
    what: 'a missing file as null',
    make: disk({ getText: async () => null }),
    sentence: 'The disk failed: it answered with no text'
  },
  {
    what: 'a list of files as a set',
    make: disk({ list: async () => new Set(['a']) }),
    sentence: 'The disk failed: it answered with no list of paths'
  },
  {
    what: 'a write that throws',
    make: disk({ setText: fails(new Error('No space')) }),
    sentence: 'No space'
  },
  {
    what: 'a policy that answers false',
    make: guard(async () => false),
    sentence: 'The policy {id} refused to sign: it answered false: throw an error to refuse'
  },
  {
    what: 'a policy that refuses with an error',
    make: guard(fails(new Error('Too much for today'))),
    sentence: 'The policy {id} refused to sign: Too much for today'
  },
  {
    what: 'a policy that throws a text',
    make: guard(fails('Too much')),
    sentence: 'The policy {id} refused to sign: Too much'
  },
  {
    what: 'a policy that throws nothing',
    make: guard(fails(undefined)),
    sentence: 'The policy {id} refused to sign: It threw undefined'
  }
]
