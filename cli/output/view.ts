import type { JsonObject } from '../../kernel/index.ts'
import type { Tone } from '../terminal/terminal.ts'

/** One value of a view, with its tone. */
export interface Cell {
  readonly text: string
  readonly tone?: Tone
}

/** A cell, or plain text as one. */
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

/** One record, field by field. */
export interface RecordView {
  readonly kind: 'record'
  readonly fields: readonly (readonly [label: string, value: CellLike])[]
}

/** Plain lines. */
export interface TextView {
  readonly kind: 'text'
  readonly lines: readonly CellLike[]
}

/** The view of a result; the printer renders it as a table or as TSV. */
export type OutputView = TableView | RecordView | TextView

/** A value as a table's cell; plain text has no style. */
export const cellOf = (value: CellLike): Cell => (typeof value === 'string' ? { text: value } : value)

/** The result of a command: its data as JSON, and a view of it. */
export interface CommandResult {
  readonly data: JsonObject
  readonly view: OutputView
  /** 0 if left out; 9 for a batch that failed in part, as its data shows. */
  readonly exitCode?: number
  /** Problems beside the result, one sentence each. */
  readonly warnings?: readonly string[]
  /** Suggested next steps, one sentence each; printed after the result. */
  readonly advice?: readonly string[]
}
