import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { equalBytes, hash160, sha256 } from '@scure/btc-signer/utils.js'
import { WalletError } from '../../kernel/base/errors.ts'
import { type ChainNetwork, POLICY } from './chain-params.ts'
import {
  dustLimitOf,
  isPushOnly,
  isWitnessKind,
  kindOfScript,
  multisigOf,
  pubkeyHashScript,
  pushesOf
} from './script.ts'
import { type Digests, digestsOf, SIGHASH_FORKID } from './signature-digests.ts'
import {
  type ChainCoin,
  type ChainInput,
  type ChainTransaction,
  isCoinbase,
  NO_TXID,
  outpointOf
} from './transaction.ts'

/**
 * Refuses a transaction with the words a Bitcoin node uses.
 *
 * @throws BROADCAST_REFUSED always; `reason` is the node's text, `txid` is empty if the bytes are no transaction
 */
export const refuse = (tx: ChainTransaction | undefined, reason: string): never => {
  throw new WalletError('BROADCAST_REFUSED', { txid: tx?.txid ?? '', reason })
}

/**
 * Checks what can be judged without the chain: shape, sums and standardness, in the order of a node.
 *
 * @throws BROADCAST_REFUSED with the reason of Bitcoin Core (`CheckTransaction`, then `IsStandardTx`)
 */
export const checkTransaction = (tx: ChainTransaction, network: ChainNetwork): void => {
  if (!network.hasSegwit && tx.wtxid !== tx.txid) refuse(undefined, UNREADABLE)
  checkShape(tx, network)
  if (isCoinbase(tx)) refuse(tx, 'coinbase')
  checkStandard(tx, network)
}

/** The words of a node for bytes that are no transaction to it. */
export const UNREADABLE = 'TX decode failed. Make sure the tx has at least one input.'

const checkShape = (tx: ChainTransaction, { maxMoney }: ChainNetwork): void => {
  if (tx.inputs.length === 0) refuse(tx, 'bad-txns-vin-empty')
  if (tx.outputs.length === 0) refuse(tx, 'bad-txns-vout-empty')
  if (tx.baseSize * 4 > 4_000_000) refuse(tx, 'bad-txns-oversize')
  let total = 0n
  for (const { amount } of tx.outputs) {
    if (amount >= 1n << 63n) refuse(tx, 'bad-txns-vout-negative')
    if (amount > maxMoney) refuse(tx, 'bad-txns-vout-toolarge')
    total += amount
  }
  if (total > maxMoney) refuse(tx, 'bad-txns-txouttotal-toolarge')
  const outpoints = new Set(tx.inputs.map(input => outpointOf(input.txid, input.index)))
  if (outpoints.size < tx.inputs.length) refuse(tx, 'bad-txns-inputs-duplicate')
  if (!isCoinbase(tx) && tx.inputs.some(input => input.txid === NO_TXID)) refuse(tx, 'bad-txns-prevout-null')
}

const checkStandard = (tx: ChainTransaction, network: ChainNetwork): void => {
  if (tx.version < 1 || tx.version > 2) refuse(tx, 'version')
  if (tx.weight > POLICY.maxWeight) refuse(tx, 'tx-size')
  for (const { script } of tx.inputs) {
    if (script.length > POLICY.maxInputScript) refuse(tx, 'scriptsig-size')
    if (!isPushOnly(script)) refuse(tx, 'scriptsig-not-pushonly')
  }
  let dataOutputs = 0
  for (const { script, amount } of tx.outputs) {
    if (!isStandardOutput(script, network)) refuse(tx, 'scriptpubkey')
    if (script[0] === 0x6a) dataOutputs += 1
    else if (amount < dustLimitOf(script, network)) refuse(tx, 'dust')
  }
  if (dataOutputs > 1) refuse(tx, 'multi-op-return')
  if (tx.baseSize < POLICY.minBaseSize) refuse(tx, 'tx-size-small')
}

