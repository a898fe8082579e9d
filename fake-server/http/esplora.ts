import { createServer } from 'node:http'
import { isWalletError } from '../../kernel/base/errors.ts'
import type { Json } from '../../kernel/base/json.ts'
import type { Txid } from '../../kernel/types/ids.ts'
import { type ChainBlock, merkleBranchOf } from '../chain/block.ts'
import type { FoundTransaction } from '../chain/chain-state.ts'
import type { ServedChain } from '../electrum/methods.ts'

/** A request to the Esplora interface: the path below its address. */
export interface EsploraRequest {
  readonly path: string
  /** Of a POST. */
  readonly body?: string | undefined
}

/** The answer: text, which is JSON for most paths. */
export interface EsploraReply {
  readonly status: number
  readonly text: string
}

/**
 * Answers as a server of the Esplora interface does, with what wallets ask: 25 confirmed payments a page, at most 50 that wait, and
 * refusals as text.
 */
export const answerEsplora = async (
  chain: ServedChain,
  { path, body }: EsploraRequest
): Promise<EsploraReply> => {
  const parts = path.split('/').slice(1)
  try {
    if (body !== undefined && path === '/tx') return ok(await chain.broadcast(body.trim()))
    const found = route(chain, parts)
    if (found === undefined) return { status: 404, text: 'Not found' }
    return ok(typeof found === 'string' ? found : JSON.stringify(found))
  } catch (error) {
    if (!isWalletError(error, 'BROADCAST_REFUSED')) throw error
    const refusal = JSON.stringify({ code: -26, message: error.details.reason })
    return { status: 400, text: `sendrawtransaction RPC error: ${refusal}` }
  }
}

const ok = (text: string): EsploraReply => ({ status: 200, text })

/** Undefined for what is not there. */
const route = (
  chain: ServedChain,
  [kind = '', name = '', what = '', ...rest]: readonly string[]
): Json | undefined => {
  const { view } = chain
  switch (kind) {
    case 'blocks':
      if (name === 'tip') return what === 'hash' ? view.tip.hash : String(view.height)
      return blocksDownFrom(chain, Number(name)).map(blockOf)
    case 'block-height':
      return view.blockAt(Number(name))?.hash
    case 'block': {
      const block = blockByHash(chain, name)
      return block && (what === 'header' ? block.headerHex : blockOf(block))
    }
    case 'tx': {
      const found = view.find(name as Txid)
      return found && transactionRoute(chain, found, what)
    }
    case 'scripthash':
      return scriptRoute(chain, scriptHashOf(name), [what, ...rest])
    case 'fee-estimates':
      return feesOf(chain)
    default:
      return undefined
  }
}

const PAGE = 25
const MAX_WAITING = 50
const BLOCKS = 10
const TARGETS = [...Array.from({ length: 25 }, (_, i) => i + 1), 144, 504, 1008]

const blocksDownFrom = ({ view }: ServedChain, height: number): readonly ChainBlock[] =>
  Array.from({ length: BLOCKS }, (_, i) => view.blockAt(height - i)).flatMap(block => block ?? [])

const blockByHash = ({ view }: ServedChain, hash: string): ChainBlock | undefined => {
  for (let height = view.height; height >= 0; height -= 1) {
    const block = view.blockAt(height)
    if (block?.hash === hash) return block
  }
  return undefined
}

const blockOf = ({ hash, height, header, transactions }: ChainBlock): Json => ({
  ...{ id: hash, height, version: header.version, timestamp: header.time, bits: header.bits },
  ...{ nonce: header.nonce, merkle_root: header.merkleRoot, tx_count: transactions.length },
  previousblockhash: height === 0 ? null : header.previous
})

const transactionRoute = (chain: ServedChain, found: FoundTransaction, what: string): Json | undefined => {
  const { tx, height } = found
  if (what === 'hex') return tx.hex
  if (what === '') return transactionOf(chain, found)
  const block = height === undefined ? undefined : chain.view.blockAt(height)
  if (what !== 'merkle-proof' || block === undefined) return undefined
  const txids = block.transactions.map(({ txid }) => txid)
  const pos = txids.indexOf(tx.txid)
  return { block_height: block.height, merkle: [...merkleBranchOf(txids, pos).branch], pos }
}

const transactionOf = ({ view }: ServedChain, { tx, height }: FoundTransaction): Json => {
  const block = height === undefined ? undefined : view.blockAt(height)
  return {
    ...{ txid: tx.txid, version: tx.version, locktime: tx.lockTime, size: tx.size, weight: tx.weight },
    vout: tx.outputs.map(({ amount }) => ({ value: Number(amount) })),
    status:
      block === undefined
        ? { confirmed: false }
        : {
            confirmed: true,
            ...{ block_height: block.height, block_hash: block.hash, block_time: block.header.time }
          }
  }
}

/** Esplora's name of a script has the bytes in the other order. */
const scriptHashOf = (name: string): string => (name.match(/../g) ?? []).reverse().join('')

const scriptRoute = (
  chain: ServedChain,
  scriptHash: string,
  [what, chained, last]: readonly string[]
): Json | undefined => {
  const history = chain.view.scripts.historyOf(scriptHash)
  const mined = history.filter(({ height }) => height > 0).reverse()
  const waiting = history.filter(({ height }) => height <= 0)
  const show = (items: typeof history): Json =>
    items.flatMap(({ txid }) => {
      const found = chain.view.find(txid)
      return found === undefined ? [] : [transactionOf(chain, found)]
    })
  if (what === '')
    return { chain_stats: { tx_count: mined.length }, mempool_stats: { tx_count: waiting.length } }
  if (what === 'utxo')
    return chain.view.scripts.utxosOf(scriptHash).map(({ txid, index, height, amount }) => ({
      ...{ txid, vout: index, value: Number(amount) },
      status: height > 0 ? { confirmed: true, block_height: height } : { confirmed: false }
    }))
  if (what !== 'txs') return undefined
  if (chained === undefined) return show([...waiting.slice(0, MAX_WAITING), ...mined.slice(0, PAGE)])
  const from = chained === 'chain' ? mined.findIndex(({ txid }) => txid === last) + 1 : 0
  return show(mined.slice(from, from + PAGE))
}

/** In native units for each byte; a target that the chain has no rate for is missing. */
const feesOf = (chain: ServedChain): Json =>
  Object.fromEntries(
    TARGETS.flatMap(target => {
      const rate = chain.feeRate(target)
      return rate === undefined ? [] : [[String(target), rate]]
    })
  )

/** A server that listens. */
export interface EsploraListener {
  /** As a wallet names it: `esplora+http://127.0.0.1:3000`. */
  readonly url: string
  close(): Promise<void>
}

/** Serves a chain over HTTP on any free port of loopback. */
export const serveEsplora = async (chain: ServedChain): Promise<EsploraListener> => {
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = request.method === 'POST' ? Buffer.concat(chunks).toString('utf8') : undefined
    try {
      const { status, text } = await answerEsplora(chain, { path: request.url ?? '/', body })
      response.writeHead(status, { 'content-type': 'text/plain' }).end(text)
    } catch {
      request.socket.destroy()
    }
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(0, '127.0.0.1', resolve)
  })
  const { port } = http.address() as { readonly port: number }
  return {
    url: `esplora+http://127.0.0.1:${port}`,
    close: () =>
      new Promise(resolve => {
        http.close(() => resolve())
        http.closeAllConnections()
      })
  }
}
