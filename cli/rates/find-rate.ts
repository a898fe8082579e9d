import { ageOf } from '../../app/format/routes.ts'
import {
  type FoundRoutes,
  type RatePair,
  type RateService,
  type RouteSnapshot,
  typedPair,
  WalletError
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseDuration, parsePairs } from '../grammar/options.ts'
import type { Session } from '../session/session.ts'

/** A pair of currencies as typed, and the number of routes to find. */
export interface RateRequest {
  readonly from: string
  readonly to: string
  /** The number of routes beside the cheapest one. */
  readonly alternatives?: number
}

/**
 * Finds a route after refreshing the rates; with `--max-age` a route that is young enough is used without a refresh.
 * Offline, and if no provider replies, the stored rates are used.
 *
 * @throws NO_RATE, CliError RATE_TOO_OLD, USAGE, NOT_FOUND
 */
export const findRate = async (session: Session, request: RateRequest): Promise<FoundRoutes> => {
  const maxAge = maxAgeOf(session)
  const { rates } = await session.context()
  const isYoung = (route: RouteSnapshot): boolean => ageOf(route) * 1000 <= (maxAge ?? 0)
  const find = routeFinder(session, rates, request)
  const known = maxAge === undefined ? undefined : await find()
  if (known !== undefined && isYoung(known)) return known
  await refreshRates(session, [pairOf(rates, request)])
  const found = await find()
  if (found === undefined) {
    const { fromCurrency, toCurrency } = pairOf(rates, request)
    throw new WalletError('NO_RATE', { from: fromCurrency, to: toCurrency })
  }
  if (maxAge !== undefined && !isYoung(found)) throw tooOld(found)
  return found
}

/**
 * Returns a function that finds a route among the known rates, with the biases of `--bias`.
 *
 * @throws CliError USAGE, NOT_FOUND
 */
export const routeFinder = (
  session: Session,
  rates: RateService,
  request: RateRequest
): (() => Promise<FoundRoutes | undefined>) => {
  const biases = biasesOf(session, rates)
  return async () => {
    const { rateActions } = await rateActionsLoaded()
    const { route, alternatives } = await session.run(rateActions['rates.route'], { ...request, biases })
    return route === null ? undefined : { ...route, alternatives }
  }
}

/** Refreshes some pairs once; without effect offline. @throws DEADLINE */
export const refreshRates = async (session: Session, pairs: readonly RatePair[]): Promise<void> => {
  if (session.globals.offline) return
  const [{ rates }, { rateActions }] = await Promise.all([session.context(), rateActionsLoaded()])
  const stop = rates.want(pairs)
  try {
    await session.withProgress('Fetching rates', () => session.run(rateActions['rates.refresh'], {}))
  } finally {
    stop()
  }
}

/** Loads the actions when a rate is needed, since a balance mostly needs none. */
const rateActionsLoaded = () => import('../../app/actions/rates.ts')

/** Returns the pair that a user means. */
export const pairOf = (rates: RateService, { from, to }: RateRequest): RatePair =>
  typedPair(rates.pairs(), from, to)

const maxAgeOf = (session: Session): number | undefined => {
  const text = session.text('maxAge')
  return text === undefined ? undefined : parseDuration(text)
}

const biasesOf = (session: Session, rates: RateService): Record<string, number> =>
  Object.fromEntries(
    Object.entries(parsePairs(session.texts('bias'), 'bias')).map(([source, text]) => [
      findSource(rates, source),
      biasOf(text)
    ])
  )

const biasOf = (text: string): number => {
  const bias = /^-?\d{1,3}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  if (bias > -1 && bias <= 100) return bias
  throw new CliError('USAGE', 'A bias is a number above -1 and up to 100, such as kraken=0.5')
}

const tooOld = (route: RouteSnapshot): CliError =>
  new CliError('RATE_TOO_OLD', `The newest rate is ${Math.round(ageOf(route))} s old`, {
    details: {
      from: route.fromCurrency,
      to: route.toCurrency,
      ageSeconds: Math.round(ageOf(route))
    },
    hint: 'Allow an older rate with --max-age, or see why no source gave a newer one.',
    next: [{ command: 'holdfast rates providers', why: 'see the state of each source' }]
  })

/**
 * Finds a rate source by its id, in any case: a provider, or the source of rates that this device still has.
 *
 * @throws CliError NOT_FOUND with the known ids
 */
export const findSource = (rates: Pick<RateService, 'getSnapshot' | 'pairs'>, text: string): string => {
  const ids = new Set(rates.getSnapshot().providers.map(({ pluginId }) => pluginId))
  for (const { source } of rates.pairs()) ids.add(source)
  if (ids.has(text)) return text
  const found = [...ids].find(id => id.toLowerCase() === text.toLowerCase())
  if (found !== undefined) return found
  throw new CliError('NOT_FOUND', `There is no source of rates "${text}"`, {
    hint: `Use one of ${[...ids].join(', ')}.`
  })
}