const isStandardOutput = (script: Uint8Array, { hasSegwit }: ChainNetwork): boolean => {
  const kind = kindOfScript(script)
  if (!hasSegwit && isWitnessKind(kind)) return false
  if (kind === 'data') return script.length <= POLICY.maxDataScript
  if (kind === 'multisig') return (multisigOf(script)?.pubkeys.length ?? 0) <= 3
  return kind !== 'unknown'
}

/**
 * Checks that every input may spend its coin (architecture decision 27).
 *
 * Runs no scripts: it knows p2pk, p2pkh, p2sh-p2wpkh, p2wpkh, p2wsh of m-of-n multisig and the key path of p2tr, and
 * refuses all else as non-standard.
 *
 * @param coins - the coin of each input, in order
 * @throws BROADCAST_REFUSED `mandatory-script-verify-flag-failed (…)` or `non-mandatory-script-verify-flag (…)`
 */
export const checkSpends = (
  tx: ChainTransaction,
  coins: readonly ChainCoin[],
  network: ChainNetwork
): void => {
  const digests = digestsOf(tx, coins)
  tx.inputs.forEach((input, index) => {
    const coin = coins[index] as ChainCoin
    const fault = faultOf({ input, coin, index, digests, network })
    if (fault !== undefined) refuse(tx, fault)
  })
}

interface Spend {
  readonly input: ChainInput
  readonly coin: ChainCoin
  readonly index: number
  readonly digests: Digests
  readonly network: ChainNetwork
}

const faultOf = (spend: Spend): string | undefined => {
  const { input, coin, network } = spend
  const kind = kindOfScript(coin.script)
  if (!network.hasSegwit && (kind === 'p2sh' || isWitnessKind(kind))) return nonMandatory(UNSUPPORTED)
  switch (kind) {
    case 'p2pk':
      return faultOfPubkey(spend)
    case 'p2pkh':
      return faultOfPubkeyHash(spend)
    case 'p2sh':
      return faultOfScriptHash(spend)
    case 'p2wpkh':
      return input.script.length > 0 ? mandatory(MALLEATED) : faultOfWitnessKey(spend, coin.script)
    case 'p2wsh':
      return input.script.length > 0 ? mandatory(MALLEATED) : faultOfMultisig(spend)
    case 'p2tr':
      return input.script.length > 0 ? mandatory(MALLEATED) : faultOfTaproot(spend)
    default:
      return nonMandatory(UNSUPPORTED)
  }
}

const faultOfPubkey = ({ input, coin, index, digests, network }: Spend): string | undefined => {
  if (input.witness.length > 0) return mandatory('Witness provided for non-witness script')
  const [signature, ...rest] = pushesOf(input.script) ?? []
  if (signature === undefined || rest.length > 0) return nonMandatory(UNSUPPORTED)
  if (input.script.length !== signature.length + 1) return nonMandatory('Data push larger than necessary')
  const pubkey = coin.script.subarray(1, -1)
  return faultOfLegacy(signature, pubkey, { coin, index, digests, network })
}

/** A signature of scripts without witness, which on Bitcoin Cash has the fork's own digest. */
const faultOfLegacy = (
  signature: Uint8Array,
  pubkey: Uint8Array,
  { coin, index, digests, network }: Omit<Spend, 'input'>
): string | undefined => {
  if (network.usesForkId !== true)
    return faultOfVerdict(checkEcdsa(signature, pubkey, type => digests.legacy(index, coin.script, type)))
  if (((signature.at(-1) ?? 0) & 0x40) === 0) return mandatory('Signature must use SIGHASH_FORKID')
  return faultOfVerdict(
    checkEcdsa(signature, pubkey, type => digests.witness(index, coin.script, type), FORK_HASH_TYPES)
  )
}

const faultOfPubkeyHash = ({ input, coin, index, digests, network }: Spend): string | undefined => {
  if (input.witness.length > 0) return mandatory('Witness provided for non-witness script')
  const [signature, pubkey, ...rest] = pushesOf(input.script) ?? []
  if (signature === undefined || pubkey === undefined || rest.length > 0) return nonMandatory(UNSUPPORTED)
  if (input.script.length !== signature.length + pubkey.length + 2) {
    return nonMandatory('Data push larger than necessary')
  }
  if (!equalBytes(hash160(pubkey), coin.script.subarray(3, 23))) return mandatory(NOT_EQUAL)
  return faultOfLegacy(signature, pubkey, { coin, index, digests, network })
}

