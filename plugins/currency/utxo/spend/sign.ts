import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { HDKey } from '@scure/bip32'
import { Transaction } from '@scure/btc-signer'
import { signECDSA, signSchnorr, taprootTweakPrivKey } from '@scure/btc-signer/utils.js'
import {
  type CryptoPort,
  compact,
  type EngineTransaction,
  makeYielder,
  type SigningOptions,
  type Txid,
  WalletError,
  type WalletKeys
} from '../../../../kernel/plugin-api.ts'
import { parseAddress, programOf, redeemScriptOf, writeScript } from '../chain/address.ts'
import { hash160, hexOf, parseRawTx, readMemo, sha256Twice } from '../chain/transaction.ts'
import { privateAccountOf } from '../keys/keys.ts'
import type { CoinRow, NetworkRow, Purpose } from '../params/coin.ts'
import type { OwnOutput } from '../wallet/ledger.ts'
import type { ScriptRecord } from '../wallet/scripts.ts'
import type { WalletContext } from '../wallet/wallet-state.ts'
import {
  type Draft,
  type DraftInput,
  type DraftOutput,
  feeOfDraft,
  isPaid,
  readDraft,
  worthOf
} from './draft.ts'

/**
 * Signs a draft of this wallet.
 *
 * Every input must be a coin of ours with the value the draft says, every derived key must fit its script, and the
 * signed bytes must have exactly the draft's outputs; anything else is refused before anything leaves.
 *
 * @throws SIGN_REFUSED, SIGN_STOPPED, KEY_INTEGRITY
 */
export const signUtxoDraft = async (
  wallet: WalletContext,
  transaction: EngineTransaction,
  { privateKeys, signal, onProgress }: SigningOptions & { readonly privateKeys: WalletKeys }
): Promise<EngineTransaction> => {
  const draft = readDraft(wallet.coin.pluginId, transaction.otherParams?.draft)
  checkMoney(wallet, draft, transaction)
  const unsigned = new Transaction({
    lockTime: draft.lockTime,
    allowLegacyWitnessUtxo: true,
    // A memo is of no kind that can be spent; what is signed is compared with the draft below.
    allowUnknownOutputs: true
  })
  const keyring = new Keyring(wallet.coin, wallet.network, { privateKeys, crypto: wallet.io.crypto })
  const yielder = makeYielder(wallet.io.clock)
  let done = 0
  /** After one of two steps an input: its keys, and its signature. */
  const goOn = async (): Promise<void> => {
    done += 1
    const turn = yielder()
    if (turn === undefined) return
    onProgress?.(done / (2 * draft.inputs.length))
    await turn
    if (signal?.aborted === true) throw new WalletError('SIGN_STOPPED', {})
  }
  try {
    const inputs: HashedInput[] = []
    for (const input of draft.inputs) {
      inputs.push(addInput(wallet, unsigned, { input, keyring }))
      await goOn()
    }
    const outputs = draft.outputs.map(output => ({
      script: scriptOf(wallet, output),
      value: worthOf(output)
    }))
    for (const { script, value } of outputs) unsigned.addOutput({ script, amount: value })
    const hashes = new SignatureHashes({ lockTime: draft.lockTime, inputs, outputs })
    for (const [at, input] of draft.inputs.entries()) {
      const key = {
        privateKey: keyring.privateKeyOf(input),
        publicKey: keyring.publicKeyOf(input),
        isTaproot: purposeOf(input) === 86
      }
      try {
        unsigned.updateInput(at, signatureOf(wallet.coin, hashes.hashOf(at), key), true)
      } finally {
        key.privateKey.fill(0)
      }
      await goOn()
    }
  } finally {
    keyring.wipe()
  }
  unsigned.finalize()
  const bytes = unsigned.extract()
  const txid = checkResult(wallet, draft, bytes)
  return { ...transaction, txid, signedTx: hexOf(bytes) }
}

// Either makes the lock time count; the lower one also signals replaceability (BIP-125).
const REPLACEABLE = 0xfffffffd
const FINAL = 0xfffffffe

