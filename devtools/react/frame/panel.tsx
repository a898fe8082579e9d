import { type ReactElement, type RefObject, useCallback, useMemo, useRef, useState } from 'react'
import type { DevtoolsClient } from '../../core/client/client.ts'
import { EnginesPanel } from '../panels/engines-panel.tsx'
import { HooksPanel } from '../panels/hooks-panel.tsx'
import { LogsPanel } from '../panels/logs-panel.tsx'
import { PluginsPanel } from '../panels/plugins-panel.tsx'
import { QuotesPanel } from '../panels/quotes-panel.tsx'
import { RatesPanel } from '../panels/rates-panel.tsx'
import { RulesPanel } from '../panels/rules-panel.tsx'
import { SyncPanel } from '../panels/sync-panel.tsx'
import { BrokenNotice, ErrorBoundary, SafePart } from '../parts/error-boundary.tsx'
import { ReviewDialog } from '../parts/review-dialog.tsx'
import { type KeyCommand, useKeys } from '../state/keyboard.ts'
import {
  openedJson,
  type PanelLocation,
  type PanelName,
  panelTitles,
  usePanelLocation
} from '../state/location.ts'
import { usePanelActions } from '../state/panel-actions.ts'
import { clientNumber, PanelContext, type PanelState, usePanel } from '../state/panel-state.ts'
import { type Theme, usePreferences } from '../state/preferences.ts'
import { discard, type ReviewedDraft } from '../state/review-state.ts'
import { useTimeTravel } from '../state/time-travel.ts'
import { AccountBar } from './account-bar.tsx'
import { HelpDialog } from './help-dialog.tsx'
import { buttonEntries, PaletteDialog, pressButton } from './palette-dialog.tsx'
import type { PaletteEntry } from './palette-entries.ts'
import { PanelFoot, PanelHead, themeAfter } from './panel-head.tsx'
import { useFileDrop } from './recording-tools.tsx'
import { TimeTravelBar } from './time-travel-bar.tsx'

/** Properties of the panel. */
export interface PanelProps {
  readonly client: DevtoolsClient
  /** Given by the host, or chosen in the panel when absent. */
  readonly theme?: Theme
  /** The place is kept in the fragment of the page's address. On by default. */
  readonly isLinked?: boolean
  /** The panel has the page to itself and handles all its keys. */
  readonly ownsPage?: boolean
  /** The start location, if the address has none. */
  readonly start?: PanelLocation
  /** Unix milliseconds; the system's clock by default. */
  readonly now?: () => number
}

/** The panel: all that a kernel reports, and the actions on it. */
export const Panel = (props: PanelProps): ReactElement => {
  const { client: live, isLinked = true, ownsPage = false } = props
  const panel = useRef<HTMLDivElement>(null)
  const [location, navigate] = usePanelLocation(isLinked, props.start)
  const [preferences, change] = usePreferences(props.theme)
  const [isHelpOpen, setHelp] = useState(false)
  const [palette, setPalette] = useState<readonly PaletteEntry[] | undefined>()
  const closePalette = (): void => setPalette(undefined)
  const { said, review, ...actions } = usePanelActions(live)
  const { run, attempt, failure, dismiss, copy, say, memory } = actions
  const { state: timeTravel, handle: handleTimeTravel } = useTimeTravel(live, attempt, props.now)
  const [commandLine, showCommand] = useState('')
  const { hasDialog, enterDialog } = useOpenDialogs()
  const go = useCallback(
    (place: Partial<PanelLocation>) => {
      // What another panel's button would have done is of no use here.
      if (place.panel !== undefined) showCommand('')
      navigate(place)
    },
    [navigate]
  )
  const state = useMemo(
    () => ({
      ...timeTravel,
      ...{ location, go, run, attempt, failure, dismiss, copy, say },
      ...{ memory, showCommand, hasDialog, enterDialog }
    }),
    [timeTravel, location, go, run, attempt, failure, dismiss, copy, say, memory, hasDialog, enterDialog]
  )
  const handle = (command: KeyCommand): boolean => {
    if (command.type === 'help') setHelp(true)
    else if (command.type === 'theme') change({ theme: themeAfter(preferences.theme) })
    else if (command.type === 'jump') go({ panel: command.panel })
    else if (command.type === 'copy') copy(commandLine)
    else if (command.type === 'palette') setPalette(buttonEntries(panel.current))
    else if (command.type === 'copyJson') copy(openedJson(timeTravel.client, location))
    else if (command.type === 'escape')
      return leave(location, go, failure === undefined ? undefined : dismiss) || leaveFilter(panel)
    else if (command.type === 'filter' || command.type === 'next' || command.type === 'previous')
      return moveFocus(panel, command.type)
    else return handleTimeTravel(command.type)
    return true
  }
  useFileDrop(panel, timeTravel.opener.read)
  useKeys(panel, { isOn: preferences.hasShortcuts && !isHelpOpen, ofPage: ownsPage }, handle)
  // A page has one main part, which is the application's where the panel is a guest.
  const Main = ownsPage ? 'main' : 'div'
  return (
    <PanelContext value={state}>
      <div ref={panel} className="panel" data-theme={preferences.theme} lang="en" dir="ltr">
        <PanelHead
          ownsPage={ownsPage}
          theme={preferences.theme}
          onTheme={theme => change({ theme })}
          onHelp={() => setHelp(true)}
        />
        <Bars />
        <Main className="tab-body">
          <PanelBody />
        </Main>
        <PanelFoot {...{ commandLine, said }} onCopy={copy} onPalette={() => handle({ type: 'palette' })} />
        {palette === undefined ? null : (
          <SafePart what="The palette" onClose={closePalette}>
            <PaletteDialog
              here={palette}
              onChoose={entry => follow(entry, go, handle)}
              onClose={closePalette}
            />
          </SafePart>
        )}
        {isHelpOpen ? (
          <HelpDialog preferences={preferences} onChange={change} onClose={() => setHelp(false)} />
        ) : null}
        {/* Here, so that it stays wherever the panel goes. */}
        {review.draft === undefined ? null : <PanelReview draft={review.draft} onClose={review.close} />}
      </div>
    </PanelContext>
  )
}

