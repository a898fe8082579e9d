import test from 'ava'
import { WalletError } from '../../../kernel/base/errors.ts'
import { base58Of } from '../../../kernel/crypto/encoding.ts'
import {
  idNameOf,
  parseStashFile,
  patchLogin,
  patchStash,
  renameStash,
  replaceStash,
  stashTextOf
} from '../../../kernel/login/stash.ts'
import { openStashes, saveVoucher } from '../../../kernel/login/stashes.ts'
import { openCredentialFiles } from '../../../kernel/sync/credential-files.ts'
import type { LoginStash } from '../../../kernel/types/login.ts'
import type { UserSnapshot } from '../../../kernel/types/snapshots.ts'
import type { FakeClock } from '../../../testing/fake-clock.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { makeLoginWorld, openDevice } from '../../helpers/login-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'

const idOf = (n: number): Uint8Array => new Uint8Array(32).fill(n)
const base64 = (n: number): string => Buffer.from(idOf(n)).toString('base64')
const pathOf = (n: number): string => `logins/${base58Of(idOf(n))}.json`

const stashOf = (n: number, more: Partial<LoginStash> = {}): LoginStash => ({
  appId: '',
  loginId: base64(n),
  username: `user ${n}`,
  lastLogin: `2026-01-0${n}T00:00:00.000Z`,
  pendingVouchers: [],
  ...more
})

const BOX = { encryptionType: 0, data_base64: 'AAAA', iv_hex: '00' }

test('logins are listed last used first, and saving one puts it first [3.13]', async t => {
  const world = makeLoginWorld()
  const { stashes, files, services } = await openDevice(world)
  const reported: string[][] = []
  services.hooks.usersChanged.tap('test', users => void reported.push(users.map(user => user.username ?? '')))
  for (const n of [2, 3, 1]) await stashes.save(stashOf(n))
  t.deepEqual(reported.at(-1), ['user 1', 'user 3', 'user 2'])
  const again = await openDevice(world, files)
  t.deepEqual(
    again.stashes.localUsers().map(({ username }) => username),
    ['user 3', 'user 2', 'user 1']
  )
  t.is(again.stashes.find({ loginId: base58Of(idOf(2)) })?.username, 'user 2')
  t.is(again.stashes.find({ username: 'user 1' })?.loginId, base64(1))
  t.is(again.stashes.find({ loginId: '0OIl' }), undefined)
})

test('the list of users holds the last login of each, where it is known', async t => {
  const { stashes, services } = await openDevice(makeLoginWorld())
  const reported: (readonly UserSnapshot[])[] = []
  services.hooks.usersChanged.tap('test', users => void reported.push(users))
  const { lastLogin: _never, ...first } = stashOf(1)
  const { username: _, ...second } = stashOf(2, { pin2Key: base64(3), pin2TextBox: BOX })
  await stashes.save(second)
  await stashes.save(first)
  t.deepEqual(reported.at(-1), [
    { loginId: base58Of(idOf(1)), isPinLoginEnabled: false, isLoggedIn: false, username: 'user 1' },
    { loginId: base58Of(idOf(2)), isPinLoginEnabled: true, isLoggedIn: false, lastLogin: second.lastLogin }
  ] as never)
})

test('only a root login with an id of 32 bytes is saved, and never its sync token [3.11]', async t => {
  const { stashes, files } = await openDevice(makeLoginWorld())
  for (const bad of [{ appId: 'app' }, { loginId: '' }, { loginId: 'AAAA' }]) {
    await t.throwsAsync(stashes.save(stashOf(1, bad)), { code: 'INCOMPLETE_LOGIN' })
  }
  t.is(files.size, 0)
  const child = { ...stashOf(2), appId: 'app', syncToken: 'secret' }
  await stashes.save(stashOf(1, { syncToken: 'secret', children: [child] }))
  t.true(files.has(pathOf(1)))
  t.false([...files.values()].join().includes('secret'))
  t.is(stashes.get(base64(1))?.syncToken, 'secret')
})

