import { deviceFilesOf } from '../../fake-server/users/device-files.ts'
import { loadFakeUser } from '../../fake-server/users/load-user.ts'
import { base58Of } from '../../kernel/crypto/encoding.ts'
import { accountRepoTypeOf, makeWalletInfo } from '../../kernel/keys/wallet-info.ts'
import type { WalletInfo } from '../../kernel/types/keys.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import type { Untyped } from '../helpers/login-device.ts'
import { filePaths, makeUserRecord, putFiles, readFile } from '../helpers/user-record.ts'
import type { Device } from './device.ts'
import type { Pair } from './flow.ts'

const io = makeNodeIo()
const { fromBase64 } = io.crypto

/** A user who logs in here and there. */
export interface KnownLogin {
  /** Logs in on a new device, which then knows all; or in a folder where the user was before, as it is. */
  logIn(openDevice: Pair['openMaker'], folder?: string): Promise<Device>
  /** Syncs a device and logs in on it anew: it then knows what others did. */
  logInAgain(device: Device): Promise<void>
}

/** An account whose keys a test knows, so that nobody derives any from a password. */
export interface KnownAccount extends KnownLogin {
  /** The keys of the account's repo. */
  readonly repo: WalletInfo
  /** Writes files as another client does. */
  put(info: WalletInfo, files: Readonly<Record<string, unknown>>): void
  /** The JSON of a file on the server. */
  read(info: WalletInfo, path: string): Untyped
  /** The paths of the files on the server. */
  paths(info: WalletInfo): string[]
}

/** Makes an account without wallets, or with those whose keys are given. */
export const makeKnownAccount = (
  pair: Pick<Pair, 'world'>,
  infos: readonly WalletInfo[] = []
): KnownAccount => {
  const repo = makeWalletInfo(io, accountRepoTypeOf(''))
  const { user, loginId, loginKey } = makeUserRecord([repo, ...infos])
  const name = { loginId: base58Of(fromBase64(loginId)) }
  const enter = (device: Device): Promise<void> => device.loginWithKey(name, base58Of(loginKey))
  const { db } = pair.world.fake.server
  return {
    ...loadKnownUser(pair, user, enter),
    repo,
    put: (info, files) => putFiles(db, info, files),
    read: (info, path) => readFile(db, info, path),
    paths: info => filePaths(db, info)
  }
}

/** Moves a user in the deployed format into the world. `enter` logs in on a device that has the user's stash. */
export const loadKnownUser = (
  { world }: Pick<Pair, 'world'>,
  user: unknown,
  enter: (device: Device) => Promise<void>
): KnownLogin => {
  const { server, clock } = world.fake
  loadFakeUser({ db: server.db, crypto: io.crypto, clock }, user)
  const stash = [...deviceFilesOf({ io, clock }, [user])].filter(([path]) => path.startsWith('logins/'))
  return {
    async logIn(openDevice, folder) {
      const device = await openDevice({ folder: folder ?? (await world.folderOf(stash)) })
      await enter(device)
      // With a login key, Holdfast does not wait for the server.
      if (folder === undefined) await device.sync()
      return device
    },
    async logInAgain(device) {
      await device.sync()
      await device.logout()
      await enter(device)
    }
  }
}
