import { useCallback, useMemo, useState } from 'react'
import type { DevtoolsClient } from '../../core/client/client.ts'
import { pauseView } from '../../core/client/paused-view.ts'
import { isRecorded, type Moment, type RecordedClient } from '../../core/recording/timeline.ts'
import { useStore } from '../../use-store.ts'

/** The client that the panel displays: the live one, a paused view of it, or a recording. */
export interface DisplayedClient {
  /** The one that is drawn. */
  readonly client: DevtoolsClient
  /** The recording that is drawn, if it is one. */
  readonly recorded: RecordedClient | undefined
  /** Since when it is paused, in Unix milliseconds; undefined while it goes on. */
  readonly pausedAt: number | undefined
  /** The time by which ages and countdowns are shown, in Unix milliseconds. */
  readonly now: () => number
  /** Holds what is drawn still, or lets it go on. A recording stands still anyway. */
  readonly togglePause: () => void
  /** Draws a recording in place of the client. */
  readonly open: (recorded: RecordedClient) => void
  /** Draws the client again; undefined where it is drawn, and where it is a recording itself. */
  readonly leave: (() => void) | undefined
}

/** Chooses the displayed client. A panel that is given another client displays that one. */
export const useDisplayedClient = (live: DevtoolsClient, clock: () => number): DisplayedClient => {
  const [replacement, setReplacement] = useState<Replacement | undefined>()
  const { client = live, pausedAt } = replacement?.of === live ? replacement : NOTHING
  const recorded = isRecorded(client) ? client : undefined
  const moment = useStore(recorded?.moment ?? NEVER)
  const at = moment?.at ?? pausedAt
  const now = useMemo(() => (at === undefined ? clock : () => at), [at, clock])
  const isReplaced = client !== live
  const togglePause = useCallback(() => {
    if (recorded !== undefined) return
    setReplacement(isReplaced ? undefined : { of: live, client: pauseView(live), pausedAt: clock() })
  }, [recorded, isReplaced, live, clock])
  const open = useCallback((opened: RecordedClient) => setReplacement({ of: live, client: opened }), [live])
  const leave = useCallback(() => setReplacement(undefined), [])
  const canLeave = isReplaced && recorded !== undefined
  return useMemo(
    () => ({ client, recorded, pausedAt, now, togglePause, open, leave: canLeave ? leave : undefined }),
    [client, recorded, pausedAt, now, togglePause, open, canLeave, leave]
  )
}

/** The client that is displayed in place of the live one. */
interface Replacement {
  readonly of: DevtoolsClient
  readonly client: DevtoolsClient
  readonly pausedAt?: number
}

const NOTHING: Partial<Replacement> = {}

const NEVER = { subscribe: () => () => {}, getSnapshot: (): Moment | undefined => undefined }
