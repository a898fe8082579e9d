import { isNativeAmount, type SpendInfo, WalletError } from '../../../../kernel/plugin-api.ts'
import { type Destination, parseAddress } from '../address/address.ts'
import type { CoinRow, NetworkRow } from '../params/coin-row.ts'
import type { ScriptTable } from '../scan/script-table.ts'

/** A recipient, checked. */
export interface Payee {
  readonly destination: Destination
  readonly amount: bigint
}

/** What the checks of a spend need to know of its wallet. */
export interface SpendRules {
  readonly coin: CoinRow
  readonly network: NetworkRow
  readonly table: ScriptTable
}

/**
 * Checks the recipients of a spend.
 *
 * @throws NO_AMOUNT_SPECIFIED, AMOUNT_INVALID, ADDRESS_INVALID, DUST_SPEND, SPEND_TO_SELF, NOT_SUPPORTED
 */
export const readPayees = ({ coin, network, table }: SpendRules, spend: SpendInfo): readonly Payee[] => {
  checkFrame(spend)
  const payees = spend.spendTargets.map(({ publicAddress, nativeAmount }): Payee => {
    if (nativeAmount === undefined || nativeAmount === '' || /^0+$/.test(nativeAmount)) {
      throw new WalletError('NO_AMOUNT_SPECIFIED', {})
    }
    if (!isNativeAmount(nativeAmount) || nativeAmount.startsWith('-')) {
      throw new WalletError('AMOUNT_INVALID', { rule: 'must be a positive integer of native units' })
    }
    const destination = parseAddress(coin, network, publicAddress ?? '')
    const amount = BigInt(nativeAmount)
    const minimum = coin.dust[destination.program.type]
    if (amount < minimum) {
      throw new WalletError('DUST_SPEND', { minimum: String(minimum), currencyCode: coin.code })
    }
    return { destination, amount }
  })
  // To oneself is how a payment is taken back that another may still be mined for.
  const isToSelf =
    spend.replaces === undefined &&
    payees.every(({ destination }) => table.findScript(destination.script) !== undefined)
  if (isToSelf) {
    throw new WalletError('SPEND_TO_SELF', {})
  }
  return payees
}

/** Checks what does not concern the recipients one by one. */
export const checkFrame = (spend: SpendInfo): void => {
  if (spend.tokenId !== null) throw new WalletError('NOT_SUPPORTED', { what: 'tokens' })
  if (spend.spendTargets.length === 0) throw new WalletError('NO_AMOUNT_SPECIFIED', {})
  if (spend.spendTargets.length > MAX_TARGETS)
    throw new WalletError('NOT_SUPPORTED', { what: `${MAX_TARGETS} recipients` })
}

const MAX_TARGETS = 1000
