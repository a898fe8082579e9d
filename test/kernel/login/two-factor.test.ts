import { base58 } from '@scure/base'
import test from 'ava'
import type { WalletError } from '../../../kernel/base/errors.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import { base32Of, parseBase32 } from '../../../kernel/crypto/encoding.ts'
import { isTotp, totp } from '../../../kernel/crypto/totp.ts'
import { otpChange, otpResetCancellation } from '../../../kernel/login/changes.ts'
import { normalizeOtpKey } from '../../../kernel/login/derive.ts'
import { loginWithKey } from '../../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { loginWithPin } from '../../../kernel/login/methods/pin.ts'
import { loginWithRecovery } from '../../../kernel/login/methods/recovery.ts'
import { type LoginOptions, saveOtpKey } from '../../../kernel/login/online.ts'
import { type OtpKeyOpeners, SavedOtpKeys } from '../../../kernel/login/saved-otp-keys.ts'
import { requestOtpReset } from '../../../kernel/login/server.ts'
import { credentialsOf } from '../../../kernel/login/tree.ts'
import type { LoginTree } from '../../../kernel/types/login.ts'
import { type AliceDevice, createAlice, lastBody, openAlice, recordOf } from '../../helpers/alice.ts'
import {
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  openDevice,
  settle
} from '../../helpers/login-device.ts'
import { ALICE } from '../../helpers/login-methods.ts'

const OTP = 'POST /api/v2/login/otp'
const WEEK_MS = 7 * 86_400_000

/** Alice with two-factor on, and a new device that she wants to use. */
interface Scene {
  readonly world: LoginWorld
  readonly owner: AliceDevice
  readonly other: LoginDevice
  /** Base32. */
  readonly key: string
}

const makeScene = async (timeoutSeconds?: number): Promise<Scene> => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  await owner.twoFactor.enableOtp(timeoutSeconds)
  const other = await openDevice(world)
  return { world, owner, other, key: owner.twoFactor.getOtpKey() ?? '' }
}

const codeAt = ({ world, owner, key }: Scene, steps: number): string =>
  totp(owner.services.io, parseBase32(key), world.clock.now() / 1000 + 30 * steps)

const tryOther = ({ world, other }: Scene, options: LoginOptions = {}): Promise<AliceDevice> =>
  openAlice(world, { device: other, ...options })

/** What a login without a code says. */
const refusalOf = async (scene: Scene): Promise<WalletError<'OTP'>['details']> => {
  try {
    await tryOther(scene)
  } catch (error) {
    return (error as WalletError<'OTP'>).details
  }
  throw new Error('The login was not refused')
}

const requestReset = async (scene: Scene): Promise<Date> => {
  const { resetToken = '' } = await refusalOf(scene)
  return requestOtpReset(scene.other.services, { username: ALICE.username, resetToken })
}

test('two-factor is a fresh key of 10 bytes and 604800 s; codes of 6 digits count within 2 steps of 30 s [9.5] [7.17]', async t => {
  const scene = await makeScene()
  const { world, owner, key } = scene
  const { data, ...auth } = lastBody(world, OTP)
  t.deepEqual(Object.keys(auth).sort(), ['loginAuth', 'loginId'])
  t.deepEqual(data, { otpKey: key, otpTimeout: 604_800 })
  t.is(parseBase32(key).length, 10)
  t.is(key, base32Of(parseBase32(key)))
  t.not((await makeScene()).key, key)
  t.deepEqual(owner.twoFactor.status, { isEnabled: true, otpTimeout: 604_800, pendingVouchers: [] })

  const { io } = owner.services
  const time = Math.floor(world.clock.now() / 30_000) * 30
  const code = totp(io, parseBase32(key), time)
  t.regex(code, /^\d{6}$/)
  t.is(totp(io, parseBase32(key), time + 29), code)
  t.not(totp(io, parseBase32(key), time + 30), code)
  for (const steps of [-3, -2, -1, 0, 1, 2, 3]) {
    t.is(isTotp(io, parseBase32(key), { code, time: time + 30 * steps }), Math.abs(steps) <= 2)
    if (Math.abs(steps) <= 2)
      await t.notThrowsAsync(
        tryOther({ ...scene, other: await openDevice(world) }, { otp: codeAt(scene, steps) })
      )
    else
      await t.throwsAsync(
        tryOther({ ...scene, other: await openDevice(world) }, { otp: codeAt(scene, steps) }),
        { code: 'OTP' }
      )
  }
})

test('switching on again changes the timeout and keeps the key, so that no device is locked out', async t => {
  const scene = await makeScene()
  const { owner, key } = scene
  const other = await tryOther(scene, { otpKey: key })
  await owner.twoFactor.enableOtp(3600)
  t.is(owner.twoFactor.getOtpKey(), key)
  await other.login.refresh()
  t.is(other.twoFactor.status.otpTimeout, 3600)
  for (const timeout of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e12]) {
    await t.throwsAsync(owner.twoFactor.enableOtp(timeout), { code: 'OPTION_INVALID' })
  }
})

test('switching off clears key, timeout, reset date and reset token, here and on the server [4.5]', async t => {
  const scene = await makeScene()
  const { world, owner } = scene
  await requestReset(scene)
  await owner.login.refresh()
  t.truthy(owner.twoFactor.status.otpResetDate)
  await owner.twoFactor.disableOtp()
  const { otp, ...rest } = lastBody(world, 'DELETE /api/v2/login/otp')
  t.is(otp, codeAt(scene, 0))
  t.deepEqual(Object.keys(rest).sort(), ['loginAuth', 'loginId', 'syncToken'])
  const { otpKey, otpTimeout, otpResetDate, otpResetAuth } = recordOf(world)
  t.deepEqual([otpKey, otpTimeout, otpResetDate, otpResetAuth], [undefined, undefined, undefined, undefined])
  const file = JSON.parse(owner.files.get(`logins/${owner.login.rootLoginId}.json`) ?? '')
  for (const field of ['otpKey', 'otpTimeout', 'otpResetDate']) t.false(field in file)
  t.false(owner.twoFactor.status.isEnabled)
  t.is(owner.twoFactor.getOtpKey(), undefined)
  t.true((await tryOther(scene)).login.username === 'alice')
})

