import { sha256 } from '@noble/hashes/sha2.js'
import { bech32, bech32m, createBase58check } from '@scure/base'
import { WalletError } from '../../../../kernel/plugin-api.ts'
import type { CoinRow, NetworkRow } from '../params/coin-row.ts'
import { type Program, writeScript } from './script.ts'

/** An address that can be paid. */
export interface Destination {
  readonly program: Program
  readonly script: Uint8Array
  /** The normal spelling: bech32 in lower case. */
  readonly address: string
}

/** The address of a program. */
export const addressOf = (network: NetworkRow, { type, data }: Program): string => {
  if (type === 'p2pkh') return base58.encode(Uint8Array.of(network.p2pkh, ...data))
  if (type === 'p2sh') return base58.encode(Uint8Array.of(network.p2sh[0] ?? 0, ...data))
  if (type === 'p2tr') return bech32m.encode(network.bech32, [1, ...bech32m.toWords(data)])
  return bech32.encode(network.bech32, [0, ...bech32.toWords(data)])
}

/**
 * Reads an address of one network.
 *
 * @throws ADDRESS_INVALID, saying whether it is damaged, of a kind that cannot be paid, or of which other network
 */
export const parseAddress = (coin: CoinRow, network: NetworkRow, text: string): Destination => {
  const program = readAddress(coin, network, text)
  if (program.type === 'p2tr' && !coin.hasTaproot) throw invalid('is of a kind that this chain does not have')
  return { program, script: writeScript(program), address: addressOf(network, program) }
}

const base58 = createBase58check(sha256)
const MAX_LENGTH = 100

const invalid = (rule: string): WalletError => new WalletError('ADDRESS_INVALID', { rule })

const readAddress = (coin: CoinRow, network: NetworkRow, text: string): Program => {
  if (text.length === 0) throw invalid('is empty')
  const known = [network, ...coin.networks, ...coin.foreignNetworks]
  if (isMweb(known, text))
    throw invalid('is of the MimbleWimble extension block (MWEB), which cannot be paid')
  if (text.length > MAX_LENGTH) throw invalid(`is longer than ${MAX_LENGTH} characters`)
  const separator = text.lastIndexOf('1')
  const prefix = text.slice(0, separator).toLowerCase()
  const owner = known.find(row => row.bech32 === prefix)
  if (owner !== undefined) return readSegwit(network, owner, text)
  return readBase58(network, known, text)
}

const isMweb = (known: readonly NetworkRow[], text: string): boolean => {
  const lower = text.toLowerCase()
  return known.some(({ mwebPrefix }) => mwebPrefix !== undefined && lower.startsWith(`${mwebPrefix}1`))
}

const readSegwit = (network: NetworkRow, owner: NetworkRow, text: string): Program => {
  if (text !== text.toLowerCase() && text !== text.toUpperCase()) throw invalid('mixes upper and lower case')
  const lower = text.toLowerCase()
  // BIP-350: version 0 has the bech32 checksum, later ones bech32m.
  const codec = lower.charAt(owner.bech32.length + 1) === 'q' ? bech32 : bech32m
  const decoded = codec.decodeUnsafe(lower)
  if (decoded === undefined) throw invalid('has a wrong checksum: a letter is missing or mistyped')
  if (owner !== network) throw invalid(`belongs to ${owner.name}, not to ${network.name}`)
  const [version, ...words] = decoded.words
  const data = codec.fromWordsUnsafe(words)
  if (data === undefined || version === undefined) throw invalid('is not a whole number of bytes')
  if (version === 0 && data.length === 20) return { type: 'p2wpkh', data }
  if (version === 0 && data.length === 32) return { type: 'p2wsh', data }
  if (version === 1 && data.length === 32) return { type: 'p2tr', data }
  throw invalid(`is of a segwit version or length (${version}, ${data.length}) that cannot be paid yet`)
}

const readBase58 = (network: NetworkRow, known: readonly NetworkRow[], text: string): Program => {
  let bytes: Uint8Array
  try {
    bytes = base58.decode(text)
  } catch {
    const isSegwit = [bech32, bech32m].some(codec => codec.decodeUnsafe(text.toLowerCase()) !== undefined)
    if (isSegwit) throw invalid('belongs to another currency')
    throw invalid('is not an address of this currency, or a letter is missing or mistyped')
  }
  const [version = -1, ...rest] = bytes
  const data = Uint8Array.from(rest)
  if (data.length !== 20) throw invalid('has the wrong length')
  if (version === network.p2pkh) return { type: 'p2pkh', data }
  if (network.p2sh.includes(version)) return { type: 'p2sh', data }
  const owner = known.find(row => row.p2pkh === version || row.p2sh.includes(version))
  if (owner !== undefined) throw invalid(`belongs to ${owner.name}, not to ${network.name}`)
  throw invalid('belongs to another currency')
}
