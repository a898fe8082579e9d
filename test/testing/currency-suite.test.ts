import test from 'ava'
import {
  type CurrencyEngine,
  type CurrencyTools,
  type EngineRequest,
  nativeAmount,
  type SpendInfo,
  WalletError
} from '../../kernel/plugin-api.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { type CurrencyNetwork, fakeBlockchain } from '../../testing/currency-lab.ts'
import { currencySuite } from '../../testing/currency-suite.ts'
import { runSuite } from '../../testing/suite.ts'
import { gemNetwork } from './gem-network.ts'
import { type Mistake, mistaken } from './mistaken-currency.ts'

const SERVERS = { network: 'regtest', servers: ['tcp://127.0.0.1:50001'] }
const networkOf = (mistake: Mistake): CurrencyNetwork =>
  mistake.of === 'gems'
    ? gemNetwork(plugin => mistaken(plugin, mistake))
    : fakeBlockchain(mistaken(bitcoin, mistake), 'bitcoin', { ...SERVERS, ...mistake.options })

const callbacksOf = (
  request: EngineRequest,
  changes: (callbacks: EngineRequest['callbacks']) => Partial<EngineRequest['callbacks']>
): EngineRequest => ({ ...request, callbacks: { ...request.callbacks, ...changes(request.callbacks) } })

let toolsCount = 0
let engineCount = 0
let firstEngine: CurrencyEngine | undefined

const ofKind: readonly { readonly breaks: string; readonly mistake: Mistake }[] = [
  { breaks: 'plugin.loads', mistake: { info: { walletType: 'bitcoin' } } },
  {
    breaks: 'plugin.globals',
    mistake: {
      tools: tools => ({
        async derivePublicKey(info) {
          return { ...(await tools.derivePublicKey(info)), at: Date.now() > 0 }
        }
      })
    }
  },
  {
    breaks: 'plugin.repeatable',
    mistake: {
      tools(tools) {
        toolsCount += 1
        const name = `number ${toolsCount}`
        return { derivePublicKey: async info => ({ ...(await tools.derivePublicKey(info)), name }) }
      }
    }
  },
  {
    breaks: 'plugin.closing',
    mistake: {
      apply({ io }) {
        const again = (): void => void io.clock.after(1000, again)
        again()
      }
    }
  },
  {
    breaks: 'plugin.secrets',
    mistake: {
      options: { apiKey: 'abcdef0123456789' },
      apply: ({ log, options }) => log.info(`starts with ${String(options.apiKey)}`)
    }
  }
]

const broken: readonly { readonly breaks: string; readonly mistake: Mistake }[] = [
  ...ofKind,
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
  { breaks: 'currency.given-addresses', mistake: { engine: () => ({ isAddressUsed: async () => false }) } },
  {
    breaks: 'currency.tokens',
    mistake: {
      of: 'gems',
      request: given =>
        callbacksOf(given, callbacks => ({
          onTokenBalanceChanged: (_tokenId, amount) => callbacks.onTokenBalanceChanged(null, amount)
        }))
    }
  },
  {
    breaks: 'currency.token-spend',
    mistake: {
      of: 'gems',
      engine: engine => ({
        async makeSpend(spend, keys) {
          const draft = await engine.makeSpend(spend, keys)
          return { ...draft, nativeAmount: nativeAmount(String(BigInt(draft.nativeAmount) - 1n)) }
        }
      })
    }
  },
  {
    breaks: 'currency.staking',
    mistake: { of: 'gems', engine: () => ({ getStakingStatus: async () => ({ stakedAmounts: [] }) }) }
  },
  {
    breaks: 'currency.activation',
    mistake: {
      of: 'gems',
      engine: engine => ({
        async activateWallet(request) {
          const offer = await engine.activateWallet?.(request)
          if (offer === undefined) throw new Error('No offer')
          return { ...offer, fromNativeAmount: nativeAmount('39') }
        }
      })
    }
  },
  {
    breaks: 'currency.other-methods',
    mistake: { of: 'gems', engine: () => ({ otherMethods: { height: async () => 'tall' } }) }
  },
  {
    breaks: 'currency.pause',
    mistake: {
      of: 'gems',
      engine: (_engine, { callbacks }) => ({
        async changePaused() {
          setTimeout(() => callbacks.onStatus('still here'), 0)
        }
      })
    }
  },
  {
    breaks: 'currency.secrets',
    mistake: {
      engine: (engine, { log }) => ({
        signTx(tx, keys, options) {
          log.info(`signs with ${Object.values(keys).join(' ')}`)
          return engine.signTx(tx, keys, options)
        }
      })
    }
  }
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
  const { checks } = currencySuite(() => networkOf({}), { pluginId: 'bitcoin' })
  t.deepEqual(broken.map(({ breaks }) => breaks).sort(), checks.map(({ id }) => id).sort())
})
