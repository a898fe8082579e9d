import test from 'ava'
import type { WalletError } from '../../../kernel/base/errors.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { fetchLoginMessages } from '../../../kernel/login/server.ts'
import type { PendingVoucher } from '../../../kernel/types/login.ts'
import { type AliceDevice, createAlice, lastBody, openAlice, recordOf } from '../../helpers/alice.ts'
import {
  CHEAP,
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  openDevice
} from '../../helpers/login-device.ts'

const VOUCHERS = 'POST /api/v2/login/vouchers'
const WEEK_MS = 7 * 86_400_000

interface Scene {
  readonly world: LoginWorld
  readonly owner: AliceDevice
  /** Has Alice's password, and no key. */
  readonly phone: LoginDevice
}

/** Alice with two-factor on, and her phone, which has just been refused. */
const makeScene = async (): Promise<Scene> => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  await owner.twoFactor.enableOtp()
  const phone = await openDevice(world, new Map(), { config: { deviceDescription: 'A red phone' } })
  await knock({ world, owner, phone })
  return { world, owner, phone }
}

/** Tries to log in without a code; gives the voucher that waits then. */
const knock = async ({ world, phone }: Scene): Promise<string> => {
  try {
    await openAlice(world, { device: phone })
  } catch (error) {
    return (error as WalletError<'OTP'>).details.voucherId ?? ''
  }
  throw new Error('The login was not refused')
}

const heldBy = ({ phone }: Scene): string => phone.stashes.localUsers()[0]?.voucherId ?? ''

const statusOf = ({ world }: Scene, voucherId: string): string | undefined =>
  recordOf(world).vouchers.find(voucher => voucher.voucherId === voucherId)?.status

test('a waiting device is shown with its description, its address and its dates [3.4]', async t => {
  const scene = await makeScene()
  const { world, owner } = scene
  t.deepEqual(owner.twoFactor.status.pendingVouchers, [])
  await owner.login.refresh()
  const now = world.clock.now()
  const expected: PendingVoucher = {
    voucherId: heldBy(scene),
    activates: new Date(now + WEEK_MS).toISOString(),
    created: new Date(now).toISOString(),
    ip: 'localhost',
    ipDescription: 'here',
    deviceDescription: 'A red phone'
  }
  t.deepEqual(owner.twoFactor.status.pendingVouchers, [expected])
  const restarted = await openDevice(world, owner.files)
  t.deepEqual(restarted.stashes.list()[0]?.pendingVouchers, [expected])

  const { deviceDescription: _, ...plain } = expected
  world.garble = (_, reply) => ({ ...reply, results: { ...reply.results, pendingVouchers: [plain] } })
  await owner.login.refresh()
  t.deepEqual(owner.twoFactor.status.pendingVouchers, [plain])
})

test('a stored voucher is pending, then approved or rejected [3.5] [4.1] [7.14]', async t => {
  const scene = await makeScene()
  const { world, owner } = scene
  const first = heldBy(scene)
  t.is(await knock(scene), first, 'a device that asks again waits on with the voucher that it has')
  const second = await knock({ ...scene, phone: await openDevice(world) })
  await owner.login.refresh()
  t.deepEqual(
    [first, second].map(id => statusOf(scene, id)),
    ['pending', 'pending']
  )

  await owner.twoFactor.approveVoucher(first)
  const { data, ...auth } = lastBody(world, VOUCHERS)
  t.deepEqual(data, { approvedVouchers: [first] })
  t.deepEqual(Object.keys(auth).sort(), ['loginAuth', 'loginId', 'otp', 'syncToken'])
  t.deepEqual(
    owner.twoFactor.status.pendingVouchers.map(({ voucherId }) => voucherId),
    [second]
  )
  await owner.twoFactor.rejectVoucher(second)
  t.deepEqual(lastBody(world, VOUCHERS).data, { rejectedVouchers: [second] })
  t.deepEqual(
    [first, second].map(id => statusOf(scene, id)),
    ['approved', 'rejected']
  )
  t.deepEqual(owner.twoFactor.status.pendingVouchers, [])
  t.deepEqual(owner.login.stash.pendingVouchers, [])
})

test('a device with a voucher logs in only once it is approved, and then gets the key [4.2]', async t => {
  const scene = await makeScene()
  const { world, owner, phone } = scene
  await owner.twoFactor.rejectVoucher(heldBy(scene))
  await owner.twoFactor.approveVoucher(await knock(scene))
  const opened = await openAlice(world, { device: phone })
  const body = lastBody(world, 'POST /api/v2/login')
  t.is(body.otp, undefined)
  t.is(body.voucherId, heldBy(scene))
  t.is(body.deviceDescription, 'A red phone')
  t.is(opened.twoFactor.getOtpKey(), owner.twoFactor.getOtpKey())
  const another = await openDevice(world)
  await t.throwsAsync(openAlice(world, { device: another }), { code: 'OTP' })
})

