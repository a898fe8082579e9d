import { setTimeout } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import type {
  Account,
  CurrencyEngine,
  CurrencyHost,
  CurrencyInfo,
  CurrencyTools,
  CurrencyWallet,
  Disk,
  EngineCallbacks,
  Kernel,
  ObserverPlugin,
  Plugin,
  PolicyPlugin,
  RateContext,
  StoragePlugin,
  SwapOffer,
  TokenMap
} from '../../kernel/index.ts'
import { isWalletError, nativeAmount, WalletError } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { openDevice } from '../helpers/device.ts'
import { makeShop, offerOf } from '../helpers/swap-shop.ts'
import { makeToy, toyTransaction } from '../helpers/toy-currency.ts'

/** What a bad plugin is, in one world with good ones. */
interface Kind {
  readonly name: string
  readonly plugins?: readonly Plugin[]
  /** In place of the good storage. */
  readonly disk?: () => unknown
  /** Does more with the account, besides what is done with all. */
  readonly more?: (place: Place) => Promise<readonly string[]>
}

interface Place {
  readonly kernel: Kernel
  readonly account: Account
  readonly clock: FakeClock
  /** The wallet of the bad currency, if it has one. */
  readonly wallet: CurrencyWallet | undefined
  call(what: string, call: () => Promise<unknown>): Promise<unknown>
}

const trap = (): never => {
  throw undefined
}
const TRAPS = { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap, getOwnPropertyDescriptor: trap }
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const endless = (): object => ({
  get next() {
    return endless()
  }
})
const ring = (): object => {
  const value: Record<string, unknown> = {}
  value.ring = value
  return value
}
const never = (): Promise<never> => new Promise(() => {})

/** What is thrown. */
const THROWN: readonly (readonly [string, () => unknown])[] = [
  ['undefined', () => undefined],
  ['a Proxy', () => new Proxy({}, TRAPS)],
  ['a revoked Proxy', revoked],
  ['an error with throwing getters', () => Object.defineProperty(new Error('x'), 'message', { get: trap })],
  ['a catalogue error that lies', () => new WalletError('BROADCAST_UNKNOWN', { txid: 'x' })],
  ['a million letters', () => new Error('x'.repeat(1_000_000))]
]

/** What is answered in place of data. */
const ANSWERED: readonly (readonly [string, () => unknown])[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['a number that is none', () => Number.NaN],
  ['a symbol', () => Symbol('x')],
  ['a bigint', () => 7n],
  ['a function', () => trap],
  ['ten million letters', () => 'x'.repeat(10_000_000)],
  ['a list without an end', () => new Proxy([], { get: (_, name) => (name === 'length' ? 2 ** 32 - 1 : 0) })],
  ['a Proxy', () => new Proxy({}, TRAPS)],
  ['a revoked Proxy', revoked],
  ['an object without an end', endless],
  ['a ring', ring],
  ['an empty object', () => Object.create(null)],
  ['a thenable that never answers', () => Object.defineProperty({}, 'then', { value: () => {} })],
  [
    'a thenable that answers twice and throws',
    () =>
      Object.defineProperty({}, 'then', {
        value(resolve: (value: unknown) => void, reject: (value: unknown) => void) {
          resolve({})
          reject(undefined)
          throw undefined
        }
      })
  ],
  ['an object whose then throws', () => Object.defineProperty({}, 'then', { get: trap })]
]

const ENGINE_METHODS: readonly (keyof CurrencyEngine)[] = [
  ...(['startEngine', 'syncNetwork', 'resyncBlockchain', 'getFreshAddress', 'addGapLimitAddresses'] as const),
  ...(['isAddressUsed', 'makeSpend', 'signTx', 'checkSignedTx', 'broadcastTx', 'saveTx'] as const),
  ...([
    'getMaxSpendable',
    'signMessage',
    'sweepPrivateKeys',
    'getStakingStatus',
    'getActivationAssets'
  ] as const),
  ...(['activateWallet', 'dumpData', 'findPayment', 'reservePayments'] as const)
]
const TOOL_METHODS: readonly (keyof CurrencyTools)[] = [
  ...(['derivePublicKey', 'parseUri', 'encodeUri', 'sampleAddress', 'checkPublicKey'] as const),
  ...(['getDisplayPublicKey', 'getSplittableTypes', 'getTokenId'] as const)
]

