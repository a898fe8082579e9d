import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Secret } from '../base/secret.ts'
import { makeYielder } from '../base/yielder.ts'
import { sealJson } from '../crypto/box.ts'
import { utf8Of } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import { type AccountRules, requestKeys } from '../keys/key-gate.ts'
import type { Login } from '../login/login.ts'
import { stashTextOf, withoutDevice } from '../login/stash.ts'
import { listTrees } from '../login/tree.ts'
import type { Services } from '../plugins/services.ts'
import type { StoreContents } from '../repo/store/sealed-store.ts'
import { boxText, PREFIX } from '../sync/repo-record.ts'
import type { SecretWalletInfo } from '../types/keys.ts'
import type { LoginStash, LoginTree } from '../types/login.ts'
import type { OpenRepos } from './repos.ts'

/** An open account, and the test whether it is still logged in. */
export interface AccountLocationOptions {
  readonly services: Services
  readonly login: Login
  readonly repos: OpenRepos
  readonly rules: AccountRules
  /** @throws LOGGED_OUT */
  check(): void
}

/**
 * Where an account is kept: on this device only, or on a login server too. Its backups, and its move to a server.
 *
 * @example
 * ```ts
 * const backup = await account.location.makeBackup()
 * if (account.location.isDeviceOnly) await account.location.moveToServer()
 * ```
 */
export class AccountLocation {
  readonly #options: AccountLocationOptions

  constructor(options: AccountLocationOptions) {
    this.#options = options
  }

  /** True if no login server knows the account: it is lost with this device unless there is a backup. */
  get isDeviceOnly(): boolean {
    return this.#options.login.isDeviceOnly
  }

  /**
   * Makes a backup: one text with everything that this device has of the account, its keys, files and unfinished payments. The
   * account's present password opens it, at the cost of a login by password; nothing else does.
   *
   * @throws BACKUP_WITHOUT_PASSWORD, LOGGED_OUT, KEY_INTEGRITY, STORAGE_FAILED; the objection of a policy
   * @throws BACKUP_INVALID if it would be too large to be restored
   *
   * @example
   * ```ts
   * const backup = await account.location.makeBackup()
   * console.log(backup.length)
   * ```
   */
  async makeBackup(): Promise<string> {
    const { services, rules, check } = this.#options
    check()
    await requestKeys(services, rules, { use: 'backup' })
    check()
    const backup = await makeBackup(this.#options)
    check()
    return backup
  }

  /**
   * Makes an account of this device on the login server, with the same keys and password, and uploads all its files; other devices
   * can log in to it then.
   *
   * Until everything is there it stays an account of this device, so that a call which failed can be repeated. One that
   * is on a server already is synced. If the username is taken, change it first with {@link Credentials.changeUsername}.
   *
   * @throws ACCOUNT_EXISTS if another account of the server has the username
   * @throws APP_ID_NOT_FOUND without the root's key; LOGGED_OUT, NETWORK, SYNC_FAILED, STORAGE_FAILED, …
   *
   * @example
   * ```ts
   * await account.location.moveToServer()
   * console.log(account.location.isDeviceOnly) // false
   * ```
   */
  async moveToServer(): Promise<void> {
    const { login, repos, check } = this.#options
    check()
    await login.moveToServer(held =>
      repos.forEach(walletInfosIn(held), async repo => {
        repo.keepHere(false)
        try {
          await repos.syncLoop.syncNow(repo)
        } finally {
          if (login.isDeviceOnly) repo.keepHere(true)
        }
      })
    )
    check()
  }
}

/** The first line of a backup; the only one that is not sealed. */
export const BACKUP_TYPE = 'holdfast account backup'
/** The newest form of a backup. */
export const BACKUP_VERSION = 1
/** The most characters of a backup. */
export const MAX_BACKUP: number = 256 * 1024 * 1024

/** The wallets and repos of a login and of all below it. */
export const walletInfosIn = (held: LoginTree): readonly SecretWalletInfo[] =>
  listTrees(held).flatMap(({ walletInfos }) => walletInfos)

/**
 * The key of the boxes of a backup: one of its own, so that a server which is given one of them cannot put it in the place of a
 * box of the login.
 */
export const backupKeyOf = ({ crypto }: Pick<Io, 'crypto'>, loginKey: Secret<Uint8Array>): Uint8Array =>
  loginKey.use(key => crypto.hmacSha256(key, utf8Of(BACKUP_TYPE)))

/** A line of the header, then one box a line, each with its place among them; the last one says that it is the last. */
const makeBackup = async ({ services, login, repos }: AccountLocationOptions): Promise<string> => {
  const { io } = services
  const { held, stash } = login.openState
  const { username, passwordBox, passwordKeySnrp, deviceOnly } = stash
  if (
    login.isEdgeLogin ||
    username === undefined ||
    passwordBox === undefined ||
    passwordKeySnrp === undefined
  )
    throw new WalletError('BACKUP_WITHOUT_PASSWORD', {})
  const header = { type: BACKUP_TYPE, version: BACKUP_VERSION, username, passwordKeySnrp, passwordBox }
  const lines = [JSON.stringify(header)]
  const breathe = makeYielder(io.clock)
  const key = backupKeyOf(io, held.loginKey)
  const backupId = io.crypto.toHex(io.random(16))
  let length = 0
  const add = async (fields: JsonObject): Promise<void> => {
    const line = boxText(sealJson(io, key, { backupId, part: lines.length, ...fields }))
    length += line.length + 1
    if (length > MAX_BACKUP) throw new WalletError('BACKUP_INVALID', { rule: 'is too large' })
    lines.push(line)
    await breathe()
  }
  try {
    // A server that was asked to make the account may know it when the backup is restored, or not.
    const kept = {
      ...withoutPin(withoutDevice(stash)),
      ...compact({ deviceOnly: deviceOnly && ('yes' as const) })
    }
    await add({ stash: stashTextOf(kept) })
    await repos.forEach(walletInfosIn(held), async repo => {
      for (const entries of partsOf(await repo.contents())) await add({ repoId: repo.id, entries })
    })
    await add({ isLast: true })
  } finally {
    key.fill(0)
  }
  return `${lines.join('\n')}\n`
}

/** The key of login by PIN stands in a stash without encryption. The server gives it to a device that has logged in. */
const withoutPin = ({ pin2Key: _, children, ...stash }: LoginStash): LoginStash =>
  children === undefined ? stash : { ...stash, children: children.map(withoutPin) }

/** A text, or a row of a table with its two numbers. */
type Entry = [key: string, text: string] | [key: string, text: string, order: number, mark: number]

/**
 * True for an entry that belongs to one device, and neither leaves it nor is taken over: what the rules of the account remember there, such
 * as the key that approves payments, the time and the payees that were seen. To the rules a restore is a new device.
 */
export const isOfDevice = (key: string): boolean => key.startsWith(`${PREFIX.local}policy/`)

function* partsOf(contents: StoreContents): Generator<Entry[]> {
  let part: Entry[] = []
  let length = 0
  for (const [key, change] of contents) {
    if (isOfDevice(key)) continue
    const entry: Entry =
      typeof change === 'string' ? [key, change] : [key, change.text, change.order ?? 0, change.mark ?? 0]
    part.push(entry)
    length += key.length + entry[1].length
    if (length < PART_LENGTH) continue
    yield part
    part = []
    length = 0
  }
  yield part
}

/** About so many characters go into one box. */
const PART_LENGTH = 500_000
