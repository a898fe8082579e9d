import {
  type AddressFault,
  fromDenomination,
  type NativeAmount,
  nativeAmount,
  type ParsedUri,
  toDenomination,
  type UriRequest,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import type { CoinRow, NetworkRow } from '../params/coin-row.ts'
import { parseAddress } from './address.ts'

/**
 * Reads a BIP-21 URI, or a bare address.
 *
 * Amounts are exact decimals of the main denomination. Unknown parameters are ignored, unknown `req-` parameters
 * refused, as BIP-21 says. A link of the payment protocol (BIP-72) is read where it names an address to fall back to.
 *
 * @throws ADDRESS_INVALID, AMOUNT_INVALID, NOT_SUPPORTED
 */
export const parseUri = (coin: CoinRow, network: NetworkRow, text: string): ParsedUri => {
  const trimmed = text.trim()
  if (trimmed.length > MAX_LENGTH) throw invalid(`is longer than ${MAX_LENGTH} characters`)
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(trimmed)?.[1]?.toLowerCase()
  if (scheme === undefined) return spellings(coin, network, trimmed)
  if (!network.uriSchemes.includes(scheme))
    throw invalid(`is a link of "${scheme}", not of ${coin.displayName}`, 'currency')
  const rest = trimmed.slice(scheme.length + 1).replace(/^\/\//, '')
  const split = rest.indexOf('?')
  const address = decode(split === -1 ? rest : rest.slice(0, split)).replace(/\/$/, '')
  const parameters = readParameters(split === -1 ? '' : rest.slice(split + 1))
  if (address === '' && parameters.has('r'))
    throw new WalletError('NOT_SUPPORTED', { what: 'the payment protocol' })
  const amount = parameters.get('amount')
  const label = parameters.get('label')
  const message = parameters.get('message')
  return {
    ...spellings(coin, network, address),
    ...(amount === undefined ? {} : { nativeAmount: amountOf(coin, amount), currencyCode: coin.code }),
    ...(label === undefined ? {} : { label }),
    ...(message === undefined ? {} : { message })
  }
}

/** Writes a BIP-21 URI. @throws ADDRESS_INVALID, AMOUNT_INVALID */
export const encodeUri = (coin: CoinRow, network: NetworkRow, request: UriRequest): string => {
  const { address } = parseAddress(coin, network, request.publicAddress)
  const parameters: string[] = []
  if (request.nativeAmount !== undefined) {
    const amount = nativeAmount(request.nativeAmount)
    if (amount.startsWith('-')) throw new WalletError('AMOUNT_INVALID', { rule: 'must not be negative' })
    parameters.push(`amount=${toDenomination(amount, multiplierOf(coin))}`)
  }
  if (request.label !== undefined) parameters.push(`label=${encode(request.label)}`)
  if (request.message !== undefined) parameters.push(`message=${encode(request.message)}`)
  if (parameters.length === 0 && request.nativeAmount === undefined)
    return `${network.uriSchemes[0]}:${address}`
  return `${network.uriSchemes[0]}:${address}?${parameters.join('&')}`
}

/** Litecoin once wrote script hashes as Bitcoin does: such an address may well be meant for the other chain. */
const spellings = (coin: CoinRow, network: NetworkRow, text: string): ParsedUri => {
  const { address } = parseAddress(coin, network, text)
  const isUsual = address.toLowerCase() === text.toLowerCase()
  return { publicAddress: address, ...(isUsual ? {} : { legacyAddress: text }) }
}

const MAX_LENGTH = 4096
const READ = new Set(['amount', 'label', 'message', 'r'])

const invalid = (rule: string, fault: AddressFault = 'form'): WalletError =>
  new WalletError('ADDRESS_INVALID', { rule, fault })

const multiplierOf = (coin: CoinRow): string => coin.denominations[0]?.multiplier ?? '1'

const amountOf = (coin: CoinRow, text: string): NativeAmount => fromDenomination(text, multiplierOf(coin))

// Half a surrogate pair has no place in a link.
const encode = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid('has a broken % sequence in its link')
  }
}

const readParameters = (query: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals === -1 ? part : part.slice(0, equals)).toLowerCase()
    if (name.startsWith('req-')) throw invalid(`needs "${name}", which this wallet does not know`)
    if (!READ.has(name)) continue
    if (found.has(name)) throw invalid(`names "${name}" twice`)
    found.set(name, decode(equals === -1 ? '' : part.slice(equals + 1)))
  }
  return found
}
