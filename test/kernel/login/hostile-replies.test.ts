import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { sealBox } from '../../../kernel/crypto/box.ts'
import { base58Of } from '../../../kernel/crypto/encoding.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import { passwordChange, recoveryRemoval } from '../../../kernel/login/changes.ts'
import type { Login } from '../../../kernel/login/login.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { loginWithKey } from '../../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { loginWithPin } from '../../../kernel/login/methods/pin.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import {
  CHEAP,
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  openDevice,
  settle,
  type Untyped
} from '../../helpers/login-device.ts'

const ALICE = { username: 'alice', password: 'correct horse', pin: '1234' }

const makeAlice = async (): Promise<{ world: LoginWorld; device: LoginDevice; login: Login }> => {
  const world = makeLoginWorld()
  const device = await openDevice(world)
  const login = await createLogin(device.services, device.stashes, { ...ALICE, snrp: CHEAP })
  await login.ensureAccountRepo()
  await login.refresh()
  return { world, device, login }
}

/** Changes the results of the next full logins; the sync token is no way around them. */
const answerWith =
  (change: (results: Untyped) => unknown) =>
  (route: string, reply: Untyped): unknown => {
    if (route.endsWith('/v2/sync')) return { ...reply, results: false }
    return route.endsWith('/v2/login') && reply.status_code === 0
      ? { ...reply, results: change(reply.results) }
      : reply
  }

/** The account as the next start of the device finds it, and refreshes it. */
const refreshAnew = async (world: LoginWorld, { files }: LoginDevice, login: Login): Promise<Login> => {
  const { services, stashes } = await openDevice(world, files)
  const loginKey = login.rootLoginKeyBase58()
  const opened = await loginWithKey(services, stashes, { username: 'alice', loginKey })
  await opened.refresh()
  return opened
}

const filesOf = ({ files }: LoginDevice): string => JSON.stringify([...files])

const recordOf = ({ server }: LoginWorld, loginId: string): Untyped => {
  for (const entry of server.db.entries()) {
    if (entry.kind === 'login' && entry.record.loginId === loginId) return entry.record
  }
  throw new Error('The server has no such login')
}

test('a reply of 30 MB is refused, and nothing is written', async t => {
  const { device, login } = await makeAlice()
  const loginKey = login.rootLoginKeyBase58()
  login.close()
  const server = createServer((_, response) => {
    const chunk = Buffer.alloc(1_000_000, ' ')
    for (let count = 0; count < 30; count += 1) response.write(chunk)
    response.end('{"status_code":0,"message":"","results":{}}')
  })
  t.teardown(() => server.close().closeAllConnections())
  await new Promise<void>(resolve => server.listen(0, 'localhost', resolve))
  const { port } = server.address() as AddressInfo
  const before = filesOf(device)
  const victim = await openDevice(makeLoginWorld(), device.files, {
    config: { authServer: `http://localhost:${port}/api` },
    io: { fetch: makeNodeIo().fetch }
  })
  const pin = loginWithPin(victim.services, victim.stashes, ALICE)
  await t.throwsAsync(pin, { code: 'REPLY_TOO_LARGE' })
  const opened = await loginWithKey(victim.services, victim.stashes, { username: 'alice', loginKey })
  await t.throwsAsync(opened.refresh(), { code: 'REPLY_TOO_LARGE' })
  t.is(filesOf(victim), before)
  opened.close()
})

test('a login by its key sends no request before it opens and is ready', async t => {
  const { world, device, login } = await makeAlice()
  const loginKey = login.rootLoginKeyBase58()
  const next = await openDevice(world, device.files)
  const opened = await loginWithKey(next.services, next.stashes, { username: 'alice', loginKey })
  t.deepEqual(next.stages, ['key opening', 'key ready'])
  opened.close()
})

