import { useCallback, useMemo, useRef, useState } from 'react'
import type { DevtoolsClient } from '../../core/client/client.ts'
import { openRecordingFile } from '../../core/open-recording-file.ts'
import type { RecordedClient } from '../../core/recording/timeline.ts'
import { useShown } from './displayed-client.ts'
import type { PastCommand } from './keyboard.ts'
import type { PanelActs } from './panel-actions.ts'
import type { Opening, PanelState } from './panel-state.ts'
import { useRecorder } from './recorder.ts'

/** What a panel draws in place of its client, and what it records of it. */
export interface Past {
  /** Replaced when anything of it changes. */
  readonly state: Pick<PanelState, 'client' | 'clock' | 'live' | 'now' | 'opening' | 'recorder' | 'shown'>
  /** Does what a key asks for. False if there is nothing to do. */
  readonly obey: (command: PastCommand) => boolean
}

/** Records a client, holds it still, and shows recordings in its place. */
export const usePast = (
  live: DevtoolsClient,
  attempt: PanelActs['attempt'],
  clock: () => number = Date.now
): Past => {
  const shown = useShown(live, clock)
  const recorder = useRecorder(live, clock)
  const { client, film, now, open } = shown
  const opening = useOpening(attempt, open)
  const state = useMemo(
    () => ({ live, shown, recorder, client, now, clock, opening }),
    [live, shown, recorder, client, now, clock, opening]
  )
  const obey = (command: PastCommand): boolean => {
    if (command === 'record') {
      // Nothing begins out of sight: in a recording one sees nothing of what would be recorded.
      if (recorder.recording === undefined && (!recorder.canRecord || film !== undefined)) return false
      recorder.toggle()
    } else if (command === 'hold') shown.toggleHold()
    else {
      if (film === undefined) return false
      film.seek(film.moment.getSnapshot().index + (command === 'later' ? 1 : -1))
    }
    return true
  }
  return { state, obey }
}

/** One file at a time: the newest counts, and none once it was cancelled, however far it was read. */
const useOpening = (attempt: PanelActs['attempt'], draw: (film: RecordedClient) => void): Opening => {
  const [isAsking, setAsking] = useState(false)
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
      setAsking(false)
      draw(opened)
    },
    [attempt, draw]
  )
  const cancel = useCallback(() => {
    newest.current?.abort()
    setReading(false)
    setAsking(false)
  }, [])
  return useMemo(
    () => ({
      ...{ isAsking, isReading, cancel },
      ask: () => setAsking(true),
      read: file => void read(file)
    }),
    [isAsking, isReading, cancel, read]
  )
}
