import type { AmountUnits } from '../../kernel/index.ts'
import { amountIn } from './amount-in-units.ts'
import type { ActionFailure } from './protocol.ts'

/** Which field of a payment a failure is about, and what to do there, in words. */
export interface SpendRefusal {
  readonly field: 'address' | 'amount'
  readonly text: string
}

/**
 * What a failed payment says of the fields that it was made of; undefined of a failure that no field can mend (pure).
 *
 * @param assets - what is paid in, then the coin of the chain, which pays the fee
 */
export const spendRefusalOf = (
  failure: Omit<ActionFailure, 'code'> & { readonly code: string },
  assets: readonly AmountUnits[]
): SpendRefusal | undefined => {
  const { code, message, hint, details = {} } = failure
  const shown = (name: string): string | undefined => {
    const units = assets.find(({ currencyCode }) => currencyCode === details.currencyCode) ?? assets[0]
    const native = details[name]
    return typeof native === 'string' && units !== undefined ? amountIn(native, units) : undefined
  }
  if (code === 'ADDRESS_INVALID' || code === 'SPEND_TO_SELF')
    return { field: 'address', text: hint === undefined ? message : `${message}. ${hint}` }
  if (code === 'INSUFFICIENT_FUNDS') {
    const [needed, available] = [shown('needed'), shown('available')]
    const why =
      needed === undefined || available === undefined ? '' : `: it takes ${needed} and there is ${available}`
    return { field: 'amount', text: `${message}${why}. Send less, or all there is with Max.` }
  }
  if (code === 'DUST_SPEND') {
    const least = shown('minimum')
    return { field: 'amount', text: `${message}${least === undefined ? '' : `, at least ${least}`}.` }
  }
  if (code === 'PENDING_FUNDS' && details.incoming !== undefined && details.incoming !== '0')
    return {
      field: 'amount',
      text: `${message}: ${shown('incoming')} is incoming. Send less, or wait until it is confirmed.`
    }
  if (code === 'AMOUNT_INVALID' || code === 'NO_AMOUNT_SPECIFIED' || code === 'PENDING_FUNDS')
    return { field: 'amount', text: hint === undefined ? message : `${message}. ${hint}` }
  return undefined
}
