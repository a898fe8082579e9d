import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { base64, utf8 } from '@scure/base'
import { CompactSize, RawTx, RawWitness, Script, Transaction } from '@scure/btc-signer'
import { RawOldTx } from '@scure/btc-signer/script.js'
import { concatBytes, tagSchnorr } from '@scure/btc-signer/utils.js'
import {
  compact,
  type JsonObject,
  type MessageVerdict,
  type SignedMessage,
  WalletError,
  type WalletKeys
} from '../../../kernel/plugin-api.ts'
import { type Program, parseAddress, programOf, redeemScriptOf, writeScript } from './chain/address.ts'
import { hash160, hexOf, sha256Twice } from './chain/transaction.ts'
import type { CoinRow, NetworkRow, Purpose } from './params/coin.ts'
import { Keyring } from './spend/sign.ts'
import { isUsed, type ScriptRecord } from './wallet/scripts.ts'
import type { WalletState } from './wallet/wallet-state.ts'

/** The forms of a message signature: `legacy` is that of the first wallets and of BIP-137, `bip322` that of BIP-322. */
type MessageFormat = 'bip322' | 'legacy'

/**
 * Signs a text with the key of an address of the wallet.
 *
 * `publicAddress` in the options names the address, else it is the one to receive on. `format` chooses the form: `legacy` by
 * default, which the most wallets read, and `bip322` for taproot, which has no other.
 *
 * @throws ADDRESS_INVALID for an address that is not of this wallet; NOT_SUPPORTED, OPTION_INVALID, KEY_INTEGRITY
 */
export const signUtxoMessage = async (
  state: WalletState,
  message: string,
  { privateKeys, otherParams = {} }: { readonly privateKeys: WalletKeys; readonly otherParams?: JsonObject }
): Promise<string> => {
  const { coin, network, io } = state
  const bytes = bytesOf(message)
  const record = await recordOf(state, otherParams.publicAddress)
  const format = formatOf(state, record, otherParams.format)
  const keyring = new Keyring(coin, network, { privateKeys, crypto: io.crypto })
  try {
    const place = { branch: record.branch.id, index: record.index }
    const publicKey = keyring.publicKeyOf(place)
    if (hexOf(programOf(record.branch.purpose, publicKey)) !== hexOf(record.data))
      throw new WalletError('KEY_INTEGRITY', { rule: 'the keys are not those of this wallet' })
    const key = { publicKey, privateKey: keyring.privateKeyOf(place) }
    try {
      return format === 'legacy' ? signLegacy(coin, record, bytes, key) : signBip322(record, bytes, key)
    } finally {
      key.privateKey.fill(0)
    }
  } finally {
    keyring.wipe()
  }
}

/**
 * Verifies the signature of a text by the key of an address, in either form. Needs no key.
 *
 * @returns `inconclusive` for a signature that this version cannot judge: of a script, with a lock time, or of several coins
 * @throws ADDRESS_INVALID, OPTION_INVALID
 */
export const verifyUtxoMessage = (
  coin: CoinRow,
  network: NetworkRow,
  { message, address, signature }: SignedMessage
): MessageVerdict => {
  const { program, script } = parseAddress(coin, network, address)
  const bytes = bytesOf(message)
  const text = signature.trim()
  const prefix = /^(?:smp|ful|pof)/.exec(text)?.[0]
  const data = text.length > MAX_SIGNATURE ? undefined : bytesOfBase64(text.slice(prefix?.length ?? 0))
  if (prefix === undefined && data?.length === LEGACY_LENGTH)
    return verifyLegacy(coin, network, { program, bytes, signature: data })
  if (data === undefined || network.bech32 === undefined) return 'invalid'
  const signed = { program, script, bytes }
  if (prefix === 'pof') return hexOf(data.subarray(0, 5)) === PSBT_MAGIC ? 'inconclusive' : 'invalid'
  return prefix === 'ful' ? verifyFull(signed, data) : verifySimple(signed, data, prefix !== undefined)
}

/** The most characters of a signature that is read. */
const MAX_SIGNATURE = 20_000
const LEGACY_LENGTH = 65
const PSBT_MAGIC = '70736274ff'

const bytesOf = (message: string): Uint8Array => {
  try {
    return utf8.decode(message)
  } catch {
    throw new WalletError('OPTION_INVALID', { option: 'message', rule: 'has half of a letter' })
  }
}

