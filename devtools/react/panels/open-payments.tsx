import { type ReactElement, useState } from 'react'
import type { OpenPaymentSnapshot } from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import { forgetText, forgetWord, sentStateText } from '../../core/text/payment-texts.ts'
import { ActButton } from '../parts/action-forms.tsx'
import { Amount, Paid } from '../parts/amount.tsx'
import { everythingAbout, Fact, Facts, Section } from '../parts/details.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { FeeField, type FeeLevel, TextField } from '../parts/fields.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { agoText, shortId, visibleText } from '../parts/texts.ts'
import { useCanAct, useNow, usePanel, useView } from '../state/panel-state.ts'

/** The payments of a wallet that may still be mined, with what can be done about each; what they spend is reserved. */
export const OpenPayments = ({ walletId }: { readonly walletId: string }): ReactElement => {
  const payments = useView().wallets.get(walletId)?.openPayments ?? []
  const [asked, setAsked] = useState<Asked | undefined>()
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
                onAsk={act => setAsked({ act, payment })}
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
      {asked === undefined ? null : (
        <PaymentDialog walletId={walletId} asked={asked} onClose={() => setAsked(undefined)} />
      )}
    </>
  )
}

type PaymentAct = 'forget' | 'replace' | 'resend'

interface Asked {
  readonly act: PaymentAct
  readonly payment: OpenPaymentSnapshot
}

// More would push what the wallet can do out of sight.
const MOST = 5

const OpenPayment = (props: {
  readonly walletId: string
  readonly payment: OpenPaymentSnapshot
  readonly onAsk: (act: PaymentAct) => void
}): ReactElement => {
  const { walletId, payment, onAsk } = props
  const { txid, state, at } = payment
  const view = useView()
  const { go } = usePanel()
  const canAct = useCanAct()
  const now = useNow() / 1000
  return (
    <li>
      <div>
        <Paid walletId={walletId} payment={payment} />
      </div>
      <StateMark tone={tones[state]}>{visibleText(sentStateText(state, payment))}</StateMark>
      <div>
        <span className="soft">{agoText(at / 1000, now)}</span>{' '}
        <button
          type="button"
          className="link mono"
          title={txid}
          onClick={() => go(everythingAbout(view, txid))}
        >
          <span className="hidden-text">Show everything for </span>
          {visibleText(shortId(txid, 25))}
        </button>
      </div>
      {canAct ? (
        <div className="acts">
          {acts.map(([act, words]) => (
            <button key={act} type="button" className="button" onClick={() => onAsk(act)}>
              {words}
            </button>
          ))}
        </div>
      ) : null}
    </li>
  )
}

const acts: readonly (readonly [PaymentAct, string])[] = [
  ['resend', 'Send again…'],
  ['replace', 'Replace…'],
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

/** What is about to be done with an open payment, before it is done. */
const PaymentDialog = (props: {
  readonly walletId: string
  readonly asked: Asked
  readonly onClose: () => void
}): ReactElement => {
  const { walletId, asked, onClose } = props
  const { act, payment } = asked
  return (
    <Dialog title={titles[act]} onClose={onClose}>
      <PaymentFacts walletId={walletId} payment={payment} />
      {act === 'resend' ? <Resend {...{ walletId, payment, onClose }} /> : null}
      {act === 'replace' ? <Replace {...{ walletId, payment, onClose }} /> : null}
      {act === 'forget' ? <Forget {...{ walletId, payment, onClose }} /> : null}
    </Dialog>
  )
}

const titles: Readonly<Record<PaymentAct, string>> = {
  resend: 'Send this payment again',
  replace: 'Pay in the place of this payment',
  forget: 'Forget this payment'
}

const PaymentFacts = (props: {
  readonly walletId: string
  readonly payment: OpenPaymentSnapshot
}): ReactElement => {
  const { walletId, payment } = props
  return (
    <Facts>
      <Fact name="Pays">
        <Paid walletId={walletId} payment={payment} />
      </Fact>
      <Fact name="Network fee">
        <Amount native={payment.networkFee} units={unitsOf(useView(), { walletId })} isFull />
      </Fact>
      <Fact name="State">{sentStateText(payment.state, payment)}</Fact>
      <Fact name="Transaction" look="mono">
        {payment.txid}
      </Fact>
    </Facts>
  )
}

interface ActProps {
  readonly walletId: string
  readonly payment: OpenPaymentSnapshot
  readonly onClose: () => void
}

const Resend = ({ walletId, payment: { txid }, onClose }: ActProps): ReactElement => {
  const { say } = usePanel()
  return (
    <>
      <p className="soft">The same bytes are sent once more. They can be mined only once.</p>
      <div className="dialog-acts">
        <Cancel onClose={onClose} />
        <ActButton
          name="spend.resend"
          input={{ walletId, txid }}
          isMain
          onDone={() => {
            say('Sent again')
            onClose()
          }}
        >
          Send the same bytes again
        </ActButton>
      </div>
    </>
  )
}

const Replace = ({ walletId, payment: { txid }, onClose }: ActProps): ReactElement => {
  const [fee, setFee] = useState<FeeLevel>('standard')
  return (
    <>
      <p className="soft">
        The same payees are paid the same, at a higher fee. The network can take only one of the two.
      </p>
      <FeeField value={fee} onChange={setFee} />
      <div className="dialog-acts">
        <Cancel onClose={onClose} />
        <ActButton name="spend.replace" input={{ walletId, txid, fee }} isMain onDone={onClose}>
          Review…
        </ActButton>
      </div>
    </>
  )
}

const Forget = ({ walletId, payment: { txid }, onClose }: ActProps): ReactElement => {
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
        <ActButton
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
        </ActButton>
      </div>
    </>
  )
}

const Cancel = ({ onClose }: Pick<ActProps, 'onClose'>): ReactElement => (
  <button type="button" className="button" onClick={onClose}>
    Cancel
  </button>
)
