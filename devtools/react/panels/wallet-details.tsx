import { type ReactElement, useState } from 'react'
import type { Actions } from '../../../app/actions/actions.ts'
import { readAmount } from '../../../app/format/amounts.ts'
import {
  mainDenomination,
  nativeAmount,
  type SpendProgressSnapshot,
  toDenomination,
  type WalletId
} from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import type { EngineRow } from '../../core/rows/engine-rows.ts'
import { ActionButton, ActionForm } from '../parts/action-forms.tsx'
import { Amount } from '../parts/amount.tsx'
import {
  CorrelationLink,
  correlationLocation,
  Detail,
  DetailList,
  DetailsPane,
  Section,
  SentTransaction
} from '../parts/details.tsx'
import { AmountField } from '../parts/fields.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { agoText, countText, shortId } from '../parts/texts.ts'
import { LastError, SyncBar } from '../parts/wallet.tsx'
import { useCanRunActions, useNow, usePanel, useView } from '../state/panel-state.ts'
import { CoinList } from './coin-list.tsx'
import { Messages } from './message-forms.tsx'
import { OpenPayments } from './open-payments.tsx'
import { SendForm } from './send-form.tsx'
import { SweepForm } from './sweep-form.tsx'
import { TransactionList } from './transaction-list.tsx'

/** One wallet: its engine's life, and what can be done with it. */
export const WalletDetails = ({ row }: { readonly row: EngineRow }): ReactElement => {
  const { walletId } = row
  // Nothing can be done with a wallet whose plugin failed; its facts say why.
  const isUsable = row.errorCode !== 'PLUGIN_FOR_TYPE'
  return (
    <DetailsPane title={row.title}>
      <LifecycleChart row={row} />
      {isUsable ? <EngineActions row={row} /> : null}
      <Section title="Engine">
        <EngineDetails row={row} />
        <CorrelationLink id={walletId} />
      </Section>
      <OpenPayments key={walletId} walletId={walletId} />
      <Payments walletId={walletId} />
      <TransactionList key={`transactions ${walletId}`} row={row} />
      <CoinList key={`coins ${walletId}`} row={row} />
      {isUsable ? <WalletActions row={row} /> : null}
    </DetailsPane>
  )
}

const EngineActions = ({ row: { walletId, isPaused } }: { readonly row: EngineRow }): ReactElement => (
  <div className="acts">
    {isPaused ? (
      <ActionButton name="engine.resume" input={{ walletId }}>
        Resume
      </ActionButton>
    ) : (
      <ActionButton name="engine.pause" input={{ walletId }}>
        Pause
      </ActionButton>
    )}
    <ActionButton name="engine.resync" input={{ walletId }}>
      Resync
    </ActionButton>
  </div>
)

const EngineDetails = ({ row }: { readonly row: EngineRow }): ReactElement => {
  const view = useView()
  const now = useNow() / 1000
  return (
    <DetailList>
      <Detail name="Account">{row.username}</Detail>
      <Detail name="Currency">{row.pluginId}</Detail>
      {row.balances.map(({ tokenId, nativeAmount, name, grade, heldBack = [] }) => (
        <Detail key={tokenId} name={tokenId === null ? 'Balance' : shortId(name, 24)}>
          <Amount native={nativeAmount} units={unitsOf(view, { walletId: row.walletId, tokenId })} isFull />
          {grade === undefined ? null : <span className="soft"> {grade}</span>}
          {heldBack.length === 0 ? null : <span className="soft"> of it {heldBack.join(', ')}</span>}
        </Detail>
      ))}
      <Detail name="Synced">
        <SyncBar ratio={row.syncRatio} />
      </Detail>
      <Detail name="Height">
        {row.blockHeight === 0 && row.stage !== 'synced' ? undefined : countText(String(row.blockHeight))}
      </Detail>
      <Detail name="Since">{agoText(row.since, now)}</Detail>
      <Detail name="Doing">{row.status}</Detail>
      <Detail name="Paused">{row.isPaused ? 'yes' : 'no'}</Detail>
      <Detail name="Last error">
        <LastError row={row} />
      </Detail>
      <Detail name="Code" look="mono">
        {row.errorCode}
      </Detail>
      <Detail name="Wallet id" look="mono">
        {row.walletId}
      </Detail>
    </DetailList>
  )
}

/** Out of sight while nothing can be done, and not gone: what was typed is there again when a hold or a loss is over. */
const WalletActions = ({ row: { walletId, pluginId } }: { readonly row: EngineRow }): ReactElement => {
  const canRun = useCanRunActions()
  const isWatchOnly = useView().wallets.get(walletId)?.isWatchOnly === true
  return (
    <>
      <div className="wallet-acts" hidden={!canRun}>
        <Receive walletId={walletId} />
        <Fund walletId={walletId} />
        {isWatchOnly ? (
          <p className="soft">Watch-only: this wallet shows and receives, and cannot pay or sign.</p>
        ) : (
          <>
            <SendForm walletId={walletId} />
            <SweepForm walletId={walletId} />
          </>
        )}
        <Messages walletId={walletId} pluginId={pluginId} canSign={!isWatchOnly} />
      </div>
      <SentTransaction of={walletId} words="Sent as" />
    </>
  )
}

