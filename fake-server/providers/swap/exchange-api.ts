import { isRecord, parseJson } from '../../../kernel/base/json.ts'
import { type FakeReply, jsonReply } from '../../base/replies.ts'
import type { ChainId } from '../../chain/open-chain.ts'
import type { ProviderRequest } from '../market/provider.ts'

/** One exchange's names of a coin. */
export interface ExchangeCoinNames {
  readonly coin: string
  readonly network: string
}

/** The names of all coins at one exchange, by code. */
export type ExchangeCoins = Readonly<Record<string, ExchangeCoinNames>>

/** The coin that an exchange calls so; letters of either case. */
export const coinNamed = (table: ExchangeCoins, coin: unknown, network: unknown): FakeCoin | undefined =>
  FAKE_COINS.find(({ code }) => {
    const names = table[code]
    return (
      names !== undefined &&
      names.coin.toLowerCase() === String(coin).toLowerCase() &&
      names.network.toLowerCase() === String(network).toLowerCase()
    )
  })

/** The JSON object of a request's body; an empty one for anything else. */
export const bodyOf = ({ body }: ProviderRequest): Readonly<Record<string, unknown>> => {
  try {
    const value = parseJson(body, 'request')
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

/** Marks decimal text that becomes a JSON number with exactly these digits. */
export const asNumber = (decimal: string): string => `${NUMBER_MARK}${decimal}`

/** A JSON answer in which marked texts are numbers. */
export const numberReply = (status: number, body: unknown): FakeReply => {
  const reply = jsonReply(status, body)
  return { ...reply, body: reply.body.replace(MARKED, '$1') }
}

// A control character that JSON must escape does not occur in other texts.
const NUMBER_MARK = '\u0001'
const MARKED = /"\\u0001(\d+(?:\.\d+)?)"/g

/** A coin or token that fake exchanges swap. */
export interface FakeCoin {
  readonly code: string
  /** The currency plugin of its chain. */
  readonly chain: string
  /** Native units in one are 10 to this power. */
  readonly decimals: number
  /** Of a token. */
  readonly contract?: string
}

/** The coins that fake exchanges list. Only those on a chain of the world can be ordered; the others are quoted. */
export const FAKE_COINS: readonly FakeCoin[] = [
  { code: 'BTC', chain: 'bitcoin', decimals: 8 },
  { code: 'LTC', chain: 'litecoin', decimals: 8 },
  { code: 'BCH', chain: 'bitcoincash', decimals: 8 },
  { code: 'DOGE', chain: 'dogecoin', decimals: 8 },
  { code: 'ETH', chain: 'ethereum', decimals: 18 },
  {
    code: 'USDC',
    chain: 'ethereum',
    decimals: 6,
    contract: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
  }
]

/** The chain of a coin, if the world has it. */
export const worldChainOf = ({ chain, contract }: FakeCoin): ChainId | undefined =>
  contract === undefined && (chain === 'bitcoin' || chain === 'litecoin') ? chain : undefined

/** Native units as decimal text of whole coins: `0.015`. */
export const toCoins = (amount: bigint, { decimals }: Pick<FakeCoin, 'decimals'>): string => {
  const digits = String(amount).padStart(decimals + 1, '0')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const whole = digits.slice(0, digits.length - decimals)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Native units of decimal text or of a JSON number; undefined if it is none, or finer than a native unit. */
export const fromCoins = (value: unknown, { decimals }: Pick<FakeCoin, 'decimals'>): bigint | undefined => {
  const found = /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(String(value))
  if (found === null) return undefined
  const [, whole = '', fraction = ''] = found
  const rest = fraction.slice(decimals)
  if (/[1-9]/.test(rest)) return undefined
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
}
