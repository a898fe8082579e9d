import type { FakeWorldControl } from '../../app/actions/world-control.ts'
import { type Clock, compact, type ObserverPlugin, type Plugin } from '../../kernel/index.ts'
import { ActionCorrelation } from './host/correlation.ts'
import { Journal } from './host/journal.ts'
import { type PanelHost, PanelSession } from './host/session.ts'
import { foldSnapshot, type TableLimits, Tables, tableLimits } from './host/tables.ts'
import {
  type FactName,
  type Facts,
  factOf,
  type HookName,
  type HookSnapshot,
  hookNames,
  type PluginCall
} from './model/facts.ts'

/** Options of the devtools of a kernel. */
export interface DevtoolsOptions {
  /** Usually the clock of the kernel's io. */
  readonly clock: Pick<Clock, 'now' | 'after'>
  /** The time for which changes are gathered; 100, so that a panel gets at most ten batches a second. */
  readonly batchMs?: number
  /** The number of events that are kept; 10,000. */
  readonly ringSize?: number
  /** The number of rows that each table keeps, and of rounds of quotes; see {@link tableLimits}. */
  readonly maxPerSlice?: Partial<TableLimits>
  /** Watch every tap of every hook. It costs a little as long as the kernel lives, since no tap can be taken back. */
  readonly hooks?: boolean
  /** Show no addresses and txids, such as for screenshots. */
  readonly hideAddresses?: boolean
}

/** The devtools of one kernel: an observer that folds what it receives, and the panels on it. */
export interface Devtools extends PanelHost {
  /** Goes into the plugins of the kernel. */
  readonly plugin: ObserverPlugin
  /** Names this kernel; another one after a restart. */
  readonly kernelId: string
  /** Reads the state of a fake world and notifies all panels, now and at each change. Once a world, however often it is called. */
  watchWorld(world: WatchedWorld): void
  /** Notes a call into a plugin in a cell; undefined while no panel is attached, so that a call costs nothing. */
  readonly noteCall: ((call: PluginCall) => void) | undefined
}

/** The part of a fake world's driver that reports. */
export type WatchedWorld = Pick<FakeWorldControl, 'look' | 'state'>

const PLUGIN_ID = 'devtools'

/**
 * Makes the devtools of a kernel. While nobody is attached an event costs one entry of a table and one of a ring:
 * nothing is copied, redacted or serialised, and taps are not noted.
 */
export const makeDevtools = (options: DevtoolsOptions): Devtools => {
  const { clock, batchMs = 100, ringSize = 10_000, maxPerSlice = {}, hooks: isWatching = true } = options
  // Identifies a kernel. A panel over a socket recognises its own by it, and gets one guess at most.
  const kernelId = `${clock.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`
  // No panel receives the salt: with it, a mark could be compared with those of all known addresses.
  const redaction = { hideAddresses: options.hideAddresses === true, salt: String(Math.random()) }
  const sessions = new Set<PanelSession>()
  const journal = new Journal(ringSize)
  const tables = new Tables({ ...tableLimits, ...maxPerSlice }, (slice, id, what) => {
    for (const session of sessions) session.markRow(slice, id, what)
  })
  const correlation = new ActionCorrelation(clock, quoteId => {
    for (const quote of tables.rows('quotes').values()) if (quote.quoteId === quoteId) return quote.roundId
    return undefined
  })
  const addEvent = <F extends FactName>(hook: F, fact: Facts[F], known?: string): void => {
    const correlationId = known ?? correlation.idOf(hook, fact)
    journal.add(clock.now(), { hook, fact, ...compact({ correlationId }) })
    for (const session of sessions) session.scheduleFlush()
  }
  const onHook = <H extends HookName>(hook: H, snapshot: HookSnapshot<H>): void => {
    foldSnapshot(tables, hook, snapshot)
    addEvent(hook, factOf(hook, snapshot))
  }

  const plugin: ObserverPlugin = {
    kind: 'observer',
    id: PLUGIN_ID,
    apply({ hooks }) {
      for (const name of hookNames) {
        if (name === 'tapRan') continue
        hooks[name].tap(PLUGIN_ID, ((snapshot: HookSnapshot<typeof name>) => onHook(name, snapshot)) as never)
      }
      if (!isWatching) return
      // Its own taps would report every event a second time.
      hooks.tapRan.tap(PLUGIN_ID, ran => {
        if (sessions.size > 0 && ran.pluginId !== PLUGIN_ID) addEvent('tapRan', ran)
      })
    }
  }

  const worlds = new WeakSet<WatchedWorld>()
  const onWorld = ({ state }: WatchedWorld): void => {
    const world = state.getSnapshot()
    if (world === undefined) return
    tables.put('world', 'world', world)
    addEvent('worldChanged', world)
  }

  const noteCall = (call: PluginCall): void => void addEvent('pluginCalled', call)

  const devtools: Devtools = {
    plugin,
    kernelId,
    attach(channel, attached) {
      const session = new PanelSession(
        {
          ...{ clock, kernelId, batchMs, tables, journal, correlation },
          redaction: attached.hideAddresses === true ? { ...redaction, hideAddresses: true } : redaction,
          onAction: (fact, correlationId) => addEvent('action', fact, correlationId),
          onEnded: ended => void sessions.delete(ended)
        },
        channel,
        attached
      )
      sessions.add(session)
      session.greet()
      return () => session.detach()
    },
    get noteCall() {
      return sessions.size > 0 ? noteCall : undefined
    },
    watchWorld(world) {
      if (!worlds.has(world)) {
        worlds.add(world)
        world.state.subscribe(() => onWorld(world))
        onWorld(world)
      }
      // One that does not answer is not known; what is done to it fails by itself.
      world.look().catch(() => {})
    }
  }
  byPlugin.set(plugin, devtools)
  return devtools
}

const byPlugin = new WeakMap<Plugin, Devtools>()

/** The devtools whose observer is among the plugins of a kernel, if there are any. */
export const devtoolsAmong = (plugins: readonly Plugin[]): Devtools | undefined => {
  for (const plugin of plugins) {
    const devtools = byPlugin.get(plugin)
    if (devtools !== undefined) return devtools
  }
  return undefined
}
