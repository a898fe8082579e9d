import { type ReactElement, useState } from 'react'
import { mainDenomination, nativeAmount, toDenomination } from '../../../kernel/index.ts'
import type { Actions } from '../../core/actions.ts'
import { readAmount, unitsOf } from '../../core/amount-in-units.ts'
import type { EngineRow } from '../../core/rows/engine-rows.ts'
import { useCanAct, useView } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { ActForm } from '../parts/act-form.tsx'
import { Amount } from '../parts/amount.tsx'
import { AmountField } from '../parts/amount-field.tsx'
import { Everything } from '../parts/everything.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { SentLine } from '../parts/sent-line.tsx'
import { Section, Side } from '../parts/side.tsx'
import { LastError, SyncBar } from '../parts/wallet-parts.tsx'
import { agoText, countText, shortId } from '../texts.ts'
import { useNow } from '../use-now.ts'
import { LifeChart } from './life-chart.tsx'
import { OpenPayments } from './open-payments.tsx'
import { Payments } from './payments.tsx'
import { SendForm } from './send-form.tsx'

/** One wallet: its engine's life, and what can be done with it. */
export const WalletSide = ({ row }: { readonly row: EngineRow }): ReactElement => {
  const { walletId } = row
  // Nothing can be done with a wallet whose plugin failed; its facts say why.
  const isUsable = row.errorCode !== 'PLUGIN_FOR_TYPE'
  return (
    <Side title={row.title}>
      <LifeChart row={row} />
      {isUsable ? <EngineActs row={row} /> : null}
      <Section title="Engine">
        <EngineFacts row={row} />
        <Everything id={walletId} />
      </Section>
      <OpenPayments key={walletId} walletId={walletId} />
      <Payments walletId={walletId} />
      {isUsable ? <WalletActs walletId={walletId} /> : null}
    </Side>
  )
}

const EngineActs = ({ row: { walletId, isPaused } }: { readonly row: EngineRow }): ReactElement => (
  <div className="acts">
    {isPaused ? (
      <ActButton name="engine.resume" input={{ walletId }}>
        Resume
      </ActButton>
    ) : (
      <ActButton name="engine.pause" input={{ walletId }}>
        Pause
      </ActButton>
    )}
    <ActButton name="engine.resync" input={{ walletId }}>
      Resync
    </ActButton>
  </div>
)

const EngineFacts = ({ row }: { readonly row: EngineRow }): ReactElement => {
  const view = useView()
  const now = useNow() / 1000
  return (
    <Facts>
      <Fact name="Account">{row.username}</Fact>
      <Fact name="Currency">{row.pluginId}</Fact>
      {row.balances.map(({ tokenId, nativeAmount, name, heldBack = [] }) => (
        <Fact key={tokenId} name={tokenId === null ? 'Balance' : shortId(name, 24)}>
          <Amount native={nativeAmount} units={unitsOf(view, { walletId: row.walletId, tokenId })} isFull />
          {heldBack.length === 0 ? null : <span className="soft"> of it {heldBack.join(', ')}</span>}
        </Fact>
      ))}
      <Fact name="Synced">
        <SyncBar ratio={row.syncRatio} />
      </Fact>
      <Fact name="Height">
        {row.blockHeight === 0 && row.stage !== 'synced' ? undefined : countText(String(row.blockHeight))}
      </Fact>
      <Fact name="Since">{agoText(row.since, now)}</Fact>
      <Fact name="Doing">{row.status}</Fact>
      <Fact name="Paused">{row.isPaused ? 'yes' : 'no'}</Fact>
      <Fact name="Last error">
        <LastError row={row} />
      </Fact>
      <Fact name="Code" look="mono">
        {row.errorCode}
      </Fact>
      <Fact name="Wallet id" look="mono">
        {row.walletId}
      </Fact>
    </Facts>
  )
}

/** Out of sight while nothing can be done, and not gone: what was typed is there again when a hold or a loss is over. */
const WalletActs = ({ walletId }: { readonly walletId: string }): ReactElement => {
  const canAct = useCanAct()
  return (
    <>
      <div className="wallet-acts" hidden={!canAct}>
        <Receive walletId={walletId} />
        <Fund walletId={walletId} />
        <SendForm walletId={walletId} />
      </div>
      <SentLine of={walletId} words="Sent as" />
    </>
  )
}

const Receive = ({ walletId }: { readonly walletId: string }): ReactElement => {
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
        <ActButton name="wallet.receive" input={{ walletId }} onDone={setShown}>
          {shown === undefined ? 'Show an address' : 'Show it anew'}
        </ActButton>
      </div>
    </Section>
  )
}

const Fund = ({ walletId }: { readonly walletId: string }): ReactElement => {
  const units = unitsOf(useView(), { walletId })
  const [amount, setAmount] = useState(() => toDenomination(FAUCET, mainDenomination(units).multiplier))
  const { native } = readAmount(amount, units)
  return (
    <ActForm
      name="world.fund"
      input={{ walletId, nativeAmount: native ?? '0' }}
      label="Fund"
      isReady={native !== undefined}
    >
      <AmountField label="Fake money" units={units} value={amount} onChange={setAmount} />
    </ActForm>
  )
}

/** What is offered at first: enough to try everything, such as 0.01 BTC. */
const FAUCET = nativeAmount('1000000')