test('a reply that comes after logout, or after the account was forgotten, is not kept', async t => {
  const { world, device, login } = await makeAlice()
  const { services, stashes } = device
  const before = filesOf(device)
  let answer: () => void = () => {}
  const answered = new Promise<void>(resolve => {
    answer = resolve
  })
  world.server.use(async (_, next) => {
    const reply = await next()
    await answered
    return reply
  })
  world.garble = answerWith(results => ({ ...results, otpKey: 'AAAAAAAA' }))
  const refreshed = login.refresh()
  await settle()
  login.close()
  t.is(filesOf(device), before)
  await stashes.remove(base58Of(services.io.crypto.fromBase64(login.stash.loginId)))
  answer()
  await t.throwsAsync(refreshed, { code: 'LOGGED_OUT' })
  await settle()
  t.deepEqual(
    [...device.files.keys()].filter(path => path.startsWith('logins/')),
    []
  )
  t.deepEqual(stashes.list(), [])
})

test('a change whose reply comes after logout is dropped if the account was forgotten', async t => {
  const { world, device, login } = await makeAlice()
  const { services, stashes } = device
  const { loginId } = login.stash
  let answer: () => void = () => {}
  const answered = new Promise<void>(resolve => {
    answer = resolve
  })
  world.server.use(async (_, next) => {
    const reply = await next()
    await answered
    return reply
  })
  const changed = login.change(({ held }) => [recoveryRemoval(held)])
  await settle()
  login.close()
  await stashes.remove(base58Of(services.io.crypto.fromBase64(loginId)))
  answer()
  await t.throwsAsync(changed, { code: 'LOGGED_OUT' })
  t.deepEqual(
    [...device.files.keys()].filter(path => path.startsWith('logins/')),
    []
  )
  t.deepEqual(stashes.list(), [])
})

test('a server cannot choose the loginAuth of an old account, not even in its reply to the new one', async t => {
  const { world, device, login } = await makeAlice()
  const { loginId } = login.stash
  const { loginAuth: _, loginAuthBox: __, ...old } = recordOf(world, loginId)
  login.close()
  world.server.db.saveLogin(old)
  const victim = await openDevice(world)
  world.garble = (route, reply) =>
    route.endsWith('/secret')
      ? {
          ...reply,
          results: { ...reply.results, loginAuthBox: reply.results.pin2KeyBox, pin2KeyBox: undefined }
        }
      : reply
  const opened = await loginWithPassword(victim.services, victim.stashes, ALICE)
  t.is(opened.stash.loginAuthBox, undefined)
  world.garble = undefined
  await opened.refresh()
  const { loginAuthBox } = recordOf(world, loginId)
  t.deepEqual(opened.stash.loginAuthBox, loginAuthBox)
  t.is(device.stashes.list().length, 1)
})

test('wallets that a server makes up do not stay when an honest server comes back', async t => {
  const { world, device, login } = await makeAlice()
  const { io } = device.services
  const junk = (): unknown => sealBox(io, io.random(32), io.random(100))
  world.garble = answerWith(results => ({
    ...results,
    keyBoxes: [...Array.from({ length: 50 }, junk), ...results.keyBoxes]
  }))
  for (let i = 0; i < 3; i += 1) await login.refresh()
  t.is(login.stash.keyBoxes?.length, 51)
  t.is(login.walletInfos.length, 1)
  world.garble = undefined
  const { stash } = await refreshAnew(world, device, login)
  t.is(stash.keyBoxes?.length, 1)
})

test('an older reply removes no wallets and does not restore an earlier name', async t => {
  const { world, device, login } = await makeAlice()
  let older: Untyped
  world.garble = answerWith(results => {
    older = results
    return results
  })
  await login.refresh()
  world.garble = undefined
  await login.addWalletInfos([makeWalletInfo(device.services.io, 'wallet:bitcoin')])
  const before = JSON.stringify(login.stash.keyBoxes)
  world.garble = answerWith(() => older)
  await login.refresh()
  t.is(login.walletInfos.length, 2)
  t.is(JSON.stringify(login.stash.keyBoxes), before)
  t.is((await openDevice(world, device.files)).stashes.list()[0]?.keyBoxes?.length, 2)
})