const faultOfScriptHash = (spend: Spend): string | undefined => {
  const { input, coin } = spend
  const pushes = pushesOf(input.script) ?? []
  const redeemScript = pushes.at(-1)
  if (redeemScript === undefined || !equalBytes(hash160(redeemScript), coin.script.subarray(2, 22))) {
    return mandatory('Script evaluated without error but finished with a false/empty top stack element')
  }
  if (kindOfScript(redeemScript) !== 'p2wpkh') return nonMandatory(UNSUPPORTED)
  if (pushes.length !== 1 || input.script.length !== 23) {
    return mandatory('Witness requires only-redeemscript scriptSig')
  }
  return faultOfWitnessKey(spend, redeemScript)
}

const faultOfWitnessKey = ({ input, index, digests }: Spend, program: Uint8Array): string | undefined => {
  const [signature, pubkey, ...rest] = input.witness
  if (signature === undefined || pubkey === undefined || rest.length > 0) return mandatory(MISMATCH)
  const hash = program.subarray(2)
  if (!equalBytes(hash160(pubkey), hash)) return mandatory(NOT_EQUAL)
  if (pubkey.length !== 33) return nonMandatory(UNCOMPRESSED)
  const scriptCode = pubkeyHashScript(hash)
  return faultOfVerdict(checkEcdsa(signature, pubkey, type => digests.witness(index, scriptCode, type)))
}

const faultOfMultisig = ({ input, coin, index, digests }: Spend): string | undefined => {
  const witnessScript = input.witness.at(-1)
  if (witnessScript === undefined) return mandatory('Witness program was passed an empty witness')
  if (!equalBytes(sha256(witnessScript), coin.script.subarray(2))) return mandatory(MISMATCH)
  const multisig = multisigOf(witnessScript)
  const [dummy, ...signatures] = input.witness.slice(0, -1)
  if (multisig === undefined || dummy === undefined) return nonMandatory(UNSUPPORTED)
  if (signatures.length !== multisig.m) return nonMandatory(UNSUPPORTED)
  if (dummy.length > 0) return mandatory('Dummy CHECKMULTISIG argument must be zero')
  const keys = [...multisig.pubkeys]
  if (keys.some(key => key.length !== 33)) return nonMandatory(UNCOMPRESSED)
  for (const signature of signatures) {
    let verdict: SignatureVerdict = { kind: 'wrong' }
    // Signatures stand in the order of their keys, so a key that did not match is never tried again.
    for (let key = keys.shift(); key !== undefined; key = keys.shift()) {
      verdict = checkEcdsa(signature, key, type => digests.witness(index, witnessScript, type))
      if (verdict.kind !== 'wrong') break
    }
    const fault = faultOfVerdict(verdict)
    if (fault !== undefined) return fault
  }
  return undefined
}

const faultOfTaproot = ({ input, coin, index, digests }: Spend): string | undefined => {
  const [signature, ...rest] = input.witness
  if (signature === undefined) return mandatory('Witness program was passed an empty witness')
  if (rest.length > 0) return nonMandatory(UNSUPPORTED)
  return faultOfVerdict(
    checkSchnorr(signature, coin.script.subarray(2), type => digests.taproot(index, type))
  )
}

const faultOfVerdict = (verdict: SignatureVerdict): string | undefined => {
  switch (verdict.kind) {
    case 'ok':
      return undefined
    case 'wrong':
      return mandatory('Signature must be zero for failed CHECK(MULTI)SIG operation')
    case 'invalid':
      return mandatory(verdict.rule)
    case 'nonstandard':
      return nonMandatory(verdict.rule)
  }
}

const mandatory = (rule: string): string => `mandatory-script-verify-flag-failed (${rule})`
const nonMandatory = (rule: string): string => `non-mandatory-script-verify-flag (${rule})`

const MALLEATED = 'Witness requires empty scriptSig'
const MISMATCH = 'Witness program hash mismatch'
const NOT_EQUAL = 'Script failed an OP_EQUALVERIFY operation'
const UNCOMPRESSED = 'Using non-compressed keys in segwit'
const UNSUPPORTED = 'This kind of spend is not supported here'

