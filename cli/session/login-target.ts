import type { Context, LocalUser, UserName } from '../../kernel/index.ts'
import type { GlobalOptions } from '../grammar/global-options.ts'
import type { ProfilePaths } from '../profile/paths.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Talk } from '../talk.ts'

/** What a login needs of the session it is part of. */
export interface LoginParts {
  readonly globals: GlobalOptions
  readonly paths: ProfilePaths
  readonly secrets: Secrets
  readonly talk: Talk
  text(flag: string): string | undefined
  within<T>(what: string, call: () => Promise<T>): Promise<T>
}

/** Who is to log in, as far as this device knows them. */
export interface LoginTarget {
  readonly user: UserName
  readonly local: LocalUser | undefined
  /** For people. */
  readonly name: string
}

/** Finds the user on this device; one that it does not know can still log in by name. */
export const targetOf = (context: Context, user: UserName, name: string | undefined): LoginTarget => {
  const local = context.localUsers.find(known =>
    'loginId' in user
      ? known.loginId === user.loginId
      : known.loginId === user.username || known.username === user.username.trim().toLowerCase()
  )
  if (local === undefined) return { user, local, name: name ?? 'the account' }
  return { user: { loginId: local.loginId }, local, name: local.username ?? name ?? local.loginId }
}

/** The name that the server knows a user by. */
export const usernameOf = ({ user, local, name }: LoginTarget): string =>
  local?.username ?? ('username' in user ? user.username : name)
