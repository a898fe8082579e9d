import { type ReactElement, useEffect, useState } from 'react'
import type { ClientRecording, RecordingProgress } from '../core/client-recording.ts'
import { MAX_RECORDING_BYTES } from '../core/recording-line.ts'
import { useStore } from '../use-store.ts'
import { OpenDialog } from './open-dialog.tsx'
import { usePanel } from './panel-state.ts'
import { StateMark } from './parts/state-mark.tsx'
import { SaveDialog } from './save-dialog.tsx'
import { countdownText, sizeText } from './texts.ts'

/** Records what the panel is told, saves a snapshot of it, and opens what was saved. */
export const PastTools = (): ReactElement => {
  const { opening, recorder, shown } = usePanel()
  const { recording, canRecord, isAsking } = recorder
  const isOver = useStore(recording?.progress ?? NEVER, progress => progress?.end !== undefined)
  const canBegin = canRecord && shown.film === undefined
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
      {canBegin && (recording === undefined || isAsking) ? (
        <button
          type="button"
          className="button plain"
          aria-label="Save a snapshot…"
          onClick={recorder.takeSnapshot}
        >
          Snapshot…
        </button>
      ) : null}
      <button type="button" className="button plain" aria-label="Open a recording…" onClick={opening.ask}>
        Open…
      </button>
      {isAsking && recording !== undefined ? <SaveDialog recording={recording} /> : null}
      {opening.isAsking ? <OpenDialog /> : null}
    </span>
  )
}

const NEVER = { subscribe: () => () => {}, getSnapshot: (): RecordingProgress | undefined => undefined }

/** How long and how large a recording is, or why it is over. */
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
  'kernel restarted': 'The kernel began anew',
  stopped: 'Not saved yet'
} as const