const all = <K extends string>(names: readonly K[], method: () => unknown): Record<K, never> =>
  Object.fromEntries(names.map(name => [name, method])) as Record<K, never>

/** A toy currency named `bad`, some of which is replaced. */
const badCoin = (changes: {
  readonly engine?: (good: CurrencyEngine, callbacks: EngineCallbacks) => Partial<CurrencyEngine>
  readonly tools?: Partial<CurrencyTools>
  readonly tokens?: TokenMap
  readonly plugin?: (good: Plugin) => object
}): Plugin => {
  const { plugin } = makeToy({
    id: 'bad',
    ...(changes.engine && { engine: (good, { callbacks }) => changes.engine?.(good, callbacks) ?? {} }),
    ...(changes.tools && { tools: changes.tools }),
    ...(changes.tokens && { tokens: changes.tokens })
  })
  return { ...plugin, ...changes.plugin?.(plugin) } as Plugin
}

/** The same with one maker in place of the plugin's own. */
const badMaker = (hook: 'makeTools' | 'makeEngine' | 'builtinTokens', make: () => unknown): Plugin => {
  const { plugin } = makeToy({ id: 'bad' })
  return {
    ...plugin,
    apply(host: CurrencyHost) {
      const tap = { tapPromise: () => host.hooks[hook].tapPromise('bad', make as never) }
      return plugin.apply({ ...host, hooks: { ...host.hooks, [hook]: tap } } as CurrencyHost)
    }
  }
}

const twoFaced = <T extends object>(good: T, evil: Partial<T>): T => {
  const counts = new Map<string, number>()
  const face = {} as T
  for (const name of Object.keys(good))
    Object.defineProperty(face, name, {
      enumerable: true,
      get() {
        const count = (counts.get(name) ?? 0) + 1
        counts.set(name, count)
        return (count > 1 && name in evil ? evil : good)[name as keyof T]
      }
    })
  return face
}

const onStart = (start: (callbacks: EngineCallbacks) => void): Plugin =>
  badCoin({
    engine: (_good, callbacks) => ({
      async startEngine() {
        start(callbacks)
      }
    })
  })

const EVIL = { nativeAmount: nativeAmount('-999') }

