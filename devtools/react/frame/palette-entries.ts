import type { JournalEvent } from '../../core/model/facts.ts'
import type { View } from '../../core/model/slices.ts'
import { roundRows } from '../../core/rows/quote-rows.ts'
import { repoRows } from '../../core/rows/repo-rows.ts'
import { correlationLocation } from '../parts/details.tsx'
import { shortId } from '../parts/texts.ts'
import { walletName } from '../parts/wallet.tsx'
import { jumpLetters, type KeyCommand } from '../state/keyboard.ts'
import { type PanelLocation, panelNames, panelTitles } from '../state/location.ts'

/** One line of the palette. */
export interface PaletteEntry {
  /** Its kind, such as `Wallet`. */
  readonly kind: string
  readonly title: string
  /** The rest of what it is found by: an id, or the command that does the same. */
  readonly detail: string
  /** The keys that do the same. */
  readonly keys?: string
  readonly target: PaletteTarget
}

/** The effect of an entry: it goes to a place, acts like a key, or presses a button. */
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
export const locationEntries = (view: View, events: readonly JournalEvent[]): readonly PaletteEntry[] => [
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
  ...roundRows(view).map(({ roundId, request, quotes }) =>
    goEntry(
      'Round of quotes',
      `${request.fromCurrencyCode} → ${request.toCurrencyCode}, ${quotes.length} asked`,
      roundId,
      { panel: 'quotes', id: roundId }
    )
  ),
  ...[...view.routes.values()].map(({ fromCurrency, toCurrency }) =>
    goEntry('Rate route', `${fromCurrency} → ${toCurrency}`, '', {
      ...{ panel: 'rates', id: `${fromCurrency} ${toCurrency}` }
    })
  ),
  // The time is unused here: no entry shows it.
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
    ['Filter the rows', '/', 'filter'],
    ['View: pause or resume', 'p', 'hold'],
    ['Copy the open details as JSON', 'c', 'copyJson'],
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
      correlationLocation(view, correlationId)
    )
  )
  const ids = new Set(events.flatMap(({ correlationId }) => correlationId ?? []))
  const actions = [...ids]
    .filter(id => !view.spends.has(id))
    .slice(-NEWEST_ACTIONS)
    .reverse()
    .map(id => goEntry('Action', `Everything for ${shortId(id, 25)}`, id, correlationLocation(view, id)))
  return [...payments.reverse(), ...actions]
}

/** The entry that looks for what was typed in all hooks (pure). */
export const searchEntry = (view: View, query: string): PaletteEntry =>
  goEntry('Hooks', `Everything with “${query}”`, '', correlationLocation(view, query))

/**
 * Scores an entry for a query; 0 if it does not match. Each word must be found: best at the start of a title,
 * then at the start of one of its words, then anywhere in it, then in the rest, then letter by letter (pure).
 */
export const scoreEntry = ({ kind, title, detail }: PaletteEntry, query: string): number => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  let sum = 1
  for (const word of words) {
    const score = scoreWord(word, title.toLowerCase(), `${kind} ${detail}`.toLowerCase())
    if (score === 0) return 0
    sum += score
  }
  return sum
}

/** The best answers first, equals in the order that they had (pure). */
export const bestEntries = (
  entries: readonly PaletteEntry[],
  query: string,
  limit: number
): readonly PaletteEntry[] =>
  entries
    .map(entry => ({ entry, score: scoreEntry(entry, query) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ entry }) => entry)

const scoreWord = (word: string, title: string, rest: string): number => {
  if (title.startsWith(word)) return 40
  if (title.split(/[^\p{L}\p{N}]+/u).some(part => part.startsWith(word))) return 30
  if (title.includes(word)) return 20
  if (rest.includes(word)) return 10
  return holdsLetters(word, title) ? 2 : 0
}

/** Returns true if the letters occur in a text in their order, with others between. */
const holdsLetters = (word: string, text: string): boolean => {
  let from = 0
  for (const letter of word) {
    const at = text.indexOf(letter, from)
    if (at < 0) return false
    from = at + letter.length
  }
  return true
}