test('a reset sets its date to now plus the timeout, and the owner is notified and can cancel it [4.3] [4.4] [7.18]', async t => {
  const scene = await makeScene(3600)
  const { world, owner } = scene
  const date = await requestReset(scene)
  t.is(date.getTime(), world.clock.now() + 3_600_000)
  t.deepEqual(Object.keys(lastBody(world, 'DELETE /api/v2/login/otp')).sort(), ['otpResetAuth', 'userId'])
  await world.clock.advance(60_000)
  t.is((await requestReset(scene)).getTime(), date.getTime())
  t.is((await refusalOf(scene)).resetDate, date.toISOString())

  await owner.login.refresh()
  t.deepEqual(owner.twoFactor.status.otpResetDate, date)
  const { key } = scene
  await owner.twoFactor.cancelOtpReset()
  t.deepEqual(lastBody(world, OTP).data, { otpKey: key, otpTimeout: 3600 })
  t.is(owner.twoFactor.status.otpResetDate, undefined)
  t.is(recordOf(world).otpResetDate, undefined)

  await requestReset(scene)
  await owner.login.refresh()
  await owner.twoFactor.enableOtp(3600)
  t.is(owner.twoFactor.status.otpResetDate, undefined)
  t.is(recordOf(world).otpResetDate, undefined)
})

test('a wrong reset token is a wrong password, and without two-factor there is nothing to reset', async t => {
  const scene = await makeScene()
  const { services } = scene.other
  const { resetToken = '' } = await refusalOf(scene)
  const { username } = ALICE
  await t.throwsAsync(requestOtpReset(services, { username, resetToken: 'guess' }), { code: 'PASSWORD' })
  await t.throwsAsync(requestOtpReset(services, { username: 'bob', resetToken }), {
    code: 'ACCOUNT_NOT_FOUND'
  })
  scene.world.garble = (_, reply) => ({ ...reply, results: { otpResetDate: 'soon' } })
  await t.throwsAsync(requestOtpReset(services, { username, resetToken }), { code: 'BAD_REPLY' })
  scene.world.garble = undefined
  await scene.owner.twoFactor.disableOtp()
  await t.throwsAsync(requestOtpReset(services, { username, resetToken }), { code: 'PASSWORD' })
})

test('cancelling a reset requires two-factor to be on, else no request is sent [5.17]', async t => {
  const world = makeLoginWorld()
  const { twoFactor } = await createAlice(world)
  const error = { code: 'OTP_RESET_WITHOUT_OTP', message: 'Cannot cancel 2FA reset: 2FA is not enabled.' }
  world.requests.length = 0
  await t.throwsAsync(twoFactor.cancelOtpReset(), error)
  await twoFactor.enableOtp()
  await twoFactor.disableOtp()
  await t.throwsAsync(twoFactor.cancelOtpReset(), error)
  t.is(world.requests.filter(({ route }) => route === OTP).length, 1)
})

test('a code key that is empty or no base32 can make no codes', t => {
  for (const text of ['', '====', '  ', 'what?', 'A']) t.is(normalizeOtpKey(text), undefined, text)
  t.is(normalizeOtpKey('mfrggzdf'), 'MFRGGZDF')
})

test('a login has its date, also one that was refused for its code; a refresh leaves that date alone', async t => {
  const scene = await makeScene()
  const { world, key } = scene
  const dateOf = (device: LoginDevice): string | undefined => device.stashes.list()[0]?.lastLogin
  await world.clock.advance(60_000)
  await t.throwsAsync(tryOther(scene), { code: 'OTP' })
  const refused = dateOf(scene.other)
  t.is(refused, new Date(world.clock.now()).toISOString())
  await world.clock.advance(60_000)
  const { login } = await tryOther(scene, { otpKey: key })
  const entered = dateOf(scene.other)
  t.is(entered, new Date(world.clock.now()).toISOString())
  await world.clock.advance(3_600_000)
  await login.refresh()
  t.is(dateOf(scene.other), entered)
  world.server.db.saveLogin({ ...recordOf(world), otpKey: 'MFRGGZDFMZTWQ2LK' })
  await t.throwsAsync(login.refresh(), { code: 'OTP' })
  t.is(dateOf(scene.other), entered)
})

/** One way for another device to knock, and what comes of it. */
interface Knock {
  readonly title: string
  readonly arrange?: (scene: Scene) => Promise<void>
  readonly given?: (scene: Scene) => LoginOptions
  /** How far the clock of the other device is ahead, in steps of 30 s. */
  readonly skew?: number
  readonly outcome: 'opens' | 'OTP'
}

const verdict =
  (word: 'approveVoucher' | 'rejectVoucher') =>
  async (scene: Scene): Promise<void> => {
    const { voucherId = '' } = await refusalOf(scene)
    await scene.owner.twoFactor[word](voucherId)
  }

const withKey = ({ key }: Scene): LoginOptions => ({ otpKey: key })

