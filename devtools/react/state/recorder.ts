import { useCallback, useEffect, useMemo, useState } from 'react'
import type { DevtoolsClient } from '../../core/client/client.ts'
import { type ClientRecording, recordClient } from '../../core/recording/record.ts'
import { useStore } from '../../use-store.ts'
import { page } from './dom.ts'

/** The recording of the panel's client, and the ways to begin, end and save it. */
export interface Recorder {
  /** Under way, or over and not saved yet. */
  readonly recording: ClientRecording | undefined
  /** Something is known that could be recorded. */
  readonly canRecord: boolean
  /** Its dialog asks what to do with a recording that is over. */
  readonly isPrompting: boolean
  /** Begins a recording; ends the one under way; asks what to do with one that is over. */
  readonly toggle: () => void
  /** Records what is known now, and asks what to do with it. Not while something else is recorded. */
  readonly takeSnapshot: () => void
  /** Asks later. */
  readonly putOff: () => void
  /** Forgets the recording: it is saved, or nobody wants it. */
  readonly forget: () => void
}

/** Records on behalf of a person. A recording goes on whatever is drawn, and belongs to its client. */
export const useRecorder = (live: DevtoolsClient, clock: () => number): Recorder => {
  const [kept, setKept] = useState<Kept | undefined>()
  const { recording, isPrompting = false } = kept?.of === live ? kept : NOTHING
  const isKnown = useStore(live.status, ({ connection }) => connection !== 'connecting')
  const canRecord = live.follow !== undefined && isKnown
  const toggle = useCallback(() => {
    if (recording !== undefined) {
      recording.stop()
      setKept({ of: live, recording, isPrompting: true })
    } else if (canRecord)
      setKept({ of: live, recording: recordClient(live, { now: clock }), isPrompting: false })
  }, [recording, canRecord, live, clock])
  const takeSnapshot = useCallback(() => {
    if (recording !== undefined || !canRecord) return
    const snapshot = recordClient(live, { now: clock })
    snapshot.stop()
    setKept({ of: live, recording: snapshot, isPrompting: true })
  }, [recording, canRecord, live, clock])
  const putOff = useCallback(() => setKept(before => before && { ...before, isPrompting: false }), [])
  const forget = useCallback(() => setKept(undefined), [])
  useEffect(() => (recording === undefined ? undefined : () => recording.stop()), [recording])
  useWarning(recording !== undefined)
  return useMemo(
    () => ({ recording, canRecord, isPrompting, toggle, takeSnapshot, putOff, forget }),
    [recording, canRecord, isPrompting, toggle, takeSnapshot, putOff, forget]
  )
}

interface Kept {
  readonly of: DevtoolsClient
  readonly recording: ClientRecording
  readonly isPrompting: boolean
}

const NOTHING: Partial<Kept> = {}

/** Has the browser ask before the page is left while something would be lost. */
const useWarning = (isNeeded: boolean): void => {
  useEffect(() => {
    if (!isNeeded || page === undefined) return
    const warn = (event: Event): void => event.preventDefault()
    page.addEventListener('beforeunload', warn)
    return () => page?.removeEventListener('beforeunload', warn)
  }, [isNeeded])
}
