import { type ProviderRow, rateActions } from '../../../app/actions/rates.ts'
import { codeText, decimalText } from '../../../app/format/amounts.ts'
import { isoTime } from '../../../app/format/routes.ts'
import { ageText, durationText } from '../../../app/format/times.ts'
import { isStale, type JsonObject, type RatePair, type RateSnapshot, rateAge } from '../../../kernel/index.ts'
import type { Cell, CellLike } from '../../output/view.ts'
import { findSource, pairOf, refreshRates } from '../../rates/find-rate.ts'
import type { CommandRun } from '../../session/command.ts'
import { makeChange } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'

/** Lists the rates that this device knows, without a request to the providers. */
export const ratesPairs: CommandRun = async (session, ...texts) => {
  const { rates } = await session.context()
  const now = (await session.io()).clock.now() / 1000
  const source = session.text('source')
  const isWanted = choiceOf(session, texts, source === undefined ? undefined : findSource(rates, source))
  const pairs = [...rates.pairs()]
    .map(pair => withAge(pair, now))
    .filter(isWanted)
    .sort(byCodes)
  return {
    data: { pairs: pairs.map(pairJson) },
    view: {
      kind: 'table',
      columns: [
        { title: 'FROM' },
        { title: 'TO' },
        { title: 'RATE', align: 'right' },
        { title: 'AGE', align: 'right' },
        { title: 'STATE' },
        { title: 'SOURCE', canShrink: true }
      ],
      rows: pairs.map(pair => [
        pair.fromCurrency,
        pair.toCurrency,
        decimalText(pair.rate),
        ageText(pair.ageSeconds),
        pair.isStale ? { text: 'stale', tone: 'warn' } : { text: 'fresh', tone: 'good' },
        pair.source
      ]),
      empty: 'No rate matches. Fetch new ones with: holdfast rates refresh'
    }
  }
}

interface AgedPair extends RateSnapshot {
  readonly ageSeconds: number
  readonly isStale: boolean
}

const withAge = (pair: RateSnapshot, now: number): AgedPair => {
  const ageSeconds = rateAge(pair.at, now)
  return { ...pair, ageSeconds, isStale: isStale(ageSeconds) }
}

const choiceOf = (
  session: Session,
  texts: readonly (string | undefined)[],
  source: string | undefined
): ((pair: AgedPair) => boolean) => {
  const codes = new Set(texts.map(text => codeText(text ?? '').toLowerCase()))
  const isNamed = (code: string): boolean => codes.has(codeText(code).toLowerCase())
  return pair =>
    (codes.size === 0 || isNamed(pair.fromCurrency) || isNamed(pair.toCurrency)) &&
    (source === undefined || pair.source === source) &&
    (!session.isOn('stale') || pair.isStale)
}

const byCodes = (a: AgedPair, b: AgedPair): number =>
  a.fromCurrency.localeCompare(b.fromCurrency) ||
  a.toCurrency.localeCompare(b.toCurrency) ||
  a.source.localeCompare(b.source)

const pairJson = (pair: AgedPair): JsonObject => ({
  from: pair.fromCurrency,
  to: pair.toCurrency,
  rate: decimalText(pair.rate),
  source: pair.source,
  at: isoTime(pair.at),
  ageSeconds: Math.round(pair.ageSeconds),
  stale: pair.isStale
})

/** Refreshes the rates, and lists the state of each provider. */
export const ratesProviders: CommandRun = async session => {
  await refreshRates(session, [])
  const { providers } = await session.run(rateActions['rates.providers'], {})
  return {
    data: { providers: providers.map(providerJson) },
    view: {
      kind: 'table',
      columns: [
        { title: 'ID' },
        { title: 'NAME', canShrink: true },
        { title: 'STATE' },
        { title: 'PAIRS', align: 'right' },
        { title: 'TOOK', align: 'right' },
        { title: 'BIAS', align: 'right' },
        { title: 'WHY', canShrink: true }
      ],
      rows: providers.map(cellsOf),
      empty: 'No rate source is installed.'
    }
  }
}

/** Refreshes the rates, and shows their number. */
export const ratesRefresh: CommandRun = async session => {
  await refreshRates(session, [])
  const { providers } = await session.run(rateActions['rates.providers'], {})
  const { pairCount, updatedAt } = (await session.context()).rates.getSnapshot()
  const answered = providers.filter(({ state }) => state === 'answered')
  const requested = providers.filter(({ state }) => state !== 'retired' && state !== 'idle')
  return {
    data: {
      pairs: pairCount,
      updatedAt: updatedAt === undefined ? null : isoTime(updatedAt),
      providers: providers.map(providerJson)
    },
    warnings: requested
      .filter(provider => !answered.includes(provider))
      .map(({ untrusted, state }) => `${untrusted.displayName}: ${untrusted.message ?? state}`),
    view: {
      kind: 'record',
      fields: [
        ['pairs', String(pairCount)],
        ['answered', `${answered.length} of ${requested.length} providers`]
      ]
    }
  }
}

const providerJson = (provider: ProviderRow): JsonObject => ({
  id: provider.pluginId,
  name: provider.untrusted.displayName,
  bias: provider.bias,
  state: provider.state,
  pairs: provider.pairCount,
  answeredAt: provider.answeredAt === undefined ? null : new Date(provider.answeredAt).toISOString(),
  durationMs: provider.durationMs === undefined ? null : Math.round(provider.durationMs),
  error: provider.errorCode ?? null,
  message: provider.untrusted.message ?? null
})

const cellsOf = (provider: ProviderRow): readonly CellLike[] => [
  provider.pluginId,
  provider.untrusted.displayName,
  stateCell(provider),
  provider.pairCount === 0 ? '' : String(provider.pairCount),
  provider.durationMs === undefined ? '' : durationText(provider.durationMs),
  String(provider.bias),
  provider.untrusted.message ?? ''
]

const stateCell = ({ state }: ProviderRow): Cell => {
  if (state === 'answered') return { text: state, tone: 'good' }
  if (state === 'failed') return { text: state, tone: 'bad' }
  return { text: state, tone: state === 'silent' ? 'warn' : 'dim' }
}

/** Lists the rate hints: the pairs that providers are asked for. */
export const ratesHintsList: CommandRun = async session => {
  const { rates } = await session.context()
  const pairs = [...rates.hints.list()]
  return {
    data: { hints: pairs.map(hintJson) },
    view: {
      kind: 'table',
      columns: [{ title: 'FROM' }, { title: 'TO' }],
      rows: pairs.map(({ fromCurrency, toCurrency }) => [fromCurrency, toCurrency]),
      empty: 'There are no rate hints; the sources are asked for BTC, BCH and ETH in every fiat currency.'
    }
  }
}

/** Adds a rate hint. */
export const ratesHintsAdd: CommandRun = async (session, from = '', to = '') => {
  const { rates } = await session.context()
  const pair = pairOf(rates, { from, to })
  return makeChange(session, {
    doing: 'Adding the pair',
    done: `${pair.fromCurrency} to ${pair.toCurrency}: added to the rate hints`,
    data: hintJson(pair),
    call: async () => rates.hints.add(pair)
  })
}

/** Clears the rate hints; the default pairs stay. */
export const ratesHintsClear: CommandRun = async session => {
  const { rates } = await session.context()
  return makeChange(session, {
    doing: 'Clearing the pairs',
    done: 'the rate hints are reset to the default pairs',
    data: {},
    call: async () => rates.hints.clear()
  })
}

const hintJson = ({ fromCurrency, toCurrency }: RatePair) => ({ from: fromCurrency, to: toCurrency })