const knocks: readonly Knock[] = [
  { title: 'no key', outcome: 'OTP' },
  { title: 'the right key', given: withKey, outcome: 'opens' },
  {
    title: 'the key in small letters, with padding',
    given: ({ key }) => ({ otpKey: `${key.toLowerCase()}======` }),
    outcome: 'opens'
  },
  {
    title: 'the key with digits that look like its letters',
    given: ({ key }) => ({ otpKey: key.replaceAll('O', '0').replaceAll('L', '1').replaceAll('B', '8') }),
    outcome: 'opens'
  },
  { title: 'another key', given: () => ({ otpKey: 'AAAAAAAAAAAAAAAA' }), outcome: 'OTP' },
  { title: 'a malformed key', given: () => ({ otpKey: 'what?' }), outcome: 'OTP' },
  { title: 'the right key, clock one step ahead', given: withKey, skew: 1, outcome: 'opens' },
  { title: 'the right key, clock two steps behind', given: withKey, skew: -2, outcome: 'opens' },
  { title: 'the right key, clock three steps ahead', given: withKey, skew: 3, outcome: 'OTP' },
  {
    title: 'a code that was used before',
    given: scene => ({ otp: codeAt(scene, 0) }),
    arrange: async scene => {
      const first = await openDevice(scene.world)
      await openAlice(scene.world, { device: first, otp: codeAt(scene, 0) })
    },
    outcome: 'opens'
  },
  {
    title: 'a wrong code and the right key',
    given: ({ key }) => ({ otp: '000000', otpKey: key }),
    outcome: 'OTP'
  },
  {
    title: 'the old key after two-factor was switched off and on',
    given: withKey,
    arrange: async ({ owner }) => {
      await owner.twoFactor.disableOtp()
      await owner.twoFactor.enableOtp()
    },
    outcome: 'OTP'
  },
  {
    title: 'no key after two-factor was switched off',
    arrange: ({ owner }) => owner.twoFactor.disableOtp(),
    outcome: 'opens'
  },
  {
    title: 'no key, a moment before the reset takes effect',
    arrange: async scene => {
      await requestReset(scene)
      await scene.world.clock.advance(WEEK_MS - 1000)
    },
    outcome: 'OTP'
  },
  {
    title: 'no key, when the reset takes effect',
    arrange: async scene => {
      await requestReset(scene)
      await verdict('rejectVoucher')(scene)
      await scene.world.clock.advance(WEEK_MS)
    },
    outcome: 'opens'
  },
  {
    title: 'no key, when a cancelled reset would have taken effect',
    arrange: async scene => {
      await requestReset(scene)
      await scene.owner.login.refresh()
      await scene.owner.twoFactor.cancelOtpReset()
      await verdict('rejectVoucher')(scene)
      await scene.world.clock.advance(WEEK_MS)
    },
    outcome: 'OTP'
  },
  {
    title: 'a pending voucher',
    arrange: async scene => void (await refusalOf(scene)),
    outcome: 'OTP'
  },
  { title: 'an approved voucher', arrange: verdict('approveVoucher'), outcome: 'opens' },
  { title: 'a rejected voucher', arrange: verdict('rejectVoucher'), outcome: 'OTP' },
  {
    title: 'a voucher that got no answer for a week',
    arrange: async scene => {
      await refusalOf(scene)
      await scene.world.clock.advance(WEEK_MS)
    },
    outcome: 'opens'
  },
  {
    title: 'a voucher that was rejected a week ago',
    arrange: async scene => {
      await verdict('rejectVoucher')(scene)
      await scene.world.clock.advance(WEEK_MS)
    },
    outcome: 'OTP'
  },
  {
    title: 'a voucher of another device',
    arrange: async scene => {
      await verdict('approveVoucher')({ ...scene, other: await openDevice(scene.world) })
    },
    outcome: 'OTP'
  }
]

for (const { title, arrange, given, skew = 0, outcome } of knocks) {
  test(`a new device ${outcome === 'opens' ? 'opens the account' : 'is refused'} with ${title}`, async t => {
    const plain = await makeScene()
    const { world, owner } = plain
    const clock = { ...world.clock, now: () => world.clock.now() + skew * 30_000 }
    const scene = { ...plain, other: await openDevice(world, new Map(), { io: { clock } }) }
    await arrange?.(scene)
    if (outcome === 'OTP') {
      await t.throwsAsync(tryOther(scene, given?.(scene)), { code: 'OTP', message: 'Invalid OTP token' })
      t.is(scene.other.stashes.list()[0]?.otpKey, undefined)
      t.truthy(scene.other.stashes.localUsers()[0]?.voucherId)
      return
    }
    const opened = await tryOther(scene, given?.(scene))
    const { otpKey } = recordOf(world)
    t.is(opened.twoFactor.getOtpKey(), otpKey)
    t.is(opened.twoFactor.status.isEnabled, otpKey !== undefined)
    await t.notThrowsAsync(opened.login.refresh())
    await owner.login.refresh()
    t.is(owner.twoFactor.getOtpKey(), otpKey)
  })
}

test('a device keeps its key where the server answers with true, and a typed one that logged in', async t => {
  const scene = await makeScene()
  const { world, owner, key } = scene
  world.garble = (route, reply) =>
    route === 'POST /api/v2/login' && reply.status_code === 0
      ? { ...reply, results: { ...reply.results, otpKey: true } }
      : reply
  await owner.login.refresh()
  t.is(owner.twoFactor.getOtpKey(), key)

  const typed = await tryOther(scene, { otpKey: key.toLowerCase() })
  t.is(typed.twoFactor.getOtpKey(), key)
  await t.notThrowsAsync(typed.login.refresh())

  const coded = await tryOther({ ...scene, other: await openDevice(world) }, { otp: codeAt(scene, 0) })
  t.is(coded.twoFactor.getOtpKey(), undefined)
  t.true(coded.twoFactor.status.isEnabled)
})