const currencyKinds: readonly Kind[] = [
  ...THROWN.flatMap(([name, make]): Kind[] => {
    const fail = (): never => {
      throw make()
    }
    return [
      { name: `apply throws ${name}`, plugins: [badCoin({ plugin: () => ({ apply: fail }) })] },
      {
        name: `every method of the engine throws ${name}`,
        plugins: [badCoin({ engine: () => all(ENGINE_METHODS, fail) })]
      },
      {
        name: `every method of the tools throws ${name}`,
        plugins: [badCoin({ tools: all(TOOL_METHODS, fail) })]
      },
      { name: `makeEngine throws ${name}`, plugins: [badMaker('makeEngine', fail)] }
    ]
  }),
  ...ANSWERED.flatMap(([name, make]): Kind[] => [
    {
      name: `every method of the engine answers ${name}`,
      plugins: [badCoin({ engine: () => all(ENGINE_METHODS, async () => make()) })]
    },
    {
      name: `every method of the tools answers ${name}`,
      plugins: [badCoin({ tools: all(TOOL_METHODS, async () => make()) })]
    },
    { name: `makeEngine answers ${name}`, plugins: [badMaker('makeEngine', async () => make())] },
    { name: `builtinTokens answers ${name}`, plugins: [badMaker('builtinTokens', async () => make())] },
    { name: `its info is ${name}`, plugins: [badCoin({ plugin: () => ({ info: make() }) })] },
    {
      name: `it reports ${name} in every callback`,
      plugins: [
        onStart(callbacks => {
          for (const emit of Object.values(callbacks) as ((...args: unknown[]) => void)[])
            emit(make(), make())
          callbacks.onTransactionsChanged([make(), toyTransaction('good')] as never)
        })
      ]
    }
  ]),
  ...(['makeTools', 'makeEngine', 'builtinTokens'] as const).map(hook => ({
    name: `${hook} never answers`,
    plugins: [badMaker(hook, never)]
  })),
  {
    name: 'no method of the engine ever answers',
    plugins: [badCoin({ engine: () => all(ENGINE_METHODS, never) })]
  },
  { name: 'no method of the tools ever answers', plugins: [badCoin({ tools: all(TOOL_METHODS, never) })] },
  { name: 'the engine cannot be killed', plugins: [badCoin({ engine: () => ({ killEngine: never }) })] },
  {
    name: 'the engine wants to look again at once, for ever',
    plugins: [badCoin({ engine: () => ({ syncNetwork: async () => -1e308 }) })]
  },
  {
    name: 'the engine wants to look again never',
    plugins: [badCoin({ engine: () => ({ syncNetwork: async () => 1e308 }) })]
  },
  {
    name: 'its info changes after it was applied',
    plugins: [
      badCoin({
        plugin: good => ({ info: twoFaced((good as { info: CurrencyInfo }).info, { currencyCode: 'BTC' }) })
      })
    ],
    more: async ({ wallet }) =>
      wallet?.currencyInfo.currencyCode === 'TOY' ? [] : ['its code became another']
  },
  {
    name: 'a reported amount changes after its check',
    plugins: [
      onStart(({ onTransactionsChanged }) => onTransactionsChanged([twoFaced(toyTransaction('a'), EVIL)]))
    ],
    more: async ({ wallet, clock }) => {
      await clock.advance(10_000)
      const tx = (await wallet?.getTransactions())?.find(({ txid }) => txid === 'a')
      return tx?.nativeAmount === '5' ? [] : [`the history has ${tx?.nativeAmount}`]
    }
  },
  {
    name: 'a drafted amount changes after its check',
    plugins: [
      badCoin({
        engine: good => ({
          makeSpend: async (spend, keys) => twoFaced(await good.makeSpend(spend, keys), EVIL)
        })
      })
    ],
    more: async ({ wallet }) => {
      const draft = await wallet?.makeSpend(SPEND)
      return draft?.nativeAmount === '-5' ? [] : [`the draft has ${draft?.nativeAmount}`]
    }
  },
  {
    name: 'it signs another amount than was reviewed',
    plugins: [
      badCoin({
        engine: good => ({ signTx: async (tx, keys) => ({ ...(await good.signTx(tx, keys)), ...EVIL }) })
      })
    ],
    more: async ({ wallet, call }) => {
      const draft = await wallet?.makeSpend(SPEND)
      if (wallet === undefined || draft === undefined) return ['no draft']
      const sent = await call('spend', () => wallet.spend(draft))
      return sent === 'error' ? [] : ['it was sent']
    }
  },
  {
    name: 'it changes the payee of the spend and of the draft that it is given',
    plugins: [
      badCoin({
        engine: good => ({
          async makeSpend(spend, keys) {
            const draft = await good.makeSpend(spend, keys)
            Object.assign(spend.spendTargets[0] ?? {}, { publicAddress: 'thief' })
            return draft
          }
        })
      })
    ],
    more: async ({ wallet }) => {
      const draft = await wallet?.makeSpend(SPEND)
      return draft?.spendTargets?.[0]?.publicAddress === 'shop' ? [] : ['the payee is another']
    }
  },
  {
    name: 'it replaces random numbers and ciphers on all that it is given',
    plugins: [
      badCoin({
        plugin: good => ({
          apply(host: { io: Record<string, unknown> }) {
            for (const owner of [host, host.io, host.io.crypto, host.io.clock] as object[])
              for (const name of [...Object.keys(owner), 'random', 'fetch'])
                Reflect.set(owner, name, () => new Uint8Array(64).fill(7))
            return (good.apply as (given: unknown) => void)(host)
          }
        })
      })
    ],
    more: async ({ account }) => {
      const wallet = await account.createCurrencyWallet('wallet:toycoin')
      const { toyKey } = await account.walletKeys.getRawPrivateKey(wallet.id)
      return String(toyKey).includes('07070707') ? ['it chose the key of another wallet'] : []
    }
  },
  {
    name: 'its timers throw',
    plugins: [
      badCoin({
        plugin: good => ({
          apply(host: { io: { clock: FakeClock } }) {
            host.io.clock.after(1, trap)
            host.io.clock.after(2, async () => trap())
            return (good.apply as (given: unknown) => void)(host)
          }
        })
      })
    ]
  },
  {
    name: 'it tells without an end',
    plugins: [
      onStart(({ onStatus, onTokenBalanceChanged }) => {
        for (let at = 0; at < 20_000; at++) {
          onStatus(`status ${at}`)
          onTokenBalanceChanged(`token ${at % 100}`, String(at))
        }
      })
    ]
  }
]

