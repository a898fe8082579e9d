import test from 'ava'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { sealBox, sealJson } from '../../../kernel/crypto/box.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import type { Login } from '../../../kernel/login/login.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../helpers/fault-disk.ts'
import {
  CHEAP,
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  openDevice,
  settle,
  type Untyped
} from '../../helpers/login-device.ts'

const ALICE = { username: 'alice', password: 'correct horse' }
const BOB = { username: 'bob', password: 'battery staple' }

const open = ({ services, stashes }: LoginDevice, user: typeof ALICE = ALICE): Promise<Login> =>
  loginWithPassword(services, stashes, user)

/** A device that knows Alice, whose app has a login of its own. */
const makeAlice = async (): Promise<{ world: LoginWorld; device: LoginDevice; login: Login }> => {
  const world = makeLoginWorld()
  const device = await openDevice(world, new Map(), { config: { appId: 'app' } })
  const login = await createLogin(device.services, device.stashes, { ...ALICE, pin: '1234', snrp: CHEAP })
  await login.ensureAccountRepo()
  await login.addWalletInfos([makeWalletInfo(device.services.io, 'wallet:bitcoin')])
  await login.refresh()
  return { world, device, login }
}

const box = (login: Login, data: string): unknown =>
  login.tree.loginKey.use(key => sealBox(ioOf(), key, new TextEncoder().encode(data)))

let shared: LoginDevice | undefined
const ioOf = (): LoginDevice['services']['io'] => {
  if (shared === undefined) throw new Error('There is no device yet')
  return shared.services.io
}

test('no garbage of a server changes the stash, and the device still opens it [5.31] [5.32] [8.67] [8.68] [5.33]', async t => {
  const { world, device, login } = await makeAlice()
  shared = device
  const before = JSON.stringify([...device.files])
  const wrongBox = sealBox(ioOf(), new Uint8Array(32), new Uint8Array(32))
  const root = (change: (results: Untyped) => Untyped) => (_: string, reply: Untyped) => ({
    ...reply,
    results: change(reply.results)
  })
  const deep = JSON.parse(`${'{"children":['.repeat(100)}{}${']}'.repeat(100)}`)
  // A lie about the login of an app stops no refresh; the login stays as it is known.
  const cases: [string, (route: string, reply: Untyped) => unknown, string | undefined][] = [
    ['text', () => 'I am a teapot', 'INVALID_JSON'],
    ['an empty body', () => '', 'INVALID_JSON'],
    ['a list', () => [], 'BAD_REPLY'],
    ['no code', () => ({ message: 'hello' }), 'BAD_REPLY'],
    ['nothing in it', () => ({ status_code: 0, message: '' }), 'BAD_REPLY'],
    [
      '__proto__',
      () => '{"status_code":0,"message":"","results":{"__proto__":{"isRoot":true}}}',
      'BAD_REPLY'
    ],
    ['deep nesting', root(() => deep), 'INVALID_JSON'],
    [
      'deep children',
      root(r => Array.from({ length: 9 }).reduce((c: Untyped) => ({ ...r, children: [c] }), r)),
      'BAD_REPLY'
    ],
    [
      '1001 children',
      root(r => ({ ...r, children: Array.from({ length: 1001 }, () => r.children[0]) })),
      'BAD_REPLY'
    ],
    ['a short login id', root(r => ({ ...r, loginId: 'AAAA' })), 'BAD_REPLY'],
    ['a bad date', root(r => ({ ...r, created: 'yesterday' })), 'BAD_REPLY'],
    ['a bad 2FA key', root(r => ({ ...r, otpKey: '!' })), 'BAD_REPLY'],
    ['another login', root(r => ({ ...r, loginId: `${'A'.repeat(43)}=` })), 'BAD_REPLY'],
    ['another app', root(r => ({ ...r, appId: 'other' })), 'BAD_REPLY'],
    ['lost children', root(r => ({ ...r, children: [] })), 'LOST_CHILDREN'],
    ['no children', root(({ children: _, ...r }) => r), 'LOST_CHILDREN'],
    ['a child twice', root(r => ({ ...r, children: [r.children[0], r.children[0]] })), undefined],
    [
      'no parent box',
      root(r => ({ ...r, children: [{ ...r.children[0], parentBox: undefined }] })),
      undefined
    ],
    [
      'a wrong parent box',
      root(r => ({ ...r, children: [{ ...r.children[0], parentBox: wrongBox }] })),
      undefined
    ],
    [
      'the parent box of another',
      root(r => ({ ...r, children: [{ ...r.children[0], parentBox: r.pin2KeyBox }] })),
      undefined
    ],
    ['a wrong PIN key box', root(r => ({ ...r, pin2KeyBox: wrongBox })), 'INVALID_CHECKSUM'],
    ['a wrong PIN text box', root(r => ({ ...r, pin2TextBox: wrongBox })), 'INVALID_CHECKSUM'],
    ['a wrong passwordAuth box', root(r => ({ ...r, passwordAuthBox: wrongBox })), 'INVALID_CHECKSUM']
  ]
  for (const [what, garble, code] of cases) {
    world.garble = garble
    if (code === undefined) {
      await t.notThrowsAsync(login.refresh(), what)
      t.is(JSON.stringify([...device.files]), before, what)
      continue
    }
    const refused = await t.throwsAsync(login.refresh(), { code }, what)
    if (code === 'LOST_CHILDREN') t.is(refused?.message, 'The server has lost children!')
    t.is(JSON.stringify([...device.files]), before, what)
  }
  t.is((Object.prototype as { isRoot?: boolean }).isRoot, undefined)
  const again = await openDevice(world, device.files, { config: { appId: 'app' } })
  t.is((await open(again)).walletInfos.length, 2)
  await settle()
  t.is(JSON.stringify([...device.files]), before)
})

