import { Fragment, type ReactElement } from 'react'
import type { OpenPaymentSnapshot } from '../../../kernel/index.ts'
import { unitsOf } from '../../core/amount-in-units.ts'
import { useView } from '../panel-state.ts'
import { visibleText } from '../texts.ts'
import { Amount } from './amount.tsx'

/** What an open payment pays to whom, such as `0.01 BTC to bcrt1q…`. */
export const Paid = (props: {
  readonly walletId: string
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
