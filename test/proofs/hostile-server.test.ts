import type { ExecutionContext } from 'ava'
import test from 'ava'
import { isWalletError } from '../../kernel/base/errors.ts'
import { Secret } from '../../kernel/base/secret.ts'
import { sealBox } from '../../kernel/crypto/box.ts'
import { base58Of } from '../../kernel/crypto/encoding.ts'
import { makeWalletInfo } from '../../kernel/keys/wallet-info.ts'
import { recoveryChange, voucherChange } from '../../kernel/login/changes.ts'
import type { Login } from '../../kernel/login/login.ts'
import { createLogin } from '../../kernel/login/methods/create.ts'
import { loginWithKey } from '../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../kernel/login/methods/password.ts'
import { loginWithPin } from '../../kernel/login/methods/pin.ts'
import { loginWithRecovery } from '../../kernel/login/methods/recovery.ts'
import type { LoginStash } from '../../kernel/types/login.ts'
import { type Attack, makeAttacks, makeFieldAttacks } from '../helpers/login-attacks.ts'
import {
  CHEAP,
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  openDevice,
  settle,
  type Untyped
} from '../helpers/login-device.ts'

const ALICE = { username: 'alice', password: 'correct horse', pin: '1234' }
const ANSWERS = ['Blue Door', 'mulberry']
// A repo and a wallet of the root and of each app.
const WALLETS = 6

/** Alice, whose root and two apps have wallets, a password, PINs and recovery; and what her device keeps. */
interface Victim {
  readonly world: LoginWorld
  readonly files: ReadonlyMap<string, string>
  readonly loginKey: string
  readonly recoveryKey: string
  readonly attacks: readonly Attack[]
  readonly fieldAttacks: readonly Attack[]
}

const makeVictim = async (): Promise<Victim> => {
  const world = makeLoginWorld()
  const device = await openDevice(world)
  const { io } = device.services
  const login = await createLogin(device.services, device.stashes, { ...ALICE, snrp: CHEAP })
  await login.ensureAccountRepo()
  await login.addWalletInfos([makeWalletInfo(io, 'wallet:bitcoin')])
  const answers = new Secret<readonly string[]>(ANSWERS)
  await login.change(({ held }) => [recoveryChange(io, held, { questions: ['Door?', 'Tree?'], answers })])
  const loginKey = login.rootLoginKeyBase58()
  for (const appId of ['first', 'second']) {
    const app = await openDevice(world, device.files, { config: { appId } })
    const opened = await loginWithKey(app.services, app.stashes, { username: 'alice', loginKey })
    await opened.ensureAccountRepo()
    await opened.addWalletInfos([makeWalletInfo(io, 'wallet:bitcoin')])
    await opened.refresh()
  }
  const stranger = await makeStranger(world)
  const loot = { stranger, box: sealBox(io, new Uint8Array(32), new Uint8Array(32)) }
  return {
    world,
    files: new Map(device.files),
    loginKey,
    recoveryKey: base58Of(io.crypto.fromBase64(stashOf(device.files).recovery2Key ?? '')),
    attacks: makeAttacks(loot),
    fieldAttacks: makeFieldAttacks(loot)
  }
}

/** The reply that another user of the server gets. */
const makeStranger = async (world: LoginWorld): Promise<Untyped> => {
  const device = await openDevice(world, new Map(), { config: { appId: 'first' } })
  const login = await createLogin(device.services, device.stashes, {
    ...{ username: 'bob', password: 'battery staple', snrp: CHEAP }
  })
  await login.ensureAccountRepo()
  let reply: Untyped
  world.garble = (_, honest) => {
    reply = honest.results
    return honest
  }
  await login.refresh()
  world.garble = undefined
  return reply
}

const stashOf = (files: ReadonlyMap<string, string>): LoginStash =>
  JSON.parse([...files].find(([path]) => path.startsWith('logins/') && path.endsWith('.json'))?.[1] ?? '{}')

/** A way by which a reply reaches the stash. */
interface Door {
  readonly name: string
  readonly isNewDevice?: boolean
  /** Up to the request that gets the wrong reply. */
  readonly prepare?: (device: LoginDevice, victim: Victim) => Promise<Login>
  readonly enter: (device: LoginDevice, victim: Victim, login: Login | undefined) => Promise<unknown>
}

const withKey = ({ services, stashes }: LoginDevice, { loginKey }: Victim): Promise<Login> =>
  loginWithKey(services, stashes, { username: 'alice', loginKey })

const withPassword = ({ services, stashes }: LoginDevice): Promise<Login> =>
  loginWithPassword(services, stashes, ALICE)

const withRecovery = ({ services, stashes }: LoginDevice, { recoveryKey }: Victim): Promise<Login> =>
  loginWithRecovery(services, stashes, { username: 'alice', recoveryKey, answers: ANSWERS })

const REFRESH: Door = {
  name: 'a refresh',
  prepare: withKey,
  enter: async (_, __, login) => login?.refresh()
}

const DOORS: readonly Door[] = [
  REFRESH,
  {
    name: 'a change that is answered',
    prepare: withKey,
    enter: async (_, __, login) => login?.change(({ held }) => [voucherChange(held, 'rejected', ['none'])])
  },
  { name: 'a key', enter: withKey },
  { name: 'a password that opens offline', enter: withPassword },
  { name: 'a password on a new device', isNewDevice: true, enter: withPassword },
  { name: 'a PIN', enter: ({ services, stashes }) => loginWithPin(services, stashes, ALICE) },
  { name: 'recovery', enter: withRecovery },
  { name: 'recovery on a new device', isNewDevice: true, enter: withRecovery }
]

const LOGIN_ROUTES = ['POST /api/v2/login', 'POST /api/v2/login/vouchers']