test('repairing two-factor needs a password login, and keeps only a key that the server takes [5.18]', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  const other = await openAlice(world)
  await owner.twoFactor.enableOtp()
  const key = owner.twoFactor.getOtpKey() ?? ''
  await t.throwsAsync(other.login.refresh(), { code: 'OTP' })
  const before = JSON.stringify([...other.files])

  world.requests.length = 0
  await t.throwsAsync(other.twoFactor.repairOtp('what?'), { code: 'OTP' })
  t.deepEqual(world.requests, [])
  await t.throwsAsync(other.twoFactor.repairOtp('AAAAAAAAAAAAAAAA'), { code: 'OTP' })
  t.is(JSON.stringify([...other.files]), before)
  await other.twoFactor.repairOtp(key.toLowerCase())
  t.deepEqual(Object.keys(world.requests.at(-1)?.body).sort(), ['otp', 'passwordAuth', 'userId'])
  t.is(other.twoFactor.getOtpKey(), key)
  await t.notThrowsAsync(other.login.refresh())
  await t.notThrowsAsync(openAlice(world, { device: await openDevice(world, other.files) }))

  await owner.credentials.deletePassword()
  await other.login.refresh()
  world.requests.length = 0
  await t.throwsAsync(other.twoFactor.repairOtp(key), {
    code: 'OTP_REPAIR_WITHOUT_PASSWORD',
    message: 'Cannot repair 2FA: this needs a login with a password'
  })
  t.deepEqual(world.requests, [])
})

test('a voucher does not make a wrong key valid: the key is refused, and the voucher stays', async t => {
  const scene = await makeScene()
  await verdict('approveVoucher')(scene)
  const { login, twoFactor } = await tryOther(scene)
  const { voucherId } = login.stash
  scene.world.garble = (_, reply) =>
    reply.status_code === 0 ? { ...reply, results: { ...reply.results, otpKey: true } } : reply
  await t.throwsAsync(twoFactor.repairOtp('AAAAAAAAAAAAAAAA'), { code: 'OTP' })
  t.is(twoFactor.getOtpKey(), scene.key)
  t.is(login.stash.voucherId, voucherId)
  await t.notThrowsAsync(login.refresh())
})

test('a logged-in device is notified when two-factor is switched on, and keeps working', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  const files = (await openAlice(world)).files
  await owner.twoFactor.enableOtp()
  const other = await openAlice(world, { device: await openDevice(world, files) })
  await settle()
  t.deepEqual(
    other.reports.map(report => (report as WalletError).code),
    ['OTP']
  )
  t.is(other.login.username, 'alice')
  t.truthy(other.stashes.localUsers()[0]?.voucherId)
})

test('a change that is refused for its code makes one voucher, which what follows it uses', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  const other = await openAlice(world)
  await other.login.refresh()
  await owner.twoFactor.enableOtp()
  await t.throwsAsync(other.credentials.changePIN({ pin: '2580' }), { code: 'OTP' })
  await settle()
  await owner.login.refresh()
  const { pendingVouchers } = owner.twoFactor.status
  t.deepEqual(
    pendingVouchers.map(({ voucherId }) => voucherId),
    [other.stashes.localUsers()[0]?.voucherId]
  )
})

test('with hidden keys the second factor is neither changed nor shown; its status is', async t => {
  const { world, owner, key } = await makeScene()
  const hiding = await openDevice(world, owner.files, { config: { hideKeys: true } })
  const { twoFactor } = await openAlice(world, { device: hiding })
  const hidden = { code: 'HIDDEN_KEYS' }
  t.throws(() => twoFactor.getOtpKey(), hidden)
  for (const change of [
    twoFactor.enableOtp(),
    twoFactor.disableOtp(),
    twoFactor.cancelOtpReset(),
    twoFactor.repairOtp(key),
    twoFactor.approveVoucher('voucher-0'),
    twoFactor.rejectVoucher('voucher-0')
  ]) {
    await t.throwsAsync(change, hidden)
  }
  t.true(twoFactor.status.isEnabled)
})

test('a lost reply to switching on locks no device out: not at the next try, not after a crash', async t => {
  const world = makeLoginWorld()
  const { twoFactor, login, files } = await createAlice(world)
  world.loseReplyOf = OTP
  await t.throwsAsync(twoFactor.enableOtp(), { code: 'NETWORK' })
  const { otpKey } = recordOf(world)
  const copy = new Map(files)
  await t.throwsAsync(twoFactor.enableOtp(), { code: 'NETWORK' })
  t.is(recordOf(world).otpKey, otpKey)
  world.loseReplyOf = undefined
  await login.refresh()
  t.is(twoFactor.getOtpKey(), otpKey)
  t.true(twoFactor.status.isEnabled)

  const restarted = await openAlice(world, { device: await openDevice(world, copy) })
  t.is(restarted.twoFactor.getOtpKey(), undefined)
  await restarted.login.refresh()
  t.is(restarted.twoFactor.getOtpKey(), otpKey)
  t.deepEqual(restarted.reports, [])
})

test('two-factor stays off if the request does not reach the server, and its key works if it arrives late', async t => {
  const world = makeLoginWorld()
  const { twoFactor, login, files } = await createAlice(world)
  world.server.isOnline = false
  await t.throwsAsync(twoFactor.enableOtp(), { code: 'NETWORK' })
  await settle()
  world.server.isOnline = true
  await login.refresh()
  t.is(twoFactor.getOtpKey(), undefined)
  t.false(twoFactor.status.isEnabled)
  const { otpKey } = login.stash
  if (otpKey === undefined) throw new Error('The key is lost')

  world.server.db.saveLogin({ ...recordOf(world), otpKey, otpTimeout: 604_800 })
  await login.refresh()
  t.is(twoFactor.getOtpKey(), otpKey)
  await twoFactor.disableOtp()
  await login.refresh()
  t.is(login.stash.otpKey, undefined)
  t.deepEqual((await openDevice(world, files)).stashes.list()[0]?.otpKey, undefined)
})

