import { compare, type NativeAmount, nativeAmount } from '../base/amount.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { ParsedUri } from '../types/engine.ts'
import type { PluginId } from '../types/ids.ts'
import type { SpendInfo, SpendTarget } from '../types/transaction.ts'
import type { SwapWallet } from './request.ts'

/** The wallets and addresses that payees are checked against. */
export interface PayeeCheck {
  /** The swap plugin. */
  readonly pluginId: PluginId
  readonly fromWallet: SwapWallet
  /** The address that {@link QuoteContext.depositTo} gives, if the receiving wallet is on the same chain: it may be paid. */
  readonly deposit: string | undefined
  /** Which of some addresses of a currency are in wallets of the user. */
  readonly findOwn: (currencyPluginId: PluginId, addresses: ReadonlySet<string>) => Promise<OwnAddresses>
}

/** Which of some addresses belong to the user. */
export interface OwnAddresses {
  readonly own: ReadonlySet<string>
  /** Addresses were derived from the public keys of every wallet; else only those that were seen were compared. */
  readonly isComplete: boolean
}

/** Spends with their addresses in one form. `isComplete`: as of {@link OwnAddresses}. */
export interface CheckedPayees {
  readonly spends: readonly SpendInfo[]
  readonly isComplete: boolean
}

/**
 * Checks whom a provider wants to be paid, and writes each address in the currency's one form: an address of the paying
 * chain and network, and none of the user's own (architecture decision 25).
 *
 * @throws SWAP_CHANGED
 */
export const checkPayees = async (
  check: PayeeCheck,
  spends: readonly SpendInfo[]
): Promise<CheckedPayees> => {
  const read = await Promise.all(
    spends.map(async spend => ({
      ...spend,
      spendTargets: await Promise.all(spend.spendTargets.map(target => readTarget(check, target)))
    }))
  )
  const payees = new Set(
    read.flatMap(({ spendTargets }) => spendTargets.map(({ publicAddress }) => publicAddress))
  )
  const { deposit, fromWallet } = check
  if (deposit !== undefined) payees.delete((await readAddress(check, deposit)).publicAddress)
  const { own, isComplete } =
    payees.size === 0
      ? { own: payees, isComplete: true }
      : await check.findOwn(fromWallet.currencyInfo.pluginId, payees)
  if (own.size > 0) throw refuse(check, 'pays an address of your own')
  return { spends: read, isComplete }
}

const readTarget = async (
  check: PayeeCheck,
  target: SpendTarget
): Promise<SpendTarget & { readonly publicAddress: string }> => {
  const { publicAddress, nativeAmount } = await readAddress(check, target.publicAddress ?? '')
  if (nativeAmount !== undefined) throw refuse(check, 'pays a link and no address')
  return { ...target, publicAddress }
}

const readAddress = async (
  check: PayeeCheck,
  address: string
): Promise<ParsedUri & { readonly publicAddress: string }> => {
  const { currencyInfo } = check.fromWallet
  const rule = `pays an address that is none of ${currencyInfo.displayName}, or of another network`
  try {
    const parsed = await check.fromWallet.parseUri(address)
    const { publicAddress } = parsed
    if (publicAddress === undefined || publicAddress === '') throw refuse(check, rule)
    return { ...parsed, publicAddress }
  } catch (error) {
    if (isWalletError(error, 'ADDRESS_INVALID')) throw refuse(check, rule, error)
    throw error
  }
}

const refuse = ({ pluginId }: PayeeCheck, rule: string, cause?: unknown): WalletError =>
  new WalletError('SWAP_CHANGED', { pluginId, rule }, cause)

/** The amount of a token that an approval lets a spender take. */
export interface Allowance {
  /** Hex with 0x. */
  readonly spender: string
  readonly nativeAmount: NativeAmount
}

/** The order that allowances are checked against. */
export interface AllowanceRule {
  /** The swap plugin. */
  readonly pluginId: PluginId
  /** The cost of the swap: no allowance may be larger. */
  readonly fromNativeAmount: NativeAmount
}

