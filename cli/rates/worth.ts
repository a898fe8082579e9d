import { roundedValue, sumText, valueText } from '../../app/format/amounts.ts'
import { originJson } from '../../app/format/routes.ts'
import type { AmountUnits, JsonObject, NativeAmount, RatePair, RouteSnapshot } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Session } from '../session/session.ts'
import { refreshRates } from './find-rate.ts'

/** A value in fiat money. */
export interface Worth {
  /** The currency, such as `iso:EUR`. */
  readonly code: string
  /** Exact for the rate, as decimal text. */
  readonly value: string
  readonly route: RouteSnapshot
}

/** Converts amounts into one currency; undefined without a rate. */
export type Valuation = (amount: NativeAmount, units: AmountUnits) => Worth | undefined

/**
 * Refreshes the rates of some assets in one currency.
 *
 * @throws CliError USAGE unless the code is of a fiat currency; DEADLINE
 */
export const openValuation = async (
  session: Session,
  typed: string,
  assets: readonly AmountUnits[]
): Promise<Valuation> => {
  const code = fiatCodeOf(typed)
  await refreshRates(session, pairsOf(assets, code))
  return valuationOf(session, code)
}

/** Keeps the rates of some assets in one currency fresh, until the returned function is called. @throws CliError USAGE */
export const keepRatesFresh = async (
  session: Session,
  typed: string,
  assets: readonly AmountUnits[]
): Promise<() => void> => (await session.context()).rates.want(pairsOf(assets, fiatCodeOf(typed)))

const pairsOf = (assets: readonly AmountUnits[], toCurrency: string): readonly RatePair[] =>
  assets.map(({ currencyCode: fromCurrency }) => ({ fromCurrency, toCurrency }))

/** Converts with the known rates, without a refresh. @throws CliError USAGE */
export const valuationOf = async (session: Session, typed: string): Promise<Valuation> => {
  const code = fiatCodeOf(typed)
  const { rates } = await session.context()
  return (amount, { currencyCode, denominations }) => {
    const found = rates.valueOf(amount, denominations[0]?.multiplier ?? '1', currencyCode, code)
    return found === undefined ? undefined : { code, ...found }
  }
}

/** Normalizes the code of a fiat currency, such as `iso:EUR`. @throws CliError USAGE */
export const fiatCodeOf = (typed: string): string => {
  const code = typed.trim().replace(/^iso:/i, '').toUpperCase()
  if (/^iso:/i.test(typed.trim()) && /^[A-Z]{3}$/.test(code)) return `iso:${code}`
  throw new CliError('USAGE', `"${typed}" is not the money of a state`, { hint: 'Write it as iso:EUR.' })
}

/** A value as JSON (ecosystem 1.8); null without a rate. */
export const worthJson = (worth: Worth | undefined): JsonObject | null =>
  worth === undefined
    ? null
    : { code: worth.code, value: roundedValue(worth.value, worth.code), ...originJson(worth.route) }

/** Formats a value; '' without a rate. */
export const worthText = (worth: Worth | undefined): string =>
  worth === undefined ? '' : valueText(worth.value, worth.code)

/** Adds values of one currency; the sum is as old as its oldest rate. Undefined without a value. */
export const totalWorth = (worths: readonly Worth[]): Worth | undefined => {
  const [first] = worths
  if (first === undefined) return undefined
  const hops = worths.flatMap(({ route }) => route.hops)
  return {
    code: first.code,
    value: sumText(worths.map(({ value }) => value)),
    route: { ...first.route, hops, isStale: worths.some(({ route }) => route.isStale) }
  }
}
