import type { ExecutionContext } from 'ava'
import test from 'ava'
import { TwoFactor } from '../../kernel/account/two-factor.ts'
import { base58Of } from '../../kernel/crypto/encoding.ts'
import { loginWithKey } from '../../kernel/login/methods/key.ts'
import type { LoginStash } from '../../kernel/types/login.ts'
import { passWalletError } from '../helpers/drawn-runs.ts'
import { FAULT_KINDS, makeFaultDisk } from '../helpers/fault-disk.ts'
import { type LoginWorld, settle } from '../helpers/login-device.ts'
import { recordsOf } from '../helpers/login-ids.ts'
import {
  ALICE,
  makeAlice,
  type OpenedDevice,
  openAppDevice,
  openByPassword,
  openByPin,
  withCredentials
} from '../helpers/login-methods.ts'

const NEW_PASSWORD = 'battery staple'
const NEW_PIN = '2580'
/** Writes of `otpKeys/<id>.json` and its double. */
const SECOND_COPY_WRITES = 2

/** A change, and what must be there before it. */
interface Change {
  readonly prepare?: (device: OpenedDevice) => Promise<unknown>
  readonly make: (device: OpenedDevice) => Promise<unknown>
}

const twoFactorOf = ({ services, login }: OpenedDevice): TwoFactor => new TwoFactor({ services, login })

const changes: Readonly<Record<string, Change>> = {
  'a new password': { make: ({ credentials }) => credentials.changePassword(NEW_PASSWORD) },
  'no password': { make: ({ credentials }) => credentials.deletePassword() },
  'a new PIN': { make: ({ credentials }) => credentials.changePIN({ pin: NEW_PIN }) },
  'PIN login off': { make: ({ credentials }) => credentials.changePIN({ enableLogin: false }) },
  'PIN login on': {
    prepare: ({ credentials }) => credentials.changePIN({ enableLogin: false }),
    make: ({ credentials }) => credentials.changePIN({ enableLogin: true })
  },
  'no PIN': { make: ({ credentials }) => credentials.deletePIN() },
  recovery: { make: ({ credentials }) => credentials.changeRecovery(['Where?'], ['here']) },
  'no recovery': {
    prepare: ({ credentials }) => credentials.changeRecovery(['Where?'], ['here']),
    make: ({ credentials }) => credentials.deleteRecovery()
  },
  'two-factor': { make: device => twoFactorOf(device).enableOtp() },
  'no two-factor': {
    prepare: device => twoFactorOf(device).enableOtp(),
    make: device => twoFactorOf(device).disableOtp()
  }
}

/** Where a stash and the server differ in what a login can be opened by. Empty is good. */
const differencesOf = (world: LoginWorld, stash: LoginStash): string[] => {
  const nodes = [stash, ...(stash.children ?? [])]
  return recordsOf(world).flatMap(record => {
    const node = nodes.find(({ loginId }) => loginId === record.loginId)
    const pairs: Record<string, [unknown, unknown]> = {
      pin: [node?.pin2Key === undefined, record.pin2Auth === undefined],
      pinText: [node?.pin2TextBox, record.pin2TextBox],
      password: [node?.passwordBox, record.passwordBox],
      passwordCost: [node?.passwordKeySnrp, record.passwordKeySnrp],
      passwordProof: [node?.passwordAuthBox, record.passwordAuthBox],
      recovery: [node?.recovery2Key === undefined, record.recovery2Auth === undefined],
      // A key that the server does not have yet waits for a late request, and does nothing.
      otp: [node?.otpTimeout === undefined ? undefined : node.otpKey, record.otpKey]
    }
    return Object.entries(pairs)
      .filter(([, [here, there]]) => textOf(here) !== textOf(there))
      .map(([name]) => `${name} of '${record.appId}'`)
  })
}

const textOf = (value: unknown): string => JSON.stringify(value, sortedKeys) ?? ''

const sortedKeys = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
    : value

/** Whether a login in one of two ways works. */
const works = async (
  open: (secret: string) => Promise<OpenedDevice>,
  secrets: string[]
): Promise<boolean> => {
  for (const secret of secrets) {
    const device = await open(secret).catch(passWalletError)
    device?.login.close()
    if (device !== undefined) return true
  }
  return false
}