const lie =
  ({ change }: Attack) =>
  (route: string, reply: Untyped): unknown => {
    if (route.endsWith('/v2/sync')) return { ...reply, results: false }
    if (!LOGIN_ROUTES.includes(route) || reply.status_code !== 0) return reply
    const changed = change(reply.results)
    return typeof changed === 'string' ? changed : { ...reply, results: changed }
  }

/** What a new device has to believe, having nothing to compare with; there the account must be forgotten first. */
const BELIEVED: ReadonlySet<string> = new Set([
  'this user under the id of another',
  'an id that nobody has',
  'another user id',
  'a child with another app',
  'children that changed ids'
])

/** What may never change, and what may only be there or not: the server's word decides that. */
const LASTING = ['appId', 'loginId', 'username', 'userId', 'loginAuthBox', 'parentBox'] as const
const SAME_OR_GONE = [
  ...(['passwordBox', 'passwordKeySnrp', 'passwordAuthBox'] as const),
  ...(['pin2Key', 'recovery2Key', 'otpKey'] as const)
]

const checkNoWorse = (t: ExecutionContext, found: LoginStash, known: LoginStash): void => {
  for (const field of LASTING) t.deepEqual(found[field], known[field], field)
  for (const field of SAME_OR_GONE) if (field in found) t.deepEqual(found[field], known[field], field)
  t.deepEqual(found.keyBoxes, known.keyBoxes)
  // Of a new login that contradicts itself the names are kept, and nothing else.
  const others = (found.children ?? []).filter(({ loginAuthBox }) => loginAuthBox !== undefined)
  t.is(others.length, (known.children ?? []).length)
  for (const [at, child] of (known.children ?? []).entries()) {
    const other = others[at]
    if (other !== undefined) checkNoWorse(t, other, child)
  }
}

/** Without dates of logins and vouchers, which a server gives and takes, and with the children in an order that no server can change. */
const plain = ({
  lastLogin: _,
  voucherId: __,
  voucherAuth: ___,
  children = [],
  ...stash
}: LoginStash): object => ({
  ...stash,
  children: children.map(plain).sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
})

/** Lets one lie in by one door, then looks at the device, and at what an honest server makes of it. */
const tryDoor = async (t: ExecutionContext, { victim, door }: Entrance, attack: Attack): Promise<void> => {
  const { world } = victim
  const known = stashOf(victim.files)
  const files = new Map(door.isNewDevice === true ? [] : victim.files)
  const device = await openDevice(world, files)
  const login = await door.prepare?.(device, victim)
  if (login !== undefined) await settle()
  world.garble = lie(attack)
  try {
    await door.enter(device, victim, login)
  } catch (error) {
    t.true(isWalletError(error), `${error}`)
  }
  await settle()
  world.garble = undefined
  if (login !== undefined) t.is(login.walletInfos.length, WALLETS)
  if (door.isNewDevice !== true) {
    t.is(device.stashes.list().length, 1)
    for (const stash of [stashOf(files), ...device.stashes.list()]) checkNoWorse(t, stash, known)
    if (JSON.stringify(plain(stashOf(files))) === JSON.stringify(plain(known))) return
  }
  const isBelieved = door.isNewDevice === true && BELIEVED.has(attack.name)
  const healed = await withPassword(await openDevice(world, isBelieved ? new Map() : files))
  await healed.refresh()
  if (!isBelieved) t.deepEqual(plain(stashOf(files)), plain(known))
  t.is(healed.walletInfos.length, WALLETS)
}

interface Entrance {
  readonly victim: Victim
  readonly door: Door
}

const tryAll = async (t: ExecutionContext, entrance: Entrance, attacks: readonly Attack[]): Promise<void> => {
  const { victim } = entrance
  for (const attack of attacks) {
    const attempt = await t.try(attack.name, async inner => await tryDoor(inner, entrance, attack))
    if (!attempt.passed) t.log(attack.name)
    const kind = attack.kind ?? attack.name
    const row = table.get(kind) ?? { tried: 0, held: 0 }
    table.set(kind, { tried: row.tried + 1, held: row.held + (attempt.passed ? 1 : 0) })
    attempt.commit()
  }
  t.deepEqual(Object.keys(Object.prototype), [])
  t.is((Object.prototype as { isRoot?: boolean }).isRoot, undefined)
  const device = await openDevice(victim.world, new Map(victim.files))
  for (const { prepare, enter } of DOORS) await enter(device, victim, await prepare?.(device, victim))
  await settle()
  t.deepEqual(device.reports, [])
}

/** How often each kind of hostile server was let in, and how often the device was none the worse for it. */
const table = new Map<string, { readonly tried: number; readonly held: number }>()

test.after.always('each kind of hostile login server is counted', t => {
  const rows = [...table].sort()
  const sum = (field: 'tried' | 'held'): number => rows.reduce((count, [, row]) => count + row[field], 0)
  for (const [kind, { tried, held }] of rows) t.log(`${kind}: ${held} of ${tried} held`)
  t.log(`${rows.length} kinds of hostile login server, ${sum('held')} of ${sum('tried')} attempts held`)
  // A run of single tests does not meet them all.
  if (rows.length > 0 && sum('tried') > 1000) t.true(rows.length >= KINDS)
})

/** As many as were tried from outside. */
const KINDS = 44

for (const door of DOORS) {
  test(`no false reply of a server damages the stash in a login by ${door.name}`, async t => {
    const victim = await makeVictim()
    await tryAll(t, { victim, door }, victim.attacks)
  })
}

test('no field of another type and no box in another place leaves a worse stash', async t => {
  const victim = await makeVictim()
  await tryAll(t, { victim, door: REFRESH }, victim.fieldAttacks)
})