test('a lost reply to switching off is repaired by the next refresh', async t => {
  const { world, owner } = await makeScene()
  world.loseReplyOf = 'DELETE /api/v2/login/otp'
  await t.throwsAsync(owner.twoFactor.disableOtp(), { code: 'NETWORK' })
  await settle()
  t.is(owner.login.stash.otpKey, undefined)
  t.false(owner.twoFactor.status.isEnabled)
})

/** What one reply of a server may leave out. */
const GAPS: readonly (readonly [string, readonly string[]])[] = [
  ['the key', ['otpKey']],
  ['two-factor', ['otpKey', 'otpTimeout']],
  ['two-factor and the PIN', ['otpKey', 'otpTimeout', 'pin2KeyBox', 'pin2TextBox']],
  [
    'two-factor and the password',
    ['otpKey', 'otpTimeout', 'passwordBox', 'passwordAuthBox', 'passwordKeySnrp']
  ]
]

const WAYS = ['password', 'pin', 'recovery', 'key'] as const

for (const [what, fields] of GAPS) {
  test(`one reply without ${what} locks no device out of any login method, and no device needs a typed key`, async t => {
    const world = makeLoginWorld()
    const maker = await createAlice(world)
    await maker.credentials.changePIN({ pin: '4711' })
    const recoveryKey = await maker.credentials.changeRecovery(['Colour?', 'Tree?'], ['red', 'oak'])
    await maker.twoFactor.enableOtp()
    const otpKey = maker.twoFactor.getOtpKey() ?? ''
    const loginKey = maker.login.rootLoginKeyBase58()
    // A password that logs in after two-factor came opens what is kept.
    const owner = await openAlice(world, { device: await openDevice(world, maker.files) })
    await settle()
    world.garble = (route, reply) => {
      if (route.endsWith('/v2/sync')) return { ...reply, results: false }
      if (route !== 'POST /api/v2/login') return reply
      const left = Object.entries(reply.results).filter(([name]) => !fields.includes(name))
      return { ...reply, results: Object.fromEntries(left) }
    }
    await owner.login.refresh()
    t.is(
      owner.twoFactor.status.isEnabled,
      !fields.includes('otpTimeout'),
      'the account shows what the server says'
    )
    t.is(owner.twoFactor.getOtpKey(), undefined)
    world.garble = undefined
    owner.login.close()
    const kept = [...owner.files].filter(([path]) => path.includes('otpKeys/'))
    t.true(kept.length > 0)
    for (const [path, text] of kept) t.false(text.includes(otpKey), path)

    const recovery = { username: ALICE.username, recoveryKey, answers: ['red', 'oak'] }
    for (const way of WAYS) {
      const device = await openDevice(world, new Map(owner.files))
      const { services, stashes } = device
      const ways = {
        password: () => loginWithPassword(services, stashes, ALICE),
        pin: () => loginWithPin(services, stashes, { username: ALICE.username, pin: '4711' }),
        recovery: () => loginWithRecovery(services, stashes, recovery),
        key: () => loginWithKey(services, stashes, { username: ALICE.username, loginKey })
      }
      if (way === 'pin' && fields.includes('pin2KeyBox')) {
        await t.throwsAsync(ways.pin, { code: 'PIN_NOT_ENABLED' })
        continue
      }
      const login = await ways[way]()
      await login.refresh()
      t.is(login.stash.otpKey, otpKey, way)
      t.truthy(login.stash.otpTimeout, way)
      login.close()
    }
    t.deepEqual(owner.reports, [])
  })
}

test('a change that meets a forgotten two-factor key is made with the kept one', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  await owner.twoFactor.enableOtp()
  await owner.login.refresh()
  world.garble = (route, reply) => {
    if (route.endsWith('/v2/sync')) return { ...reply, results: false }
    if (route !== 'POST /api/v2/login') return reply
    return { ...reply, results: { ...reply.results, otpKey: undefined, otpTimeout: undefined } }
  }
  await owner.login.refresh()
  t.is(owner.login.stash.otpKey, undefined)
  world.garble = undefined
  await owner.credentials.changePIN({ pin: '2222' })
  t.is(owner.credentials.getPIN(), '2222')
  t.truthy(owner.login.stash.otpKey)
})

test('a refused change fetches the login, also if the refusal names no voucher and the server says that nothing has changed', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  await owner.twoFactor.enableOtp()
  world.garble = (route, reply) => {
    if (route !== 'POST /api/v2/login') return reply
    return { ...reply, results: { ...reply.results, otpKey: undefined, otpTimeout: undefined } }
  }
  await owner.login.refresh()
  t.is(owner.login.stash.otpKey, undefined)
  world.garble = undefined
  const refusals: unknown[] = []
  world.server.use(async ({ path }, next) => {
    const reply = await next()
    if (path === '/api/v2/sync') return { ...reply, body: reply.body.replace('false', 'true') }
    if (path !== '/api/v2/login/pin2' || !reply.body.includes('voucher_id')) return reply
    const { results, ...refusal } = JSON.parse(reply.body)
    refusals.push(results)
    return { ...reply, body: JSON.stringify({ ...refusal, results: { login_id: results.login_id } }) }
  })
  await owner.credentials.changePIN({ pin: '2222' })
  t.is(refusals.length, 1)
  t.is(owner.credentials.getPIN(), '2222')
  t.truthy(owner.login.stash.otpKey)
})

test('forgetting an account forgets its two-factor keys, and a refused one is not tried again and again', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  await owner.twoFactor.enableOtp()
  const { loginId } = owner.login.stash
  world.server.db.saveLogin({ ...recordOf(world), otpKey: 'MFRGGZDFMZTWQ2LK' })
  await t.throwsAsync(owner.login.refresh(), { code: 'OTP' })
  const requested = (): number => world.requests.filter(({ route }) => route === 'POST /api/v2/login').length
  const { stashes } = owner
  await stashes.update(loginId, stash => stash && { ...stash, otpKey: 'AAAAAAAA' })
  await t.throwsAsync(owner.login.refresh(), { code: 'OTP' })
  const before = requested()
  await t.throwsAsync(owner.login.refresh(), { code: 'OTP' })
  t.is(requested(), before + 1)
  t.true([...owner.files.keys()].some(path => path.includes('otpKeys/')))
  owner.login.close()
  await stashes.remove(owner.login.rootLoginId)
  t.deepEqual(
    [...owner.files.keys()].filter(path => path.includes('otpKeys/') || path.includes('logins/')),
    []
  )
})

