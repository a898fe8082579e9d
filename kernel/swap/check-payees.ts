import { isWalletError, WalletError } from '../base/errors.ts'
import type { ParsedUri } from '../types/engine.ts'
import type { SpendInfo, SpendTarget } from '../types/transaction.ts'
import type { SwapWallet } from './swap-wallet.ts'

/** What payees are held against. */
export interface PayeesPlace {
  /** The swap plugin. */
  readonly pluginId: string
  readonly fromWallet: SwapWallet
  /** What {@link QuoteDesk.depositTo} gives, if the receiving wallet is on the same chain: it may be paid. */
  readonly deposit: string | undefined
  /** Which of some addresses are in wallets of the user. */
  findOwn(addresses: ReadonlySet<string>): Promise<OwnAddresses>
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
  place: PayeesPlace,
  spends: readonly SpendInfo[]
): Promise<CheckedPayees> => {
  const read = await Promise.all(
    spends.map(async spend => ({
      ...spend,
      spendTargets: await Promise.all(spend.spendTargets.map(target => readTarget(place, target)))
    }))
  )
  const payees = new Set(
    read.flatMap(({ spendTargets }) => spendTargets.map(({ publicAddress }) => publicAddress))
  )
  const { deposit } = place
  if (deposit !== undefined) payees.delete((await readAddress(place, deposit)).publicAddress)
  const { own, isComplete } =
    payees.size === 0 ? { own: payees, isComplete: true } : await place.findOwn(payees)
  if (own.size > 0) throw refuse(place, 'pays an address of your own')
  return { spends: read, isComplete }
}

const readTarget = async (
  place: PayeesPlace,
  target: SpendTarget
): Promise<SpendTarget & { readonly publicAddress: string }> => {
  const { publicAddress, nativeAmount } = await readAddress(place, target.publicAddress ?? '')
  if (nativeAmount !== undefined) throw refuse(place, 'pays a link and no address')
  return { ...target, publicAddress }
}

const readAddress = async (
  place: PayeesPlace,
  address: string
): Promise<ParsedUri & { readonly publicAddress: string }> => {
  const { currencyInfo } = place.fromWallet
  const rule = `pays an address that is none of ${currencyInfo.displayName}, or of another network`
  try {
    const parsed = await place.fromWallet.parseUri(address)
    const { publicAddress } = parsed
    if (publicAddress === undefined || publicAddress === '') throw refuse(place, rule)
    return { ...parsed, publicAddress }
  } catch (error) {
    if (isWalletError(error, 'ADDRESS_INVALID')) throw refuse(place, rule, error)
    throw error
  }
}

const refuse = ({ pluginId }: PayeesPlace, rule: string, cause?: unknown): WalletError =>
  new WalletError('SWAP_CHANGED', { pluginId, rule }, cause)
