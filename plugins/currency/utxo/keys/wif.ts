import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { WalletError } from '../../../../kernel/plugin-api.ts'
import { networksOf } from '../chain/address.ts'
import type { CoinRow, NetworkRow } from '../params/coin.ts'

/** How the key of a single address can be paid. */
export type KeyScript = 'p2pk' | 'p2pkh' | 'p2sh-p2wpkh' | 'p2tr' | 'p2wpkh'

/** The key of a single address, with the scripts that it can own. The bytes of the private key are secret. */
export interface SingleKey {
  readonly privateKey: Uint8Array
  readonly publicKey: Uint8Array
  readonly scripts: readonly KeyScript[]
}

/**
 * Reads the key of a single address in wallet import format, also with the script type that Electrum writes before it
 * (`p2wpkh:`, `p2wpkh-p2sh:`, `p2pkh:`).
 *
 * @throws KEY_INTEGRITY with the reason, which never quotes the text
 */
export const readWif = (coin: CoinRow, network: NetworkRow, text: string): SingleKey => {
  const [, prefix, body = ''] = /^(?:([a-z0-9-]+):)?(\S+)$/.exec(text.trim()) ?? []
  if (/^6P[1-9A-HJ-NP-Za-km-z]{56}$/.test(body))
    throw refused(
      'the key is under a passphrase of its own (BIP-38): decrypt it with the program that made it'
    )
  const bytes = bytesOf(body)
  try {
    const [version = -1] = bytes
    const isCompressed = bytes.length === 34 && bytes[33] === 1
    if (!isCompressed && bytes.length !== 33) throw refused(NO_KEY)
    if (version !== network.wif) throw refused(strangerOf(coin, network, version))
    const all = scriptsOf(coin, network, isCompressed)
    const scripts = prefix === undefined ? all : [scriptOfPrefix(all, prefix)]
    if (!secp256k1.utils.isValidSecretKey(bytes.subarray(1, 33))) throw refused(NO_KEY)
    // The caller wipes the copy that it gets.
    const privateKey = bytes.slice(1, 33)
    return { privateKey, publicKey: secp256k1.getPublicKey(privateKey, isCompressed), scripts }
  } finally {
    bytes.fill(0)
  }
}

const base58check = createBase58check(sha256)
const NO_KEY = 'the text is no private key of a single address'

const refused = (rule: string): WalletError => new WalletError('KEY_INTEGRITY', { rule })

const bytesOf = (text: string): Uint8Array => {
  if (text.length > MAX_LENGTH || !/^[1-9A-HJ-NP-Za-km-z]{50,53}$/.test(text)) throw refused(NO_KEY)
  try {
    return base58check.decode(text)
  } catch {
    // The library's own words could quote the key.
    throw refused('the key is mistyped or cut off: its checksum is wrong')
  }
}

const MAX_LENGTH = 60

/** Nodes relay no segwit spend of an uncompressed key. */
const scriptsOf = ({ hasTaproot }: CoinRow, { bech32 }: NetworkRow, isCompressed: boolean): KeyScript[] => [
  'p2pkh',
  'p2pk',
  ...(isCompressed && bech32 !== undefined ? (['p2wpkh', 'p2sh-p2wpkh'] as const) : []),
  ...(isCompressed && bech32 !== undefined && hasTaproot ? (['p2tr'] as const) : [])
]

const scriptOfPrefix = (scripts: readonly KeyScript[], prefix: string): KeyScript => {
  const named = prefix === 'p2wpkh-p2sh' ? 'p2sh-p2wpkh' : prefix
  const found = scripts.find(script => script === named)
  if (found !== undefined) return found
  if (['p2sh', 'p2wsh', 'p2wsh-p2sh'].includes(prefix))
    throw refused('the key is one of several that an address needs, and cannot spend alone')
  throw refused('the key says a kind of address that it cannot have')
}

const strangerOf = (coin: CoinRow, network: NetworkRow, version: number): string => {
  const owner = networksOf(coin, network).find(({ wif }) => wif === version)
  if (owner !== undefined) return `the key belongs to ${owner.name}, not to ${network.name}`
  const stranger = FOREIGN_VERSIONS.get(version)
  return stranger === undefined
    ? `the key is of no network of ${coin.displayName}`
    : `the key belongs to ${stranger}, not to ${coin.displayName}`
}

/** The first byte of a private key, by currency: the chain parameters of each node. */
const FOREIGN_VERSIONS: ReadonlyMap<number, string> = new Map([
  [128, 'Bitcoin, or one that spells its keys alike'],
  [142, 'Feathercoin'],
  [155, 'UFO'],
  [158, 'Dogecoin'],
  [176, 'Litecoin'],
  [204, 'Dash'],
  [210, 'Firo'],
  [239, 'a test network'],
  [241, 'a test network of Dogecoin']
])
