import { makeAbort, type SigningOptions, type Txid, WalletError } from '../../../../kernel/plugin-api.ts'
import { programOf, writeScript } from '../chain/address.ts'
import { hexOf, type RawTx as ParsedTx, parseRawTx, scriptHashOf } from '../chain/transaction.ts'
import { ElectrumFault, ElectrumRefusal, NO_METHOD, type UnspentItem } from '../electrum/connection.ts'
import type { ElectrumPool } from '../electrum/pool.ts'
import { readUnspent } from '../electrum/replies.ts'
import { fetchTxs } from '../electrum/requests.ts'
import type { Testimony, Witness, WitnessLife } from '../electrum/witness.ts'
import type { KeyScript, SingleKey } from '../keys/wif.ts'
import type { SpendSource } from './choose-coins.ts'

/** What the coins of foreign keys are looked up with. */
export interface ForeignCoinSource extends Pick<SpendSource, 'coin' | 'io'> {
  readonly pool: Pick<
    ElectrumPool,
    'callMany' | 'headersAt' | 'searchCoins' | 'serverUrl' | 'standingOf' | 'tip'
  >
  /** Asks a second server; absent where the user named one. */
  readonly witness: Witness | undefined
  readonly life: WitnessLife
  /** Follows and stops a search of all coins. */
  readonly following?: SigningOptions
}

/**
 * What a second server says of the same scripts. `alone`: none was named; `silent`: none answers in time; `unable`: those that answer know
 * no coins of strange scripts. Of incoming coins only those that are swept count: they reach servers one after another.
 */
export interface SecondWord {
  readonly word: 'agrees' | 'alone' | 'differs' | 'silent' | 'unable'
  readonly server?: string
  /** How many of the coins that were found the second server does not show. */
  readonly onlyHere?: number
  /** How many coins only the second server shows. */
  readonly onlyThere?: number
}

/**
 * Compares the coins that one server shows of scripts with those of a second one. What is incoming there is no coin yet.
 *
 * @param takesIncoming - incoming coins are swept, too, so that a second server has to show them
 */
export const compareCoins = async (
  source: ForeignCoinSource,
  scripts: readonly OwnedScript[],
  { found, takesIncoming }: { readonly found: readonly ForeignCoin[]; readonly takesIncoming: boolean }
): Promise<SecondWord> => {
  if (source.witness === undefined) return { word: 'alone' }
  const testimony = await querySecond(source, source.witness, scripts)
  if (testimony === undefined) return { word: 'silent' }
  const { unspent, server } = testimony
  if (unspent === undefined) return { word: 'unable', server }
  const there = new Map(unspent.map(item => [`${item.txid}:${item.vout}`, Math.max(0, item.height)]))
  const here = new Map(
    found
      .filter(({ height }) => height > 0 || takesIncoming)
      .map(({ txid, vout, height }) => [`${txid}:${vout}`, height])
  )
  const onlyHere = [...here].filter(([coin, height]) => {
    const shown = there.get(coin)
    return height === 0 ? shown === undefined : shown !== height
  }).length
  // Those above the tip of the first server as well: it may be one that has stopped, or that keeps blocks back.
  const onlyThere = [...there].filter(([coin, height]) => height > 0 && !here.has(coin)).length
  return { word: onlyHere + onlyThere === 0 ? 'agrees' : 'differs', server, onlyHere, onlyThere }
}

/** Asks a second server within a limit: however slowly it answers, a sweep goes on. */
const querySecond = async (
  { io, pool, life }: ForeignCoinSource,
  witness: Witness,
  scripts: readonly OwnedScript[]
): Promise<Testimony | undefined> => {
  const over = makeAbort()
  let connection: Parameters<WitnessLife['onOpen']>[0] | undefined
  let cancel: (() => void) | undefined
  const limited: WitnessLife = {
    get isEnded() {
      return over.signal.aborted || life.isEnded
    },
    signal: over.signal,
    onOpen(opened) {
      connection = opened
      life.onOpen(opened)
      if (over.signal.aborted) opened.close(new Error(TOO_SLOW))
    }
  }
  const limit = new Promise<undefined>(resolve => {
    cancel = io.clock.after(SECOND_MS, () => {
      over.abort()
      connection?.close(new Error(TOO_SLOW))
      resolve(undefined)
    })
  })
  const scripthashes = scripts.map(({ script }) => scriptHashOf(script))
  const query = { life: limited, skip: 0, scripthashes, heights: [], wantsCoins: true }
  life.signal?.addEventListener('abort', over.abort)
  try {
    return await Promise.race([witness(pool.serverUrl, query), limit])
  } finally {
    life.signal?.removeEventListener('abort', over.abort)
    cancel?.()
  }
}

/** A third of what the kernel gives a call of an engine. */
const SECOND_MS = 20_000
const TOO_SLOW = 'The second server was too slow'

/** A script that a key owns. */
export interface OwnedScript {
  readonly key: SingleKey
  readonly type: KeyScript
  readonly script: Uint8Array
}

/** A script of a key (pure). */
export const scriptOfKey = (key: SingleKey, type: KeyScript): OwnedScript => ({
  ...{ key, type },
  script: scriptBytesOf(key.publicKey, type)
})

const scriptBytesOf = (publicKey: Uint8Array, type: KeyScript): Uint8Array => {
  if (type === 'p2pk') return Uint8Array.of(publicKey.length, ...publicKey, OP_CHECKSIG)
  if (type === 'p2sh-p2wpkh') return writeScript({ type: 'p2sh', data: programOf(49, publicKey) })
  return writeScript({ type, data: programOf(type === 'p2tr' ? 86 : 44, publicKey) })
}

