import test from 'ava'
import type { Account } from '../../../kernel/index.ts'
import {
  contentsOf,
  fillAccount,
  HERMIT,
  makeNotedWorld,
  type NotedWorld,
  openHermitDevice,
  SECRETS,
  signPayment
} from '../../helpers/device-account.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../helpers/fault-disk.ts'
import { quickCrypto } from '../../helpers/quick-crypto.ts'

interface Made {
  readonly place: NotedWorld
  readonly backup: string
  readonly contents: unknown
  readonly keys: string
}

/** An account with everything in it, its backup, and what is in it. */
const makeBackup = async (change?: (account: Account) => Promise<void>): Promise<Made> => {
  const place = makeNotedWorld()
  const { kernel, context } = await openHermitDevice(place.world)
  const account = await context.createAccount(HERMIT)
  await fillAccount(place.world, account)
  await change?.(account)
  const contents = await contentsOf(account)
  const backup = await account.location.makeBackup()
  const keys = JSON.stringify([contents, await account.getLoginKey()])
  await kernel.close()
  return { place, backup, contents, keys }
}

const { password } = HERMIT

test('a backup restores everything on another device, with the password of the account and no server', async t => {
  const { place, backup, contents } = await makeBackup()
  const device = await openHermitDevice(place.world)
  const user = await device.context.restoreAccount(backup, { password })
  t.is(user.username, HERMIT.username)
  t.true(user.isDeviceOnly)
  const account = await device.context.loginWithPassword(HERMIT.username, password)
  t.deepEqual(await contentsOf(account), contents)
  await account.dataStore.setItem('notes', 'later', 'written after the restore')
  await device.kernel.close()
  const again = await openHermitDevice(place.world, { files: device.files })
  const opened = await again.context.loginWithPassword(HERMIT.username, password)
  t.is(await opened.dataStore.getItem('notes', 'later'), 'written after the restore')
  t.deepEqual(await contentsOf(opened), contents)
  await again.kernel.close()
  t.deepEqual(place.requests, [])
})

test('a backup has the payments that may have left, so that none is made twice', async t => {
  let txid = ''
  const { place, backup } = await makeBackup(async account => {
    txid = await signPayment(account)
  })
  const { kernel, context } = await openHermitDevice(place.world)
  await context.restoreAccount(backup, { password })
  const account = await context.loginWithPassword(HERMIT.username, password)
  const [walletId = ''] = account.getSnapshot().activeWalletIds
  const wallet = await account.openWallet(walletId)
  t.deepEqual(
    wallet.unfinishedSpends().map(({ tx }) => tx.txid),
    [txid]
  )
  await wallet.sync()
  t.deepEqual(wallet.balanceDetailsOf(null).spendable.length, 1)
  await kernel.close()
})

test('the key with which a device approves payments stays on it: a restore makes another one, or leaves it', async t => {
  let key = ''
  const { place, backup } = await makeBackup(async account => {
    key = await account.policies.device()
  })
  const { kernel, context } = await openHermitDevice(place.world)
  await context.restoreAccount(backup, { password })
  const account = await context.loginWithPassword(HERMIT.username, password)
  const other = await account.policies.device()
  t.not(other, key)
  await account.logout()
  await context.restoreAccount(backup, { password, replaces: true })
  const again = await context.loginWithPassword(HERMIT.username, password)
  t.is(await again.policies.device(), other)
  await kernel.close()
})

test('a wrong password opens nothing of a backup, and costs the whole derivation of the account', async t => {
  const { place, backup } = await makeBackup()
  const { kernel, context, files, derivations } = await openHermitDevice(place.world)
  const before = JSON.stringify([...files])
  const { passwordKeySnrp } = JSON.parse(backup.split('\n')[0] ?? '')
  for (const wrong of ['', 'Correct horse 2', `${password} `, '\ud800']) {
    derivations.length = 0
    await t.throwsAsync(context.restoreAccount(backup, { password: wrong }), { code: 'PASSWORD' })
    if (wrong === '\ud800') continue
    const { n, r, p } = passwordKeySnrp
    t.deepEqual(
      derivations.map(cost => [cost.n, cost.r, cost.p]),
      [[n, r, p]]
    )
  }
  t.is(JSON.stringify([...files]), before)
  await kernel.close()
})

test('a backup shows nothing of the account but its username, and what its password costs', async t => {
  const { backup, keys } = await makeBackup()
  const [first = '', ...lines] = backup.trimEnd().split('\n')
  t.deepEqual(Object.keys(JSON.parse(first)), [
    'type',
    'version',
    'username',
    'passwordKeySnrp',
    'passwordBox'
  ])
  for (const line of lines)
    t.deepEqual(Object.keys(JSON.parse(line)), ['encryptionType', 'iv_hex', 'data_base64'])
  const secrets = [...Object.values(SECRETS), password, ...(keys.match(/[\w+/=]{20,}/g) ?? [])]
  t.true(secrets.length > 8)
  const { toHex, toBase64 } = quickCrypto
  for (const secret of secrets) {
    const bytes = new TextEncoder().encode(secret)
    for (const form of [secret, toHex(bytes), toBase64(bytes).slice(0, -4)])
      t.false(backup.includes(form), 'a secret stands in the backup')
  }
})

