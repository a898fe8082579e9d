import type { ReactElement } from 'react'
import { durationText } from '../../../app/format/times.ts'
import { matchesText } from '../../core/model/derive.ts'
import type { JournalEvent } from '../../core/model/facts.ts'
import { type PluginRow, pluginRows } from '../../core/rows/plugin-rows.ts'
import { useStore } from '../../use-store.ts'
import { ActionButton } from '../parts/action-forms.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { CorrelationLink, Detail, DetailList, DetailsPane, Section } from '../parts/details.tsx'
import { FilterField } from '../parts/fields.tsx'
import { EmptyState, NoMatch, StateMark, type Tone } from '../parts/marks.tsx'
import { clockText, visibleText } from '../parts/texts.ts'
import { usePanel, useView } from '../state/panel-state.ts'

/** The plugins: of what kind, with which permissions, and how often they failed. */
export const PluginsPanel = (): ReactElement => {
  const view = useView()
  const { client, go, location } = usePanel()
  const events = useStore(client.events)
  const all = pluginRows(view, events)
  const rows = all.filter(plugin =>
    matchesText(location.filter, [
      ...[plugin.pluginId, plugin.kind, plugin.state, plugin.errorCode, plugin.message]
    ])
  )
  const chosen = all.find(({ pluginId }) => pluginId === location.id)
  if (all.length === 0) {
    return (
      <EmptyState title="No plugins">
        <p>
          Currencies, rates, swaps and storage are plugins. Pass some to <code>createKernel</code>; they
          appear here in the order in which they were applied.
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
              keyOf={({ pluginId }) => pluginId}
              chosen={location.id}
              onOpen={({ pluginId }) => go({ id: pluginId })}
            />
          )}
        </div>
        {chosen === undefined ? null : (
          <PluginDetails key={chosen.pluginId} plugin={chosen} events={events} />
        )}
      </div>
    </>
  )
}

const columns: readonly Column<PluginRow>[] = [
  { title: 'Plugin', isProse: true, width: '22%', cell: plugin => plugin.pluginId },
  { title: 'Kind', width: '96px', cell: plugin => plugin.kind ?? '–' },
  { title: 'State', width: '110px', cell: plugin => <PluginState plugin={plugin} /> },
  {
    title: 'Private keys beyond signing',
    width: '190px',
    rank: 'minor',
    cell: plugin =>
      plugin.needsKeysTo.length === 0 ? <span className="soft">never</span> : plugin.needsKeysTo.join(', ')
  },
  {
    title: 'Faults',
    width: '72px',
    isNumber: true,
    rank: 'slight',
    cell: ({ faultCount }) =>
      faultCount === 0 ? <span className="soft">0</span> : <span className="bad">{faultCount}</span>
  },
  {
    title: 'What went wrong',
    isProse: true,
    rank: 'spare',
    cell: plugin => (
      <span className={plugin.lastFault === undefined && plugin.state === 'applied' ? 'soft' : 'bad'}>
        {problemOf(plugin)}
      </span>
    ),
    hint: plugin => problemOf(plugin)
  }
]

/** The newest fault, why it could not be applied, or what its source of rates says. */
const problemOf = ({ message, errorCode, lastFault, rates }: PluginRow): string =>
  visibleText(lastFault?.message ?? message ?? errorCode ?? rates?.message ?? '')

const tones: Readonly<Record<PluginRow['state'], Tone>> = {
  applied: 'good',
  failed: 'bad',
  missing: 'warn'
}

const PluginState = ({ plugin }: { readonly plugin: PluginRow }): ReactElement => (
  <StateMark tone={tones[plugin.state]}>{plugin.state}</StateMark>
)

const PluginDetails = (props: {
  readonly plugin: PluginRow
  readonly events: readonly JournalEvent[]
}): ReactElement => {
  const { plugin, events } = props
  const faults = events.filter(
    ({ hook, data }) => hook === 'pluginFault' && data.pluginId === plugin.pluginId
  )
  const accounts = [...useView().accounts.values()].filter(({ isLoggedIn }) => isLoggedIn)
  return (
    <DetailsPane title={plugin.pluginId}>
      <PluginState plugin={plugin} />
      {plugin.kind !== 'swap'
        ? null
        : accounts.map(({ accountId, username }) => (
            <div className="acts" key={accountId}>
              <span className="soft">For {username ?? 'the light account'}:</span>
              <ActionButton
                name="swap.enable"
                input={{ accountId, pluginId: plugin.pluginId, isEnabled: true }}
              >
                Enable
              </ActionButton>
              <ActionButton
                name="swap.enable"
                input={{ accountId, pluginId: plugin.pluginId, isEnabled: false }}
              >
                Disable
              </ActionButton>
            </div>
          ))}
      <Section title="Plugin">
        <DetailList>
          <Detail name="Kind">{plugin.kind ?? 'unknown'}</Detail>
          <Detail name="May">
            <ul>
              {plugin.permissions.map(permission => (
                <li key={permission}>{permission}</li>
              ))}
            </ul>
          </Detail>
          <Detail name="Rates">
            {plugin.rates === undefined ? '' : `${plugin.rates.state}, ${plugin.rates.pairCount} pairs`}
          </Detail>
          <Detail name="It says">{plugin.message ?? plugin.rates?.message}</Detail>
          <Detail name="Code" look="mono">
            {plugin.errorCode}
          </Detail>
        </DetailList>
        <CorrelationLink id={plugin.pluginId} />
      </Section>
      <PluginCalls pluginId={plugin.pluginId} events={events} />
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
    </DetailsPane>
  )
}

/** The newest calls into a plugin, with what it was given and what it answered; none of a plugin that runs in no cell. */
const PluginCalls = (props: {
  readonly pluginId: string
  readonly events: readonly JournalEvent[]
}): ReactElement | null => {
  const { go } = usePanel()
  const { pluginId } = props
  const calls = props.events.filter(({ hook, data }) => hook === 'pluginCalled' && data.pluginId === pluginId)
  if (calls.length === 0) return null
  return (
    <Section title="Calls into its cell">
      <ul>
        {calls
          .slice(-MOST_CALLS)
          .reverse()
          .map(({ seq, at, data }) => (
            <li key={seq}>
              <button
                type="button"
                className="row-open"
                onClick={() => go({ panel: 'hooks', id: String(seq), filter: pluginId })}
              >
                {String(data.call)}
              </button>{' '}
              <span className="mono soft">{clockText(at)}</span>{' '}
              <span className="soft">{durationText(Number(data.durationMs))}</span>{' '}
              {data.outcome === 'failed' ? <span className="bad">failed</span> : null}
              {[data.args, data.message ?? data.result].map((text, place) =>
                typeof text === 'string' && text !== '' ? (
                  <pre
                    key={place === 0 ? 'args' : 'result'}
                  >{`${place === 0 ? '' : '→ '}${visibleText(text)}`}</pre>
                ) : null
              )}
            </li>
          ))}
      </ul>
    </Section>
  )
}

const MOST_CALLS = 20
