import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactElement, type ReactNode, useRef } from 'react'
import { visibleText } from './texts.ts'

/** One column of a table. The first one names the row. */
export interface Column<R> {
  readonly title: string
  /** A CSS width; what has none shares the rest. */
  readonly width?: string
  readonly isNumber?: boolean
  /** Left out where there is little room: `spare` first, then `minor`, then `slight`. */
  readonly rank?: 'minor' | 'slight' | 'spare'
  readonly cell: (row: R) => ReactNode
  /** Foreign text of any length: cut where there is no room, and shown in full beside the table. */
  readonly isProse?: boolean
  /** The full text of a cell that may be cut. */
  readonly hint?: (row: R) => string
}

/** Properties of a table. */
export interface DataTableProps<R> {
  /** The name of the table for screen readers. */
  readonly label: string
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  readonly keyOf: (row: R) => string
  readonly chosen?: string | undefined
  /** Makes the first cell a button. */
  readonly onOpen?: (row: R) => void
  /** As tall as its rows: for short tables that stand among others. */
  readonly isShort?: boolean
}

/** Rows with headers for both directions. Only those in sight are in the page, however many there are. */
export const DataTable = <R,>(props: DataTableProps<R>): ReactElement => {
  const { label, columns, rows, keyOf, isShort = false } = props
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    initialRect: { width: 800, height: 560 },
    // Without a page nothing is measured: the tables of tests and of short lists show all they have.
    enabled: !isShort
  })
  const shown = isShort
    ? rows.slice(0, MOST_SHORT).map((_, index) => index)
    : virtual.getVirtualItems().map(({ index }) => index)
  const before = (shown[0] ?? 0) * ROW_HEIGHT
  const after = isShort ? 0 : Math.max(0, rows.length - 1 - (shown.at(-1) ?? -1)) * ROW_HEIGHT
  return (
    <section
      ref={scroller}
      className={isShort ? 'scroll short' : 'scroll'}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
      tabIndex={0}
    >
      <table aria-label={label} aria-rowcount={rows.length + 1}>
        <Heads columns={columns} />
        <tbody>
          <Space height={before} />
          {shown.map(index => {
            const row = rows[index]
            return row === undefined ? null : <Row key={keyOf(row)} {...props} row={row} place={index + 2} />
          })}
          <Space height={after} />
        </tbody>
      </table>
    </section>
  )
}

// A recording can hold any number of what a kernel has a few of.
const MOST_SHORT = 300

// As tall as the style sheet makes a row: 28 px, its line within.
const ROW_HEIGHT = 28

const Heads = <R,>({ columns }: Pick<DataTableProps<R>, 'columns'>): ReactElement => (
  <>
    <colgroup>
      {columns.map(({ title, width, rank }) => (
        <col key={title} className={rank} style={width === undefined ? undefined : { width }} />
      ))}
    </colgroup>
    <thead>
      <tr aria-rowindex={1}>
        {columns.map(({ title, isNumber, rank }) => (
          <th key={title} scope="col" className={classes({ isNumber, rank })}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
  </>
)

const Row = <R,>(props: DataTableProps<R> & { readonly row: R; readonly place: number }): ReactElement => {
  const { columns, row, place, keyOf, chosen, onOpen } = props
  return (
    <tr aria-rowindex={place} data-chosen={chosen === keyOf(row)}>
      {columns.map(({ title, isNumber, isProse, rank, cell, hint }, at) => {
        const drawn = drawnCell(cell(row))
        // The title has a cut text in full.
        const whole = hint?.(row) ?? (typeof drawn === 'string' ? drawn : undefined)
        const shared = { className: classes({ isNumber, isProse, rank }), title: whole }
        if (at > 0) {
          return (
            <td key={title} {...shared}>
              {drawn}
            </td>
          )
        }
        return (
          <th key={title} scope="row" {...shared}>
            {onOpen === undefined ? (
              drawn
            ) : (
              <button type="button" className="row-open" data-row onClick={() => onOpen(row)}>
                {drawn}
              </button>
            )}
          </th>
        )
      })}
    </tr>
  )
}

const drawnCell = (cell: ReactNode): ReactNode => (typeof cell === 'string' ? visibleText(cell) : cell)

/** Stands for the rows out of sight. One cell: more than there are columns in sight would make new ones. */
const Space = (props: { readonly height: number }): ReactElement | null =>
  props.height <= 0 ? null : (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row takes no focus
    <tr className="space" aria-hidden="true">
      <td style={{ height: props.height }} />
    </tr>
  )

const classes = (look: {
  readonly isNumber: boolean | undefined
  readonly isProse?: boolean | undefined
  readonly rank: string | undefined
}): string | undefined => {
  const { isNumber = false, isProse = false, rank = '' } = look
  const text = [isNumber ? 'number' : '', isProse ? 'prose' : '', rank].filter(Boolean).join(' ')
  return text === '' ? undefined : text
}
