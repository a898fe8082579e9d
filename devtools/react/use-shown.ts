import { useCallback, useMemo, useState } from 'react'
import type { DevtoolsClient } from '../core/devtools-client.ts'
import { holdStill } from '../core/hold-still.ts'

/** What the panel draws: its client as it goes on, or as it stood at a moment. */
export interface Shown {
  /** The one that is drawn. */
  readonly client: DevtoolsClient
  /** Since when it is held still, in Unix milliseconds; undefined while it goes on. */
  readonly heldAt: number | undefined
  /** The time by which ages and countdowns are told, in Unix milliseconds. */
  readonly now: () => number
  /** Holds what is drawn still, or lets it go on. */
  readonly toggleHold: () => void
}

/** What is drawn of a client, and the ways to change that. */
export const useShown = (live: DevtoolsClient, clock: () => number): Shown => {
  const [held, setHeld] = useState<Held | undefined>()
  const isHeld = held !== undefined && held.of === live
  const toggleHold = useCallback(() => {
    setHeld(isHeld ? undefined : { of: live, client: holdStill(live), at: clock() })
  }, [isHeld, live, clock])
  const heldAt = isHeld ? held.at : undefined
  const now = useMemo(() => (heldAt === undefined ? clock : () => heldAt), [heldAt, clock])
  return { client: isHeld ? held.client : live, heldAt, now, toggleHold }
}

interface Held {
  /** Held for this one only: a panel that is given another client goes on. */
  readonly of: DevtoolsClient
  readonly client: DevtoolsClient
  readonly at: number
}