test('a login is kept in logins/{id}.json with every field of the specification [3.10]', async t => {
  const box = { encryptionType: 0, data_base64: 'AAAA', iv_hex: '00' }
  const snrp = { salt_hex: '00', n: 2, r: 1, p: 1 }
  const date = '2026-01-01T00:00:00.000Z'
  const place = { ip: 'localhost', ipDescription: 'here', deviceDescription: 'A phone' }
  const full = {
    ...{
      appId: '',
      created: date,
      lastLogin: date,
      loginId: base64(1),
      userId: base64(2),
      username: 'alice'
    },
    ...{ otpKey: 'AAAA', otpResetDate: date, otpTimeout: 7, voucherId: 'v', voucherAuth: 'qrs=' },
    ...{ loginAuthBox: box, parentBox: box, mnemonicBox: box, rootKeyBox: box, syncKeyBox: box },
    ...{ passwordAuthBox: box, passwordAuthSnrp: snrp, passwordBox: box, passwordKeySnrp: snrp },
    ...{ pin2Key: base64(3), pin2TextBox: box, recovery2Key: base64(4), keyBoxes: [box] },
    pendingVouchers: [{ voucherId: 'w', activates: date, created: date, ...place }],
    children: [stashOf(5, { appId: 'app' })]
  }
  const { stashes, files } = await openDevice(makeLoginWorld())
  await stashes.save(full)
  t.deepEqual(JSON.parse(files.get(pathOf(1)) ?? ''), full)
  const again = await openDevice(makeLoginWorld(), files)
  t.deepEqual(again.stashes.get(base64(1)), full)
})

test('files of deployed clients are read in every spelling', async t => {
  const pin2Key = base58Of(idOf(9))
  const files = new Map([
    [
      pathOf(1),
      JSON.stringify({ ...stashOf(1, { username: ' Mixed  Case ', pin2Key }), unknown: 1, otpKey: null })
    ],
    ['logins/old-name.json', JSON.stringify({ appId: '', loginId: base64(2) })],
    ['logins/older-name.json', JSON.stringify({ appId: '', loginId: base64(1), username: 'old' })],
    ['logins/note.txt', 'hello']
  ])
  const { stashes, disk, reports } = await openDevice(makeLoginWorld(), files)
  t.is(disk.writeCount, 0)
  t.deepEqual(reports, [])
  t.is(stashes.get(base64(1))?.username, 'mixed case')
  t.is(stashes.get(base64(1))?.pin2Key, base64(9))
  t.deepEqual(stashes.get(base64(2))?.pendingVouchers, [])
  await stashes.remove(base58Of(idOf(1)))
  t.deepEqual([...files.keys()].filter(path => path.startsWith('logins/')).sort(), [
    'logins/note.txt',
    'logins/old-name.json'
  ])
})