test('a kept two-factor key counts as refused only if the server refuses it, and not if the network fails', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  await owner.twoFactor.enableOtp()
  await owner.login.refresh()
  const key = owner.twoFactor.getOtpKey()
  await owner.stashes.update(owner.login.stash.loginId, stash => stash && { ...stash, otpKey: 'AAAAAAAA' })
  let requested = 0
  world.garble = (route, reply) => {
    if (route !== 'POST /api/v2/login') return reply
    requested += 1
    // The first try, with the key of the stash, is refused; the answer to the second, with the kept key, is lost.
    if (requested === 2) throw new Error('The reply was lost')
    return reply
  }
  await t.throwsAsync(owner.login.refresh(), { code: 'NETWORK' })
  t.is(requested, 2)
  await owner.login.refresh()
  t.is(owner.twoFactor.getOtpKey(), key)
})

test('a code that was typed is tried alone, and a kept key not twice', async t => {
  const { world, owner } = await makeScene()
  await owner.login.refresh()
  const loginsIn = async (task: () => Promise<unknown>): Promise<number> => {
    const before = world.requests.length
    await t.throwsAsync(task, { code: 'OTP' })
    return world.requests.slice(before).filter(({ route }) => route === 'POST /api/v2/login').length
  }
  world.server.db.saveLogin({ ...recordOf(world), otpKey: 'MFRGGZDFMZTWQ2LK' })
  t.is(await loginsIn(() => owner.login.refresh()), 1, 'the stash has the key that is kept')
  const { loginId } = owner.login.stash
  const withPin = async (options: LoginOptions): Promise<unknown> => {
    // Of one start of the app each, as a refused key is not tried again.
    const { services, stashes } = await openDevice(world, new Map(owner.files))
    await stashes.update(loginId, stash => stash && { ...stash, otpKey: 'AAAAAAAAAAAAAAAA' })
    return loginWithPin(services, stashes, { username: ALICE.username, pin: ALICE.pin, ...options })
  }
  t.is(await loginsIn(() => withPin({})), 2, 'the kept key is another one')
  t.is(await loginsIn(() => withPin({ otp: '000000' })), 1)
  t.is(await loginsIn(() => withPin({ otpKey: 'MZXW6YTBOI' })), 1)
})

test('without two-factor a key that was typed is not kept', async t => {
  const world = makeLoginWorld()
  await createAlice(world)
  const device = await openDevice(world)
  await openAlice(world, { device, otpKey: 'MFRGGZDFMZTWQ2LK' })
  t.deepEqual(
    [...device.files.keys()].filter(path => path.includes('otpKeys/')),
    []
  )
})

test('a file of two-factor keys that holds none is no fault, and the next key that works is kept in it', async t => {
  for (const text of ['{}', '{"logins":[]}', '{"logins":null}']) {
    const world = makeLoginWorld()
    const owner = await createAlice(world)
    await owner.twoFactor.enableOtp()
    await owner.login.refresh()
    const path = [...owner.files.keys()].find(name => name.startsWith('otpKeys/')) ?? ''
    const device = await openDevice(world, new Map([...owner.files, [path, text]]))
    const { loginId } = owner.login.stash
    t.deepEqual(await device.stashes.otpKeys.find({ rootId: loginId, loginId }, {}), [])
    const other = await openAlice(world, { device })
    await other.login.refresh()
    t.deepEqual(device.reports, [], text)
    const loginKey = base58.decode(other.login.rootLoginKeyBase58())
    const found = await device.stashes.otpKeys.find({ rootId: loginId, loginId }, { loginKey })
    t.deepEqual(found, [owner.twoFactor.getOtpKey()], text)
  }
})

test('a server that sends one two-factor key after another does not displace a long-used one', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  const { loginId } = owner.login.stash
  const login = { rootId: loginId, loginId }
  const openers = { loginKey: base58.decode(owner.login.rootLoginKeyBase58()) }
  const { otpKeys } = owner.stashes
  const keep = async (otpKey: string, seconds: number): Promise<void> => {
    await otpKeys.save(login, otpKey, openers)
    await world.clock.advance(seconds * 1000)
  }
  await keep('FIRST', 90_000)
  await keep('OWNERS', 86_400)
  for (let lie = 0; lie < 20; lie += 1) await keep(`LIE${lie}`, 30 + (lie % 7))
  const found = await otpKeys.find(login, openers)
  t.is(found.length, 4)
  t.is(found[0], 'LIE19')
  t.deepEqual(found.slice(-2), ['OWNERS', 'FIRST'])
  await keep('OWNERS', 1)
  t.deepEqual(
    (await otpKeys.find(login, openers)).slice(0, 2),
    ['OWNERS', 'LIE19'],
    'what works again is the newest'
  )
})

test('a code that was typed shows nothing about the key that this device has, which is not kept for it', async t => {
  const scene = await makeScene()
  const { world, owner, key } = scene
  const { loginId } = owner.login.stash
  const wrong = 'MFRGGZDFMZTWQ2LK'
  const other = await tryOther(scene, { otpKey: key })
  const { services, stashes } = other
  const loginKey = base58.decode(other.login.rootLoginKeyBase58())
  other.login.close()
  world.garble = (route, reply) =>
    route === 'POST /api/v2/login' ? { ...reply, results: { ...reply.results, otpKey: true } } : reply
  const { passwordBox: _box, ...stash } = owner.login.stash
  await stashes.save({ ...stash, otpKey: wrong })
  await loginWithPassword(services, stashes, { ...ALICE, otp: codeAt(scene, 0) })
  t.is(stashes.get(loginId)?.otpKey, wrong, 'nor is it taken away')
  t.deepEqual(await stashes.otpKeys.find({ rootId: loginId, loginId }, { loginKey }), [key])
})

