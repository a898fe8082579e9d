import { WalletError } from '../../base/errors.ts'
import type { LoginStash } from '../../types/login.ts'
import { normalizeUsername } from '../derive.ts'
import type { Stashes } from './stash.ts'

/** A user of this device: by username as typed, or by base58 login id for accounts without a name. */
export type UserName =
  | { readonly username: string; readonly loginId?: undefined }
  | { readonly loginId: string; readonly username?: undefined }

/** The stash of a user. @throws USER_NOT_ON_DEVICE, BAD_USERNAME */
export const findUser = (stashes: Stashes, { username, loginId }: UserName): LoginStash => {
  const stash =
    username === undefined
      ? stashes.find({ loginId })
      : stashes.find({ username: normalizeUsername(username) })
  if (stash === undefined) throw new WalletError('USER_NOT_ON_DEVICE', {})
  return stash
}
