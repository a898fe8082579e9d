import { isWalletError, nativeAmount } from '../kernel/plugin-api.ts'
import { currencyFeatureChecks } from './currency-feature-checks.ts'
import {
  type CurrencyBench,
  type CurrencyNetwork,
  controlOf,
  type EngineReports,
  errorOf,
  fundedWallet,
  mine,
  openBench,
  type TestedWallet,
  until,
  untilConfirmed
} from './currency-lab.ts'
import {
  currencyLiveChecks,
  type LiveBench,
  type LiveCurrency,
  openLiveBench
} from './currency-live-checks.ts'
import { currencySubject } from './currency-plugin-use.ts'
import { currencySpendChecks } from './currency-spend-checks.ts'
import { type PluginSubject, pluginChecks } from './plugin-checks.ts'
import { type TestFunction, testSuite } from './run-with.ts'
import { type Check, describeError, must, planSuite, type Suite, type SuiteOptions, skip } from './suite.ts'

/** What a suite has to know of a currency. */
export interface CurrencySuiteOptions extends SuiteOptions {
  /** The id of the plugin, for reports. */
  readonly pluginId: string
  /** The real network, for the level `live`. Its checks sign and send nothing. */
  readonly live?: LiveCurrency
}

/**
 * Plans the checks of a currency.
 *
 * @param openNetwork - opens an empty network with the plugin of the currency; called for each check
 *
 * @example
 * ```ts
 * import { currencySuite, fakeBlockchain, runSuite } from 'holdfast/testing'
 * import { bitcoin } from 'holdfast/plugins/currency/utxo/plugin'
 *
 * const suite = currencySuite(() => fakeBlockchain(bitcoin, 'bitcoin'), { pluginId: 'bitcoin', level: 'quick' })
 * const results = await runSuite(suite)
 * console.log(results.every(({ outcome }) => outcome !== 'failed'))
 * ```
 */
export const currencySuite = (
  openNetwork: () => CurrencyNetwork | Promise<CurrencyNetwork>,
  { pluginId, level = 'full', live = {} }: CurrencySuiteOptions
): Suite => {
  const onBench = (check: Check<CurrencyBench>): Check<undefined> => ({
    ...check,
    async run() {
      const network = await openNetwork()
      const bench = await openBench(network).catch(async (error: unknown) => {
        await network.close?.()
        return must(false, () => describeError(error)) as never
      })
      try {
        await check.run(bench)
      } finally {
        await bench.close()
      }
    }
  })
  const onSubject = (check: Check<PluginSubject>): Check<undefined> => ({
    ...check,
    async run() {
      const network = await openNetwork()
      try {
        await check.run(currencySubject(network))
      } finally {
        await network.close?.()
      }
    }
  })
  const liveState = { isSilent: false }
  const onLive = (check: Check<LiveBench>): Check<undefined> => ({
    ...check,
    async run() {
      const network = await openNetwork()
      try {
        const opened = await openLiveBench(network, live, liveState)
        await check.run(opened).finally(() => opened.bench.close())
      } finally {
        await network.close?.()
      }
    }
  })
  const checks = [
    ...pluginChecks.map(onSubject),
    ...currencyChecks.map(onBench),
    ...currencyLiveChecks.map(onLive)
  ]
  return planSuite({ pluginId, kind: 'currency', level }, checks, undefined)
}

/**
 * Declares the tests of a currency: those of {@link currencySuite}, with the `test` of node:test, AVA or Vitest.
 *
 * @example
 * ```ts
 * import test from 'node:test'
 * import { fakeBlockchain, testCurrencyPlugin } from 'holdfast/testing'
 * import { litecoin } from 'holdfast/plugins/currency/utxo/plugin'
 *
 * testCurrencyPlugin(test, () => fakeBlockchain(litecoin, 'litecoin'), { pluginId: 'litecoin' })
 * ```
 */
export const testCurrencyPlugin = (
  test: TestFunction,
  openNetwork: () => CurrencyNetwork | Promise<CurrencyNetwork>,
  options: CurrencySuiteOptions
): void => testSuite(test, currencySuite(openNetwork, options))

const DOCS = 'docs/write-a-plugin.md#a-currency'

