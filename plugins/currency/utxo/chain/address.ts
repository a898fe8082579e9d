import { sha256 } from '@noble/hashes/sha2.js'
import { bech32, bech32m, createBase58check } from '@scure/base'
import { p2tr } from '@scure/btc-signer'
import { type AddressFault, WalletError } from '../../../../kernel/plugin-api.ts'
import type { CoinRow, NetworkRow, Purpose, ScriptType } from '../params/coin.ts'
import { type CashProgram, decodeCashaddr, encodeCashaddr } from './cashaddr.ts'
import { hash160 } from './transaction.ts'

/** An address that can be paid. */
export interface Destination {
  readonly program: Program
  readonly script: Uint8Array
  /** The normal spelling: bech32 and cashaddr in lower case, the latter with its prefix. */
  readonly address: string
}

/** The address of a program, which is of a kind that the network has. */
export const addressOf = (network: NetworkRow, { type, data }: Program): string => {
  if (type === 'p2pkh' || type === 'p2sh') {
    if (network.cashaddr !== undefined) return encodeCashaddr(network.cashaddr, { type, data })
    return base58AddressOf(network, { type, data })
  }
  if (network.bech32 === undefined) throw new TypeError(`${network.name} has no segwit`)
  if (type === 'p2tr') return bech32m.encode(network.bech32, [1, ...bech32m.toWords(data)])
  return bech32.encode(network.bech32, [0, ...bech32.toWords(data)])
}

/** The base58 address of a program, which Bitcoin Cash has besides the one that it writes. */
export const base58AddressOf = ({ p2pkh, p2sh: [p2sh = 0] }: NetworkRow, { type, data }: Program): string =>
  base58.encode(Uint8Array.of(type === 'p2pkh' ? p2pkh : p2sh, ...data))

/**
 * Reads an address of one network.
 *
 * @throws ADDRESS_INVALID, saying whether it is damaged, of a kind that cannot be paid, or of which other network
 */
export const parseAddress = (coin: CoinRow, network: NetworkRow, text: string): Destination => {
  const program = readAddress(coin, network, text)
  if (coin.dust[program.type] === undefined || (program.type === 'p2tr' && !coin.hasTaproot))
    throw invalid('kind', 'is of a kind that this chain does not have')
  return { program, script: writeScript(program), address: addressOf(network, program) }
}

const base58 = createBase58check(sha256)

/** Checks if a text is base58 with the checksum that belongs to it. */
const isBase58 = (text: string): boolean => {
  try {
    return base58.decode(text).length > 0
  } catch {
    return false
  }
}

const MAX_LENGTH = 100

const invalid = (fault: AddressFault, rule: string): WalletError =>
  new WalletError('ADDRESS_INVALID', { rule, fault })

const readAddress = (coin: CoinRow, network: NetworkRow, text: string): Program => {
  if (text.length === 0) throw invalid('form', 'is empty')
  const known = networksOf(coin, network)
  if (isMweb(known, text))
    throw invalid('kind', 'is of the MimbleWimble extension block (MWEB), which cannot be paid')
  if (text.length > MAX_LENGTH) throw invalid('form', `is longer than ${MAX_LENGTH} characters`)
  // By the first separator: a mistyped 1 behind it is a letter that no such address has.
  const lower = text.toLowerCase()
  // An old address may begin so, too: one in 1,700 of Qtum's does, as `Qc1…`.
  for (const owner of known)
    if (owner.bech32 !== undefined && lower.startsWith(`${owner.bech32}1`) && !isBase58(text))
      return readSegwit(network, { owner, prefix: owner.bech32 }, text)
  return readCashaddr(network, known, text) ?? readBase58(network, known, text)
}

/** The networks whose addresses are recognised, this one first. */
export const networksOf = (coin: CoinRow, network: NetworkRow): readonly NetworkRow[] => [
  network,
  ...coin.networks,
  ...coin.foreignNetworks
]

