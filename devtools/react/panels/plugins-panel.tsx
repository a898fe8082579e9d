import type { ReactElement } from 'react'
import type { PluginSnapshot } from '../../../kernel/index.ts'
import type { JournalEvent } from '../../core/journal-event.ts'
import type { View } from '../../core/slices.ts'
import { useStore } from '../../use-store.ts'
import { usePanel, useView } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState, NoMatch } from '../parts/empty-state.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { FilterField, matches } from '../parts/filter-field.tsx'
import { Section, Side } from '../parts/side.tsx'
import { StateMark, type Tone } from '../parts/state-mark.tsx'
import { clockText } from '../texts.ts'

/** The plugins: of what kind, with which permissions, and how often they failed. */
export const PluginsPanel = (): ReactElement => {
  const view = useView()
  const { client, go, location } = usePanel()
  const faults = useStore(client.events).filter(({ hook }) => hook === 'pluginFault')
  const all = rowsOf(view, faults)
  const rows = all.filter(({ plugin }) =>
    matches(location.filter, [plugin.pluginId, plugin.kind, plugin.state, plugin.errorCode])
  )
  const chosen = all.find(({ plugin }) => plugin.pluginId === location.id)
  if (all.length === 0) {
    return (
      <EmptyState title="No plugins">
        <p>
          Currencies, rates, swaps and storage are plugins. Give some to <code>createKernel</code>, and they
          show up here in the order in which they were applied.
        </p>
      </EmptyState>
    )
  }
  return (
    <>
      <div className="tools">
        <FilterField what="plugins" />
        <span className="soft">{all.length} plugins</span>
      </div>
      <div className={chosen === undefined ? 'body' : 'body has-side'}>
        <div className="main">
          {rows.length === 0 ? (
            <NoMatch filter={location.filter} onClear={() => go({ ...location, filter: '' })} />
          ) : (
            <DataTable
              label="Plugins"
              columns={columns}
              rows={rows}
              keyOf={({ plugin }) => plugin.pluginId}
              chosen={location.id}
              onOpen={({ plugin }) => go({ id: plugin.pluginId })}
            />
          )}
        </div>
        {chosen === undefined ? null : <PluginSide row={chosen} />}
      </div>
    </>
  )
}

interface PluginRow {
  readonly plugin: PluginSnapshot
  readonly faults: readonly JournalEvent[]
}

const rowsOf = ({ plugins }: View, faults: readonly JournalEvent[]): readonly PluginRow[] =>
  [...plugins.values()].map(plugin => ({
    plugin,
    faults: faults.filter(({ data }) => data.pluginId === plugin.pluginId)
  }))

const columns: readonly Column<PluginRow>[] = [
  { title: 'Plugin', cell: ({ plugin }) => plugin.pluginId },
  { title: 'Kind', width: '96px', cell: ({ plugin }) => plugin.kind ?? '–' },
  { title: 'State', width: '110px', cell: ({ plugin }) => <PluginState plugin={plugin} /> },
  {
    title: 'Private keys beyond signing',
    width: '200px',
    rank: 'minor',
    cell: ({ plugin }) =>
      plugin.needsKeysTo.length === 0 ? <span className="soft">never</span> : plugin.needsKeysTo.join(', ')
  },
  {
    title: 'Faults',
    width: '72px',
    isNumber: true,
    rank: 'slight',
    cell: ({ faults }) =>
      faults.length === 0 ? <span className="soft">0</span> : <span className="bad">{faults.length}</span>
  }
]

const tones: Readonly<Record<PluginSnapshot['state'], Tone>> = {
  applied: 'good',
  failed: 'bad',
  missing: 'warn'
}

const PluginState = ({ plugin }: { readonly plugin: PluginSnapshot }): ReactElement => (
  <StateMark tone={tones[plugin.state]}>{plugin.state}</StateMark>
)

const PluginSide = ({ row }: { readonly row: PluginRow }): ReactElement => {
  const { plugin, faults } = row
  const accounts = [...useView().accounts.values()].filter(({ isLoggedIn }) => isLoggedIn)
  return (
    <Side title={plugin.pluginId}>
      <PluginState plugin={plugin} />
      {plugin.kind !== 'swap'
        ? null
        : accounts.map(({ accountId, username }) => (
            <div className="acts" key={accountId}>
              <span className="soft">For {username ?? 'the light account'}:</span>
              <ActButton name="swap.enable" input={{ accountId, pluginId: plugin.pluginId, isEnabled: true }}>
                Ask it
              </ActButton>
              <ActButton
                name="swap.enable"
                input={{ accountId, pluginId: plugin.pluginId, isEnabled: false }}
              >
                Leave it out
              </ActButton>
            </div>
          ))}
      <Section title="Plugin">
        <Facts>
          <Fact name="Kind">{plugin.kind ?? 'unknown'}</Fact>
          <Fact name="Private keys">
            {plugin.needsKeysTo.length === 0 ? 'only to sign' : `to sign, ${plugin.needsKeysTo.join(', ')}`}
          </Fact>
          <Fact name="Code" look="mono">
            {plugin.errorCode}
          </Fact>
        </Facts>
      </Section>
      <Section title="Faults">
        {faults.length === 0 ? <p className="soft">None seen.</p> : null}
        <ul>
          {faults
            .slice(-20)
            .reverse()
            .map(({ seq, at, data }) => (
              <li key={seq}>
                <span className="mono soft">{clockText(at)}</span> {String(data.hook)}: {String(data.message)}
              </li>
            ))}
        </ul>
      </Section>
    </Side>
  )
}
