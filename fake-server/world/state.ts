import { isWalletError, WalletError } from '../../kernel/base/errors.ts'
import { isRecord, type Json, type JsonObject } from '../../kernel/base/json.ts'
import type { CryptoPort } from '../../kernel/io/io.ts'
import { FakeDb, parseDbEntry } from '../accounts/fake-db.ts'
import { GOOD_NETWORK, type NetworkConditions, parseConditions } from '../base/network-conditions.ts'
import { type ChainId, chainIds } from '../chain/open-chain.ts'

/** The content of a world. */
export interface WorldState {
  readonly db: FakeDb
  /** The saved JSON of each chain; a new chain has none. */
  readonly chains: ReadonlyMap<ChainId, Json>
  /** Milliseconds ahead of the host. */
  readonly clockOffset: number
  readonly network: NetworkConditions
  /** The entries of rate and swap providers, by id. */
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
export const namingCorruptFile = <T>(
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

/**
 * The change of a saved chain: the number of blocks that stay, the blocks after them, and all other fields.
 *
 * Blocks are most of a chain and almost never change, so a save carries the new ones only.
 */
export interface ChainEntry extends JsonObject {
  readonly kind: 'chain'
  /** Whose chain it is; Bitcoin's if left out, as in the worlds that had no other. */
  readonly chain?: ChainId
  readonly kept: number
  readonly blocks: readonly Json[]
  readonly rest: JsonObject
}

/** Makes the entries of one chain, each with the changes since the one before. */
export interface ChainDiff {
  /** The entry from the last save that this was asked for to `saved`. */
  entryOf(saved: Json): ChainEntry
}

/** Starts with what is on disk already; undefined if nothing is. */
export const makeChainDiff = (id: ChainId, start?: Json): ChainDiff => {
  let known: readonly string[] = start === undefined ? [] : blocksOf(start).map(headerOf)
  return {
    entryOf(saved) {
      const blocks = blocksOf(saved)
      const headers = blocks.map(headerOf)
      let kept = Math.min(known.length, headers.length)
      // A header names the one before it, so the newest common one is found from the end.
      while (kept > 0 && known[kept - 1] !== headers[kept - 1]) kept -= 1
      known = headers
      const name = id === 'bitcoin' ? {} : { chain: id }
      return { kind: 'chain', ...name, kept, blocks: blocks.slice(kept), rest: restOf(saved) }
    }
  }
}

/** The chain that an entry is of. @throws BAD_REPLY if it is none that a world has */
export const chainIdOf = ({ chain = 'bitcoin' }: { readonly chain?: unknown }): ChainId =>
  chainIds.find(id => id === chain) ?? misfit('is of an unknown chain')

/**
 * Puts an entry on top of the chain that was saved before it.
 *
 * @throws BAD_REPLY if it has another shape or does not fit; whether it is a sound chain is for `openFakeChain`
 */
const joinChain = (before: Json | undefined, entry: unknown): Json => {
  const old = before === undefined ? [] : blocksOf(before)
  if (!isRecord(entry) || !Array.isArray(entry.blocks) || !isRecord(entry.rest)) return misfit('is no chain')
  const { kept, blocks, rest } = entry
  if (typeof kept !== 'number' || !Number.isSafeInteger(kept) || kept < 0 || kept > old.length) {
    return misfit('keeps blocks that are not there')
  }
  return { ...(rest as JsonObject), blocks: [...old.slice(0, kept), ...blocks] }
}

const blocksOf = (saved: Json): readonly Json[] =>
  isRecord(saved) && Array.isArray(saved.blocks) ? (saved.blocks as readonly Json[]) : []

const headerOf = (block: Json): string => (Array.isArray(block) ? String(block[0]) : '')

const restOf = (saved: Json): JsonObject =>
  Object.fromEntries(Object.entries(saved as JsonObject).filter(([name]) => name !== 'blocks'))

const misfit = (rule: string): never => {
  throw new WalletError('BAD_REPLY', { source: 'saved chain', path: '', rule })
}