/**
 * Reads what the approvals of an order call on the chain (ERC-20 `approve` and `increaseAllowance`): each may let only
 * the payee of the swap take only what the swap costs. The payment itself gives no allowance.
 *
 * @param spends - the approvals, then the payment
 * @throws SWAP_CHANGED for another spender, a larger or unlimited amount, or any other call
 */
export const readAllowances = (
  { pluginId, fromNativeAmount }: AllowanceRule,
  spends: readonly SpendInfo[]
): readonly Allowance[] => {
  const refuse = (rule: string): WalletError => new WalletError('SWAP_CHANGED', { pluginId, rule })
  const payment = spends.at(-1)
  if (payment !== undefined && callsOf(payment).some(call => ALLOWING.has(call.slice(0, SELECTOR))))
    throw refuse('gives an allowance with the payment')
  const payees = new Set(payment?.spendTargets.map(({ publicAddress = '' }) => publicAddress.toLowerCase()))
  return spends
    .slice(0, -1)
    .flatMap(callsOf)
    .map(call => {
      const allowance = allowanceOf(call)
      if (allowance === undefined) throw refuse('calls something else than an allowance in an approval')
      if (!payees.has(allowance.spender)) throw refuse(`allows ${allowance.spender} to take your tokens`)
      if (compare(allowance.nativeAmount, fromNativeAmount) > 0)
        throw refuse(
          allowance.nativeAmount.length > UNLIMITED
            ? 'asks for an unlimited allowance'
            : `asks for an allowance of ${allowance.nativeAmount} native units instead of ${fromNativeAmount}`
        )
      return Object.freeze(allowance)
    })
}

/** `approve(address,uint256)` and `increaseAllowance(address,uint256)`. */
const ALLOWANCES: ReadonlySet<string> = new Set(['095ea7b3', '39509351'])
/** These, and `setApprovalForAll(address,bool)`. */
const ALLOWING: ReadonlySet<string> = new Set([...ALLOWANCES, 'a22cb465'])
const SELECTOR = 8
const CALL = /^[0-9a-f]{8}0{24}([0-9a-f]{40})([0-9a-f]{64})$/
/** Digits: no token has so many units. */
const UNLIMITED = 50

const allowanceOf = (call: string): Allowance | undefined => {
  const [, spender, amount] = CALL.exec(call) ?? []
  if (spender === undefined || amount === undefined || !ALLOWANCES.has(call.slice(0, SELECTOR)))
    return undefined
  return { spender: `0x${spender}`, nativeAmount: nativeAmount(String(BigInt(`0x${amount}`))) }
}

/**
 * Every text of a spend that can be the data of a call, without 0x: hex that is no address and no hash. Where neither 0x nor
 * a memo's type says that a text is hex, it is taken for a call if it has the form of one.
 */
const callsOf = ({ memos = [], otherParams, spendTargets }: SpendInfo): readonly string[] => [
  ...memos.flatMap(({ type, value }) => (type === 'hex' ? [withoutMark(value)] : callsIn(value))),
  ...[otherParams, ...spendTargets.map(target => target.otherParams)].flatMap(callsIn),
  // Memos as they were once given, which the wallet makes memos of.
  ...spendTargets.flatMap(({ memo, uniqueIdentifier }) => [memo, uniqueIdentifier].flatMap(callsIn))
]

const callsIn = (value: Json | undefined): readonly string[] => {
  if (typeof value === 'string') {
    if (!/^(0x)?[0-9a-f]+$/i.test(value)) return []
    const hex = withoutMark(value)
    const isMarked = hex.length < value.length
    const isCall = isMarked
      ? hex.length >= SELECTOR && hex.length !== 40 && hex.length !== 64
      : hex.length > SELECTOR && hex.length % WORD === SELECTOR
    return isCall ? [hex] : []
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(callsIn) : []
}

const withoutMark = (hex: string): string => hex.toLowerCase().replace(/^0x/, '')

/** Digits of one argument. */
const WORD = 64