/** A node's verdict on a signature: `ok` or a text of `ScriptErrorString`. */
type SignatureVerdict =
  | { readonly kind: 'ok' }
  /** The signature itself is fine, but of other bytes or by another key. */
  | { readonly kind: 'wrong' }
  /** Against a rule of consensus. */
  | { readonly kind: 'invalid'; readonly rule: string }
  /** Against a rule of relay policy only. */
  | { readonly kind: 'nonstandard'; readonly rule: string }

/** Splits a signature as it stands in scripts from its last byte, the kind of digest. */
const splitSignature = (signature: Uint8Array): { readonly der: Uint8Array; readonly hashType: number } => ({
  der: signature.subarray(0, -1),
  hashType: signature[signature.length - 1] ?? 0
})

/**
 * Checks an ECDSA signature: strict DER (BIP66), low S (BIP146), a defined digest kind, a sound key.
 *
 * @param digestOf - the 32 bytes that are signed for a digest kind
 * @param hashTypes - the defined kinds
 */
const checkEcdsa = (
  signature: Uint8Array,
  pubkey: Uint8Array,
  digestOf: (hashType: number) => Uint8Array,
  hashTypes: ReadonlySet<number> = ECDSA_HASH_TYPES
): SignatureVerdict => {
  const { der, hashType } = splitSignature(signature)
  const parsed = parseDer(der)
  if (parsed === undefined) return { kind: 'invalid', rule: 'Non-canonical DER signature' }
  if (parsed.hasHighS()) {
    return { kind: 'nonstandard', rule: 'Non-canonical signature: S value is unnecessarily high' }
  }
  if (!hashTypes.has(hashType)) {
    return { kind: 'nonstandard', rule: 'Signature hash type missing or not understood' }
  }
  if (!isPubkeyShape(pubkey)) {
    return { kind: 'nonstandard', rule: 'Public key is neither compressed or uncompressed' }
  }
  const isRight = isTrue(() =>
    secp256k1.verify(der, digestOf(hashType), pubkey, { prehash: false, lowS: true, format: 'der' })
  )
  return { kind: isRight ? 'ok' : 'wrong' }
}

/** Checks the signature of a taproot key path (BIP340, BIP341): 64 bytes, or 65 with an explicit digest kind. */
const checkSchnorr = (
  signature: Uint8Array,
  outputKey: Uint8Array,
  digestOf: (hashType: number) => Uint8Array
): SignatureVerdict => {
  if (signature.length !== 64 && signature.length !== 65) {
    return { kind: 'invalid', rule: 'Invalid Schnorr signature size' }
  }
  const hashType = signature[64] ?? 0
  if (signature.length === 65 && !ECDSA_HASH_TYPES.has(hashType)) {
    return { kind: 'invalid', rule: 'Invalid Schnorr signature hash type' }
  }
  const isRight = isTrue(() => schnorr.verify(signature.subarray(0, 64), digestOf(hashType), outputKey))
  return isRight ? { kind: 'ok' } : { kind: 'invalid', rule: 'Invalid Schnorr signature' }
}

const ECDSA_HASH_TYPES: ReadonlySet<number> = new Set([0x01, 0x02, 0x03, 0x81, 0x82, 0x83])
const FORK_HASH_TYPES: ReadonlySet<number> = new Set([SIGHASH_FORKID, 0x42, 0x43, 0xc1, 0xc2, 0xc3])

const parseDer = (der: Uint8Array): ReturnType<typeof secp256k1.Signature.fromBytes> | undefined => {
  try {
    return secp256k1.Signature.fromBytes(der, 'der')
  } catch {
    return undefined
  }
}

const isPubkeyShape = (pubkey: Uint8Array): boolean =>
  pubkey.length === 33 ? pubkey[0] === 2 || pubkey[0] === 3 : pubkey.length === 65 && pubkey[0] === 4

const isTrue = (question: () => boolean): boolean => {
  try {
    return question()
  } catch {
    return false
  }
}