/** Undefined if the text has neither the form nor a checksum of such an address. */
const readCashaddr = (
  network: NetworkRow,
  known: readonly NetworkRow[],
  text: string
): CashProgram | undefined => {
  const [, prefix, body = ''] = /^(?:([a-z]+):)?([02-9ac-hj-np-z]+)$/i.exec(text) ?? []
  if (text !== text.toLowerCase() && text !== text.toUpperCase()) return undefined
  const named = known.filter(row => prefix === undefined || row.cashaddr === prefix.toLowerCase())
  for (const owner of named) {
    if (owner.cashaddr === undefined) continue
    let program: CashProgram | undefined
    try {
      program = decodeCashaddr(owner.cashaddr, body.toLowerCase())
    } catch {
      throw invalid('kind', 'is of a kind that cannot be paid yet')
    }
    if (program === undefined) continue
    if (owner === network) return program
    throw invalid('network', `belongs to ${owner.name}, not to ${network.name}`)
  }
  if (prefix !== undefined && named.length > 0) throw misspelt(body, BECH32_LETTERS)
  return undefined
}

const isMweb = (known: readonly NetworkRow[], text: string): boolean => {
  const lower = text.toLowerCase()
  return known.some(({ mwebPrefix }) => mwebPrefix !== undefined && lower.startsWith(`${mwebPrefix}1`))
}

const readSegwit = (
  network: NetworkRow,
  { owner, prefix }: { readonly owner: NetworkRow; readonly prefix: string },
  text: string
): Program => {
  if (text !== text.toLowerCase() && text !== text.toUpperCase())
    throw invalid('typo', 'mixes upper and lower case')
  const lower = text.toLowerCase()
  // BIP-350: version 0 has the bech32 checksum, later ones bech32m.
  const codec = lower.charAt(prefix.length + 1) === 'q' ? bech32 : bech32m
  const decoded = codec.decodeUnsafe(lower)
  if (decoded === undefined) throw misspelt(lower.slice(prefix.length + 1), BECH32_LETTERS)
  if (owner !== network) throw invalid('network', `belongs to ${owner.name}, not to ${network.name}`)
  const [version, ...words] = decoded.words
  const data = codec.fromWordsUnsafe(words)
  if (data === undefined || version === undefined) throw invalid('form', 'is not a whole number of bytes')
  if (version === 0 && data.length === 20) return { type: 'p2wpkh', data }
  if (version === 0 && data.length === 32) return { type: 'p2wsh', data }
  if (version === 1 && data.length === 32) return { type: 'p2tr', data }
  throw invalid(
    'kind',
    `is of a segwit version or length (${version}, ${data.length}) that cannot be paid yet`
  )
}

const readBase58 = (network: NetworkRow, known: readonly NetworkRow[], text: string): Program => {
  let bytes: Uint8Array
  try {
    bytes = base58.decode(text)
  } catch {
    const stranger = strangerOf(text)
    if (stranger !== undefined) throw ofAnother(stranger)
    throw misspelt(text, BASE58_LETTERS)
  }
  const [version = -1, ...rest] = bytes
  const data = Uint8Array.from(rest)
  // Two bytes of version, as Zcash and its kin have them, make one more.
  if (data.length === 21) throw ofAnother('another currency')
  if (data.length !== 20) throw invalid('form', 'has the wrong length')
  if (version === network.p2pkh) return { type: 'p2pkh', data }
  if (network.p2sh.includes(version)) return { type: 'p2sh', data }
  const owner = known.find(row => row.p2pkh === version || row.p2sh.includes(version))
  if (owner !== undefined) throw invalid('network', `belongs to ${owner.name}, not to ${network.name}`)
  throw ofAnother(FOREIGN_VERSIONS.get(version) ?? 'another currency')
}

/** A text in which a letter is none of its alphabet is no address; one with all letters right has a wrong checksum. */
const misspelt = (text: string, alphabet: RegExp): WalletError => {
  const at = text.search(alphabet)
  if (at >= 0) return invalid('typo', `has “${text.charAt(at)}” in it, which no such address has`)
  return text.length < MIN_LENGTH
    ? invalid('typo', 'is too short: letters are missing, or it is no address')
    : invalid('checksum', 'has a wrong checksum: a letter is missing or mistyped')
}

const ofAnother = (currency: string): WalletError =>
  invalid(
    'currency',
    currency === 'another currency'
      ? 'belongs to another currency'
      : `belongs to another currency: ${currency}`
  )