/** The sequence of each input: it signals replaceability where nodes replace. */
export const sequenceOf = ({ isReplaceable }: Pick<CoinRow, 'isReplaceable'>): number =>
  isReplaceable ? REPLACEABLE : FINAL

const ABSURD_FEE = 1_000_000n

const refuse = ({ coin }: WalletContext, reason: string): WalletError =>
  new WalletError('SIGN_REFUSED', { pluginId: coin.pluginId, reason, refusedBy: 'currency plugin' })

const scriptOf = (wallet: WalletContext, output: DraftOutput): Uint8Array => {
  if (isPaid(output)) return parseAddress(wallet.coin, wallet.network, output.address).script
  return wallet.io.crypto.fromHex(output.script)
}

const recordOf = (wallet: WalletContext, { branch, index }: DraftInput): ScriptRecord => {
  const record = wallet.table.branchById(branch)?.records[index]
  if (record === undefined) throw refuse(wallet, 'a coin is not of this wallet')
  return record
}

const checkMoney = (wallet: WalletContext, draft: Draft, transaction: EngineTransaction): void => {
  for (const { txid, vout, value, branch, index } of draft.inputs) {
    // Ours can be replaced: a dearer second payment of the same coin would silently undo the first.
    if (isTaken(wallet, { txid, vout }, { replaced: draft.replaces }))
      throw refuse(wallet, 'a coin has been spent since the draft was made')
    if (isFrozen(wallet, { txid, vout }, draft.replaces))
      throw refuse(wallet, 'a coin has been frozen since the draft was made')
    const output = findOutput(wallet, { txid, vout })
    if (output?.value !== value) throw refuse(wallet, 'a coin has another value than the draft says')
    if (output.record.branch.id !== branch || output.record.index !== index) {
      throw refuse(wallet, 'a coin is of another key than the draft says')
    }
  }
  const { replaces } = draft
  if (replaces !== undefined && !draft.inputs.some(coin => isCoinOf(wallet, coin, replaces)))
    throw refuse(wallet, 'it spends no coin of the payment that it is to replace')
  // A height is mostly what a server says, and a payment that was refused today could be mined then.
  if (draft.lockTime > (wallet.safeHeight ?? 0)) throw refuse(wallet, 'the draft is not to be mined at once')
  const fee = feeOfDraft(draft)
  const spent = draft.inputs.reduce((sum, { value }) => sum + value, 0n)
  if (fee < 0n || String(fee) !== transaction.networkFee)
    throw refuse(wallet, 'the fee is not the one that was shown')
  if (fee > ABSURD_FEE && fee > spent / 2n) throw refuse(wallet, 'the fee is more than half of the coins')
  const shown = readMemo(transaction.memos)
  const memos = draft.outputs.flatMap(output => (isPaid(output) ? [] : [output.script]))
  const wanted = shown === undefined ? [] : [hexOf(shown.script)]
  if (memos.length !== wanted.length || memos[0] !== wanted[0]) {
    throw refuse(wallet, 'the memo is not the one that was shown')
  }
  for (const output of draft.outputs) {
    const isChange = isPaid(output) && output.isChange
    if (isChange && wallet.table.findScript(scriptOf(wallet, output)) === undefined) {
      throw refuse(wallet, 'the change does not come back to this wallet')
    }
  }
}

const addInput = (
  wallet: WalletContext,
  transaction: Transaction,
  { input, keyring }: { readonly input: DraftInput; readonly keyring: Keyring }
): HashedInput => {
  const record = recordOf(wallet, input)
  const { purpose } = record.branch
  const publicKey = keyring.publicKeyOf(input)
  if (hexOf(programOf(purpose, publicKey)) !== hexOf(record.data)) {
    throw refuse(wallet, 'the keys are not those of this wallet')
  }
  const sequence = sequenceOf(wallet.coin)
  transaction.addInput({
    txid: input.txid,
    index: input.vout,
    sequence,
    witnessUtxo: { script: record.script, amount: input.value },
    ...compact({
      redeemScript: purpose === 49 ? redeemScriptOf(publicKey) : undefined,
      tapInternalKey: purpose === 86 ? publicKey.slice(1) : undefined
    })
  })
  const { txid, vout, value } = input
  const kind = wallet.coin.usesForkId === true ? 'forkid' : kindOf[purpose]
  const { script } = record
  // BIP-143: what a key hash signs looks as if it paid to that hash in the old way.
  const scriptCode = kind === 'segwit' ? writeScript({ type: 'p2pkh', data: hash160(publicKey) }) : script
  return { txid, vout, value, sequence, script, kind, scriptCode }
}