const toolChecks: readonly Check<CurrencyBench>[] = [
  {
    id: 'currency.description',
    level: 'quick',
    reason: 'Every amount of the currency is shown by its denominations.',
    clause: '8.55',
    hint: 'Give info with pluginId, walletType and denominations whose multipliers are powers of ten.',
    async run({ network: { plugin } }) {
      const { info, id, kind } = plugin
      must(
        kind === 'currency' && info.pluginId === id,
        () => `info.pluginId is ${info.pluginId}, and the id is ${id}`
      )
      must(/^wallet:/.test(info.walletType), () => `Its walletType is ${info.walletType}`)
      const [odd] = info.denominations.filter(({ multiplier }) => !/^10*$/.test(multiplier))
      must(odd === undefined, () => `The multiplier of ${odd?.name} is ${odd?.multiplier}`)
    }
  },
  {
    id: 'currency.keys',
    level: 'quick',
    reason: 'A wallet is its keys: two of one key are one wallet, and another device derives the same.',
    clause: DOCS,
    hint: 'Take random bytes from io.random, and derive public keys from the private keys alone.',
    async run({ tools, network }) {
      const { walletType } = network.plugin.info
      const [one, other] = [
        await tools.createPrivateKey(walletType),
        await tools.createPrivateKey(walletType)
      ]
      must(JSON.stringify(one) !== JSON.stringify(other), () => 'Two new wallets have the same private keys')
      const derive = (): Promise<unknown> => tools.derivePublicKey({ id: 'a', type: walletType, keys: one })
      const [first, second] = [JSON.stringify(await derive()), JSON.stringify(await derive())]
      must(first === second, () => 'The public keys of one private key differ from call to call')
    }
  },
  {
    id: 'currency.public-keys',
    level: 'quick',
    reason: 'Engines are given public keys, and the device stores them.',
    clause: DOCS,
    hint: 'Leave everything that can spend out of the result of derivePublicKey.',
    async run(bench) {
      const { privateKeys, publicKeys } = await bench.openWallet({ isStarted: false })
      const text = JSON.stringify(publicKeys)
      const secrets = Object.values(privateKeys).filter(
        value => typeof value === 'string' && value.length > 12
      )
      const shown = secrets.some(secret => text.includes(String(secret)))
      must(!shown, () => 'The public keys contain a private key')
      const isCurrent = (await bench.tools.checkPublicKey?.(publicKeys)) ?? true
      must(isCurrent, () => 'checkPublicKey refuses the public keys that were just derived')
    }
  },
  {
    id: 'currency.links',
    level: 'quick',
    reason: 'Another wallet reads the links that this one writes, with the amount that was asked for.',
    clause: DOCS,
    hint: 'Write address, amount and label as BIP-21 does, escaped, and read them back.',
    async run(bench) {
      const { tools, network } = bench
      const publicAddress = await (await bench.openWallet({ isStarted: false })).address()
      const request = { publicAddress, nativeAmount: nativeAmount(network.someAmount), label: 'Café & co' }
      const parsed = await tools.parseUri(await tools.encodeUri(request))
      for (const field of ['publicAddress', 'nativeAmount', 'label'] as const)
        must(
          parsed[field] === request[field],
          () => `The ${field} ${request[field]} is read as ${parsed[field]}`
        )
      const bare = await tools.parseUri(publicAddress)
      must(
        bare.publicAddress === publicAddress,
        () => `The address ${publicAddress} is read as ${bare.publicAddress}`
      )
    }
  },
  {
    id: 'currency.addresses',
    level: 'quick',
    reason: 'What is sent to an address that nobody has is lost.',
    clause: DOCS,
    hint: 'Check the checksum and the network of an address, and throw ADDRESS_INVALID.',
    async run(bench) {
      const { tools, network } = bench
      const address = await (await bench.openWallet({ isStarted: false })).address()
      for (const bad of ['', 'nonsense', network.foreignAddress, `${address.slice(0, -1)}!`]) {
        const error = await errorOf(() => tools.parseUri(bad))
        must(
          isWalletError(error, 'ADDRESS_INVALID'),
          () => `"${bad}" throws ${describeError(error)}, not ADDRESS_INVALID`
        )
      }
    }
  }
]