test('a password box that does not fit stays out while the password is the same, and a changed password comes in', async t => {
  const { world, device, login } = await makeAlice()
  const { io } = device.services
  const before = filesOf(device)
  world.garble = answerWith(results => ({
    ...results,
    passwordBox: sealBox(io, io.random(32), io.random(32)),
    passwordKeySnrp: { ...results.passwordKeySnrp, n: 2 ** 18 }
  }))
  await login.refresh()
  t.is(filesOf(device), before)
  world.garble = undefined

  const elsewhere = await openDevice(world)
  const other = await loginWithPassword(elsewhere.services, elsewhere.stashes, ALICE)
  await other.change(async ({ held }) => [
    await held.loginKey.use(async key =>
      passwordChange(
        io,
        { loginId: held.loginId, loginKey: key.slice() },
        {
          ...{ username: 'alice', password: new Secret('battery staple'), snrp: CHEAP }
        }
      )
    )
  ])
  await login.refresh()
  t.deepEqual(login.stash.passwordBox, other.stash.passwordBox)
})

test('a server can remove what it alone decides, such as two-factor; an honest one restores it', async t => {
  const { world, device, login } = await makeAlice()
  const { services, stashes } = device
  const otpKey = 'AAAAAAAA'
  world.server.db.saveLogin({ ...recordOf(world, login.stash.loginId), otpKey, otpTimeout: 7 })
  await t.throwsAsync(login.refresh(), { code: 'OTP' })
  await loginWithPin(services, stashes, { ...ALICE, otpKey })
  const known = fieldsOf(await refreshAnew(world, device, login))
  const lies: [string, object][] = [
    ['another 2FA key', { otpKey: 'BBBBBBBB' }],
    ['no 2FA key', { otpKey: undefined }],
    ['no 2FA at all', { otpKey: undefined, otpTimeout: undefined }],
    ['no PIN', { pin2KeyBox: undefined, pin2TextBox: undefined }],
    ['no password', { passwordBox: undefined, passwordAuthBox: undefined }],
    ['a reset', { otpResetDate: '2999-01-01T00:00:00.000Z' }]
  ]
  for (const [name, lie] of lies) {
    world.garble = answerWith(results => ({ ...results, ...lie }))
    const victim = await refreshAnew(world, device, login)
    t.notDeepEqual(fieldsOf(victim), known, name)
    world.garble = undefined
    t.deepEqual(fieldsOf(await refreshAnew(world, device, login)), known, name)
  }
  const again = await openDevice(world, device.files)
  t.is((await loginWithPassword(again.services, again.stashes, ALICE)).walletInfos.length, 1)
})

/** The stash as it is on the disk, without what only tells of logins and vouchers. */
const fieldsOf = ({ stash }: Login): object => {
  const { lastLogin, voucherId, voucherAuth, pendingVouchers, syncToken, ...fields } = stash
  return fields
}

test('a nonsense reply to a change at most fails the change, and an honest server then has it', async t => {
  const { world, device, login } = await makeAlice()
  const info = makeWalletInfo(device.services.io, 'wallet:bitcoin')
  const before = filesOf(device)
  world.garble = () => `{"status_code":0,"message":"","results":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  await t.throwsAsync(login.addWalletInfos([info]), { code: 'INVALID_JSON' })
  t.is(filesOf(device), before)
  world.garble = undefined
  await login.refresh()
  t.deepEqual(login.walletInfos.map(({ id }) => id).includes(info.id), true)
})

test('a reply about another account than the named one opens no login and is not kept', async t => {
  const { world } = await makeAlice()
  const other = Buffer.from(new Uint8Array(32).fill(9)).toString('base64')
  const { services, stashes, files } = await openDevice(world)
  world.garble = answerWith(results => ({ ...results, userId: other }))
  const login = loginWithPassword(services, stashes, { ...ALICE })
  t.like(await t.throwsAsync(login, { code: 'BAD_REPLY' }), { details: { path: 'userId' } })
  t.deepEqual(
    [...files.keys()].filter(path => path.startsWith('logins/')),
    []
  )
  world.garble = answerWith(({ userId: _userId, ...results }) => results)
  t.is((await loginWithPassword(services, stashes, { ...ALICE })).username, 'alice')
})
