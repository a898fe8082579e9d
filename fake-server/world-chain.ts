import { WalletError } from '../kernel/base/errors.ts'
import { isRecord, type Json, type JsonObject } from '../kernel/base/json.ts'

/** The chains of a world, by the plugin whose currency lives on them. */
export type ChainId = 'bitcoin' | 'litecoin'

/** In the order in which they are opened and saved. */
export const chainIds: readonly ChainId[] = ['bitcoin', 'litecoin']

/**
 * What changed in a saved chain: how many blocks stayed, the blocks after them, and all the rest.
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

/** Tells saves of one chain apart from each other. */
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
export const joinChain = (before: Json | undefined, entry: unknown): Json => {
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
