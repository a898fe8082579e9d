import { isWalletError, WalletError } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseCount } from '../grammar/values.ts'
import { txJson } from '../output/tx-facts.ts'
import { txTable } from '../output/tx-table.ts'
import { chooseWallets } from '../session/find-wallet.ts'
import { chosenAssets, type Effect, historyOf, type Selection, selectionOf } from '../session/history.ts'
import { syncWallets } from '../session/sync-wallets.ts'
import type { Session } from '../session.ts'

/** Lists the transactions of one wallet, or of several, newest first. */
export const txList: CommandRun = (session, text) => listOf(session, text, session.text('search'))

/** Finds transactions by what they say: names, notes, amounts, addresses and txids. */
export const txSearch: CommandRun = (session, search = '', text = undefined) => listOf(session, text, search)

const DEFAULT_LIMIT = '100'
const MAX_LIMIT = 1_000_000

const listOf = async (
  session: Session,
  text: string | undefined,
  searchString: string | undefined
): Promise<CommandResult> => {
  const limit = parseCount(session.text('limit') ?? DEFAULT_LIMIT, 'limit', [1, MAX_LIMIT])
  const selection = selectionOf(session, searchString)
  const wallets = await chooseWallets(session, text === undefined ? [] : [text])
  if (selection.query.beforeTxid !== undefined && wallets.length > 1) {
    throw new CliError('USAGE', '--before goes on in one wallet; say which one')
  }
  const warnings = await syncWallets(session, wallets)
  const found: Effect[] = []
  for (const part of await partsOf(await chosenAssets(session, wallets), selection)) {
    found.push(...(await newest(session, part, limit + 1)))
  }
  const effects = pageOf(
    found.sort((a, b) => b.tx.date - a.tx.date),
    { limit, isOfOne: wallets.length === 1 }
  )
  const hasMore = found.length > effects.length
  return {
    data: {
      transactions: effects.map(({ asset, tx }) => txJson(tx, asset)),
      more: hasMore
    },
    warnings,
    view: txTable(effects, emptySentence(session, searchString)),
    advice: hasMore ? [moreSentence(effects, wallets.length)] : []
  }
}

/** The history of one asset, and what is wanted of it. */
interface Part {
  readonly place: Omit<Effect, 'tx'>
  readonly selection: Selection
}

/**
 * Where each history goes on behind a transaction: right behind it in the last of those that it is in, which is where
 * a page ends with it, and by its date in the others, which stand before and after that one where dates are the same.
 */
const partsOf = async (
  places: readonly Omit<Effect, 'tx'>[],
  selection: Selection
): Promise<readonly Part[]> => {
  const { beforeTxid, ...query } = selection.query
  if (beforeTxid === undefined) return places.map(place => ({ place, selection }))
  const dates = await Promise.all(places.map(place => dateIn(place, beforeTxid)))
  const last = dates.findLastIndex(date => date !== undefined)
  const date = dates[last]
  if (date === undefined) throw new WalletError('TX_NOT_FOUND', { txid: beforeTxid })
  return places.map((place, index) => {
    if (index === last) return { place, selection }
    const end = Math.floor(date * 1000) + Number(index > last)
    const endDate = new Date(Math.min(end, query.endDate?.getTime() ?? end))
    return { place, selection: { ...selection, query: { ...query, endDate } } }
  })
}

const dateIn = async ({ wallet, asset }: Omit<Effect, 'tx'>, txid: string): Promise<number | undefined> => {
  try {
    return (await wallet.getTransaction(txid, asset.tokenId)).date
  } catch (error) {
    if (isWalletError(error, 'TX_NOT_FOUND')) return undefined
    throw error
  }
}

/** The first of them. A page of one wallet ends with the last effect of a transaction, so that the next can go on behind it. */
const pageOf = (
  effects: readonly Effect[],
  { limit, isOfOne }: { readonly limit: number; readonly isOfOne: boolean }
): readonly Effect[] => {
  const txid = effects[limit - 1]?.tx.txid
  if (!isOfOne || txid === undefined) return effects.slice(0, limit)
  return effects.slice(0, Math.max(limit, effects.findLastIndex(({ tx }) => tx.txid === txid) + 1))
}

const moreSentence = (effects: readonly Effect[], walletCount: number): string => {
  const last = effects.at(-1)
  return walletCount === 1 && last !== undefined
    ? `There are more; go on with --before ${last.tx.txid}`
    : `There are more; go on with --limit ${effects.length * 10}`
}

const newest = async (
  session: Session,
  { place, selection }: Part,
  count: number
): Promise<readonly Effect[]> => {
  const found: Effect[] = []
  for await (const batch of historyOf(session, place, selection)) {
    found.push(...batch.map(tx => ({ ...place, tx })))
    if (found.length >= count) break
  }
  return found.slice(0, count)
}

const FILTERS = ['since', 'until', 'state', 'token', 'before'] as const

const emptySentence = (session: Session, search: string | undefined): string =>
  search !== undefined ||
  session.isOn('in') ||
  session.isOn('out') ||
  FILTERS.some(flag => session.text(flag))
    ? 'No transaction is like that.'
    : 'There is no transaction yet.'
