import { isRecord, tryParseJson } from '../../base/json.ts'

/** What the history of a wallet remembers beside its rows; it is derived, so anything unreadable begins anew. */
export interface HistoryState {
  /** Names the tables in use: a new one is a new beginning. */
  readonly generation: number
  /** The revision of the repo up to which the files have been taken in. */
  readonly taken: number
  /** How many rows there are; fewer were lost with a damaged part of the disk. */
  readonly count: number
  /** What was damaged when it was begun: a later damage may have cost rows of any table. */
  readonly damage: string
  /** The height of the chain, as far as it decides about a row. */
  readonly height: number
  /** What the engine asked to be told at its next start. */
  readonly checkpoint?: string
  /** The oldest generation whose rows may not all be deleted yet. */
  readonly oldest: number
}

/** Where the state is, in the part of a repo that never syncs. */
export const STATE_KEY = 'history'

// A row or a state of another form is of another version; then everything is derived anew.
const VERSION = 1

/** The state of a history of which nothing is known but the generations that were in use. */
export const newState = (generation: number, oldest: number): HistoryState => ({
  generation,
  oldest,
  taken: 0,
  count: 0,
  damage: '',
  height: 0
})

/** The text of a state. */
export const stateText = (state: HistoryState): string => JSON.stringify({ version: VERSION, ...state })

/** Reads a state; anything else, and any other version, is a new beginning under a generation not used yet. */
export const parseState = (text: string | undefined): HistoryState => {
  const value = tryParseJson(text)
  if (!isRecord(value)) return newState(1, 1)
  const { version, generation, oldest, taken, count, damage, height, checkpoint } = value
  if (!isCount(generation)) return newState(1, 1)
  const from = isCount(oldest) ? Math.min(oldest, generation) : generation
  const isWhole =
    version === VERSION && isCount(oldest) && isCount(taken) && isCount(count) && isCount(height)
  if (!isWhole) return newState(generation + 1, from)
  return {
    generation,
    oldest: from,
    taken,
    count,
    damage: typeof damage === 'string' ? damage : '',
    height,
    ...(typeof checkpoint === 'string' ? { checkpoint } : {})
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
