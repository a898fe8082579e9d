import type { ReactElement } from 'react'
import { eventsSince } from '../../core/client/paused-view.ts'
import { isRecorded, type RecordedClient } from '../../core/recording/timeline.ts'
import { useStore } from '../../use-store.ts'
import { StateMark } from '../parts/marks.tsx'
import { clockText, dateText } from '../parts/texts.ts'
import { usePanel } from '../state/panel-state.ts'

/** Says that what is drawn does not go on: a recording, or a paused panel. Nothing is drawn while it does. */
export const TimeTravelBar = (): ReactElement | null => {
  const { recorded, pausedAt } = usePanel().displayed
  if (recorded !== undefined) return <RecordingBar recorded={recorded} />
  return pausedAt === undefined ? null : <PausedBar pausedAt={pausedAt} />
}

const PausedBar = ({ pausedAt }: { readonly pausedAt: number }): ReactElement => {
  const { live, displayed } = usePanel()
  const waiting = useStore(live.events, () => eventsSince(displayed.client, live))
  return (
    <section className="strip past" aria-label="View paused">
      <StateMark tone="warn">View paused</StateMark>
      <span>
        at <span className="mono">{clockText(pausedAt)}</span>. Actions are off until you resume.
      </span>
      <span className="soft">{waiting === 1 ? '1 event waits' : `${waiting} events wait`}</span>
      <button
        type="button"
        className="button"
        onClick={event => {
          focusTab(event.currentTarget)
          displayed.togglePause()
        }}
      >
        Resume view
      </button>
    </section>
  )
}

/** The bar goes with its button: the focus would be lost. */
const focusTab = (button: HTMLElement): void =>
  button.closest('.panel')?.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus()

const RecordingBar = ({ recorded }: { readonly recorded: RecordedClient }): ReactElement => {
  const { live, displayed } = usePanel()
  const { leave } = displayed
  const isSnapshot = recorded.momentCount === 1
  return (
    <section className="strip past" aria-label="Recording">
      <StateMark tone="warn">{isSnapshot ? 'Viewing a snapshot' : 'Viewing a recording'}</StateMark>
      <span>
        of {dateText(recorded.header.at)}. Actions are off here.
        {recorded.isCut ? ' Its file ends within a line, as after a crash.' : ''}
      </span>
      {isSnapshot ? null : <Scrubber recorded={recorded} />}
      {leave === undefined ? null : (
        <button
          type="button"
          className="button"
          onClick={event => {
            focusTab(event.currentTarget)
            leave()
          }}
        >
          {isRecorded(live) ? 'Back to the first recording' : 'Back to live'}
        </button>
      )}
    </section>
  )
}

const Scrubber = ({ recorded }: { readonly recorded: RecordedClient }): ReactElement => {
  const { index, at } = useStore(recorded.moment)
  const text = `${clockText(at)}, ${index + 1} of ${recorded.momentCount}`
  return (
    <fieldset className="scrub bare" aria-label="Moment">
      <button
        type="button"
        className="button plain"
        aria-label="Previous moment"
        onClick={() => recorded.seek(index - 1)}
      >
        <kbd>[</kbd>
      </button>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={text}
        min={0}
        max={recorded.momentCount - 1}
        value={index}
        onChange={event => recorded.seek(event.target.valueAsNumber)}
      />
      <button
        type="button"
        className="button plain"
        aria-label="Next moment"
        onClick={() => recorded.seek(index + 1)}
      >
        <kbd>]</kbd>
      </button>
      <output className="mono">{text}</output>
    </fieldset>
  )
}
