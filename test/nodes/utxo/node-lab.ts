import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import type { ExecutionContext } from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { serveElectrumTcp } from '../../../fake-server/http/electrum-tcp.ts'
import { serveEsplora } from '../../../fake-server/http/esplora.ts'
import type { LitecoinNodeOptions } from '../../../fake-server/node/litecoin-node.ts'
import { NodeChain } from '../../../fake-server/node/node-chain.ts'
import {
  type Account,
  type CurrencyWallet,
  compact,
  type Kernel,
  type Plugin
} from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { quickCrypto } from '../../helpers/quick-crypto.ts'
import { type KeyFormat, type LabCoin, type LabNode, litecoinLab } from './lab-nodes.ts'
import { openSlowServer, SMALL_BATCHES } from './slow-server.ts'

/** A real node, an Electrum server in front of it, and the servers that an account needs. */
export interface NodeLab {
  readonly coin: LabCoin
  readonly backend: Backend
  readonly node: LabNode
  readonly chain: NodeChain
  /** The address of the Electrum server. */
  readonly server: string
  /** Pays coins of the node; gives the txid. */
  pay(address: string, amount: number): Promise<string>
  /** Makes blocks at the node; their coins are the node's, or those of an address. */
  mine(count: number, to?: string): Promise<void>
  /** Opens an account on a device of its own; the words open its wallet. */
  open(words: string, options?: OpenWalletOptions): Promise<LabWallet>
  /** Opens the account of an earlier device again, on its storage. */
  reopen(wallet: LabWallet, options: ReopenOptions): Promise<LabWallet>
}

/** Options of {@link NodeLab.reopen}. */
export interface ReopenOptions {
  readonly storage: Plugin
  /** True for a device that reaches no chain server. */
  readonly isOffline: boolean
}

/** Options of {@link NodeLab.open}. */
export interface OpenWalletOptions {
  /** That of the lab if left out. */
  readonly format?: KeyFormat
  readonly storage?: Plugin
}

/** A wallet of ours beside the node's own wallet of the same keys. */
export interface LabWallet {
  /** Of the account, and of the node's wallet of the same keys. */
  readonly name: string
  readonly kernel: Kernel
  readonly account: Account
  readonly wallet: CurrencyWallet
  address(): Promise<string>
  /** Balances of ours by state, as the node counts: of one coin each, in its main unit. */
  balances(): NodeBalances
  /** The balances that the node has of the same keys. */
  nodeBalances(): Promise<NodeBalances>
  /** Waits until both say the same, for two minutes at most or as long as is given. */
  agree(t: ExecutionContext, step: string, mostMs?: number): Promise<void>
}

/** `getbalances` of a node, in native units. */
export interface NodeBalances {
  readonly trusted: string
  readonly untrusted_pending: string
  readonly immature: string
}

/** The kinds of servers that wallets ask. */
export type Backend = 'electrum' | 'esplora' | 'rpc'

/** Options of {@link openNodeLab}. */
export interface NodeLabOptions extends LitecoinNodeOptions {
  /** Litecoin if left out. */
  readonly coin?: LabCoin
  /** Of the wallets' keys; that of most wallets of the coin if left out. */
  readonly format?: KeyFormat
  /** How the wallets ask: an Electrum server or one of Esplora in front of the node, or the node itself. */
  readonly backend?: Backend
  /** Replies come this much later, those of Electrum as {@link openSlowServer} says. */
  readonly delayMs?: number
}

/** Returns whether a coin has its node; the log of the test says what is missing. */
export const needsNode = async (t: ExecutionContext, coin: LabCoin = litecoinLab): Promise<boolean> => {
  const missing = await coin.findMissing()
  if (missing === undefined) return true
  t.log(`skipped: ${missing}`)
  t.not(process.env.HOLDFAST_CI, '1')
  return false
}

