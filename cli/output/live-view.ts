import type { GlobalOptions } from '../grammar/global-options.ts'
import { type Terminal, widthOf } from '../terminal.ts'
import { makePaint, wantsColor } from './paint.ts'
import { renderTsv, renderView } from './render-view.ts'
import type { View } from './view.ts'
import { writeText } from './write-text.ts'

/** A view that is drawn again in its place; at the other end of a pipe, only the lines that are new. */
export interface LiveView {
  draw(view: View): Promise<void>
}

/** Opens a live view on standard output. */
export const openLiveView = ({ stdout, environment }: Terminal, globals: GlobalOptions): LiveView => {
  let shown: readonly string[] = []
  if (stdout.isTTY !== true) {
    return {
      async draw(view) {
        const lines = renderTsv(view)
        const fresh = lines.filter(line => !shown.includes(line))
        shown = lines
        await writeText(stdout, fresh.map(line => `${line}\n`).join(''))
      }
    }
  }
  const paint = makePaint(wantsColor(globals.color, environment, true))
  return {
    async draw(view) {
      const lines = renderView(view, { paint, width: widthOf(stdout), isAscii: globals.ascii })
      const room = Math.max(1, (stdout.rows ?? DEFAULT_ROWS) - 2)
      const fitting =
        lines.length <= room ? lines : [...lines.slice(0, room), `and ${lines.length - room} more`]
      const back = shown.length === 0 ? '' : `\u001b[${shown.length}F\u001b[J`
      shown = fitting
      await writeText(stdout, back + fitting.map(line => `${line}\n`).join(''))
    }
  }
}

const DEFAULT_ROWS = 24
