import { amountText } from '../../kernel/index.ts'
import type { CommandResult } from '../command-result.ts'
import type { Effect } from '../session/history.ts'
import { localTime } from './times.ts'
import { confirmationCell } from './tx-facts.ts'
import { type CellLike, type Column, cellOf, type TableView } from './view.ts'

const COLUMNS: readonly Column[] = [
  { title: 'DATE' },
  { title: 'AMOUNT', align: 'right' },
  { title: 'STATE' },
  { title: 'NAME', canShrink: true },
  { title: 'NOTES', canShrink: true },
  { title: 'TXID', canShrink: true },
  { title: 'WALLET', canShrink: true }
]

/** Transactions for people; with the wallet's name where they are of several. */
export const txTable = (effects: readonly Effect[], empty: string): TableView => {
  const hasSeveral = new Set(effects.map(({ wallet }) => wallet.id)).size > 1
  return {
    kind: 'table',
    columns: COLUMNS,
    rows: effects.map(effect => {
      const { id, name } = effect.wallet
      return [...txCells(effect), hasSeveral ? (name ?? id) : '']
    }),
    empty
  }
}

/** One transaction for people, cell by cell. */
const txCells = ({ tx, asset }: Omit<Effect, 'wallet'>): readonly CellLike[] => [
  localTime(new Date(tx.date * 1000)),
  amountText(tx.nativeAmount, asset),
  confirmationCell(tx.confirmations, tx.sentState),
  tx.metadata.name ?? '',
  tx.metadata.notes ?? '',
  tx.txid
]

/** One transaction as a line of its own, behind the word for what happened to it; for commands that go on. */
export const txLine = (word: string | undefined, effect: Omit<Effect, 'wallet'>): CommandResult => {
  const cells = txCells(effect).map(cell => cellOf(cell).text)
  const line = [...(word === undefined ? [] : [word.padEnd(WORD)]), ...cells].filter(text => text !== '')
  return { data: {}, view: { kind: 'text', lines: [line.join('  ')] } }
}

const WORD = 7
