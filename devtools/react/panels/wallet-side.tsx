import { type ReactElement, useState } from 'react'
import type { Actions } from '../../core/actions.ts'
import type { EngineRow } from '../../core/rows/engine-rows.ts'
import { useCanAct, usePanel } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { ActForm } from '../parts/act-form.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { ChoiceField, isNativeAmount, TextField } from '../parts/fields.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { Section, Side } from '../parts/side.tsx'
import { StateMark, type Tone } from '../parts/state-mark.tsx'
import { LastError, SyncBar } from '../parts/wallet-parts.tsx'
import { agoText, amountText, shortId } from '../texts.ts'
import { useNow } from '../use-now.ts'

/** One wallet: its engine's life, and what can be done with it. */
export const WalletSide = ({ row }: { readonly row: EngineRow }): ReactElement => {
  const { walletId } = row
  return (
    <Side title={row.title}>
      <Life row={row} />
      <div className="acts">
        {row.isPaused ? (
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
      <Section title="Engine">
        <EngineFacts row={row} />
      </Section>
      <WalletActs key={walletId} walletId={walletId} />
    </Side>
  )
}

const stepTones: Readonly<Record<EngineRow['state'], Tone>> = {
  created: 'busy',
  started: 'good',
  stopped: 'idle',
  failed: 'bad'
}

/** The life of an engine as steps, the present one marked; the end that did not come is left out. */
const Life = ({ row }: { readonly row: EngineRow }): ReactElement => {
  const isOver = row.state === 'failed' || row.state === 'stopped'
  const steps = row.steps.filter(({ name, mark }) => mark !== 'skipped' && (isOver || name !== 'failed'))
  return (
    <ol className="steps" aria-label="Life of the engine">
      {steps.map(({ name, mark }) => (
        <li key={name} aria-current={mark === 'present' ? 'step' : undefined}>
          {mark === 'present' ? <StateMark tone={stepTones[name]}>{name}</StateMark> : name}
        </li>
      ))}
    </ol>
  )
}

const EngineFacts = ({ row }: { readonly row: EngineRow }): ReactElement => {
  const now = useNow() / 1000
  return (
    <Facts>
      <Fact name="Account">{row.username}</Fact>
      <Fact name="Currency">{row.pluginId}</Fact>
      {row.balances.map(({ tokenId, nativeAmount }) => (
        <Fact key={tokenId} name={tokenId === null ? 'Balance' : `Token ${shortId(tokenId, 10)}`}>
          {amountText(nativeAmount)} <span className="soft">native units</span>
        </Fact>
      ))}
      <Fact name="Synced">
        <SyncBar ratio={row.syncRatio} />
      </Fact>
      <Fact name="Height">{row.blockHeight === 0 ? undefined : amountText(String(row.blockHeight))}</Fact>
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

const WalletActs = ({ walletId }: { readonly walletId: string }): ReactElement | null => {
  const canAct = useCanAct()
  if (!canAct) return null
  return (
    <>
      <Receive walletId={walletId} />
      <Fund walletId={walletId} />
      <Send walletId={walletId} />
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
  const [nativeAmount, setAmount] = useState('1000000')
  return (
    <ActForm
      name="world.fund"
      input={{ walletId, nativeAmount }}
      label="Fund"
      isReady={isNativeAmount(nativeAmount)}
    >
      <TextField
        label="Fake money, native units"
        value={nativeAmount}
        onChange={setAmount}
        inputMode="numeric"
      />
    </ActForm>
  )
}

type Fee = 'high' | 'low' | 'standard'
const fees: readonly (readonly [Fee, string])[] = [
  ['low', 'Low'],
  ['standard', 'Standard'],
  ['high', 'High']
]

const Send = ({ walletId }: { readonly walletId: string }): ReactElement => {
  const [publicAddress, setAddress] = useState('')
  const [nativeAmount, setAmount] = useState('')
  const [fee, setFee] = useState<Fee>('standard')
  const sent = usePanel().memory.sent.get(walletId)
  const input = { walletId, publicAddress: publicAddress.trim(), nativeAmount: nativeAmount.trim(), fee }
  return (
    <Section title="Send">
      <ActForm
        name="spend.draft"
        input={input}
        label="Review…"
        isReady={input.publicAddress !== '' && isNativeAmount(input.nativeAmount)}
      >
        <TextField label="Address" value={publicAddress} onChange={setAddress} />
        <TextField
          label="Amount, native units"
          value={nativeAmount}
          onChange={setAmount}
          inputMode="numeric"
        />
        <ChoiceField
          label="Fee"
          value={fee}
          choices={fees}
          onChange={value => setFee(fees.find(([known]) => known === value)?.[0] ?? 'standard')}
        />
      </ActForm>
      {sent === undefined ? null : (
        <p role="status">
          Sent as{' '}
          <span className="mono" style={{ overflowWrap: 'anywhere' }}>
            {sent}
          </span>
        </p>
      )}
    </Section>
  )
}
