import { appendFileSync, closeSync, openSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { shellWord } from '../../app/format/safe-text.ts'
import type { Devtools } from '../../devtools/core/devtools.ts'
import { isGzip, openRecordingFile } from '../../devtools/core/open-recording-file.ts'
import { MAX_RECORDING_BYTES, RecordingError } from '../../devtools/core/recording/format.ts'
import { record } from '../../devtools/core/recording/record.ts'
import { recordingPage } from '../../devtools/server/panel-files.ts'
import { CliError } from '../errors/cli-error.ts'
import { writeOutputFile } from '../output/output-file.ts'
import type { CommandResult } from '../output/view.ts'
import { readBytes } from '../session/input.ts'
import type { StatusLine } from '../terminal/status-line.ts'
import { panelFiles } from './serve-panel.ts'

/**
 * Reads the text of a recording that a panel can open, decompressed, as bytes.
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

/** Options of {@link recordFile}. */
export interface RecordFileOptions {
  readonly devtools: Pick<Devtools, 'attach'>
  /** Unix milliseconds. */
  readonly now: () => number
  readonly statusLine: Pick<StatusLine, 'info' | 'warn'>
  /** {@link MAX_RECORDING_BYTES}. */
  readonly maxBytes?: number
}

/**
 * Records into a new file that only its owner can read. Lines are appended as they come, so that a crash loses at most
 * the last one.
 *
 * When the file is full or cannot be written, the recording ends with a warning, and the command continues.
 *
 * @returns ends the recording
 * @throws CliError USAGE if the file exists or cannot be made
 */
export const recordFile = (path: string, options: RecordFileOptions): (() => void) => {
  const { devtools, now, statusLine, maxBytes = MAX_RECORDING_BYTES } = options
  const file = openNew(path)
  let size = 0
  const write = (line: string): void => {
    const bytes = Buffer.from(`${line}\n`)
    size += bytes.length
    try {
      if (size > maxBytes)
        throw new Error(`it has reached the largest size that a panel opens, ${maxBytes / 1_000_000} MB`)
      appendFileSync(file, bytes)
    } catch (error) {
      statusLine.warn(
        `The recording ${path} has ended: ${error instanceof Error ? error.message : String(error)}`
      )
      throw error
    }
  }
  const stop = record(devtools, { now, write })
  return () => {
    stop()
    closeSync(file)
    statusLine.info(`Show the recording with: holdfast devtools ${shellWord(path)}`)
  }
}

const openNew = (path: string): number => {
  try {
    return openSync(path, 'ax', 0o600)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new CliError('USAGE', `The file ${path} cannot be created`, { cause })
    throw new CliError('USAGE', `The file ${path} exists already; a recording does not replace a file`, {
      hint: 'Choose another name, or move that file away.',
      cause
    })
  }
}

/**
 * Writes a recording and its panel into one page.
 *
 * @param recording - its text, as bytes
 * @throws CliError USAGE if the file exists or cannot be made, or if the panel is not built
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
