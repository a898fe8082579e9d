import { type ReactElement, type RefObject, useEffect, useRef, useState } from 'react'
import { countdownText } from '../../../app/format/quotes.ts'
import { ageText } from '../../../app/format/times.ts'
import { MAX_RECORDING_BYTES } from '../../core/recording/format.ts'
import type { ClientRecording, RecordingProgress } from '../../core/recording/record.ts'
import { useStore } from '../../use-store.ts'
import { Detail, DetailList } from '../parts/details.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { StateMark } from '../parts/marks.tsx'
import { dateText, fileTimeText, sizeText } from '../parts/texts.ts'
import { saveFile } from '../state/dom.ts'
import { usePanel } from '../state/panel-state.ts'

/** Records what the panel receives, saves a snapshot of it, and opens what was saved. */
export const RecordingTools = (): ReactElement => {
  const { opener, recorder, displayed } = usePanel()
  const { recording, canRecord, isPrompting } = recorder
  const isOver = useStore(recording?.progress ?? NEVER, progress => progress?.end !== undefined)
  const canBegin = canRecord && displayed.recorded === undefined
  return (
    <span className="acts past-tools">
      {recording === undefined ? null : <RecordingMark recording={recording} />}
      {/* One button, whatever it does next, so that it keeps the focus. */}
      {recording === undefined && !canBegin ? null : (
        <button
          type="button"
          className={recording === undefined ? 'button plain' : 'button'}
          onClick={recorder.toggle}
        >
          {recording === undefined ? 'Record' : isOver ? 'Save…' : 'Stop recording'}
        </button>
      )}
      {canBegin && (recording === undefined || isPrompting) ? (
        <button
          type="button"
          className="button plain"
          aria-label="Save a snapshot…"
          onClick={recorder.takeSnapshot}
        >
          Snapshot…
        </button>
      ) : null}
      <button type="button" className="button plain" aria-label="Open a recording…" onClick={opener.query}>
        Open…
      </button>
      {isPrompting && recording !== undefined ? <SaveDialog recording={recording} /> : null}
      {opener.isPrompting ? <OpenDialog /> : null}
    </span>
  )
}

const NEVER = { subscribe: () => () => {}, getSnapshot: (): RecordingProgress | undefined => undefined }

