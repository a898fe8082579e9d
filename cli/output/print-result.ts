import { compact } from '../../kernel/base/compact.ts'
import type { JsonObject } from '../../kernel/index.ts'
import type { Failure } from '../errors/failure.ts'
import type { FieldPath, GlobalOptions } from '../grammar/options.ts'
import type { ProfileNetwork } from '../profile/settings.ts'
import { safeJson, safeText } from '../terminal/safe-text.ts'
import { makePaint, type Paint, type Terminal, wantsColor, widthOf, writeText } from '../terminal/terminal.ts'
import { selectFields, unknownFields } from './select-fields.ts'
import type { CommandResult, OutputView } from './view.ts'

/** The surroundings of a printed result. */
export interface PrintOptions {
  readonly terminal: Terminal
  readonly globals: GlobalOptions
  /** The command has changed nothing, so that an unknown field of `--fields` may take the place of its result. */
  readonly readsOnly: boolean
}

/**
 * Formats a result for standard output: a JSON envelope, a table on a terminal, or TSV for a pipe.
 *
 * @throws CliError USAGE for an unknown field; a command that has changed something prints its whole result instead
 */
export const resultText = async (
  { data, view, warnings = [] }: CommandResult,
  meta: EnvelopeMeta,
  { terminal, globals, readsOnly }: PrintOptions
): Promise<string> => {
  const { stdout, environment } = terminal
  const isTerminal = stdout.isTTY === true
  if (globals.json) {
    const chosen = chooseFields({ data, warnings }, globals.fields ?? [], readsOnly)
    return jsonText(successEnvelope(chosen.data, chosen.warnings, meta), isTerminal)
  }
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

const chooseFields = (
  result: { readonly data: JsonObject; readonly warnings: readonly string[] },
  fields: readonly FieldPath[],
  readsOnly: boolean
): { readonly data: JsonObject; readonly warnings: readonly string[] } => {
  if (fields.length === 0) return result
  const { data, unknown } = selectFields(result.data, fields)
  if (unknown.length === 0) return { ...result, data }
  const error = unknownFields(result.data, unknown)
  if (readsOnly) throw error
  // What was done is not to be taken for what failed.
  return { data: result.data, warnings: [...result.warnings, `${error.message}; here is all of it`] }
}

/** Formats JSON: indented on a terminal, else in one line. */
export const jsonText = (value: object, isTerminal: boolean): string =>
  `${safeJson(value, isTerminal ? 2 : undefined)}\n`

/** A view that is redrawn in place; into a pipe, only new lines are written. */
export interface LiveView {
  draw(view: OutputView): Promise<void>
}

/** Opens a live view on standard output. */
export const openLiveView = ({ stdout, environment }: Terminal, globals: GlobalOptions): LiveView => {
  let shown: readonly string[] = []
  if (stdout.isTTY !== true) {
    return {
      async draw(view) {
        const { renderTsv } = await import('./render-view.ts')
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
      const { renderView } = await import('./render-view.ts')
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

/** The metadata of each successful result. */
export interface EnvelopeMeta {
  /** The schema, such as `wallets.list/1`. Additions keep the number. */
  readonly schema: string
  readonly profile: string
  /** The network of the profile: `fake`, `main`, `test` or `regtest`; `unknown` where its settings are damaged. */
  readonly network: ProfileNetwork | 'unknown'
  readonly account?: string
  readonly durationMs: number
}

/** The JSON object of a command that succeeded (ecosystem 1.8). */
const successEnvelope = (data: JsonObject, warnings: readonly string[], meta: EnvelopeMeta): JsonObject => ({
  ok: true,
  data,
  warnings,
  meta: { ...meta }
})

/** The JSON object of a command that failed. */
export const failureEnvelope = (
  { name, code, exitCode, message, retryable, details, hint, next }: Failure,
  meta: { readonly command: string } & Pick<EnvelopeMeta, 'network' | 'profile'>
): JsonObject => ({
  ok: false,
  error: {
    name,
    code,
    exitCode,
    message,
    retryable,
    details,
    ...compact({ hint }),
    next: next.map(({ command, why }) => ({ command, why }))
  },
  meta: { schema: 'error/1', ...meta }
})

/** Formats a failure as text: the message with its code, the advice, and with `--debug` the causes. */
export const failureLines = (
  { message, code, hint, next }: Failure,
  causes: readonly string[],
  paint: Paint
): readonly string[] => [
  `${paint('error:', 'bad')} ${safeText(message)} ${paint(`(${code})`, 'dim')}`,
  ...(hint === undefined ? [] : [`${paint('hint:', 'accent')} ${safeText(hint)}`]),
  ...next.map(({ command, why }) => `${paint('next:', 'accent')} ${safeText(command)}   # ${safeText(why)}`),
  ...causes.map(line => paint(`  ${safeText(line)}`, 'dim'))
]