test('a change that a server keeps refusing for its code fails after two tries', async t => {
  const { world, owner } = await makeScene()
  let tries = 0
  world.garble = (route, reply) => {
    if (route !== 'POST /api/v2/login/pin2') return reply
    tries += 1
    if (tries > 5) throw new Error('There is no end to it')
    return { status_code: 8, message: 'Invalid OTP', results: { login_id: recordOf(world).loginId } }
  }
  await t.throwsAsync(owner.credentials.changePIN({ pin: '2580' }), { code: 'OTP' })
  t.is(tries, 2)
})

test('a long-used two-factor key is kept, whatever newer keys a server sends', async t => {
  const { disk, services: device } = await openDevice(makeLoginWorld())
  const { io } = device
  const reports: unknown[] = []
  let days = 1
  const clock = { ...io.clock, now: () => days * 86_400_000 }
  const report = (_: string, error: unknown): void => void reports.push(error)
  const keys = new SavedOtpKeys({ ...device, io: { ...io, clock }, report })
  const login = { rootId: io.crypto.toBase64(io.random(32)), loginId: 'login' }
  const openers = { loginKey: io.random(32) }
  // The owner logs in on many days, the last time just before the server begins to lie.
  for (const day of [1, 50, 100]) {
    days = day
    await keys.save(login, 'OWN', openers)
  }
  for (const day of [101, 103, 105, 107]) {
    days = day
    await keys.save(login, `LIE${day}`, openers)
  }
  t.deepEqual(await keys.find(login, openers), ['LIE107', 'LIE105', 'LIE103', 'OWN'])
  disk.cutPower()
  await keys.save(login, 'NEXT', openers)
  t.is(reports.length, 1, 'who logs in is told that the key is not kept')
})

test('a key that was kept while the clock of the device was fast outlives the keys of a server that lies', async t => {
  const { services: device } = await openDevice(makeLoginWorld())
  const { io } = device
  let days = 900
  const keys = new SavedOtpKeys({
    ...device,
    io: { ...io, clock: { ...io.clock, now: () => days * 86_400_000 } }
  })
  const login = { rootId: io.crypto.toBase64(io.random(32)), loginId: 'login' }
  const openers = { loginKey: io.random(32) }
  await keys.save(login, 'OWN', openers)
  for (const day of [101, 103, 105, 107]) {
    days = day
    await keys.save(login, `LIE${day}`, openers)
  }
  t.deepEqual(await keys.find(login, openers), ['LIE107', 'LIE105', 'LIE103', 'OWN'])
})

test('kept two-factor keys open with the newest of each secret, whichever of the others has changed or is lost', async t => {
  const { stashes, reports } = await openDevice(makeLoginWorld())
  const keyOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
  const idOf = (byte: number): string => Buffer.from(keyOf(byte)).toString('base64')
  const ids = { rootId: idOf(1), loginId: idOf(2) }
  const kept = stashes.otpKeys
  await kept.save(ids, 'FIRST', { loginKey: keyOf(3), pin2Key: keyOf(4), recovery2Key: keyOf(5) })
  await kept.save(ids, 'FIRST', { loginKey: keyOf(3), pin2Key: keyOf(6) })
  const find = (openers: OtpKeyOpeners): Promise<readonly string[]> => kept.find(ids, openers)
  t.deepEqual(await find({ pin2Key: keyOf(6) }), ['FIRST'])
  t.deepEqual(await find({ recovery2Key: keyOf(5) }), ['FIRST'])
  t.deepEqual(await find({ loginKey: keyOf(3) }), ['FIRST'])
  t.deepEqual(await find({ pin2Key: keyOf(4) }), [])
  // What opens with another login key is sealed anew, for everything in hand.
  await kept.save(ids, 'SECOND', { loginKey: keyOf(7), pin2Key: keyOf(6) })
  t.deepEqual(await find({ pin2Key: keyOf(6) }), ['SECOND'])
  t.deepEqual(await find({ loginKey: keyOf(7) }), ['SECOND'])
  t.deepEqual(reports.length, 0)
})

test('a reset is cancelled with the key and the timeout of two-factor, and not where one of them is not known', async t => {
  const { otpKey, ...tree } = (await makeScene()).owner.login.tree
  t.truthy(otpKey)
  const cancel = (changes: object): unknown => otpResetCancellation({ ...tree, ...changes } as LoginTree)
  t.like(cancel({ otpKey, otpTimeout: 7 }), { serverBody: { otpTimeout: 7 }, stash: { otpTimeout: 7 } })
  for (const known of [{ otpKey, otpTimeout: undefined }, { otpTimeout: 7 }, { otpTimeout: undefined }])
    t.throws(() => cancel(known), { code: 'OTP_RESET_WITHOUT_OTP' })
})

test('the timeout of two-factor is from a second to a hundred years', async t => {
  const { owner } = await makeScene()
  const change = (timeout: number): unknown => otpChange(owner.services.io, owner.login.tree, timeout)
  const century = 100 * 365 * 86_400
  for (const timeout of [0.5, 1, 604_800, century])
    t.like(change(timeout), { serverBody: { otpTimeout: timeout }, stash: { otpTimeout: timeout } })
  for (const timeout of [0, -1, century + 1, Number.NaN, Number.POSITIVE_INFINITY, '7' as never])
    t.throws(() => change(timeout), { code: 'OPTION_INVALID' }, `${timeout}`)
})

