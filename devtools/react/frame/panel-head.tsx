import type { KeyboardEvent, ReactElement } from 'react'
import type { View } from '../../core/model/slices.ts'
import { FailureNotice } from '../parts/dialog.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { tabAfter } from '../state/keyboard.ts'
import { type PanelName, panelNames, panelTitles } from '../state/location.ts'
import { usePanel, useStatus, useView } from '../state/panel-state.ts'
import { type Theme, themes } from '../state/preferences.ts'
import { RecordingTools } from './recording-tools.tsx'

/** The name, the tabs, how the panel stands to its kernel, theme and help. */
export const PanelHead = (props: {
  readonly theme: Theme
  readonly onTheme: (theme: Theme) => void
  readonly onHelp: () => void
  /** Its name is the first heading of the page. */
  readonly ownsPage: boolean
}): ReactElement => (
  <header className="head">
    {props.ownsPage ? (
      <h1 className="brand">
        <Brand />
      </h1>
    ) : (
      <span className="brand">
        <Brand />
      </span>
    )}
    <Tabs />
    <div className="head-side">
      <Connection />
      <RecordingTools />
      <button
        type="button"
        className="button plain"
        aria-label={`Theme: ${props.theme}. Change it`}
        onClick={() => props.onTheme(themeAfter(props.theme))}
      >
        {themeNames[props.theme]}
      </button>
      <button type="button" className="button plain" aria-label="Help and keys" onClick={props.onHelp}>
        ?
      </button>
    </div>
  </header>
)

const Brand = (): ReactElement => (
  <>
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
    >
      <path d="M8 1v9M8 10c0 3-2 4-5 5M8 10c0 3 2 4 5 5M8 10v5M8 4c2-2 4-2 5-1M8 7C6 5 4 5 3 6" />
    </svg>
    Holdfast
  </>
)

/** The theme that `T` leads to. */
export const themeAfter = (theme: Theme): Theme =>
  themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'

const themeNames: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' }

const Tabs = (): ReactElement => {
  const { go, location } = usePanel()
  const view = useView()
  const follow = (event: KeyboardEvent<HTMLDivElement>): void => {
    const next = tabAfter(panelNames, location.panel, event.key)
    if (next === undefined) return
    event.preventDefault()
    go({ panel: next })
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next}`)?.focus()
  }
  return (
    <div className="tabs" role="tablist" aria-label="Panels" onKeyDown={follow}>
      {panelNames.map(name => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          className="tab"
          aria-selected={name === location.panel}
          aria-controls="tab-body"
          tabIndex={name === location.panel ? 0 : -1}
          onClick={() => go({ panel: name })}
        >
          {panelTitles[name]}
          <Count name={name} view={view} />
        </button>
      ))}
    </div>
  )
}

const Count = (props: { readonly name: PanelName; readonly view: View }): ReactElement | null => {
  const { engines, plugins } = props.view
  const rows =
    props.name === 'engines' ? engines : props.name === 'plugins' ? plugins : new Map<string, never>()
  const states: readonly string[] = [...rows.values()].map(({ state }) => state)
  // What failed is graver than what a list of plugins names and nobody gave.
  const word = ['failed', 'missing'].find(state => states.includes(state))
  if (word === undefined) return null
  return (
    <span className={word === 'failed' ? 'count bad' : 'count warn'}>
      {states.filter(state => state === word).length} {word}
    </span>
  )
}

const Connection = (): ReactElement => {
  const { connection, isReadOnly, hasWorld, network } = useStatus()
  const [tone, word] = connections[connection]
  return (
    // The alert at the bottom announces a loss, not this too.
    <span className="acts" role="status" aria-live={connection === 'lost' ? 'off' : undefined}>
      <StateMark tone={tone}>{word}</StateMark>
      {isReadOnly && connection !== 'past' ? <span className="tag">read-only</span> : null}
      {hasWorld && isReadOnly ? <span className="tag">fake world</span> : null}
      {network === undefined ? null : <span className="tag">{network} network</span>}
    </span>
  )
}

const connections: Readonly<Record<'connecting' | 'live' | 'lost' | 'past', readonly [Tone, string]>> = {
  connecting: ['busy', 'connecting'],
  live: ['good', 'live'],
  lost: ['bad', 'lost'],
  past: ['idle', 'viewing past']
}

/** Shows the last failure, and the command of the control that has the focus or the pointer. */
export const PanelFoot = (props: {
  readonly commandLine: string
  readonly onCopy: (text: string) => void
  readonly onPalette: () => void
  readonly said: string
}): ReactElement => {
  const { commandLine } = props
  const { connection, message } = useStatus()
  const { hasDialog } = usePanel()
  return (
    <>
      {connection === 'lost' ? (
        <div className="notice" role="alert">
          <strong className="bad">Lost</strong>
          <span>{message ?? 'The kernel no longer answers. These are the last known values.'}</span>
        </div>
      ) : null}
      {/* Shown once: an open dialog shows the failure itself. */}
      {hasDialog ? null : <FailureNotice />}
      <footer className="foot">
        <button type="button" className="link" onClick={props.onPalette}>
          Find or do <kbd>Ctrl K</kbd>
        </button>
        {commandLine === '' ? (
          <span>
            <kbd>?</kbd> keys <kbd>/</kbd> filter
          </span>
        ) : (
          <>
            <code>
              <b aria-hidden="true">$ </b>
              {commandLine}
            </code>
            <button type="button" className="button plain" onClick={() => props.onCopy(commandLine)}>
              Copy
            </button>
          </>
        )}
        <span role="status">{props.said}</span>
      </footer>
    </>
  )
}
