import type { Account, AccountSnapshot, JsonObject } from '../../kernel/index.ts'
import type { CommandResult } from '../command-result.ts'
import type { Session } from '../session.ts'

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
  await session.doing(doing, () => change.call())
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
export const lastWayText = (
  account: Account,
  way: NonNullable<AccountSnapshot['loginMethods']>[number]
): string => {
  const { loginMethods = [way] } = account.getSnapshot()
  return loginMethods.every(method => method === way)
    ? `Nothing but its login key opens ${nameOf(account)} then (holdfast account key --reveal). `
    : ''
}
