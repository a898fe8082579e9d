import { type KeyboardEvent, type ReactElement, useEffect, useId, useRef, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { visibleText } from '../parts/texts.ts'
import { usePanel } from '../state/panel-state.ts'
import {
  bestEntries,
  locationEntries,
  type PaletteEntry,
  panelEntries,
  searchEntry
} from './palette-entries.ts'

/** Everything that can be gone to or done, found by a few letters. */
export const PaletteDialog = (props: {
  /** The actions of the current panel. */
  readonly here: readonly PaletteEntry[]
  readonly onChoose: (entry: PaletteEntry) => void
  readonly onClose: () => void
}): ReactElement => {
  const { client } = usePanel()
  const list = useId()
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  // As it was when it was opened: lines that move under the hand would be chosen by mistake.
  const [all] = useState(() => [
    // Panels first: who opens it and presses Enter does no harm.
    ...panelEntries(),
    ...props.here,
    ...locationEntries(client.view.getSnapshot(), client.events.getSnapshot())
  ])
  const found = bestEntries(all, query, MOST)
  const wanted = query.trim()
  const entries = wanted === '' ? found : [...found, searchEntry(client.view.getSnapshot(), wanted)]
  const chosen = Math.min(at, entries.length - 1)
  const choose = (entry: PaletteEntry | undefined): void => {
    if (entry === undefined) return
    props.onClose()
    props.onChoose(entry)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    const next = placeAfterKey(event, chosen, entries.length)
    if (next !== undefined) setAt(next)
    else if (event.key === 'Enter') choose(entries[chosen])
    else if (event.key === 'k' && (event.ctrlKey || event.metaKey)) props.onClose()
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Find or do" onClose={props.onClose}>
      <input
        className="palette-field"
        role="combobox"
        aria-label="Find or do"
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={list}
        aria-activedescendant={`${list}-${chosen}`}
        placeholder="A panel, a wallet, an id or an action"
        value={query}
        spellCheck={false}
        autoComplete="off"
        onKeyDown={onKeyDown}
        onChange={event => {
          setQuery(event.target.value)
          setAt(0)
        }}
      />
      <div id={list} className="palette" role="listbox" aria-label="Places and actions">
        {entries.map((entry, place) => (
          <Entry
            // biome-ignore lint/suspicious/noArrayIndexKey: an option is its place in the list
            key={place}
            id={`${list}-${place}`}
            entry={entry}
            isChosen={place === chosen}
            onChoose={() => choose(entry)}
          />
        ))}
      </div>
    </Dialog>
  )
}

// More than anybody reads: who looks for another one types a letter more.
const MOST = 60

/** The line that a key leads to; undefined for other keys. Ends lead to each other. */
const placeAfterKey = (
  { key }: Pick<KeyboardEvent, 'key'>,
  at: number,
  count: number
): number | undefined => {
  if (key === 'ArrowDown') return (at + 1) % count
  if (key === 'ArrowUp') return (at - 1 + count) % count
  if (key === 'PageDown') return Math.min(at + PAGE, count - 1)
  return key === 'PageUp' ? Math.max(at - PAGE, 0) : undefined
}

const PAGE = 8

const Entry = (props: {
  readonly id: string
  readonly entry: PaletteEntry
  readonly isChosen: boolean
  readonly onChoose: () => void
}): ReactElement => {
  const { id, entry, isChosen, onChoose } = props
  const line = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isChosen) line.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles keys
    // biome-ignore lint/a11y/useFocusableInteractive: the field points at it instead
    <div ref={line} id={id} role="option" aria-selected={isChosen} onClick={onChoose}>
      <span className="palette-title">{visibleText(entry.title)}</span>
      <span className="palette-detail">{visibleText(entry.detail)}</span>
      {entry.keys === undefined ? null : <kbd>{entry.keys}</kbd>}
      <span className="palette-kind">{entry.kind}</span>
    </div>
  )
}

/**
 * Lists the actions of the current panel: the visible buttons, each with the command that does the same.
 *
 * They are read from the page, so the palette never offers what the panel does not.
 */
export const buttonEntries = (panel: HTMLElement | null): readonly PaletteEntry[] => {
  const buttonsIn = (part: string): readonly HTMLButtonElement[] => [
    ...(panel?.querySelectorAll<HTMLButtonElement>(`${part} button.button`) ?? [])
  ]
  return [...buttonsIn('#tab-body'), ...buttonsIn('.strip'), ...buttonsIn('.past-tools')]
    .filter(button => !button.disabled && button.closest('.command') === null)
    .map(button => ({
      kind: 'Here',
      ...saidBy(button),
      target: { type: 'press', button }
    }))
}

/** Presses the button of an entry, if it still says what the entry does: one button may become another one while it is read. */
export const pressButton = (button: HTMLButtonElement, { title, detail }: PaletteEntry): void => {
  const said = saidBy(button)
  if (said.title === title && said.detail === detail) button.click()
}

/** Returns the label of a button, and the command that does the same. */
const saidBy = (button: HTMLButtonElement): Pick<PaletteEntry, 'detail' | 'title'> => ({
  title: (button.getAttribute('aria-label') ?? button.textContent ?? '').trim(),
  detail: button.dataset.command ?? ''
})