/** Runs a test with a node, or says why it cannot. */
export const withNode = (
  test: (title: string, run: (t: ExecutionContext) => Promise<void>) => void,
  title: string,
  run: (t: ExecutionContext, lab: NodeLab) => Promise<void>,
  options: NodeLabOptions = {}
): void => {
  test(title, async t => {
    if (!(await needsNode(t, options.coin))) return
    // With `--full` a story can wait for its turn longer than it may take.
    t.timeout(QUEUE_MS)
    await takeTurn(t, options.delayMs === undefined ? AT_ONCE : LATE_AT_ONCE)
    t.timeout(options.delayMs === undefined ? STORY_MS : LATE_STORY_MS)
    const start = Date.now()
    t.teardown(() => t.log(`in ${Math.round((Date.now() - start) / 1000)} s`))
    await run(t, await openNodeLab(t, options))
  })
}

const STORY_MS = 280_000
const LATE_STORY_MS = 900_000
const QUEUE_MS = 3_600_000

/** Waits until few other tests of the file run. They wait for each other's nodes if all of them run at once. */
const takeTurn = async (t: ExecutionContext, most: number): Promise<void> => {
  if (running >= most) await new Promise<void>(resolve => void waiting.push(resolve))
  else running += 1
  t.teardown(() => {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  })
}

// Most of a story is waiting: for a server's next look, for a block that is told.
const AT_ONCE = 3
const LATE_AT_ONCE = 6
const waiting: (() => void)[] = []
let running = 0

const openNodeLab = async (t: ExecutionContext, options: NodeLabOptions): Promise<NodeLab> => {
  const io = makeNodeIo()
  const { coin = litecoinLab, backend = 'electrum' } = options
  const node = await coin.start(options)
  t.teardown(() => node.stop())
  await node.call('generatetoaddress', coin.blocks, await node.call('getnewaddress'))
  const chain = await NodeChain.open(node.call, { network: coin.chain, clock: io.clock })
  t.teardown(() => chain.close())
  const { delayMs = 0 } = options
  const electrum = await serveElectrumTcp(chain, delayMs === 0 ? {} : { kind: SMALL_BATCHES })
  t.teardown(() => electrum.close())
  const esplora = await serveEsplora(chain)
  t.teardown(() => esplora.close())
  let server = { electrum: electrum.url, esplora: esplora.url, rpc: `rpc+${node.rpc?.origin}` }[backend]
  if (delayMs > 0 && backend === 'electrum') {
    const slow = await openSlowServer(electrum.port, delayMs)
    t.teardown(() => slow.close())
    server = `tcp://127.0.0.1:${slow.port}`
  }
  const world = makeFakeWorld({ io })
  let devices = 0
  const open = async (options: DeviceOptions): Promise<Kernel> => {
    const kernel = await openDevice(world, options)
    t.teardown(() => kernel.close())
    return kernel
  }
  return {
    coin,
    backend,
    node,
    chain,
    server,
    async pay(address, amount) {
      const txid = await node.pay(address, amount)
      await chain.follow()
      return txid
    },
    async mine(count, to) {
      await node.call('generatetoaddress', count, to ?? (await node.call('getnewaddress')))
      await chain.follow()
    },
    open: async (words, opened = {}) => {
      devices += 1
      const { storage, format = options.format ?? coin.format } = opened
      const kernel = await open({
        ...deviceOptions(world, { coin, node, delayMs }, server),
        ...compact({ storage })
      })
      return makeLabWallet(kernel, { coin, node, words, name: `owner${devices}`, format })
    },
    reopen: async ({ name, wallet: { id } }, { storage, isOffline }) => {
      const kernel = await open({
        ...deviceOptions(world, { coin, node, delayMs }, isOffline ? NOWHERE : server),
        storage
      })
      const account = await kernel.context.loginWithPassword(name, PASSWORD)
      return labWalletOf(kernel, { node, name, account, wallet: await account.openWallet(id) })
    }
  }
}

/**
 * Waits for what a step brings, for as long as that may take behind a slow server on a busy machine. A failed look is one that saw
 * nothing yet.
 */
export const eventually = (
  isTrue: () => boolean | Promise<boolean>,
  mostMs: number = PATIENCE_MS
): Promise<void> => {
  let failure: unknown
  const look = async (): Promise<boolean> => {
    try {
      return await isTrue()
    } catch (error) {
      failure = error
      return false
    }
  }
  return waitFor(look, mostMs).catch(error => {
    throw failure ?? error
  })
}