test('a server cannot take keys away', async t => {
  const { world, device, login } = await makeAlice()
  world.garble = (_, reply) => {
    const child = { ...reply.results.children[0], keyBoxes: [] }
    return { ...reply, results: { ...reply.results, children: [child] } }
  }
  await login.refresh()
  t.is(login.walletInfos.length, 2)
  t.is((await openDevice(world, device.files)).stashes.list()[0]?.children?.[0]?.keyBoxes?.length, 2)
})

test('a key box that cannot be read is reported and skipped, and kept', async t => {
  const { world, device, login } = await makeAlice()
  shared = device
  const bad = [
    box(login, 'no JSON'),
    box(login, '{"id":5}'),
    sealBox(ioOf(), new Uint8Array(32), new Uint8Array(3)),
    { encryptionType: 0, iv_hex: 'zz', data_base64: '?' },
    { encryptionType: 9, iv_hex: '', data_base64: '' }
  ]
  world.garble = (_, reply) => {
    const [child] = reply.results.children
    const keyBoxes = [...bad, ...child.keyBoxes]
    return { ...reply, results: { ...reply.results, children: [{ ...child, keyBoxes }] } }
  }
  await login.refresh()
  t.is(login.walletInfos.length, 2)
  t.is(device.reports.length, bad.length)
  t.is(login.stash.children?.[0]?.keyBoxes?.length, 7)
})

test('two types under one wallet id are a violation: the later wallet is left out and reported, and the login still opens [5.29]', async t => {
  const { world, device, login } = await makeAlice()
  const [info] = login.tree.walletInfos
  const forge = (id: string): unknown =>
    login.tree.loginKey.use(key => sealJson(device.services.io, key, { id, type: 'wallet:x', keys: {} }))
  for (const id of [info?.id ?? '', 'AAAA']) {
    world.garble = (_, reply) => {
      const [child] = reply.results.children
      const keyBoxes = [...child.keyBoxes, forge(id)]
      return { ...reply, results: { ...reply.results, children: [{ ...child, keyBoxes }] } }
    }
    device.reports.length = 0
    await login.refresh()
    t.is(login.walletInfos.length, 2)
    t.false(login.walletInfos.some(({ type }) => type === 'wallet:x'))
    t.true(device.reports.length > 0)
    for (const error of device.reports) t.true(isWalletError(error, 'KEY_INTEGRITY'))
  }
})

test('a server that answers with the account of another user of this device changes neither', async t => {
  const { world, device, login } = await makeAlice()
  const { services, stashes } = device
  const bob = await createLogin(services, stashes, { ...BOB, snrp: CHEAP })
  const before = JSON.stringify([...device.files])
  const { loginId } = bob.stash
  world.garble = (_, reply) => ({ ...reply, results: { ...reply.results, loginId } })
  const fresh = await openDevice(world, new Map(device.files))
  await fresh.stashes.remove(login.rootLoginId)
  const bobBefore = JSON.stringify([...fresh.files])
  await t.throwsAsync(open(fresh), { code: 'KEY_INTEGRITY' })
  t.is(JSON.stringify([...fresh.files]), bobBefore)

  world.garble = () => ({
    status_code: 8,
    message: 'Invalid OTP',
    results: { login_id: loginId, voucher_id: 'v', voucher_auth: 'qrs=' }
  })
  await t.throwsAsync(open(fresh, { username: 'carol', password: 'x' }), { code: 'OTP' })
  t.is(JSON.stringify([...fresh.files]), bobBefore)
  t.is(JSON.stringify([...device.files]), before)
})

