import test from 'ava'
import { isWalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import { passwordAuthOf } from '../../../../kernel/login/derive.ts'
import { isPassword, loginWithPassword } from '../../../../kernel/login/methods/password.ts'
import type { LoginStash, LoginTree } from '../../../../kernel/types/login.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { openDevice, settle } from '../../../helpers/login-device.ts'
import { ALICE, makeAlice } from '../../../helpers/login-methods.ts'
import { quickCrypto } from '../../../helpers/quick-crypto.ts'

test('the log has the reason why an offline login failed, and then the server is asked [8.56]', async t => {
  const { alice } = await makeAlice()
  const { services, stashes, logLines } = alice
  await alice.credentials.deletePassword()
  await alice.login.close()
  const { username, password } = ALICE
  await t.throwsAsync(loginWithPassword(services, stashes, { username, password }), { code: 'PASSWORD' })
  t.true(logLines.some(line => line.includes('Missing data for offline password login')))
  t.false(logLines.join().includes(password))
})

test('a failed key derivation fails the login and nothing else, also one that is not awaited', async t => {
  const unhandled: unknown[] = []
  const note = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const { world, alice } = await makeAlice()
  const { passwordBox: _box, ...stash } = alice.login.stash
  await alice.stashes.save(stash)
  const scrypt = (): Promise<never> => Promise.reject(new Error('the worker is gone'))
  for (const files of [new Map<string, string>(), alice.files]) {
    const { services, stashes } = await openDevice(world, files, {
      io: { crypto: { ...quickCrypto, scrypt } }
    })
    const { username, password } = ALICE
    await t.throwsAsync(loginWithPassword(services, stashes, { username, password }), {
      message: 'the worker is gone'
    })
    await settle()
  }
  t.deepEqual(unhandled, [])
})

test('a login of an account of this device fails with its own reason, and the password is wrong only if it is', async t => {
  const { world, alice } = await makeAlice()
  const { username, password } = ALICE
  const { passwordBox: _box, ...boxless } = alice.login.stash
  const failureOf = async (stash: LoginStash, crypto = {}, typed: string = password): Promise<unknown> => {
    await alice.stashes.save({ ...stash, deviceOnly: 'yes' })
    const io = { crypto: { ...quickCrypto, ...crypto } }
    const { services, stashes } = await openDevice(world, alice.files, { io })
    return loginWithPassword(services, stashes, { username, password: typed }).catch(
      (error: unknown) => error
    )
  }
  const { stash } = alice.login
  t.true(isWalletError(await failureOf(stash, {}, 'wrong horse'), 'PASSWORD'))
  t.true(isWalletError(await failureOf(boxless), 'LOGIN_DATA_MISSING'))
  const gone = new Error('the worker is gone')
  t.is(await failureOf(stash, { scrypt: () => Promise.reject(gone) }), gone)
})

test('the key of a password is derived once in a login, also if the server has to be asked for its box', async t => {
  const { world, alice } = await makeAlice()
  const { stash } = alice.login
  const salt = stash.passwordKeySnrp?.salt_hex ?? ''
  const { passwordBox } = stash
  if (passwordBox === undefined) throw new Error('The account has no password')
  await alice.stashes.save({ ...stash, passwordBox: { ...passwordBox, iv_hex: '00'.repeat(16) } })
  const salts: string[] = []
  const scrypt: typeof quickCrypto.scrypt = (data, bytes, ...rest) => {
    salts.push(quickCrypto.toHex(bytes))
    return quickCrypto.scrypt(data, bytes, ...rest)
  }
  const { services, stashes } = await openDevice(world, alice.files, {
    io: { crypto: { ...quickCrypto, scrypt } }
  })
  const { username, password } = ALICE
  const login = await loginWithPassword(services, stashes, { username, password })
  t.deepEqual(login.stash.passwordBox, passwordBox)
  t.is(salts.filter(each => each === salt).length, 1)
})

test('a login by password stands although the password is changed on this device meanwhile', async t => {
  const { world, alice } = await makeAlice()
  const { stash } = alice.login
  const { passwordBox, passwordKeySnrp } = stash
  if (passwordBox === undefined || passwordKeySnrp === undefined) throw new Error('There is no password')
  let change: (() => Promise<void>) | undefined
  const scrypt: typeof quickCrypto.scrypt = async (...args) => {
    const job = change
    change = undefined
    await job?.()
    return quickCrypto.scrypt(...args)
  }
  const { services, stashes, reports } = await openDevice(world, alice.files, {
    io: { crypto: { ...quickCrypto, scrypt } }
  })
  // Another login of the account has a new password from here on.
  change = () =>
    stashes.save({
      ...stash,
      passwordKeySnrp: { ...passwordKeySnrp, salt_hex: '00'.repeat(32) },
      passwordBox: { ...passwordBox, iv_hex: '00'.repeat(16) }
    })
  const { username, password } = ALICE
  const login = await loginWithPassword(services, stashes, { username, password })
  t.is(login.username, username)
  t.is(reports.length, 1)
  login.close()
  await settle()
  await stashes.remove(login.rootLoginId)
})

test('a password is that of a root login with a name and what proves a password, and of nothing else', async t => {
  const io = makeNodeIo()
  const user = { username: 'alice', password: 'correct horse' }
  const passwordAuth = new Secret(await passwordAuthOf(io, user))
  const root = { isRoot: true, username: 'alice', passwordAuth }
  const holds = (tree: object, password = user.password): Promise<boolean> =>
    isPassword({ io }, tree as unknown as LoginTree, password)
  t.true(await holds(root))
  t.false(await holds(root, 'correct horsf'))
  t.false(await holds(root, 'correct \ud800'))
  t.false(await holds({ ...root, isRoot: false }))
  t.false(await holds({ ...root, username: 'bob' }))
  t.false(await holds({ ...root, username: undefined }))
  t.false(await holds({ ...root, passwordAuth: undefined }))
})
