import type { JsonObject } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { openOutputFile } from '../output/output-file.ts'
import type { CommandResult } from '../output/view.ts'
import type { Session } from '../session/session.ts'
import { safeLines } from '../terminal/safe-text.ts'
import { writeText } from '../terminal/terminal.ts'

/** The destination of an export: a file or standard output. */
export interface ExportSink {
  write(text: string): Promise<void>
  /** Ends the export and returns the result of the command: undefined where the export itself was printed. */
  end(facts: JsonObject, warnings: readonly string[]): Promise<CommandResult | undefined>
  /** Removes an unfinished file; without effect after {@link ExportSink.end}. */
  discard(): Promise<void>
}

/** Opens the file of `-o`, or standard output. @throws CliError USAGE */
export const openExportSink = async (session: Session): Promise<ExportSink> => {
  const path = session.text('output')
  if (path !== undefined) return fileSink(path, session.isOn('force'))
  if (!session.globals.json) return printedSink(session)
  throw new CliError(
    'USAGE',
    'With --json, standard output has the result of the command; the export needs a file',
    {
      next: [
        { command: `${session.commandLine} -o <file>`, why: 'write the export into a file' },
        { command: session.commandLine.replace(' --json', ''), why: 'print the export itself' }
      ]
    }
  )
}

const fileSink = async (path: string, mayReplace: boolean): Promise<ExportSink> => {
  const file = await openOutputFile(path, mayReplace)
  return {
    write: text => file.write(text),
    async end(facts, warnings) {
      await file.commit()
      return {
        data: { file: path, ...facts },
        warnings,
        view: {
          kind: 'record',
          fields: [
            ['file', path],
            ...Object.entries(facts).map(([key, value]) => [key, String(value)] as const)
          ]
        }
      }
    },
    discard: () => file.discard()
  }
}

const printedSink = ({ terminal: { stdout }, statusLine }: Session): ExportSink => ({
  async write(text) {
    statusLine.clear()
    await writeText(stdout, stdout.isTTY === true ? safeLines(text) : text)
  },
  async end(_facts, warnings) {
    for (const warning of warnings) statusLine.warn(warning)
    return undefined
  },
  discard: async () => {}
})