test('a backup that is damaged, cut, altered, mixed or of another kind restores nothing', async t => {
  const { place, backup } = await makeBackup()
  const other = await openHermitDevice(place.world)
  await other.context.restoreAccount(backup, { password })
  const account = await other.context.loginWithPassword(HERMIT.username, password)
  const later = (await account.location.makeBackup()).trimEnd().split('\n')
  await other.kernel.close()

  const { kernel, context, files } = await openHermitDevice(place.world)
  const before = JSON.stringify([...files])
  const lines = backup.trimEnd().split('\n')
  const header = JSON.parse(lines[0] ?? '')
  const withHeader = (fields: object): string =>
    [JSON.stringify({ ...header, ...fields }), ...lines.slice(1)].join('\n')
  const bad: string[] = [
    '',
    '{}',
    backup.slice(1),
    withHeader({ type: 'another' }),
    withHeader({ version: 2 }),
    withHeader({ username: 7 }),
    withHeader({ username: '\u00e9' }),
    withHeader({ passwordBox: null }),
    withHeader({ passwordKeySnrp: { ...header.passwordKeySnrp, n: 2 ** 30 } }),
    withHeader({ passwordKeySnrp: { ...header.passwordKeySnrp, p: 1e9 } }),
    lines[0] ?? '',
    [...lines, lines.at(-1)].join('\n'),
    lines.toSpliced(2, 1).join('\n'),
    lines.toSpliced(2, 0, lines[2] ?? '').join('\n'),
    lines.with(2, later[2] ?? '').join('\n'),
    lines.with(1, later[1] ?? '').join('\n'),
    lines.with(2, JSON.stringify(header.passwordBox)).join('\n'),
    `${backup}${'x'.repeat(1000)}`,
    ...lines.map((_, at) => lines.slice(0, at).join('\n')),
    ...lines.slice(1).map((line, at) => lines.with(at + 1, flipped(line)).join('\n'))
  ]
  t.true(lines.length > 5)
  for (const [at, text] of bad.entries()) {
    await t.throwsAsync(context.restoreAccount(text, { password }), { code: 'BACKUP_INVALID' }, `case ${at}`)
  }
  const huge = { length: 2 ** 40, toString: () => '' } as unknown as string
  await t.throwsAsync(context.restoreAccount(huge, { password }), { code: 'OPTION_INVALID' })
  t.is(JSON.stringify([...files]), before)
  // A first line that names a cheaper derivation or another user opens nothing.
  for (const fields of [
    { username: 'another' },
    { passwordKeySnrp: { ...header.passwordKeySnrp, n: 2 } },
    { passwordBox: JSON.parse(lines[1] ?? '') }
  ])
    await t.throwsAsync(context.restoreAccount(withHeader(fields), { password }), { code: 'PASSWORD' })
  t.is(JSON.stringify([...files]), before)
  await context.restoreAccount(backup.replaceAll('\n', '\r\n'), { password })
  await kernel.close()
})

/** One letter of the middle of a box is another one. */
const flipped = (line: string): string => {
  const at = Math.floor(line.length / 2)
  return `${line.slice(0, at)}${line[at] === 'A' ? 'B' : 'A'}${line.slice(at + 1)}`
}

test('a restore that is cut off at any write leaves nothing, or an account that is whole, and the next one completes it', async t => {
  const { place, backup, contents } = await makeBackup()
  const restore = async (files: Map<string, string>, fault?: Parameters<typeof makeFaultDisk>[1]) => {
    const disk = makeFaultDisk(files, fault)
    const { kernel, context } = await openHermitDevice(place.world, { disk })
    const result = await context.restoreAccount(backup, { password }).then(
      () => 'restored',
      () => 'failed'
    )
    await kernel.close().catch(() => {})
    return { disk, result }
  }
  const isWhole = async (files: Map<string, string>): Promise<boolean> => {
    const { kernel, context } = await openHermitDevice(place.world, { files })
    if (context.localUsers.length === 0) {
      await kernel.close()
      return false
    }
    const account = await context.loginWithPassword(HERMIT.username, password)
    t.deepEqual(await contentsOf(account), contents)
    await kernel.close()
    return true
  }
  const whole = await restore(new Map())
  t.is(whole.result, 'restored')
  const { writeCount } = whole.disk
  t.true(writeCount >= 5)
  let seen = 0
  for (let at = 1; at <= writeCount; at += 1) {
    for (const kind of FAULT_KINDS) {
      const files = new Map<string, string>()
      const { disk } = await restore(files, { at, kind })
      t.true(disk.hasFired, `${kind} at ${at}`)
      if (await isWhole(files)) {
        seen += 1
        continue
      }
      const { result } = await restore(files)
      t.is(result, 'restored', `${kind} at ${at}`)
      t.true(await isWhole(files), `${kind} at ${at}`)
    }
  }
  t.true(seen > 0)
})

