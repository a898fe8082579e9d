import test from 'ava'
import type { LoginRecord } from '../../../fake-server/accounts/login-record.ts'
import type { WalletError } from '../../../kernel/base/errors.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import { sealBox, sealText } from '../../../kernel/crypto/box.ts'
import { FIXED_SNRP } from '../../../kernel/crypto/key-derivation.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import { passwordAuthOf, passwordKeyOf, userIdOf } from '../../../kernel/login/derive.ts'
import type { Login } from '../../../kernel/login/login.ts'
import { validLegacyBoxes } from '../../../kernel/login/payload.ts'
import { SecretCache } from '../../../kernel/login/secret-cache.ts'
import { credentialsOf, infoKeyOf, openLoginTree } from '../../../kernel/login/tree.ts'
import { parseLoginStash } from '../../../kernel/schema/login.ts'
import type { Box } from '../../../kernel/types/keys.ts'
import type { LoginStash } from '../../../kernel/types/login.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { type AliceDevice, lastBody, openAlice, recordOf } from '../../helpers/alice.ts'
import { CHEAP, type LoginWorld, makeLoginWorld, openDevice, settle } from '../../helpers/login-device.ts'

const io = makeNodeIo()
const { toBase64 } = io.crypto
const LOGIN = { username: 'alice', password: 'correct horse' }
const MNEMONIC = 'quiet river stone'

interface OldAccount {
  readonly world: LoginWorld
  readonly loginKey: Uint8Array
  readonly rootKey: Uint8Array
  readonly syncKey: Uint8Array
}

/** A server with an account of the first days: its id is that of its name, and it has no secret but the password. */
const makeOldAccount = async (change: Partial<LoginRecord> = {}): Promise<OldAccount> => {
  const world = makeLoginWorld()
  const [loginKey, rootKey, syncKey] = [io.random(32), io.random(256), io.random(20)]
  const passwordKeySnrp = { salt_hex: '00'.repeat(32), n: 16, r: 1, p: 1 }
  const passwordAuth = await passwordAuthOf(io, LOGIN)
  world.server.db.saveLogin({
    appId: '',
    created: '2015-01-01T00:00:00.000Z',
    loginId: toBase64(await userIdOf(io, LOGIN.username)),
    passwordAuth: toBase64(passwordAuth),
    passwordAuthBox: sealBox(io, loginKey, passwordAuth),
    passwordAuthSnrp: FIXED_SNRP,
    passwordBox: sealBox(io, await passwordKeyOf(io, LOGIN, passwordKeySnrp), loginKey),
    passwordKeySnrp,
    rootKeyBox: sealBox(io, loginKey, rootKey),
    // Old data ends in a NUL.
    mnemonicBox: sealText(io, infoKeyOf(io, rootKey), `${MNEMONIC}\0`),
    syncKeyBox: sealBox(io, loginKey, syncKey),
    keyBoxes: [],
    vouchers: [],
    ...change
  })
  return { world, loginKey, rootKey, syncKey }
}

const open = async ({ world }: OldAccount): Promise<AliceDevice> =>
  openAlice(world, { config: { passwordSnrp: CHEAP } })

const typesOf = (login: Login): string[] => login.walletInfos.map(({ type }) => type)

test('a legacy account has its own key and repo, listed before its later wallets', async t => {
  const account = await makeOldAccount()
  const { world, loginKey, rootKey, syncKey } = account
  const { login, files } = await open(account)
  t.deepEqual(typesOf(login), ['wallet:bitid', 'account-repo:co.airbitz.wallet'])
  const [bitid, repo] = login.walletInfos.map(({ keys }) => keys.use(found => ({ ...found })))
  t.deepEqual(bitid, { mnemonic: MNEMONIC, rootKey: toBase64(rootKey) })
  t.deepEqual(repo, { dataKey: toBase64(loginKey), syncKey: toBase64(syncKey) })

  world.requests.length = 0
  t.is(login.walletInfos[1]?.id, (await login.ensureAccountRepo()).id)
  t.deepEqual(world.requests, [])
  await login.addWalletInfos([makeWalletInfo(io, 'wallet:bitcoin')])
  await login.refresh()
  t.deepEqual(typesOf(login), ['wallet:bitid', 'account-repo:co.airbitz.wallet', 'wallet:bitcoin'])

  world.server.isOnline = false
  const offline = await openAlice(world, { device: await openDevice(world, files) })
  t.deepEqual(typesOf(offline.login), typesOf(login))
  await settle()
})

test('a legacy account gets a login secret at the first login, and keeps its id and its keys', async t => {
  const account = await makeOldAccount()
  const { world } = account
  const { loginId } = recordOf(world)
  const { login } = await open(account)
  t.deepEqual(
    world.requests.map(({ route }) => route),
    ['POST /api/v2/login', 'POST /api/v2/login/secret']
  )
  t.is(lastBody(world, 'POST /api/v2/login/secret').userId, loginId)
  t.truthy(recordOf(world).loginAuth)
  t.is(login.stash.loginId, loginId)
  const before = typesOf(login)
  await login.refresh()
  t.deepEqual(typesOf(login), before)

  const second = await open(account)
  await second.credentials.changePassword('another horse')
  t.is(lastBody(world, 'POST /api/v2/login/password').loginId, loginId)
  t.true(await second.credentials.checkPassword('another horse'))
})

