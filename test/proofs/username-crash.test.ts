import test from 'ava'
import { base58Of } from '../../kernel/crypto/encoding.ts'
import { userIdOf } from '../../kernel/login/derive.ts'
import { loginWithKey } from '../../kernel/login/methods/key.ts'
import { FAULT_KINDS, makeFaultDisk } from '../helpers/fault-disk.ts'
import { type LoginWorld, settle } from '../helpers/login-device.ts'
import { recordsOf, strayIds } from '../helpers/login-ids.ts'
import {
  ALICE,
  makeAlice,
  type OpenedDevice,
  openAppDevice,
  openByPassword,
  openByPin,
  takeRoutes,
  withCredentials
} from '../helpers/login-methods.ts'

const { password } = ALICE
const NEW_NAME = { username: 'bob', password }

/** An account after an interruption. */
interface Wreck {
  readonly world: LoginWorld
  readonly files: Map<string, string>
  /** The name that the server has; undefined for none. */
  readonly username: string | undefined
  /** Base58. */
  readonly rootKey: string
}

/** Every way to go on, each the first thing that happens after the interruption. */
const ways: Readonly<Record<string, (wreck: Wreck) => Promise<OpenedDevice>>> = {
  'a login by PIN': ({ world, files }) => openByPin(world, files),
  'a login by password': ({ username = ALICE.username, ...wreck }) => openNamed(wreck, username),
  'a login by key': wreck => openByKey(wreck),
  'a login by password under the name that the device knows': async wreck => {
    const { stashes } = await openAppDevice(wreck.world, wreck.files)
    return openNamed(wreck, stashes.localUsers()[0]?.username ?? '')
  },
  'the same change again': async wreck => {
    const device = await openByKey(wreck)
    await device.credentials.changeUsername(NEW_NAME)
    return device
  }
}

const openNamed = ({ world, files }: Omit<Wreck, 'username'>, username: string): Promise<OpenedDevice> =>
  openByPassword(world, files, { username })

const openByKey = async ({ world, files, rootKey }: Wreck): Promise<OpenedDevice> => {
  const device = await openAppDevice(world, files)
  const [user] = device.stashes.localUsers()
  const login = await loginWithKey(device.services, device.stashes, {
    loginId: user?.loginId ?? '',
    loginKey: rootKey
  })
  return withCredentials(device, login)
}

/** An account with two apps, and what the wreck of it needs. */
const makeTwoApps = async (options: object = {}) => {
  const { world, alice } = await makeAlice(options)
  await alice.login.ensureAccountRepo('other.app')
  await alice.login.refresh()
  const rootKey = alice.login.getSnapshot().held.loginKey.use(base58Of)
  const wreckOf = async (files: Map<string, string>): Promise<Wreck> => {
    const { crypto } = alice.services.io
    const { userId } = recordsOf(world).find(({ appId }) => appId === '') ?? {}
    const isNew = userId === crypto.toBase64(await userIdOf(alice.services.io, NEW_NAME.username))
    const username = isNew ? NEW_NAME.username : userId === undefined ? undefined : ALICE.username
    return { world, files, username, rootKey }
  }
  return { world, alice, wreckOf }
}

/** A refresh, and then nothing is left to do; the account has one of the two names and every id follows from it. */
const endOf = async (wreck: Wreck, device: OpenedDevice, way: string): Promise<string[]> => {
  await device.login.refresh()
  const strays = await strayIds(wreck.world, device)
  const wanted = way === 'the same change again' ? NEW_NAME.username : wreck.username
  if (device.login.username !== wanted) strays.push(`is called ${device.login.username}`)
  device.login.close()
  const later = await openByPin(wreck.world, wreck.files)
  later.login.close()
  return strays
}

for (const lost of ['request', 'reply'] as const) {
  // The first request asks what the account is called now.
  for (const at of [1, 2, 3, 4]) {
    for (const [way, goOn] of Object.entries(ways)) {
      test(`a change of username that loses ${lost} ${at} is complete after ${way}`, async t => {
        const { world, alice, wreckOf } = await makeTwoApps()
        let count = 0
        const restore = world.server.use(async (_, next) => {
          count += 1
          if (count > at || (count === at && lost === 'request')) throw new Error('Cut off')
          const reply = await next()
          if (count === at) throw new Error('Cut off')
          return reply
        })
        await t.throwsAsync(alice.credentials.changeUsername(NEW_NAME), { code: 'NETWORK' })
        alice.login.close()
        await settle()
        restore()
        const wreck = await wreckOf(alice.files)
        const isBefore = at === 1 || (lost === 'request' && at === 2)
        t.is(wreck.username, isBefore ? ALICE.username : NEW_NAME.username)
        t.deepEqual(await endOf(wreck, await goOn(wreck), way), [])
      })
    }
  }
}

test('a change of username is whole after a crash at any write, for the first login by PIN and by key', async t => {
  let crashes = 0
  for (const options of [{}, { username: undefined, password: undefined }]) {
    const { world: _, alice: probe } = await makeTwoApps(options)
    const before = probe.disk.writeCount
    await probe.credentials.changeUsername(NEW_NAME)
    const writes = probe.disk.writeCount - before
    for (let at = 1; at <= writes; at += 1) {
      for (const kind of FAULT_KINDS) {
        for (const way of ['a login by PIN', 'a login by key']) {
          const label = `${kind} at ${at}, ${way}`
          const { world, alice, wreckOf } = await makeTwoApps(options)
          const { files } = alice
          alice.login.close()
          const healthy = await openByPin(world, files)
          healthy.login.close()
          const disk = makeFaultDisk(files, { at, kind })
          const device = await openByPin(world, files, { disk })
          t.is(disk.writeCount, 0, label)
          await t.throwsAsync(device.credentials.changeUsername(NEW_NAME), undefined, label)
          t.true(disk.hasFired, label)
          world.server.isOnline = false
          device.login.close()
          await settle()
          world.server.isOnline = true
          const wreck = await wreckOf(files)
          t.deepEqual(await endOf(wreck, await (ways[way] as (typeof ways)[string])(wreck), way), [], label)
          crashes += 1
        }
      }
    }
  }
  t.log(`${crashes} crashes`)
  t.true(crashes > 0)
})

test('a process that goes on after a lost reply finishes the change automatically', async t => {
  const { world, alice } = await makeTwoApps()
  world.loseReplyOf = 'POST /api/v2/login/username'
  await t.throwsAsync(alice.credentials.changeUsername(NEW_NAME), { code: 'NETWORK' })
  world.loseReplyOf = undefined
  await settle()
  t.is(alice.login.username, NEW_NAME.username)
  t.deepEqual(await strayIds(world, alice), [])
  takeRoutes(world)
  await alice.credentials.changeUsername(NEW_NAME)
  t.deepEqual(takeRoutes(world), ['POST /login'], 'it asks, and changes nothing')
})

test('a device that cannot finish the change still opens, and tries again', async t => {
  const { world, alice } = await makeTwoApps()
  const other = await openByPassword(world)
  world.loseReplyOf = 'POST /api/v2/login/username'
  await t.throwsAsync(alice.credentials.changeUsername(NEW_NAME), { code: 'NETWORK' })
  alice.login.close()
  other.logLines.length = 0
  await other.login.refresh()
  t.is(other.login.username, NEW_NAME.username)
  t.not((await strayIds(world, other)).length, 0)
  t.is(other.logLines.length, 1)
  world.loseReplyOf = undefined
  await other.login.refresh()
  t.deepEqual(await strayIds(world, other), [])
})
