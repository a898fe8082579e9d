import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import type { ChainBlock } from '../../fake-server/chain/block.ts'
import type { FakeChain } from '../../fake-server/chain/fake-chain.ts'
import { isWalletError, type Json, type JsonObject } from '../../kernel/plugin-api.ts'

/** A request to a fake node: what stands in its body and, in HTTP, its path. */
interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly Json[] | JsonObject
}

/**
 * A node of Bitcoin Core's family over a fake chain, as far as wallets need it. Once it has searched the chain, its wallet holds every
 * payment of it, as if it watched all addresses.
 */
export class FakeNode {
  readonly chain: FakeChain
  /** The methods that were called, in order. */
  readonly called: string[] = []
  isPruned = false
  /** It has an index of transactions, with those of blocks that were replaced. */
  hasIndex = false
  /** The node has a wallet that takes descriptors only, as new ones do. */
  hasDescriptors = false
  /** While a search lasts: what the node says of it, if it knows of one. */
  search: { readonly progress: number | undefined; readonly ended: Promise<void> } | undefined
  /** While another search for coins goes on. */
  isSearchingCoins = false
  /** While a search for coins lasts. */
  coinSearch: { progress: number; readonly ended: Promise<void> } | undefined
  /** How many searches for coins were stopped. */
  stopped = 0
  /** What the node says of each payment instead of taking it. */
  refusal: string | undefined
  /** The blocks behind which payments were asked for. */
  readonly cursors: string[] = []
  /** The node has deleted the blocks that were replaced. */
  forgetsStale = false
  readonly #seen = new Map<string, ChainBlock>()
  /** Payments of the wallet that have left the mempool. */
  readonly forgotten: string[] = []
  /** While the wallet is unloaded and not loaded again. */
  unloading: Promise<void> | undefined
  /** How many methods of the wallet were called while it was not loaded. */
  refusedUnloaded = 0
  /** What waited already when the wallet got its addresses; it sees that once it is loaded again. */
  readonly #overlooked = new Set<string>()
  #hasWallet = false
  #isLoaded = false
  #hasSearched = false
  readonly #labels = new Map<string, string>()

