import type { CurrencyWallet } from '../../kernel/index.ts'
import type { Session } from '../session.ts'
import { findWallets } from './find-wallet.ts'

/** What a sync is about. */
export interface SyncTargets {
  readonly wallets: readonly CurrencyWallet[]
  /** Whether the account's own files are meant, as by its name or by no name at all. */
  readonly hasAccount: boolean
}

/** Reads names of wallets and the word `account`; none means everything. @throws as `findWallets` */
export const syncTargetsOf = async (
  session: Session,
  texts: readonly (string | undefined)[]
): Promise<SyncTargets> => {
  const named = texts.filter(text => text !== undefined)
  const names = named.filter(text => text !== ACCOUNT)
  const hasAccount = named.length === 0 || names.length < named.length
  return {
    hasAccount,
    wallets: named.length > 0 && names.length === 0 ? [] : await findWallets(session, names)
  }
}

/** A wallet of this name is found by its id. */
const ACCOUNT = 'account'
