import { type Txid, WalletError } from '../../../../kernel/plugin-api.ts'
import { programOf, writeScript } from '../chain/address.ts'
import { hexOf, type RawTx as ParsedTx, parseRawTx, scriptHashOf } from '../chain/transaction.ts'
import { ElectrumFault, ElectrumRefusal } from '../electrum/connection.ts'
import type { ElectrumPool } from '../electrum/pool.ts'
import { readUnspent, type UnspentItem } from '../electrum/replies.ts'
import { fetchTxs } from '../electrum/requests.ts'
import type { Witness, WitnessLife } from '../electrum/witness.ts'
import type { KeyScript, SingleKey } from '../keys/wif.ts'
import type { SpendSource } from './choose-coins.ts'

/** What the coins of foreign keys are looked up with. */
export interface ForeignCoinSource extends Pick<SpendSource, 'coin' | 'io'> {
  readonly pool: Pick<ElectrumPool, 'callMany' | 'headersAt' | 'serverUrl' | 'standingOf' | 'tip'>
  /** Asks a second server; absent where the user named one. */
  readonly witness: Witness | undefined
  readonly life: WitnessLife
}

/**
 * What a second server says of the same scripts. `alone`: none was named; `silent`: none answers. Only coins in blocks differ: what is
 * unconfirmed reaches servers one after another.
 */
export interface SecondWord {
  readonly word: 'agrees' | 'alone' | 'differs' | 'silent'
  readonly server?: string
  /** How many of the coins that were found the second server does not show. */
  readonly onlyHere?: number
  /** How many coins only the second server shows. */
  readonly onlyThere?: number
}

/** Compares the coins that one server shows of scripts with those of a second one. */
export const compareCoins = async (
  { pool, witness, life }: ForeignCoinSource,
  scripts: readonly OwnedScript[],
  found: readonly ForeignCoin[]
): Promise<SecondWord> => {
  if (witness === undefined) return { word: 'alone' }
  const scripthashes = scripts.map(({ script }) => scriptHashOf(script))
  const query = { life, skip: 0, scripthashes, heights: [], wantsCoins: true }
  const testimony = await witness(pool.serverUrl, query)
  if (testimony === undefined) return { word: 'silent' }
  const { unspent, server } = testimony
  const there = new Map(unspent.map(item => [`${item.txid}:${item.vout}`, item]))
  const here = new Set(found.map(({ txid, vout }) => `${txid}:${vout}`))
  const isSame = ({ txid, vout, height }: ForeignCoin): boolean =>
    height === 0 || Math.max(0, there.get(`${txid}:${vout}`)?.height ?? 0) === height
  const onlyHere = found.filter(coin => !isSame(coin)).length
  // What is above the tip of the first server it will show, too.
  const tip = pool.tip?.height ?? 0
  const onlyThere = unspent.filter(
    ({ txid, vout, height }) => height > 0 && height <= tip && !here.has(`${txid}:${vout}`)
  ).length
  return { word: onlyHere + onlyThere === 0 ? 'agrees' : 'differs', server, onlyHere, onlyThere }
}

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
  for (let from = 0; from < scripts.length; from += BATCH)
    for (const found of await listUnspent(source, scripts.slice(from, from + BATCH))) {
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
    // A node has no index of scripts, and Electrum Personal Server knows those of its owner alone.
    if (error instanceof ElectrumRefusal && error.code === NO_METHOD)
      throw new WalletError('NOT_SUPPORTED', {
        what: 'finding the coins of a foreign key with a node of your own, which has no index; name a server of Electrum or Esplora'
      })
    throw error
  })
  return replies.flatMap((reply, at) =>
    readUnspent(reply).map(item => ({ item, owner: scripts[at] as OwnedScript }))
  )
}

const NO_METHOD = -32601
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
