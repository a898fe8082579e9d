import test from 'ava'
import {
  type CurrencyEngine,
  type CurrencyPlugin,
  type CurrencyTools,
  type EngineRequest,
  nativeAmount,
  type SpendInfo,
  WalletError
} from '../../kernel/plugin-api.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { type CurrencyNetwork, fakeBlockchain } from '../../testing/currency-lab.ts'
import { currencyChecks, currencySuite } from '../../testing/currency-suite.ts'
import { runSuite } from '../../testing/suite.ts'

/** What a mistake changes of the Bitcoin plugin. */
interface Mistake {
  readonly info?: Partial<CurrencyPlugin['info']>
  tools?(tools: CurrencyTools): Partial<CurrencyTools>
  engine?(engine: CurrencyEngine, request: EngineRequest): Partial<CurrencyEngine>
  request?(request: EngineRequest): EngineRequest
}

/** An object whose methods come from another one, but for those that are given. */
const altered = <T extends object>(original: T, changes: Partial<T>): T =>
  new Proxy(original, {
    get(target, name) {
      const value: unknown = Reflect.get(name in changes ? changes : target, name)
      return typeof value === 'function' ? value.bind(name in changes ? changes : target) : value
    }
  })

const mistaken = ({ info, tools, engine, request = given => given }: Mistake): CurrencyPlugin => ({
  ...bitcoin,
  info: { ...bitcoin.info, ...info },
  apply(host) {
    const { hooks } = host
    const tap = <Args extends readonly unknown[], T>(fn: (...args: Args) => Promise<T>) => fn
    bitcoin.apply({
      ...host,
      hooks: {
        ready: hooks.ready,
        closing: hooks.closing,
        builtinTokens: hooks.builtinTokens,
        makeTools: {
          tapPromise: (name, fn) =>
            hooks.makeTools.tapPromise(
              name,
              tap(async () => {
                const made = await fn()
                return altered(made, tools?.(made) ?? {})
              })
            )
        },
        makeEngine: {
          tapPromise: (name, fn) =>
            hooks.makeEngine.tapPromise(
              name,
              tap(async (given: EngineRequest) => {
                const made = await fn(request(given))
                return altered(made, engine?.(made, given) ?? {})
              })
            )
        }
      }
    })
  }
})

const networkOf = (mistake: Mistake): CurrencyNetwork => fakeBlockchain(mistaken(mistake), 'bitcoin')

const callbacksOf = (
  request: EngineRequest,
  changes: (callbacks: EngineRequest['callbacks']) => Partial<EngineRequest['callbacks']>
): EngineRequest => ({ ...request, callbacks: { ...request.callbacks, ...changes(request.callbacks) } })

let engineCount = 0
let firstEngine: CurrencyEngine | undefined