const historyChecks: readonly Check<CurrencyBench>[] = [
  {
    id: 'currency.receipt',
    level: 'quick',
    reason: 'The kernel refuses a transaction with a wrong field, and a balance that is no digits.',
    clause: '5.36',
    hint: 'Report txid, date in seconds, amounts as digits, height 0 while it waits, and the own addresses it paid.',
    async run(bench) {
      const { someAmount } = bench.network
      const wallet = await bench.openWallet()
      const address = await wallet.address()
      const txid = await bench.network.fund(address, someAmount)
      await untilBalance(wallet, someAmount)
      const tx = wallet.reports.txs.get(txid)
      must(tx !== undefined, () => 'The balance has come, and the transaction has not')
      must(
        String(tx.nativeAmount) === someAmount,
        () => `Its amount is ${tx.nativeAmount}, not ${someAmount}`
      )
      must(tx.date > 1_000_000_000 && tx.date < 100_000_000_000, () => `Its date is ${tx.date}`)
      must(
        tx.ourReceiveAddresses.includes(address),
        () => `It has paid ${tx.ourReceiveAddresses}, not ${address}`
      )
      if (bench.network.mine !== undefined)
        must(tx.blockHeight === 0, () => `Its height is ${tx.blockHeight} before it is in a block`)
      const odd = wallet.reports.balances.find(balance => !/^\d+$/.test(balance))
      must(odd === undefined, () => `It reports the balance ${odd}`)
      must(wallet.reports.ratios.at(-1) === 1, () => `Its progress is ${wallet.reports.ratios.at(-1)}, not 1`)
    }
  },
  {
    id: 'currency.reorg',
    level: 'full',
    reason: 'Blocks are undone, one at a time or six, and what was in them waits again.',
    clause: DOCS,
    hint: 'Follow the chain by block hashes, and look at the last blocks again when one has another hash.',
    async run(bench) {
      const reorg = controlOf(bench, 'reorg')
      const { someAmount } = bench.network
      const wallet = await bench.openWallet()
      const txid = await bench.network.fund(await wallet.address(), someAmount)
      const isWaiting = (): boolean => (wallet.reports.txs.get(txid)?.blockHeight ?? 1) === 0
      for (const depth of [1, 6]) {
        await mine(bench, depth)
        await untilConfirmed(wallet, txid, 'A payment in a block is not reported as such')
        await reorg(depth)
        await until(isWaiting, `After ${depth} undone blocks a payment that was in them does not wait again`)
        await untilBalance(wallet, someAmount)
      }
      await mine(bench, 1)
      await untilConfirmed(wallet, txid, 'After undone blocks a payment in a new one is not confirmed')
    }
  },
  {
    id: 'currency.dropped',
    level: 'full',
    reason: 'A payment that the network forgets must not count as money.',
    clause: DOCS,
    hint: 'Report it with a negative height, and the balance without it.',
    async run(bench) {
      const drop = controlOf(bench, 'drop')
      const wallet = await bench.openWallet()
      const txid = await bench.network.fund(await wallet.address(), bench.network.someAmount)
      await untilBalance(wallet, bench.network.someAmount)
      await drop(txid)
      const isDropped = (): boolean => (wallet.reports.txs.get(txid)?.blockHeight ?? 0) < 0
      await until(isDropped, 'A forgotten transaction is not reported with a negative height')
      await untilBalance(wallet, '0')
    }
  },
  {
    id: 'currency.second-device',
    level: 'full',
    reason: 'A second device and a resync see the same history.',
    clause: DOCS,
    hint: 'Take everything from the chain, and let resyncBlockchain drop what is cached.',
    async run(bench) {
      const wallet = await fundedWallet(bench)
      const twin = await bench.openWallet({ keys: wallet.privateKeys })
      const isSame = (): boolean => historyOf(twin.reports) === historyOf(wallet.reports)
      await until(isSame, 'A second device sees another history')
      await twin.engine.resyncBlockchain()
      await until(isSame, 'After a resync the history is another one')
      await until(() => twin.balance() === wallet.balance(), 'After a resync the balance is another one')
    }
  },
  {
    id: 'currency.restart',
    level: 'full',
    reason: 'A wallet shows its history at once, also without a network.',
    clause: DOCS,
    hint: 'Keep what was reported in the store, and let startEngine report it.',
    async run(bench) {
      const wallet = await fundedWallet(bench)
      await wallet.engine.killEngine()
      const { privateKeys: keys, store, files } = wallet
      const again = await bench.openWallet({ keys, store, files, isStarted: false })
      await again.engine.startEngine()
      for (const txid of wallet.reports.txs.keys())
        must(
          again.reports.txs.has(txid),
          () => 'startEngine does not report a transaction that the store has'
        )
    }
  }
]