/** Shows the length and size of a recording, or why it has ended. */
const RecordingMark = ({ recording }: { readonly recording: ClientRecording }): ReactElement => {
  const { clock } = usePanel()
  const { startedAt, bytes, end } = useStore(recording.progress)
  const [, drawAnew] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => drawAnew(turn => turn + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  if (end !== undefined) return <StateMark tone="warn">{endTexts[end]}</StateMark>
  return (
    <StateMark tone="busy">
      Recording {countdownText(clock() - startedAt)}, {sizeText(bytes)} of {sizeText(MAX_RECORDING_BYTES)}
    </StateMark>
  )
}

const endTexts = {
  full: 'The recording is full',
  'kernel restarted': 'The kernel restarted',
  stopped: 'Not saved yet'
} as const

/** Describes a finished recording before it is saved as a file. */
const SaveDialog = ({ recording }: { readonly recording: ClientRecording }): ReactElement => {
  const { recorder, say } = usePanel()
  const progress = useStore(recording.progress)
  const [hides, setHides] = useState(progress.hasAddresses)
  const lines = recording.lines(hides)
  const isSnapshot = lines.length === 2
  const name = `holdfast-${fileTimeText(progress.startedAt)}.ndjson`
  const save = (): void => {
    saveFile(name, lines)
    say(`Saved as ${name}`)
    recorder.forget()
  }
  return (
    <Dialog title={isSnapshot ? 'Save a snapshot' : 'Save the recording'} onClose={recorder.putOff}>
      {lines.length < 2 ? <p>{emptyTexts(progress)}</p> : <Contents {...{ progress, isSnapshot, name }} />}
      {progress.hasAddresses ? (
        <label className="check">
          <input type="checkbox" checked={hides} onChange={event => setHides(event.target.checked)} />
          Leave addresses and transaction ids out
        </label>
      ) : (
        <p className="soft">Addresses and transaction ids are hidden, or there are none.</p>
      )}
      <div className="dialog-acts">
        <button type="button" className="button" onClick={recorder.putOff}>
          Later
        </button>
        <button type="button" className="button" onClick={recorder.forget}>
          Discard
        </button>
        <button type="button" className="button main-act" disabled={lines.length < 2} onClick={save}>
          Save the file
        </button>
      </div>
    </Dialog>
  )
}

const Contents = (props: {
  readonly progress: RecordingProgress
  readonly isSnapshot: boolean
  readonly name: string
}): ReactElement => {
  const { startedAt, at, eventCount, bytes, end } = props.progress
  return (
    <>
      <DetailList>
        <Detail name="Of">{dateText(startedAt)}</Detail>
        {props.isSnapshot ? null : <Detail name="Lasts">{ageText((at - startedAt) / 1000)}</Detail>}
        <Detail name="Ended">{endings[end ?? 'stopped']}</Detail>
        <Detail name="Events">{eventCount}</Detail>
        <Detail name="Size">{sizeText(bytes)}</Detail>
        <Detail name="File" look="mono">
          {props.name}
        </Detail>
      </DetailList>
      <p>
        Anyone with this file can read the names of accounts and wallets, balances, quotes, rates, actions,
        calls and log lines. It has no keys, passwords, PINs, recovery answers or notes: a panel records none.
      </p>
    </>
  )
}

const endings: Readonly<Record<NonNullable<RecordingProgress['end']>, string>> = {
  full: `at ${sizeText(MAX_RECORDING_BYTES)}, the largest size of a recording`,
  'kernel restarted': 'when the kernel restarted',
  stopped: ''
}

const emptyTexts = ({ end }: RecordingProgress): string =>
  end === 'full'
    ? `The data is larger than ${sizeText(MAX_RECORDING_BYTES)}, so it cannot be saved.`
    : 'There are no events yet, so there is nothing to save.'

/** Chooses the file of a recording. One that cannot be opened leaves it open, and says why. */
const OpenDialog = (): ReactElement => {
  const { isReading, read, cancel } = usePanel().opener
  return (
    <Dialog title="Open a recording" onClose={cancel}>
      <p>
        A recording or a snapshot shows what a panel received, without a kernel. The file is read here and
        goes nowhere.
      </p>
      <label className="field">
        <span>
          File, at most {sizeText(MAX_RECORDING_BYTES)}, also compressed with gzip. You can drop it onto the
          panel, too.
        </span>
        <input
          type="file"
          data-recording
          accept=".ndjson,.gz"
          aria-busy={isReading}
          onChange={event => {
            const file = event.target.files?.[0]
            if (file !== undefined) read(file)
            // The same file can be chosen again once it was mended.
            event.target.value = ''
          }}
        />
      </label>
      {isReading ? <p role="status">Reading the file…</p> : null}
      <div className="dialog-acts">
        <button type="button" className="button" onClick={cancel}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}

/**
 * Takes files that are dropped onto the panel. Without it the browser would leave the page for the file.
 *
 * @param onFile - is not called while another dialog waits for an answer than the one that asks for a file
 */
export const useFileDrop = (panel: RefObject<HTMLElement | null>, onFile: (file: File) => void): void => {
  const newest = useRef(onFile)
  useEffect(() => {
    newest.current = onFile
  })
  useEffect(() => {
    const target = panel.current
    const hover = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault()
    }
    const drop = (event: DragEvent): void => {
      const file = event.dataTransfer?.files[0]
      if (file === undefined) return
      event.preventDefault()
      const dialog = target?.querySelector('dialog[open]') ?? null
      if (dialog === null || dialog.querySelector('[data-recording]') !== null) newest.current(file)
    }
    target?.addEventListener('dragover', hover)
    target?.addEventListener('drop', drop)
    return () => {
      target?.removeEventListener('dragover', hover)
      target?.removeEventListener('drop', drop)
    }
  }, [panel])
}