/** The first letter that is none of the alphabet. */
const BASE58_LETTERS = /[^1-9A-HJ-NP-Za-km-z]/
const BECH32_LETTERS = /[^02-9ac-hj-np-z]/
/** Of a hash of 20 bytes in base58 with its version and checksum. */
const MIN_LENGTH = 26

/** Which currency an address is of that is none of Bitcoin's form; undefined if it is none that is known. */
const strangerOf = (text: string): string | undefined => {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return 'Ethereum or a chain of its kind'
  const [, body = ''] = /^(?:bitcoincash:)?([02-9ac-hj-np-z]{42})$/i.exec(text) ?? []
  if (isCashaddr(body.toLowerCase())) return 'Bitcoin Cash'
  const decoded = bech32.decodeUnsafe(text.toLowerCase()) ?? bech32m.decodeUnsafe(text.toLowerCase())
  if (decoded === undefined) return undefined
  return FOREIGN_PREFIXES.get(decoded.prefix) ?? 'another currency'
}

const isCashaddr = (body: string): boolean => {
  try {
    return decodeCashaddr('bitcoincash', body) !== undefined
  } catch {
    return true
  }
}

// The address prefixes of other coins, so that an error can name the right wallet.
const FOREIGN_PREFIXES: ReadonlyMap<string, string> = new Map([
  ['bc', 'Bitcoin'],
  ['ltc', 'Litecoin'],
  ['fc', 'Feathercoin'],
  ['qc', 'Qtum'],
  ['uf', 'UFO'],
  ['addr', 'Cardano'],
  ['cosmos', 'Cosmos'],
  ['lnbc', 'Lightning']
])

const FOREIGN_VERSIONS: ReadonlyMap<number, string> = new Map([
  [0x00, 'Bitcoin, or one that spells its addresses alike'],
  [0x05, 'Bitcoin, or one that spells its addresses alike'],
  [0x30, 'Litecoin'],
  [0x32, 'Litecoin'],
  [0x1e, 'Dogecoin'],
  [0x16, 'Dogecoin'],
  [0x4c, 'Dash'],
  [0x10, 'Dash'],
  [0x0e, 'Feathercoin'],
  [0x3a, 'Qtum'],
  [0x1b, 'UFO'],
  [0x44, 'UFO'],
  [0x52, 'Firo'],
  [0x07, 'Firo'],
  [0x41, 'Tron']
])

/** What an output script pays to: its type and the hash or key in it. */
export interface Program {
  readonly type: ScriptType
  readonly data: Uint8Array
}

/** How the keys of a purpose are paid. */
export const scriptTypeOf: Readonly<Record<Purpose, ScriptType>> = {
  32: 'p2pkh',
  44: 'p2pkh',
  49: 'p2sh',
  84: 'p2wpkh',
  86: 'p2tr'
}

/** The hash or tweaked key that a public key of this purpose is paid by; 20 bytes, taproot 32. */
export const programOf = (purpose: Purpose, publicKey: Uint8Array): Uint8Array => {
  if (purpose === 49) return hash160(redeemScriptOf(publicKey))
  // BIP-86: key path only, tweaked with no script tree.
  if (purpose === 86) return p2tr(publicKey.slice(1)).tweakedPubkey
  return hash160(publicKey)
}

/** The script inside P2SH for a nested segwit key (BIP-141). */
export const redeemScriptOf = (publicKey: Uint8Array): Uint8Array =>
  writeScript({ type: 'p2wpkh', data: hash160(publicKey) })

/** The bytes of an output script. */
export const writeScript = ({ type, data }: Program): Uint8Array => {
  const [before, after] = frames[type]
  return Uint8Array.from([...before, ...data, ...after])
}

const frames: Readonly<Record<ScriptType, readonly [before: readonly number[], after: readonly number[]]>> = {
  p2pkh: [
    [0x76, 0xa9, 0x14],
    [0x88, 0xac]
  ],
  p2sh: [[0xa9, 0x14], [0x87]],
  p2wpkh: [[0x00, 0x14], []],
  p2wsh: [[0x00, 0x20], []],
  p2tr: [[0x51, 0x20], []]
}
