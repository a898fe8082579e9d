import { hexToBytes } from '@noble/hashes/utils.js'
import { Transaction } from '@scure/btc-signer'
import { equalBytes, hash160, sha256 } from '@scure/btc-signer/utils.js'
import type { Coin } from './coins.ts'
import { refuse } from './refusal.ts'
import { kindOfScript, multisigOf, pubkeyHashScript, pushesOf } from './script.ts'
import { checkEcdsa, checkSchnorr, type SignatureVerdict } from './signature-check.ts'
import type { ChainInput, ChainTransaction } from './transaction.ts'

/**
 * Checks that every input may spend its coin (architecture decision 27).
 *
 * Runs no scripts: it knows p2pkh, p2sh-p2wpkh, p2wpkh, p2wsh of m-of-n multisig and the key path of p2tr, and
 * refuses all else as non-standard.
 *
 * @param coins - the coin of each input, in order
 * @throws BROADCAST_REFUSED `mandatory-script-verify-flag-failed (…)` or `non-mandatory-script-verify-flag (…)`
 */
export const checkSpends = (tx: ChainTransaction, coins: readonly Coin[]): void => {
  const digests = digestsOf(tx, coins)
  tx.inputs.forEach((input, index) => {
    const coin = coins[index] as Coin
    const fault = faultOf({ input, coin, index, digests })
    if (fault !== undefined) refuse(tx, fault)
  })
}

interface Spend {
  readonly input: ChainInput
  readonly coin: Coin
  readonly index: number
  readonly digests: Digests
}

/** The bytes that signatures are of, by the rules of each generation of scripts. */
interface Digests {
  legacy(index: number, scriptCode: Uint8Array, hashType: number): Uint8Array
  witness(index: number, scriptCode: Uint8Array, hashType: number): Uint8Array
  taproot(index: number, hashType: number): Uint8Array
}

const faultOf = (spend: Spend): string | undefined => {
  const { input, coin } = spend
  switch (kindOfScript(coin.script)) {
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

const faultOfPubkeyHash = ({ input, coin, index, digests }: Spend): string | undefined => {
  if (input.witness.length > 0) return mandatory('Witness provided for non-witness script')
  const [signature, pubkey, ...rest] = pushesOf(input.script) ?? []
  if (signature === undefined || pubkey === undefined || rest.length > 0) return nonMandatory(UNSUPPORTED)
  if (input.script.length !== signature.length + pubkey.length + 2) {
    return nonMandatory('Data push larger than necessary')
  }
  if (!equalBytes(hash160(pubkey), coin.script.subarray(3, 23))) return mandatory(NOT_EQUAL)
  return faultOfVerdict(checkEcdsa(signature, pubkey, type => digests.legacy(index, coin.script, type)))
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

const digestsOf = (tx: ChainTransaction, coins: readonly Coin[]): Digests => {
  const signer = signerOf(tx)
  const scripts = coins.map(coin => coin.script)
  const amounts = coins.map(coin => coin.amount)
  return {
    legacy: (index, scriptCode, hashType) => signer.preimageLegacy(index, scriptCode, hashType),
    witness: (index, scriptCode, hashType) =>
      signer.preimageWitnessV0(index, scriptCode, hashType, amounts[index] as bigint),
    taproot: (index, hashType) => signer.preimageWitnessV1(index, scripts, hashType, amounts)
  }
}

/** btc-signer keeps the legacy digest to itself in its types, unlike its two younger siblings. */
interface Preimages extends Pick<Transaction, 'preimageWitnessV0' | 'preimageWitnessV1'> {
  preimageLegacy(index: number, scriptCode: Uint8Array, hashType: number): Uint8Array
}

const signerOf = (tx: ChainTransaction): Preimages =>
  Transaction.fromRaw(hexToBytes(tx.hex), {
    allowUnknownOutputs: true,
    allowUnknownInputs: true,
    allowUnknownVersion: true,
    disableScriptCheck: true
  }) as unknown as Preimages

const mandatory = (rule: string): string => `mandatory-script-verify-flag-failed (${rule})`
const nonMandatory = (rule: string): string => `non-mandatory-script-verify-flag (${rule})`

const MALLEATED = 'Witness requires empty scriptSig'
const MISMATCH = 'Witness program hash mismatch'
const NOT_EQUAL = 'Script failed an OP_EQUALVERIFY operation'
const UNCOMPRESSED = 'Using non-compressed keys in segwit'
const UNSUPPORTED = 'This kind of spend is not supported here'
