import { Fragment, type ReactElement } from 'react'
import { amountIn } from '../../../app/format/amounts.ts'
import type { AmountUnits, OpenPaymentSnapshot, WalletId } from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import { useView } from '../state/panel-state.ts'
import { countText, visibleText } from './texts.ts'

/** An amount in the unit of people, such as `0.5 BTC`; in native units where one looks closely. */
export const Amount = (props: {
  readonly native: string
  readonly units: AmountUnits
  /** The native units stand beside it, and not only in the hint. */
  readonly isFull?: boolean
}): ReactElement => {
  const { native, units, isFull = false } = props
  const text = visibleText(amountIn(native, units))
  const exact = `${countText(native)} native`
  return (
    <>
      <span title={exact}>{text}</span>
      {isFull && text !== `${native} native` ? <span className="soft"> {exact}</span> : null}
    </>
  )
}

/** Shows the amount and the payee of an open payment, such as `0.01 BTC to bcrt1q…`. */
export const PaidAmount = (props: {
  readonly walletId: WalletId
  readonly payment: OpenPaymentSnapshot
}): ReactElement => {
  const { walletId, payment } = props
  const units = unitsOf(useView(), { walletId, tokenId: payment.tokenId })
  return (
    <>
      {payment.targets.map(({ publicAddress, nativeAmount }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two targets may be the same, and none ever moves
        <Fragment key={at}>
          {at === 0 ? null : ', '}
          <Amount native={nativeAmount} units={units} /> to{' '}
          <span className="mono">{visibleText(publicAddress)}</span>
        </Fragment>
      ))}
    </>
  )
}