const kindOf: Readonly<Record<Purpose, SignatureKind>> = {
  32: 'legacy',
  44: 'legacy',
  49: 'segwit',
  84: 'segwit',
  86: 'taproot'
}

/** The key that signs for one input. */
interface InputKey {
  readonly privateKey: Uint8Array
  readonly publicKey: Uint8Array
  readonly isTaproot: boolean
}

/** The signature of one input, which the library puts into its place. */
export const signatureOf = (
  coin: CoinRow,
  hash: Uint8Array,
  { privateKey, publicKey, isTaproot }: InputKey
): { tapKeySig: Uint8Array } | { partialSig: [Uint8Array, Uint8Array][] } => {
  if (isTaproot) {
    const tweaked = taprootTweakPrivKey(privateKey)
    const tapKeySig = signSchnorr(hash, tweaked)
    tweaked.fill(0)
    return { tapKeySig }
  }
  return { partialSig: [[publicKey, Uint8Array.of(...signECDSA(hash, privateKey, true), hashTypeOf(coin))]] }
}

const SIGHASH_ALL = 1
const SIGHASH_FORKID = SIGHASH_ALL | 0x40

const hashTypeOf = ({ usesForkId }: Pick<CoinRow, 'usesForkId'>): number =>
  usesForkId === true ? SIGHASH_FORKID : SIGHASH_ALL

const purposeOf = ({ branch }: KeyPath): Purpose => Number(branch.split('/')[0]) as Purpose

const checkResult = (wallet: WalletContext, draft: Draft, bytes: Uint8Array): string => {
  const { txid, outputs, inputs } = parseRawTx(bytes)
  const isSame =
    outputs.length === draft.outputs.length &&
    inputs.length === draft.inputs.length &&
    draft.outputs.every((wanted, at) => {
      const output = outputs[at]
      return output?.value === worthOf(wanted) && hexOf(output.script) === hexOf(scriptOf(wallet, wanted))
    })
  if (!isSame) throw refuse(wallet, 'the signed bytes are not the draft')
  return txid
}

/** The path of a key below its account. */
type KeyPath = Pick<DraftInput, 'branch' | 'index'>

/** Derives the keys of one signature run and forgets them together. */
export class Keyring {
  readonly #coin: CoinRow
  readonly #network: NetworkRow
  readonly #secret: { readonly privateKeys: WalletKeys; readonly crypto: CryptoPort }
  readonly #accounts = new Map<Purpose, HDKey>()
  readonly #branches = new Map<string, HDKey>()
  readonly #keys = new Map<string, HDKey>()

  constructor(coin: CoinRow, network: NetworkRow, secret: { privateKeys: WalletKeys; crypto: CryptoPort }) {
    this.#coin = coin
    this.#network = network
    this.#secret = secret
  }

  publicKeyOf(input: KeyPath): Uint8Array {
    return this.#keyOf(input).publicKey ?? new Uint8Array(33)
  }

  privateKeyOf(input: KeyPath): Uint8Array {
    return this.#keyOf(input).privateKey ?? new Uint8Array(32)
  }

  wipe(): void {
    for (const keys of [this.#keys, this.#branches, this.#accounts]) {
      for (const key of keys.values()) key.wipePrivateData()
      keys.clear()
    }
  }

  #keyOf(input: KeyPath): HDKey {
    const { branch, index } = input
    const path = `${branch}/${index}`
    const known = this.#keys.get(path)
    if (known !== undefined) return known
    const key = this.#branchOf(branch, purposeOf(input)).deriveChild(index)
    this.#keys.set(path, key)
    return key
  }

