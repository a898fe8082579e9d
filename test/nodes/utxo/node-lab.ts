import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { HDKey } from '@scure/bip32'
import { generateMnemonic, mnemonicToSeedSync } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import type { ExecutionContext } from 'ava'
import { LITECOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import { type FakeWorld, makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { serveElectrumTcp } from '../../../fake-server/http/electrum-tcp.ts'
import { serveEsplora } from '../../../fake-server/http/esplora.ts'
import {
  hasLitecoinNode,
  type LitecoinNode,
  type LitecoinNodeOptions,
  startLitecoinNode
} from '../../../fake-server/node/litecoin-node.ts'
import { NodeChain } from '../../../fake-server/node/node-chain.ts'
import {
  type Account,
  type CurrencyWallet,
  compact,
  type Kernel,
  type Plugin
} from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { litecoin } from '../../../plugins/currency/utxo/plugin.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { quickCrypto } from '../../helpers/quick-crypto.ts'

/** A real node, an Electrum server in front of it, and the servers that an account needs. */
export interface NodeLab {
  readonly node: LitecoinNode
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
  /** The first receiving addresses, as the node derives them. */
  addressesOf(words: string, count: number): Promise<readonly string[]>
}

/** Options of {@link NodeLab.reopen}. */
export interface ReopenOptions {
  readonly storage: Plugin
  /** True for a device that reaches no chain server. */
  readonly isOffline: boolean
}

/** Options of {@link NodeLab.open}. */
export interface OpenWalletOptions {
  readonly format?: 'bip44' | 'bip49' | 'bip84'
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
  /** Waits until both say the same. */
  agree(t: ExecutionContext, step: string): Promise<void>
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
  /** How the wallets ask: an Electrum server or one of Esplora in front of the node, or the node itself. */
  readonly backend?: Backend
  /** Replies come this much later and in small pieces, and notifications first, as real servers do it on purpose. */
  readonly delayMs?: number
}

/** Returns whether there is a node; the log of the test says what is missing. */
export const needsNode = (t: ExecutionContext): boolean => {
  if (hasLitecoinNode()) return true
  t.log('skipped: no node is installed; on Debian, apt-get install litecoind')
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
    if (needsNode(t)) await run(t, await openNodeLab(t, options))
  })
}

const openNodeLab = async (t: ExecutionContext, options: NodeLabOptions): Promise<NodeLab> => {
  const io = makeNodeIo()
  const node = await startLitecoinNode(options)
  t.teardown(() => node.stop())
  await node.call('generatetoaddress', 110, await node.call('getnewaddress'))
  const chain = await NodeChain.open(node.call, { network: LITECOIN_REGTEST, clock: io.clock })
  t.teardown(() => chain.close())
  const { backend = 'electrum' } = options
  const electrum = await serveElectrumTcp(chain)
  t.teardown(() => electrum.close())
  const esplora = await serveEsplora(chain)
  t.teardown(() => esplora.close())
  let server = { electrum: electrum.url, esplora: esplora.url, rpc: `rpc+${node.rpc.origin}` }[backend]
  if (options.delayMs !== undefined) {
    const proxy = await openSlowProxy(electrum.port, options.delayMs)
    t.teardown(() => proxy.close())
    server = `tcp://127.0.0.1:${proxy.port}`
  }
  const world = makeFakeWorld({ io })
  let devices = 0
  const open = async (options: DeviceOptions): Promise<Kernel> => {
    const kernel = await openDevice(world, options)
    t.teardown(() => kernel.close())
    return kernel
  }
  return {
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
      const { storage, format = 'bip84' } = opened
      const kernel = await open({ ...deviceOptions(world, node, server), ...compact({ storage }) })
      return makeLabWallet(kernel, { node, words, name: `owner${devices}`, format })
    },
    reopen: async ({ name, wallet: { id } }, { storage, isOffline }) => {
      const kernel = await open({ ...deviceOptions(world, node, isOffline ? NOWHERE : server), storage })
      const account = await kernel.context.loginWithPassword(name, PASSWORD)
      return labWalletOf(kernel, { node, name, account, wallet: await account.openWallet(id) })
    },
    addressesOf: async (words, count) => {
      const { descriptor } = await node.call('getdescriptorinfo', descriptorOf(words, SEGWIT, 0))
      return node.call('deriveaddresses', descriptor, [0, count - 1])
    }
  }
}

// Nothing listens there.
const NOWHERE = 'tcp://127.0.0.1:1'
const PASSWORD = 'of the lab'

type DeviceOptions = NonNullable<Parameters<typeof openDevice>[1]>

