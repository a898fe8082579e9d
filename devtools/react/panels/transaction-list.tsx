import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { Actions } from '../../../app/actions/actions.ts'
import { compact } from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import type { JournalEvent } from '../../core/model/facts.ts'
import type { EngineRow } from '../../core/rows/engine-rows.ts'
import { useStore } from '../../use-store.ts'
import { ActionButton, useCanRun } from '../parts/action-forms.tsx'
import { Amount } from '../parts/amount.tsx'
import { Section } from '../parts/details.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { agoText, shortId, visibleText } from '../parts/texts.ts'
import { useNow, usePanel, useView } from '../state/panel-state.ts'

type HistoryPage = Actions['tx.list']['out']
type Entry = HistoryPage['transactions'][number]

const PAGE = 20

/**
 * The transactions of a wallet with how well each is known, a page at a time; nothing is requested before a person wants to see them. A
 * page that is shown is read again when the wallet has changed or new ones.
 */
export const TransactionList = ({ row }: { readonly row: EngineRow }): ReactElement => {
  const { walletId } = row
  const { client } = usePanel()
  const canRun = useCanRun('tx.list')
  const [shown, setShown] = useState<(HistoryPage & { readonly before?: string }) | undefined>()
  const pageOf = (before: string | undefined) => ({ walletId, limit: PAGE, ...compact({ before }) })
  const seen = useStore(client.events, events => newestChange(events, walletId))
  const read = useRef(seen)
  useEffect(() => {
    if (!canRun || shown === undefined || read.current === seen) return
    read.current = seen
    const { before } = shown
    client.runAction('tx.list', pageOf(before)).then(
      // An older answer may come after a newer one.
      page =>
        setShown(now =>
          now?.before === before && read.current === seen ? { ...page, ...compact({ before }) } : now
        ),
      // The list of before stays.
      () => {}
    )
  })
  const turn = (before: string | undefined, words: string): ReactElement => (
    <ActionButton
      name="tx.list"
      input={pageOf(before)}
      onDone={page => setShown({ ...page, ...compact({ before }) })}
    >
      {words}
    </ActionButton>
  )
  return (
    <Section title="Transactions">
      {shown?.transactions.length === 0 ? (
        <p className="soft" aria-live="polite">
          The wallet has no transactions.
        </p>
      ) : null}
      <ul className="open-payments" aria-label="Transactions">
        {shown?.transactions.map(entry => (
          <TransactionItem key={`${entry.txid} ${entry.tokenId}`} {...{ row, entry }} />
        ))}
      </ul>
      <div className="acts">
        {turn(undefined, shown === undefined ? 'Show transactions' : 'Show the newest transactions')}
        {/* A host that hides ids hides this one, too. */}
        {shown?.next?.startsWith('hidden ') === false ? turn(shown.next, 'Older transactions') : null}
      </div>
    </Section>
  )
}

/** The number of the newest event about the transactions of a wallet. */
const newestChange = (events: readonly JournalEvent[], walletId: string): number =>
  events.findLast(({ hook, subject }) => hook === 'transactionsChanged' && subject === walletId)?.seq ?? 0

const TransactionItem = (props: { readonly row: EngineRow; readonly entry: Entry }): ReactElement => {
  const { txid, tokenId, nativeAmount, state, grade, at, untrusted } = props.entry
  const units = unitsOf(useView(), { walletId: props.row.walletId, tokenId })
  const now = useNow() / 1000
  const { name = '' } = untrusted
  return (
    <li>
      <div>
        <Amount native={nativeAmount} units={units} isFull />
      </div>
      <div>
        <StateMark tone={tones[state]}>{state}</StateMark>
        {grade === undefined ? null : <span className="soft"> {grade}</span>}
      </div>
      <div className="soft">
        {agoText(at / 1000, now)}
        {name === '' ? null : ` · ${visibleText(name)}`}
      </div>
      <div className="mono soft" title={txid}>
        {shortId(txid, 25)}
      </div>
    </li>
  )
}

const tones: Readonly<Record<Entry['state'], Tone>> = {
  confirmed: 'good',
  unconfirmed: 'busy',
  syncing: 'busy',
  dropped: 'bad'
}
