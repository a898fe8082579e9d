import test, { type ExecutionContext } from 'ava'
import { COIN_NETWORKS, type FakeCoinId } from '../../fake-server/chain/coin-networks.ts'
import { openFakeChain } from '../../fake-server/chain/open-chain.ts'
import { serveElectrumTcp } from '../../fake-server/http/electrum-tcp.ts'
import {
  type CurrencyPlugin,
  type EngineRequest,
  isWalletError,
  WalletError
} from '../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bitcoinCash } from '../../plugins/currency/utxo/all-coins.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { fakeBlockchain } from '../../testing/currency-lab.ts'
import { currencyLiveChecks } from '../../testing/currency-live-checks.ts'
import { currencySuite } from '../../testing/currency-suite.ts'
import { runCheck, runSuite } from '../../testing/suite.ts'
import { type Mistake, mistaken } from './mistaken-currency.ts'

/** A server on loopback, which stands for the real one. */
const serve = async (t: ExecutionContext, id: FakeCoinId): Promise<string> => {
  const { clock, random } = makeNodeIo()
  const chain = openFakeChain({ clock, random: count => random(count), network: COIN_NETWORKS[id] })
  chain.mine(3)
  const server = await serveElectrumTcp(chain)
  t.teardown(() => server.close())
  return server.url
}

/** The outcome and the message of one live check. */
const live = async (
  id: string,
  plugin: CurrencyPlugin,
  servers: readonly string[],
  patienceMs = 30_000
): Promise<string> => {
  const suite = currencySuite(() => fakeBlockchain(plugin, 'bitcoin'), {
    ...{ pluginId: plugin.id, level: 'live' },
    live: { options: { network: 'regtest', servers: [...servers] }, patienceMs }
  })
  const check = suite.checks.find(each => each.id === id)
  if (check === undefined) throw new Error(`There is no check ${id}`)
  const { outcome, message } = await runCheck(check)
  return `${outcome} ${message}`
}

/** An engine whose error of a spend without money names another fee. */
const withFee = (change: (fee: bigint, level: string | undefined) => bigint): Mistake => ({
  engine: engine => ({
    makeSpend: (spend, keys) =>
      engine.makeSpend(spend, keys).catch((error: unknown) => {
        if (!isWalletError(error, 'INSUFFICIENT_FUNDS')) throw error
        const { networkFee = '0' } = error.details
        const fee = change(BigInt(networkFee), spend.networkFeeOption)
        throw new WalletError('INSUFFICIENT_FUNDS', { ...error.details, networkFee: String(fee) })
      })
  })
})

const reporting = (changes: Partial<EngineRequest['callbacks']>): Mistake => ({
  request: given => ({ ...given, callbacks: { ...given.callbacks, ...changes } })
})

test('a currency passes the live checks with a real server, over TCP and with its own chain', async t => {
  for (const [plugin, id] of [
    [bitcoin, 'bitcoin'],
    [bitcoinCash, 'bitcoincash']
  ] as const) {
    const url = await serve(t, id)
    const sound = { ...plugin, hosts: [url] }
    for (const check of currencyLiveChecks) t.is(await live(check.id, sound, [url]), 'passed ', check.id)
    t.regex(await live('currency.live-hosts', plugin, [url]), /^skipped It names no hosts/)
  }
})

interface Broken {
  readonly breaks: string
  readonly mistake: Mistake
  readonly says: RegExp
  /** What never comes is waited for so long; long enough for what does come on a busy machine. */
  readonly patienceMs?: number
}

const broken: readonly Broken[] = [
  {
    breaks: 'currency.live',
    mistake: reporting({ onBlockHeightChanged() {} }),
    patienceMs: 8000,
    says: /^failed After 8 s a new wallet has not seen a block; it reached for tcp:\/\/127\.0\.0\.1:\d+/
  },
  {
    breaks: 'currency.live',
    mistake: reporting({ onAddressesChecked() {} }),
    patienceMs: 2000,
    says: /^failed After 2 s a new wallet has not looked through its addresses/
  },
  {
    breaks: 'currency.live',
    mistake: {
      request(given) {
        const { callbacks } = given
        const onTokenBalanceChanged = (): void => callbacks.onTokenBalanceChanged(null, '7')
        return { ...given, callbacks: { ...callbacks, onTokenBalanceChanged } }
      }
    },
    says: /^failed A new wallet has 7 and 0 transactions/
  },
  {
    breaks: 'currency.live-fees',
    mistake: withFee(fee => fee * 100_000_000n),
    says: /^failed A payment of 1000000, which pays many fees, costs \d+00000000/
  },
  {
    breaks: 'currency.live-fees',
    mistake: withFee((fee, level) => (level === 'low' ? fee * 100n : fee)),
    says: /^failed The fees of low, standard and high are \d+, \d+, \d+/
  },
  {
    breaks: 'currency.live-fees',
    mistake: { engine: () => ({ makeSpend: () => Promise.reject(new Error('busy')) }) },
    says: /^failed A spend without money throws .*busy.*, not INSUFFICIENT_FUNDS/
  },
  {
    breaks: 'currency.live-hosts',
    mistake: { hosts: ['tls://coins.example.org:50002'] },
    says: /^failed It reaches tcp:\/\/127\.0\.0\.1:\d+, which is not among its hosts/
  }
]

for (const [at, { breaks, mistake, says, patienceMs }] of broken.entries())
  test(`a currency with a mistake for ${breaks} fails that check on its real network (${at + 1})`, async t => {
    const url = await serve(t, 'bitcoin')
    t.regex(await live(breaks, mistaken(bitcoin, mistake), [url], patienceMs), says)
  })

test('every live check of currencies has a broken currency that it finds', t => {
  const found = new Set(broken.map(({ breaks }) => breaks))
  t.deepEqual([...found].sort(), currencyLiveChecks.map(({ id }) => id).sort())
})

test('the live checks say why a server is none, and wait once for a network that is silent', async t => {
  const suite = currencySuite(() => fakeBlockchain(bitcoin, 'bitcoin'), {
    ...{ pluginId: 'bitcoin', level: 'live' },
    live: { options: { network: 'regtest', servers: ['tcp://127.0.0.1:1'] }, patienceMs: 4000 }
  })
  const [first, ...others] = await runSuite(suite, { only: ['currency.live'] })
  t.regex(
    first?.message ?? '',
    /^After 4 s .*; it reached for tcp:\/\/127\.0\.0\.1:1\. It says: tcp:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/
  )
  t.deepEqual(
    others.map(({ id, outcome }) => [id, outcome]),
    [
      ['currency.live-fees', 'skipped'],
      ['currency.live-hosts', 'skipped']
    ]
  )
  const other = await serve(t, 'litecoin')
  t.regex(await live('currency.live', bitcoin, [other], 4000), /^failed After 4 s .* is not of regtest/)
})
