import type { ReactElement } from 'react'
import { eventsSince } from '../core/hold-still.ts'
import { useStore } from '../use-store.ts'
import { usePanel } from './panel-state.ts'
import { StateMark } from './parts/state-mark.tsx'
import { clockText } from './texts.ts'

/** Says that the panel is held still, since when, and how much waits. Nothing is drawn while it goes on. */
export const HeldBar = (): ReactElement | null => {
  const { client, live, heldAt, toggleHold } = usePanel()
  const waiting = useStore(live.events, () => eventsSince(client, live))
  if (heldAt === undefined) return null
  return (
    <section className="strip past" aria-label="Held still">
      <StateMark tone="warn">Held still</StateMark>
      <span>
        at <span className="mono">{clockText(heldAt)}</span>. Nothing can be done until it goes on.
      </span>
      <span className="soft">{waiting === 1 ? '1 event waits' : `${waiting} events wait`}</span>
      <button type="button" className="button" onClick={toggleHold}>
        Go on
      </button>
    </section>
  )
}
