import type { JournalEvent } from '../../core/journal-event.ts'
import { quoteBoard } from '../../core/rows/quote-board.ts'
import { repoRows } from '../../core/rows/repo-rows.ts'
import type { View } from '../../core/slices.ts'
import { jumpLetters, type KeyCommand } from '../keyboard.ts'
import { type PanelLocation, panelNames, panelTitles } from '../location.ts'
import { everythingAbout } from '../parts/everything.tsx'
import { walletName } from '../parts/wallet-parts.tsx'
import { shortId } from '../texts.ts'

/** One line of the palette. */
export interface PaletteEntry {
  /** Of what kind it is, such as `Wallet`. */
  readonly kind: string
  readonly title: string
  /** The rest of what it is found by: an id, or the command that does the same. */
  readonly detail: string
  /** The keys that do the same. */
  readonly keys?: string
  readonly target: PaletteTarget
}

/** What an entry does: leads to a place, obeys like a key, or presses a button. */
export type PaletteTarget =
  | { readonly type: 'go'; readonly place: Partial<PanelLocation> }
  | { readonly type: 'key'; readonly command: KeyCommand }
  | { readonly type: 'press'; readonly button: HTMLButtonElement }

/** The panels, and what keys do in all of them (pure). */
export const panelEntries = (): readonly PaletteEntry[] => [
  ...panelNames.map(panel => ({
    ...goEntry('Panel', panelTitles[panel], '', { panel, filter: '' }),
    keys: `g ${Object.entries(jumpLetters).find(([, name]) => name === panel)?.[0]}`
  })),
  ...keyEntries
]

/** All that a view has a place for: wallets, accounts, rounds, routes, repos, plugins, payments and actions (pure). */
export const placeEntries = (view: View, events: readonly JournalEvent[]): readonly PaletteEntry[] => [
  ...[...view.wallets.values()].map(wallet =>
    goEntry('Wallet', walletName(wallet), `${wallet.pluginId} ${wallet.walletId}`, {
      ...{ panel: 'engines', id: wallet.walletId }
    })
  ),
  ...[...view.accounts.values()].map(({ accountId, username }) =>
    goEntry('Account', username ?? 'Light account', accountId, {
      ...{ panel: 'engines', filter: username ?? '' }
    })
  ),
  ...quoteBoard(view).map(({ roundId, request, lanes }) =>
    goEntry(
      'Round of quotes',
      `${request.fromCurrencyCode} → ${request.toCurrencyCode}, ${lanes.length} asked`,
      roundId,
      { panel: 'quotes', id: roundId }
    )
  ),
  ...[...view.routes.values()].map(({ fromCurrency, toCurrency }) =>
    goEntry('Rate route', `${fromCurrency} → ${toCurrency}`, '', {
      ...{ panel: 'rates', id: `${fromCurrency} ${toCurrency}` }
    })
  ),
  // The time is of no use here: nothing is told of it.
  ...repoRows(view, 0).map(({ repoId, title, kind }) =>
    goEntry('Repo', `Files of ${title}`, `${kind} ${repoId}`, { panel: 'sync', id: repoId })
  ),
  ...[...view.plugins.values()].map(({ pluginId, kind }) =>
    goEntry('Plugin', pluginId, kind ?? 'missing', { panel: 'plugins', id: pluginId })
  ),
  ...idEntries(view, events)
]

const goEntry = (
  kind: string,
  title: string,
  detail: string,
  place: Partial<PanelLocation>
): PaletteEntry => ({ kind, title, detail, target: { type: 'go', place } })

const keyEntries: readonly PaletteEntry[] = (
  [
    ['Filter what is shown', '/', 'filter'],
    ['Hold the panel still, or let it go on', 'p', 'hold'],
    ['Copy what is open as JSON', 'c', 'copyJson'],
    ['Light, dark or system theme', 'T', 'theme'],
    ['Help and keys', '?', 'help']
  ] as const
).map(([title, keys, type]) => ({
  ...{ kind: 'Panel', title, detail: '', keys },
  target: { type: 'key', command: { type } }
}))

// Older actions are found by typing their id.
const NEWEST_ACTIONS = 200

/** Payments by their txid, and the newest actions. */
const idEntries = (view: View, events: readonly JournalEvent[]): readonly PaletteEntry[] => {
  const payments = [...view.spends.values()].map(({ correlationId, txid, stage }) =>
    goEntry(
      'Payment',
      `Everything for ${shortId(txid ?? correlationId, 25)}`,
      `${stage} ${correlationId} ${txid ?? ''}`,
      everythingAbout(view, correlationId)
    )
  )
  const ids = new Set(events.flatMap(({ correlationId }) => correlationId ?? []))
  const actions = [...ids]
    .filter(id => !view.spends.has(id))
    .slice(-NEWEST_ACTIONS)
    .reverse()
    .map(id => goEntry('Action', `Everything for ${shortId(id, 25)}`, id, everythingAbout(view, id)))
  return [...payments.reverse(), ...actions]
}

/** The entry that looks for what was typed in all hooks (pure). */
export const searchEntry = (view: View, query: string): PaletteEntry =>
  goEntry('Hooks', `Everything with “${query}”`, '', everythingAbout(view, query))
