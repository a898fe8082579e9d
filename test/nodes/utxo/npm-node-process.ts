import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import process from 'node:process'

/**
 * The process of a node of `bcoin` or `bcash`, which `npm-node.ts` starts and calls by messages. The node is the one of its authors: it
 * judges blocks and payments, derives keys, and reads scripts. It has no wallet that says what Litecoin Core's does, so one is made here
 * of the library's own keys, blocks and signatures, with the names that Core gives its methods. No code of Holdfast runs here.
 */

interface Library {
  readonly Script: { fromAddress(address: object): Script; fromRaw(hex: string, encoding: 'hex'): Script }
  readonly Address: { fromString(text: string, network: string): object }
  readonly KeyRing: { generate(): Ring; fromPrivate(key: Uint8Array): Ring; fromKey(key: Uint8Array): Ring }
  readonly HDPrivateKey: { fromPhrase(words: string): Key }
  readonly MTX: new () => Draft
  readonly TX: { fromRaw(hex: string, encoding: 'hex'): Tx }
  readonly Coin: { fromOptions(options: object): object }
  readonly Network: { get(name: string): { addressPrefix: object; keyPrefix: object; minRelay: number } }
  readonly FullNode: new (options: object) => FullNode
}

interface FullNode {
  readonly chain: {
    readonly height: number
    readonly tip: object
    add(block: object): Promise<Entry>
    getEntryByHeight(height: number): Promise<Entry>
    getBlock(height: number): Promise<Block>
    on(event: 'connect' | 'disconnect', listener: (entry: Entry, block: Block) => Promise<void>): void
  }
  readonly mempool: {
    readonly map: { values(): Iterable<{ readonly tx: Tx; readonly fee: number; readonly size: number }> }
    addTX(tx: Tx): Promise<readonly unknown[] | null>
    getCoinView(tx: Tx): Promise<object>
    reset(): Promise<void>
  }
  readonly miner: { readonly cpu: { createJob(tip: Entry | undefined, address: object): Promise<Job> } }
  readonly rpc: {
    execute(call: { method: string; params: readonly unknown[] }, help: boolean): Promise<unknown>
  }
  ensure(): Promise<void>
  open(): Promise<void>
  on(event: 'error', listener: (error: unknown) => void): void
}

interface Script {
  toRaw(): Buffer
}

interface Ring {
  readonly publicKey: Buffer
  witness?: boolean
  script?: Script | null
  getKeyAddress(encoding: 'string', network: string): string
  getAddress(encoding: 'string', network: string): string
  getNestedAddress?(encoding: 'string', network: string): string
  getScriptAddress?(encoding: 'string', network: string): string
  refresh?(): void
}

interface Key {
  readonly privateKey: Buffer
  derivePath(path: string): Key
  derive(index: number): Key
}

interface Tx {
  readonly inputs: readonly { readonly prevout: { readonly index: number; txid(): string } }[]
  readonly outputs: readonly { readonly value: number; readonly script: Script }[]
  txid(): string
  toRaw(): Buffer
  isCoinbase(): boolean
}

interface Draft {
  addOutput(script: Script, value: number): void
  addCoin(coin: object): void
  sign(ring: Ring): number
  toTX(): Tx
}

interface Block {
  readonly version: number
  readonly time: number
  readonly bits: number
  readonly nonce: number
  readonly txs: readonly Tx[]
  readonly prevBlock: Buffer | string
  readonly merkleRoot: Buffer | string
}

interface Entry {
  readonly height: number
}

interface Job {
  readonly attempt: { items: object[]; fees: number; addTX(tx: Tx, view: object): boolean }
  refresh(): void
  mineAsync(): Promise<object>
}

interface Coin {
  readonly txid: string
  readonly vout: number
  readonly value: number
  readonly script: string
  /** -1 of one that waits. */
  readonly height: number
  readonly isCoinbase: boolean
}

/** The keys of a wallet, by the script that each one opens. */
type Keys = Map<string, Ring>

const [, , folder = '', name = ''] = process.argv
const requireFrom = createRequire(folder)
const loadLibrary = (): Library => {
  // The database on the disk, which would have to be compiled; a node in memory does not use it.
  const level = createRequire(requireFrom.resolve(name)).resolve('bdb/lib/level')
  requireFrom.cache[level] = { id: level, loaded: true, exports: class {} } as unknown as NodeJS.Module
  return requireFrom(name)
}

const REGTEST = 'regtest'
const library = loadLibrary()
const { Address, Coin: CoinOf, HDPrivateKey, KeyRing, MTX, Network, Script, TX } = library
const isCash = name === 'bcash'
// Both have prefixes of their own on regtest; these are those of everyone else. Scripts do not depend on them.
const network = Network.get(REGTEST)
Object.assign(network.addressPrefix, { pubkeyhash: 0x6f, scripthash: 0xc4 }, isCash ? {} : { bech32: 'bcrt' })
Object.assign(network.keyPrefix, { privkey: 0xef })

