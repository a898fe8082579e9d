import { RawTx, Script } from '@scure/btc-signer'
import {
  compact,
  type EngineTransaction,
  type NativeAmount,
  type SpendInfo,
  type Txid,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { parseAddress, programOf, redeemScriptOf, writeScript } from '../chain/address.ts'
import { hash160, hexOf, type RawTx as ParsedTx, parseRawTx, scriptHashOf } from '../chain/transaction.ts'
import { ElectrumFault, ElectrumRefusal } from '../electrum/connection.ts'
import type { ElectrumPool } from '../electrum/pool.ts'
import { readUnspent, type UnspentItem } from '../electrum/replies.ts'
import { fetchTxs } from '../electrum/requests.ts'
import { type KeyScript, readWif, type SingleKey } from '../keys/wif.ts'
import { dustOf, isImmature, rateOf, type SpendSource } from './choose-coins.ts'
import { feeOf, feeRateText, outputWeightOf } from './fees.ts'
import { usualFeeOf } from './make-spend.ts'
import { type HashedInput, SignatureHashes, type SignatureKind, sequenceOf, signatureOf } from './sign.ts'

/** What a sweep works with. */
export interface SweepSource extends SpendSource {
  readonly pool: Pick<ElectrumPool, 'callMany' | 'headersAt' | 'standingOf'>
  /** An address of the wallet, which gets everything. */
  readonly address: string
}

/**
 * Makes and signs one transaction that moves what foreign keys hold to an address of the wallet. The server is asked for the coins of
 * every script that a key can own; what each is worth is read from the bytes of the transaction that made it.
 *
 * Incoming coins are left unless the spend says otherwise, and so are those that cost more than they bring, and of very many the
 * smallest; `otherParams.notSwept` is what is left.
 *
 * @throws KEY_INTEGRITY for what is no such key; NOTHING_TO_SWEEP, PENDING_FUNDS, FEE_INVALID; NOT_SUPPORTED for a key of the wallet
 * itself, whose coins can be frozen, or another payee than the wallet; NETWORK
 */
export const sweepKeys = async (
  source: SweepSource,
  spend: SpendInfo,
  keys: readonly string[]
): Promise<EngineTransaction> => {
  const { coin, network, table } = source
  if (spend.tokenId !== null) throw new WalletError('NOT_SUPPORTED', { what: 'tokens' })
  if (spend.spendTargets.length > 0 || (spend.memos ?? []).length > 0)
    throw new WalletError('NOT_SUPPORTED', { what: 'sweeps to another address than its own, or with a memo' })
  if (keys.length === 0 || keys.length > MAX_KEYS)
    throw new WalletError('NOT_SUPPORTED', {
      what: `sweeps of ${keys.length} keys: it takes 1 to ${MAX_KEYS}`
    })
  const rate = rateOf(source, spend)
  const singles: SingleKey[] = []
  try {
    for (const key of keys) singles.push(readWif(coin, network, key))
    const scripts = singles.flatMap(key => key.scripts.map(type => scriptOfKey(key, type)))
    if (scripts.some(({ script }) => table.findScript(script) !== undefined))
      throw new WalletError('NOT_SUPPORTED', { what: 'sweeps of its own keys' })
    const found = await findCoins(source, scripts)
    const plan = planSweep(source, spend, { found, rate })
    return signSweep(source, spend, { ...plan, rate })
  } finally {
    for (const { privateKey } of singles) privateKey.fill(0)
  }
}

const MAX_KEYS = 100

/** A script that a key owns. */
interface OwnedScript {
  readonly key: SingleKey
  readonly type: KeyScript
  readonly script: Uint8Array
}

const scriptOfKey = (key: SingleKey, type: KeyScript): OwnedScript => ({
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
interface ForeignCoin extends OwnedScript {
  readonly txid: Txid
  readonly vout: number
  readonly value: bigint
  /** 0 while unconfirmed. */
  readonly height: number
  readonly isCoinbase: boolean
  readonly isPegOut: boolean
}

/**
 * The coins of scripts by the word of one server: that there are no others only it says. What each is worth stands in the bytes of its transaction,
 * and that a block has it, a proof shows as for the coins of the wallet.
 *
 * @throws ElectrumFault for a coin that is not in the bytes of its transaction, or more than there can be; NOT_SUPPORTED
 */
const findCoins = async (
  source: SweepSource,
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
  { pool }: SweepSource,
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

const sumOf = (coins: readonly ForeignCoin[]): bigint => coins.reduce((sum, { value }) => sum + value, 0n)

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

/** The coins that are swept, what arrives of them, and what is left. */
interface SweepPlan {
  readonly coins: readonly ForeignCoin[]
  readonly amount: bigint
  readonly fee: bigint
  readonly left: bigint
}

const planSweep = (
  source: SweepSource,
  spend: SpendInfo,
  { found, rate }: { readonly found: readonly ForeignCoin[]; readonly rate: bigint }
): SweepPlan => {
  const { coin, height: tip, network, address } = source
  const { noUnconfirmed, maxNetworkFee } = spend
  const immature = found.filter(each => isImmature(coin, each, tip))
  const incoming = found.filter(
    each => each.height === 0 && noUnconfirmed !== false && !immature.includes(each)
  )
  const { program, script } = parseAddress(coin, network, address)
  const useful = found
    .filter(each => !immature.includes(each) && !incoming.includes(each))
    .filter(each => each.value > feeOf(weightOfInput(each) + 1, rate))
    .sort((a, b) => (a.value < b.value ? 1 : a.value > b.value ? -1 : 0))
  let weight = FRAME_WEIGHT + outputWeightOf(script.length)
  const coins: ForeignCoin[] = []
  for (const each of useful) {
    const added = weightOfInput(each) + 1
    if (weight + added > MAX_WEIGHT) break
    coins.push(each)
    weight += added
  }
  const fee = feeOf(weight, rate)
  // A fee just below ten times the usual one passes as usual, and of small coins little would arrive.
  if (maxNetworkFee === undefined && coins.length > 0 && fee > sumOf(coins) / 2n)
    throw new WalletError('FEE_UNUSUAL', {
      ...{ networkFee: String(fee), currencyCode: coin.code },
      usualNetworkFee: String(usualFeeOf(source, spend, { fee, rate }))
    })
  const amount = sumOf(coins) - fee
  if (amount >= dustOf(coin, program.type)) return { coins, amount, fee, left: sumOf(found) - sumOf(coins) }
  if (incoming.length + immature.length > 0)
    throw new WalletError('PENDING_FUNDS', {
      currencyCode: coin.code,
      incoming: String(sumOf(incoming)),
      immature: String(sumOf(immature)),
      reserved: '0'
    })
  throw new WalletError('NOTHING_TO_SWEEP', { currencyCode: coin.code, found: String(sumOf(found)) })
}

/** Version, lock time, marker and flag, and counts of up to three bytes. */
const FRAME_WEIGHT = (4 + 3 + 1 + 4) * 4 + 2
/** The most that nodes relay is 400,000. */
const MAX_WEIGHT = 390_000

const OUTPOINT_AND_SEQUENCE = 36 + 4
/** With its length; at most, because the signer grinds for a short one. */
const SIGNATURE = 1 + 71

const weightOfInput = ({ type, key: { publicKey } }: OwnedScript): number => {
  const pushed = SIGNATURE + 1 + publicKey.length
  const plain = (OUTPOINT_AND_SEQUENCE + 1) * 4
  if (type === 'p2pk') return plain + SIGNATURE * 4
  if (type === 'p2pkh') return plain + pushed * 4
  if (type === 'p2tr') return plain + 1 + 1 + 64
  return plain + (type === 'p2sh-p2wpkh' ? 23 * 4 : 0) + 1 + pushed
}

const signSweep = (
  source: SweepSource,
  spend: SpendInfo,
  { coins, amount, fee, left, rate }: SweepPlan & { readonly rate: bigint }
): EngineTransaction => {
  const { coin, network, address, io } = source
  const { script } = parseAddress(coin, network, address)
  const sequence = sequenceOf(coin)
  const inputs = coins.map((each): HashedInput => ({ ...hashedOf(coin.usesForkId === true, each), sequence }))
  const hashes = new SignatureHashes({ lockTime: 0, inputs, outputs: [{ value: amount, script }] })
  const signed = coins.map((each, at) =>
    unlock(each, signatureOf(coin, hashes.hashOf(at), { ...each.key, isTaproot: each.type === 'p2tr' }))
  )
  const hasWitness = signed.some(({ witness }) => witness.length > 0)
  const bytes = RawTx.encode({
    ...{ version: 2, segwitFlag: hasWitness, lockTime: 0, outputs: [{ amount, script }] },
    inputs: coins.map(({ txid, vout }, at) => ({
      ...{ txid: io.crypto.fromHex(txid), index: vout, sequence },
      finalScriptSig: signed[at]?.finalScriptSig ?? new Uint8Array()
    })),
    ...compact({ witnesses: hasWitness ? signed.map(({ witness }) => witness) : undefined })
  })
  return {
    tokenId: null,
    txid: parseRawTx(bytes).txid,
    date: Math.floor(io.clock.now() / 1000),
    blockHeight: 0,
    nativeAmount: String(amount) as NativeAmount,
    networkFee: String(fee) as NativeAmount,
    usualNetworkFee: String(usualFeeOf(source, spend, { fee, rate })) as NativeAmount,
    ourReceiveAddresses: [address],
    signedTx: hexOf(bytes),
    isSend: false,
    memos: [],
    feeRateUsed: { satPerVByte: feeRateText(rate) },
    spentCoins: coins.map(({ txid, vout }) => `${txid}:${vout}`),
    ...compact({ otherParams: left > 0n ? { notSwept: String(left) } : undefined })
  }
}

/** The script and the witness by which a coin is spent. */
const unlock = (
  { type, key: { publicKey } }: OwnedScript,
  signature: ReturnType<typeof signatureOf>
): { readonly finalScriptSig: Uint8Array; readonly witness: Uint8Array[] } => {
  const none = new Uint8Array()
  if ('tapKeySig' in signature) return { finalScriptSig: none, witness: [signature.tapKeySig] }
  const signed = signature.partialSig.map(([, bytes]) => bytes)
  if (type === 'p2pk') return { finalScriptSig: Script.encode(signed), witness: [] }
  if (type === 'p2pkh') return { finalScriptSig: Script.encode([...signed, publicKey]), witness: [] }
  const finalScriptSig = type === 'p2wpkh' ? none : Script.encode([redeemScriptOf(publicKey)])
  return { finalScriptSig, witness: [...signed, publicKey] }
}

const hashedOf = (
  usesForkId: boolean,
  { txid, vout, value, type, script, key }: ForeignCoin
): Omit<HashedInput, 'sequence'> => {
  const kind: SignatureKind = usesForkId ? 'forkid' : kindOf[type]
  // BIP-143: what a key hash signs looks as if it paid to that hash in the old way.
  const scriptCode = kind === 'segwit' ? writeScript({ type: 'p2pkh', data: hash160(key.publicKey) }) : script
  return { txid, vout, value, script, kind, scriptCode }
}

const kindOf: Readonly<Record<KeyScript, SignatureKind>> = {
  p2pk: 'legacy',
  p2pkh: 'legacy',
  'p2sh-p2wpkh': 'segwit',
  p2wpkh: 'segwit',
  p2tr: 'taproot'
}
