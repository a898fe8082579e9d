import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { dumpFakeUser } from '../../fake-server/users/dump-user.ts'
import type { FakeUser, UserRepo } from '../../fake-server/users/fake-user.ts'
import { sealJson } from '../../kernel/crypto/box.ts'
import type { Io, WalletInfo } from '../../kernel/index.ts'
import { fileHashOf } from '../../kernel/keys/ids.ts'
import { makeWalletInfo } from '../../kernel/keys/wallet-info.ts'
import type { Box } from '../../kernel/types/keys.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openWorldDevice } from '../bench-device.ts'
import { COIN, coinTransaction, noteOf } from './bench-coin.ts'

/** How much an account holds. All transactions are the first wallet's, each with a file and a note. */
export interface FixtureSize {
  readonly walletCount: number
  readonly transactionCount: number
}

/** Who the user of a fixture is. */
export interface FixtureUser extends FixtureSize {
  readonly username: string
  readonly password: string
  /** Base58. */
  readonly loginKey: string
  readonly walletIds: readonly string[]
  /** Of the first wallet, in hex. */
  readonly syncKey: string
}

/** A user, and the file that holds it in the wire format. */
export interface Fixture {
  readonly user: FixtureUser
  readonly dump: string
}

/** The password of every fixture costs this, which both sides pay (reliability 1.3). */
const PASSWORD_COST = { n: 16384, r: 8, p: 1 }

const CREDENTIALS = { username: 'bench user', password: 'correct horse battery staple', pin: '4711' }

/** Makes an account of a size with our side, quickly, and writes it below a folder in the wire format (protocol §2.11). */
export const makeFixture = async (folder: string, size: FixtureSize): Promise<Fixture> => {
  const io = makeNodeIo()
  const account = await makeAccount(io)
  const loginKey = io.crypto.fromBase64(account.loginKey)
  const infos = Array.from({ length: size.walletCount }, () =>
    makeWalletInfo(io, COIN.walletType, { benchKey: 'bench' })
  )
  const keyBoxes = infos.map(({ id, type, keys }) => sealJson(io, loginKey, { id, type, keys }))
  const repos = infos.map((info, i) =>
    repoOf(io, info, { number: i, count: i === 0 ? size.transactionCount : 0 })
  )
  const filled: FakeUser = {
    ...account,
    repos: { ...account.repos, ...Object.fromEntries(repos) },
    server: { ...account.server, keyBoxes: [...account.server.keyBoxes, ...keyBoxes] }
  }
  await mkdir(folder, { recursive: true })
  const dump = join(folder, 'user.json')
  await writeFile(dump, JSON.stringify(filled))
  const user: FixtureUser = {
    ...size,
    username: CREDENTIALS.username,
    password: CREDENTIALS.password,
    loginKey: base58.encode(loginKey),
    walletIds: infos.map(({ id }) => id),
    syncKey: repos[0]?.[0] ?? ''
  }
  return { user, dump }
}

const makeAccount = async (io: Io): Promise<FakeUser> => {
  const world = makeFakeWorld({ io })
  const device = await openWorldDevice(world, { cost: PASSWORD_COST })
  const account = await device.context.createAccount(CREDENTIALS)
  await account.sync()
  const loginKey = base58.decode(await account.getLoginKey())
  const loginId = io.crypto.toBase64(base58.decode(account.rootLoginId))
  await device.close()
  const user = dumpFakeUser(
    { io, db: world.server.db, clock: world.clock },
    { loginId, loginKey, username: CREDENTIALS.username }
  )
  await world.close()
  return user
}

interface RepoContent {
  /** Of the wallet. */
  readonly number: number
  /** How many transactions it has. */
  readonly count: number
}

/** A repo by its sync key in hex: the name of the wallet, its fiat currency and a file for each transaction. */
const repoOf = (io: Io, { keys }: WalletInfo, { number, count }: RepoContent): [string, UserRepo] => {
  const { fromBase64, toHex } = io.crypto
  const dataKey = fromBase64(String(keys.dataKey))
  const files = new Map<string, Box>([
    ['WalletName.json', sealJson(io, dataKey, { walletName: `Wallet ${number}` })],
    ['Currency.json', sealJson(io, dataKey, { fiat: 'iso:USD' })]
  ])
  for (let i = 0; i < count; i++) {
    const { txid, date, nativeAmount } = coinTransaction(i)
    const metadata = {
      name: `Payee ${i % 97}`,
      category: 'Expense:Test',
      notes: noteOf(i),
      exchangeAmount: { 'iso:USD': i / 100 }
    }
    files.set(
      `transaction/${date}-${fileHashOf(io, dataKey, txid)}.json`,
      sealJson(io, dataKey, {
        txid,
        internal: true,
        creationDate: date,
        currencies: {},
        tokens: { '': { metadata, nativeAmount } }
      })
    )
  }
  return [toHex(fromBase64(String(keys.syncKey))), Object.fromEntries(files)]
}