const rates = (
  apply: (host: Parameters<Extract<Plugin, { kind: 'rates' }>['apply']>[0]) => void,
  more: object = {}
): Plugin => ({
  ...{ kind: 'rates', id: 'bad', displayName: 'Bad', apply },
  ...more
})
const ratesThat = (answer: (tapContext: RateContext) => unknown): Plugin =>
  rates(({ hooks }) => {
    hooks.fetchRates.tapPromise('bad', answer as never)
    hooks.fetchHistoricRates.tapPromise('bad', answer as never)
  })

const rateKinds: readonly Kind[] = [
  ...THROWN.flatMap(([name, make]): Kind[] => {
    const fail = (): never => {
      throw make()
    }
    return [
      { name: `fetchRates throws ${name}`, plugins: [ratesThat(fail)] },
      { name: `checkOptions throws ${name}`, plugins: [rates(() => {}, { checkOptions: fail })] }
    ]
  }),
  ...ANSWERED.flatMap(([name, make]): Kind[] => [
    {
      name: `it offers ${name} as a pair`,
      plugins: [ratesThat(async tapContext => tapContext.offer(make() as never, 1))]
    },
    {
      name: `it offers ${name} as a rate`,
      plugins: [
        ratesThat(async tapContext =>
          tapContext.offer({ fromCurrency: 'TOY', toCurrency: 'iso:USD' }, make() as never)
        )
      ]
    },
    { name: `checkOptions answers ${name}`, plugins: [rates(() => {}, { checkOptions: make })] }
  ]),
  { name: 'it never answers and ignores its abort', plugins: [ratesThat(never)] },
  {
    name: 'its listener of the abort throws',
    plugins: [
      ratesThat(tapContext => {
        tapContext.signal.addEventListener('abort', trap)
        return never()
      })
    ]
  },
  {
    name: 'it offers a hundred thousand pairs',
    plugins: [
      ratesThat(async tapContext => {
        for (let at = 0; at < 100_000; at++)
          tapContext.offer({ fromCurrency: `C${at}`, toCurrency: 'iso:USD' }, 1)
      })
    ]
  },
  {
    name: 'it changes the dates that it is asked about',
    plugins: [
      ratesThat(async tapContext => {
        for (const pair of tapContext.wanted as readonly { date?: Date }[]) pair.date?.setTime(0)
      })
    ]
  },
  { name: 'its bias makes hops cost nothing', plugins: [rates(() => {}, { bias: -1 })] }
]