const engineChecks: readonly Check<CurrencyBench>[] = [
  {
    id: 'currency.delay',
    level: 'quick',
    reason: 'The kernel looks again after the milliseconds that the engine returns.',
    clause: '4.22',
    hint: 'Resolve syncNetwork to a positive number of milliseconds.',
    async run(bench) {
      const { engine } = await bench.openWallet()
      const delay: unknown = await engine.syncNetwork({})
      const isDelay = typeof delay === 'number' && delay > 0 && Number.isFinite(delay)
      must(isDelay, () => `syncNetwork resolves to ${String(delay)}`)
    }
  },
  {
    id: 'currency.killed',
    level: 'full',
    reason: 'A report of a killed engine would reach a wallet that has another one.',
    clause: '4.19',
    hint: 'Close connections and cancel timers in killEngine, and report nothing afterwards.',
    async run(bench) {
      const { engine, reports, ...wallet } = await bench.openWallet()
      const address = await wallet.address()
      await engine.startEngine()
      await engine.killEngine()
      const { count } = reports
      await bench.network.fund(address, bench.network.someAmount)
      // Another wallet shows that the network has gone on.
      await fundedWallet(bench)
      must(reports.count === count, () => `It reports ${reports.count - count} times after killEngine`)
      const error = await errorOf(() => engine.killEngine())
      must(error === undefined, () => `Killed twice, it throws ${describeError(error)}`)
    }
  },
  {
    id: 'currency.apart',
    level: 'full',
    reason: 'Two wallets of one currency know nothing of each other.',
    clause: DOCS,
    hint: 'Keep the state of a wallet in its engine, not in the module or in apply.',
    async run(bench) {
      const alice = await fundedWallet(bench)
      const bob = await bench.openWallet()
      must(
        bob.reports.txs.size === 0 && bob.balance() === 0n,
        () => 'A new wallet has the money of another one'
      )
      const paid = [...alice.reports.txs.values()].flatMap(tx => tx.ourReceiveAddresses)
      for (const address of paid)
        must(!(await bob.engine.isAddressUsed(address)), () => 'A wallet knows the address of another one')
      must((await bob.address()) !== (await alice.address()), () => 'Two wallets have one address')
    }
  },
  {
    id: 'currency.given-addresses',
    level: 'full',
    reason: 'An address that was given to one payer is not given to another one.',
    clause: DOCS,
    hint: 'Count on from the addresses of addGapLimitAddresses, if the currency has more than one.',
    async run(bench) {
      const { engine, ...wallet } = await bench.openWallet()
      const address = await wallet.address()
      const isUsed = await engine.isAddressUsed(address)
      must(!isUsed, () => 'A fresh address counts as used')
      await engine.addGapLimitAddresses([address])
      const next = await wallet.address()
      if (next === address) return skip('Its wallets have one address')
      must(await engine.isAddressUsed(address), () => 'An address that was given away does not count as used')
    }
  }
]

/** Every check of a currency. */
export const currencyChecks: readonly Check<CurrencyBench>[] = [
  ...toolChecks,
  ...historyChecks,
  ...currencySpendChecks,
  ...engineChecks,
  ...currencyFeatureChecks
]

const untilBalance = (wallet: TestedWallet, amount: string): Promise<void> =>
  until(() => wallet.reports.balances.at(-1) === amount, `The balance does not become ${amount}`)

const historyOf = ({ txs }: EngineReports): string =>
  [...txs.values()]
    .map(tx => [tx.txid, tx.blockHeight, tx.nativeAmount, tx.networkFee].join(' '))
    .sort()
    .join('\n')