test('a backup replaces an account of the device only if that is said, and keeps what came later', async t => {
  const place = makeNotedWorld()
  const { kernel, context } = await openHermitDevice(place.world)
  const account = await context.createAccount(HERMIT)
  await fillAccount(place.world, account)
  const backup = await account.location.makeBackup()
  const contents = (await contentsOf(account)) as { readonly item: string }
  await account.dataStore.setItem('notes', 'today', 'a text of later')
  const later = await account.createCurrencyWallet('wallet:bitcoin', { name: 'later' })
  const laterKeys = await account.walletKeys.getRawPrivateKey(later.id)
  const replacing = { password, replaces: true }
  await t.throwsAsync(context.restoreAccount(backup, { password }), {
    code: 'ACCOUNT_ON_DEVICE',
    message: 'This account is on this device already'
  })
  await t.throwsAsync(context.restoreAccount(backup, replacing), { code: 'USER_LOGGED_IN' })
  await account.logout()
  await t.throwsAsync(context.restoreAccount(backup, { password }), { code: 'ACCOUNT_ON_DEVICE' })
  await context.restoreAccount(backup, replacing)
  const opened = await context.loginWithPassword(HERMIT.username, password)
  t.is(await opened.dataStore.getItem('notes', 'today'), contents.item)
  t.deepEqual(await opened.walletKeys.getRawPrivateKey(later.id), laterKeys)
  const kept = (await opened.keptFiles.list()).filter(
    ({ reason, title }) => reason === 'replaced' && title === 'today'
  )
  t.is(kept.length, 1)
  await opened.keptFiles.restore(kept[0]?.id ?? '')
  t.is(await opened.dataStore.getItem('notes', 'today'), 'a text of later')
  await kernel.close()
})

test('a backup takes the place of no more texts than can be kept beside it', async t => {
  const place = makeNotedWorld()
  const { kernel, context } = await openHermitDevice(place.world)
  t.teardown(() => kernel.close())
  const account = await context.createAccount(HERMIT)
  await fillAccount(place.world, account)
  const backup = await account.location.makeBackup()
  const ids = Array.from({ length: 301 }, (_, at) => `item ${at}`)
  for (const id of ids) await account.dataStore.setItem('later', id, id)
  await account.logout()
  const replacing = context.restoreAccount(backup, { password, replaces: true })
  const rule = 'differs from this device in more texts than can be kept beside it'
  t.like(await t.throwsAsync(replacing), { code: 'BACKUP_INVALID', details: { rule } })
  const opened = await context.loginWithPassword(HERMIT.username, password)
  for (const id of ids) t.is(await opened.dataStore.getItem('later', id), id)
})

test('a backup is restored beside other accounts, and not where another one has its username', async t => {
  const { place, backup, contents } = await makeBackup()
  const { kernel, context } = await openHermitDevice(place.world)
  const rival = await context.createAccount({ ...HERMIT, password: 'Other horse 3' })
  const error = await t.throwsAsync(context.restoreAccount(backup, { password, replaces: true }), {
    code: 'ACCOUNT_ON_DEVICE'
  })
  t.is(error?.message, 'Another account of this device has this username')
  await rival.credentials.changeUsername({ username: 'rival', password: 'Other horse 3' })
  await context.restoreAccount(backup, { password })
  const account = await context.loginWithPassword(HERMIT.username, password)
  t.deepEqual(await contentsOf(account), contents)
  t.is((await context.loginWithPassword('rival', 'Other horse 3')).id, rival.id)
  await kernel.close()
})

test('an account without a password has no backup, and one of a server has one that syncs again', async t => {
  const place = makeNotedWorld()
  const { kernel, context } = await openHermitDevice(place.world)
  const light = await context.createAccount({ isDeviceOnly: true })
  await t.throwsAsync(light.location.makeBackup(), { code: 'BACKUP_WITHOUT_PASSWORD' })
  const alice = await context.createAccount({ username: 'alice', password, pin: '4711' })
  await fillAccount(place.world, alice)
  await alice.sync()
  const contents = await contentsOf(alice)
  const backup = await alice.location.makeBackup()
  await alice.dataStore.setItem('notes', 'later', 'written after the backup')
  await alice.sync()
  await kernel.close()
  const other = await openHermitDevice(place.world)
  const user = await other.context.restoreAccount(backup, { password })
  t.is(user.isDeviceOnly, undefined)
  const account = await other.context.loginWithPIN({ loginId: user.loginId }, '4711')
  await account.sync()
  t.deepEqual(await contentsOf(account), contents)
  t.is(await account.dataStore.getItem('notes', 'later'), 'written after the backup')
  await other.kernel.close()
})
