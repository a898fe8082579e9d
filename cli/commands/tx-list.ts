import { isWalletError, type Transaction, WalletError } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseCount } from '../grammar/values.ts'
import { txJson } from '../output/tx-facts.ts'
import { txTable } from '../output/tx-table.ts'
import { chooseWallets, leftOutWarnings } from '../session/find-wallet.ts'
import { chosenAssets, type Effect, historyOf, type Selection, selectionOf } from '../session/history.ts'
import { syncWallets } from '../session/sync-wallets.ts'
import type { Session } from '../session.ts'
import { openPaymentJson } from '../spend/open-payments.ts'

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
  const warnings = [...(await leftOutWarnings(session, [text])), ...(await syncWallets(session, wallets))]
  await Promise.all(wallets.map(wallet => wallet.lookAtOpenPayments()))
  const found: Effect[] = []
  const places = await chosenAssets(session, wallets)
  const following = await followingOf(places, selection)
  for (const place of places)
    found.push(...(await newest(session, place, { ...following, count: limit + 1 })))
  const effects = pageOf(
    found.sort((a, b) => inOrder(a.tx, b.tx)),
    { limit, isOfOne: wallets.length === 1 }
  )
  const hasMore = found.length > effects.length
  const open = wallets.flatMap(wallet =>
    wallet.getSnapshot().openPayments.map(payment => ({ wallet, payment }))
  )
  const unlisted = open.filter(({ payment }) => payment.state === 'refused' || payment.state === 'signed')
  return {
    data: {
      transactions: effects.map(({ asset, tx }) => txJson(tx, asset)),
      openPayments: open.map(({ wallet, payment }) => openPaymentJson(wallet, payment)),
      more: hasMore
    },
    warnings,
    view: txTable(effects, emptySentence(session, searchString)),
    advice: [
      ...(hasMore ? [moreSentence(effects, wallets.length)] : []),
      ...(unlisted.length === 0
        ? []
        : [`${unlisted.length} more may still be mined and are no part of the history yet: holdfast tx open`])
    ]
  }
}

/** The order of the list: newest first, and of one date by txid, so that a place in it is the same in every asset. */
const inOrder = (a: TxPlace, b: TxPlace): number =>
  b.date - a.date || Number(a.txid > b.txid) - Number(a.txid < b.txid)

type TxPlace = Pick<Transaction, 'date' | 'txid'>

/** What follows `--before` in the list; the kernel is asked by whole milliseconds, which dates need not be. */
const followingOf = async (
  places: readonly Omit<Effect, 'tx'>[],
  selection: Selection
): Promise<Selection> => {
  const { beforeTxid: txid, ...query } = selection.query
  if (txid === undefined) return selection
  const dates = await Promise.all(places.map(place => dateIn(place, txid)))
  const date = dates.find(known => known !== undefined)
  if (date === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
  const end = Math.floor(date * 1000) + 1
  return {
    ...selection,
    query: { ...query, endDate: new Date(Math.min(end, query.endDate?.getTime() ?? end)) },
    isWanted: tx => inOrder({ date, txid }, tx) < 0 && selection.isWanted(tx)
  }
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
    : `There are more; raise --limit, up to ${MAX_LIMIT}, or list one wallet at a time`
}

/** At least `count` of one asset, as far as there are so many, and with the last all of its date. */
const newest = async (
  session: Session,
  place: Omit<Effect, 'tx'>,
  { count, ...selection }: Selection & { readonly count: number }
): Promise<readonly Effect[]> => {
  const found: Effect[] = []
  for await (const batch of historyOf(session, place, selection)) {
    found.push(...batch.map(tx => ({ ...place, tx })))
    const [edge, last] = [found[count - 1], found.at(-1)]
    if (edge !== undefined && last !== undefined && last.tx.date < edge.tx.date) break
  }
  return found
}

const FILTERS = ['since', 'until', 'state', 'token', 'before'] as const

const emptySentence = (session: Session, search: string | undefined): string =>
  search !== undefined ||
  session.isOn('in') ||
  session.isOn('out') ||
  FILTERS.some(flag => session.text(flag))
    ? 'No transaction is like that.'
    : 'There is no transaction yet.'