const broken: readonly { readonly breaks: string; readonly mistake: Mistake }[] = [
  {
    breaks: 'currency.description',
    mistake: { info: { denominations: [{ name: 'BTC', multiplier: '100000001' }] } }
  },
  {
    breaks: 'currency.keys',
    mistake: {
      tools(tools) {
        let first: ReturnType<CurrencyTools['createPrivateKey']> | undefined
        return {
          createPrivateKey(type, options) {
            first ??= tools.createPrivateKey(type, options)
            return first
          }
        }
      }
    }
  },
  {
    breaks: 'currency.public-keys',
    mistake: {
      tools: tools => ({
        derivePublicKey: async info => ({
          ...(await tools.derivePublicKey(info)),
          seed: String(Object.values(info.keys)[0])
        })
      })
    }
  },
  {
    breaks: 'currency.links',
    mistake: { tools: tools => ({ encodeUri: ({ label: _label, ...request }) => tools.encodeUri(request) }) }
  },
  {
    breaks: 'currency.addresses',
    mistake: {
      tools: tools => ({
        parseUri: uri => (uri === 'nonsense' ? Promise.resolve({ publicAddress: uri }) : tools.parseUri(uri))
      })
    }
  },
  {
    breaks: 'currency.receipt',
    mistake: {
      request: given =>
        callbacksOf(given, callbacks => ({
          onTransactionsChanged: txs =>
            callbacks.onTransactionsChanged(txs.map(tx => ({ ...tx, date: tx.date * 1000 })))
        }))
    }
  },
  {
    breaks: 'currency.reorg',
    mistake: {
      // It takes nothing back that was in a block.
      request(given) {
        const confirmed = new Set<string>()
        return callbacksOf(given, callbacks => ({
          onTransactionsChanged(txs) {
            for (const { txid, blockHeight } of txs) if (blockHeight > 0) confirmed.add(txid)
            callbacks.onTransactionsChanged(
              txs.filter(({ txid, blockHeight }) => blockHeight > 0 || !confirmed.has(txid))
            )
          }
        }))
      }
    }
  },
  {
    breaks: 'currency.dropped',
    mistake: {
      request: given =>
        callbacksOf(given, callbacks => ({
          onTransactionsChanged: txs =>
            callbacks.onTransactionsChanged(txs.filter(({ blockHeight }) => blockHeight >= 0))
        }))
    }
  },
  {
    breaks: 'currency.second-device',
    mistake: {
      // Each engine counts in its own way.
      request(given) {
        engineCount += 1
        const networkFee = nativeAmount(String(engineCount))
        return callbacksOf(given, callbacks => ({
          onTransactionsChanged: txs =>
            callbacks.onTransactionsChanged(txs.map(tx => ({ ...tx, networkFee })))
        }))
      }
    }
  },
  {
    breaks: 'currency.restart',
    mistake: { engine: engine => ({ startEngine: async () => void (await engine.resyncBlockchain()) }) }
  },
  {
    breaks: 'currency.spend',
    mistake: {
      engine: engine => ({
        signTx: async (tx, keys, options) => ({
          ...(await engine.signTx(tx, keys, options)),
          networkFee: nativeAmount('1')
        })
      })
    }
  },
  {
    breaks: 'currency.repeat',
    mistake: {
      engine(engine) {
        const sent = new Set<string>()
        return {
          async broadcastTx(tx, keys) {
            if (sent.has(tx.txid))
              throw new WalletError('BROADCAST_REFUSED', { txid: tx.txid, reason: 'known' })
            sent.add(tx.txid)
            return engine.broadcastTx(tx, keys)
          }
        }
      }
    }
  },
  {
    breaks: 'currency.max',
    mistake: {
      engine: engine => ({
        getMaxSpendable: async (spend, keys) =>
          String(BigInt((await engine.getMaxSpendable?.(spend, keys)) ?? '0') - 1n)
      })
    }
  },
  {
    breaks: 'currency.sample',
    mistake: {
      tools: tools => ({ sampleAddress: async () => ((await tools.sampleAddress?.()) ?? '').toUpperCase() })
    }
  },
  {
    breaks: 'currency.fees',
    mistake: {
      engine: engine => ({
        makeSpend: (spend, keys) =>
          engine.makeSpend(
            { ...spend, networkFeeOption: spend.networkFeeOption === 'low' ? 'high' : 'low' },
            keys
          )
      })
    }
  },
  {
    breaks: 'currency.refusals',
    mistake: {
      engine: engine => ({
        makeSpend: (spend: SpendInfo, keys) =>
          engine.makeSpend(spend, keys).catch((error: unknown) => {
            const isDust = error instanceof WalletError && error.code === 'DUST_SPEND'
            throw isDust ? new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'BTC' }) : error
          })
      })
    }
  },
  {
    breaks: 'currency.pending',
    mistake: {
      engine: engine => ({
        makeSpend: (spend: SpendInfo, keys) => engine.makeSpend({ ...spend, noUnconfirmed: false }, keys)
      })
    }
  },
  {
    breaks: 'currency.delay',
    mistake: { engine: engine => ({ syncNetwork: async keys => (await engine.syncNetwork(keys)) * 0 }) }
  },
  { breaks: 'currency.killed', mistake: { engine: () => ({ async killEngine() {} }) } },
  {
    breaks: 'currency.apart',
    mistake: {
      engine(engine) {
        firstEngine ??= engine
        const first = firstEngine
        return { isAddressUsed: address => first.isAddressUsed(address) }
      }
    }
  },
  { breaks: 'currency.given-addresses', mistake: { engine: () => ({ isAddressUsed: async () => false }) } }
]

for (const { breaks, mistake } of broken) {
  test(`a currency with a mistake for ${breaks} fails that check`, async t => {
    // The whole suite runs on sound currencies; here it would open a chain some 400 times.
    const results = await runSuite(
      currencySuite(() => networkOf(mistake), { pluginId: 'bitcoin' }),
      { only: [breaks] }
    )
    t.deepEqual(
      results.map(({ id, outcome }) => [id, outcome]),
      [[breaks, 'failed']]
    )
    t.log(results.map(({ message }) => message))
  })
}

test('every check of currencies has a broken currency that it finds', t => {
  t.deepEqual(broken.map(({ breaks }) => breaks).sort(), currencyChecks.map(({ id }) => id).sort())
})
