import { exitCodeRows, PARTIAL } from '../../errors/failure.ts'
import type { CommandRun } from '../../session/command.ts'

/** Lists every exit code with the error codes that lead to it. */
export const helpExitCodes: CommandRun = async () => {
  const rows = exitCodeRows()
  return {
    data: { exitCodes: rows.map(({ exitCode, codes }) => ({ exitCode, codes: [...codes] })) },
    view: {
      kind: 'table',
      columns: [{ title: 'EXIT CODE', align: 'right' }, { title: 'ERROR CODE' }],
      rows: rows.flatMap(({ exitCode, codes }) =>
        (codes.length === 0 ? [exitCode === PARTIAL ? '(a part failed)' : '(success)'] : codes).map(code => [
          String(exitCode),
          code
        ])
      ),
      empty: ''
    }
  }
}