/** Counts the dialogs that are open. */
const useOpenDialogs = (): Pick<PanelState, 'enterDialog' | 'hasDialog'> => {
  const [dialogs, setDialogs] = useState(0)
  const enterDialog = useCallback(() => {
    setDialogs(count => count + 1)
    return () => setDialogs(count => count - 1)
  }, [])
  return { hasDialog: dialogs > 0, enterDialog }
}

/** Does what was chosen in the palette. */
const follow = (
  entry: PaletteEntry,
  go: (place: Partial<PanelLocation>) => void,
  handle: (command: KeyCommand) => boolean
): void => {
  const { target } = entry
  if (target.type === 'go') go(target.place)
  else if (target.type === 'key') handle(target.command)
  else pressButton(target.button, entry)
}

/** The bars between the tabs and the panel. */
const Bars = (): ReactElement => (
  <>
    <SafePart what="The time travel bar">
      <TimeTravelBar />
    </SafePart>
    <SafePart what="The account bar">
      <AccountBar key={clientNumber(usePanel().live)} />
    </SafePart>
  </>
)

/** Closes one thing: the failure, then the chosen row, then the filter. False when there is nothing to close. */
const leave = (
  location: PanelLocation,
  go: (place: Partial<PanelLocation>) => void,
  dismiss: (() => void) | undefined
): boolean => {
  if (dismiss !== undefined) dismiss()
  else if (location.id !== undefined) go({ panel: location.panel, filter: location.filter })
  else if (location.filter !== '') go({ filter: '' })
  else return false
  return true
}

/** Moves the focus out of the filter, so that keys work again. */
const leaveFilter = (panel: RefObject<HTMLElement | null>): boolean => {
  const field = panel.current?.querySelector<HTMLElement>('[data-filter]:focus')
  field?.blur()
  return field != null
}

const moveFocus = (panel: RefObject<HTMLElement | null>, way: 'filter' | 'next' | 'previous'): boolean => {
  const root = panel.current
  if (root === null) return false
  if (way === 'filter') {
    const field = root.querySelector<HTMLInputElement>('[data-filter]')
    field?.focus()
    field?.select()
    return field !== null
  }
  const rows = [...root.querySelectorAll<HTMLElement>('[data-row]')]
  const at = rows.findIndex(row => row.matches(':focus'))
  const next = rows[at < 0 ? 0 : at + (way === 'next' ? 1 : -1)]
  next?.focus()
  return next !== undefined
}

/** Draws the chosen panel; if that fails, shows why, with buttons to go on. */
const PanelBody = (): ReactElement => {
  const { go, live, location, displayed } = usePanel()
  const { panel, id = '' } = location
  const Body = bodies[panel]
  const source = clientNumber(displayed.recorded ?? live)
  return (
    <div id="tab-body" className="tab-body" role="tabpanel" aria-labelledby={`tab-${panel}`}>
      <ErrorBoundary
        place={`${source} ${panel} ${id}`}
        instead={(reason, retry) => (
          <BrokenNotice
            what={id === '' ? panelTitles[panel] : `${panelTitles[panel]} with ${id}`}
            reason={reason}
          >
            {id === '' ? null : (
              <button type="button" className="button" onClick={() => go({ panel })}>
                Close it
              </button>
            )}
            <button type="button" className="button" onClick={retry}>
              Try again
            </button>
          </BrokenNotice>
        )}
      >
        <Body key={`${source} ${panel}`} />
      </ErrorBoundary>
    </div>
  )
}

const bodies: Readonly<Record<PanelName, () => ReactElement>> = {
  engines: EnginesPanel,
  quotes: QuotesPanel,
  rates: RatesPanel,
  rules: RulesPanel,
  sync: SyncPanel,
  hooks: HooksPanel,
  plugins: PluginsPanel,
  logs: LogsPanel
}

/**
 * The review of a draft, which is always of the present: whatever past the panel shows behind it. What cannot be shown cannot be
 * approved: if it breaks, all that is left is to give the draft up.
 */
const PanelReview = (props: {
  readonly draft: ReviewedDraft
  readonly onClose: (draft: ReviewedDraft) => void
}): ReactElement => {
  const { draft } = props
  const onClose = (): void => props.onClose(draft)
  const state = usePanel()
  const { live, clock } = state
  const present = useMemo(() => ({ ...state, client: live, now: clock }), [state, live, clock])
  return (
    <PanelContext value={present}>
      <ErrorBoundary
        place={draft.draftId}
        instead={reason => (
          <BrokenNotice what="The review" reason={reason}>
            <button
              type="button"
              className="button"
              onClick={() => {
                discard(live, draft)
                onClose()
              }}
            >
              Discard
            </button>
          </BrokenNotice>
        )}
      >
        <ReviewDialog key={draft.draftId} draft={draft} onClose={onClose} />
      </ErrorBoundary>
    </PanelContext>
  )
}
