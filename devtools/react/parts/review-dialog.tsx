import { type ReactElement, useState } from 'react'
import type { SpendReview } from '../../../app/actions/spend-review.ts'
import { amountIn } from '../../../app/format/amounts.ts'
import {
  OWN_CHECK_TEXT,
  oldFormText,
  openStateText,
  secondPaymentText,
  sweepRows,
  tokenFeeText
} from '../../../app/format/payment-texts.ts'
import { countdownText } from '../../../app/format/quotes.ts'
import { compact, type WalletId } from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import { useCanRunActions, useNow, usePanel, useView } from '../state/panel-state.ts'
import { discard, type ReviewedDraft } from '../state/review-state.ts'
import { CommandLine, useCommandLine, useSingleTask } from './action-forms.tsx'
import { Amount, PaidAmount } from './amount.tsx'
import { Detail, DetailList } from './details.tsx'
import { Dialog } from './dialog.tsx'
import { TextField } from './fields.tsx'
import { devicesText, SecondDevice, useSecondDevice } from './second-device.tsx'
import { dateText, visibleText } from './texts.ts'
import { walletName } from './wallet.tsx'

/** Shows a payment or a swap before it is signed. Closing the dialog discards the draft. */
export const ReviewDialog = (props: {
  readonly draft: ReviewedDraft
  readonly onClose: () => void
}): ReactElement => {
  const { draftId, review, action } = props.draft
  const isSpend = action.name !== 'swap.review'
  const isSweep = review.sweep !== undefined
  const { usualNetworkFee, similar = [], refusal } = review
  const approvers = refusal?.untrusted.approvers ?? []
  const [typed, setTyped] = useState({ fee: '', again: '' })
  const isAllowed =
    (usualNetworkFee === undefined || isYes(typed.fee)) && (similar.length === 0 || isYes(typed.again))
  const { client, run } = usePanel()
  const view = useView()
  const canRun = useCanRunActions()
  const [isBusy, start] = useSingleTask()
  const device = useSecondDevice(draftId)
  const isWaiting = device.pending !== undefined
  const now = useNow()
  const isOver = !isBusy && review.expiresAt !== undefined && review.expiresAt <= now
  const close = (): void => {
    if (isBusy && !isWaiting) return
    if (isWaiting) device.stop()
    discard(client, props.draft)
    props.onClose()
  }
  const approve = async (): Promise<void> => {
    if (approvers.length > 0 && !(await device.request())) return
    await run(isSpend ? 'spend.approve' : 'swap.approve', {
      draftId,
      ...compact({
        maxNetworkFee: usualNetworkFee === undefined ? undefined : review.networkFee,
        again: similar.length === 0 ? undefined : similar
      })
    })
    props.onClose()
  }
  return (
    <Dialog title={titleOf(isSpend, review)} onClose={close}>
      <p className="big">
        <Amount native={review.nativeAmount} units={unitsOf(view, review)} isFull />
      </p>
      <ReviewDetails review={review} now={now} isApproved={isBusy && !isWaiting} />
      <CommandLine text={useCommandLine(action)} />
      {usualNetworkFee === undefined ? null : (
        <UnusualFee
          review={review}
          usual={usualNetworkFee}
          typed={typed.fee}
          onType={fee => setTyped({ ...typed, fee })}
        />
      )}
      <Refusal review={review} />
      <SecondPayment similar={similar} typed={typed.again} onType={again => setTyped({ ...typed, again })} />
      {device.pending === undefined ? null : <SecondDevice pending={device.pending} onStop={device.stop} />}
      <p className="soft" role="status">
        {isBusy && !isWaiting && approvers.length === 0
          ? `The wallet ${isSweep ? '' : 'signs and '}sends it. This window closes afterwards.`
          : isSweep
            ? 'It is signed with the keys, which are forgotten here. Nothing is sent before you approve, and what is sent cannot be taken back.'
            : approvers.length === 0
              ? 'Nothing is signed before you approve. A payment that is sent cannot be taken back.'
              : `Nothing is signed before ${devicesText(approvers)} approves it. Then the wallet signs and sends it at once.`}
      </p>
      {canRun || isBusy ? null : (
        <p className="warn" role="status">
          Nothing can be approved now: there is no connection that may do it.
        </p>
      )}
      <div className="dialog-acts">
        <button type="button" className="button" onClick={close} disabled={isBusy && !isWaiting}>
          {review.proposal === undefined ? 'Discard' : 'Not now'}
        </button>
        <button
          type="button"
          className="button main-act"
          disabled={!isBusy && (isOver || !canRun || !isAllowed)}
          aria-busy={isBusy}
          onClick={() => start(approve)}
        >
          {isOver ? 'Expired' : isSweep ? 'Send it' : approveText(isSpend, approvers)}
        </button>
      </div>
    </Dialog>
  )
}

