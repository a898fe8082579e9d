import { isRecord, parseJson } from '../../../kernel/base/json.ts'
import { type FakeReply, jsonReply } from '../../replies.ts'
import type { ProviderRequest } from '../fake-provider.ts'
import { FAKE_COINS, type FakeCoin } from './fake-coin.ts'

/** How one exchange calls a coin. */
export interface CoinNames {
  readonly coin: string
  readonly network: string
}

/** The names of all coins at one exchange, by code. */
export type CoinTable = Readonly<Record<string, CoinNames>>

/** The coin that an exchange calls so; letters of either case. */
export const coinNamed = (table: CoinTable, coin: unknown, network: unknown): FakeCoin | undefined =>
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

// A control character that JSON must escape cannot stand in a text by chance.
const NUMBER_MARK = '\u0001'
const MARKED = /"\\u0001(\d+(?:\.\d+)?)"/g
