import { compact } from '../../kernel/base/compact.ts'
import type { QuoteSnapshot } from '../../kernel/index.ts'
import { readState, writeState } from '../profile/state-files.ts'

const FILE = 'swap-providers.json'
/** The number of answers to remember. */
const MAX_ANSWERS = 20

/** The record of one swap provider on this device. */
export interface ProviderRecord {
  /** The durations of its last answers in milliseconds; the newest last. */
  readonly durations: readonly number[]
  /** The reason why its last answer was no quote. */
  readonly lastError?: string
}

/** Reads the records of the providers, by plugin id. */
export const readProviderRecords = (stateFolder: string): ReadonlyMap<string, ProviderRecord> =>
  new Map(
    Object.entries(readState(stateFolder, FILE) ?? {}).flatMap(([pluginId, value]) => {
      const record = parseRecord(value)
      return record === undefined ? [] : [[pluginId, record] as const]
    })
  )

/** Records the results of a round; providers that have not answered yet stay as they were. */
export const writeProviderRecords = (stateFolder: string, round: readonly QuoteSnapshot[]): void => {
  const records = new Map(readProviderRecords(stateFolder))
  for (const quote of round) {
    if (quote.state !== 'pending') records.set(quote.pluginId, added(records.get(quote.pluginId), quote))
  }
  writeState(stateFolder, FILE, Object.fromEntries(records))
}

/** Returns the median of the last durations in milliseconds; undefined without any. */
export const medianOf = ({ durations }: ProviderRecord): number | undefined =>
  [...durations].sort((a, b) => a - b)[Math.floor(durations.length / 2)]

const added = (before: ProviderRecord | undefined, quote: QuoteSnapshot): ProviderRecord => {
  const { durationMs, errorCode, message, state } = quote
  const durations = [
    ...(before?.durations ?? []),
    ...(durationMs === undefined ? [] : [Math.round(durationMs)])
  ]
  const lastError = state === 'resolved' ? undefined : (message ?? errorCode ?? state)
  return {
    durations: durations.slice(-MAX_ANSWERS),
    ...compact({ lastError })
  }
}

const parseRecord = (value: unknown): ProviderRecord | undefined => {
  if (typeof value !== 'object' || value === null || !('durations' in value)) return undefined
  const { durations } = value
  if (!Array.isArray(durations) || !durations.every(Number.isFinite)) return undefined
  const lastError = 'lastError' in value ? value.lastError : undefined
  return { durations, ...compact({ lastError: typeof lastError === 'string' ? lastError : undefined }) }
}
