import test from 'ava'
import fc from 'fast-check'
import { FakeDb } from '../../../fake-server/accounts/fake-db.ts'
import { openPersistentWorld } from '../../../fake-server/fake-world.ts'
import { deviceFilesOf } from '../../../fake-server/users/device-files.ts'
import { dumpFakeUser } from '../../../fake-server/users/dump-user.ts'
import { loadFakeUser, type UserWorld } from '../../../fake-server/users/load-user.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { openJson, sealText } from '../../../kernel/crypto/box.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { boxOf, id } from '../../helpers/fake-login.ts'
import type { Untyped } from '../../helpers/login-device.ts'
import { readVectorFile } from '../../vectors/vector.ts'

const io = makeNodeIo()
const { crypto } = io
const clock = makeFakeClock()

const makeWorld = (): UserWorld & { io: typeof io } => ({ db: new FakeDb(crypto), crypto, clock, io })

/** A deep copy to garble. */
const userOf = (index: number): Untyped =>
  structuredClone(readVectorFile('world').vectors[index]?.inputs.fakeUser)

const keyOf = (user: Untyped) => ({
  loginId: user.loginId,
  loginKey: crypto.fromBase64(user.loginKey),
  username: user.username
})

const stateOf = ({ db }: UserWorld): string => JSON.stringify([...db.entries()])

test('a user goes into a world and comes out as it was, with the repos of all its keys', t => {
  for (const index of [0, 1]) {
    const world = makeWorld()
    const user = userOf(index)
    loadFakeUser(world, user)
    const dumped = dumpFakeUser(world, keyOf(user))
    t.deepEqual(dumped as unknown, user)
    const again = makeWorld()
    loadFakeUser(again, JSON.parse(JSON.stringify(dumped)))
    t.is(stateOf(again), stateOf(world))
  }
})

test('a user comes out with the repos of the wallets that only files of an old account name', t => {
  const world = makeWorld()
  const user = userOf(0)
  loadFakeUser(world, user)
  const hex = (byte: number, length: number): string => crypto.toHex(new Uint8Array(length).fill(byte))
  const { loginKey } = keyOf(user)
  const info = world.db.login(user.loginId)?.keyBoxes?.map(box => openJson(io, loginKey, box) as Untyped)
  const account = info?.find(({ type }) => type.startsWith('account'))
  const dataKey = crypto.fromBase64(account.keys.dataKey)
  const syncKey = crypto.toHex(crypto.fromBase64(account.keys.syncKey))
  const legacy = { MK: hex(1, 32), SyncKey: hex(2, 20).toUpperCase(), BitcoinSeed: hex(3, 32) }
  const seal = (text: string) => sealText(io, dataKey, text)
  world.db.createRepos([hex(2, 20), hex(4, 20)])
  world.db.commit(syncKey, {
    'Wallets/1.json': seal(JSON.stringify(legacy)),
    'Wallets/2.json': seal('no JSON'),
    'Wallets/3.json': sealText(io, new Uint8Array(32), JSON.stringify({ ...legacy, SyncKey: hex(4, 20) }))
  })
  world.db.commit(hex(2, 20), { 'WalletName.json': seal('{}') })
  const { repos } = dumpFakeUser(world, keyOf(user))
  t.deepEqual(Object.keys(repos[hex(2, 20)] ?? {}), ['WalletName.json'])
  t.false(Object.hasOwn(repos, hex(4, 20)), 'a file of another key names nothing')
})

test('only root logins can be dumped, by their own key [6.3]', t => {
  const world = makeWorld()
  const user = userOf(0)
  loadFakeUser(world, user)
  const child = { ...keyOf(user), loginId: user.server.children[0].loginId }
  const refused = t.throws(() => dumpFakeUser(world, child), { code: 'DUMP_OF_CHILD' })
  t.is(refused?.message, 'Only root logins are dumpable.')
  t.throws(() => dumpFakeUser(world, { ...keyOf(user), loginId: id(1) }), { code: 'ACCOUNT_NOT_FOUND' })
  const wrong = { ...keyOf(user), loginKey: new Uint8Array(32) }
  t.true(isWalletError(t.throws(() => dumpFakeUser(world, wrong))))
  t.is(dumpFakeUser(world, keyOf(user)).server.appId, '')
})

const BOXES = [
  ...[
    'loginAuthBox',
    'passwordAuthBox',
    'passwordBox',
    'pin2Box',
    'pin2KeyBox',
    'pin2TextBox',
    'recovery2Box'
  ],
  ...['recovery2KeyBox', 'question2Box', 'syncKeyBox', 'mnemonicBox', 'rootKeyBox', 'userTextBox']
]
const SNRP = { salt_hex: '00ff', n: 16, r: 1, p: 1 }

