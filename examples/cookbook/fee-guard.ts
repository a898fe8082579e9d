import { add, compare, multiply, nativeAmount, type PolicyPlugin, sum, WalletError } from 'holdfast/plugin'

/**
 * A policy that refuses a payment of coins whose network fee is more than a tenth of what the payees get: a fee that was mistyped,
 * or a payment that is too small for its chain. Its option `percent` is another share. It judges no payment of a token, whose fee
 * is in coins, and refuses each that costs a fee in another token.
 */
const feeGuard: PolicyPlugin = {
  kind: 'policy',
  id: 'fee-guard',
  apply({ hooks, options, log }) {
    const { percent = 10 } = options
    if (typeof percent !== 'number' || !Number.isInteger(percent) || percent < 1)
      throw new TypeError('percent must be a whole number from 1')
    hooks.beforeSign.tapPromise('fee-guard', async spend => {
      const { use, tokenId, networkFee, networkFees = [], targets, correlationId } = spend
      const other = networkFees.find(fee => fee.tokenId !== null && fee.tokenId !== tokenId)
      if (other !== undefined) {
        const reason = `the payment costs a fee in the token ${other.tokenId}`
        throw new WalletError('SIGN_REFUSED', { pluginId: 'fee-guard', reason })
      }
      // The fee of a token is paid in another coin, and a sweep or a message has no payee.
      if (use !== 'spend' || tokenId !== null || targets.length === 0) return
      const paid = sum(targets.map(target => nativeAmount(target.nativeAmount)))
      const fee = nativeAmount(networkFee)
      if (compare(multiply(fee, nativeAmount('100')), multiply(paid, nativeAmount(String(percent)))) <= 0)
        return
      log.warn(`refused ${correlationId}: ${fee} of ${add(paid, fee)} would be the fee`)
      const reason = `the fee is more than ${percent} % of the payment`
      throw new WalletError('SIGN_REFUSED', { pluginId: 'fee-guard', reason })
    })
  }
}

export default feeGuard
