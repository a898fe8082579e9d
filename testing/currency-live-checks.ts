import { allowList } from '../cells/host-functions.ts'
import { type CurrencyPlugin, isWalletError, type JsonObject } from '../kernel/plugin-api.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import {
  type CurrencyBench,
  type CurrencyNetwork,
  errorOf,
  openBench,
  spendOf,
  type TestedWallet
} from './currency-lab.ts'
import { type Check, describeError, must, skip } from './suite.ts'

/** How the real network of a currency is reached, for the checks of the level `live`. */
export interface LiveCurrency {
  /** In place of the plugin of the fake network, such as the one whose requests that network answers. */
  readonly plugin?: CurrencyPlugin
  /** As an application gives them, such as other servers; none if left out, so that the plugin reaches those that it names itself. */
  readonly options?: JsonObject
  /** How long a new wallet may take to see the network, in milliseconds; 45 seconds if left out. */
  readonly patienceMs?: number
}

/** A currency on its real network. */
export interface LiveBench {
  readonly bench: CurrencyBench
  /** A wallet that nobody has paid, once it has seen the network. */
  openWallet(): Promise<TestedWallet>
  /** The addresses of the servers that were reached for, each once. */
  readonly servers: ReadonlySet<string>
}

/**
 * Puts the plugin of a network on its real network; nothing of the fake one is used but its amounts.
 *
 * @param state - of the suite: true once a wallet has waited in vain, so that no other check waits as long for the same
 */
export const openLiveBench = async (
  network: CurrencyNetwork,
  { plugin = network.plugin, options = {}, patienceMs = PATIENCE_MS }: LiveCurrency,
  state: { isSilent: boolean }
): Promise<LiveBench> => {
  const { clock, fetch, connect, webSocket } = makeNodeIo()
  const servers = new Set<string>()
  const bench = await openBench({
    ...{ plugin, options, someAmount: network.someAmount, foreignAddress: network.foreignAddress },
    fund: () => Promise.reject(new Error('Nobody pays on the real network')),
    io: {
      clock,
      fetch(url, given) {
        servers.add(new URL(url).origin)
        return fetch(url, given)
      },
      async connect(address, ...rest) {
        const { host, port, isTls = false } = address
        servers.add(`${isTls ? 'tls' : 'tcp'}://${host.includes(':') ? `[${host}]` : host}:${port}`)
        must(connect !== undefined, () => 'This platform has no TCP')
        return connect(address, ...rest)
      },
      async webSocket(url, ...rest) {
        servers.add(new URL(url).origin)
        must(webSocket !== undefined, () => 'This platform has no WebSocket')
        return webSocket(url, ...rest)
      }
    }
  })
  const openWallet = async (): Promise<TestedWallet> => {
    if (state.isSilent) return skip('A new wallet has seen nothing of the network, as currency.live says')
    const wallet = await bench.openWallet()
    const hasBlocks = network.mine !== undefined
    const { reports } = wallet
    const isThere = (): boolean =>
      reports.ratios.at(-1) === 1 && (!hasBlocks || (reports.heights.at(-1) ?? 0) > 0)
    const end = performance.now() + patienceMs
    while (!isThere() && performance.now() < end) await new Promise(resolve => setTimeout(resolve, 20))
    state.isSilent = !isThere()
    must(isThere(), () => {
      const missing = reports.ratios.at(-1) === 1 ? 'seen a block' : 'looked through its addresses'
      const reached = servers.size === 0 ? 'no server' : [...servers].join(', ')
      const line = reports.status === '' ? wallet.lines.at(-1) : reports.status
      const why = line === undefined ? '' : `. It says: ${line}`
      return `After ${patienceMs / 1000} s a new wallet has not ${missing}; it reached for ${reached}${why}`
    })
    return wallet
  }
  return { bench, openWallet, servers }
}

const PATIENCE_MS = 45_000
const DOCS = 'docs/write-a-plugin.md#a-currency'

/** The checks of a currency with real servers. They sign and send nothing: their wallets are new, and have no money. */
export const currencyLiveChecks: readonly Check<LiveBench>[] = [
  {
    id: 'currency.live',
    level: 'live',
    reason: 'A fake network says nothing of the servers of today.',
    clause: DOCS,
    hint: 'Name servers that answer, and read their replies of today: a new wallet sees the newest block, and is empty.',
    async run({ openWallet }) {
      const { engine, reports, ...wallet } = await openWallet()
      must(
        reports.txs.size === 0 && wallet.balance() === 0n,
        () => `A new wallet has ${wallet.balance()} and ${reports.txs.size} transactions`
      )
      const odd = reports.heights.find(height => !Number.isSafeInteger(height) || height < 0)
      must(odd === undefined, () => `It reports the height ${odd}`)
      const error = await errorOf(() => engine.syncNetwork({}))
      must(error === undefined, () => `A second look at the network throws ${describeError(error)}`)
    }
  },
  {
    id: 'currency.live-fees',
    level: 'live',
    reason: 'What the network wants changes from day to day, and a wrong unit costs a user the payment.',
    clause: DOCS,
    hint: 'Read the rates of the servers in their unit, and bound them; name networkFee in INSUFFICIENT_FUNDS.',
    async run({ bench, openWallet }) {
      const { engine } = await openWallet()
      const { someAmount } = bench.network
      const spend = await spendOf(bench, someAmount)
      const fees: bigint[] = []
      for (const networkFeeOption of ['low', 'standard', 'high'] as const) {
        const error = await errorOf(() => engine.makeSpend({ ...spend, networkFeeOption }, {}))
        if (!isWalletError(error, 'INSUFFICIENT_FUNDS'))
          return must(
            false,
            () => `A spend without money throws ${describeError(error)}, not INSUFFICIENT_FUNDS`
          )
        const { networkFee } = error.details
        if (networkFee === undefined) return skip('Its INSUFFICIENT_FUNDS names no networkFee')
        fees.push(BigInt(networkFee))
      }
      const isOrdered = fees.every((fee, at) => fee >= (fees[at - 1] ?? 0n))
      must(isOrdered, () => `The fees of low, standard and high are ${fees.join(', ')}`)
      const high = fees.at(-1) ?? 0n
      must(high < BigInt(someAmount), () => `A payment of ${someAmount}, which pays many fees, costs ${high}`)
    }
  },
  {
    id: 'currency.live-hosts',
    level: 'live',
    reason: 'In a cell a plugin reaches no server but those of its hosts, which whoever adds it has seen.',
    clause: 'docs/write-a-plugin.md#in-a-cell',
    hint: 'Name every server in hosts: for connect with scheme and port, as tls://coins.example.org:50002.',
    async run({ bench, openWallet, servers }) {
      const { hosts, id } = bench.network.plugin
      if (hosts === undefined) return skip('It names no hosts')
      await openWallet()
      const reach = allowList(id, hosts)
      for (const server of servers) {
        const error = await errorOf(async () => reach(server))
        must(error === undefined, () => `It reaches ${server}, which is not among its hosts`)
      }
    }
  }
]