const bytesOfBase64 = (text: string): Uint8Array | undefined => {
  try {
    return base64.decode(text)
  } catch {
    return undefined
  }
}

const recordOf = async (state: WalletState, address: unknown): Promise<ScriptRecord> => {
  if (address === undefined) {
    const main = state.table.mainBranch(0)
    const first = main.records.find(record => !isUsed(record)) ?? main.records[0]
    if (first !== undefined) return first
  }
  if (typeof address !== 'string')
    throw new WalletError('OPTION_INVALID', { option: 'publicAddress', rule: 'must be an address' })
  const found = state.findAddress(address)
  if (found === undefined)
    throw new WalletError('ADDRESS_INVALID', { rule: 'is none of this wallet', fault: 'owner' })
  return found
}

const formatOf = (
  { coin, network }: WalletState,
  { branch: { purpose } }: ScriptRecord,
  wanted: unknown = purpose === 86 ? 'bip322' : 'legacy'
): MessageFormat => {
  if (wanted !== 'legacy' && wanted !== 'bip322')
    throw new WalletError('OPTION_INVALID', { option: 'format', rule: 'must be legacy or bip322' })
  if (wanted === 'legacy' && purpose === 86)
    throw new WalletError('NOT_SUPPORTED', { what: 'legacy messages of taproot addresses: use bip322' })
  if (wanted === 'legacy' && coin.messageMagic === undefined)
    throw new WalletError('NOT_SUPPORTED', { what: `messages of ${coin.displayName}` })
  if (wanted === 'bip322' && network.bech32 === undefined)
    throw new WalletError('NOT_SUPPORTED', { what: `BIP-322: ${coin.displayName} has no segwit` })
  return wanted
}

/** The keys of one address. */
interface KeyPair {
  readonly publicKey: Uint8Array
  readonly privateKey: Uint8Array
}

/** The lowest header byte of each purpose, for compressed keys: BIP-137 tells segwit addresses apart. */
const headerOf: Readonly<Record<Exclude<Purpose, 86>, number>> = { 32: 31, 44: 31, 49: 35, 84: 39 }
const LOWEST_HEADER = 27
const HIGHEST_HEADER = 42

const signLegacy = (
  coin: CoinRow,
  { branch: { purpose } }: ScriptRecord,
  message: Uint8Array,
  { privateKey }: KeyPair
): string => {
  const signed = secp256k1.sign(legacyHash(coin, message), privateKey, {
    prehash: false,
    format: 'recovered'
  })
  const [recovery = 0, ...signature] = signed
  return base64.encode(Uint8Array.of(headerOf[purpose as keyof typeof headerOf] + recovery, ...signature))
}

const verifyLegacy = (
  coin: CoinRow,
  network: NetworkRow,
  {
    program: { type, data },
    bytes: message,
    signature
  }: { readonly program: Program; readonly bytes: Uint8Array; readonly signature: Uint8Array }
): MessageVerdict => {
  const [header = 0] = signature
  if (header < LOWEST_HEADER || header > HIGHEST_HEADER || coin.messageMagic === undefined) return 'invalid'
  const isCompressed = header >= headerOf[44]
  const recovery = (header - LOWEST_HEADER) & 3
  let key: Uint8Array
  try {
    key = secp256k1.Signature.fromBytes(signature.subarray(1), 'compact')
      .addRecoveryBit(recovery)
      .recoverPublicKey(legacyHash(coin, message))
      .toBytes(isCompressed)
  } catch {
    return 'invalid'
  }
  const hash = type === 'p2sh' ? programOf(49, key) : hash160(key)
  // A key guards a script hash only by segwit.
  const isNested = type === 'p2sh' && network.bech32 !== undefined
  const canBe = type === 'p2pkh' || (isCompressed && (isNested || type === 'p2wpkh'))
  return canBe && hexOf(hash) === hexOf(data) ? 'valid' : 'invalid'
}

const legacyHash = ({ messageMagic = '' }: CoinRow, message: Uint8Array): Uint8Array => {
  const magic = utf8.decode(messageMagic)
  const counts = [magic, message].map(({ length }) => CompactSize.encode(BigInt(length)))
  return sha256Twice(concatBytes(counts[0] as Uint8Array, magic, counts[1] as Uint8Array, message))
}

