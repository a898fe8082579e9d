import { compact, type JsonObject, type PluginId } from '../../../kernel/index.ts'
import { matchesText, memoize } from '../model/derive.ts'
import type { JournalEvent } from '../model/facts.ts'

/** One line of the timeline. */
export interface HookTableRow {
  readonly seq: number
  /** Unix milliseconds: when it began. */
  readonly at: number
  /**
   * `tap`: one plugin's part in a hook; `call`: a call into the cell of a plugin; `notified`: a hook that notifies; `action`: what a
   * panel did.
   */
  readonly kind: 'tap' | 'call' | 'notified' | 'action'
  /** The hook, or the name of the action. */
  readonly hook: string
  readonly pluginId?: PluginId
  readonly subject?: string
  readonly correlationId?: string
  readonly durationMs?: number
  /** The outcome of a tap or an action; for an observer hook, the state that was reached, if any. */
  readonly outcome?: string
}

/** The filter of the rows; a field that is left out matches all. */
export interface HookFilter {
  /** Part of a name or of any id, in any case. */
  readonly text?: string
  readonly kind?: HookTableRow['kind']
  readonly pluginId?: PluginId
  readonly hook?: string
  readonly outcome?: string
  readonly correlationId?: string
}

/** The timeline of hooks, oldest first (pure). */
export const hookRows = (
  events: readonly JournalEvent[],
  filter: HookFilter = {}
): readonly HookTableRow[] => {
  const { text = '', ...exact } = filter
  const wanted = Object.entries(exact).filter(([, value]) => value !== undefined)
  const rows: HookTableRow[] = []
  for (const event of events) {
    const row = rowOf(event)
    if (!wanted.every(([name, value]) => row[name as keyof HookTableRow] === value)) continue
    if (
      matchesText(text, [row.hook, row.pluginId, row.subject, row.outcome]) ||
      matchesText(text, idsOf(event))
    )
      rows.push(row)
  }
  return rows
}

/** All ids in an event, so that what is about a wallet, a payment or a round is found by its id. */
const idsOf = memoize(({ correlationId, data }: JournalEvent): readonly string[] => [
  ...(correlationId === undefined ? [] : [correlationId]),
  ...idsWithin(data)
])

const idsWithin = (fields: JsonObject): readonly string[] =>
  Object.entries(fields).flatMap(([name, value]) => {
    if (ID_NAMES.test(name)) return [value].flat().filter(id => typeof id === 'string')
    return typeof value === 'object' && value !== null ? idsWithin(value as JsonObject) : []
  })

/** The fields that hold ids of things. */
const ID_NAMES = /(?:Ids?|txid|^created|^changed)$/

const rowOf = memoize(({ seq, at, hook, subject, correlationId, data }: JournalEvent): HookTableRow => {
  const about = compact({
    subject: hook === 'tapRan' || hook === 'pluginCalled' ? undefined : subject,
    correlationId
  })
  const timed = TIMED.get(hook)
  if (timed === undefined) {
    const became = data.stage ?? data.state
    return {
      seq,
      at,
      kind: 'notified',
      hook,
      ...about,
      ...compact({ outcome: typeof became === 'string' ? became : undefined })
    }
  }
  const { durationMs, outcome, pluginId } = data
  const duration = typeof durationMs === 'number' ? durationMs : undefined
  return {
    seq,
    at: at - (duration ?? 0),
    kind: timed.kind,
    hook: String(data[timed.name]),
    ...compact({ pluginId: typeof pluginId === 'string' ? pluginId : undefined }),
    ...about,
    ...compact({ durationMs: duration, outcome: typeof outcome === 'string' ? outcome : undefined })
  }
})

/** The events of what took time, with the field of its name. */
const TIMED: ReadonlyMap<string, { readonly kind: HookTableRow['kind']; readonly name: string }> = new Map([
  ['tapRan', { kind: 'tap', name: 'hook' }],
  ['pluginCalled', { kind: 'call', name: 'call' }],
  ['action', { kind: 'action', name: 'action' }]
])
