import Table from 'cli-table3'
import { safeText } from '../terminal/safe-text.ts'
import { type Paint, wrapText } from '../terminal/terminal.ts'
import {
  type CellLike,
  type Column,
  cellOf,
  type OutputView,
  type RecordView,
  type TableView
} from './view.ts'

/** Options of {@link renderView}. */
export interface RenderOptions {
  readonly paint: Paint
  /** Columns of the terminal. */
  readonly width: number
  /** No Unicode drawing. */
  readonly isAscii: boolean
}

/** Renders a view for a terminal: no line is wider than it. */
export const renderView = (view: OutputView, options: RenderOptions): readonly string[] => {
  if (view.kind === 'table') return renderTable(view, options)
  if (view.kind === 'record') return renderRecord(view, options)
  return view.lines.map(line => painted(line, options))
}

/** Renders a view for a pipe: tab-separated, without titles, nothing cut. */
export const renderTsv = (view: OutputView): readonly string[] => {
  if (view.kind === 'table') return view.rows.map(row => row.map(plain).join('\t'))
  if (view.kind === 'record') return view.fields.map(([label, value]) => `${label}\t${plain(value)}`)
  return view.lines.map(line => cellOf(line).text)
}

const MIN_WIDTH = 6
const GAP = 2

const renderTable = (whole: TableView, options: RenderOptions): readonly string[] => {
  if (whole.rows.length === 0) return [options.paint(whole.empty, 'dim')]
  const view = fitting(withoutEmptyColumns(whole), options.width)
  const widths = widthsOf(view, options.width)
  const table = new Table({
    chars: { ...NO_LINES, middle: ' '.repeat(GAP) },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: view.columns.map(({ align = 'left' }) => align)
  })
  table.push(view.columns.map(({ title }) => options.paint(title, 'dim')))
  for (const row of view.rows) {
    table.push(
      row.map((value, index) => {
        const { text, tone = 'plain' } = cellOf(value)
        return options.paint(shorten(safeText(text), widths[index] ?? text.length, options), tone)
      })
    )
  }
  return table
    .toString()
    .split('\n')
    .map(line => line.trimEnd())
}

/** Leaves out empty columns, such as unused notes; a terminal is narrow. */
const withoutEmptyColumns = (view: TableView): TableView =>
  columnsWhere(view, index => view.rows.some(row => cellOf(row[index] ?? '').text !== ''))

/** Leaves out shrinkable columns from the last on until lines do not wrap. */
const fitting = (view: TableView, width: number): TableView => {
  const last = view.columns.findLastIndex(({ canShrink }) => canShrink === true)
  if (last < 1 || totalOf(widthsOf(view, width)) <= width) return view
  return fitting(
    columnsWhere(view, index => index !== last),
    width
  )
}

const columnsWhere = (view: TableView, isKept: (index: number) => boolean): TableView => {
  const kept = view.columns.map((_, index) => isKept(index))
  return {
    ...view,
    columns: view.columns.filter((_, index) => kept[index]),
    rows: view.rows.map(row => row.filter((_, index) => kept[index]))
  }
}

const renderRecord = (view: RecordView, options: RenderOptions): readonly string[] => {
  const fields = view.fields.filter(([, value]) => cellOf(value).text !== '')
  const width = Math.max(0, ...fields.map(([label]) => label.length))
  return fields.map(([label, value]) => {
    const title = options.paint(label.padEnd(width), 'dim')
    // A word that is longer than the line stays whole, so that it can be copied.
    const lines = wrapText(painted(value, options), Math.max(MIN_WIDTH, options.width - width - GAP))
    return `${title}${' '.repeat(GAP)}${lines.replaceAll('\n', `\n${' '.repeat(width + GAP)}`)}`
  })
}

/** Computes the column widths; only shrinkable columns give way, the widest first. */
const widthsOf = ({ columns, rows }: TableView, width: number): readonly number[] => {
  const widths = columns.map(({ title }, index) =>
    rows.reduce((most, row) => Math.max(most, safeText(cellOf(row[index] ?? '').text).length), title.length)
  )
  while (totalOf(widths) > width) {
    const widest = columns
      .map(({ canShrink }: Column, index) => ({ index, room: canShrink === true ? (widths[index] ?? 0) : 0 }))
      .sort((a, b) => b.room - a.room)[0]
    if (widest === undefined || widest.room <= MIN_WIDTH) break
    widths[widest.index] = widest.room - 1
  }
  return widths
}

const totalOf = (widths: readonly number[]): number => widths.reduce((sum, one) => sum + one + GAP, -GAP)

/** Cuts out the middle: ids are compared by their beginning and end. */
const shorten = (text: string, width: number, { isAscii }: RenderOptions): string => {
  if (text.length <= width) return text
  const mark = isAscii ? '..' : '…'
  const rest = width - mark.length
  return text.slice(0, Math.ceil(rest / 2)) + mark + text.slice(text.length - Math.floor(rest / 2))
}

const painted = (value: CellLike, { paint }: RenderOptions): string => {
  const { text, tone = 'plain' } = cellOf(value)
  return paint(safeText(text), tone)
}

const plain = (value: CellLike): string => safeText(cellOf(value).text)

const NO_LINES = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid']
  ].map(name => [name, ''])
)
