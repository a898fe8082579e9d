import { type ReactElement, useState } from 'react'
import type { EngineSnapshot, WalletSnapshot } from '../../../kernel/index.ts'
import type { Actions } from '../../core/actions.ts'
import { useCanAct } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { ActForm } from '../parts/act-form.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { ChoiceField, isNativeAmount, TextField } from '../parts/fields.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { type Draft, ReviewDialog } from '../parts/review-dialog.tsx'
import { Section, Side } from '../parts/side.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { SyncBar, walletName } from '../parts/wallet-parts.tsx'
import { agoText, amountText, shortId } from '../texts.ts'
import { useNow } from '../use-now.ts'

/** One wallet: its engine's life, and what can be done with it. */
export const WalletSide = (props: {
  readonly wallet: WalletSnapshot
  readonly engine: EngineSnapshot | undefined
}): ReactElement => {
  const { wallet, engine } = props
  const { walletId } = wallet
  return (
    <Side title={walletName(wallet)}>
      {engine === undefined ? null : <Life engine={engine} />}
      <div className="acts">
        {engine?.isPaused === true ? (
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
        <EngineFacts wallet={wallet} engine={engine} />
      </Section>
      <WalletActs key={walletId} walletId={walletId} />
    </Side>
  )
}

const STEPS = ['created', 'started'] as const

/** The life of an engine as steps, the present one marked. */
const Life = ({ engine }: { readonly engine: EngineSnapshot }): ReactElement => {
  const end = engine.state === 'failed' ? 'failed' : 'stopped'
  const tone = engine.state === 'failed' ? 'bad' : engine.state === 'started' ? 'good' : 'idle'
  return (
    <ol className="steps" aria-label="Life of the engine">
      {[...STEPS, end].map(step => (
        <li key={step} aria-current={step === engine.state ? 'step' : undefined}>
          {step === engine.state ? <StateMark tone={tone}>{step}</StateMark> : step}
        </li>
      ))}
    </ol>
  )
}

const EngineFacts = (props: {
  readonly wallet: WalletSnapshot
  readonly engine: EngineSnapshot | undefined
}): ReactElement => {
  const { wallet, engine } = props
  const now = useNow() / 1000
  const tokens = Object.entries(wallet.balances).filter(([tokenId]) => tokenId !== '')
  return (
    <Facts>
      <Fact name="Currency">{wallet.pluginId}</Fact>
      <Fact name="Balance">{amountText(wallet.balances[''] ?? '0')} native units</Fact>
      {tokens.map(([tokenId, amount]) => (
        <Fact key={tokenId} name={`Token ${shortId(tokenId, 10)}`}>
          {amountText(amount)}
        </Fact>
      ))}
      {engine === undefined ? null : (
        <>
          <Fact name="Synced">
            <SyncBar ratio={engine.syncRatio} />
          </Fact>
          <Fact name="Height">
            {engine.blockHeight === 0 ? undefined : amountText(String(engine.blockHeight))}
          </Fact>
          <Fact name="Since">{agoText(engine.since, now)}</Fact>
          <Fact name="Doing">{engine.status}</Fact>
          <Fact name="Paused">{engine.isPaused ? 'yes' : 'no'}</Fact>
          <Fact name="Last error" look="bad">
            {engine.failure}
          </Fact>
          <Fact name="Code" look="mono">
            {engine.errorCode}
          </Fact>
        </>
      )}
      <Fact name="Wallet id" look="mono">
        {wallet.walletId}
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
  const [draft, setDraft] = useState<Draft | undefined>()
  const [sent, setSent] = useState<string | undefined>()
  const input = { walletId, publicAddress: publicAddress.trim(), nativeAmount: nativeAmount.trim(), fee }
  return (
    <Section title="Send">
      <ActForm
        name="spend.draft"
        input={input}
        label="Review…"
        isReady={input.publicAddress !== '' && isNativeAmount(input.nativeAmount)}
        onDone={made => setDraft({ kind: 'spend', ...made, made: { name: 'spend.draft', input } })}
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
      {draft === undefined ? null : (
        <ReviewDialog
          draft={draft}
          onClose={txid => {
            setDraft(undefined)
            if (txid !== undefined) setSent(txid)
          }}
        />
      )}
    </Section>
  )
}