const node = new library.FullNode({
  ...{ network: REGTEST, memory: true, workers: false, env: false, args: false, listen: false },
  ...{ host: '127.0.0.1', httpHost: '127.0.0.1', httpPort: 0, logLevel: 'none' },
  // Policy as on the main network.
  ...{ requireStandard: true, limitFree: true, limitFreeRelay: 0, apiKey: randomBytes(16).toString('hex') }
})

const hexOf = (script: Script): string => script.toRaw().toString('hex')
const scriptOf = (address: string): Script => Script.fromAddress(Address.fromString(address, REGTEST))
const shown = (hash: Buffer | string): string =>
  Buffer.from(typeof hash === 'string' ? Buffer.from(hash, 'hex') : hash)
    .reverse()
    .toString('hex')

/** The coins of the best chain, kept while blocks come and go. */
const coins = new Map<string, Coin>()
/** The coins that each payment in a block has spent. */
const spentIn = new Map<string, readonly Coin[]>()
const received = new Map<string, number>()

const outputsOf = (tx: Tx, height: number): readonly Coin[] =>
  tx.outputs.map(({ value, script }, vout) => ({
    ...{ txid: tx.txid(), vout, value, script: hexOf(script), height, isCoinbase: tx.isCoinbase() }
  }))

const inputsOf = (tx: Tx): readonly string[] =>
  tx.inputs.map(({ prevout }) => `${prevout.txid()}:${prevout.index}`)

const nameOf = ({ txid, vout }: Pick<Coin, 'txid' | 'vout'>): string => `${txid}:${vout}`

const countReceived = ({ script, value }: Coin, sign: 1 | -1): void =>
  void received.set(script, (received.get(script) ?? 0) + sign * value)

node.chain.on('connect', async ({ height }, { txs }) => {
  // Both sort the payments of a block as they like, so that a coin may be spent before it is made.
  for (const tx of txs)
    for (const coin of outputsOf(tx, height)) {
      coins.set(nameOf(coin), coin)
      countReceived(coin, 1)
    }
  for (const tx of txs) {
    const spent = inputsOf(tx).flatMap(outpoint => coins.get(outpoint) ?? [])
    for (const coin of spent) coins.delete(nameOf(coin))
    spentIn.set(tx.txid(), spent)
  }
})

node.chain.on('disconnect', async ({ height }, { txs }) => {
  for (const tx of txs) for (const coin of spentIn.get(tx.txid()) ?? []) coins.set(nameOf(coin), coin)
  for (const tx of txs)
    for (const coin of outputsOf(tx, height)) {
      coins.delete(nameOf(coin))
      countReceived(coin, -1)
    }
})

const waiting = (): readonly Tx[] => [...node.mempool.map.values()].map(({ tx }) => tx)

/** The coins of some keys by the rules of Core's wallet: one's own change counts at once, the money of others when it is in a block. */
const balancesOf = (keys: Keys): { trusted: number; untrusted_pending: number; immature: number } => {
  const found = { trusted: 0, untrusted_pending: 0, immature: 0 }
  const txs = new Map(waiting().map(tx => [tx.txid(), tx]))
  const spent = new Set([...txs.values()].flatMap(inputsOf))
  const isTrusted = (outpoint: string): boolean => {
    const coin = coins.get(outpoint)
    if (coin !== undefined) return keys.has(coin.script)
    const [txid = '', vout] = outpoint.split(':')
    const parent = txs.get(txid)
    const script = parent?.outputs[Number(vout)]?.script
    return script !== undefined && keys.has(hexOf(script)) && inputsOf(parent as Tx).every(isTrusted)
  }
  for (const coin of coins.values()) {
    if (!keys.has(coin.script) || spent.has(nameOf(coin))) continue
    found[isMature(coin) ? 'trusted' : 'immature'] += coin.value
  }
  for (const tx of txs.values())
    for (const coin of outputsOf(tx, -1))
      if (keys.has(coin.script) && !spent.has(nameOf(coin)))
        found[inputsOf(tx).every(isTrusted) ? 'trusted' : 'untrusted_pending'] += coin.value
  return found
}

// A block's own coins; Core's wallet waits for one block more than its mempool.
const isMature = ({ isCoinbase, height }: Coin): boolean =>
  !isCoinbase || node.chain.height - height + 1 > 100

/** The confirmed coins of some keys that no waiting payment spends. */
const freeCoinsOf = (keys: Keys): readonly Coin[] => {
  const spent = new Set(waiting().flatMap(inputsOf))
  return [...coins.values()].filter(
    coin => keys.has(coin.script) && isMature(coin) && !spent.has(nameOf(coin))
  )
}

