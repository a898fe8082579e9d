import { type ReactElement, useState } from 'react'
import { forgetText, forgetWord, sentStateText } from '../../../app/format/payment-texts.ts'
import type { OpenPaymentSnapshot, WalletId } from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import { ActionButton } from '../parts/action-forms.tsx'
import { Amount, PaidAmount } from '../parts/amount.tsx'
import { correlationLocation, Detail, DetailList, Section } from '../parts/details.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/fields.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { agoText, shortId, visibleText } from '../parts/texts.ts'
import { useCanRunActions, useNow, usePanel, useView } from '../state/panel-state.ts'
import { RaiseFee } from './raise-fee.tsx'

/** The payments of a wallet that may still be mined, with what can be done about each; what they spend is reserved. */
export const OpenPayments = ({ walletId }: { readonly walletId: WalletId }): ReactElement => {
  const payments = useView().wallets.get(walletId)?.openPayments ?? []
  const [chosen, setChosen] = useState<ChosenAction | undefined>()
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? payments : payments.slice(0, MOST)
  return (
    <>
      {payments.length === 0 ? null : (
        <Section title="Open payments">
          <ul className="open-payments">
            {shown.map(payment => (
              <OpenPayment
                key={payment.txid}
                walletId={walletId}
                payment={payment}
                onChoose={runAction => setChosen({ runAction, payment })}
              />
            ))}
          </ul>
          {shown.length === payments.length ? null : (
            <div className="acts">
              <button type="button" className="button plain" onClick={() => setWhole(true)}>
                Show {payments.length - shown.length} more
              </button>
            </div>
          )}
        </Section>
      )}
      {chosen === undefined ? null : (
        <PaymentDialog walletId={walletId} chosen={chosen} onClose={() => setChosen(undefined)} />
      )}
    </>
  )
}

type PaymentAction = 'forget' | 'raise' | 'resend'

interface ChosenAction {
  readonly runAction: PaymentAction
  readonly payment: OpenPaymentSnapshot
}

// More would push what the wallet can do out of sight.
const MOST = 5

const OpenPayment = (props: {
  readonly walletId: WalletId
  readonly payment: OpenPaymentSnapshot
  readonly onChoose: (runAction: PaymentAction) => void
}): ReactElement => {
  const { walletId, payment, onChoose } = props
  const { txid, state, at } = payment
  const view = useView()
  const { go } = usePanel()
  const canRun = useCanRunActions()
  const now = useNow() / 1000
  return (
    <li>
      <div>
        <PaidAmount walletId={walletId} payment={payment} />
      </div>
      <StateMark tone={tones[state]}>{visibleText(sentStateText(state, payment))}</StateMark>
      <div>
        <span className="soft">{agoText(at / 1000, now)}</span>{' '}
        <button
          type="button"
          className="link mono"
          title={txid}
          onClick={() => go(correlationLocation(view, txid))}
        >
          <span className="hidden-text">Show everything for </span>
          {visibleText(shortId(txid, 25))}
        </button>
      </div>
      {canRun ? (
        <div className="acts">
          {paymentActions.map(([runAction, words]) => (
            <button key={runAction} type="button" className="button" onClick={() => onChoose(runAction)}>
              {words}
            </button>
          ))}
        </div>
      ) : null}
    </li>
  )
}

const paymentActions: readonly (readonly [PaymentAction, string])[] = [
  ['resend', 'Send again…'],
  ['raise', 'Raise the fee…'],
  ['forget', 'Forget…']
]

const tones: Readonly<Record<OpenPaymentSnapshot['state'], Tone>> = {
  signed: 'idle',
  refused: 'bad',
  notSeen: 'busy',
  seen: 'busy',
  notInMempool: 'warn',
  replaced: 'idle',
  expired: 'bad',
  dropped: 'bad'
}

/** Asks for confirmation of an action on an open payment. */
const PaymentDialog = (props: {
  readonly walletId: WalletId
  readonly chosen: ChosenAction
  readonly onClose: () => void
}): ReactElement => {
  const { walletId, chosen, onClose } = props
  const { runAction, payment } = chosen
  return (
    <Dialog title={titles[runAction]} onClose={onClose}>
      <PaymentDetails walletId={walletId} payment={payment} />
      {runAction === 'resend' ? <Resend {...{ walletId, payment, onClose }} /> : null}
      {runAction === 'raise' ? <RaiseFee {...{ walletId, onClose }} txid={payment.txid} isOwn /> : null}
      {runAction === 'forget' ? <Forget {...{ walletId, payment, onClose }} /> : null}
    </Dialog>
  )
}

const titles: Readonly<Record<PaymentAction, string>> = {
  resend: 'Send this payment again',
  raise: 'Raise the fee of this payment',
  forget: 'Forget this payment'
}

const PaymentDetails = (props: {
  readonly walletId: WalletId
  readonly payment: OpenPaymentSnapshot
}): ReactElement => {
  const { walletId, payment } = props
  const view = useView()
  const tokenFees = payment.networkFees?.filter(({ tokenId }) => tokenId !== null)
  return (
    <DetailList>
      <Detail name="Pays">
        <PaidAmount walletId={walletId} payment={payment} />
      </Detail>
      <Detail name="Network fee">
        <Amount native={payment.networkFee} units={unitsOf(view, { walletId })} isFull />
      </Detail>
      {tokenFees?.map(({ tokenId, nativeAmount }) => (
        <Detail key={tokenId} name="And a fee">
          <Amount native={nativeAmount} units={unitsOf(view, { walletId, tokenId })} isFull />
        </Detail>
      ))}
      <Detail name="State">{sentStateText(payment.state, payment)}</Detail>
      <Detail name="Transaction" look="mono">
        {payment.txid}
      </Detail>
    </DetailList>
  )
}

interface PaymentActionProps {
  readonly walletId: WalletId
  readonly payment: OpenPaymentSnapshot
  readonly onClose: () => void
}

const Resend = ({ walletId, payment: { txid }, onClose }: PaymentActionProps): ReactElement => {
  const { say } = usePanel()
  return (
    <>
      <p className="soft">This sends the same bytes once more. They can be mined only once.</p>
      <div className="dialog-acts">
        <Cancel onClose={onClose} />
        <ActionButton
          name="spend.resend"
          input={{ walletId, txid }}
          isMain
          onDone={() => {
            say('Sent again')
            onClose()
          }}
        >
          Send the same bytes again
        </ActionButton>
      </div>
    </>
  )
}

const Forget = ({ walletId, payment: { txid }, onClose }: PaymentActionProps): ReactElement => {
  const { say } = usePanel()
  const [confirm, setConfirm] = useState('')
  const word = forgetWord(txid)
  return (
    <>
      <p className="warn breaking" role="alert">
        {visibleText(forgetText(txid))}
      </p>
      <TextField label={`Type “${visibleText(word)}” to forget it`} value={confirm} onChange={setConfirm} />
      <div className="dialog-acts">
        <Cancel onClose={onClose} />
        <ActionButton
          name="spend.forget"
          input={{ walletId, txid, confirm: confirm.trim() }}
          isMain
          isDisabled={confirm.trim() !== word}
          onDone={() => {
            say('Forgotten')
            onClose()
          }}
        >
          Forget it
        </ActionButton>
      </div>
    </>
  )
}

const Cancel = ({ onClose }: Pick<PaymentActionProps, 'onClose'>): ReactElement => (
  <button type="button" className="button" onClick={onClose}>
    Cancel
  </button>
)