/** BIP-322: a transaction that no chain can have, whose only output pays to the address and whose input names the message. */
const toSpendId = (script: Uint8Array, message: Uint8Array): Uint8Array => {
  const raw = RawOldTx.encode({
    version: 0,
    inputs: [
      {
        txid: new Uint8Array(32),
        index: 0xffffffff,
        finalScriptSig: Uint8Array.of(0, 32, ...tagSchnorr('BIP0322-signed-message', message)),
        sequence: 0
      }
    ],
    outputs: [{ amount: 0n, script }],
    lockTime: 0
  })
  return sha256Twice(raw).reverse()
}

const OP_RETURN = Uint8Array.of(0x6a)

/** The transaction that spends it and is signed. */
const toSign = (
  { script, bytes }: Pick<SignedBy, 'bytes' | 'script'>,
  input: { readonly redeemScript?: Uint8Array; readonly tapInternalKey?: Uint8Array } = {},
  version = 0
): Transaction => {
  const transaction = new Transaction({
    ...{ version, lockTime: 0, lowR: true },
    ...{ allowLegacyWitnessUtxo: true, allowUnknownOutputs: true, disableScriptCheck: true }
  })
  const witnessUtxo = { script, amount: 0n }
  transaction.addInput({ txid: toSpendId(script, bytes), index: 0, sequence: 0, witnessUtxo, ...input })
  transaction.addOutput({ script: OP_RETURN, amount: 0n })
  return transaction
}

const signBip322 = (
  { branch: { purpose }, script }: ScriptRecord,
  bytes: Uint8Array,
  { publicKey, privateKey }: KeyPair
): string => {
  const transaction = toSign(
    { script, bytes },
    compact({
      redeemScript: purpose === 49 ? redeemScriptOf(publicKey) : undefined,
      tapInternalKey: purpose === 86 ? publicKey.slice(1) : undefined
    })
  )
  transaction.signIdx(privateKey, 0)
  transaction.finalize()
  const { finalScriptWitness = [] } = transaction.getInput(0)
  // What is not in the witness has no place in the simple form.
  return purpose === 84 || purpose === 86
    ? `smp${base64.encode(RawWitness.encode(finalScriptWitness))}`
    : `ful${base64.encode(transaction.extract())}`
}

/** The address and the text that a signature is of. */
interface SignedBy {
  readonly program: Program
  readonly script: Uint8Array
  readonly bytes: Uint8Array
}

/** `isPrefixed`: of BIP-322 since it has versions; without, also nested segwit was written in this form. */
const verifySimple = (signed: SignedBy, data: Uint8Array, isPrefixed: boolean): MessageVerdict => {
  let witness: readonly Uint8Array[]
  try {
    witness = RawWitness.decode(data)
  } catch {
    return 'invalid'
  }
  const { type } = signed.program
  if (type === 'p2pkh' || (type === 'p2sh' && isPrefixed)) return 'invalid'
  const [, publicKey = NOTHING] = witness
  const redeemScript = type === 'p2sh' ? redeemScriptOf(publicKey) : undefined
  return verifyInput(signed, {
    witness,
    pushed: redeemScript === undefined ? [] : [redeemScript],
    version: 0
  })
}

const verifyFull = (signed: SignedBy, data: Uint8Array): MessageVerdict => {
  let read: ReturnType<typeof RawTx.decode>
  let parts: readonly unknown[]
  try {
    read = RawTx.decode(data)
    const scriptSig = read.inputs[0]?.finalScriptSig ?? NOTHING
    const script = Script.decode(scriptSig)
    // One thing is pushed in one way, which is the shortest.
    if (hexOf(Script.encode(script)) !== hexOf(scriptSig)) return 'invalid'
    parts = script
  } catch {
    return 'invalid'
  }
  const { version, lockTime, inputs, outputs, witnesses = [] } = read
  const [input] = inputs
  const [output, ...others] = outputs
  const isOfMessage =
    input !== undefined &&
    input.index === 0 &&
    hexOf(input.txid) === hexOf(toSpendId(signed.script, signed.bytes)) &&
    output?.amount === 0n &&
    hexOf(output.script) === hexOf(OP_RETURN) &&
    others.length === 0
  if (!isOfMessage) return 'invalid'
  const isPlain = inputs.length === 1 && lockTime === 0 && input.sequence === 0
  if ((version !== 0 && version !== 2) || !isPlain) return 'inconclusive'
  const pushed = parts.filter((part): part is Uint8Array => part instanceof Uint8Array)
  // Numbers and the like are of another script than that of one key.
  if (pushed.length !== parts.length) return signed.program.type === 'p2sh' ? 'inconclusive' : 'invalid'
  return verifyInput(signed, { witness: witnesses[0] ?? [], pushed, version })
}

