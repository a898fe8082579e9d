import { type FieldsOf, masked, maybe, words } from '../../devtools/core/model/field.ts'
import { rowFields } from '../../devtools/core/model/snapshot-fields.ts'
import type { EngineSnapshot, RateSnapshot } from '../../kernel/types/snapshots.ts'

/** Compiled by the type check, never run: what must not type-check is marked, and an unused mark is an error. */

interface GrownEngine extends EngineSnapshot {
  readonly publicKey?: string
}

// @ts-expect-error A field that a snapshot gains needs an entry.
export const grown: FieldsOf<GrownEngine> = rowFields.engines

export const grownAndListed: FieldsOf<GrownEngine> = { ...rowFields.engines, publicKey: 'hidden' }

const pair: FieldsOf<RateSnapshot> = rowFields.pairs

// @ts-expect-error A number is no text.
export const ofAnotherType: FieldsOf<RateSnapshot> = { ...pair, rate: 'text' }

// @ts-expect-error Only text can be masked.
export const maskedNumber: FieldsOf<RateSnapshot> = { ...pair, rate: masked }

// @ts-expect-error A field that is always there may not be missing.
export const notRequired: FieldsOf<RateSnapshot> = { ...pair, rate: maybe('number') }

// @ts-expect-error A field that may be absent says so.
export const required: FieldsOf<EngineSnapshot> = { ...rowFields.engines, failure: masked }

export const tooFewWords: FieldsOf<EngineSnapshot> = {
  ...rowFields.engines,
  // @ts-expect-error Each word of a union is listed.
  state: words({ created: true, started: true, stopped: true })
}

// @ts-expect-error An entry belongs to a field.
export const unknown: FieldsOf<RateSnapshot> = { ...pair, colour: 'text' }
