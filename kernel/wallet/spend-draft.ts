import { compare, type NativeAmount, nativeAmount, ZERO } from '../amount.ts'
import { isWalletError, WalletError } from '../errors/wallet-error.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type {
  EngineTransaction,
  SpendInfo,
  SpendTarget,
  SpentTarget,
  Transaction
} from '../types/transaction.ts'
import { checkEngineTransaction } from './engine/engine-data.ts'
import { checkMetadata, mergeMetadata, withFiatCode } from './history/metadata.ts'
import { searchMaxSpendable } from './max-spend.ts'
import { upgradeMemos } from './memos.ts'
import type { SpendParts } from './spend.ts'

/**
 * Makes the draft of a spend: memos in one form, amounts checked, the engine's answer checked. Nothing is signed.
 *
 * @throws the engine's spend errors, AMOUNT_INVALID, MEMO_INVALID, OPTION_INVALID, SPEND_WITH_KEYS, BOGUS_TX
 * @see protocol §6.3
 */
export const makeSpend = async (parts: SpendParts, request: SpendInfo): Promise<Transaction> => {
  const spend = cleanSpend(request, parts.info)
  checkMetadata(spend.metadata ?? {})
  const keys = parts.engine.keysFor('spend')
  const draft = await parts.engine.call('making a payment', engine => engine.makeSpend(spend, keys))
  return draftOf(parts, spend, checkEngineTransaction(parts.info.pluginId, draft))
}

/** What an engine has made of a spend, with all that the user has said of it. */
export const draftOf = (parts: SpendParts, spend: SpendInfo, checked: EngineTransaction): Transaction => {
  const currencyCode = checked.currencyCode ?? parts.table.codeOf(checked.tokenId)
  const { deviceDescription } = parts.services.config
  return {
    ...checked,
    walletId: parts.walletId,
    currencyCode,
    confirmations: 'unconfirmed',
    isSend: true,
    memos: checked.memos ?? spend.memos ?? [],
    metadata: mergeMetadata({}, withFiatCode(spend.metadata ?? {}, parts.table.fiatCode)),
    networkFeeOption: spend.networkFeeOption ?? 'standard',
    ...(spend.customNetworkFee === undefined ? {} : { requestedCustomFee: spend.customNetworkFee }),
    spendTargets: spend.spendTargets.map(target => spentTarget(target, currencyCode)),
    ...(deviceDescription === undefined ? {} : { deviceDescription })
  }
}

/** The largest amount that can be sent to the first target; exact where the engine knows, else by halving. */
export const getMaxSpendable = async (parts: SpendParts, request: SpendInfo): Promise<NativeAmount> => {
  const spend = cleanSpend(request, parts.info)
  const keys = parts.engine.keysFor('spend')
  const own = await parts.engine.call('finding the maximum', async engine =>
    engine.getMaxSpendable === undefined ? undefined : await engine.getMaxSpendable(spend, keys)
  )
  if (own !== undefined) return nativeAmount(own)
  return searchMaxSpendable(parts.balanceOf(spend.tokenId), async amount => {
    const [first, ...others] = spend.spendTargets
    const spendTargets = [
      { ...first, nativeAmount: amount },
      ...others.map(target => ({ ...target, nativeAmount: ZERO }))
    ]
    try {
      await parts.engine.call('finding the maximum', engine =>
        engine.makeSpend({ ...spend, spendTargets }, keys)
      )
      return true
    } catch (error) {
      if (NO_ANSWER.some(code => isWalletError(error, code))) throw error
      return false
    }
  })
}

/** Failures that say nothing about an amount. */
const NO_ANSWER = ['ENGINE_FAILED', 'DEADLINE', 'LOGGED_OUT', 'NETWORK'] as const

/** A spend as an engine may see it. @throws AMOUNT_INVALID, MEMO_INVALID, SPEND_WITH_KEYS */
export const cleanSpend = (request: SpendInfo, info: CurrencyInfo): SpendInfo => {
  if ('privateKeys' in request) throw new WalletError('SPEND_WITH_KEYS', {})
  const spendTargets = request.spendTargets
    .filter(isPayable)
    .map(target => ({ ...target, nativeAmount: positive(target.nativeAmount ?? ZERO) }))
  return upgradeMemos({ ...request, spendTargets }, info.memoOptions)
}

/** Without an address, an output is what a plugin's own parameters say, such as a script (protocol §5.3, §6.3). */
const isPayable = ({ publicAddress, otherParams }: SpendTarget): boolean =>
  publicAddress !== undefined && (publicAddress !== '' || otherParams !== undefined)

const positive = (amount: string): NativeAmount => {
  const checked = nativeAmount(amount)
  if (compare(checked, ZERO) < 0) throw new WalletError('AMOUNT_INVALID', { rule: 'must not be negative' })
  return checked
}

const spentTarget = (target: SpendTarget, currencyCode: string): SpentTarget => ({
  currencyCode,
  nativeAmount: target.nativeAmount ?? ZERO,
  publicAddress: target.publicAddress ?? '',
  ...(target.memo === undefined ? {} : { memo: target.memo, uniqueIdentifier: target.memo })
})