test('the error names a box that the server withholds [8.57] [3.8]', async t => {
  const { world } = await makeAlice()
  world.garble = (_, reply) => ({ ...reply, results: { ...reply.results, passwordBox: true } })
  const fresh = await openDevice(world)
  await t.throwsAsync(open(fresh), {
    code: 'LOGIN_DATA_MISSING',
    message: 'Missing data for online password login'
  })
  t.is(fresh.files.size, 0)
})

test('boxes that a reply leaves out for a login method stay in the stash [3.8]', async t => {
  const { world, login } = await makeAlice()
  const { passwordBox } = login.stash
  world.garble = (_, reply) => ({
    ...reply,
    results: { ...reply.results, passwordBox: true, pin2Box: true, otpKey: true }
  })
  await login.refresh()
  t.truthy(passwordBox)
  t.deepEqual(login.stash.passwordBox, passwordBox)
})

test('a name that went to another account opens that one, and the old one stays on the device', async t => {
  const { world, device, login } = await makeAlice()
  const records = [...world.server.db.entries()].flatMap(entry =>
    entry.kind === 'login' ? [entry.record] : []
  )
  const old = records.find(({ loginId }) => loginId === login.stash.loginId)
  if (old === undefined) throw new Error('The server has no login')
  login.close()
  world.server.db.saveLogin({ ...old, userId: undefined })
  const elsewhere = await openDevice(world)
  const successor = { ...ALICE, password: 'something else' }
  await createLogin(elsewhere.services, elsewhere.stashes, { ...successor, snrp: CHEAP })
  const opened = await open(device, successor)
  t.not(opened.stash.loginId, old.loginId)
  t.is(device.stashes.list().length, 2)
  t.is(device.stashes.get(old.loginId)?.children?.length, 1)
})

test('when the disk fails while an account is made, the account can be logged in to all the same', async t => {
  let fired = 0
  for (const kind of FAULT_KINDS) {
    for (const at of [1, 2]) {
      const world = makeLoginWorld()
      const files = new Map<string, string>()
      const disk = makeFaultDisk(files, { at, kind })
      const device = await openDevice(world, files, { disk })
      await t.throwsAsync(createLogin(device.services, device.stashes, { ...ALICE, snrp: CHEAP }))
      t.true(disk.hasFired)
      fired += 1
      const restarted = await openDevice(world, files)
      const login = await open(restarted)
      t.is((await login.ensureAccountRepo()).type, 'account-repo:co.airbitz.wallet', `${kind} ${at}`)
    }
  }
  t.is(fired, 2 * FAULT_KINDS.length)
})

test('when the disk fails while a wallet is added, the next refresh brings the wallet', async t => {
  for (const kind of FAULT_KINDS) {
    const { world, device } = await makeAlice()
    const disk = makeFaultDisk(device.files, { at: 1, kind })
    const failing = await openDevice(world, device.files, { disk, config: { appId: 'app' } })
    const login = await open(failing)
    await settle()
    const info = makeWalletInfo(failing.services.io, 'wallet:bitcoin')
    if (kind === 'full') await login.addWalletInfos([info])
    else await t.throwsAsync(login.addWalletInfos([info]))
    t.true(disk.hasFired)
    const restarted = await openDevice(world, device.files, { config: { appId: 'app' } })
    const again = await open(restarted)
    await again.refresh()
    t.true(
      again.walletInfos.some(({ id }) => id === info.id),
      kind
    )
  }
})

test('an OTP refusal changes a known stash only if it names a voucher', async t => {
  const { world, device } = await makeAlice()
  const { stashes } = device
  const before = JSON.stringify([...device.files])
  const refuse = (results: Untyped): void => {
    world.garble = () => ({ status_code: 8, message: 'Invalid OTP', results })
  }
  // The date of the last login alone is written once a day.
  await world.clock.advance(25 * 3_600_000)
  for (const results of [{}, { voucher_id: 'v' }, { voucher_auth: 'qrs=' }, { login_id: 'AAAA' }]) {
    refuse(results)
    await t.throwsAsync(open(device, { ...ALICE, password: 'wrong' }), { code: 'OTP' })
    t.is(JSON.stringify([...device.files]), before)
  }
  refuse({ voucher_id: 'v', voucher_auth: 'qrs=' })
  await t.throwsAsync(open(device, { ...ALICE, password: 'wrong' }), { code: 'OTP' })
  t.is(stashes.localUsers()[0]?.voucherId, 'v')
})