test('a code key that is to prove itself is sent to the server, although nothing has changed there', async t => {
  const { owner, key, world } = await makeScene()
  await owner.login.refresh()
  const { io } = owner.services
  const credentials = credentialsOf(io, owner.login.tree)
  await t.throwsAsync(owner.login.refresh({ credentials, otpKey: base32Of(new Uint8Array(10)) }), {
    code: 'OTP'
  })
  const before = world.requests.length
  await owner.login.refresh({ credentials, otpKey: key })
  t.is(world.requests[before]?.route, 'POST /api/v2/login')
})

test('kept two-factor keys are tried for a refused code alone, and not for any other refusal', async t => {
  const { owner, world } = await makeScene()
  const { loginId } = owner.login.stash
  const openers = { loginKey: base58.decode(owner.login.rootLoginKeyBase58()) }
  await owner.stashes.otpKeys.save({ rootId: loginId, loginId }, base32Of(new Uint8Array(10)), openers)
  const before = world.requests.length
  world.garble = () => ({ status_code: 4, message: 'Invalid password' })
  await t.throwsAsync(owner.login.refresh(), { code: 'PASSWORD' })
  const routes = world.requests.slice(before).map(({ route }) => route)
  t.is(routes.filter(route => route === 'POST /api/v2/login').length, 1)
})

test('a two-factor key is kept for PIN and recovery of the login that it belongs to, not for those of its root', async t => {
  const { services, stashes } = await openDevice(makeLoginWorld())
  const { io } = services
  const textOf = (byte: number): string => io.crypto.toBase64(new Uint8Array(32).fill(byte))
  const keysOf = (first: number) => ({ pin2Key: textOf(first), recovery2Key: textOf(first + 1) })
  const child = { appId: 'app', loginId: 'child', pendingVouchers: [], ...keysOf(3) }
  const root = { appId: '', loginId: 'root', pendingVouchers: [], ...keysOf(1), children: [child] }
  const saved: [string, OtpKeyOpeners][] = []
  const save = async ({ loginId }: { loginId: string }, _: string, openers: OtpKeyOpeners): Promise<void> => {
    const { loginKey, ...others } = openers
    saved.push([loginId, { ...others, loginKey: loginKey?.slice() }])
  }
  const known = { get: (id: string) => (id === 'root' ? root : undefined), otpKeys: { save } }
  const loginKey = new Secret(new Uint8Array(32).fill(9))
  for (const [rootId, loginId] of [
    ['root', 'child'],
    ['root', 'root'],
    ['root', 'gone'],
    ['gone', 'gone']
  ] as const)
    await saveOtpKey(services, known as unknown as typeof stashes, {
      ...{ rootId, loginId, otpKey: 'KEY', loginKey }
    })
  const bytesOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
  const nothing = { pin2Key: undefined, recovery2Key: undefined, loginKey: bytesOf(9) }
  t.deepEqual(saved, [
    ['child', { pin2Key: bytesOf(3), recovery2Key: bytesOf(4), loginKey: bytesOf(9) }],
    ['root', { pin2Key: bytesOf(1), recovery2Key: bytesOf(2), loginKey: bytesOf(9) }],
    ['gone', nothing],
    ['gone', nothing]
  ])
})

/** The two-factor keys of a login on a device whose clock a test sets, in seconds. */
const makeKept = async () => {
  const { services: device, disk } = await openDevice(makeLoginWorld())
  const { io } = device
  const time = { seconds: 0 }
  const clock = { ...io.clock, now: () => time.seconds * 1000 }
  const keys = new SavedOtpKeys({ ...device, io: { ...io, clock } })
  const login = { rootId: io.crypto.toBase64(io.random(32)), loginId: 'login' }
  const openers = { loginKey: io.random(32) }
  const save = async (...saved: readonly (readonly [otpKey: string, seconds: number])[]): Promise<void> => {
    for (const [otpKey, seconds] of saved) {
      time.seconds = seconds
      await keys.save(login, otpKey, openers)
    }
  }
  return { io, disk, keys, login, openers, save, find: () => keys.find(login, openers) }
}

test('of many keys the one goes that was the newest for the shortest time, by the key that came after it', async t => {
  const { save, find } = await makeKept()
  await save(['X', 1], ['Y', 2], ['OWN', 3], ['Z', 100], ['W', 101])
  t.deepEqual(await find(), ['W', 'Z', 'OWN', 'Y'])
  await save(['V', 110])
  t.deepEqual(await find(), ['V', 'W', 'Z', 'OWN'])
})

test('keys that a server sends within one second displace each other, and not the one of the owner', async t => {
  const { save, find } = await makeKept()
  await save(['OWN', 1], ['A', 100], ['B', 100], ['C', 100], ['D', 100], ['E', 100])
  const found = await find()
  t.is(found[0], 'E')
  t.true(found.includes('OWN'), found.join())
})

test('a password opens kept keys only where there are some, and is not derived for what it does not seal', async t => {
  const { io, disk, keys, login, openers, save } = await makeKept()
  const snrp = { salt_hex: '00'.repeat(32), n: 16, r: 1, p: 1 }
  const key = io.random(32)
  let derived = 0
  const passwordKeyOf = async (): Promise<Uint8Array> => {
    derived += 1
    return key
  }
  await keys.savePassword(login, openers.loginKey, { snrp, key })
  t.deepEqual(await disk.list('otpKeys'), [])
  await save(['OWN', 1])
  t.deepEqual(await keys.find(login, { passwordKeyOf }), [])
  t.is(derived, 0)
  await keys.savePassword(login, openers.loginKey, { snrp, key })
  t.deepEqual(await keys.find(login, { passwordKeyOf }), ['OWN'])
  t.is(derived, 1)
})
