import { gunzipSync } from 'node:zlib'
import { isGzip, openRecordingFile } from '../../devtools/core/open-recording-file.ts'
import { RecordingError } from '../../devtools/core/read-recording.ts'
import { CliError } from '../errors/cli-error.ts'
import { readBytes } from '../session/value-input.ts'

/**
 * The text of a recording that a panel can open, as bytes; of a compressed one, too.
 *
 * @throws CliError NOT_FOUND, USAGE for a file that is too large, no recording, or a damaged one
 */
export const readRecording = async (path: string): Promise<Uint8Array> => {
  const bytes = await readBytes(path)
  await openRecordingFile(new Blob([bytes])).catch((error: unknown) => {
    if (!(error instanceof RecordingError)) throw error
    const hint = error.hint === undefined ? {} : { hint: error.hint }
    throw new CliError('USAGE', `The file ${path} cannot be shown: ${error.message}`, {
      ...hint,
      cause: error
    })
  })
  return isGzip(bytes) ? gunzipSync(bytes) : bytes
}
