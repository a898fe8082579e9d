import { compare, type NativeAmount, nativeAmount, sum, ZERO } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import { looseCopy } from '../../base/copy-data.ts'
import { isWalletError, WalletError } from '../../base/errors.ts'
import type { KeyRequest } from '../../keys/key-gate.ts'
import type { CurrencyInfo, MemoOption } from '../../types/currency.ts'
import type { PluginId } from '../../types/ids.ts'
import { checkNetworkFee, isFeeOption, requireFeeLimit } from '../../types/network-fee.ts'
import type { KeyUse } from '../../types/snapshots.ts'
import type {
  EngineTransaction,
  Memo,
  SpendInfo,
  SpendTarget,
  SpentTarget,
  Transaction
} from '../../types/transaction.ts'
import { isBalance, readEngineTransaction } from '../engine/validate.ts'
import { checkMetadata, mergeMetadata, withFiatCode } from '../history/metadata.ts'
import { codeOf } from '../history/view.ts'
import { frozenCoinsIn, reserveCoins } from './open-payments.ts'
import { frozenTransaction } from './reviewed-transaction.ts'
import type { SpenderOptions } from './spender.ts'

/**
 * Makes the draft of a spend: memos in one form, amounts checked, the engine's answer checked. Nothing is signed.
 *
 * @throws the engine's spend errors, MAX_FEE, AMOUNT_INVALID, MEMO_INVALID, OPTION_INVALID, SPEND_WITH_KEYS, BOGUS_TX
 * @see protocol §6.3
 */
export const makeSpend = async (context: SpenderOptions, request: SpendInfo): Promise<Transaction> => {
  context.engine.requireKeys()
  const spend = cleanSpend(request, context.info)
  checkMetadata(spend.metadata ?? {})
  requireFeeLimit(spend.maxNetworkFee)
  await reserveCoins(context, spend.replaces)
  await requireCoinChoice(context, spend)
  const keys = await context.engine.keysFor(spendQuestionOf('draft', spend))
  const { pluginId } = context.info
  const make = (): Promise<EngineTransaction> =>
    context.engine.call('making a payment', async engine =>
      readEngineTransaction(pluginId, await engine.makeSpend(looseCopy(spend), keys))
    )
  let draft = await make()
  // A note that cannot be read says by its name alone whose it is: the engine knows its coin no earlier than the wallet has it.
  const spent = { isSend: true, ...compact({ spentCoins: draft.spentCoins, replaces: spend.replaces }) }
  if ((await frozenCoinsIn(context, spent)).length > 0) {
    await context.freezeCoins()
    draft = await make()
  }
  const made = draftOf(context, spend, draft)
  const { coins, bumps } = spend
  const isOther = coins !== undefined && !isSameCoins(coins, made.spentCoins)
  const isNoChild =
    bumps !== undefined && made.spentCoins?.some(coin => coin.startsWith(`${bumps}:`)) !== true
  if (isOther || isNoChild) throw new WalletError('BOGUS_TX', { pluginId, path: 'spentCoins' })
  // A fee that is only unusual is for a person to judge, who sees the draft; what was said to be too much is not.
  if (made.maxNetworkFee !== undefined) checkNetworkFee(context.info, made)
  return made
}

/** @throws NOT_SUPPORTED if coins are chosen in a currency that has none */
const requireCoinChoice = async ({ engine }: SpenderOptions, { coins, bumps }: SpendInfo): Promise<void> => {
  if (coins === undefined && bumps === undefined) return
  const hasCoins = await engine.call('choosing coins', async made => made.listCoins !== undefined)
  if (!hasCoins) throw new WalletError('NOT_SUPPORTED', { what: 'a choice of coins' })
}

const isSameCoins = (chosen: readonly string[], spent: readonly string[] = []): boolean => {
  const wanted = new Set(chosen)
  return wanted.size === spent.length && spent.every(coin => wanted.has(coin))
}

/** Describes a spend to policies before it is drafted; its fee is not known yet. */
export const spendQuestionOf = <U extends KeyUse>(
  use: U,
  { tokenId, spendTargets }: SpendInfo
): KeyRequest & { readonly use: U } => ({
  use,
  tokenId,
  nativeAmount: sum(spendTargets.map(target => target.nativeAmount ?? ZERO)),
  targets: spendTargets.map(({ publicAddress = '', nativeAmount: amount = ZERO }) => ({
    publicAddress,
    nativeAmount: amount
  }))
})