const NOTHING = new Uint8Array(0)

/** What an input has for its signature: the witness, and what its script pushes. */
interface InputProof {
  readonly witness: readonly Uint8Array[]
  readonly pushed: readonly Uint8Array[]
  readonly version: number
}

const verifyInput = (signed: SignedBy, { witness, pushed, version }: InputProof): MessageVerdict => {
  const { type, data } = signed.program
  if (type === 'p2tr') return pushed.length > 0 ? 'invalid' : verifyTaproot(signed, witness, version)
  if (type === 'p2wsh') return 'inconclusive'
  const [proof, others] = type === 'p2pkh' ? [pushed, witness] : [witness, pushed]
  const [signature, publicKey] = proof
  if (type === 'p2sh' && !isKeyProgram(others)) return 'inconclusive'
  if (signature === undefined || publicKey === undefined || proof.length !== 2) return 'invalid'
  // Of one key and one hash type; a witness program takes no uncompressed key.
  if (publicKey.length !== COMPRESSED && type !== 'p2pkh') return 'invalid'
  if (signature.at(-1) !== SIGHASH_ALL) return 'invalid'
  const hash = type === 'p2sh' ? programOf(49, publicKey) : hash160(publicKey)
  if (hexOf(hash) !== hexOf(data)) return 'invalid'
  if (others.length !== (type === 'p2sh' ? 1 : 0)) return 'invalid'
  if (type === 'p2sh' && hexOf(others[0] ?? NOTHING) !== hexOf(redeemScriptOf(publicKey))) return 'invalid'
  const digest = type === 'p2pkh' ? oldDigest(signed, version) : segwitDigest(signed, publicKey, version)
  return isSignedBy(publicKey, digest, signature.subarray(0, -1)) ? 'valid' : 'invalid'
}

const COMPRESSED = 33
const SIGHASH_ALL = 1

/** Returns true if the one script that is pushed is that of a single segwit key. */
const isKeyProgram = ([script = NOTHING]: readonly Uint8Array[]): boolean =>
  script.length === 22 && script[0] === 0 && script[1] === 20

const isSignedBy = (publicKey: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean => {
  try {
    return secp256k1.verify(signature, digest, publicKey, { prehash: false, format: 'der', lowS: true })
  } catch {
    return false
  }
}

const oldDigest = ({ script, bytes }: SignedBy, version: number): Uint8Array => {
  const raw = RawOldTx.encode({
    version,
    inputs: [{ txid: toSpendId(script, bytes), index: 0, finalScriptSig: script, sequence: 0 }],
    outputs: [{ amount: 0n, script: OP_RETURN }],
    lockTime: 0
  })
  return sha256Twice(concatBytes(raw, Uint8Array.of(SIGHASH_ALL, 0, 0, 0)))
}

const segwitDigest = (signed: SignedBy, publicKey: Uint8Array, version: number): Uint8Array =>
  toSign(signed, {}, version).preimageWitnessV0(
    0,
    writeScript({ type: 'p2pkh', data: hash160(publicKey) }),
    SIGHASH_ALL,
    0n
  )

const verifyTaproot = (
  signed: SignedBy,
  [signature = NOTHING, ...others]: readonly Uint8Array[],
  version: number
): MessageVerdict => {
  // A script and its proof, or an annex.
  if (others.length > 0) return 'inconclusive'
  const hashType = signature[64] ?? 0
  if (signature.length !== 64 && !(signature.length === 65 && hashType === SIGHASH_ALL)) return 'invalid'
  const digest = toSign(signed, {}, version).preimageWitnessV1(0, [signed.script], hashType, [0n])
  try {
    const isValid = schnorr.verify(signature.subarray(0, 64), digest, signed.program.data)
    return isValid ? 'valid' : 'invalid'
  } catch {
    return 'invalid'
  }
}