const swapKinds: readonly Kind[] = [
  ...THROWN.flatMap(([name, make]): Kind[] => {
    const fail = (): never => {
      throw make()
    }
    return [
      { name: `fetchQuotes throws ${name}`, plugins: [makeShop({ id: 'bad', answer: fail })] },
      { name: `checkSettings throws ${name}`, plugins: [makeShop({ id: 'bad', checkSettings: fail })] },
      {
        name: `its order throws ${name}`,
        plugins: [
          makeShop({
            id: 'bad',
            answer: tapContext => tapContext.offer(offerOf(tapContext, { payment: { order: fail } }))
          })
        ]
      }
    ]
  }),
  ...ANSWERED.flatMap(([name, make]): Kind[] => [
    {
      name: `it offers ${name}`,
      plugins: [makeShop({ id: 'bad', answer: tapContext => tapContext.offer(make() as SwapOffer) })]
    },
    {
      name: `its order is ${name}`,
      plugins: [
        makeShop({
          id: 'bad',
          answer: tapContext =>
            tapContext.offer(offerOf(tapContext, { payment: { order: async () => make() as never } }))
        })
      ]
    },
    {
      name: `it asks for the fee of ${name}`,
      plugins: [makeShop({ id: 'bad', answer: tapContext => tapContext.feeFor(make() as never) })]
    }
  ]),
  { name: 'it never answers and ignores its abort', plugins: [makeShop({ id: 'bad', answer: never })] },
  {
    name: 'its order never comes',
    plugins: [
      makeShop({
        id: 'bad',
        answer: tapContext => tapContext.offer(offerOf(tapContext, { payment: { order: never } }))
      })
    ]
  },
  {
    name: 'its offer changes after its check',
    plugins: [
      makeShop({
        id: 'bad',
        answer: tapContext =>
          tapContext.offer(
            twoFaced(offerOf(tapContext), {
              toNativeAmount: nativeAmount('1'),
              fromNativeAmount: nativeAmount('999')
            })
          )
      })
    ]
  }
]

const diskThat = (changes: Partial<Disk>): (() => Disk) => {
  const disk = memoryDisk()
  return () => ({ ...disk, ...changes })
}

const storageKinds: readonly Kind[] = [
  ...THROWN.flatMap(([name, make]): Kind[] => {
    const fail = (): never => {
      throw make()
    }
    return [
      { name: `openDisk throws ${name}`, disk: fail },
      { name: `getText throws ${name}`, disk: diskThat({ getText: fail }) },
      { name: `setText throws ${name}`, disk: diskThat({ setText: fail }) },
      { name: `list throws ${name}`, disk: diskThat({ list: fail }) }
    ]
  }),
  ...ANSWERED.flatMap(([name, make]): Kind[] => [
    { name: `openDisk answers ${name}`, disk: make },
    { name: `getText answers ${name}`, disk: diskThat({ getText: async () => make() as never }) },
    { name: `list answers ${name}`, disk: diskThat({ list: async () => make() as never }) }
  ]),
  { name: 'openDisk never answers', disk: never },
  { name: 'list never answers', disk: diskThat({ list: never }) },
  { name: 'getText never answers', disk: diskThat({ getText: never }) },
  { name: 'setText never answers', disk: diskThat({ setText: never }) },
  { name: 'delete never answers', disk: diskThat({ delete: never }) },
  { name: 'close never answers', disk: diskThat({ close: never }) }
]

const policy = (hook: 'beforeSign' | 'rankQuotes', answer: (...args: never[]) => unknown): PolicyPlugin => ({
  ...{ kind: 'policy', id: 'bad' },
  apply({ hooks }) {
    if (hook === 'beforeSign') hooks.beforeSign.tapPromise('bad', answer as never)
    else hooks.rankQuotes.tap('bad', answer as never)
  }
})