/** Returns the draft of an engine with the details of the user's request. */
export const draftOf = (
  context: SpenderOptions,
  spend: SpendInfo,
  checked: EngineTransaction
): Transaction => {
  const currencyCode = checked.currencyCode ?? codeOf(context.history.options, checked.tokenId)
  const { deviceDescription } = context.services.config
  return frozenTransaction({
    ...checked,
    walletId: context.walletId,
    currencyCode,
    confirmations: 'unconfirmed',
    isSend: true,
    memos: checked.memos ?? spend.memos ?? [],
    metadata: mergeMetadata({}, withFiatCode(spend.metadata ?? {}, context.history.options.fiatCode())),
    networkFeeOption: spend.networkFeeOption ?? 'standard',
    ...compact({ requestedCustomFee: spend.customNetworkFee, maxNetworkFee: spend.maxNetworkFee }),
    spendTargets: spend.spendTargets.map(target => spentTarget(target, currencyCode)),
    ...compact({ deviceDescription, replaces: spend.replaces })
  })
}

/** The largest amount that can be sent to the first target; exact where the engine knows, else by halving. */
export const getMaxSpendable = async (context: SpenderOptions, request: SpendInfo): Promise<NativeAmount> => {
  const spend = cleanSpend(request, context.info)
  await reserveCoins(context, spend.replaces)
  await requireCoinChoice(context, spend)
  const keys = await context.engine.keysFor(spendQuestionOf('draft', spend))
  const own = await context.engine.call('finding the maximum', async engine =>
    engine.getMaxSpendable === undefined
      ? undefined
      : readMaximum(context.info.pluginId, await engine.getMaxSpendable(looseCopy(spend), keys))
  )
  if (own !== undefined) return own
  return searchMaxSpendable(context.balanceOf(spend.tokenId), async amount => {
    const [first, ...others] = spend.spendTargets
    const spendTargets = [
      { ...first, nativeAmount: amount },
      ...others.map(target => ({ ...target, nativeAmount: ZERO }))
    ]
    try {
      const { pluginId } = context.info
      await context.engine.call('finding the maximum', async engine =>
        readEngineTransaction(pluginId, await engine.makeSpend(looseCopy({ ...spend, spendTargets }), keys))
      )
      return true
    } catch (error) {
      if (NO_ANSWER.some(code => isWalletError(error, code))) throw error
      return false
    }
  })
}

const readMaximum = (pluginId: PluginId, value: unknown): NativeAmount => {
  if (isBalance(value)) return nativeAmount(value)
  throw new WalletError('BOGUS_DATA', { pluginId, what: 'maximum', path: '' })
}

/** Failures that say nothing about an amount. */
const NO_ANSWER = ['ENGINE_FAILED', 'DEADLINE', 'LOGGED_OUT', 'NETWORK'] as const

/** A spend as an engine may see it. @throws OPTION_INVALID, AMOUNT_INVALID, MEMO_INVALID, SPEND_WITH_KEYS */
export const cleanSpend = (request: SpendInfo, info: CurrencyInfo): SpendInfo => {
  if ('privateKeys' in request) throw new WalletError('SPEND_WITH_KEYS', {})
  const { networkFeeOption = 'standard' } = request
  if (!isFeeOption(networkFeeOption))
    throw new WalletError('OPTION_INVALID', {
      option: 'networkFeeOption',
      rule: 'must be low, standard, high or custom'
    })
  const spendTargets = request.spendTargets
    .filter(isPayable)
    .map(target => ({ ...target, nativeAmount: positive(target.nativeAmount ?? ZERO) }))
  return withCarriedMemos(upgradeMemos({ ...request, spendTargets }, info.memoOptions), info)
}

/** Checks that the chain carries what the memos say; empty ones say nothing. @throws MEMO_INVALID */
const withCarriedMemos = (
  spend: SpendInfo,
  { currencyCode, memoOptions, maxMemos }: CurrencyInfo
): SpendInfo => {
  const memos = (spend.memos ?? []).filter(({ value }) => value !== '')
  const refuse = (rule: string): WalletError => new WalletError('MEMO_INVALID', { rule })
  const kinds = memoOptions?.map(({ type }) => type) ?? []
  const other = kinds.length === 0 ? undefined : memos.find(({ type }) => !kinds.includes(type))
  if (other !== undefined)
    throw refuse(
      `is of the kind ${other.type}, but ${currencyCode} carries ${[...new Set(kinds)].join(' or ')}`
    )
  if (maxMemos !== undefined && memos.length > maxMemos)
    throw refuse(maxMemos === 0 ? `cannot be sent with ${currencyCode}` : `is one of more than ${maxMemos}`)
  return spend
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
  ...compact({ memo: target.memo, uniqueIdentifier: target.memo })
})

