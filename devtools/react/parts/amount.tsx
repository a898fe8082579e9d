import type { ReactElement } from 'react'
import type { AmountUnits } from '../../../kernel/index.ts'
import { amountIn } from '../../core/amount-in-units.ts'
import { countText, visibleText } from '../texts.ts'

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
