import type { CommandResult } from '../command-result.ts'
import type { GlobalOptions } from '../grammar/global-options.ts'
import { type Terminal, widthOf } from '../terminal.ts'
import { type EnvelopeMeta, successEnvelope } from './envelope.ts'
import { makePaint, wantsColor } from './paint.ts'
import { safeJson } from './safe-text.ts'

/** The text on standard output for a result: an envelope, a table for a person, or TSV for a pipe. */
export const resultText = async (
  { data, view, warnings = [] }: CommandResult,
  meta: EnvelopeMeta,
  { terminal, globals }: { readonly terminal: Terminal; readonly globals: GlobalOptions }
): Promise<string> => {
  const { stdout, environment } = terminal
  const isTerminal = stdout.isTTY === true
  if (globals.json) return jsonText(successEnvelope(data, warnings, meta), isTerminal)
  const { renderTsv, renderView } = await import('./render-view.ts')
  const lines = isTerminal
    ? renderView(view, {
        paint: makePaint(wantsColor(globals.color, environment, isTerminal)),
        width: widthOf(stdout),
        isAscii: globals.ascii
      })
    : renderTsv(view)
  return lines.map(line => `${line}\n`).join('')
}

/** JSON in one line, or indented where a person looks. */
export const jsonText = (value: object, isTerminal: boolean): string =>
  `${safeJson(value, isTerminal ? 2 : undefined)}\n`
