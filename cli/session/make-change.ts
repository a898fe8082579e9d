import { compact } from '../../kernel/base/compact.ts'
import type { Account, AccountSnapshot, CurrencyWallet, JsonObject } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import type { CommandResult } from '../output/view.ts'
import type { Session } from './session.ts'

/** A change of an account that one call makes. */
export interface AccountChange {
  /** The progress text: `Changing the password`. */
  readonly doing: string
  /** The sentence after the change. */
  readonly done: string
  /** The result as JSON. */
  readonly data: JsonObject
  /** Suggested next steps, one line each. */
  readonly advice?: readonly string[]
  call(): Promise<unknown>
}

/** Makes a change, except with `--dry-run`, and returns its result. */
export const makeChange = async (session: Session, change: AccountChange): Promise<CommandResult> => {
  const { doing, done, data, advice } = change
  if (session.globals.dryRun) {
    return {
      data: { ...data, dryRun: true },
      view: { kind: 'text', lines: [`Nothing was changed; without --dry-run: ${done}`] }
    }
  }
  await session.withProgress(doing, () => change.call())
  return { data, view: { kind: 'text', lines: [done] }, ...compact({ advice }) }
}

/** Makes a change as {@link makeChange}, then uploads it: that of a wallet, or of the account. */
export const makeUploadedChange = async (
  session: Session,
  change: AccountChange,
  wallet?: CurrencyWallet
): Promise<CommandResult> => {
  const result = await makeChange(session, change)
  return session.globals.dryRun ? result : { ...result, warnings: await upload(session, wallet) }
}

/** Returns an account's name for display. */
export const nameOf = ({
  username,
  id
}: {
  readonly username?: string | undefined
  readonly id: string
}): string => username ?? id

/** Returns a warning before the only login method of an account is removed; '' if there is another. */
export const lastMethodText = (
  account: Account,
  way: NonNullable<AccountSnapshot['loginMethods']>[number]
): string => {
  const { loginMethods = [way] } = account.getSnapshot()
  return loginMethods.every(method => method === way)
    ? `Then only its login key opens ${nameOf(account)} (holdfast account key --reveal). `
    : ''
}

/** Uploads the changes of the account or of one wallet; a failure is a warning, since they are stored here. */
export const upload = async (session: Session, wallet?: CurrencyWallet): Promise<readonly string[]> => {
  if (session.globals.offline) return []
  const target = wallet ?? (await session.account())
  try {
    await session.withProgress('Syncing', () => target.sync())
    return []
  } catch (error) {
    if (session.signal.aborted) throw error
    return [`it is saved on this device, but not on the server yet: ${failureOf(error).message}`]
  }
}

/** An account as the server has it now, or with a warning as this device knew it. */
export interface RefreshedAccount {
  readonly account: Account
  readonly warnings: readonly string[]
}

/** Logs in and syncs the account: a login by password needs no server. */
export const refreshedAccount = async (session: Session): Promise<RefreshedAccount> => {
  const account = await session.account()
  if (session.globals.offline) return { account, warnings: [] }
  try {
    await session.withProgress('Checking for changes', () => account.sync())
    return { account, warnings: [] }
  } catch (error) {
    if (session.signal.aborted) throw error
    return {
      account,
      warnings: [`these are the last values that this device knew: ${failureOf(error).message}`]
    }
  }
}