const policyKinds: readonly Kind[] = [
  ...THROWN.flatMap(([name, make]): Kind[] => {
    const fail = (): never => {
      throw make()
    }
    return [
      { name: `beforeSign throws ${name}`, plugins: [policy('beforeSign', fail)] },
      { name: `rankQuotes throws ${name}`, plugins: [policy('rankQuotes', fail)] }
    ]
  }),
  ...ANSWERED.flatMap(([name, make]): Kind[] => [
    { name: `beforeSign answers ${name}`, plugins: [policy('beforeSign', async () => make())] },
    { name: `rankQuotes answers ${name}`, plugins: [policy('rankQuotes', make)] },
    { name: `rankQuotes answers a list of ${name}`, plugins: [policy('rankQuotes', () => [make(), make()])] }
  ]),
  { name: 'beforeSign never answers', plugins: [policy('beforeSign', never)] },
  { name: 'rankQuotes answers a promise that fails', plugins: [policy('rankQuotes', async () => trap())] }
]

const observer = (receive: (...args: unknown[]) => unknown): ObserverPlugin => ({
  ...{ kind: 'observer', id: 'bad' },
  apply({ hooks }) {
    for (const hook of Object.values(hooks)) {
      if ('tap' in hook) hook.tap('bad', receive as never)
      else hook.tapPromise('bad', receive as never)
    }
  }
})

const observerKinds: readonly Kind[] = [
  ...THROWN.flatMap(([name, make]): Kind[] => {
    const fail = (): never => {
      throw make()
    }
    return [
      { name: `every tap throws ${name}`, plugins: [observer(fail)] },
      { name: `every tap fails later with ${name}`, plugins: [observer(async () => fail())] }
    ]
  }),
  ...ANSWERED.map(([name, make]): Kind => ({ name: `every tap answers ${name}`, plugins: [observer(make)] })),
  { name: 'no tap ever answers', plugins: [observer(never)] },
  {
    name: 'every tap changes what it is told',
    plugins: [
      observer(snapshot => {
        if (typeof snapshot !== 'object' || snapshot === null) return
        for (const name of Object.keys(snapshot)) Reflect.set(snapshot, name, 'changed')
      })
    ]
  }
]

const KINDS: Readonly<Record<string, readonly Kind[]>> = {
  currency: currencyKinds,
  rates: rateKinds,
  swap: swapKinds,
  storage: storageKinds,
  policy: policyKinds,
  observer: observerKinds
}

const SPEND = { tokenId: null, spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }] }
const USER = { username: 'tess', password: 'Correct horse 1' }

interface Counts {
  calls: number
  answered: number
  errors: number
}

/** How a call ended; `raw` is what nobody can look at safely, `hung` what has not ended after an hour, and ten seconds to load code. */
type Outcome = 'answer' | 'error' | 'raw' | 'hung'

const outcomeOf = async (clock: FakeClock, call: () => Promise<unknown>): Promise<[Outcome, unknown]> => {
  let end: [Outcome, unknown] | undefined
  const watch = async (): Promise<void> => {
    try {
      end = ['answer', await call()]
    } catch (thrown) {
      end = [isPlainError(thrown) ? 'error' : 'raw', thrown]
    }
  }
  void watch()
  for (let step = 0; step < 40 && end === undefined; step++) await clock.advance(0)
  for (let minute = 0; minute < 60 && end === undefined; minute++) await clock.advance(61_000)
  for (let wait = 0; wait < 1000 && end === undefined; wait++) await setTimeout(10)
  return end ?? ['hung', undefined]
}

const isPlainError = (thrown: unknown): boolean => {
  try {
    return thrown instanceof Error && typeof thrown.message === 'string' && typeof thrown.name === 'string'
  } catch {
    return false
  }
}

