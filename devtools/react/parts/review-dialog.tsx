import { type ReactElement, useState } from 'react'
import type { Action, SpendReview } from '../../core/actions.ts'
import { usePanel, useView } from '../panel-state.ts'
import { amountText, countdownText } from '../texts.ts'
import { useNow } from '../use-now.ts'
import { CommandLine, useCommandLine } from './command-line.tsx'
import { Dialog } from './dialog.tsx'
import { Fact, Facts } from './facts.tsx'

/** A draft that waits for a yes. */
export interface Draft {
  readonly kind: 'spend' | 'swap'
  readonly draftId: string
  readonly review: SpendReview
  /** The action that made it, for the command that does the same. */
  readonly made: Action
}

/** What would be signed, before it is signed. Closing it says no. */
export const ReviewDialog = (props: {
  readonly draft: Draft
  readonly onClose: (txid: string | undefined) => void
}): ReactElement => {
  const { kind, draftId, review, made } = props.draft
  const { run } = usePanel()
  const [isBusy, setBusy] = useState(false)
  const now = useNow()
  const isOver = review.expiresAt !== undefined && review.expiresAt <= now
  const close = (): void => {
    if (isBusy) return
    void run(kind === 'spend' ? 'spend.discard' : 'swap.discard', { draftId })
    props.onClose(undefined)
  }
  const approve = async (): Promise<void> => {
    setBusy(true)
    const done = await run(kind === 'spend' ? 'spend.approve' : 'swap.approve', { draftId })
    props.onClose(done?.txid)
  }
  return (
    <Dialog title={kind === 'spend' ? 'Review this payment' : 'Review this swap'} onClose={close}>
      <p className="big">
        {amountText(review.nativeAmount)} <span className="soft">{review.currencyCode}, native units</span>
      </p>
      <ReviewFacts review={review} now={now} />
      <CommandLine text={useCommandLine(made)} />
      <p className="soft">
        Nothing is signed before you approve. A payment that is sent cannot be taken back.
      </p>
      <div className="dialog-acts">
        <button type="button" className="button" onClick={close} disabled={isBusy}>
          Discard
        </button>
        <button
          type="button"
          className="button main-act"
          disabled={isBusy || isOver}
          aria-busy={isBusy}
          onClick={() => void approve()}
        >
          {isOver ? 'Expired' : kind === 'spend' ? 'Sign and send' : 'Sign and swap'}
        </button>
      </div>
    </Dialog>
  )
}

const ReviewFacts = ({
  review,
  now
}: {
  readonly review: SpendReview
  readonly now: number
}): ReactElement => {
  const wallet = useView().wallets.get(review.walletId)
  const received = review.toNativeAmount
  return (
    <Facts>
      <Fact name="From">{wallet?.name ?? review.walletId}</Fact>
      <Fact name="Through">{review.provider}</Fact>
      {review.targets.map(({ publicAddress, nativeAmount }, at) => (
        <Fact key={publicAddress} name={review.targets.length === 1 ? 'To' : `To ${at + 1}`}>
          <span className="mono">{publicAddress}</span>
          {review.targets.length === 1 ? null : `, ${amountText(nativeAmount)}`}
        </Fact>
      ))}
      <Fact name="Network fee">{amountText(review.networkFee)}</Fact>
      <Fact name="You receive">
        {received === undefined
          ? ''
          : `${review.isEstimate === true ? 'about ' : ''}${amountText(received)} ${review.toCurrencyCode ?? ''}`}
      </Fact>
      <Fact name="At least">{review.minReceive === undefined ? '' : amountText(review.minReceive)}</Fact>
      <Fact name="Paid out to" look="mono">
        {review.payoutAddress}
      </Fact>
      <Fact name="Order">{review.orderId}</Fact>
      <Fact name="Holds for">
        {review.expiresAt === undefined ? '' : countdownText(review.expiresAt - now)}
      </Fact>
    </Facts>
  )
}