const OP_CHECKSIG = 0xac

/** A coin of a foreign key. */
export interface ForeignCoin extends OwnedScript {
  readonly txid: Txid
  readonly vout: number
  readonly value: bigint
  /** 0 while unconfirmed. */
  readonly height: number
  readonly isCoinbase: boolean
  readonly isPegOut: boolean
}

/**
 * The coins of scripts by the word of one server: that there are no others only it says, and {@link compareCoins} a second one. What each is worth stands in the bytes of its transaction,
 * and that a block has it, a proof shows as for the coins of the wallet.
 *
 * @throws ElectrumFault for a coin that is not in the bytes of its transaction, or more than there can be; NOT_SUPPORTED
 */
export const findCoins = async (
  source: ForeignCoinSource,
  scripts: readonly OwnedScript[]
): Promise<readonly ForeignCoin[]> => {
  const { pool, io, coin } = source
  const unspent = new Map<Txid, Unspent[]>()
  for (const found of await unspentOf(source, scripts)) {
    const { txid, height } = found.item
    const same = unspent.get(txid) ?? []
    if (same.some(({ item }) => item.height !== height))
      throw new ElectrumFault('The server named two places of one transaction')
    unspent.set(txid, [...same, found])
    if (unspent.size > MAX_SOURCES)
      throw new WalletError('NOT_SUPPORTED', {
        what: `sweeps of coins of more than ${MAX_SOURCES} payments`
      })
  }
  const coins = new Map<string, ForeignCoin>()
  const txids = [...unspent.keys()]
  for (let from = 0; from < txids.length; from += BATCH) {
    const questions = txids.slice(from, from + BATCH).map(txid => {
      const height = Math.max(0, unspent.get(txid)?.[0]?.item.height ?? 0)
      return { txid, height, needsBytes: true, needsProof: height > 0 }
    })
    for (const { txid, hex = '' } of await fetchTxs(pool, questions)) {
      const tx = readTx(io.crypto.fromHex(hex))
      if (tx?.txid !== txid)
        throw new ElectrumFault('The server sent another transaction than the requested one')
      for (const { item, owner } of unspent.get(txid) ?? [])
        coins.set(`${txid}:${item.vout}`, coinOf(item, owner, tx))
    }
  }
  if (sumOf([...coins.values()]) > coin.maxSupply)
    throw new ElectrumFault('The server reports more coins than there can be')
  return [...coins.values()]
}

/** An unspent output that a server names, and the key that owns it. */
interface Unspent {
  readonly item: UnspentItem
  readonly owner: OwnedScript
}

const unspentOf = async (
  source: ForeignCoinSource,
  scripts: readonly OwnedScript[]
): Promise<readonly Unspent[]> => {
  const searched = await source.pool.searchCoins(
    scripts.map(({ script }) => script),
    source.following ?? {}
  )
  if (searched !== undefined) return owned(searched, scripts)
  const found: Unspent[] = []
  for (let from = 0; from < scripts.length; from += BATCH) {
    found.push(...(await listUnspent(source, scripts.slice(from, from + BATCH))))
    // The caller refuses so many.
    if (new Set(found.map(({ item }) => item.txid)).size > MAX_SOURCES) break
  }
  return found
}

const owned = (
  items: readonly (readonly UnspentItem[])[],
  scripts: readonly OwnedScript[]
): readonly Unspent[] =>
  items.flatMap((some, at) => some.map(item => ({ item, owner: scripts[at] as OwnedScript })))

const listUnspent = async (
  { pool }: ForeignCoinSource,
  scripts: readonly OwnedScript[]
): Promise<readonly Unspent[]> => {
  const replies = await Promise.all(
    pool.callMany(
      scripts.map(({ script }) => ({
        method: 'blockchain.scripthash.listunspent',
        params: [scriptHashOf(script)]
      }))
    )
  ).catch(error => {
    // Electrum Personal Server knows the scripts of its owner alone.
    if (error instanceof ElectrumRefusal && (error.code === NO_METHOD || NO_METHOD_WORDS.test(error.message)))
      throw new WalletError('NOT_SUPPORTED', {
        what: 'finding the coins of a foreign key with this server, which knows those of its owner alone; name another server of Electrum or Esplora, or a node of your own'
      })
    throw error
  })
  return owned(replies.map(readUnspent), scripts)
}

const NO_METHOD_WORDS =
  /(?:un(?:known|supported)|no such) (?:method|command|request)|unsupported|method not found/i
const MAX_SOURCES = 5000
/** Questions of one round trip. */
const BATCH = 50

/** What coins are worth (pure). */
export const sumOf = (coins: readonly Pick<ForeignCoin, 'value'>[]): bigint =>
  coins.reduce((sum, { value }) => sum + value, 0n)

const readTx = (bytes: Uint8Array): ParsedTx | undefined => {
  try {
    return parseRawTx(bytes)
  } catch {
    return undefined
  }
}

const coinOf = ({ txid, vout, height }: UnspentItem, owner: OwnedScript, tx: ParsedTx): ForeignCoin => {
  const output = tx.outputs[vout]
  if (output === undefined || hexOf(output.script) !== hexOf(owner.script))
    throw new ElectrumFault('The server named a coin of another script')
  const { isCoinbase, isPegOut } = tx
  return { ...owner, txid, vout, value: output.value, height: Math.max(0, height), isCoinbase, isPegOut }
}
