import { durationText } from '../output/times.ts'
import type { OnTourStep } from './tour-step.ts'

/** The progress of a tour as plain lines, for where nothing can be drawn. */
export const plainProgress =
  (write: (line: string) => void): OnTourStep =>
  ({ title, state, detail, lines, durationMs }) => {
    if (state === 'running') return
    const mark = state === 'done' ? 'ok    ' : 'FAILED'
    const time = durationMs === undefined ? '' : ` (${durationText(durationMs)})`
    write(`${mark}  ${title}${time}`)
    for (const line of [...(lines ?? []), ...(detail === undefined ? [] : [detail])]) write(`        ${line}`)
  }
