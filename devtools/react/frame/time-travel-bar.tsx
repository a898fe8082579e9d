import type { ReactElement } from 'react'
import { eventsSince } from '../../core/client/paused-view.ts'
import { isRecorded, type RecordedClient } from '../../core/recording/timeline.ts'
import { useStore } from '../../use-store.ts'
import { StateMark } from '../parts/marks.tsx'
import { clockText, dateText } from '../parts/texts.ts'
import { usePanel } from '../state/panel-state.ts'

/** Says that what is drawn does not go on: a recording, or a panel that is held still. Nothing is drawn while it does. */
export const PastBar = (): ReactElement | null => {
  const { film, heldAt } = usePanel().shown
  if (film !== undefined) return <FilmBar film={film} />
  return heldAt === undefined ? null : <HeldBar heldAt={heldAt} />
}

const HeldBar = ({ heldAt }: { readonly heldAt: number }): ReactElement => {
  const { live, shown } = usePanel()
  const waiting = useStore(live.events, () => eventsSince(shown.client, live))
  return (
    <section className="strip past" aria-label="Held still">
      <StateMark tone="warn">Held still</StateMark>
      <span>
        at <span className="mono">{clockText(heldAt)}</span>. Nothing can be done until it goes on.
      </span>
      <span className="soft">{waiting === 1 ? '1 event waits' : `${waiting} events wait`}</span>
      <button
        type="button"
        className="button"
        onClick={event => {
          focusTab(event.currentTarget)
          shown.toggleHold()
        }}
      >
        Go on
      </button>
    </section>
  )
}

/** The bar goes with its button: the focus would be lost. */
const focusTab = (button: HTMLElement): void =>
  button.closest('.panel')?.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus()

const FilmBar = ({ film }: { readonly film: RecordedClient }): ReactElement => {
  const { live, shown } = usePanel()
  const { leave } = shown
  const isSnapshot = film.momentCount === 1
  return (
    <section className="strip past" aria-label="Recording">
      <StateMark tone="warn">{isSnapshot ? 'Viewing a snapshot' : 'Viewing a recording'}</StateMark>
      <span>
        of {dateText(film.header.at)}. Nothing can be done here.
        {film.isCut ? ' Its file ends within a line, as after a crash.' : ''}
      </span>
      {isSnapshot ? null : <Scrubber film={film} />}
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

const Scrubber = ({ film }: { readonly film: RecordedClient }): ReactElement => {
  const { index, at } = useStore(film.moment)
  const text = `${clockText(at)}, ${index + 1} of ${film.momentCount}`
  return (
    <fieldset className="scrub bare" aria-label="Moment">
      <button
        type="button"
        className="button plain"
        aria-label="The moment before"
        onClick={() => film.seek(index - 1)}
      >
        <kbd>[</kbd>
      </button>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={text}
        min={0}
        max={film.momentCount - 1}
        value={index}
        onChange={event => film.seek(event.target.valueAsNumber)}
      />
      <button
        type="button"
        className="button plain"
        aria-label="The moment after"
        onClick={() => film.seek(index + 1)}
      >
        <kbd>]</kbd>
      </button>
      <output className="mono">{text}</output>
    </fieldset>
  )
}