/** Lives with one kind of bad plugin, and gives what did not hold. */
const live = async (kind: Kind, counts: Counts): Promise<readonly string[]> => {
  const broken: string[] = []
  const clock = makeFakeClock()
  const world = makeFakeWorld({ io: { ...makeNodeIo(), clock } })
  const good = makeToy()
  const goodShop = makeShop()
  const call = async (what: string, run: () => Promise<unknown>): Promise<unknown> => {
    const [outcome, value] = await outcomeOf(clock, run)
    counts.calls += 1
    if (outcome === 'answer') counts.answered += 1
    else if (outcome === 'error') counts.errors += 1
    else broken.push(`${what}: ${outcome}`)
    return outcome === 'answer' ? value : outcome
  }
  const must = async <T>(what: string, run: () => Promise<T>): Promise<T | undefined> => {
    const [outcome, value] = await outcomeOf(clock, run)
    counts.calls += 1
    if (outcome === 'answer') {
      counts.answered += 1
      return value as T
    }
    broken.push(
      `${what} of a good plugin: ${outcome} ${outcome === 'error' ? String(value).slice(0, 200) : ''}`
    )
    return undefined
  }
  const storage: { readonly storage?: StoragePlugin } =
    kind.disk === undefined
      ? {}
      : {
          storage: {
            ...{ kind: 'storage', id: 'bad' },
            apply: ({ hooks }) => hooks.openDisk.tapPromise('bad', async () => kind.disk?.() as Disk)
          }
        }
  const plugins = [good.plugin, goodShop, ...(kind.plugins ?? [])]
  const open = (): Promise<Kernel> => openDevice(world, { plugins, ...storage })
  if (kind.disk !== undefined) {
    // Without its disk a kernel cannot work; it has to say so, or to go on with what can be had.
    const opened = await call('the start', open)
    if (typeof opened !== 'object' || opened === null) return broken
    const kernel = opened as Kernel
    await call('creating an account', () => kernel.context.createAccount(USER))
    await call('closing', () => kernel.close())
    return broken
  }
  const kernel = await must('the start', open)
  if (kernel === undefined) return broken
  const account = await must('creating an account', () => kernel.context.createAccount(USER))
  if (account === undefined) return broken
  const isPolicy = kind.plugins?.some(plugin => plugin.kind === 'policy') === true
  const own = await must('making a wallet', () => account.createCurrencyWallet('wallet:toycoin'))
  const other = await must('making another wallet', () => account.createCurrencyWallet('wallet:toycoin'))
  const isCurrency = kind.plugins?.some(plugin => plugin.kind === 'currency') === true
  const made = isCurrency
    ? await call('a wallet', () => account.createCurrencyWallet('wallet:bad'))
    : undefined
  const wallet = typeof made === 'object' && made !== null ? (made as CurrencyWallet) : undefined
  await clock.advance(1000)
  if (wallet !== undefined) await useWallet(account, wallet, call)
  await call('a round of rates', () => kernel.context.rates.refresh())
  await call('a rate of the past', () =>
    kernel.context.rates.historicRate({ fromCurrency: 'TOY', toCurrency: 'iso:USD' }, new Date(0))
  )
  if (own !== undefined && other !== undefined) await swap(account, [own, other], call)
  broken.push(...((await kind.more?.({ kernel, account, clock, wallet, call })) ?? []))
  if (own !== undefined) {
    await must('asking for an address', () => own.getReceiveAddress())
    const draft = await must('making a payment', () => own.makeSpend(SPEND))
    const pay = isPolicy ? call : must
    if (draft !== undefined) await pay('paying', () => own.spend(draft))
    if (own.engine.getSnapshot().state !== 'started') broken.push('the engine of a good plugin does not run')
  }
  if (account.listWallets().length < 2) broken.push('wallets are missing')
  // Whatever is shown of the bad one can be written as text.
  await call('showing', async () =>
    JSON.stringify([wallet?.getSnapshot(), wallet?.engine.getSnapshot(), kernel.context.rates.getSnapshot()])
  )
  await must('logging out', () => account.logout())
  await must('closing', () => kernel.close())
  return broken
}

