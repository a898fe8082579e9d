import { type ReactElement, useEffect, useState } from 'react'
import type { ClientRecording } from '../core/client-recording.ts'
import { MAX_RECORDING_BYTES } from '../core/recording-line.ts'
import { useStore } from '../use-store.ts'
import { OpenDialog } from './open-dialog.tsx'
import { usePanel } from './panel-state.ts'
import { StateMark } from './parts/state-mark.tsx'
import { SaveDialog } from './save-dialog.tsx'
import { countdownText, sizeText } from './texts.ts'

/** Records what the panel is told, saves a snapshot of it, and opens what was saved. */
export const PastTools = (): ReactElement => {
  const { recorder, shown } = usePanel()
  const { recording, canRecord, isAsking } = recorder
  const [isOpening, setOpening] = useState(false)
  return (
    <span className="acts past-tools">
      {recording !== undefined ? (
        <RecordingButton recording={recording} onPress={recorder.toggle} />
      ) : canRecord && shown.film === undefined ? (
        <>
          <button type="button" className="button plain" onClick={recorder.toggle}>
            Record
          </button>
          <button
            type="button"
            className="button plain"
            aria-label="Save a snapshot…"
            onClick={recorder.takeSnapshot}
          >
            Snapshot…
          </button>
        </>
      ) : null}
      <button
        type="button"
        className="button plain"
        aria-label="Open a recording…"
        onClick={() => setOpening(true)}
      >
        Open…
      </button>
      {isAsking && recording !== undefined ? <SaveDialog recording={recording} /> : null}
      {isOpening ? <OpenDialog onClose={() => setOpening(false)} /> : null}
    </span>
  )
}

/** How long and how large a recording is, and what ends or saves it. */
const RecordingButton = (props: {
  readonly recording: ClientRecording
  readonly onPress: () => void
}): ReactElement => {
  const { clock } = usePanel()
  const { startedAt, bytes, end } = useStore(props.recording.progress)
  const [, drawAnew] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => drawAnew(turn => turn + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  if (end !== undefined) {
    return (
      <button type="button" className="button" onClick={props.onPress}>
        <StateMark tone="warn">{endTexts[end]}</StateMark> Save…
      </button>
    )
  }
  return (
    <>
      <StateMark tone="busy">
        Recording {countdownText(clock() - startedAt)}, {sizeText(bytes)} of {sizeText(MAX_RECORDING_BYTES)}
      </StateMark>
      <button type="button" className="button" onClick={props.onPress}>
        Stop recording
      </button>
    </>
  )
}

const endTexts = {
  full: 'The recording is full.',
  'kernel restarted': 'The kernel began anew.',
  stopped: 'Not saved yet.'
} as const
