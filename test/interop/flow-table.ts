import { type Cell, DIRECTIONS, type Flow } from './flow.ts'
import { PEER_VERSIONS, type PeerVersion } from './peer-package.ts'

/** What became of the stories. */
export interface FlowTable {
  /** Takes note of a story that ended; one that is never noted counts as failed. */
  passed(flow: Flow, cell: Cell): void
  /** One line a row of the table, a head above, and below why something is not applicable. */
  lines(): readonly string[]
  /** Row and column of every failure. */
  failures(): readonly string[]
}

/** A table of rows of stories, and columns of versions and directions; `isHere` is false where nothing was told. */
export const makeFlowTable = (flows: readonly Flow[], isHere: (cell: Cell) => boolean): FlowTable => {
  const done = new Set<string>()
  const keyOf = (flow: Flow, cell: Cell): string => `${flow.title} ${columnOf(cell)}`
  const rows = [...new Set(flows.map(({ row }) => row))]
  const reasons: string[] = []
  const noteOf = (reason: string): string => {
    if (!reasons.includes(reason)) reasons.push(reason)
    return `n.a. ${reasons.indexOf(reason) + 1}`
  }
  const markOf = (row: string, cell: Cell): string => {
    const stories = flows.filter(flow => flow.row === row)
    const reported = stories.filter(flow => flow.lacking?.(cell) === undefined)
    if (reported.length === 0) return noteOf(stories.map(flow => flow.lacking?.(cell)).join('; '))
    if (!isHere(cell)) return 'skipped'
    return reported.every(flow => done.has(keyOf(flow, cell))) ? 'ok' : 'FAILED'
  }
  const width = Math.max(...rows.map(row => row.length)) + 2
  const lineOf = (first: string, rest: readonly string[]): string =>
    (first.padEnd(width) + rest.map(text => text.padEnd(10)).join('')).trimEnd()
  return {
    passed: (flow, cell) => void done.add(keyOf(flow, cell)),
    lines() {
      const body = rows.map(row =>
        lineOf(
          row,
          CELLS.map(cell => markOf(row, cell))
        )
      )
      const notes = reasons.map((reason, index) => `n.a. ${index + 1}: ${reason}`)
      return [lineOf('flow', CELLS.map(columnOf)), ...body, ...notes]
    },
    failures: () =>
      rows.flatMap(row =>
        CELLS.filter(cell => markOf(row, cell) === 'FAILED').map(cell => `${row} ${columnOf(cell)}`)
      )
  }
}

/** Every column: `→` is made by Holdfast and used by that version, `←` the reverse. */
export const CELLS: readonly Cell[] = PEER_VERSIONS.flatMap((version: PeerVersion) =>
  DIRECTIONS.map(direction => ({ version, direction }))
)

const columnOf = ({ version, direction }: Cell): string => `${version} ${direction}`
