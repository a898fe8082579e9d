import { deviceFilesOf } from '../../fake-server/users/device-files.ts'
import { loadFakeUser } from '../../fake-server/users/load-user.ts'
import { base58Of } from '../../kernel/crypto/encoding.ts'
import { accountRepoTypeOf, makeWalletInfo } from '../../kernel/keys/wallet-info.ts'
import type { WalletInfo } from '../../kernel/types/keys.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import type { Untyped } from '../helpers/login-device.ts'
import { makeUserRecord, putFiles, readFile } from '../helpers/user-record.ts'
import type { Device } from './device.ts'
import type { Pair } from './flow.ts'

const io = makeNodeIo()
const { fromBase64 } = io.crypto

/** An account whose keys a test knows, so that nobody derives any from a password. */
export interface KnownAccount {
  /** The keys of the account's repo. */
  readonly repo: WalletInfo
  /** Logs in on a new device, or in a folder where the account was before. */
  logIn(openDevice: Pair['openMaker'], folder?: string): Promise<Device>
  /** Syncs a device and logs in on it anew: it then knows what others did. */
  logInAgain(device: Device): Promise<void>
  /** Writes files as another client does. */
  put(info: WalletInfo, files: Readonly<Record<string, unknown>>): void
  /** The JSON of a file on the server. */
  read(info: WalletInfo, path: string): Untyped
}

/** Makes an account without wallets, or with those whose keys are given. */
export const makeKnownAccount = (
  { world }: Pick<Pair, 'world'>,
  infos: readonly WalletInfo[] = []
): KnownAccount => {
  const repo = makeWalletInfo(io, accountRepoTypeOf(''))
  const { user, loginId, loginKey } = makeUserRecord([repo, ...infos])
  const { server, clock } = world.fake
  loadFakeUser({ db: server.db, crypto: io.crypto, clock }, user)
  const stash = [...deviceFilesOf({ io, clock }, [user])].filter(([path]) => path.startsWith('logins/'))
  const enter = (device: Device): Promise<void> =>
    device.loginWithKey({ loginId: base58Of(fromBase64(loginId)) }, base58Of(loginKey))
  return {
    repo,
    async logIn(openDevice, folder) {
      const device = await openDevice({ folder: folder ?? (await world.folderOf(stash)) })
      await enter(device)
      // With a login key, Holdfast does not wait for the server.
      await device.sync()
      return device
    },
    async logInAgain(device) {
      await device.sync()
      await device.logout()
      await enter(device)
    },
    put: (info, files) => putFiles(server.db, info, files),
    read: (info, path) => readFile(server.db, info, path)
  }
}