  #branchOf(branch: string, purpose: Purpose): HDKey {
    const known = this.#branches.get(branch)
    if (known !== undefined) return known
    const { privateKeys, crypto } = this.#secret
    const account =
      this.#accounts.get(purpose) ??
      privateAccountOf(this.#coin, this.#network, { keys: privateKeys, crypto, purpose })
    this.#accounts.set(purpose, account)
    const key = account.deriveChild(Number(branch.split('/')[1]))
    this.#branches.set(branch, key)
    return key
  }
}

/** An output by the transaction that made it. */
interface Outpoint {
  readonly txid: Txid
  readonly vout: number
}

/** Finds an output of ours, by the transaction that made it. */
export const findOutput = ({ ledger }: WalletContext, { txid, vout }: Outpoint): OwnOutput | undefined =>
  ledger.find(txid)?.ours.find(output => output.vout === vout)

/** Whether a signed payment spends an output. */
const isCoinOf = ({ reserved }: WalletContext, { txid, vout }: Outpoint, holder: Txid): boolean =>
  reserved.find(holder)?.spends.includes(`${txid}:${vout}`) === true

/** Returns true for a frozen coin, unless the payment that is to be replaced spends it already. */
export const isFrozen = (wallet: WalletContext, coin: Outpoint, replaced: Txid | undefined): boolean =>
  wallet.frozen.has(`${coin.txid}:${coin.vout}`) &&
  (replaced === undefined || !isCoinOf(wallet, coin, replaced))

/**
 * Whether a payment in force has used an output or a signed one keeps it, other than the one with the txid `except`.
 * `replaced`: the payment whose place is to be taken; its coins are for that.
 */
export const isTaken = (
  wallet: WalletContext,
  coin: Outpoint,
  { except, replaced }: { readonly except?: string; readonly replaced?: Txid | undefined }
): boolean => {
  if (replaced !== undefined && isCoinOf(wallet, coin, replaced)) return false
  const outpoint = `${coin.txid}:${coin.vout}`
  const { ledger, reserved } = wallet
  return ledger.isSpent(outpoint, except) || reserved.isReserved(ledger, outpoint, except)
}

/**
 * How the output that an input spends is signed for: before segwit, BIP-143, the key path of BIP-341, or BIP-143 with a
 * hash type that no other chain takes (Bitcoin Cash).
 */
export type SignatureKind = 'legacy' | 'segwit' | 'taproot' | 'forkid'

/** An input as its signature sees it. */
export interface HashedInput {
  readonly txid: Txid
  readonly vout: number
  readonly sequence: number
  /** What the spent output is worth, in native units. */
  readonly value: bigint
  /** The script of the spent output. */
  readonly script: Uint8Array
  readonly kind: SignatureKind
  /** The script that is signed: that of the output, or for segwit the P2PKH script of its key hash. */
  readonly scriptCode: Uint8Array
}

/** An unsigned transaction. Its version is 2. */
export interface HashedTransaction {
  readonly lockTime: number
  readonly inputs: readonly HashedInput[]
  readonly outputs: readonly { readonly value: bigint; readonly script: Uint8Array }[]
}

/**
 * The 32 bytes that each input signs, with SIGHASH_ALL (taproot: SIGHASH_DEFAULT).
 *
 * What all inputs have in common is hashed once. @scure/btc-signer hashes it for each input, so that 1,000 inputs take
 * 20 times as long as 100; a test compares the hashes with its own.
 */
export class SignatureHashes {
  readonly #inputs: readonly HashedInput[]
  readonly #lockTime: Uint8Array
  readonly #outpoints: readonly Uint8Array[]
  readonly #sequences: readonly Uint8Array[]
  readonly #outputs: Uint8Array
  readonly #outputCount: Uint8Array
  #shared: { outpoints: Uint8Array; sequences: Uint8Array; outputs: Uint8Array } | undefined
  #spent: { values: Uint8Array; scripts: Uint8Array } | undefined

