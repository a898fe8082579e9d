import {
  compact,
  type PluginId,
  type RateProviderSnapshot,
  type RouteHopSnapshot,
  type RouteSnapshot,
  type TokenId,
  typedPair,
  type WalletId
} from '../../kernel/index.ts'
import { ageOf, sourcesOf } from '../format/routes.ts'
import { trimmed } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import {
  about,
  amount,
  code,
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
  oneOf,
  optional,
  PLUGIN_NAMES,
  pluginId,
  shortText,
  table,
  text,
  time,
  untrusted,
  untrustedMessage
} from './schema.ts'
import { walletOf } from './services.ts'
import { IN_TABLES, unitsOfAsset } from './shared-fields.ts'
import { tokenId, walletId } from './spend-review.ts'

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

interface ValueQuery {
  readonly walletId: WalletId
  readonly tokenId?: TokenId
  readonly nativeAmount: string
  readonly to: string
}

/** What an amount is worth at the known rates, and how old the oldest of them is. */
interface Worth {
  readonly value: string
  readonly currency: string
  readonly ageSeconds: number
  readonly isStale: boolean
  readonly sources: readonly PluginId[]
  readonly route: RouteSnapshot
}

/** A source of rates: its state and its last answer. */
export interface ProviderRow {
  readonly pluginId: PluginId
  readonly state: RateProviderSnapshot['state']
  readonly bias: number
  readonly pairCount: number
  readonly answeredAt?: number
  readonly durationMs?: number
  readonly errorCode?: string
  readonly untrusted: { readonly displayName: string; readonly message?: string }
}

/** Actions about exchange rates. */
export interface RateActions {
  readonly 'rates.route': { readonly in: RouteQuery; readonly out: FoundRoute }
  readonly 'rates.value': { readonly in: ValueQuery; readonly out: { readonly worth: Worth | null } }
  readonly 'rates.providers': {
    readonly in: Nothing
    readonly out: { readonly providers: readonly ProviderRow[] }
  }
  readonly 'rates.refresh': { readonly in: Nothing; readonly out: Nothing }
}

const currency = code(200)

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
  'rates.value': {
    title: 'Find the value of an amount',
    summary: 'Gives the value of an amount of a wallet in another currency, at the rates that are known.',
    effect: 'reads',
    input: object<ValueQuery>({
      walletId,
      tokenId: optional(tokenId),
      nativeAmount: about(amount, 'The amount in native units'),
      to: about(text(100), 'The other currency, such as iso:EUR')
    }),
    output: object<RateActions['rates.value']['out']>({
      worth: about(
        nullable(
          object<Worth>({
            value: about(shortText(400), 'Decimal text, exact for the rate'),
            currency,
            ageSeconds: about(number, 'The age of the oldest price'),
            isStale: about(flag, 'True if a price is so old that the value may mislead'),
            sources: list(pluginId, 20),
            route
          })
        ),
        'null without a rate: it can come with rates.refresh'
      )
    }),
    async run(services, { walletId: held, tokenId: token, nativeAmount, to }) {
      const { wallet } = await walletOf(services, held)
      const { currencyCode, decimals } = unitsOfAsset(wallet, token ?? null)
      const { rates } = services.context
      const { toCurrency } = typedPair(rates.pairs(), currencyCode, to)
      const found = rates.valueOf(nativeAmount, `1${'0'.repeat(decimals)}`, currencyCode, toCurrency)
      return { worth: found === undefined ? null : worthOf(found.value, toCurrency, found.route) }
    },
    commandLine: ({ walletId: held, tokenId: token, nativeAmount, to }, names) => {
      const { word, account } = names.walletOf(held)
      const typed = names.amountOf(nativeAmount, held, token)
      return { words: ['amount', word, typed], flags: { to: trimmed(to), token, account } }
    },
    faces: {
      cli: 'amount',
      panel: { none: 'the rates panel finds the routes by which a value is found' },
      mcp: 'tool'
    }
  },
  'rates.providers': {
    title: 'List the sources of rates',
    summary: 'Lists the sources of rates with their state and their last answer.',
    effect: 'reads',
    input: nothing,
    output: object<RateActions['rates.providers']['out']>({
      providers: list(
        object<ProviderRow>({
          pluginId,
          state: oneOf('idle', 'asked', 'answered', 'silent', 'failed', 'retired'),
          bias: number,
          pairCount: count(0, 1_000_000_000),
          answeredAt: optional(time),
          durationMs: optional(about(number, 'The time that the last answer took')),
          errorCode: optional(code(100)),
          untrusted: object<ProviderRow['untrusted']>({
            displayName: untrusted(),
            message: optional(untrustedMessage)
          })
        }),
        100
      )
    }),
    run: async ({ context }) => ({ providers: context.rates.getSnapshot().providers.map(providerRowOf) }),
    commandLine: () => ({ words: ['rates', 'providers'] }),
    faces: { cli: 'rates providers', panel: IN_TABLES, mcp: 'tool' }
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
    faces: { cli: 'rates refresh', panel: 'route-form', mcp: 'tool' }
  }
}

const worthOf = (value: string, currencyCode: string, found: RouteSnapshot): Worth => ({
  value,
  currency: currencyCode,
  ageSeconds: ageOf(found),
  isStale: found.isStale,
  sources: sourcesOf(found),
  route: found
})

const providerRowOf = (provider: RateProviderSnapshot): ProviderRow => {
  const { pluginId: source, state, bias, pairCount, answeredAt, durationMs, errorCode } = provider
  const { displayName, message } = provider
  return {
    ...{ pluginId: source, state, bias, pairCount },
    ...compact({
      answeredAt: answeredAt === undefined ? undefined : answeredAt * 1000,
      durationMs,
      errorCode
    }),
    untrusted: { displayName, ...compact({ message }) }
  }
}

/** Six decimals, as many as the command takes; still above -1. */
const biasText = (bias: number): string => String(Number(Math.max(bias, -0.999999).toFixed(6)))