const signed = (spent: readonly Coin[], keys: Keys, outputs: readonly [Script, number][]): Tx => {
  const draft = new MTX()
  for (const [script, value] of outputs) draft.addOutput(script, value)
  for (const { txid, vout, value, script, height } of spent)
    draft.addCoin(
      CoinOf.fromOptions({
        ...{ version: 1, height, value, index: vout, coinbase: false, script: Script.fromRaw(script, 'hex') },
        hash: isCash ? Buffer.from(txid, 'hex').reverse() : shown(txid)
      })
    )
  for (const ring of new Set(spent.map(({ script }) => keys.get(script))))
    if (ring !== undefined) draft.sign(ring)
  return draft.toTX()
}

const send = async (tx: Tx): Promise<string> => {
  const missing = await node.mempool.addTX(tx)
  if (missing !== null && missing !== undefined && missing.length > 0) throw refusal('missing-inputs')
  return tx.txid()
}

const refusal = (reason: string): Error & { readonly reason: string } =>
  Object.assign(new Error(reason), { reason })

/** The keys of the node itself, which gets the coins of blocks. */
const minerKeys: Keys = new Map()
const wallets = new Map<string, Keys>()

const newRing = (keys: Keys, type: string): string => {
  const ring = KeyRing.generate()
  const address = addressOf(ring, type)
  keys.set(hexOf(scriptOf(address)), ring)
  return address
}

const addressOf = (ring: Ring, type: string): string => {
  if (type === 'p2sh' && isCash) {
    // A script that anyone can write and its key opens.
    ring.script = scriptOf(ring.getKeyAddress('string', REGTEST))
    return ring.getScriptAddress?.('string', REGTEST) ?? ''
  }
  ring.witness = type !== 'legacy'
  ring.refresh?.()
  return type === 'p2sh-segwit'
    ? (ring.getNestedAddress?.('string', REGTEST) ?? '')
    : ring.getAddress('string', REGTEST)
}

/** Pays for little more than nodes relay, so that there is something to hasten. */
const payTo = (outputs: readonly [Script, number][]): Promise<string> => {
  const chosen: Coin[] = []
  const paid = outputs.reduce((sum, [, value]) => sum + value, 0)
  let change = -paid
  for (const coin of freeCoinsOf(minerKeys)) {
    if (change > DUST) break
    chosen.push(coin)
    const size = 44 + 34 * outputs.length + 150 * chosen.length
    change = chosen.reduce((sum, { value }) => sum + value, -paid) - RATE * size
  }
  if (change <= DUST) throw new Error('the node has no coins')
  return send(signed(chosen, minerKeys, [...outputs, [scriptOf(newRing(minerKeys, 'legacy')), change]]))
}

const DUST = 1000
const RATE = 2

const native = (amount: number): number => Math.round(amount * 1e8)

const mine = async (count: number, address: string): Promise<void> => {
  for (let made = 0; made < count; made += 1) await mineBlock({ address })
}

interface BlockRequest {
  readonly address: string
  /** The block below; the best one if left out. */
  readonly tip?: Entry
  /** The payments in it; those that wait if left out. */
  readonly only?: readonly Tx[]
}

const mineBlock = async ({ address, tip, only }: BlockRequest): Promise<Entry> => {
  const job = await node.miner.cpu.createJob(tip, Address.fromString(address, REGTEST))
  if (only !== undefined) {
    job.attempt.items = []
    job.attempt.fees = 0
    for (const tx of only) job.attempt.addTX(tx, await node.mempool.getCoinView(tx))
    job.refresh()
  }
  return node.chain.add(await job.mineAsync())
}

/** Takes the newest blocks off by a longer branch of empty ones, as happens on real networks. */
const replaceBlocks = async (depth: number): Promise<void> => {
  let tip = await node.chain.getEntryByHeight(node.chain.height - depth)
  for (let made = 0; made <= depth; made += 1)
    tip = await mineBlock({ address: newRing(minerKeys, 'legacy'), tip, only: [] })
}

const ancestorsOf = (
  txid: string
): { ancestorcount: number; ancestorsize: number; fees: { ancestor: number } } => {
  const entries = new Map([...node.mempool.map.values()].map(entry => [entry.tx.txid(), entry]))
  const found = new Set<string>()
  const add = (id: string): void => {
    const entry = entries.get(id)
    if (entry === undefined || found.has(id)) return
    found.add(id)
    for (const { prevout } of entry.tx.inputs) add(prevout.txid())
  }
  add(txid)
  const all = [...found].flatMap(id => entries.get(id) ?? [])
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
  return {
    ancestorcount: all.length,
    ancestorsize: sum(all.map(({ size }) => size)),
    fees: { ancestor: sum(all.map(({ fee }) => fee)) / 1e8 }
  }
}