/**
 * Brings the memos of a spend into one form before an engine sees them (pure).
 *
 * Memos given the old way, on the targets, become `memos`; a leading 0x of hex memos goes. If exactly one memo is
 * left and it is of the currency's memo type, it is copied to the first target for engines of the old kind.
 *
 * @throws MEMO_INVALID for a memo that is not of its own kind, or longer than the currency takes
 * @see specification §5 "Memos"; vectors `memo-upgrade`
 */
export const upgradeMemos = (spend: SpendInfo, options: readonly MemoOption[] = []): SpendInfo => {
  const memoType = options[0]?.type
  const given = spend.memos ?? []
  const memos = (given.length > 0 ? given : memosOfTargets(spend.spendTargets, memoType)).map(cleanMemo)
  for (const memo of memos) checkMemo(memo, options)
  const targets = spend.spendTargets.map(withoutMemo)
  const [only] = memos
  const [first, ...others] = targets
  if (memos.length !== 1 || only === undefined || only.type !== memoType || first === undefined) {
    return { ...spend, spendTargets: targets, memos }
  }
  return { ...spend, spendTargets: [withMemo(first, only.value), ...others], memos }
}

const memosOfTargets = (targets: readonly SpendTarget[], memoType: Memo['type'] | undefined): Memo[] => {
  if (memoType === undefined) return []
  return targets.flatMap(target => {
    const fromParams = target.otherParams?.uniqueIdentifier
    const value =
      target.memo ?? target.uniqueIdentifier ?? (typeof fromParams === 'string' ? fromParams : undefined)
    return value === undefined ? [] : [{ type: memoType, value }]
  })
}

const cleanMemo = (memo: Memo): Memo =>
  memo.type === 'hex' ? { ...memo, value: memo.value.replace(/^0x/i, '') } : memo

const checkMemo = ({ type, value }: Memo, options: readonly MemoOption[]): void => {
  const refuse = (rule: string): never => {
    throw new WalletError('MEMO_INVALID', { rule })
  }
  if (type === 'hex' && !/^(?:[0-9a-fA-F]{2})*$/.test(value)) refuse('must be hex, two digits a byte')
  if (type === 'number' && !/^\d{1,100}$/.test(value)) refuse('must be a number')
  if (!['hex', 'number', 'text'].includes(type)) refuse('must be hex, number or text')
  const option = options.find(candidate => candidate.type === type)
  const length = type === 'hex' ? value.length / 2 : value.length
  if (option?.maxLength !== undefined && length > option.maxLength) {
    refuse(`is longer than ${option.maxLength}`)
  }
  if (option?.minLength !== undefined && value !== '' && length < option.minLength) {
    refuse(`is shorter than ${option.minLength}`)
  }
  if (type === 'number' && option?.maxValue !== undefined && BigInt(value) > BigInt(option.maxValue)) {
    refuse(`is above ${option.maxValue}`)
  }
}

const withoutMemo = ({ memo: _memo, uniqueIdentifier: _identifier, ...rest }: SpendTarget): SpendTarget =>
  rest

// Engines of the deployed system look for the misspelt key; the vectors pin it.
const withMemo = (target: SpendTarget, value: string): SpendTarget => ({
  ...target,
  memo: value,
  uniqueIdentifier: value,
  otherParams: { ...target.otherParams, uniqueIdenfitifer: value }
})

/**
 * Finds the largest amount for which `canSpend` says yes, by halving (pure but for `canSpend`).
 *
 * Searches from 0 to the balance; stops when the range is one unit. For engines without a maximum of their own.
 *
 * @see specification §9; the probes are those of protocol §6.3
 */
export const searchMaxSpendable = async (
  balance: NativeAmount,
  canSpend: (amount: NativeAmount) => Promise<boolean>
): Promise<NativeAmount> => {
  let low = 0n
  let high = BigInt(balance) + 1n
  while (high - low > 1n) {
    const middle = low + (high - low) / 2n
    if (await canSpend(nativeAmount(middle.toString()))) low = middle
    else high = middle
  }
  return nativeAmount(low.toString())
}