test('the voucher is on the disk before the error is raised, and survives a restart [8.13]', async t => {
  const { world, owner, phone } = await makeScene()
  const restarted = await openDevice(world, phone.files)
  const [user] = restarted.stashes.localUsers()
  t.is(user?.username, 'alice')
  t.is(restarted.stashes.list()[0]?.loginId, recordOf(world).loginId)
  await owner.twoFactor.approveVoucher(user?.voucherId ?? '')
  t.is((await openAlice(world, { device: restarted })).login.username, 'alice')
})

test('an unanswered voucher lets its device log in after a week by the clock of the server', async t => {
  const scene = await makeScene()
  const { world, owner, phone } = scene
  await world.clock.advance(WEEK_MS - 1)
  const early = heldBy(scene)
  await owner.login.refresh()
  t.deepEqual(
    owner.twoFactor.status.pendingVouchers.map(({ voucherId }) => voucherId),
    [early]
  )
  await world.clock.advance(1)
  await openAlice(world, { device: phone })
  await owner.login.refresh()
  t.deepEqual(owner.twoFactor.status.pendingVouchers, [])
})

test('a lost reply to an approval is repaired by the next refresh', async t => {
  const scene = await makeScene()
  const { world, owner, phone } = scene
  await owner.login.refresh()
  world.loseReplyOf = VOUCHERS
  await t.throwsAsync(owner.twoFactor.approveVoucher(heldBy(scene)), { code: 'NETWORK' })
  world.loseReplyOf = undefined
  await owner.login.refresh()
  t.deepEqual(owner.twoFactor.status.pendingVouchers, [])
  await t.notThrowsAsync(openAlice(world, { device: phone }))
})

test('messages cover every user of the device in one request [3.14] [7.19]', async t => {
  const scene = await makeScene()
  const { world, phone } = scene
  const bob = { username: 'bob', password: 'battery staple' }
  const login = await createLogin(phone.services, phone.stashes, { ...bob, snrp: CHEAP })
  world.requests.length = 0
  const messages = await fetchLoginMessages(phone.services, phone.stashes.list())
  const alice = recordOf(world)
  const bobId = login.stash.loginId
  t.deepEqual(world.requests, [
    { route: 'POST /api/v2/messages', body: { loginIds: [bobId, alice.loginId] } }
  ])
  const quiet = { otpResetPending: false, pendingVouchers: [], recovery2Corrupt: false }
  const [voucher] = alice.vouchers
  t.deepEqual(messages[0], { loginId: bobId, username: 'bob', ...quiet })
  t.is(messages[1]?.username, 'alice')
  t.is(messages[1]?.otpResetPending, false)
  t.is(messages[1]?.recovery2Corrupt, false)
  t.deepEqual(
    messages[1]?.pendingVouchers.map(({ voucherId, deviceDescription }) => [voucherId, deviceDescription]),
    [[voucher?.voucherId, 'A red phone']]
  )

  world.server.db.saveLogin({ ...alice, otpResetDate: new Date(world.clock.now() + 1000).toISOString() })
  const news = await fetchLoginMessages(phone.services, phone.stashes.list())
  t.deepEqual(
    news.map(({ otpResetPending }) => otpResetPending),
    [false, true]
  )
})

test('a device without users fetches no messages', async t => {
  const world = makeLoginWorld()
  const { services, stashes } = await openDevice(world)
  t.deepEqual(await fetchLoginMessages(services, stashes.list()), [])
  t.deepEqual(world.requests, [])
})

test('an invalid entry, or one of a stranger, leaves the messages of the others', async t => {
  const { world, phone } = await makeScene()
  const { loginId } = recordOf(world)
  const stranger = { loginId: `${'A'.repeat(43)}=` }
  const results = [
    null,
    7,
    { loginId: 'short' },
    stranger,
    { loginId, pendingVouchers: null, recovery2Corrupt: true }
  ]
  world.garble = (_, reply) => ({ ...reply, results })
  phone.logLines.length = 0
  t.deepEqual(await fetchLoginMessages(phone.services, phone.stashes.list()), [
    { loginId, username: 'alice', otpResetPending: false, pendingVouchers: [], recovery2Corrupt: true }
  ])
  t.is(phone.logLines.length, 3)
  world.garble = (_, reply) => ({ ...reply, results: [{ loginId, otpResetPending: 'yes' }] })
  t.deepEqual(await fetchLoginMessages(phone.services, phone.stashes.list()), [])
  world.garble = (_, reply) => ({ ...reply, results: { loginId } })
  await t.throwsAsync(fetchLoginMessages(phone.services, phone.stashes.list()), { code: 'BAD_REPLY' })
  world.server.isOnline = false
  await t.throwsAsync(fetchLoginMessages(phone.services, phone.stashes.list()), { code: 'NETWORK' })
})
