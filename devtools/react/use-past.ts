import { useCallback, useMemo } from 'react'
import type { DevtoolsClient } from '../core/devtools-client.ts'
import { openRecordingFile } from '../core/open-recording-file.ts'
import type { PastCommand } from './keyboard.ts'
import type { PanelState } from './panel-state.ts'
import type { PanelActs } from './use-panel-acts.ts'
import { useRecorder } from './use-recorder.ts'
import { useShown } from './use-shown.ts'

/** What a panel draws in place of its client, and what it records of it. */
export interface Past {
  /** Replaced when anything of it changes. */
  readonly state: Pick<PanelState, 'client' | 'clock' | 'live' | 'now' | 'openFile' | 'recorder' | 'shown'>
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
  const openFile = useCallback(
    async (file: Blob) => {
      const opened = await attempt(() => openRecordingFile(file))
      if (opened !== undefined) open(opened)
      return opened !== undefined
    },
    [attempt, open]
  )
  const state = useMemo(
    () => ({ live, shown, recorder, client, now, clock, openFile }),
    [live, shown, recorder, client, now, clock, openFile]
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