test('a login record keeps every field, through a dump and a saved world [3.9]', t => {
  const world = makeWorld()
  const loginKey = new Uint8Array(32).fill(7)
  const seal = (text: string) => sealText(io, loginKey, text.padEnd(32, '.'))
  const voucher = {
    ...{ voucherId: 'voucher-0', voucherAuth: 'qrs=', status: 'rejected', loginId: id(1) },
    ...{ activates: '2026-01-08T00:00:00.000Z', created: '2026-01-01T00:00:00.000Z' },
    ...{ ip: 'localhost', ipDescription: 'here', deviceDescription: 'A tablet' }
  }
  const child = {
    appId: 'a',
    loginId: id(2),
    created: '2021-01-01T00:00:00.000Z',
    keyBoxes: [],
    vouchers: []
  }
  const server = {
    ...Object.fromEntries(BOXES.map(name => [name, seal(name)])),
    ...{ loginId: id(1), userId: id(3), appId: '', created: '2020-01-01T00:00:00.000Z' },
    ...{ passwordAuth: id(4), passwordAuthSnrp: SNRP, passwordKeySnrp: SNRP, loginAuth: id(5) },
    ...{ pin2Id: id(6), pin2Auth: id(7), recovery2Id: id(8), recovery2Auth: [id(9), id(10)] },
    ...{ otpKey: 'UDLS6IABHPBTNYFO', otpTimeout: 60, otpResetAuth: 'token' },
    ...{ otpResetDate: '2030-01-01T00:00:00.000Z', vouchers: [voucher], keyBoxes: [], children: [] },
    ...{ syncKeyBox: sealText(io, loginKey, 'k'.repeat(20)) }
  }
  const parentBox = seal('parentBox')
  const auth = { loginAuth: id(11), loginAuthBox: seal('child') }
  const user = {
    username: 'userTextBox.....................',
    lastLogin: '2025-01-01T00:00:00.000Z',
    loginId: id(1),
    loginKey: crypto.toBase64(loginKey),
    repos: {},
    server: { ...server, children: [{ ...child, ...auth, parentBox, children: [] }] }
  }
  loadFakeUser(world, user)
  const saved = new FakeDb(crypto)
  for (const entry of world.db.entries()) saved.apply(JSON.parse(JSON.stringify(entry)))
  const record = saved.login(id(1))
  t.deepEqual(
    Object.keys(record ?? {}).sort(),
    [...Object.keys(server).filter(name => name !== 'children'), 'lastLogin'].sort()
  )
  t.deepEqual([saved.login(id(2))?.parentId, saved.login(id(2))?.parentBox], [id(1), parentBox])
  t.deepEqual(
    saved.childrenOf(id(1)).map(({ loginId }) => loginId),
    [id(2)]
  )
  t.is(record?.lastLogin, user.lastLogin)
})

test('a user that is there already, even by one id, is refused, and nothing changes', t => {
  const world = makeWorld()
  loadFakeUser(world, userOf(0))
  loadFakeUser(world, userOf(1))
  const before = stateOf(world)
  for (const index of [0, 1]) t.throws(() => loadFakeUser(world, userOf(index)), { code: 'ACCOUNT_EXISTS' })
  const { server } = userOf(0)
  const other = (fields: object): unknown => ({
    ...userOf(0),
    loginId: id(1),
    server: { appId: '', loginId: id(1), ...fields }
  })
  for (const name of ['userId', 'pin2Id', 'recovery2Id']) {
    t.throws(() => loadFakeUser(world, other({ [name]: server[name] })), { code: 'ACCOUNT_EXISTS' }, name)
  }
  // An old account is known by its loginId.
  t.throws(() => loadFakeUser(world, other({ userId: userOf(1).loginId })), { code: 'ACCOUNT_EXISTS' })
  t.is(stateOf(world), before)
})

test('an invalid or contradictory user is refused with the wrong field, and nothing changes', t => {
  const garble: Record<string, (user: Untyped) => unknown> = {
    list: () => [],
    text: () => 'user',
    nothing: () => null,
    key: user => ({ ...user, loginKey: 'no base64' }),
    date: user => ({ ...user, lastLogin: 'soon' }),
    repos: user => ({ ...user, repos: { xyz: {} } }),
    path: user => ({ ...user, repos: { ab: { '../x': boxOf(1) } } }),
    box: user => ({ ...user, repos: { ab: { x: 5 } } }),
    server: user => ({ ...user, server: undefined }),
    another: user => ({ ...user, loginId: id(1) }),
    app: user => ({ ...user, server: { ...user.server, appId: 'a' } }),
    children: user => ({ ...user, server: { ...user.server, children: {} } }),
    child: user => ({ ...user, server: { ...user.server, children: [5] } }),
    voucher: user => ({ ...user, server: { ...user.server, vouchers: [{ voucherId: 'x' }] } }),
    twins: user => ({
      ...user,
      server: { ...user.server, children: [...user.server.children, ...user.server.children] }
    }),
    itself: user => ({ ...user, server: { ...user.server, children: [user.server] } }),
    apps: user => {
      const [child] = user.server.children
      return {
        ...user,
        server: { ...user.server, children: [child, { ...child, loginId: id(1), pin2Id: undefined }] }
      }
    },
    deep: user => {
      let server: Untyped = { appId: 'x', loginId: id(1) }
      for (let depth = 0; depth < 9; depth += 1)
        server = { appId: `${depth}`, loginId: id(depth + 2), children: [server] }
      return { ...user, loginId: server.loginId, server: { ...server, appId: '' } }
    }
  }
  const world = makeWorld()
  const before = stateOf(world)
  for (const [name, change] of Object.entries(garble)) {
    const error = t.throws(() => loadFakeUser(world, change(userOf(0))), { code: 'BAD_REPLY' }, name)
    t.regex(error?.message ?? '', /fake user|saved entry/, name)
  }
  t.is(stateOf(world), before)
})