const titleOf = (isSpend: boolean, { sweep }: SpendReview): string => {
  if (sweep !== undefined) return 'Review this sweep'
  return isSpend ? 'Review this payment' : 'Review this swap'
}

const approveText = (isSpend: boolean, approvers: readonly string[]): string => {
  const does = isSpend ? 'send' : 'swap'
  return approvers.length === 0 ? `Sign and ${does}` : `Ask the other device, then ${does}`
}

const isYes = (typed: string): boolean => typed.trim().toLowerCase() === 'yes'

/** The rule of the account that would refuse the payment; the kernel asks it once more before it signs. */
const Refusal = ({ review: { refusal } }: { readonly review: SpendReview }): ReactElement | null => {
  if (refusal === undefined) return null
  const { allowedAt, untrusted } = refusal
  if (untrusted.approvers !== undefined)
    return (
      <p className="warn breaking" role="status">
        The rule “{visibleText(untrusted.rule)}”: {visibleText(untrusted.reason)}.
      </p>
    )
  return (
    <p className="warn breaking" role="alert">
      The rule “{visibleText(untrusted.rule)}” refuses it: {visibleText(untrusted.reason)}
      {allowedAt === undefined ? '.' : `; allowed from ${dateText(allowedAt)} on.`}
    </p>
  )
}

/** A second payment of the same amount to the same payee is allowed by a typed yes and by nothing less. */
const SecondPayment = (props: {
  readonly similar: readonly string[]
  readonly typed: string
  readonly onType: (text: string) => void
}): ReactElement | null => {
  const { similar, typed, onType } = props
  const [first] = similar
  if (first === undefined) return null
  const more = similar.length === 1 ? '' : ` There are ${similar.length - 1} more.`
  return (
    <>
      <p className="warn breaking" role="alert">
        {visibleText(secondPaymentText(first))}, and may still be mined.{more}
      </p>
      <TextField label="Type yes to pay a second time" value={typed} onChange={onType} />
    </>
  )
}

/** A fee far above the usual one is allowed by a typed yes and by nothing less. */
const UnusualFee = (props: {
  readonly review: SpendReview
  readonly usual: string
  readonly typed: string
  readonly onType: (text: string) => void
}): ReactElement => {
  const { review, usual, typed, onType } = props
  const coin = unitsOf(useView(), { walletId: review.walletId })
  return (
    <>
      <p className="warn" role="alert">
        The network fee of <Amount native={review.networkFee} units={coin} isFull /> is more than ten times
        the usual <Amount native={usual} units={coin} isFull />. A server may lie about fees.
      </p>
      <TextField label="Type yes to pay this fee" value={typed} onChange={onType} />
    </>
  )
}

