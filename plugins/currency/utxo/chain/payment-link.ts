import {
  type AddressFault,
  compact,
  fromDenomination,
  isWalletError,
  type NativeAmount,
  nativeAmount,
  type ParsedUri,
  toDenomination,
  type UriRequest,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import type { CoinRow, NetworkRow } from '../params/coin.ts'
import { base58AddressOf, networksOf, parseAddress } from './address.ts'

/**
 * Reads a link for payment (BIP-321, which took the place of BIP-21), or a bare address.
 *
 * A link may name several addresses: one before the parameters, others in parameters named like the start of a segwit address (`bc`). The
 * newest kind that can be paid is taken. Amounts are exact decimals of the main denomination. Unknown parameters are ignored, unknown
 * `req-` parameters refused. A link of the payment protocol (BIP-72), of Lightning or of silent payments is read where it names an
 * address, too.
 *
 * @throws ADDRESS_INVALID, AMOUNT_INVALID, NOT_SUPPORTED
 */
export const parseUri = (coin: CoinRow, network: NetworkRow, text: string): ParsedUri => {
  const trimmed = text.trim()
  if (trimmed.length > MAX_URI_LENGTH) throw invalidUri(`is longer than ${MAX_URI_LENGTH} characters`)
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(trimmed)?.[1]?.toLowerCase()
  if (scheme === undefined) return spellings(coin, network, trimmed)
  if (scheme === 'bitid')
    throw new WalletError('NOT_SUPPORTED', {
      what: 'payments by BitID, whose links ask for a login: sign the whole link with message sign'
    })
  const isPrefix = networksOf(coin, network).some(({ cashaddr }) => cashaddr === scheme)
  if (!network.uriSchemes.includes(scheme) && !isPrefix)
    throw invalidUri(`is a link of "${scheme}", not of ${coin.displayName}`, 'currency')
  const rest = trimmed.slice(scheme.length + 1).replace(/^\/\//, '')
  const split = rest.indexOf('?')
  const address = decode(split === -1 ? rest : rest.slice(0, split)).replace(/\/$/, '')
  const parameters = readParameters(split === -1 ? '' : rest.slice(split + 1))
  const [amount, label, message] = ['amount', 'label', 'message'].map(name => parameters.get(name)?.[0])
  return {
    ...payeeOf(coin, network, { address, parameters }),
    ...(amount === undefined ? {} : { nativeAmount: amountOf(coin, amount), currencyCode: coin.code }),
    ...compact({ label, message })
  }
}

type Parameters = ReadonlyMap<string, readonly string[]>

/** The address to pay of those that a link names: the newest kind that can be paid, of one kind the first. */
const payeeOf = (
  coin: CoinRow,
  network: NetworkRow,
  { address, parameters }: { readonly address: string; readonly parameters: Parameters }
): ParsedUri => {
  const prefixes = new Set(networksOf(coin, network).flatMap(({ bech32 }) => bech32 ?? []))
  const segwit = [...prefixes].flatMap(prefix =>
    (parameters.get(prefix) ?? []).map(text => ({ prefix, text }))
  )
  const misplaced = segwit.find(({ prefix, text }) => !text.toLowerCase().startsWith(`${prefix}1`))
  if (misplaced !== undefined)
    throw invalidUri(`has in "${misplaced.prefix}" an address that does not begin with ${misplaced.prefix}1`)
  const own = segwit.flatMap(({ prefix, text }) => (prefix === network.bech32 ? text : []))
  const [first, ...more] = address === '' ? own : [address, ...own]
  if (first === undefined) {
    const method = METHODS.find(([name]) => parameters.has(name))?.[1]
    // An address of another network is refused with the name of that.
    if (segwit[0] === undefined && method !== undefined)
      throw new WalletError('NOT_SUPPORTED', { what: method })
    return spellings(coin, network, segwit[0]?.text ?? '')
  }
  if (more.length === 0) return spellings(coin, network, first)
  return newestOf(coin, network, [first, ...more])
}

const newestOf = (coin: CoinRow, network: NetworkRow, texts: readonly string[]): ParsedUri => {
  let [newest, age]: [ParsedUri | undefined, number] = [undefined, -1]
  let unpayable: unknown
  for (const text of texts) {
    try {
      const { program } = parseAddress(coin, network, text)
      const at = AGES[program.type]
      if (at > age) [newest, age] = [spellings(coin, network, text), at]
    } catch (error) {
      if (!isWalletError(error, 'ADDRESS_INVALID') || error.details.fault !== 'kind') throw error
      unpayable = error
    }
  }
  if (newest === undefined) throw unpayable
  return newest
}

const AGES = { p2pkh: 0, p2sh: 0, p2wpkh: 1, p2wsh: 1, p2tr: 2 } as const

/** The ways to pay that have no address of the chain, by their parameters. */
const METHODS = [
  ['r', 'the payment protocol'],
  ['lightning', 'payments by Lightning'],
  ['lno', 'payments by Lightning'],
  ['sp', 'silent payments'],
  ['pay', 'private payment addresses']
] as const

/** Writes a link for payment, with the address where older wallets look for it. @throws ADDRESS_INVALID, AMOUNT_INVALID */
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
  const scheme = `${network.uriSchemes[0]}:`
  // The prefix of Bitcoin Cash is its scheme.
  const link = address.startsWith(scheme) ? address : `${scheme}${address}`
  return parameters.length === 0 ? link : `${link}?${parameters.join('&')}`
}

/**
 * Litecoin once wrote script hashes, and Bitcoin Cash all hashes, as Bitcoin does: such an address may well be meant for the
 * other chain.
 */
const spellings = (coin: CoinRow, network: NetworkRow, text: string): ParsedUri => {
  const { address, program } = parseAddress(coin, network, text)
  const isUsual =
    network.cashaddr === undefined
      ? address.toLowerCase() === text.toLowerCase()
      : text !== base58AddressOf(network, program)
  return { publicAddress: address, ...compact({ legacyAddress: isUsual ? undefined : text }) }
}

const MAX_URI_LENGTH = 4096

const invalidUri = (rule: string, fault: AddressFault = 'form'): WalletError =>
  new WalletError('ADDRESS_INVALID', { rule, fault })

const multiplierOf = (coin: CoinRow): string => coin.denominations[0]?.multiplier ?? '1'

const amountOf = (coin: CoinRow, text: string): NativeAmount => fromDenomination(text, multiplierOf(coin))

// Half a surrogate pair has no place in a link.
const encode = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalidUri('has a broken % sequence in its link')
  }
}

const readParameters = (query: string): Parameters => {
  const found = new Map<string, string[]>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals === -1 ? part : part.slice(0, equals)).toLowerCase()
    const values = found.get(name) ?? []
    values.push(decode(equals === -1 ? '' : part.slice(equals + 1)))
    if (values.length > 1 && ONCE.has(name)) throw invalidUri(`names "${name}" twice`)
    found.set(name, values)
  }
  for (const name of found.keys())
    if (name.startsWith('req-')) throw invalidUri(`needs "${name}", which this wallet does not know`)
  return found
}

/** Of these a link has one at most, even where two are equal. */
const ONCE = new Set(['amount', 'label', 'message', 'pop', 'r'])
