import test, { type ExecutionContext } from 'ava'
import type { Account, WalletError } from '../../../kernel/index.ts'
import { waitFor } from '../../helpers/device.ts'
import {
  contentsOf,
  fillAccount,
  HERMIT,
  type HermitDevice,
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

test('the key with which a device approves payments stays on it: a restore makes another one, or leaves the one that is there', async t => {
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
  await context.forgetAccount({ username: HERMIT.username }, { losesAccount: true })
  await context.restoreAccount(backup, { password })
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

/** Makes an account with a backup and something that came later, and forgets it. */
const makeForgotten = async (
  t: ExecutionContext,
  change: (account: Account) => Promise<void>
): Promise<HermitDevice & { readonly backup: string; readonly contents: unknown }> => {
  const { world } = makeNotedWorld()
  const device = await openHermitDevice(world)
  t.teardown(() => device.kernel.close())
  const { context } = device
  const account = await context.createAccount(HERMIT)
  await fillAccount(world, account)
  const contents = await contentsOf(account)
  const backup = await account.location.makeBackup()
  await change(account)
  await account.logout()
  await context.forgetAccount({ username: HERMIT.username }, { losesAccount: true })
  return { ...device, backup, contents }
}

test('a backup of an account that is on the device is refused with what to do, and what came later is kept beside it', async t => {
  const { context, backup, contents } = await makeForgotten(t, async account => {
    await account.dataStore.setItem('notes', 'today', 'a text of later')
  })
  await context.restoreAccount(backup, { password })
  await t.throwsAsync(context.restoreAccount(backup, { password: 'Correct horse 2' }), { code: 'PASSWORD' })
  const error = await t.throwsAsync<WalletError>(context.restoreAccount(backup, { password }), {
    code: 'ACCOUNT_ON_DEVICE',
    message: 'This account is on this device already'
  })
  t.regex(error?.hint ?? '', /forget the account, and restore again/)
  const opened = await context.loginWithPassword(HERMIT.username, password)
  await t.throwsAsync(context.restoreAccount(backup, { password }), { code: 'ACCOUNT_ON_DEVICE' })
  t.deepEqual(await contentsOf(opened), contents)
  const kept = (await opened.keptFiles.list()).filter(
    ({ reason, title }) => reason === 'replaced' && title === 'today'
  )
  t.is(kept.length, 1)
  await opened.keptFiles.restore(kept[0]?.id ?? '')
  t.is(await opened.dataStore.getItem('notes', 'today'), 'a text of later')
})

test('payments that may have left since the backup was made stay open where the device had the account', async t => {
  const txids: string[] = []
  const { context, backup } = await makeForgotten(t, async account => {
    txids.push(await signPayment(account))
  })
  await context.restoreAccount(backup, { password })
  const account = await context.loginWithPassword(HERMIT.username, password)
  const [walletId = ''] = account.getSnapshot().activeWalletIds
  const wallet = await account.openWallet(walletId)
  t.deepEqual(
    wallet.unfinishedSpends().map(({ tx }) => tx.txid),
    txids
  )
  t.is(txids.length, 1)
})

test('a backup takes the place of no more texts than can be kept beside it', async t => {
  const { context, backup, files } = await makeForgotten(t, async account => {
    for (let at = 0; at < 45; at += 1)
      await account.dataStore.setItem('later', `item ${at}`, 'x'.repeat(100_000))
  })
  const before = JSON.stringify([...files])
  const rule =
    'differs in more texts than can be kept beside it from what this device has of the account since before'
  const error = await t.throwsAsync(context.restoreAccount(backup, { password }))
  t.like(error, { code: 'BACKUP_INVALID', details: { rule } })
  t.is(JSON.stringify([...files]), before)
  t.deepEqual(context.localUsers, [])
})

test('of several restores at once one is made', async t => {
  const { place, backup, contents } = await makeBackup()
  const { kernel, context } = await openHermitDevice(place.world)
  const results = await Promise.allSettled([1, 2, 3].map(() => context.restoreAccount(backup, { password })))
  t.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected'])
  for (const result of results)
    if (result.status === 'rejected') t.is(result.reason.code, 'ACCOUNT_ON_DEVICE')
  const account = await context.loginWithPassword(HERMIT.username, password)
  t.deepEqual(await contentsOf(account), contents)
  await kernel.close()
})

test('a restore and a login to the same account at once leave one account with everything in it', async t => {
  const { world } = makeNotedWorld()
  const owner = await openHermitDevice(world)
  const alice = await owner.context.createAccount({ username: 'alice', password })
  await fillAccount(world, alice)
  await alice.sync()
  const contents = await contentsOf(alice)
  const backup = await alice.location.makeBackup()
  await owner.kernel.close()
  const { kernel, context } = await openHermitDevice(world)
  const restoring = context.restoreAccount(backup, { password }).catch((error: unknown) => error)
  const account = await context.loginWithPassword('alice', password)
  const restored = await restoring
  if (restored instanceof Error) t.like(restored, { code: 'ACCOUNT_ON_DEVICE' })
  await account.sync()
  t.deepEqual(await contentsOf(account), contents)
  t.is(context.localUsers.length, 1)
  await kernel.close()
})

test('a restore waits until a session of the account that has just ended has closed its files', async t => {
  const { place, backup, contents } = await makeBackup()
  const { kernel, context } = await openHermitDevice(place.world)
  await context.restoreAccount(backup, { password })
  for (let round = 0; round < 2; round += 1) {
    const account = await context.loginWithPassword(HERMIT.username, password)
    const edits = [1, 2, 3].map(at => account.dataStore.setItem('notes', `edit ${at}`, `round ${round}`))
    const ending = account.logout()
    await waitFor(() =>
      context.forgetAccount({ username: HERMIT.username }, { losesAccount: true }).then(
        () => true,
        () => false
      )
    )
    await context.restoreAccount(backup, { password })
    await Promise.allSettled([...edits, ending])
    const opened = await context.loginWithPassword(HERMIT.username, password)
    t.deepEqual(await contentsOf(opened), contents)
    t.is(await opened.dataStore.getItem('notes', 'edit 1').catch(() => 'none'), 'none')
    await opened.logout()
  }
  await kernel.close()
})

test('a backup is restored beside other accounts, and not where another one has its username', async t => {
  const { place, backup, contents } = await makeBackup()
  const { kernel, context } = await openHermitDevice(place.world)
  const rival = await context.createAccount({ ...HERMIT, password: 'Other horse 3' })
  const error = await t.throwsAsync(context.restoreAccount(backup, { password }), {
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
  const account = await other.context.loginWithPassword('alice', password)
  await account.sync()
  t.deepEqual(await contentsOf(account), contents)
  t.is(await account.dataStore.getItem('notes', 'later'), 'written after the backup')
  await other.kernel.close()
})

test('a backup of an account of a server has neither the voucher nor the PIN key of the device', async t => {
  const place = makeNotedWorld()
  const { world } = place
  const owner = await openHermitDevice(world)
  const alice = await owner.context.createAccount({ username: 'alice', password, pin: '4711' })
  await alice.twoFactor.enableOtp()
  const phone = await openHermitDevice(world)
  const logIn = (): Promise<Account> => phone.context.loginWithPassword('alice', password)
  const refused = await t.throwsAsync<WalletError<'OTP'>>(logIn(), { code: 'OTP' })
  const { voucherId = '' } = refused?.details ?? {}
  await alice.twoFactor.approveVoucher(voucherId)
  await owner.kernel.close()
  const backup = await (await logIn()).location.makeBackup()
  t.is(phone.context.localUsers[0]?.voucherId, voucherId)
  t.true(phone.context.localUsers[0]?.isPinLoginEnabled)
  await phone.kernel.close()
  const tablet = await openHermitDevice(world)
  const user = await tablet.context.restoreAccount(backup, { password })
  t.is(user.voucherId, undefined)
  t.false(user.isPinLoginEnabled)
  const texts = [...tablet.files].filter(([path]) => path.includes('logins/')).map(([, text]) => text)
  t.true(texts.length > 0)
  for (const text of texts) t.notRegex(text, /voucherId|voucherAuth|pin2Key/)
  await tablet.kernel.close()
})
