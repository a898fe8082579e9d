import { type AbortSignalLike, compact, type Io, type Json } from '../../../../kernel/plugin-api.ts'
import { parseHeader } from '../chain/header.ts'
import type { NetworkRow } from '../params/coin.ts'
import type { ScriptSource } from '../wallet/scripts.ts'
import {
  type ChainConnection,
  type ChainServer,
  ElectrumRefusal,
  ServerLesson,
  type UnspentItem
} from './connection.ts'
import {
  checkKnownBlocks,
  type HistoryItem,
  knownBlocksOf,
  OLDEST,
  readHeaderHex,
  readHistory,
  readTip,
  readUnspent
} from './replies.ts'

/** What a second server says of scripts and blocks. */
export interface Testimony {
  readonly server: string
  /** The height of its newest block. */
  readonly height: number
  /** In the order of the scripts; none where their coins were wanted. */
  readonly histories: readonly (readonly HistoryItem[])[]
  /** The unspent outputs of the scripts, where they were wanted; undefined if the server knows none of strange scripts. */
  readonly unspent: readonly UnspentItem[] | undefined
  /** The names of blocks by height; those that it does not have are left out. */
  readonly hashes: ReadonlyMap<number, string>
}

/** What a second server is asked for: its end closes the connection. */
export interface WitnessLife {
  readonly isEnded: boolean
  /** Aborts at the end, while a connection is opened. */
  readonly signal?: AbortSignalLike
  onOpen(connection: { close(error: Error): void }): void
}

/** The facts that a second server is asked for. */
export interface WitnessQuery {
  readonly life: WitnessLife
  /** How many of the other servers are passed over, so that a third one judges between two. */
  readonly skip: number
  readonly scripts?: ScriptSource
  /** As Electrum names scripts. */
  readonly scripthashes: readonly string[]
  /** The unspent outputs of the scripts are wanted, and not their histories. */
  readonly wantsCoins?: boolean
  readonly heights: readonly number[]
}

/** Asks another server than one for histories and blocks; undefined if none answers. */
export type Witness = (url: string, query: WitnessQuery) => Promise<Testimony | undefined>

/**
 * Asks a second server, in a connection of its own that is closed afterwards, and others if that one does not answer.
 *
 * @param servers - all but the one that is compared, the preferred one first
 * @returns undefined if none answers: what one server says then stays what it was
 */
export const queryWitness = async (
  {
    io,
    network,
    circuit
  }: { readonly io: Io; readonly network: NetworkRow; readonly circuit?: string | undefined },
  servers: readonly ChainServer[],
  query: WitnessQuery
): Promise<Testimony | undefined> => {
  const first = query.skip % Math.max(1, servers.length)
  let unable: Testimony | undefined
  const waiting = [...servers.slice(first), ...servers.slice(0, first)].slice(0, MAX_TRIES)
  for (let server = waiting.shift(); server !== undefined; server = waiting.shift()) {
    if (query.life.isEnded) return unable
    let connection: ChainConnection | undefined
    try {
      const { scripts, life } = query
      const handlers = { scripts, ...compact({ signal: life.signal }), onNotification() {}, onClose() {} }
      connection = await server.open(io, handlers, circuit)
      query.life.onOpen(connection)
      const testimony = await testify(connection, { io, network, query })
      if (testimony.unspent !== undefined) return testimony
      // Another one may know the scripts.
      unable = testimony
    } catch (error) {
      // Else the next one is asked.
      if (error instanceof ServerLesson) waiting.unshift(server)
    } finally {
      connection?.close(new Error('The second server has answered'))
    }
  }
  return unable
}

const MAX_TRIES = 3
/** ElectrumX: excessive usage, and busy. */
const BUSY: ReadonlySet<number> = new Set([-101, -102])

const testify = async (
  connection: ChainConnection,
  { io, network, query }: { readonly io: Io; readonly network: NetworkRow; readonly query: WitnessQuery }
): Promise<Testimony> => {
  const { headerForm } = network
  const heights = [...new Set(query.heights)]
  const header = (height: number): { method: string; params: Json[] } => ({
    method: 'blockchain.block.header',
    params: [height]
  })
  const [, tip, ...blocks] = await Promise.all(
    connection.callMany([
      { method: 'server.version', params: ['holdfast', OLDEST] },
      { method: 'blockchain.headers.subscribe', params: [] },
      ...knownBlocksOf(network).map(({ height }) => header(height))
    ])
  )
  const hashOf = (reply: Json | undefined): string =>
    parseHeader(io.crypto.fromHex(readHeaderHex(reply ?? null)), compact({ headerForm })).hash
  checkKnownBlocks(io.crypto, network, blocks)
  const { height } = readTip(tip)
  const shown = heights.filter(at => at <= height)
  const isAboutCoins = query.wantsCoins === true
  const method = `blockchain.scripthash.${isAboutCoins ? 'listunspent' : 'get_history'}`
  const replies = connection.callMany([
    ...query.scripthashes.map(hash => ({ method, params: [hash] })),
    ...shown.map(header)
  ])
  const count = query.scripthashes.length
  const [ofScripts, headers] = await Promise.all([
    Promise.all(replies.slice(0, count)).catch((error): undefined => {
      // A node has no index of scripts, and Electrum Personal Server knows those of its owner alone. Servers say so with many codes.
      if (!(isAboutCoins && error instanceof ElectrumRefusal) || BUSY.has(error.code ?? 0)) throw error
    }),
    Promise.all(replies.slice(count))
  ])
  return {
    server: connection.url,
    height,
    histories: isAboutCoins ? [] : (ofScripts ?? []).map(readHistory),
    unspent: isAboutCoins ? ofScripts?.flatMap(readUnspent) : [],
    hashes: new Map(shown.map((at, index) => [at, hashOf(headers[index])]))
  }
}
