import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'

/** What a node says of a signature; `ok` or the words of `ScriptErrorString`. */
export type SignatureVerdict =
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
 */
export const checkEcdsa = (
  signature: Uint8Array,
  pubkey: Uint8Array,
  digestOf: (hashType: number) => Uint8Array
): SignatureVerdict => {
  const { der, hashType } = splitSignature(signature)
  const parsed = parseDer(der)
  if (parsed === undefined) return { kind: 'invalid', rule: 'Non-canonical DER signature' }
  if (parsed.hasHighS()) {
    return { kind: 'nonstandard', rule: 'Non-canonical signature: S value is unnecessarily high' }
  }
  if (!ECDSA_HASH_TYPES.has(hashType)) {
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
export const checkSchnorr = (
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
