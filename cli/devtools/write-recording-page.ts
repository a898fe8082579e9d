import { recordingPage } from '../../devtools/server/recording-page.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { writeOutputFile } from '../output/output-file.ts'
import { panelFiles } from './serve-panel.ts'

/**
 * Writes a recording and the panel that shows it into one page.
 *
 * @param recording - its text, as bytes
 * @throws CliError USAGE if the file is there already or cannot be made, or nobody has built the panel
 */
export const writeRecordingPage = async (path: string, recording: Uint8Array): Promise<CommandResult> => {
  const page = recordingPage(panelFiles(), new TextDecoder().decode(recording))
  if (page === undefined)
    throw new CliError('USAGE', 'The panel has not been built', { hint: 'Run: npm run build' })
  await writeOutputFile(path, page)
  const bytes = Buffer.byteLength(page)
  return {
    data: { file: path, bytes },
    view: {
      kind: 'record',
      fields: [
        ['file', path],
        ['bytes', String(bytes)]
      ]
    }
  }
}