const ReviewDetails = ({
  review,
  now,
  isApproved
}: {
  readonly review: SpendReview
  readonly now: number
  /** It holds no longer, and need not: what was approved is being signed. */
  readonly isApproved: boolean
}): ReactElement => {
  const view = useView()
  const { proposal, walletId, tokenId, toWalletId = '', toTokenId, toNativeAmount: received, sweep } = review
  const [units, coin] = [unitsOf(view, review), unitsOf(view, { walletId })]
  const toUnits = unitsOf(view, { walletId: toWalletId, tokenId: toTokenId })
  const hastened = review.replaces ?? review.bumps
  const raised =
    hastened === undefined ? undefined : review.openPayments?.find(({ txid }) => txid === hastened)
  // That in the asset that is paid is part of its total.
  const otherFees = review.tokenFees?.filter(paid => paid.tokenId !== tokenId) ?? []
  return (
    <DetailList>
      <Detail name="Proposed by">{proposal && `${proposal.untrusted.client}, a program`}</Detail>
      <Detail name="It says">{proposal?.untrusted.note}</Detail>
      <Detail name={sweep === undefined ? 'From' : 'Into'}>
        <WalletReference walletId={walletId} />
      </Detail>
      <Detail name="Through">{review.provider}</Detail>
      {review.targets.map(({ publicAddress, nativeAmount: paid }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two targets may be the same, and none ever moves
        <Detail key={at} name={review.targets.length === 1 ? 'To' : `To ${at + 1}`}>
          <span className="mono">{visibleText(publicAddress)}</span>
          {review.targets.length === 1 ? null : (
            <>
              , <Amount native={paid} units={units} />
            </>
          )}
        </Detail>
      ))}
      <Detail name="Careful">
        {review.legacyAddresses?.map(address => oldFormText(address, review.currencyCode)).join(' ')}
      </Detail>
      <Detail name="Pays with" look="mono">
        {review.coins && coinsText(review.coins)}
      </Detail>
      <Detail name="Replaces" look="mono">
        {review.replaces}
      </Detail>
      <Detail name="Hastens" look="mono">
        {review.bumps}
      </Detail>
      <Detail name="How">
        {review.bumps === undefined
          ? ''
          : 'a second payment, from the wallet to itself, whose fee is for both: miners who take it take both'}
      </Detail>
      <Detail name="Fee so far">
        {raised === undefined ? '' : <Amount native={raised.networkFee} units={coin} isFull />}
      </Detail>
      <Detail name="Memo (public)" look="mono">
        {review.untrusted?.memos?.join(' · ')}
      </Detail>
      <Detail name="Calls with" look="mono">
        {review.untrusted?.params?.join(' ')}
      </Detail>
      <Detail name={hastened === undefined ? 'Network fee' : 'New network fee'}>
        <Amount native={review.networkFee} units={coin} isFull />
      </Detail>
      <Detail name="And a fee">
        {review.tokenFees?.map(paid => visibleText(tokenFeeText(paid))).join(', ')}
      </Detail>
      {sweep &&
        sweepRows(sweep, native => amountIn(native, coin)).map(([name, text], at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two rows may be the same, and none ever moves
          <Detail key={at} name={`${name.charAt(0).toUpperCase()}${name.slice(1)}`}>
            {visibleText(text)}
          </Detail>
        ))}
      {sweep === undefined ? (
        <Detail name="Total">
          <Amount native={review.total} units={units} isFull />
          {tokenId === undefined ? null : (
            <>
              , and <Amount native={review.networkFee} units={coin} isFull />
            </>
          )}
          {otherFees.map(paid => `, and ${visibleText(tokenFeeText(paid))}`)}
        </Detail>
      ) : null}
      <Detail name="You receive">
        {received === undefined ? (
          ''
        ) : (
          <>
            {review.isEstimate === true ? 'about ' : ''}
            <Amount native={received} units={toUnits} isFull />
          </>
        )}
      </Detail>
      <Detail name="At least">
        {review.minReceive !== undefined ? (
          <Amount native={review.minReceive} units={toUnits} isFull />
        ) : review.isEstimate === true ? (
          'not guaranteed: less may arrive'
        ) : (
          ''
        )}
      </Detail>
      <Detail name="Into">
        {review.toWalletId === undefined ? '' : <WalletReference walletId={toWalletId} />}
      </Detail>
      <Detail name="Paid out to" look="mono">
        {review.payoutAddress}
      </Detail>
      {review.allowances?.map(({ spender, nativeAmount: most }) => (
        <Detail key={spender} name="Allows">
          <span className="mono">{visibleText(spender)}</span> to take{' '}
          <Amount native={most} units={units} isFull />
        </Detail>
      ))}
      <Detail name="Careful">{review.isOwnCheckComplete === false ? OWN_CHECK_TEXT : ''}</Detail>
      <Detail name="Order">{review.orderId}</Detail>
      <Detail name="Valid for">
        {review.expiresAt === undefined || isApproved ? '' : countdownText(review.expiresAt - now)}
      </Detail>
      <OpenPaymentDetails review={review} />
    </DetailList>
  )
}

/** Lists the payments that may still be mined, as the command line does. */
const OpenPaymentDetails = ({ review }: { readonly review: SpendReview }): ReactElement => {
  const { openPayments = [], replaces, walletId } = review
  const shown = openPayments.slice(0, MAX_OPEN)
  const left = (review.openCount ?? openPayments.length) - shown.length
  return (
    <>
      {shown.map((payment, at) => (
        <Detail key={payment.txid} name={at === 0 ? 'Open' : `Open ${at + 1}`}>
          <PaidAmount walletId={walletId} payment={payment} />
          {': '}
          {visibleText(openStateText({ ...payment, ...payment.untrusted }, replaces))}
        </Detail>
      ))}
      <Detail name="Open">{left > 0 ? `and ${left} more` : ''}</Detail>
    </>
  )
}

const MAX_OPEN = 5

const coinsText = (coins: readonly string[]): string => {
  const more = coins.length - MAX_COINS
  return `${coins.slice(0, MAX_COINS).join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

const MAX_COINS = 10

/** A wallet by its name and its whole id: two may have one name, and half an id may be of two. */
const WalletReference = ({ walletId }: { readonly walletId: WalletId }): ReactElement => {
  const wallet = useView().wallets.get(walletId)
  const id = <span className="mono">{visibleText(walletId)}</span>
  if (wallet === undefined || walletName(wallet) === walletId) return id
  return (
    <>
      {visibleText(walletName(wallet))} <span className="soft">{id}</span>
    </>
  )
}