  constructor(chain: FakeChain) {
    this.chain = chain
    chain.onChange(() => this.#noteBlocks())
    this.#noteBlocks()
  }

  #noteBlocks(): void {
    const { view } = this.chain
    for (let height = view.height; height >= 0; height -= 1) {
      const block = view.blockAt(height)
      if (block === undefined || this.#seen.has(block.hash)) break
      this.#seen.set(block.hash, block)
    }
  }

  async answer(body: string): Promise<{ readonly status: number; readonly text: string }> {
    const request = JSON.parse(body) as Call | readonly Call[]
    if (Array.isArray(request)) {
      const replies = []
      for (const call of request as readonly Call[]) replies.push(await this.#reply(call))
      return { status: 200, text: JSON.stringify(replies) }
    }
    const reply = await this.#reply(request as Call)
    return { status: reply.error === null ? 200 : 500, text: JSON.stringify(reply) }
  }

  async #reply({ id, method, params }: Call): Promise<{ id: number; result: Json; error: Json }> {
    this.called.push(method)
    try {
      const result = await this.#call(method, params)
      if (result === undefined) throw new Refusal(-32601, 'Method not found')
      return { id, result, error: null }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { id, result: null, error: { code: error.code, message: error.message } }
    }
  }

  async #call(method: string, params: readonly Json[] | JsonObject): Promise<Json | undefined> {
    const { view } = this.chain
    if (OF_WALLET.includes(method) && !this.#isLoaded) {
      this.refusedUnloaded += 1
      throw new Refusal(-18, 'Requested wallet does not exist or is not loaded')
    }
    const [first = null, second = null] = Array.isArray(params) ? (params as readonly Json[]) : []
    switch (method) {
      case 'getblockchaininfo':
        return { blocks: view.height, headers: view.height, pruned: this.isPruned }
      case 'listwallets':
        return this.#isLoaded ? ['holdfast'] : []
      case 'loadwallet':
        if (!this.#hasWallet) throw new Refusal(-18, 'Path does not exist.')
        if (this.#isLoaded) throw new Refusal(-4, 'Wallet file verification failed. Already loaded.')
        this.#isLoaded = true
        this.#overlooked.clear()
        return { name: 'holdfast' }
      case 'unloadwallet':
        this.#isLoaded = false
        await this.unloading
        return null
      case 'createwallet':
        this.#hasWallet = true
        this.#isLoaded = true
        return { name: 'holdfast' }
      case 'getwalletinfo':
        return {
          descriptors: this.hasDescriptors,
          scanning: this.search?.progress === undefined ? false : { progress: this.search.progress }
        }
      case 'getaddressinfo':
        return { labels: this.#labels.has(String(first)) ? [this.#labels.get(String(first)) as string] : [] }
      case 'getdescriptorinfo':
        if (!String(first).includes('tpub')) throw new Refusal(-5, 'key is not valid')
        return { descriptor: `${String(first)}#checksum` }
      case 'importmulti':
      case 'importdescriptors':
        if ((method === 'importmulti') === this.hasDescriptors)
          throw new Refusal(-4, 'Only for other wallets')
        for (const { tx } of view.mempool.entries()) this.#overlooked.add(tx.txid)
        await this.search?.ended
        this.#hasSearched = true
        return (first as readonly Json[]).map(() => ({ success: true }))
      case 'setlabel':
        this.#labels.set(String(first), String(second))
        return null
      case 'listsinceblock':
        this.cursors.push(String(first))
        return this.#payments(String(first))
      case 'listtransactions': {
        const [, , skip = 0] = params as readonly Json[]
        const rows = this.#payments('').transactions.reverse()
        return rows.slice(Number(skip), Number(skip) + Number(second))
      }
      case 'getblockhash':
        return this.#blockAt(Number(first)).hash
      case 'getblockheader': {
        const block = this.#block(String(first))
        return second === false ? block.headerHex : { height: block.height }
      }
      case 'getblock':
        return { tx: this.#block(String(first)).transactions.map(({ txid }) => txid) }
      case 'getrawmempool':
        return [...view.mempool.entries()].map(({ tx }) => tx.txid)
      case 'getmempoolentry':
        return this.#entry(String(first))
      case 'getmempoolancestors': {
        const found = new Map<string, Json>()
        const waiting = [String(first)]
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
          for (const parent of view.mempool.get(next as never)?.parents ?? []) {
            if (found.has(parent)) continue
            found.set(parent, this.#entry(parent))
            waiting.push(parent)
          }
        return Object.fromEntries(found)
      }
      case 'gettransaction':
      case 'getrawtransaction': {
        const found = view.find(String(first) as never)
        const [, , block] = params as readonly Json[]
        if (typeof block === 'string') {
          const here = this.#block(block).transactions.find(({ txid }) => txid === first)
          if (here === undefined) throw new Refusal(-5, 'No such transaction found in the provided block')
          return here.hex
        }
        if (method === 'getrawtransaction' && found?.height === undefined && found !== undefined)
          return second === true ? { hex: found.tx.hex } : found.tx.hex
        if (method === 'getrawtransaction') return this.#indexed(String(first), second === true)
        if (found === undefined) throw new Refusal(-5, 'Invalid or non-wallet transaction id')
        return { hex: found.tx.hex }
      }
      case 'scantxoutset':
        return this.#scan(first, second)
      case 'gettxout': {
        const [txid, vout] = [String(first), Number(second)]
        return view.mempool.spenderOf(txid as never, vout) === undefined ? { value: 1 } : null
      }
      case 'estimatesmartfee':
        return { errors: ['Insufficient data or no feerate found'], blocks: 0 }
      case 'getmempoolinfo':
        return { size: view.mempool.size, mempoolminfee: 0.00001, minrelaytxfee: 0.00001 }
      case 'testmempoolaccept':
        return [
          this.refusal === undefined ? { allowed: true } : { allowed: false, 'reject-reason': this.refusal }
        ]
      case 'sendrawtransaction':
        try {
          return this.chain.broadcast(String(first))
        } catch (error) {
          if (!isWalletError(error, 'BROADCAST_REFUSED')) throw error
          throw new Refusal(-26, error.details.reason)
        }
      default:
        return undefined
    }
  }

  #indexed(txid: string, isVerbose: boolean): Json {
    const blocks = this.hasIndex ? [...this.#seen.values()].reverse() : []
    for (const { hash: blockhash, transactions } of blocks) {
      const hex = transactions.find(tx => tx.txid === txid)?.hex
      const height = this.#find(blockhash)?.height
      const confirmations = height === undefined ? 0 : this.chain.view.height - height + 1
      if (hex !== undefined) return isVerbose ? { hex, blockhash, confirmations } : hex
    }
    throw new Refusal(-5, 'No such mempool transaction')
  }

  /** Finds unspent outputs by their scripts; those in the mempool are none, and what it spends still is one. */
  async #scan(action: Json, objects: Json): Promise<Json> {
    if (action === 'abort') {
      this.stopped += this.coinSearch === undefined ? 0 : 1
      return this.coinSearch !== undefined
    }
    if (action === 'status')
      return this.coinSearch === undefined ? null : { progress: this.coinSearch.progress }
    if (this.isSearchingCoins)
      throw new Refusal(-8, 'Scan already in progress, use action "abort" or "status"')
    await this.coinSearch?.ended
    const wanted = new Set((objects as readonly string[]).map(text => /^raw\(([0-9a-f]+)\)$/.exec(text)?.[1]))
    const { view } = this.chain
    const coins = new Map<string, JsonObject>()
    for (let height = 0; height <= view.height; height += 1)
      for (const { txid, inputs, outputs } of this.#blockAt(height).transactions) {
        for (const input of inputs) coins.delete(`${input.txid}:${input.index}`)
        outputs.forEach(({ script }, vout) => {
          const scriptPubKey = Buffer.from(script).toString('hex')
          if (wanted.has(scriptPubKey)) coins.set(`${txid}:${vout}`, { txid, vout, height, scriptPubKey })
        })
      }
    return { success: true, height: view.height, unspents: [...coins.values()] }
  }

  #payments(cursor: string): {
    readonly transactions: Json[]
    readonly removed: Json[]
    readonly lastblock: string
  } {
    const { view } = this.chain
    const removed: Json[] = []
    let known = this.#find(cursor)
    if (known === undefined && cursor !== '') {
      let stale = this.#seen.get(cursor)
      if (stale === undefined || this.forgetsStale) throw new Refusal(-5, 'Block not found')
      for (; known === undefined && stale !== undefined; stale = this.#seen.get(stale.header.previous)) {
        for (const { txid } of stale.transactions.slice(1)) removed.push({ txid, confirmations: -1 })
        known = this.#find(stale.header.previous)
      }
    }
    const rows: Json[] = this.forgotten.map(txid => ({ txid, confirmations: 0 }))
    for (let height = (known?.height ?? -1) + 1; this.#hasSearched && height <= view.height; height += 1)
      this.#blockAt(height).transactions.forEach(({ txid }, blockindex) => {
        const confirmations = view.height - height + 1
        if (blockindex > 0) rows.push({ txid, confirmations, blockheight: height, blockindex })
      })
    if (this.#hasSearched)
      for (const { tx } of view.mempool.entries())
        if (!this.#overlooked.has(tx.txid)) rows.push({ txid: tx.txid, confirmations: 0 })
    return { transactions: rows, removed, lastblock: view.tip.hash }
  }

  #blockAt(height: number): ChainBlock {
    const block = this.chain.view.blockAt(height)
    if (block === undefined) throw new Refusal(-8, 'Block height out of range')
    return block
  }

  #entry(txid: string): Json {
    const entry = this.chain.view.mempool.get(txid as never)
    if (entry === undefined) throw new Refusal(-5, 'Transaction not in mempool')
    return { vsize: entry.tx.vsize, fees: { base: Number(entry.fee) / 1e8 } }
  }

  #block(hash: string): ChainBlock {
    const block = this.#find(hash)
    if (block === undefined) throw new Refusal(-5, 'Block not found')
    return block
  }

  #find(hash: string): ChainBlock | undefined {
    for (let height = this.chain.view.height; height >= 0; height -= 1) {
      const block = this.chain.view.blockAt(height)
      if (block?.hash === hash) return block
    }
    return undefined
  }
}

const OF_WALLET: readonly string[] = [
  ...['getwalletinfo', 'getaddressinfo', 'importmulti', 'importdescriptors', 'setlabel'],
  ...['listsinceblock', 'listtransactions', 'gettransaction']
]

/** Serves a node over HTTP to those who know its login; gives its address. */
export const serveNode = async (t: ExecutionContext, node: FakeNode, login: string): Promise<string> => {
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.headers.authorization !== authorization) {
      response.writeHead(401).end()
      return
    }
    const { status, text } = await node.answer(Buffer.concat(chunks).toString('utf8'))
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

class Refusal extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
