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
  for (const place of await chosenAssets(session, wallets)) {
    found.push(...(await newest(session, place, { selection, count: limit + 1 })))
  }
  const effects = found.sort((a, b) => b.tx.date - a.tx.date).slice(0, limit)
  const hasMore = found.length > limit
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

const moreSentence = (effects: readonly Effect[], walletCount: number): string => {
  const last = effects.at(-1)
  return walletCount === 1 && last !== undefined
    ? `There are more; go on with --before ${last.tx.txid}`
    : `There are more; go on with --limit ${effects.length * 10}`
}

const newest = async (
  session: Session,
  place: Omit<Effect, 'tx'>,
  { selection, count }: { readonly selection: Selection; readonly count: number }
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
