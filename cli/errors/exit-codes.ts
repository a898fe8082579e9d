import { catalogue } from '../../kernel/index.ts'
import { cliErrors } from './cli-errors.ts'

/** One exit code with every error code that leads to it. */
export interface ExitCodeRow {
  readonly exitCode: number
  readonly codes: readonly string[]
}

/** The exit code of a batch of which some parts failed; the data tells which. */
export const PARTIAL = 9

/** All exit codes, ascending, from the kernel's catalogue and the command line's own (ecosystem 1.9). */
export const exitCodeRows = (): readonly ExitCodeRow[] => {
  const rows = new Map<number, string[]>([
    [0, []],
    [PARTIAL, []]
  ])
  for (const [code, { exitCode }] of [...Object.entries(cliErrors), ...Object.entries(catalogue)]) {
    const codes = rows.get(exitCode) ?? []
    codes.push(code)
    rows.set(exitCode, codes)
  }
  return [...rows].sort(([a], [b]) => a - b).map(([exitCode, codes]) => ({ exitCode, codes: codes.sort() }))
}