const useWallet = async (account: Account, wallet: CurrencyWallet, call: Place['call']): Promise<void> => {
  await call('address', () => wallet.getReceiveAddress())
  await call('sample', () => wallet.sampleAddress())
  await call('parseUri', () => wallet.parseUri('shop'))
  await call('encodeUri', () => wallet.encodeUri({ publicAddress: 'shop' }))
  await call('maximum', () => wallet.getMaxSpendable(SPEND))
  const draft = await call('draft', () => wallet.makeSpend(SPEND))
  if (typeof draft === 'object' && draft !== null) await call('spend', () => wallet.spend(draft as never))
  await call('sync', () => wallet.sync())
  await call('resync', () => wallet.resyncBlockchain())
  await call('message', () => wallet.signMessage('hello'))
  await call('sweep', () => wallet.sweepPrivateKeys({ ...SPEND, privateKeys: ['key'] }))
  await call('dump', () => wallet.dumpData())
  await call('lock', () => wallet.lockReceiveAddress('address'))
  await call('history', () => wallet.getTransactions())
  await call('public key', () => account.walletKeys.getDisplayPublicKey(wallet.id))
  await call('splittable types', () => account.listSplittableWalletTypes(wallet.id))
  await call('activation assets', () => account.getActivationAssets({ walletId: wallet.id }))
  await call('activation', () => account.activateWallet({ walletId: wallet.id }))
  await call('settings', () => account.currencyConfig('bad').changeUserSettings({ any: 'thing' }))
  await call('pause', () => wallet.changePaused(true))
  await call('resume', () => wallet.changePaused(false))
}

const swap = async (
  account: Account,
  [fromWallet, toWallet]: readonly [CurrencyWallet, CurrencyWallet],
  call: Place['call']
): Promise<void> => {
  const request = { fromWallet, toWallet, nativeAmount: nativeAmount('10'), quoteFor: 'from' } as const
  const quotes = await call('quotes', () => account.fetchSwapQuotes(request))
  if (!Array.isArray(quotes)) return
  for (const quote of quotes as readonly {
    approve(): Promise<unknown>
    close(): Promise<void>
    pluginId: string
  }[]) {
    if (quote.pluginId === 'bad') await call('approving', () => quote.approve())
    await call('closing a quote', () => quote.close())
  }
}

const wild: unknown[] = []
process.on('unhandledRejection', reason => void wild.push(reason))
process.on('uncaughtException', error => void wild.push(error))

for (const [plugin, kinds] of Object.entries(KINDS)) {
  test.serial(
    `no bad ${plugin} plugin harms the others, throws past the kernel, or delays anything`,
    async t => {
      t.timeout(600_000)
      const counts: Counts = { calls: 0, answered: 0, errors: 0 }
      const broken: string[] = []
      for (const kind of kinds) {
        const before = wild.length
        for (const what of await live(kind, counts)) broken.push(`${kind.name}: ${what}`)
        if (wild.length > before)
          broken.push(`${kind.name}: ${wild.length - before} failures that nobody caught`)
      }
      logRow(t, plugin, kinds.length, counts, broken.length)
      t.deepEqual(broken, [])
    }
  )
}

test.serial('there are at least 78 kinds of bad plugins, over all six kinds of plugins', t => {
  const counts = Object.values(KINDS).map(kinds => kinds.length)
  const names = Object.entries(KINDS).flatMap(([plugin, kinds]) =>
    kinds.map(({ name }) => `${plugin} ${name}`)
  )
  t.is(new Set(names).size, names.length)
  t.is(counts.length, 6)
  t.true(counts.reduce((sum, count) => sum + count, 0) >= 78)
  t.log(`${names.length} kinds in all`)
  t.true(isWalletError(new WalletError('LOGGED_OUT', {})))
})

const logRow = (
  t: ExecutionContext,
  plugin: string,
  kinds: number,
  { calls, answered, errors }: Counts,
  broken: number
): void =>
  t.log(
    `${plugin.padEnd(9)} ${String(kinds).padStart(4)} kinds ${String(calls).padStart(6)} calls ` +
      `${String(answered).padStart(6)} answered ${String(errors).padStart(6)} errors ${String(broken).padStart(4)} broken`
  )
