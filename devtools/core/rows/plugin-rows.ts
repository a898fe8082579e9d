import { compact, type PluginKind, type PluginSnapshot } from '../../../kernel/index.ts'
import type { JournalEvent } from '../model/facts.ts'
import type { View } from '../model/slices.ts'

/** One plugin. */
export interface PluginRow extends PluginSnapshot {
  /** The permissions that its host grants, in words. */
  readonly permissions: readonly string[]
  /** The number of its faults among the kept events. */
  readonly faultCount: number
  readonly lastFault?: PluginFault
  /** The state of a rate source. */
  readonly rates?: { readonly state: string; readonly pairCount: number; readonly message?: string }
}

/** One failure of a plugin. */
export interface PluginFault {
  readonly seq: number
  /** Unix milliseconds. */
  readonly at: number
  readonly hook: string
  readonly message: string
  readonly errorCode?: string
}

/** One row a plugin, in the order in which the kernel took them (pure). */
export const pluginRows = (view: View, events: readonly JournalEvent[] = []): readonly PluginRow[] => {
  const faults = faultsOf(events)
  return [...view.plugins.values()].map(plugin => {
    const { count = 0, last } = faults.get(plugin.pluginId) ?? {}
    const rates = view.rateProviders.get(plugin.pluginId)
    return {
      ...plugin,
      permissions: permissionsOf(plugin),
      faultCount: count,
      ...compact({ lastFault: last, rates: rates === undefined ? undefined : ratesOf(rates) })
    }
  })
}

const ratesOf = ({
  state,
  pairCount,
  message
}: {
  readonly state: string
  readonly pairCount: number
  readonly message?: string
}): NonNullable<PluginRow['rates']> => ({
  state,
  pairCount,
  ...compact({ message })
})

const permissionsOf = ({ kind, needsKeysTo, currency }: PluginSnapshot): readonly string[] => {
  if (currency?.isSignedByKernel === true) return KEYLESS
  const own = kind === undefined ? [] : PERMISSIONS[kind]
  return needsKeysTo.length === 0 ? own : [...own, `gets private keys to ${needsKeysTo.join(', ')}, too`]
}

/** The permissions of each kind of plugin (architecture 4.6). */
const PERMISSIONS: { readonly [K in PluginKind]: readonly string[] } = {
  currency: [
    'makes keys and engines of its own currency',
    'gets private keys to sign',
    'network',
    'own disk'
  ],
  rates: ['offers rates', 'network', 'own disk', 'sees no wallet and no key'],
  swap: ['describes payments, never signs', 'network', 'own disk', 'sees no wallet and no key'],
  storage: ['stores all files, encrypted by the kernel'],
  policy: ['can stop a spend', 'can reorder quotes'],
  observer: ['receives snapshots', 'can change nothing']
}

/** Those of a currency for which the kernel signs. */
const KEYLESS = ['makes engines of its own currency', 'gets public keys only', 'network', 'own disk']

interface Faults {
  readonly count: number
  readonly last: PluginFault
}

const faultsOf = (events: readonly JournalEvent[]): ReadonlyMap<string, Faults> => {
  const faults = new Map<string, Faults>()
  for (const { hook, subject, seq, at, data } of events) {
    if (hook !== 'pluginFault' || subject === undefined) continue
    const { errorCode } = data
    const last = {
      ...{ seq, at, hook: String(data.hook), message: String(data.message) },
      ...compact({ errorCode: typeof errorCode === 'string' ? errorCode : undefined })
    }
    faults.set(subject, { count: (faults.get(subject)?.count ?? 0) + 1, last })
  }
  return faults
}