const Receive = ({ walletId }: { readonly walletId: WalletId }): ReactElement => {
  const [shown, setShown] = useState<Actions['wallet.receive']['out'] | undefined>()
  return (
    <Section title="Receive">
      {shown === undefined ? null : (
        <>
          <QrCode text={shown.uri} label="QR code of the address" />
          <p className="mono" style={{ overflowWrap: 'anywhere' }}>
            {shown.publicAddress}
          </p>
        </>
      )}
      <div className="acts">
        <ActionButton name="wallet.receive" input={{ walletId }} onDone={setShown}>
          {shown === undefined ? 'Show an address' : 'Show it again'}
        </ActionButton>
      </div>
    </Section>
  )
}

const Fund = ({ walletId }: { readonly walletId: WalletId }): ReactElement => {
  const units = unitsOf(useView(), { walletId })
  const [amount, setAmount] = useState(() => toDenomination(FAUCET, mainDenomination(units).multiplier))
  const { native } = readAmount(amount, units)
  return (
    <ActionForm
      name="world.fund"
      input={{ walletId, nativeAmount: native ?? '0' }}
      label="Fund"
      isReady={native !== undefined}
    >
      <AmountField label="Fake money" units={units} value={amount} onChange={setAmount} />
    </ActionForm>
  )
}

/** The initial amount: enough to try everything, such as 0.01 BTC. */
const FAUCET = nativeAmount('1000000')

/** The payments of a wallet since the kernel started, the newest first; each leads to all that was done for it. */
const Payments = ({ walletId }: { readonly walletId: WalletId }): ReactElement | null => {
  const view = useView()
  const { go } = usePanel()
  const spends = [...view.spends.values()].filter(spend => spend.walletId === walletId).reverse()
  if (spends.length === 0) return null
  return (
    <Section title="Payments">
      <ul className="events">
        {spends.slice(0, MOST).map(({ correlationId, txid, stage }) => (
          <li key={correlationId}>
            <StateMark tone={tones[stage]}>{stage}</StateMark>
            <button
              type="button"
              className="link mono"
              title={txid ?? correlationId}
              onClick={() => go(correlationLocation(view, correlationId))}
            >
              <span className="hidden-text">Show everything for </span>
              {shortId(txid ?? correlationId, 25)}
            </button>
          </li>
        ))}
      </ul>
    </Section>
  )
}

// The palette and the filter of Hooks find the others.
const MOST = 8

const tones: Readonly<Record<SpendProgressSnapshot['stage'], Tone>> = {
  intended: 'busy',
  signed: 'busy',
  broadcast: 'busy',
  saved: 'good',
  refused: 'bad'
}

/** The life of an engine as a picture: where it has been, where it is and where it may go. A list says the same. */
const LifecycleChart = ({ row }: { readonly row: EngineRow }): ReactElement => {
  const marks = marksOf(row)
  return (
    <div className="life">
      <svg viewBox="0 0 272 96" aria-hidden="true">
        {edges.map(({ to, path }) => (
          <path key={to} className={`life-edge ${marks[to]}`} d={path} />
        ))}
        {names.map(name => (
          <Place key={name} name={name} mark={marks[name]} />
        ))}
      </svg>
      <ol className="hidden-text" aria-label="Life of the engine">
        {names
          .filter(name => marks[name] !== 'ahead')
          .map(name => (
            <li key={name} aria-current={marks[name].startsWith('present') ? 'step' : undefined}>
              {name}
            </li>
          ))}
      </ol>
    </div>
  )
}

const names = ['created', 'started', 'paused', 'stopped', 'failed'] as const
type Name = (typeof names)[number]

/** `ahead`: it may come yet, or did not come. */
type Mark = 'ahead' | 'passed' | 'present' | 'present bad' | 'present idle'

const centres: Readonly<Record<Name, readonly [x: number, y: number]>> = {
  created: [35, 38],
  started: [136, 38],
  paused: [136, 82],
  stopped: [237, 16],
  failed: [237, 60]
}

const edges: readonly { readonly to: Name; readonly path: string }[] = [
  { to: 'started', path: 'M68 38H102' },
  { to: 'stopped', path: 'M169 34C190 34 183 16 203 16' },
  { to: 'failed', path: 'M169 42C190 42 183 60 203 60' },
  { to: 'paused', path: 'M136 51V69' }
]

const marksOf = ({ isPaused, steps }: EngineRow): Readonly<Record<Name, Mark>> => {
  const marks: Record<Name, Mark> = {
    ...{ created: 'ahead', started: 'ahead', stopped: 'ahead', failed: 'ahead' },
    paused: isPaused ? 'present idle' : 'ahead'
  }
  for (const { name, mark } of steps) {
    if (mark === 'passed') marks[name] = 'passed'
    else if (mark === 'present') marks[name] = name === 'failed' ? 'present bad' : 'present'
  }
  return marks
}

const Place = ({ name, mark }: { readonly name: Name; readonly mark: Mark }): ReactElement => {
  const [x, y] = centres[name]
  return (
    <g className={`life-place ${mark}`} transform={`translate(${x} ${y})`}>
      <rect x="-33" y="-13" width="66" height="26" rx={name === 'created' || name === 'started' ? 6 : 13} />
      <text>{name}</text>
    </g>
  )
}