/** After the next login the device is as the server is, each way in works or not as the server says. */
const checkRepaired = async (
  t: ExecutionContext,
  { world, files, rootKey }: { world: LoginWorld; files: Map<string, string>; rootKey: string },
  { label, make }: { label: string; make: Change['make'] }
): Promise<void> => {
  const device = await openAppDevice(world, files)
  const { username } = ALICE
  const login = await loginWithKey(device.services, device.stashes, { username, loginKey: rootKey })
  await login.refresh()
  t.deepEqual(differencesOf(world, login.stash), [], label)

  const root = recordsOf(world).find(({ appId }) => appId === '')
  const passwords = [ALICE.password, NEW_PASSWORD]
  const byPassword = (password: string): Promise<OpenedDevice> => openByPassword(world, files, { password })
  t.is(await works(byPassword, passwords), root?.passwordAuth !== undefined, label)
  const byPin = (pin: string): Promise<OpenedDevice> => openByPin(world, files, { pin })
  // The root and the app's login change one after the other, and the PIN of either logs in.
  const hasPin = recordsOf(world).some(({ pin2Auth }) => pin2Auth !== undefined)
  t.is(await works(byPin, [ALICE.pin, NEW_PIN]), hasPin, label)

  await t.notThrowsAsync(make(withCredentials(device, login)), `${label}, again`)
  t.deepEqual(differencesOf(world, login.stash), [], `${label}, again`)
}

for (const [name, { prepare, make }] of Object.entries(changes)) {
  const makePrepared = async () => {
    const { world, alice } = await makeAlice()
    await prepare?.(alice)
    const rootKey = alice.login.getSnapshot().held.loginKey.use(base58Of)
    return { world, alice, files: alice.files, rootKey }
  }

  test(`${name}: the next login repairs the change after any lost request or reply`, async t => {
    for (const lost of ['request', 'reply'] as const) {
      for (const at of [1, 2]) {
        const { alice, ...place } = await makePrepared()
        let count = 0
        const restore = place.world.server.use(async (_, next) => {
          count += 1
          if (count > at || (count === at && lost === 'request')) throw new Error('Cut off')
          const reply = await next()
          if (count === at) throw new Error('Cut off')
          return reply
        })
        const failed = await make(alice).then(
          () => false,
          () => true
        )
        alice.login.close()
        await settle()
        restore()
        t.true(failed || at > 1, `${lost} ${at}`)
        await checkRepaired(t, place, { label: `${lost} ${at}`, make })
      }
    }
  })

  test(`${name}: the next login repairs the change after any failed write`, async t => {
    const { alice: probe } = await makePrepared()
    const before = probe.disk.writeCount
    await make(probe)
    const writes = probe.disk.writeCount - before
    t.true(writes > 0)
    for (let at = 1; at <= writes; at += 1) {
      for (const kind of FAULT_KINDS) {
        const { alice, ...place } = await makePrepared()
        alice.login.close()
        const disk = makeFaultDisk(place.files, { at, kind })
        const device = await openAppDevice(place.world, place.files, { disk })
        const { username } = ALICE
        const login = await loginWithKey(device.services, device.stashes, {
          username,
          loginKey: place.rootKey
        })
        await settle()
        t.is(disk.writeCount, 0, 'nothing was written yet')
        const error = await make(withCredentials(device, login)).then(
          () => undefined,
          (reason: unknown) => reason
        )
        // The second copy of a two-factor key that worked is written last: without it the change is done all the same.
        const isSecondCopy = name === 'two-factor' && at > writes - SECOND_COPY_WRITES
        t.true(error !== undefined || isSecondCopy, `${kind} at ${at} of ${writes}`)
        t.true(disk.hasFired)
        place.world.server.isOnline = false
        login.close()
        await settle()
        place.world.server.isOnline = true
        await checkRepaired(t, place, { label: `${kind} at ${at}`, make })
      }
    }
  })
}

test('a process that goes on after a full disk repairs the change automatically', async t => {
  const { world, alice } = await makeAlice()
  const rootKey = alice.login.getSnapshot().held.loginKey.use(base58Of)
  alice.login.close()
  const disk = makeFaultDisk(alice.files, { at: 1, kind: 'full' })
  const device = await openAppDevice(world, alice.files, { disk })
  const login = await loginWithKey(device.services, device.stashes, {
    username: ALICE.username,
    loginKey: rootKey
  })
  await settle()
  const { credentials } = withCredentials(device, login)
  await t.throwsAsync(credentials.changePassword(NEW_PASSWORD), { code: 'STORAGE_FULL' })
  await settle()
  t.deepEqual(differencesOf(world, login.stash), [])
  t.true(await credentials.checkPassword(NEW_PASSWORD))
})
