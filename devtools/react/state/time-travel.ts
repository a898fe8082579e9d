import { useCallback, useMemo, useRef, useState } from 'react'
import type { DevtoolsClient } from '../../core/client/client.ts'
import { openRecordingFile } from '../../core/open-recording-file.ts'
import type { RecordedClient } from '../../core/recording/timeline.ts'
import { useDisplayedClient } from './displayed-client.ts'
import type { TimeTravelCommand } from './keyboard.ts'
import type { PanelActions } from './panel-actions.ts'
import type { PanelState, RecordingOpener } from './panel-state.ts'
import { useRecorder } from './recorder.ts'

/** The displayed client, the recorder and their keys. */
export interface TimeTravel {
  /** Replaced when anything of it changes. */
  readonly state: Pick<PanelState, 'client' | 'clock' | 'live' | 'now' | 'opener' | 'recorder' | 'displayed'>
  /** Does what a key asks for. False if there is nothing to do. */
  readonly handle: (command: TimeTravelCommand) => boolean
}

/** Records a client, pauses it, and shows recordings in its place. */
export const useTimeTravel = (
  live: DevtoolsClient,
  attempt: PanelActions['attempt'],
  clock: () => number = Date.now
): TimeTravel => {
  const displayed = useDisplayedClient(live, clock)
  const recorder = useRecorder(live, clock)
  const { client, recorded, now, open } = displayed
  const opener = useRecordingOpener(attempt, open)
  const state = useMemo(
    () => ({ live, displayed, recorder, client, now, clock, opener }),
    [live, displayed, recorder, client, now, clock, opener]
  )
  const handle = (command: TimeTravelCommand): boolean => {
    if (command === 'record') {
      // Nothing begins out of sight: in a recording one sees nothing of what would be recorded.
      if (recorder.recording === undefined && (!recorder.canRecord || recorded !== undefined)) return false
      recorder.toggle()
    } else if (command === 'hold') displayed.togglePause()
    else {
      if (recorded === undefined) return false
      recorded.seek(recorded.moment.getSnapshot().index + (command === 'later' ? 1 : -1))
    }
    return true
  }
  return { state, handle }
}

/** One file at a time: the newest counts, and none once it was cancelled, however far it was read. */
const useRecordingOpener = (
  attempt: PanelActions['attempt'],
  draw: (recorded: RecordedClient) => void
): RecordingOpener => {
  const [isPrompting, setPrompting] = useState(false)
  const [isReading, setReading] = useState(false)
  const newest = useRef<AbortController | undefined>(undefined)
  const read = useCallback(
    async (file: Blob) => {
      newest.current?.abort()
      const reading = new AbortController()
      newest.current = reading
      setReading(true)
      const opened = await attempt(
        () => openRecordingFile(file, undefined, reading.signal),
        () => reading.signal.aborted
      )
      if (reading.signal.aborted) return
      setReading(false)
      if (opened === undefined) return
      setPrompting(false)
      draw(opened)
    },
    [attempt, draw]
  )
  const cancel = useCallback(() => {
    newest.current?.abort()
    setReading(false)
    setPrompting(false)
  }, [])
  return useMemo(
    () => ({
      ...{ isPrompting, isReading, cancel },
      query: () => setPrompting(true),
      read: file => void read(file)
    }),
    [isPrompting, isReading, cancel, read]
  )
}
