import { isStale, type JsonObject, type RateSnapshot, rateAge } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { decimalText } from '../output/decimals.ts'
import { codeText } from '../output/money.ts'
import { ageText } from '../output/times.ts'
import { findSource } from '../rates/find-source.ts'
import { isoTime } from '../rates/route-facts.ts'
import type { Session } from '../session.ts'

/** Lists the rates that this device knows; nobody is asked. */
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
      empty: 'No rate is like that. Ask for fresh ones with: holdfast rates refresh'
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