test('a login with a password and without a user id authenticates with its login id', async t => {
  const { world, loginKey } = await makeOldAccount()
  const { userId: _, ...stash } = parseLoginStash(recordOf(world))
  const open = (change: Partial<LoginStash>) =>
    openLoginTree({ io, secrets: new SecretCache(io), report() {} }, { ...stash, ...change }, keyOf(loginKey))
  const tree = open({})
  t.is(tree.userId, stash.loginId)
  t.deepEqual(Object.keys(credentialsOf(io, tree)), ['userId', 'passwordAuth'])
  t.is(open({ userId: 'AAAA' }).userId, 'AAAA')
  const { passwordAuthBox, ...rest } = stash
  const secrets = new SecretCache(io)
  const bare = { ...rest, ...(passwordAuthBox && { loginAuthBox: passwordAuthBox }) }
  const other = openLoginTree({ io, secrets, report() {} }, bare, keyOf(loginKey))
  t.is(other.userId, undefined)
  t.deepEqual(Object.keys(credentialsOf(io, other)), ['loginId', 'loginAuth'])
})

const keyOf = (bytes: Uint8Array): Secret<Uint8Array> => new Secret(bytes.slice())

test('a legacy key that cannot be read is reported and skipped; the others open', async t => {
  const wrong = sealBox(io, io.random(32), io.random(20))
  const repo = 'account-repo:co.airbitz.wallet'
  const { world, loginKey } = await makeOldAccount()
  const stash = parseLoginStash(recordOf(world))
  const openStash = (change: Partial<LoginStash>): { types: string[]; codes: string[] } => {
    const codes: string[] = []
    const report = (error: unknown): void => void codes.push((error as WalletError).code)
    const context = { io, secrets: new SecretCache(io), report }
    const { walletInfos } = openLoginTree(context, { ...stash, ...change }, new Secret(loginKey.slice()))
    return { types: walletInfos.map(({ type }) => type), codes }
  }
  t.deepEqual(openStash({}), { types: ['wallet:bitid', repo], codes: [] })
  t.deepEqual(openStash({ syncKeyBox: wrong }), { types: ['wallet:bitid'], codes: ['INVALID_CHECKSUM'] })
  t.deepEqual(openStash({ rootKeyBox: wrong }), { types: [repo], codes: ['INVALID_CHECKSUM'] })
  t.deepEqual(openStash({ mnemonicBox: wrong }), { types: [repo], codes: ['INVALID_CHECKSUM'] })
  // Sync servers are told the sync key, so that no other secret may pass for one.
  for (const length of [0, 19, 32]) {
    const syncKeyBox = sealBox(io, loginKey, io.random(length))
    t.deepEqual(openStash({ syncKeyBox }), { types: ['wallet:bitid'], codes: ['KEY_INTEGRITY'] })
  }
})

test('an old account whose server shows wrong boxes opens without them', async t => {
  const wrong = (): Box => sealBox(io, io.random(32), io.random(20))
  const { login } = await open(await makeOldAccount({ syncKeyBox: wrong(), mnemonicBox: wrong() }))
  t.deepEqual(typesOf(login), [])
})

test('a legacy account keeps the first boxes that open, from the known reply or the new one', async t => {
  const { world, loginKey } = await makeOldAccount()
  const stash = parseLoginStash(recordOf(world))
  const { rootKeyBox, mnemonicBox, syncKeyBox, ...rest } = stash as Required<typeof stash>
  const good = { rootKeyBox, mnemonicBox, syncKeyBox }
  const wrong = sealBox(io, io.random(32), io.random(20))
  const kept = (...versions: Partial<LoginStash>[]): object =>
    validLegacyBoxes(
      io,
      loginKey,
      versions.map(version => ({ ...rest, ...version }))
    )
  t.deepEqual(kept(good, { rootKeyBox: wrong, mnemonicBox: wrong, syncKeyBox: wrong }), good)
  t.deepEqual(kept({ rootKeyBox: wrong, mnemonicBox: wrong, syncKeyBox: wrong }, good), good)
  t.deepEqual(kept({ rootKeyBox, mnemonicBox: wrong, syncKeyBox }, good), good)
  t.deepEqual(kept({ ...good, mnemonicBox: wrong }), { syncKeyBox })
  t.deepEqual(kept({ rootKeyBox, syncKeyBox }), { syncKeyBox })
  t.deepEqual(kept({ mnemonicBox, syncKeyBox: wrong }), {})
})

test('a legacy key of which one half is missing is left out, and no fault', t => {
  const loginKey = io.random(32)
  const stash: LoginStash = {
    ...{ appId: '', loginId: toBase64(new Uint8Array(32)), pendingVouchers: [] },
    loginAuthBox: sealBox(io, loginKey, io.random(32)),
    rootKeyBox: sealBox(io, loginKey, io.random(32))
  }
  const reports: unknown[] = []
  const context = { io, secrets: new SecretCache(io), report: (error: unknown) => void reports.push(error) }
  t.deepEqual(openLoginTree(context, stash, new Secret(loginKey)).walletInfos, [])
  t.deepEqual(reports, [])
})
