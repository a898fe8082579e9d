import { RawTx, Script } from '@scure/btc-signer'
import {
  compact,
  type EngineTransaction,
  type Json,
  type KeptCoins,
  type NativeAmount,
  type SpendInfo,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { parseAddress, redeemScriptOf, writeScript } from '../chain/address.ts'
import { hash160, hexOf, parseRawTx } from '../chain/transaction.ts'
import { type KeyScript, readWif, type SingleKey } from '../keys/wif.ts'
import { dustOf, isImmature, rateOf, type SpendSource } from './choose-coins.ts'
import { feeOf, feeRateText, outputWeightOf } from './fees.ts'
import {
  compareCoins,
  type ForeignCoin,
  type ForeignCoinSource,
  findCoins,
  type OwnedScript,
  type SecondWord,
  scriptOfKey,
  sumOf
} from './foreign-coins.ts'
import { usualFeeOf } from './make-spend.ts'
import { type HashedInput, SignatureHashes, type SignatureKind, sequenceOf, signatureOf } from './sign.ts'

/** The wallet that keys are swept into. */
type SweepContext = Pick<SpendSource, 'coin' | 'io' | 'network' | 'table'>

/** What a sweep works with. */
export interface SweepSource extends SpendSource, ForeignCoinSource {
  /** An address of the wallet, which gets everything. */
  readonly address: string
  /** Coins that other wallets of the account keep back. */
  readonly kept: KeptCoins
}

/**
 * Drafts one transaction that moves what foreign keys hold to an address of the wallet; no key signs yet. The server is asked for the coins
 * of every script that a key can own; what each is worth is read from the bytes of the transaction that made it.
 *
 * What another wallet of the account keeps back is left, and so are incoming coins unless the spend says otherwise, those that cost more
 * than they bring, and of very many the smallest; `otherParams.servers` has what a second server says ({@link SecondWord}), and
 * `otherParams.leftOut` by {@link LeftReason} what they are worth.
 *
 * @throws KEY_INTEGRITY for what is no such key; NOTHING_TO_SWEEP, COINS_DISPUTED, PENDING_FUNDS, FEE_INVALID; NOT_SUPPORTED for a key of the wallet
 * itself, whose coins can be frozen, or another payee than the wallet; NETWORK
 */
export const draftSweep = async (
  source: SweepSource,
  spend: SpendInfo,
  keys: readonly string[]
): Promise<EngineTransaction> => {
  if (spend.tokenId !== null) throw new WalletError('NOT_SUPPORTED', { what: 'tokens' })
  if (spend.spendTargets.length > 0 || (spend.memos ?? []).length > 0)
    throw new WalletError('NOT_SUPPORTED', { what: 'sweeps to another address than its own, or with a memo' })
  const rate = rateOf(source, spend)
  return withKeys(source, keys, async scripts => {
    const found = await findCoins(source, scripts)
    const second = await compareCoins(source, scripts, {
      found,
      takesIncoming: spend.noUnconfirmed === false
    })
    return draftOf(source, spend, { ...planSweep(source, spend, { found, rate, second }), rate, second })
  })
}

/**
 * Signs a draft of {@link draftSweep} with its keys.
 *
 * @throws SIGN_REFUSED for what is no such draft, or of another key; KEY_INTEGRITY, NOT_SUPPORTED
 */
export const signSweep = (
  source: SweepContext,
  draft: EngineTransaction,
  keys: readonly string[]
): Promise<EngineTransaction> =>
  withKeys(source, keys, async scripts => {
    const { sweep, ...otherParams } = draft.otherParams ?? {}
    const signedTx = bytesOf(source, readDraft(source, draft, { sweep, scripts }))
    return {
      ...draft,
      ...{ txid: parseRawTx(signedTx).txid, signedTx: hexOf(signedTx), otherParams }
    }
  })

/** Reads keys, and wipes what was read when the task ends. @throws KEY_INTEGRITY, NOT_SUPPORTED */
const withKeys = async <T>(
  { coin, network, table }: SweepContext,
  keys: readonly string[],
  task: (scripts: readonly OwnedScript[]) => Promise<T>
): Promise<T> => {
  if (keys.length === 0 || keys.length > MAX_KEYS)
    throw new WalletError('NOT_SUPPORTED', {
      what: `sweeps of ${keys.length} keys: it takes 1 to ${MAX_KEYS}`
    })
  const singles: SingleKey[] = []
  try {
    for (const key of keys) singles.push(readWif(coin, network, key))
    const scripts = singles.flatMap(key => key.scripts.map(type => scriptOfKey(key, type)))
    if (scripts.some(({ script }) => table.findScript(script) !== undefined))
      throw new WalletError('NOT_SUPPORTED', { what: 'sweeps of its own keys' })
    return await task(scripts)
  } finally {
    for (const { privateKey } of singles) privateKey.fill(0)
  }
}

const MAX_KEYS = 100

/** Why a coin is left: `costly` ones bring less than they cost, and of very many the smallest do not fit. */
type LeftReason = 'costly' | 'doesNotFit' | 'frozen' | 'immature' | 'incoming' | 'reserved'

/** The coins that are swept, what arrives of them, and those that are left. */
interface SweepPlan {
  readonly coins: readonly ForeignCoin[]
  readonly amount: bigint
  readonly fee: bigint
  readonly left: ReadonlyMap<LeftReason, bigint>
}

/** The fee rate, and what a second server says. */
interface RatedWord {
  readonly rate: bigint
  readonly second: SecondWord
}

const planSweep = (
  source: SweepSource,
  spend: SpendInfo,
  { found, rate, second }: { readonly found: readonly ForeignCoin[] } & RatedWord
): SweepPlan => {
  const { coin, network, address } = source
  const { program, script } = parseAddress(coin, network, address)
  const left = new Map<LeftReason, bigint>()
  let weight = FRAME_WEIGHT + outputWeightOf(script.length)
  const coins: ForeignCoin[] = []
  const reasonOf = leftReasonOf(source, spend, rate)
  for (const each of found.toSorted((a, b) => (a.value < b.value ? 1 : a.value > b.value ? -1 : 0))) {
    const added = weightOfInput(each) + 1
    const reason = reasonOf(each) ?? (weight + added > MAX_WEIGHT ? 'doesNotFit' : undefined)
    if (reason !== undefined) {
      left.set(reason, (left.get(reason) ?? 0n) + each.value)
      continue
    }
    coins.push(each)
    weight += added
  }
  const fee = feeOf(weight, rate)
  // A fee just below ten times the usual one passes as usual, and of small coins little would arrive.
  if (spend.maxNetworkFee === undefined && coins.length > 0 && fee > sumOf(coins) / 2n)
    throw new WalletError('FEE_UNUSUAL', {
      ...{ networkFee: String(fee), currencyCode: coin.code },
      usualNetworkFee: String(usualFeeOf(source, spend, { fee, rate }))
    })
  const amount = sumOf(coins) - fee
  if (amount >= dustOf(coin, program.type)) return { coins, amount, fee, left }
  checkSecond(coin.code, second)
  const worth = (reason: LeftReason): string => String(left.get(reason) ?? 0n)
  const waiting = {
    ...{ incoming: worth('incoming'), immature: worth('immature') },
    ...{ reserved: worth('reserved'), frozen: worth('frozen') }
  }
  if (Object.values(waiting).some(value => value !== '0'))
    throw new WalletError('PENDING_FUNDS', { currencyCode: coin.code, ...waiting })
  throw new WalletError('NOTHING_TO_SWEEP', { currencyCode: coin.code, found: String(sumOf(found)) })
}

/** Where two servers are named, none says alone that there is nothing to sweep, or nothing yet. @throws NETWORK, NOT_SUPPORTED, COINS_DISPUTED */
const checkSecond = (currencyCode: string, { word, server = '', onlyThere = 0 }: SecondWord): void => {
  if (word === 'silent')
    throw new WalletError('NETWORK', {
      path: '',
      server: 'a second server, which has to say that there is nothing to sweep'
    })
  if (word === 'unable')
    throw new WalletError('NOT_SUPPORTED', {
      what: `calling keys empty by the word of one server, as ${server} knows no coins of other wallets; name another server of Electrum or Esplora`
    })
  if (onlyThere > 0) throw new WalletError('COINS_DISPUTED', { currencyCode, server, coinCount: onlyThere })
}

const leftReasonOf = (
  { coin, height, kept }: SweepSource,
  { noUnconfirmed }: SpendInfo,
  rate: bigint
): ((each: ForeignCoin) => LeftReason | undefined) => {
  const [frozen, reserved] = [new Set(kept.frozen), new Set(kept.reserved)]
  return each => {
    const outpoint = `${each.txid}:${each.vout}`
    if (reserved.has(outpoint)) return 'reserved'
    if (frozen.has(outpoint)) return 'frozen'
    if (isImmature(coin, each, height)) return 'immature'
    if (each.height === 0 && noUnconfirmed !== false) return 'incoming'
    return each.value > feeOf(weightOfInput(each) + 1, rate) ? undefined : 'costly'
  }
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

const draftOf = (
  source: SweepSource,
  spend: SpendInfo,
  { coins, amount, fee, left, rate, second }: SweepPlan & RatedWord
): EngineTransaction => ({
  tokenId: null,
  txid: '',
  date: Math.floor(source.io.clock.now() / 1000),
  blockHeight: 0,
  nativeAmount: String(amount) as NativeAmount,
  networkFee: String(fee) as NativeAmount,
  usualNetworkFee: String(usualFeeOf(source, spend, { fee, rate })) as NativeAmount,
  ourReceiveAddresses: [source.address],
  signedTx: '',
  isSend: false,
  memos: [],
  feeRateUsed: { satPerVByte: feeRateText(rate) },
  spentCoins: coins.map(({ txid, vout }) => `${txid}:${vout}`),
  otherParams: {
    ...compact({
      leftOut:
        left.size === 0
          ? undefined
          : Object.fromEntries([...left].map(([why, worth]) => [why, String(worth)]))
    }),
    servers: { ...second },
    sweep: coins.map(({ script, value }) => [hexOf(script), String(value)])
  }
})

/** A coin that is signed for. */
type SweptCoin = Pick<ForeignCoin, 'key' | 'script' | 'txid' | 'type' | 'value' | 'vout'>

/** The bytes that a sweep is made of. */
interface SweepBytes {
  readonly coins: readonly SweptCoin[]
  readonly amount: bigint
  readonly script: Uint8Array
}

/** Reads a draft again: it pays the wallet what its coins are worth, less the fee. @throws SIGN_REFUSED */
const readDraft = (
  { coin, network, table }: SweepContext,
  { spentCoins = [], ourReceiveAddresses: [address = ''], nativeAmount, networkFee }: EngineTransaction,
  { sweep, scripts }: { readonly sweep: Json | undefined; readonly scripts: readonly OwnedScript[] }
): SweepBytes => {
  const refuse = (reason: string): WalletError =>
    new WalletError('SIGN_REFUSED', { pluginId: coin.pluginId, reason, refusedBy: 'currency plugin' })
  const owners = new Map(scripts.map(owned => [hexOf(owned.script), owned]))
  if (!Array.isArray(sweep) || sweep.length !== spentCoins.length) throw refuse('it is no draft of a sweep')
  const coins = (sweep as readonly Json[]).map((part, at): SweptCoin => {
    const [script, value] = Array.isArray(part) ? part : []
    const owner = owners.get(String(script))
    const [txid = '', vout = ''] = (spentCoins[at] ?? '').split(':')
    if (owner === undefined) throw refuse('it spends a coin of another key')
    return { ...owner, txid, vout: Number(vout), value: BigInt(String(value)) }
  })
  const { script } = parseAddress(coin, network, address)
  if (table.findScript(script) === undefined) throw refuse('it pays to another wallet')
  if (sumOf(coins) !== BigInt(nativeAmount) + BigInt(networkFee))
    throw refuse('the fee is not the one that was shown')
  return { coins, amount: BigInt(nativeAmount), script }
}

const bytesOf = (
  { coin, io }: Pick<SweepContext, 'coin' | 'io'>,
  { coins, amount, script }: SweepBytes
): Uint8Array => {
  const sequence = sequenceOf(coin)
  const inputs = coins.map((each): HashedInput => ({ ...hashedOf(coin.usesForkId === true, each), sequence }))
  const hashes = new SignatureHashes({ lockTime: 0, inputs, outputs: [{ value: amount, script }] })
  const signed = coins.map((each, at) =>
    unlock(each, signatureOf(coin, hashes.hashOf(at), { ...each.key, isTaproot: each.type === 'p2tr' }))
  )
  const hasWitness = signed.some(({ witness }) => witness.length > 0)
  return RawTx.encode({
    ...{ version: 2, segwitFlag: hasWitness, lockTime: 0, outputs: [{ amount, script }] },
    inputs: coins.map(({ txid, vout }, at) => ({
      ...{ txid: io.crypto.fromHex(txid), index: vout, sequence },
      finalScriptSig: signed[at]?.finalScriptSig ?? new Uint8Array()
    })),
    ...compact({ witnesses: hasWitness ? signed.map(({ witness }) => witness) : undefined })
  })
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
  { txid, vout, value, type, script, key }: SweptCoin
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