  constructor({ lockTime, inputs, outputs }: HashedTransaction) {
    this.#inputs = inputs
    this.#lockTime = uint32(lockTime)
    this.#outpoints = inputs.map(({ txid, vout }) => joined([reversedHex(txid), uint32(vout)]))
    this.#sequences = inputs.map(({ sequence }) => uint32(sequence))
    this.#outputs = joined(
      outputs.flatMap(({ value, script }) => [uint64(value), count(script.length), script])
    )
    this.#outputCount = count(outputs.length)
  }

  /** The hash that the input at this place signs. */
  hashOf(at: number): Uint8Array {
    const input = this.#inputs[at]
    if (input === undefined) throw new RangeError(`There is no input ${at}`)
    if (input.kind === 'legacy') return this.#legacyHash(at, input)
    return input.kind === 'taproot' ? this.#taprootHash(at) : this.#segwitHash(at, input)
  }

  /** The whole transaction, with the script code in this input and nothing in the others. */
  #legacyHash(at: number, { scriptCode }: HashedInput): Uint8Array {
    const inputs = this.#inputs.flatMap((_, place) => [
      this.#outpoints[place] as Uint8Array,
      ...(place === at ? [count(scriptCode.length), scriptCode] : [NOTHING]),
      this.#sequences[place] as Uint8Array
    ])
    const counts = [count(this.#inputs.length), this.#outputCount] as const
    return sha256Twice(
      joined([VERSION, counts[0], ...inputs, counts[1], this.#outputs, this.#lockTime, uint32(SIGHASH_ALL)])
    )
  }

  /** BIP-143. */
  #segwitHash(at: number, { kind, scriptCode, value }: HashedInput): Uint8Array {
    const { outpoints, sequences, outputs } = this.#sharedHashes()
    return sha256Twice(
      joined([
        ...[VERSION, sha256(outpoints), sha256(sequences), this.#outpoints[at] as Uint8Array],
        ...[count(scriptCode.length), scriptCode, uint64(value), this.#sequences[at] as Uint8Array],
        ...[sha256(outputs), this.#lockTime, uint32(hashTypeOf({ usesForkId: kind === 'forkid' }))]
      ])
    )
  }

  /** BIP-341: epoch, hash type, spend type 0 (key path, no annex). */
  #taprootHash(at: number): Uint8Array {
    const { outpoints, sequences, outputs } = this.#sharedHashes()
    this.#spent ??= {
      values: sha256(joined(this.#inputs.map(({ value }) => uint64(value)))),
      scripts: sha256(joined(this.#inputs.flatMap(({ script }) => [count(script.length), script])))
    }
    const { values, scripts } = this.#spent
    const begin = [TAP_SIGHASH, TAP_SIGHASH, NOTHING, NOTHING, VERSION, this.#lockTime]
    return sha256(joined([...begin, outpoints, values, scripts, sequences, outputs, NOTHING, uint32(at)]))
  }

  /** Single SHA-256 of each part; BIP-143 hashes them a second time. */
  #sharedHashes(): { outpoints: Uint8Array; sequences: Uint8Array; outputs: Uint8Array } {
    this.#shared ??= {
      outpoints: sha256(joined(this.#outpoints)),
      sequences: sha256(joined(this.#sequences)),
      outputs: sha256(this.#outputs)
    }
    return this.#shared
  }
}
const NOTHING = Uint8Array.of(0)
const VERSION = Uint8Array.of(2, 0, 0, 0)
const TAP_SIGHASH = sha256(utf8ToBytes('TapSighash'))

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

const uint32 = (value: number): Uint8Array =>
  Uint8Array.of(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24)

const uint64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, value, true)
  return bytes
}

/** A compact size. No transaction that fits a block counts more than 16 bits, but scripts and tests may. */
const count = (value: number): Uint8Array => {
  if (value < 0xfd) return Uint8Array.of(value)
  if (value <= 0xffff) return Uint8Array.of(0xfd, value & 0xff, value >>> 8)
  return joined([Uint8Array.of(0xfe), uint32(value)])
}

const reversedHex = (hex: string): Uint8Array => {
  const bytes = new Uint8Array(hex.length / 2)
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[bytes.length - 1 - at] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16)
  }
  return bytes
}
