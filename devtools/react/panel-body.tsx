import type { ReactElement } from 'react'
import { clientNumber } from './client-number.ts'
import { type PanelName, panelTitles } from './location.ts'
import { usePanel } from './panel-state.ts'
import { EnginesPanel } from './panels/engines-panel.tsx'
import { HooksPanel } from './panels/hooks-panel.tsx'
import { LogsPanel } from './panels/logs-panel.tsx'
import { PluginsPanel } from './panels/plugins-panel.tsx'
import { QuotesPanel } from './panels/quotes-panel.tsx'
import { RatesPanel } from './panels/rates-panel.tsx'
import { SyncPanel } from './panels/sync-panel.tsx'
import { BrokenNotice, ErrorBoundary } from './parts/error-boundary.tsx'

/** What the chosen tab shows; if that breaks, why, and the ways on. */
export const PanelBody = (): ReactElement => {
  const { go, live, location, shown } = usePanel()
  const { panel, id = '' } = location
  const Body = bodies[panel]
  const source = clientNumber(shown.film ?? live)
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
  sync: SyncPanel,
  hooks: HooksPanel,
  plugins: PluginsPanel,
  logs: LogsPanel
}
