import { compare, type NativeAmount, nativeAmount, sum, ZERO } from '../base/amount.ts'
import { looseCopy } from '../base/copy-data.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import type { KeyQuestion } from '../keys/key-gate.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import { checkMaxFee, checkNetworkFee } from '../types/network-fee.ts'
import type { KeyUse } from '../types/snapshots.ts'
import type {
  EngineTransaction,
  SpendInfo,
  SpendTarget,
  SpentTarget,
  Transaction
} from '../types/transaction.ts'
import { isBalance, readEngineTransaction } from './engine/engine-data.ts'
import { checkMetadata, mergeMetadata, withFiatCode } from './history/metadata.ts'
import { searchMaxSpendable } from './max-spend.ts'
import { upgradeMemos } from './memos.ts'
import { reserveCoins } from './open-payments.ts'
import { frozenTransaction } from './reviewed-transaction.ts'
import type { SpendParts } from './spend.ts'

/**
 * Makes the draft of a spend: memos in one form, amounts checked, the engine's answer checked. Nothing is signed.
 *
 * @throws the engine's spend errors, MAX_FEE, AMOUNT_INVALID, MEMO_INVALID, OPTION_INVALID, SPEND_WITH_KEYS, BOGUS_TX
 * @see protocol §6.3
 */
export const makeSpend = async (parts: SpendParts, request: SpendInfo): Promise<Transaction> => {
  const spend = cleanSpend(request, parts.info)
  checkMetadata(spend.metadata ?? {})
  checkMaxFee(spend.maxNetworkFee)
  await reserveCoins(parts, spend.replaces)
  const keys = await parts.engine.keysFor(spendQuestionOf('draft', spend))
  const { pluginId } = parts.info
  const draft = await parts.engine.call('making a payment', async engine =>
    readEngineTransaction(pluginId, await engine.makeSpend(looseCopy(spend), keys))
  )
  const made = draftOf(parts, spend, draft)
  // A fee that is only unusual is for a person to judge, who sees the draft; what was said to be too much is not.
  if (made.maxNetworkFee !== undefined) checkNetworkFee(parts.info, made)
  return made
}

/** What policies are told of a spend that is not drafted yet; its fee is not known. */
export const spendQuestionOf = <U extends KeyUse>(
  use: U,
  { tokenId, spendTargets }: SpendInfo
): KeyQuestion & { readonly use: U } => ({
  use,
  tokenId,
  nativeAmount: sum(spendTargets.map(target => target.nativeAmount ?? ZERO)),
  targets: spendTargets.map(({ publicAddress = '', nativeAmount: amount = ZERO }) => ({
    publicAddress,
    nativeAmount: amount
  }))
})

/** What an engine has made of a spend, with all that the user has said of it. */
export const draftOf = (parts: SpendParts, spend: SpendInfo, checked: EngineTransaction): Transaction => {
  const currencyCode = checked.currencyCode ?? parts.table.codeOf(checked.tokenId)
  const { deviceDescription } = parts.services.config
  return frozenTransaction({
    ...checked,
    walletId: parts.walletId,
    currencyCode,
    confirmations: 'unconfirmed',
    isSend: true,
    memos: checked.memos ?? spend.memos ?? [],
    metadata: mergeMetadata({}, withFiatCode(spend.metadata ?? {}, parts.table.fiatCode)),
    networkFeeOption: spend.networkFeeOption ?? 'standard',
    ...(spend.customNetworkFee === undefined ? {} : { requestedCustomFee: spend.customNetworkFee }),
    ...(spend.maxNetworkFee === undefined ? {} : { maxNetworkFee: spend.maxNetworkFee }),
    spendTargets: spend.spendTargets.map(target => spentTarget(target, currencyCode)),
    ...(deviceDescription === undefined ? {} : { deviceDescription }),
    ...(spend.replaces === undefined ? {} : { replaces: spend.replaces })
  })
}

/** The largest amount that can be sent to the first target; exact where the engine knows, else by halving. */
export const getMaxSpendable = async (parts: SpendParts, request: SpendInfo): Promise<NativeAmount> => {
  const spend = cleanSpend(request, parts.info)
  await reserveCoins(parts, spend.replaces)
  const keys = await parts.engine.keysFor(spendQuestionOf('draft', spend))
  const own = await parts.engine.call('finding the maximum', async engine =>
    engine.getMaxSpendable === undefined
      ? undefined
      : readMaximum(parts.info.pluginId, await engine.getMaxSpendable(looseCopy(spend), keys))
  )
  if (own !== undefined) return own
  return searchMaxSpendable(parts.balanceOf(spend.tokenId), async amount => {
    const [first, ...others] = spend.spendTargets
    const spendTargets = [
      { ...first, nativeAmount: amount },
      ...others.map(target => ({ ...target, nativeAmount: ZERO }))
    ]
    try {
      const { pluginId } = parts.info
      await parts.engine.call('finding the maximum', async engine =>
        readEngineTransaction(pluginId, await engine.makeSpend(looseCopy({ ...spend, spendTargets }), keys))
      )
      return true
    } catch (error) {
      if (NO_ANSWER.some(code => isWalletError(error, code))) throw error
      return false
    }
  })
}

const readMaximum = (pluginId: string, value: unknown): NativeAmount => {
  if (isBalance(value)) return nativeAmount(value)
  throw new WalletError('BOGUS_DATA', { pluginId, what: 'maximum', path: '' })
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
