import { isWalletError, WalletError } from '../kernel/base/errors.ts'
import { isRecord, type Json, type JsonObject } from '../kernel/base/json.ts'
import type { CryptoPort } from '../kernel/io/io.ts'
import { parseDbEntry } from './db-entry.ts'
import { FakeDb } from './fake-db.ts'
import { GOOD_NETWORK, type NetworkConditions, parseConditions } from './network-conditions.ts'
import { type ChainId, chainIdOf, joinChain } from './world-chain.ts'

/** What a world is made from. */
export interface WorldState {
  readonly db: FakeDb
  /** What each chain's `toJson` gave; a new chain has none. */
  readonly chains: ReadonlyMap<ChainId, Json>
  /** Milliseconds ahead of the host. */
  readonly clockOffset: number
  readonly network: NetworkConditions
  /** What rate and swap providers remember, by id. */
  readonly providers: ReadonlyMap<string, JsonObject>
}

/** Entries in order, with the name of the file or value they come from. */
export type EntrySource = readonly { readonly path: string; readonly entries: readonly Json[] }[]

/**
 * Replays saved entries, checking each.
 *
 * @throws CORRUPT_FILE naming the file with the first entry that does not hold
 */
export const replay = (source: EntrySource, crypto: Pick<CryptoPort, 'sha256'>): WorldState => {
  const providers = new Map<string, JsonObject>()
  const chains = new Map<ChainId, Json>()
  const state: { -readonly [K in keyof WorldState]: WorldState[K] } = {
    db: new FakeDb(crypto),
    chains,
    clockOffset: 0,
    network: GOOD_NETWORK,
    providers
  }
  for (const { path, entries } of source) {
    for (const entry of entries) {
      try {
        if (!isRecord(entry)) throw new WalletError('BAD_REPLY', ODD)
        if (entry.kind === 'chain')
          chains.set(chainIdOf(entry), joinChain(chains.get(chainIdOf(entry)), entry))
        else if (entry.kind === 'clock') state.clockOffset = offsetOf(entry.offset)
        else if (entry.kind === 'network') state.network = parseConditions(entry.conditions)
        else if (entry.kind === 'provider') providers.set(idOf(entry.id), entry as JsonObject)
        else state.db.apply(parseDbEntry(entry))
      } catch (error) {
        if (!isWalletError(error, 'BAD_REPLY')) throw error
        const { path: field, rule } = error.details
        throw new WalletError('CORRUPT_FILE', { path, rule: `${field} ${rule}`.trim() }, error)
      }
    }
  }
  return state
}

/** Which entries a part of a world is made from. */
export interface PartEntries {
  readonly kind: 'chain' | 'provider'
  /** All of the kind if left out. */
  readonly isOwn?: (entry: JsonObject) => boolean
}

/** Opens a part of a world; if its entries do not hold, the error names the last file that has one. */
export const blaming = <T>(
  source: EntrySource,
  { kind, isOwn = () => true }: PartEntries,
  open: () => T
): T => {
  try {
    return open()
  } catch (error) {
    if (!isWalletError(error, 'CORRUPT_FILE') && !isWalletError(error, 'BAD_REPLY')) throw error
    const isOfPart = (entry: Json): boolean =>
      isRecord(entry) && entry.kind === kind && isOwn(entry as JsonObject)
    const path = source.findLast(({ entries }) => entries.some(isOfPart))?.path ?? 'world'
    throw new WalletError('CORRUPT_FILE', { path, rule: `the ${kind} ${error.details.rule}` }, error)
  }
}

const ODD = { source: 'saved world', path: '', rule: 'is no entry' } as const

const offsetOf = (value: unknown): number => {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  throw new WalletError('BAD_REPLY', { ...ODD, rule: 'has no clock offset' })
}

const idOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  throw new WalletError('BAD_REPLY', { ...ODD, rule: 'has no id of a provider' })
}
