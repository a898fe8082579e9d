import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { compact } from '../base/compact.ts'
import { copyList } from '../base/copy-data.ts'
import { WalletError } from '../base/errors.ts'
import { makeYielder } from '../base/yielder.ts'
import type { CryptoPort, Io } from '../io/io.ts'
import type { CurrencyInfo, KernelSigning, SigningCurve } from '../types/currency.ts'
import type {
  CurrencyEngine,
  CurrencyTools,
  KernelSignature,
  KeylessEngine,
  KeylessTools
} from '../types/engine.ts'
import type { WalletKeys } from '../types/keys.ts'

/**
 * The tools of a currency whose keys the kernel makes: the plugin gets the public key in their place, and no method of it is called
 * with a private one.
 */
export const toolsWithKernelKeys = (
  tools: KeylessTools,
  { signing, canImportKeys }: CurrencyInfo & { readonly signing: KernelSigning },
  { crypto, random }: Pick<Io, 'crypto' | 'random'>
): CurrencyTools => {
  const { curve, keyName } = signing
  const keysOf = (key: Uint8Array): WalletKeys => ({ [keyName]: crypto.toHex(key) })
  // What a plugin of old has besides: it would get private keys.
  const {
    importPrivateKey: _import,
    getDisplayPrivateKey: _show,
    getSplittableTypes: _split,
    ...rest
  } = tools as Partial<CurrencyTools> & KeylessTools
  return Object.freeze({
    ...rest,
    createPrivateKey: async () => keysOf(newPrivateKey(curve, random)),
    derivePublicKey: ({ id, type, keys }: Parameters<CurrencyTools['derivePublicKey']>[0]) =>
      withKey({ ...signing, crypto }, keys, async key => {
        const publicKey = crypto.toHex(publicKeyOf(curve, key))
        return tools.derivePublicKey({ id, type, keys: { publicKey } })
      }),
    getDisplayPrivateKey: ({ keys }: Parameters<CurrencyTools['derivePublicKey']>[0]) =>
      withKey({ ...signing, crypto }, keys, async key => crypto.toHex(key)),
    ...compact({
      importPrivateKey:
        canImportKeys === true
          ? async (text: string) => {
              const keys = { [keyName]: text.trim().replace(/^0x/, '').toLowerCase() }
              return withKey({ ...signing, crypto }, keys, async () => keys)
            }
          : undefined
    })
  })
}

/** The engine of a currency for which the kernel signs: it says which bytes, and gets signatures in place of keys. */
export const engineWithKernelSignatures = (
  engine: KeylessEngine,
  { pluginId, signing }: CurrencyInfo & { readonly signing: KernelSigning },
  { crypto, clock }: Pick<Io, 'clock' | 'crypto'>
): CurrencyEngine => {
  const {
    signMessage: _message,
    sweepPrivateKeys: _sweep,
    signSweep: _signSweep,
    ...rest
  } = engine as Partial<CurrencyEngine> & KeylessEngine
  return Object.freeze({
    ...rest,
    async signTx(transaction: Parameters<CurrencyEngine['signTx']>[0], privateKeys: WalletKeys) {
      const requested: unknown = await engine.getBytesToSign(transaction)
      const requests = readRequests({ ...signing, pluginId, crypto }, requested)
      const signatures = await withKey({ ...signing, crypto }, privateKeys, async key => {
        const publicKey = crypto.toHex(publicKeyOf(signing.curve, key))
        const made: KernelSignature[] = []
        const pause = makeYielder(clock)
        for (const bytes of requests) {
          await pause()
          const { signature, recovery } = signBytes(signing.curve, key, bytes)
          made.push({ publicKey, signature: crypto.toHex(signature), ...compact({ recovery }) })
        }
        return made
      })
      return engine.addSignatures(transaction, signatures)
    }
  })
}

/** Opens the private key among the keys of a wallet for one call, and overwrites it. @throws KEY_INTEGRITY */
const withKey = async <T>(
  { curve, keyName, crypto }: KernelSigning & { readonly crypto: CryptoPort },
  keys: WalletKeys,
  call: (key: Uint8Array) => Promise<T>
): Promise<T> => {
  const { [keyName]: text } = keys
  const bad = (): WalletError =>
    new WalletError('KEY_INTEGRITY', { rule: 'the private key is no key of its curve' })
  if (typeof text !== 'string' || !/^[0-9a-f]{64}$/.test(text)) throw bad()
  const key = crypto.fromHex(text)
  try {
    if (!isPrivateKey(curve, key)) throw bad()
    return await call(key)
  } finally {
    key.fill(0)
  }
}

/** The bytes that a plugin wants signed, each in hex. @throws BOGUS_DATA */
const readRequests = (
  { curve, pluginId, crypto }: KernelSigning & { readonly pluginId: string; readonly crypto: CryptoPort },
  given: unknown
): readonly Uint8Array[] => {
  const bogus = (): WalletError =>
    new WalletError('BOGUS_DATA', { pluginId, what: 'bytes to sign', path: '' })
  const list = copyList(given, MAX_SIGNATURES)
  if (list === undefined || list.length === 0) throw bogus()
  let length = 0
  return list.map(hex => {
    length += typeof hex === 'string' ? hex.length : 0
    if (
      typeof hex !== 'string' ||
      hex.length > 2 * MAX_BYTES ||
      length > 2 * MAX_TOTAL_BYTES ||
      !/^(?:[0-9a-f]{2})+$/i.test(hex)
    )
      throw bogus()
    if (curve === 'secp256k1' && hex.length !== 64) throw bogus()
    return crypto.fromHex(hex)
  })
}

/** As many inputs as the largest payments have. */
const MAX_SIGNATURES = 10_000
const MAX_BYTES = 100_000
const MAX_TOTAL_BYTES = 2_000_000

/** Signs bytes: as a message of ed25519, or as a hash of 32 bytes by ECDSA on secp256k1 (RFC 6979, low S); the same each time. */
const signBytes = (
  curve: SigningCurve,
  key: Uint8Array,
  bytes: Uint8Array
): { readonly signature: Uint8Array; readonly recovery?: number } => {
  if (curve === 'ed25519') return { signature: ed25519.sign(bytes, key) }
  const [recovery = 0, ...signature] = secp256k1.sign(bytes, key, { prehash: false, format: 'recovered' })
  return { signature: Uint8Array.from(signature), recovery }
}

const newPrivateKey = (curve: SigningCurve, random: Io['random']): Uint8Array => {
  let key = random(32)
  while (!isPrivateKey(curve, key)) key = random(32)
  return key
}

const isPrivateKey = (curve: SigningCurve, key: Uint8Array): boolean =>
  curve === 'ed25519' ? key.length === 32 : secp256k1.utils.isValidSecretKey(key)

const publicKeyOf = (curve: SigningCurve, key: Uint8Array): Uint8Array =>
  (curve === 'ed25519' ? ed25519 : secp256k1).getPublicKey(key)
