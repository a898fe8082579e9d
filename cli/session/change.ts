import type { Account, AccountSnapshot, CurrencyWallet, JsonObject } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import type { CommandResult } from '../output/view.ts'
import type { Session } from './session.ts'

/** A change of an account that one call makes. */
export interface Change {
  /** What is being done: `Changing the password`. */
  readonly doing: string
  /** The sentence when it is done. */
  readonly done: string
  /** The facts for scripts. */
  readonly data: JsonObject
  /** What to do next, one line each. */
  readonly advice?: readonly string[]
  call(): Promise<unknown>
}

/** Makes a change, unless `--dry-run` asked for everything but that, and tells what was done. */
export const makeChange = async (session: Session, change: Change): Promise<CommandResult> => {
  const { doing, done, data, advice } = change
  if (session.globals.dryRun) {
    return {
      data: { ...data, dryRun: true },
      view: { kind: 'text', lines: [`Nothing was changed; without --dry-run: ${done}`] }
    }
  }
  await session.withProgress(doing, () => change.call())
  return { data, view: { kind: 'text', lines: [done] }, ...(advice === undefined ? {} : { advice }) }
}

/** An account's name for people. */
export const nameOf = ({
  username,
  id
}: {
  readonly username?: string | undefined
  readonly id: string
}): string => username ?? id

/** What a person reads before the only way into an account is taken away; empty while there is another. */
export const lastMethodText = (
  account: Account,
  way: NonNullable<AccountSnapshot['loginMethods']>[number]
): string => {
  const { loginMethods = [way] } = account.getSnapshot()
  return loginMethods.every(method => method === way)
    ? `Nothing but its login key opens ${nameOf(account)} then (holdfast account key --reveal). `
    : ''
}

/** Brings what was written to the account, or to one wallet, to the server; what is only here for now is a warning. */
export const upload = async (session: Session, wallet?: CurrencyWallet): Promise<readonly string[]> => {
  if (session.globals.offline) return []
  const target = wallet ?? (await session.account())
  try {
    await session.withProgress('Syncing', () => target.sync())
    return []
  } catch (error) {
    if (session.signal.aborted) throw error
    return [`it is safe here, but not on the server yet: ${failureOf(error).message}`]
  }
}

/** An account as the server has it now, or, with a warning, as this device knew it. */
export interface RefreshedAccount {
  readonly account: Account
  readonly warnings: readonly string[]
}

/** Logs in and asks the server for news: a password opens the account without it. */
export const refreshedAccount = async (session: Session): Promise<RefreshedAccount> => {
  const account = await session.account()
  if (session.globals.offline) return { account, warnings: [] }
  try {
    await session.withProgress('Looking for news', () => account.sync())
    return { account, warnings: [] }
  } catch (error) {
    if (session.signal.aborted) throw error
    return { account, warnings: [`this is what this device knew: ${failureOf(error).message}`] }
  }
}
