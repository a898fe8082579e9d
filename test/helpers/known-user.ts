import type { ExecutionContext } from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { deviceFilesOf } from '../../fake-server/users/device-files.ts'
import { loadFakeUser } from '../../fake-server/users/load-user.ts'
import { base58Of } from '../../kernel/crypto/encoding.ts'
import type { Account, Kernel } from '../../kernel/index.ts'
import { accountRepoTypeOf, makeWalletInfo } from '../../kernel/keys/wallet-info.ts'
import type { WalletInfo } from '../../kernel/types/keys.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { type DeviceOptions, openDevice } from './device.ts'
import type { Untyped } from './login-device.ts'
import { makeUserRecord, nameOf, putFiles, readFile } from './user-record.ts'

const io = makeNodeIo()
const { fromBase64 } = io.crypto

/** What a user has before the first device of a test opens. */
export interface KnownUserOptions {
  /** Besides the repo of the account. Anything may stand here: it is what a key box holds. */
  readonly infos?: readonly unknown[]
  /** The JSON files of the account's repo. */
  readonly files?: Readonly<Record<string, unknown>>
}

/** A device on which the user is logged in. */
export interface UserDevice {
  readonly kernel: Kernel
  readonly account: Account
  /** What was reported there. */
  readonly errors: unknown[]
}

/** A user whose keys a test knows, and who logs in without a password. */
export interface KnownUser {
  readonly world: FakeWorld
  /** The keys of the account's repo. */
  readonly repo: WalletInfo
  /** Logs in on a device that has the user's stash and nothing else, unless it has been used before. */
  logIn(options?: DeviceOptions & { readonly disk?: Map<string, string> }): Promise<UserDevice>
  /** Writes JSON files as another client does; null deletes. */
  put(info: WalletInfo, files: Readonly<Record<string, unknown>>): void
  /** The JSON of a file on the server. */
  read(info: WalletInfo, path: string): Untyped
  /** Where the account keeps what it remembers of a wallet. */
  statesPath(walletId: string): string
}

/** Makes a user on the servers of a world of its own. */
export const makeKnownUser = (t: ExecutionContext, options: KnownUserOptions = {}): KnownUser => {
  const world = makeFakeWorld({ io })
  const repo = makeWalletInfo(io, accountRepoTypeOf(''))
  const { user, loginId, loginKey } = makeUserRecord([repo, ...(options.infos ?? [])])
  loadFakeUser({ db: world.server.db, crypto: io.crypto, clock: world.clock }, user)
  const stashes = [...deviceFilesOf({ io, clock: world.clock }, [user])].filter(([path]) =>
    path.startsWith('logins/')
  )
  const known: KnownUser = {
    world,
    repo,
    async logIn({ disk = new Map(), ...device } = {}) {
      if (disk.size === 0) for (const [path, text] of stashes) disk.set(path, text)
      const errors: unknown[] = []
      const kernel = await openDevice(world, {
        storage: memoryStorage(disk),
        onError: (_source: string, error: unknown) => void errors.push(error),
        ...device
      } as DeviceOptions)
      t.teardown(() => kernel.close())
      const name = { loginId: base58Of(fromBase64(loginId)) }
      return { kernel, account: await kernel.context.loginWithKey(name, base58Of(loginKey)), errors }
    },
    put: (info, files) => putFiles(world.server.db, info, files),
    read: (info, path) => readFile(world.server.db, info, path),
    statesPath: walletId => `Keys/${nameOf(repo, walletId)}.json`
  }
  if (options.files !== undefined) known.put(repo, options.files)
  return known
}