test('a minimal user gets what the format leaves out, and a deleted one can be loaded again with its files alone', t => {
  const world = makeWorld()
  const user = userOf(0)
  const minimal = { loginId: id(1), loginKey: id(2), repos: {}, server: { appId: '', loginId: id(1) } }
  loadFakeUser(world, minimal)
  const { created, vouchers, keyBoxes } = world.db.login(id(1)) ?? {}
  t.deepEqual([created, vouchers, keyBoxes], ['2026-01-01T00:00:00.000Z', [], []])
  loadFakeUser(world, user)
  const [key = ''] = Object.keys(user.repos)
  world.db.commit(key, { 'another.json': boxOf(5), 'PluginSettings.json': null })
  world.db.deleteLogin(user.loginId)
  loadFakeUser(world, user)
  t.deepEqual(dumpFakeUser(world, keyOf(user)) as unknown, user)
})

test('a device of a user has a stash, and its repos with a status, in the deployed layout', t => {
  const files = deviceFilesOf({ io, clock }, [userOf(0), userOf(1)])
  const paths = [...files.keys()]
  t.deepEqual(
    paths.filter(path => path.startsWith('logins/')),
    [
      'logins/7u3qvzsBwZN7RtcKSHgLpLBu51pB4cfXxsWWEtcmgc9L.json',
      'logins/CYKJjM3C6ZaY6nWFbiV1r7k2MsP6U1Ba3Kf66SDummJ4.json'
    ]
  )
  const stash = JSON.parse(files.get(paths.find(path => path.startsWith('logins/7u')) ?? '') ?? '')
  t.deepEqual([stash.username, stash.lastLogin], ['marble heron', '2024-05-06T07:08:09.000Z'])
  t.is(stash.children[0].appId, 'net.example.child')
  t.false('syncToken' in stash)
  const status = paths.filter(path => path.endsWith('/status.json'))
  t.is(status.length, 4)
  for (const path of status) t.deepEqual(JSON.parse(files.get(path) ?? ''), { lastSync: 1, lastHash: null })
  t.is(paths.filter(path => /^repos\/[^/]+\/data\//.test(path)).length, 15)
  t.throws(() => deviceFilesOf({ io, clock }, [userOf(0), userOf(0)]), { code: 'ACCOUNT_EXISTS' })
  const wrong = { ...userOf(0), loginKey: id(1) }
  t.true(isWalletError(t.throws(() => deviceFilesOf({ io, clock }, [wrong]))))
})

test('no garbage in place of a user or of a part of it changes a world, and each is refused', t => {
  const world = makeWorld()
  loadFakeUser(world, userOf(1))
  const before = stateOf(world)
  const fields = Object.keys(userOf(0).server)
  const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(id(1), boxOf(1), 'AA==', {}, []))
  const garbled = fc
    .tuple(fc.constantFrom('server', 'child', 'user'), fc.dictionary(fc.constantFrom(...fields), value))
    .map(([place, change]) => {
      const user = userOf(0)
      if (place === 'user') return { ...user, ...change, loginId: id(1) }
      if (place === 'server') return { ...user, server: { ...user.server, ...change, loginId: id(1) } }
      const [child] = user.server.children
      return { ...user, server: { ...user.server, children: [{ ...child, ...change, loginAuth: 5 }] } }
    })
  fc.assert(
    fc.property(fc.oneof(garbled, fc.jsonValue()), user => {
      const error = t.throws(() => loadFakeUser(world, user))
      return isWalletError(error, 'BAD_REPLY') && stateOf(world) === before
    }),
    { numRuns: 300 }
  )
})

test('a loaded user survives in a world on a disk', async t => {
  const files = new Map<string, string>()
  const open = () => openPersistentWorld({ disk: memoryDisk(files), io })
  const first = await open()
  const user = userOf(0)
  loadFakeUser({ db: first.server.db, crypto, clock }, user)
  await first.close()
  const again = await open()
  const { db } = again.server
  t.deepEqual(dumpFakeUser({ io, db, clock: again.clock }, keyOf(user)) as unknown, user)
  await again.close()
})