const PATIENCE_MS = 120_000

// Nothing listens there.
const NOWHERE = 'tcp://127.0.0.1:1'
const PASSWORD = 'of the lab'

type DeviceOptions = NonNullable<Parameters<typeof openDevice>[1]>

const deviceOptions = (
  world: FakeWorld,
  { coin: { plugin }, node: { rpc }, delayMs }: Pick<NodeLab, 'coin' | 'node'> & { readonly delayMs: number },
  server: string
): DeviceOptions => {
  // The node writes a new login at each start, and takes the file away at its end.
  const loginOf = (origin: string): string | undefined =>
    origin === rpc?.origin && existsSync(rpc.cookieFile) ? readFileSync(rpc.cookieFile, 'utf8') : undefined
  const io = { ...makeNodeIo({ loginOf }), crypto: quickCrypto }
  const own = world.ioFor(io)
  const fetch: typeof io.fetch = async (url, options) => {
    if (!url.startsWith('http://127.0.0.1:')) return own.fetch(url, options)
    const reply = await io.fetch(url, options)
    if (delayMs > 0) await sleep(delayMs)
    return reply
  }
  return {
    io: { ...own, fetch, ...compact({ connect: io.connect }) },
    // A device has Bitcoin in any case.
    plugins: plugin.id === 'bitcoin' ? [] : [plugin],
    pluginOptions: { [plugin.id]: { network: 'regtest', servers: [server] } }
  }
}

interface LabWalletOptions {
  readonly coin: LabCoin
  readonly node: LabNode
  readonly words: string
  readonly name: string
  readonly format: NonNullable<OpenWalletOptions['format']>
}

const makeLabWallet = async (
  kernel: Kernel,
  { coin, node, words, name, format }: LabWalletOptions
): Promise<LabWallet> => {
  const account = await kernel.context.createAccount({ username: name, password: PASSWORD })
  const wallet = await account.createCurrencyWallet(coin.walletType, {
    importText: words,
    // By chance, words are a seed of Electrum's, too.
    keyOptions: { format, form: 'bip39' }
  })
  await node.copyKeys(name, words, format)
  return labWalletOf(kernel, { node, name, account, wallet })
}

const labWalletOf = (
  kernel: Kernel,
  { node, name, account, wallet }: Pick<LabWallet, 'account' | 'name' | 'wallet'> & { readonly node: LabNode }
): LabWallet => {
  const balances = (): NodeBalances => {
    const details = wallet.getSnapshot().balanceDetails?.[''] ?? {
      ...{ spendable: '0', reserved: '0', frozen: '0', incoming: '0', immature: '0' }
    }
    const { spendable, reserved, frozen = '0', incoming, immature } = details
    return {
      trusted: String(BigInt(spendable) + BigInt(reserved) + BigInt(frozen)),
      untrusted_pending: String(incoming),
      immature: String(immature)
    }
  }
  const nodeBalances = async (): Promise<NodeBalances> => {
    const { mine } = await node.wallet(name)('getbalances')
    const native = (amount: number): string => String(Math.round(amount * 1e8))
    return {
      trusted: native(mine.trusted),
      untrusted_pending: native(mine.untrusted_pending),
      immature: native(mine.immature)
    }
  }
  return {
    name,
    kernel,
    account,
    wallet,
    address: async () => (await wallet.getReceiveAddress()).publicAddress,
    balances,
    nodeBalances,
    async agree(t, step, mostMs) {
      let [ours, theirs]: readonly object[] = []
      await eventually(async () => {
        // Before the newest block, what the wallet says may be right by chance.
        const height = await node.call('getblockcount')
        theirs = { ...(await nodeBalances()), height }
        ours = { ...balances(), height: wallet.engine.getSnapshot().blockHeight }
        return JSON.stringify(ours) === JSON.stringify(theirs)
      }, mostMs).catch(error => t.log(`${step}: ${error}`))
      t.deepEqual(ours, theirs, step)
    }
  }
}

/** New words, which a failed test shows. */
export const wordsOf = (t: ExecutionContext): string => {
  const words = generateMnemonic(wordlist)
  t.log(`words: ${words}`)
  return words
}
