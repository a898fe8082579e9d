import type { FakeDb } from '../../fake-server/accounts/fake-db.ts'
import type { FakeUser } from '../../fake-server/users/fake-user.ts'
import { openText, sealBox, sealJson, sealText } from '../../kernel/crypto/box.ts'
import { fileHashOf } from '../../kernel/keys/ids.ts'
import type { WalletInfo } from '../../kernel/types/keys.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import type { Untyped } from './login-device.ts'

const io = makeNodeIo()
const { toBase64, fromBase64, toHex } = io.crypto

/** A user in the deployed format whose keys a test knows. */
export interface UserRecord {
  readonly user: FakeUser
  /** Base64. */
  readonly loginId: string
  readonly loginKey: Uint8Array
}

/** Makes a user without a username; whoever has the stash logs in by key. `infos`: what the key boxes hold. */
export const makeUserRecord = (infos: readonly unknown[]): UserRecord => {
  const loginKey = io.random(32)
  const loginAuth = io.random(32)
  const loginId = toBase64(io.random(32))
  const withRepo = (infos as readonly Untyped[]).filter(info =>
    /^[A-Za-z0-9+/]{27}=$/.test(info?.keys?.syncKey)
  )
  const user = {
    lastLogin: '2024-05-06T07:08:09.000Z',
    loginId,
    loginKey: toBase64(loginKey),
    repos: Object.fromEntries(withRepo.map(info => [repoKeyOf(info), {}])),
    server: {
      appId: '',
      created: '2024-05-06T07:08:09.000Z',
      loginId,
      loginAuth: toBase64(loginAuth),
      loginAuthBox: sealBox(io, loginKey, loginAuth),
      keyBoxes: (infos as readonly Untyped[]).map(info => sealJson(io, loginKey, info)),
      vouchers: [],
      children: []
    }
  } as unknown as FakeUser
  return { user, loginId, loginKey }
}

/** Writes files of a repo on the server as another client does: JSON, or a text as it is; null deletes. */
export const putFiles = (db: FakeDb, info: WalletInfo, files: Readonly<Record<string, unknown>>): void => {
  const boxes = Object.entries(files).map(([path, file]) => [
    path,
    file === null
      ? null
      : sealText(io, dataKeyOf(info), typeof file === 'string' ? file : JSON.stringify(file))
  ])
  db.commit(repoKeyOf(info), Object.fromEntries(boxes))
}

/** The paths of the files of a repo on the server. */
export const filePaths = (db: FakeDb, info: WalletInfo): string[] =>
  [...(db.repo(repoKeyOf(info))?.files ?? [])]
    .filter(([, { content }]) => content !== null)
    .map(([path]) => path)

/** The JSON of a file on the server; undefined if it is not there. */
export const readFile = (db: FakeDb, info: WalletInfo, path: string): Untyped => {
  const box = db.repo(repoKeyOf(info))?.files.get(path)?.content
  return box ? JSON.parse(openText(io, dataKeyOf(info), box)) : undefined
}

/** The paths of the files of a repo on the server. */
export const pathsOf = (db: FakeDb, info: WalletInfo): string[] =>
  [...(db.repo(repoKeyOf(info))?.files ?? [])].flatMap(([path, { content }]) =>
    content === null ? [] : [path]
  )

/** The name under which the repo of `info` keeps what is about a text. */
export const nameOf = (info: WalletInfo, text: string): string => fileHashOf(io, dataKeyOf(info), text)

const dataKeyOf = ({ keys }: WalletInfo): Uint8Array => fromBase64(String(keys.dataKey))

const repoKeyOf = ({ keys }: WalletInfo): string => toHex(fromBase64(String(keys.syncKey)))
