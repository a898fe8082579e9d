import { useCallback, useMemo, useState } from 'react'
import type { DevtoolsClient } from '../../core/client/client.ts'
import { holdStill } from '../../core/client/paused-view.ts'
import { isRecorded, type Moment, type RecordedClient } from '../../core/recording/timeline.ts'
import { useStore } from '../../use-store.ts'

/** What the panel draws: its client as it goes on, as it stood at a moment, or a recording. */
export interface Shown {
  /** The one that is drawn. */
  readonly client: DevtoolsClient
  /** The recording that is drawn, if it is one. */
  readonly film: RecordedClient | undefined
  /** Since when it is held still, in Unix milliseconds; undefined while it goes on. */
  readonly heldAt: number | undefined
  /** The time by which ages and countdowns are told, in Unix milliseconds. */
  readonly now: () => number
  /** Holds what is drawn still, or lets it go on. A recording stands still anyway. */
  readonly toggleHold: () => void
  /** Draws a recording in place of the client. */
  readonly open: (film: RecordedClient) => void
  /** Draws the client again; undefined where it is drawn, and where it is a recording itself. */
  readonly leave: (() => void) | undefined
}

/** What is drawn of a client, and the ways to change that. A panel that is given another client draws that one. */
export const useShown = (live: DevtoolsClient, clock: () => number): Shown => {
  const [still, setStill] = useState<Still | undefined>()
  const { client = live, heldAt } = still?.of === live ? still : NOTHING
  const film = isRecorded(client) ? client : undefined
  const moment = useStore(film?.moment ?? NEVER)
  const at = moment?.at ?? heldAt
  const now = useMemo(() => (at === undefined ? clock : () => at), [at, clock])
  const isStill = client !== live
  const toggleHold = useCallback(() => {
    if (film !== undefined) return
    setStill(isStill ? undefined : { of: live, client: holdStill(live), heldAt: clock() })
  }, [film, isStill, live, clock])
  const open = useCallback((opened: RecordedClient) => setStill({ of: live, client: opened }), [live])
  const leave = useCallback(() => setStill(undefined), [])
  const canLeave = isStill && film !== undefined
  return useMemo(
    () => ({ client, film, heldAt, now, toggleHold, open, leave: canLeave ? leave : undefined }),
    [client, film, heldAt, now, toggleHold, open, canLeave, leave]
  )
}

/** What is drawn in place of a client. */
interface Still {
  readonly of: DevtoolsClient
  readonly client: DevtoolsClient
  readonly heldAt?: number
}

const NOTHING: Partial<Still> = {}

const NEVER = { subscribe: () => () => {}, getSnapshot: (): Moment | undefined => undefined }
