import type { JsonObject } from '../../kernel/index.ts'
import type { Tone } from '../terminal/terminal.ts'

/** One value of a view, with its meaning. */
export interface Cell {
  readonly text: string
  readonly tone?: Tone
}

/** Something that a person reads as one value. */
export type CellLike = Cell | string

/** One column of a table. */
export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** May be cut in the middle where the terminal is narrow; the others are never cut. */
  readonly canShrink?: boolean
}

/** Rows with columns. */
export interface TableView {
  readonly kind: 'table'
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly CellLike[])[]
  /** The sentence in place of an empty table. */
  readonly empty: string
}

/** One thing, field by field. */
export interface RecordView {
  readonly kind: 'record'
  readonly fields: readonly (readonly [label: string, value: CellLike])[]
}

/** Plain lines. */
export interface TextView {
  readonly kind: 'text'
  readonly lines: readonly CellLike[]
}

/** What a command shows a person; the printer chooses between a table and TSV. */
export type View = TableView | RecordView | TextView

/** A value as a table's cell; plain text has no style. */
export const cellOf = (value: CellLike): Cell => (typeof value === 'string' ? { text: value } : value)

/** What a command gives back: facts for scripts, and a view of them for people. */
export interface CommandResult {
  readonly data: JsonObject
  readonly view: View
  /** 0 if left out; 9 for a batch of which some parts failed, each told in the data. */
  readonly exitCode?: number
  /** What went wrong beside the result, one sentence each. */
  readonly warnings?: readonly string[]
  /** What a person may want to do now, one sentence each; said after the result. */
  readonly advice?: readonly string[]
}