test('a file that is no stash is reported, skipped and kept, also when its login comes back', async t => {
  const texts = [
    '',
    '{',
    '[]',
    '{"loginId":5}',
    '{"__proto__":{}}',
    JSON.stringify(stashOf(1, { appId: 'app' })),
    JSON.stringify(stashOf(1, { username: 'bäd' })),
    JSON.stringify(stashOf(1, { pin2Key: '!' })),
    JSON.stringify({ ...stashOf(1), lastLogin: 'never' }),
    JSON.stringify({ ...stashOf(1), loginId: Buffer.alloc(31).toString('base64') }),
    `{"children":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
  ]
  for (const text of texts) {
    const files = new Map([
      [pathOf(1), text],
      [pathOf(2), JSON.stringify(stashOf(2))]
    ])
    const { stashes, reports } = await openDevice(makeLoginWorld(), files)
    t.deepEqual(
      stashes.list().map(({ loginId }) => loginId),
      [base64(2)],
      text
    )
    t.is((reports[0] as { code?: string })?.code, 'CORRUPT_FILE', text)
    t.is(files.get(pathOf(1)), text)
    await stashes.save(stashOf(1))
    t.true(
      [...files].some(([path, kept]) => path.startsWith('quarantine/') && kept === text),
      text
    )
    t.is((await openDevice(makeLoginWorld(), files)).stashes.list().length, 2)
  }
})

test('a file of a later version, sound but unreadable, is put aside before its login is saved again', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const io = makeRepoIo()
  const doubled = openCredentialFiles({ io, disk, report: error => t.fail(String(error)) })
  const later = JSON.stringify({ ...stashOf(1), pendingVouchers: 'see elsewhere' })
  await doubled.setText(pathOf(1), later)
  const { stashes, reports } = await openDevice(makeLoginWorld(), files)
  t.is(reports.length, 1)
  t.is(stashes.list().length, 0)
  await stashes.save(stashOf(1))
  await stashes.save(stashOf(1, { voucherId: 'v' }))
  const copies = [...files].filter(([path, kept]) => path.startsWith('quarantine/') && kept === later)
  t.is(copies.length, 1)
  for (const [path] of copies) files.delete(path)
  await stashes.save(stashOf(1, { voucherId: 'w' }))
  t.false(
    [...files.keys()].some(path => path.startsWith('quarantine/')),
    'a copy that was deleted stays away'
  )
})

test('a damaged file is repaired from its second copy', async t => {
  const files = new Map<string, string>()
  const { stashes } = await openDevice(makeLoginWorld(), files)
  await stashes.save(stashOf(1))
  files.set(pathOf(1), (files.get(pathOf(1)) ?? '').slice(0, 20))
  const again = await openDevice(makeLoginWorld(), files)
  t.deepEqual(again.stashes.list(), [stashOf(1)])
  t.is((again.reports[0] as { code?: string }).code, 'CORRUPT_FILE')
})

test('changes queue up, and a full disk leaves disk and memory as they were', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files, { at: 5, kind: 'full' })
  const { stashes } = await openDevice(makeLoginWorld(), files, { disk })
  await stashes.save(stashOf(1))
  const add = (voucherId: string): Promise<LoginStash> =>
    stashes.update(
      base64(1),
      stash => stash && { ...stash, voucherId: `${stash.voucherId ?? ''}${voucherId}` }
    )
  const results = await Promise.allSettled([add('a'), add('b'), add('c')])
  t.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled']
  )
  t.is(stashes.get(base64(1))?.voucherId, 'ac')
  t.is((await openDevice(makeLoginWorld(), files)).stashes.get(base64(1))?.voucherId, 'ac')
  await t.throwsAsync(
    stashes.update(base64(7), stash => stash),
    { code: 'STASH_NOT_FOUND' }
  )
})

test('a logged-in user cannot be removed; after the logout the removal leaves nothing [5.13]', async t => {
  const { stashes, files, services } = await openDevice(makeLoginWorld())
  const reported: (boolean | undefined)[] = []
  services.hooks.usersChanged.tap('test', users => void reported.push(users[0]?.isLoggedIn))
  await stashes.save(stashOf(1))
  const close = stashes.markOpen(base64(1))
  const loginId = base58Of(idOf(1))
  await t.throwsAsync(stashes.remove(loginId), {
    code: 'USER_LOGGED_IN',
    message: 'Cannot remove logged-in user'
  })
  close()
  close()
  await stashes.remove(loginId)
  t.deepEqual(reported, [false, true, false, undefined])
  t.deepEqual([...files.keys()], [])
  await t.throwsAsync(stashes.remove(loginId), { code: 'USER_NOT_ON_DEVICE' })
})

test('after a rename each login below with a PIN or a recovery remembers the name that its ids are made from', t => {
  const nameless = ({ username: _, ...stash }: LoginStash): LoginStash => stash
  const below = (n: number, more: Partial<LoginStash>): LoginStash => ({ ...nameless(stashOf(n)), ...more })
  const root = stashOf(1, {
    pin2Key: 'pin',
    children: [
      below(2, { pin2Key: 'pin', children: [below(3, { recovery2Key: 'recovery' })] }),
      below(4, { recovery2Key: 'recovery', username: 'first' }),
      below(5, {})
    ]
  })
  const namesIn = (stash: LoginStash): (string | undefined)[] => [
    stash.username,
    ...(stash.children ?? []).flatMap(namesIn)
  ]
  const renamed = renameStash(root, 'second')
  t.deepEqual(namesIn(renamed), ['second', 'user 1', 'user 1', 'first', undefined])
  t.deepEqual(namesIn(renameStash(renamed, 'third')), ['third', 'user 1', 'user 1', 'first', undefined])
  t.deepEqual(namesIn(renameStash(renamed, 'first')), ['first', 'user 1', 'user 1', undefined, undefined])
  t.is(renameStash(renamed, 'second'), renamed)
  const named = renameStash(nameless(root), 'second')
  t.deepEqual(namesIn(named), ['second', '', '', 'first', undefined])
  const [child] = named.children ?? []
  t.is(child && idNameOf(named, child), undefined)
})

test('the name of a login is its own, else the one of its root, and none where it remembers that there was none', t => {
  const nameOf = (root: Partial<LoginStash>, node: Partial<LoginStash>): string | undefined =>
    idNameOf(stashOf(1, root), stashOf(2, node))
  t.is(nameOf({ username: 'new' }, { username: 'old' }), 'old')
  const { username: _, ...nameless } = stashOf(2)
  t.is(idNameOf(stashOf(1, { username: 'alice' }), nameless), 'alice')
  t.is(nameOf({ username: 'alice' }, { username: '' }), undefined)
})

test('a device that knows one user reports it when it starts, and one that knows none reports nothing', async t => {
  const world = makeLoginWorld()
  const { stashes, files } = await openDevice(world)
  const startReports = async (): Promise<readonly (readonly UserSnapshot[])[]> => {
    const reported: (readonly UserSnapshot[])[] = []
    const { services } = await openDevice(world, files)
    services.hooks.usersChanged.tap('test', users => void reported.push(users))
    await openStashes(services)
    return reported
  }
  t.deepEqual(await startReports(), [])
  await stashes.save(stashOf(1))
  t.deepEqual(
    (await startReports()).map(users => users.map(({ username }) => username)),
    [['user 1']]
  )
})

test('a disk that cannot read the users now fails the start, and shows no device without users', async t => {
  const { stashes, files } = await openDevice(makeLoginWorld())
  await stashes.save(stashOf(1))
  const disk = makeFaultDisk(files)
  const reason = new WalletError('STORAGE_FAILED', { path: 'logins', reason: 'no disk' })
  const failing = { ...disk, getText: () => Promise.reject(reason) }
  const start = openDevice(makeLoginWorld(), files, { disk: failing as unknown as typeof disk })
  await t.throwsAsync(start, { code: 'STORAGE_FAILED' })
  t.is((await openDevice(makeLoginWorld(), files)).stashes.list().length, 1)
})

test('of several files of one login the one under its own name counts, else the one that logged in last', async t => {
  const early = JSON.stringify(stashOf(1, { username: 'early' }))
  const late = JSON.stringify(stashOf(1, { username: 'late', lastLogin: '2026-02-01T00:00:00.000Z' }))
  const nameIn = async (files: Readonly<Record<string, string>>): Promise<string | undefined> => {
    const { stashes } = await openDevice(makeLoginWorld(), new Map(Object.entries(files)))
    t.is(stashes.list().length, 1)
    return stashes.get(base64(1))?.username
  }
  // Before and behind the login's own file, in the order of names.
  for (const other of ['logins/0.json', 'logins/zz.json'])
    t.is(await nameIn({ [pathOf(1)]: early, [other]: late }), 'early')
  t.is(await nameIn({ 'logins/0.json': late, 'logins/zz.json': early }), 'late')
  t.is(await nameIn({ 'logins/0.json': early, 'logins/zz.json': late }), 'late')
})

test('a login below whose name or PIN key makes no sense is kept without them, and a root with such is reported', async t => {
  const child = { ...stashOf(5, { appId: 'app' }), username: '  ', pin2Key: '!' }
  const root = { ...stashOf(1, { username: 'alice' }), children: [child, stashOf(6, { appId: 'other' })] }
  const files = new Map([
    [pathOf(1), JSON.stringify(root)],
    [pathOf(2), JSON.stringify({ ...stashOf(2), pin2Key: '!' })]
  ])
  const { stashes, reports } = await openDevice(makeLoginWorld(), files)
  const [kept, other] = stashes.get(base64(1))?.children ?? []
  const { username: _name, pin2Key: _key, ...rest } = child
  t.deepEqual(kept, rest)
  t.is(other?.loginId, base64(6))
  t.is(stashes.get(base64(2)), undefined)
  t.is(reports.length, 1)
})

test('one login of a tree is replaced, and all others stay the same objects', t => {
  const grandchild = stashOf(3)
  const [child, sibling] = [stashOf(2, { children: [grandchild] }), stashOf(4, { children: [] })]
  const root = stashOf(1, { children: [sibling, child] })
  const rename = (stash: LoginStash): LoginStash => ({ ...stash, username: 'new' })
  t.deepEqual(replaceStash(root, base64(1), rename), { ...root, username: 'new' })
  const changed = replaceStash(root, base64(3), rename)
  t.deepEqual(changed, {
    ...root,
    children: [sibling, { ...child, children: [{ ...grandchild, username: 'new' }] }]
  })
  t.is(changed.children?.[0], sibling)
  t.is(replaceStash(root, base64(9), rename), root)
})

test('a voucher that cannot be kept is reported, and hides no error', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const { stashes, services, reports } = await openDevice(makeLoginWorld(), files, { disk })
  await stashes.save(stashOf(1))
  const stash = stashOf(1)
  const refusal = new WalletError('OTP', { reason: 'otp', voucherId: 'v', voucherAuth: 'qrs=' })
  disk.strike({ at: 1, kind: 'full' })
  await saveVoucher(services, stashes, { stash, node: stash }, refusal)
  t.like(reports, { length: 1, 0: { code: 'STORAGE_FULL' } })
  t.is(stashes.get(base64(1))?.voucherId, undefined)
  await saveVoucher(services, stashes, { stash, node: stash }, refusal)
  t.is(stashes.get(base64(1))?.voucherId, 'v')
  t.is(reports.length, 1)
  const gone = stashOf(2)
  await saveVoucher(services, stashes, { stash: gone, node: gone }, refusal)
  t.like(reports, { length: 2, 1: { code: 'STASH_NOT_FOUND' } })
})

test('a change of a login adds keys and logins, replaces and removes fields, and renames as a new name does', t => {
  const { username: _, ...child } = stashOf(2, { pin2Key: 'pin' })
  const root = stashOf(1, { keyBoxes: [BOX], children: [child], otpKey: 'key', voucherId: 'v' })
  const other = { ...BOX, iv_hex: '01' }
  const changed = patchLogin(root, {
    keyBoxes: [other],
    children: [stashOf(3)],
    otpKey: undefined,
    otpTimeout: 7
  })
  const { otpKey: _key, ...rest } = root
  t.deepEqual(changed, { ...rest, otpTimeout: 7, keyBoxes: [BOX, other], children: [child, stashOf(3)] })
  const renamed = patchLogin(root, { username: 'new' })
  t.is(renamed.username, 'new')
  t.deepEqual(renamed.children, [{ ...child, username: 'user 1' }])
  t.deepEqual(patchLogin(root, { username: 'user 1' }).children, [child])

  const held = { ...root, syncToken: 'a', children: [{ ...child, syncToken: 'b' }] }
  const change = { loginId: base64(2), stash: { otpTimeout: 7 } }
  const below = patchStash(held, base64(2), change)
  t.deepEqual([below.syncToken, below.children?.[0]?.syncToken], ['a', undefined])
  t.is(below.children?.[0]?.otpTimeout, 7)
  const above = patchStash(held, base64(1), change)
  t.deepEqual([above.syncToken, above.children?.[0]?.syncToken], [undefined, 'b'])
})

test('equal logins have equal texts, in whatever order their fields are, and keep the next name', t => {
  const io = makeRepoIo()
  const stash = stashOf(1, { nextUsername: ' Bob', loginAuthBox: BOX as never, voucherId: 'v' })
  const turned = (value: object): object =>
    Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, part]) => [name, part === BOX ? turned(part) : part])
    )
  const text = stashTextOf(stash)
  t.is(stashTextOf(turned(stash) as LoginStash), text)
  t.deepEqual(Object.keys(JSON.parse(text)), Object.keys(stash).sort())
  t.is(parseStashFile(io, text).nextUsername, 'bob')
})

test('the list of users is the same one until a login changes', async t => {
  const { stashes } = await openDevice(makeLoginWorld())
  await stashes.save(stashOf(1))
  const users = stashes.localUsers()
  t.is(stashes.localUsers(), users)
  await stashes.save(stashOf(2))
  t.not(stashes.localUsers(), users)
})

test('a file that is put aside is put aside once', async t => {
  const files = new Map([[pathOf(1), '{"loginId":5}']])
  const { stashes, services } = await openDevice(makeLoginWorld(), files)
  const kept = (): number => [...files.keys()].filter(path => path.startsWith('quarantine/')).length
  await stashes.save(stashOf(1))
  t.is(kept(), 1)
  await (services.io.clock as FakeClock).advance(1000)
  await stashes.save(stashOf(1, { voucherId: 'v' }))
  t.is(kept(), 1)
})

test('a login without a date is listed behind those that have one', async t => {
  const { lastLogin: _, ...never } = stashOf(9)
  const files = new Map([
    ['logins/a.json', JSON.stringify(stashOf(1))],
    ['logins/b.json', JSON.stringify(never)],
    ['logins/c.json', JSON.stringify(stashOf(3))]
  ])
  const { stashes } = await openDevice(makeLoginWorld(), files)
  t.deepEqual(
    stashes.list().map(({ loginId }) => loginId),
    [base64(3), base64(1), base64(9)]
  )
  t.is(stashes.localUsers()[2]?.lastLogin, undefined)
})