const deviceOptions = (world: FakeWorld, { rpc }: LitecoinNode, server: string): DeviceOptions => {
  // The node writes a new login at each start, and takes the file away at its end.
  const loginOf = (origin: string): string | undefined =>
    origin === rpc.origin && existsSync(rpc.cookieFile) ? readFileSync(rpc.cookieFile, 'utf8') : undefined
  const io = { ...makeNodeIo({ loginOf }), crypto: quickCrypto }
  const own = world.ioFor(io)
  const fetch: typeof io.fetch = (url, options) =>
    url.startsWith('http://127.0.0.1:') ? io.fetch(url, options) : own.fetch(url, options)
  return {
    io: { ...own, fetch, ...compact({ connect: io.connect }) },
    plugins: [litecoin],
    pluginOptions: { litecoin: { network: 'regtest', servers: [server] } }
  }
}

interface LabWalletOptions {
  readonly node: LitecoinNode
  readonly words: string
  readonly name: string
  readonly format: NonNullable<OpenWalletOptions['format']>
}

const makeLabWallet = async (
  kernel: Kernel,
  { node, words, name, format }: LabWalletOptions
): Promise<LabWallet> => {
  const account = await kernel.context.createAccount({ username: name, password: PASSWORD })
  const wallet = await account.createCurrencyWallet('wallet:litecoin', {
    importText: words,
    keyOptions: { format }
  })
  await importKeys(node, { words, name, format })
  return labWalletOf(kernel, { node, name, account, wallet })
}

const labWalletOf = (
  kernel: Kernel,
  {
    node,
    name,
    account,
    wallet
  }: Pick<LabWallet, 'account' | 'name' | 'wallet'> & { readonly node: LitecoinNode }
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
    async agree(t, step) {
      let [ours, theirs] = [balances(), await nodeBalances()]
      await waitFor(async () => {
        const height = await node.call('getblockcount')
        ;[ours, theirs] = [balances(), await nodeBalances()]
        // Before the newest block, what the wallet says may be right by chance.
        const isThere = wallet.engine.getSnapshot().blockHeight === height
        return isThere && JSON.stringify(ours) === JSON.stringify(theirs)
      }).catch(() => {})
      t.deepEqual(ours, theirs, step)
    }
  }
}

/** Gives the node the same keys, in a wallet of its own. */
const importKeys = async (
  node: LitecoinNode,
  { words, name, format }: Omit<LabWalletOptions, 'node'>
): Promise<void> => {
  await node.call('createwallet', name, false, true)
  const requests: object[] = []
  for (const kind of KINDS[format]) {
    for (const branch of [0, 1]) {
      const text = descriptorOf(words, kind, branch)
      const { checksum } = await node.call('getdescriptorinfo', text)
      requests.push({ desc: `${text}#${checksum}`, range: [0, 1200], timestamp: 'now' })
    }
  }
  for (const { success, error } of await node.wallet(name)('importmulti', requests))
    if (success !== true) throw new Error(JSON.stringify(error))
}

/** A branch of an account's keys as a descriptor, private keys and all, without its checksum. */
const descriptorOf = (words: string, { purpose, form }: AddressKind, branch: number): string => {
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(words), TEST_KEYS)
  return form(`${root.derive(`m/${purpose}'/1'/0'`).privateExtendedKey}/${branch}/*`)
}

const TEST_KEYS = { public: 0x043587cf, private: 0x04358394 }

interface AddressKind {
  readonly purpose: number
  readonly form: (key: string) => string
}

const SEGWIT: AddressKind = { purpose: 84, form: key => `wpkh(${key})` }
const NESTED: AddressKind = { purpose: 49, form: key => `sh(wpkh(${key}))` }
const LEGACY: AddressKind = { purpose: 44, form: key => `pkh(${key})` }

/** The addresses of each format; a wallet of BIP-49 gives out those of BIP-84, too. */
const KINDS: Readonly<Record<LabWalletOptions['format'], readonly AddressKind[]>> = {
  bip44: [LEGACY],
  bip49: [NESTED, SEGWIT],
  bip84: [SEGWIT]
}

/** New words, which a failed test shows. */
export const wordsOf = (t: ExecutionContext): string => {
  const words = generateMnemonic(wordlist)
  t.log(`words: ${words}`)
  return words
}

interface SlowProxy {
  readonly port: number
  close(): Promise<void>
}

/** Holds every reply back, and sends it in two pieces. */
const openSlowProxy = async (port: number, delayMs: number): Promise<SlowProxy> => {
  const sockets = new Set<Socket>()
  const server: Server = createServer(client => {
    const target = connectTcp(port, '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        client.destroy()
        target.destroy()
      })
    }
    client.pipe(target)
    // One after another, or the pieces of two replies would lie in each other.
    let sending = Promise.resolve()
    target.on('data', (bytes: Buffer) => {
      const half = bytes.length >> 1
      const late = sleep(delayMs)
      sending = sending.then(async () => {
        await late
        if (client.writable) client.write(bytes.subarray(0, half))
        await new Promise(resolve => setImmediate(resolve))
        if (client.writable) client.write(bytes.subarray(half))
      })
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as { port: number }).port,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    }
  }
}
