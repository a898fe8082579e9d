import { compact, type RouteHopSnapshot, type RouteSnapshot, typedPair } from '../../kernel/index.ts'
import { trimmed } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import {
  about,
  count,
  type Field,
  flag,
  list,
  type Nothing,
  nothing,
  nullable,
  number,
  numberAbove,
  object,
  optional,
  PLUGIN_NAMES,
  pluginId,
  shortText,
  table,
  text
} from './schema.ts'

/** A conversion to find a route for. */
interface RouteQuery {
  readonly from: string
  readonly to: string
  readonly biases?: Readonly<Record<string, number>>
  readonly alternatives?: number
}

interface FoundRoute {
  readonly route: RouteSnapshot | null
  readonly alternatives: readonly RouteSnapshot[]
}

/** Actions about exchange rates. */
export interface RateActions {
  readonly 'rates.route': { readonly in: RouteQuery; readonly out: FoundRoute }
  readonly 'rates.refresh': { readonly in: Nothing; readonly out: Nothing }
}

const currency = shortText(200)

const route: Field<RouteSnapshot> = object<RouteSnapshot>({
  fromCurrency: currency,
  toCurrency: currency,
  rate: about(number, 'The price of one fromCurrency in toCurrency'),
  hops: list(
    object<RouteHopSnapshot>({
      fromCurrency: currency,
      toCurrency: currency,
      rate: number,
      source: pluginId,
      at: about(number, 'Seconds since 1970'),
      ageSeconds: number,
      bias: number,
      isInverted: about(flag, 'True if the source has the pair in the other direction'),
      cost: number
    }),
    20
  ),
  cost: number,
  isStale: about(flag, 'True if a price is so old that the rate may mislead')
})

/** Exchange rates and the routes through them. */
export const rateActions: DeclarationsOf<RateActions> = {
  'rates.route': {
    title: 'Find a route',
    summary: 'Finds the cheapest way to convert one currency into another through the known prices.',
    effect: 'reads',
    input: object<RouteQuery>({
      from: about(text(100), 'A currency, such as BTC or iso:EUR'),
      to: about(text(100), 'A currency, such as BTC or iso:EUR'),
      // The bounds are those of `--bias`, so that every action has its command.
      biases: optional(
        about(
          table(numberAbove(-1, 100), PLUGIN_NAMES, 'must be numbers above -1 and up to 100, by plugin'),
          'Other biases of sources than those set'
        )
      ),
      alternatives: optional(about(count(0, 20), 'The number of other routes to give'))
    }),
    output: object<FoundRoute>({ route: nullable(route), alternatives: list(route, 20) }),
    async run({ context, isReadOnly = false }, { from, to, biases, alternatives }) {
      const { fromCurrency, toCurrency } = typedPair(context.rates.pairs(), from, to)
      const found = context.rates.findRoute(fromCurrency, toCurrency, {
        isLookOnly: isReadOnly,
        ...compact({ biases, alternatives })
      })
      if (found === undefined) return { route: null, alternatives: [] }
      const { alternatives: others, ...best } = found
      return { route: best, alternatives: others }
    },
    commandLine: ({ from, to, biases = {}, alternatives = 0 }) => ({
      words: ['rates', 'route', trimmed(from), trimmed(to)],
      flags: {
        explain: alternatives > 0,
        bias: Object.entries(biases).map(([source, bias]) => `${source}=${biasText(bias)}`)
      }
    }),
    faces: { cli: 'rates route', panel: 'route-form', mcp: 'tool' }
  },
  'rates.refresh': {
    title: 'Ask for new rates',
    summary: 'Asks all sources for their prices now.',
    effect: 'changes',
    input: nothing,
    output: nothing,
    async run({ context }) {
      await context.rates.refresh()
      return {}
    },
    commandLine: () => ({ words: ['rates', 'refresh'] }),
    faces: { cli: 'rates refresh', panel: 'rates-panel', mcp: 'tool' }
  }
}

/** Six decimals, as many as the command takes; still above -1. */
const biasText = (bias: number): string => String(Number(Math.max(bias, -0.999999).toFixed(6)))