const KINDS: Readonly<Record<string, readonly [purpose: number, type: string][]>> = {
  bip44: [[44, 'legacy']],
  bip49: [
    [49, 'p2sh-segwit'],
    [84, 'bech32']
  ],
  bip84: [[84, 'bech32']]
}

const copyKeys = (words: string, format: string): Keys => {
  const keys: Keys = new Map()
  for (const [purpose, type] of KINDS[format] ?? [])
    for (const branch of [0, 1]) {
      const parent = HDPrivateKey.fromPhrase(words).derivePath(`m/${purpose}'/1'/0'`).derive(branch)
      for (let index = 0; index < KEYS; index += 1) {
        const ring = KeyRing.fromPrivate(parent.derive(index).privateKey)
        keys.set(hexOf(scriptOf(addressOf(ring, type))), ring)
      }
    }
  return keys
}

// More than a story uses and searches behind.
const KEYS = 60

const blockOf = async (hash: string): Promise<object> => {
  const { height } = (await node.rpc.execute(
    { method: 'getblockheader', params: [hash, true] },
    false
  )) as Entry
  const { version, time, nonce, bits, txs, prevBlock, merkleRoot } = await node.chain.getBlock(height)
  return {
    ...{ height, version, time, nonce, bits: bits.toString(16), previousblockhash: shown(prevBlock) },
    merkleroot: shown(merkleRoot),
    tx: txs.map(tx => ({ hex: tx.toRaw().toString('hex') }))
  }
}

// biome-ignore lint/suspicious/noExplicitAny: every method takes parameters of another kind
const methods: Readonly<Record<string, (wallet: Keys, ...params: any[]) => unknown>> = {
  getblock: (_, hash: string) => blockOf(hash),
  sendrawtransaction: (_, text: string) => send(TX.fromRaw(text, 'hex')),
  getnewaddress: (_, __, type = isCash ? 'legacy' : 'bech32') => newRing(minerKeys, type),
  sendtoaddress: (_, address: string, amount: number) => payTo([[scriptOf(address), native(amount)]]),
  sendtoscript: (_, script: string, amount: number) =>
    payTo([[Script.fromRaw(script, 'hex'), native(amount)]]),
  getreceivedbyaddress: (_, address: string) => (received.get(hexOf(scriptOf(address))) ?? 0) / 1e8,
  getbalances: keys => {
    const { trusted, untrusted_pending, immature } = balancesOf(keys)
    return {
      mine: { trusted: trusted / 1e8, untrusted_pending: untrusted_pending / 1e8, immature: immature / 1e8 }
    }
  },
  listunspent: keys =>
    freeCoinsOf(keys).map(({ txid, vout, value }) => ({ txid, vout, amount: value / 1e8 })),
  /** Signs a payment of one's own coins. */
  signpayment: (keys, outpoint: string, outputs: readonly object[]) => {
    const coin = coins.get(outpoint)
    if (coin === undefined) throw new Error(`no coin ${outpoint}`)
    const payees = outputs.flatMap(output => Object.entries(output))
    return signed(
      [coin],
      keys,
      payees.map(([address, amount]) => [scriptOf(address), native(amount)])
    )
      .toRaw()
      .toString('hex')
  },
  copykeys: (_, wallet: string, words: string, format: string) =>
    void wallets.set(wallet, copyKeys(words, format)),
  generatetoaddress: (_, count: number, address: string) => mine(count, address),
  generateblock: (_, address: string, texts: readonly string[]) =>
    mineBlock({ address, only: texts.map(text => TX.fromRaw(text, 'hex')) }).then(() => {}),
  replaceblocks: (_, depth: number) => replaceBlocks(depth),
  getmempoolinfo: () => ({ minrelaytxfee: network.minRelay / 1e8 }),
  getmempoolentry: (_, txid: string) => ancestorsOf(txid),
  forgetmempool: () => node.mempool.reset()
}

interface Call {
  readonly id: number
  readonly wallet?: string
  readonly method: string
  readonly params: readonly unknown[]
}

process.on('message', async ({ id, wallet, method, params }: Call) => {
  const reply = (answer: object): void => void process.send?.({ id, ...answer })
  try {
    const own = methods[method]
    const keys = wallet === undefined ? minerKeys : (wallets.get(wallet) ?? new Map())
    const result =
      own === undefined ? await node.rpc.execute({ method, params }, false) : await own(keys, ...params)
    reply({ result: result ?? null })
  } catch (error) {
    const { code, reason, message } = error as { code?: unknown; reason?: string; message: string }
    reply({ error: { code: typeof code === 'number' ? code : -26, message: reason ?? message } })
  }
})
// Ends with the test that started it.
process.on('disconnect', () => process.exit())

await node.ensure()
await node.open()
process.send?.({ id: 0 })
