import test from 'ava'
import { type WalletBookOptions, WalletList } from '../../../kernel/account/wallet-list.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import type { Disk, StoragePlugin } from '../../../kernel/index.ts'
import { walletIdOf } from '../../../kernel/keys/ids.ts'
import { accountRepoTypeOf, hideWalletInfo, makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import { makeKernelHooks } from '../../../kernel/plugins/hooks.ts'
import { PluginSet } from '../../../kernel/plugins/plugin-set.ts'
import type { WalletInfo } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { waitFor } from '../../helpers/device.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { makeKnownUser, type UserDevice } from '../../helpers/known-user.ts'
import { listedWallets } from '../../helpers/listed-wallets.ts'
import { openDevice } from '../../helpers/repo-device.ts'
import { setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore } from '../../helpers/sync-store.ts'
import { makeToy } from '../../helpers/toy-currency.ts'

const io = makeNodeIo()
const { toBase64, toHex } = io.crypto

const toyInfo = (type = 'wallet:toycoin'): WalletInfo =>
  makeWalletInfo(io, type, { toyKey: toHex(io.random(32)) })

const storageOn = (disk: Disk): StoragePlugin => ({
  kind: 'storage',
  id: 'slow',
  apply: ({ hooks }) => hooks.openDisk.tapPromise('slow', async () => disk)
})

/** The toy currency is known on every device here. */
const toys = () => ({ plugins: [makeToy().plugin] })

const listing = ({ account }: UserDevice, walletId: string) =>
  listedWallets(account).find(wallet => wallet.walletId === walletId)

const legacyFile = () => {
  const [MK, SyncKey, BitcoinSeed] = [io.random(32), io.random(20), io.random(32)]
  return {
    walletId: walletIdOf(io, 'wallet:bitcoin', MK),
    keys: {
      dataKey: toBase64(MK),
      syncKey: toBase64(SyncKey),
      bitcoinKey: toBase64(BitcoinSeed),
      format: 'bip32'
    },
    file: { MK: toHex(MK), SyncKey: toHex(SyncKey).toUpperCase(), BitcoinSeed: toHex(BitcoinSeed) }
  }
}

test('a wallet has id, type and keys, and archived, deleted, hidden, sort index, appId, appIds and where it came from [3.15] [3.18]', async t => {
  const info = toyInfo()
  const states = {
    archived: true,
    deleted: false,
    hidden: true,
    sortIndex: 7,
    migratedFromWalletId: 'before'
  }
  const user = makeKnownUser(t, { infos: [info] })
  user.put(user.repo, { [user.statesPath(info.id)]: { id: info.id, ...states } })
  const device = await user.logIn(toys())
  const { currencyInfo, ...rest } = listing(device, info.id) ?? {}
  t.deepEqual(rest, {
    walletId: info.id,
    type: info.type,
    isWallet: true,
    appIds: [''],
    appId: '',
    ...states
  } as never)
  t.is(currencyInfo?.pluginId, 'toycoin')
  t.deepEqual(await device.account.walletKeys.getRawPrivateKey(info.id), info.keys)
  await t.throwsAsync(device.account.openWallet(toBase64(io.random(32))), {
    code: 'WALLET_ID_UNKNOWN',
    message: 'Wallet id does not exist in this account'
  })
})

test('an unknown wallet id: "Wallet id does not exist in this account" [5.27]', async t => {
  const { account } = await makeKnownUser(t).logIn()
  const expected = { code: 'WALLET_ID_UNKNOWN', message: 'Wallet id does not exist in this account' }
  await t.throwsAsync(account.openWallet('nothing'), expected)
  await t.throwsAsync(account.changeWalletStates({ nothing: { hidden: true } }), expected)
  await t.throwsAsync(account.walletKeys.getRawPrivateKey('nothing'), expected)
})

test('wallets are known where they have a plugin and are not deleted, in their order, and active where they are not archived [4.14]', async t => {
  const infos = Array.from({ length: 5 }, () => toyInfo())
  const [last, archived, hidden, deleted, first] = infos.map(({ id }) => id) as [
    string,
    string,
    string,
    string,
    string
  ]
  const stranger = toyInfo('wallet:unheard-of')
  const user = makeKnownUser(t, { infos: [...infos, stranger] })
  const device = await user.logIn(toys())
  const { account } = device
  t.deepEqual(account.getSnapshot().walletIds, [last, archived, hidden, deleted, first])
  // Five wallets, a stranger, and the repo of the account.
  t.true(listedWallets(account).every(({ sortIndex }) => sortIndex === 7))
  t.is(listing(device, stranger.id)?.currencyInfo, undefined)
  await account.changeWalletStates({
    [last]: { sortIndex: 9 },
    [archived]: { archived: true },
    [hidden]: { hidden: true },
    [deleted]: { deleted: true },
    [first]: { sortIndex: -1 }
  })
  const lists = {
    walletIds: [first, archived, hidden, last],
    activeWalletIds: [first, hidden, last],
    archivedWalletIds: [archived],
    hiddenWalletIds: [hidden]
  }
  const shown = (of: UserDevice) => {
    const { walletIds, activeWalletIds, archivedWalletIds, hiddenWalletIds } = of.account.getSnapshot()
    return { walletIds, activeWalletIds, archivedWalletIds, hiddenWalletIds }
  }
  t.deepEqual(shown(device), lists)
  await account.sync()
  const other = await user.logIn(toys())
  t.deepEqual(shown(other), lists)
  t.is(listedWallets(other.account).length, 6)
})

test('states that another device changes are shown after a sync of the account', async t => {
  const info = toyInfo()
  const user = makeKnownUser(t, { infos: [info] })
  const [here, there] = [await user.logIn(toys()), await user.logIn(toys())]
  await there.account.changeWalletStates({ [info.id]: { archived: true } })
  await there.account.sync()
  t.deepEqual(here.account.getSnapshot().activeWalletIds, [info.id])
  await here.account.sync()
  await waitFor(() => here.account.getSnapshot().archivedWalletIds.length === 1)
  t.deepEqual(here.account.getSnapshot().activeWalletIds, [])
  user.put(user.repo, { [user.statesPath(info.id)]: null })
  await here.account.sync()
  await waitFor(() => here.account.getSnapshot().activeWalletIds.length === 1)
})

test('a change writes only the wallets that it changes, all in one write, and keeps what other clients wrote', async t => {
  const infos = [toyInfo(), toyInfo(), toyInfo()] as const
  const [one, two, three] = infos
  const user = makeKnownUser(t, { infos })
  const theirs = { id: one.id, archived: true, sortIndex: 3, colour: 'red', migratedFromWalletId: 'before' }
  user.put(user.repo, { [user.statesPath(one.id)]: theirs })
  const disk = new Map<string, string>()
  const { account } = await user.logIn({ ...toys(), disk })
  const keysBefore = new Set(disk.keys())
  await account.changeWalletStates({
    [one.id]: { archived: false, migratedFromWalletId: null },
    [two.id]: { hidden: true },
    [three.id]: { archived: false, deleted: false }
  })
  t.is([...disk.keys()].filter(key => !keysBefore.has(key)).length, 1)
  await account.sync()
  t.deepEqual(user.read(user.repo, user.statesPath(one.id)), {
    id: one.id,
    archived: false,
    sortIndex: 3,
    colour: 'red'
  })
  t.deepEqual(user.read(user.repo, user.statesPath(two.id)), { id: two.id, hidden: true })
  t.is(user.read(user.repo, user.statesPath(three.id)), undefined)
  const keysNow = new Set(disk.keys())
  await account.changeWalletStates({ [one.id]: { archived: false }, [two.id]: { hidden: true } })
  t.deepEqual(new Set(disk.keys()), keysNow)
})

test('a change with one bad part changes nothing', async t => {
  const info = toyInfo()
  const { account } = await makeKnownUser(t, { infos: [info] }).logIn(toys())
  const good = { [info.id]: { archived: true } }
  const bad: [Record<string, object>, string][] = [
    [{ ...good, nothing: { archived: true } }, 'WALLET_ID_UNKNOWN'],
    [{ [info.id]: { archived: true, hidden: 'yes' } }, 'OPTION_INVALID'],
    [{ [info.id]: { archived: true, sortIndex: Number.NaN } }, 'OPTION_INVALID'],
    [{ [info.id]: { archived: true, migratedFromWalletId: 5 } }, 'OPTION_INVALID'],
    [{ [info.id]: { archived: null } }, 'OPTION_INVALID']
  ]
  for (const [changes, code] of bad) await t.throwsAsync(account.changeWalletStates(changes), { code })
  t.deepEqual(account.getSnapshot().archivedWalletIds, [])
})

test('a damaged or duplicate states file affects no other wallet', async t => {
  const [info, other] = [toyInfo(), toyInfo()]
  const user = makeKnownUser(t, { infos: [info, other] })
  const misnamed = { id: info.id, archived: true, hidden: 'perhaps', sortIndex: 1 }
  user.put(user.repo, {
    'Keys/a.json': misnamed,
    'Keys/b.json': 'no JSON',
    'Keys/c.json': [],
    'Keys/d.json': { archived: true },
    [user.statesPath(other.id)]: { id: other.id, archived: false, sortIndex: 0 },
    'Keys/0.json': { id: other.id, archived: true, sortIndex: 3 },
    'Keys/zzz.json': { id: other.id, archived: true, sortIndex: 2 }
  })
  const device = await user.logIn(toys())
  t.deepEqual(device.account.getSnapshot().walletIds, [other.id, info.id])
  t.deepEqual(device.account.getSnapshot().archivedWalletIds, [info.id])
  t.like(listing(device, info.id), { archived: true, hidden: false, sortIndex: 1 })
  t.is(device.errors.length, 3)
  for (const error of device.errors) t.true(isWalletError(error, 'BAD_REPLY'))
})

test('a states file that does not open is reported, and the next change replaces it', async t => {
  const [info, other] = [toyInfo(), toyInfo()]
  const user = makeKnownUser(t, { infos: [info, other] })
  const path = user.statesPath(info.id)
  const stranger = { ...user.repo.keys, dataKey: toBase64(io.random(32)) }
  user.put({ ...user.repo, keys: stranger }, { [path]: { id: info.id, archived: true } })
  const device = await user.logIn(toys())
  t.true(device.errors.some(error => isWalletError(error, 'CORRUPT_FILE')))
  t.like(listing(device, info.id), { archived: false })
  await device.account.changeWalletStates({ [info.id]: { hidden: true }, [other.id]: { hidden: true } })
  await device.account.sync()
  for (const { id } of [info, other])
    t.deepEqual(user.read(user.repo, user.statesPath(id)), { id, hidden: true })
})

test('wallets of the first clients come from their files, first in the list, and the files are only read', async t => {
  const [old, archived] = [legacyFile(), legacyFile()]
  const user = makeKnownUser(t, {
    infos: [toyInfo()],
    files: {
      'Wallets/A-1.json': old.file,
      'Wallets/B-2.json': { ...archived.file, Archived: true, SortIndex: 4, Other: 'kept' },
      'Wallets/broken.json': { ...legacyFile().file, MK: 'not hex' },
      'Wallets/empty.json': 'no JSON'
    }
  })
  const device = await user.logIn(toys())
  const { account } = device
  t.like(listing(device, old.walletId), { type: 'wallet:bitcoin', archived: false, sortIndex: 0 })
  t.like(listing(device, archived.walletId), { archived: true, sortIndex: 4, hidden: false })
  t.deepEqual(await account.walletKeys.getRawPrivateKey(old.walletId), old.keys)
  t.is(account.getSnapshot().activeWalletIds[0], old.walletId)
  t.is(device.errors.length, 2)
  await account.changeWalletStates({ [archived.walletId]: { archived: false, hidden: true } })
  await account.sync()
  t.deepEqual(user.read(user.repo, user.statesPath(archived.walletId)), {
    id: archived.walletId,
    archived: false,
    hidden: true,
    sortIndex: 4
  })
  t.deepEqual(user.read(user.repo, 'Wallets/B-2.json'), {
    ...archived.file,
    Archived: true,
    SortIndex: 4,
    Other: 'kept'
  })
  const other = await user.logIn(toys())
  t.like(listing(other, archived.walletId), { archived: false, hidden: true, sortIndex: 4 })
  const late = legacyFile()
  user.put(user.repo, { 'Wallets/C-3.json': { ...late.file, SortIndex: 2 } })
  await account.sync()
  await waitFor(() => listing(device, late.walletId) !== undefined)
  t.like(listing(device, late.walletId), { archived: false, sortIndex: 2 })
})

test('wallets come from every account repo of the login, under each name that they had', async t => {
  const types = [
    'account-repo:co.airbitz.wallet',
    'account:repo:co.airbitz.wallet',
    '',
    'account-repo:other.app'
  ]
  const repos = types.map(type => makeWalletInfo(io, type))
  const files = types.map(() => legacyFile())
  const user = makeKnownUser(t, { infos: repos })
  for (const [at, repo] of repos.entries()) user.put(repo, { 'Wallets/old.json': files[at]?.file })
  const { account } = await user.logIn()
  const found = listedWallets(account).map(({ walletId }) => walletId)
  t.deepEqual(
    found,
    files.slice(0, 3).map(({ walletId }) => walletId)
  )
})

test('a wallet that a file and a key box name is one; a file that contradicts a box hides neither it nor others', async t => {
  const [same, liar] = [legacyFile(), legacyFile()]
  const boxed = { id: same.walletId, type: 'wallet:bitcoin', keys: { ...same.keys, note: 'more' } }
  const wrong = { id: liar.walletId, type: 'wallet:bitcoin', keys: { ...liar.keys, bitcoinKey: 'AAAA' } }
  const user = makeKnownUser(t, {
    infos: [boxed, wrong, toyInfo()],
    files: { 'Wallets/1.json': same.file, 'Wallets/2.json': liar.file }
  })
  const { account, errors } = await user.logIn(toys())
  t.is(listedWallets(account).length, 3)
  t.deepEqual(await account.walletKeys.getRawPrivateKey(same.walletId), { ...same.keys, note: 'more' })
  t.deepEqual(await account.walletKeys.getRawPrivateKey(liar.walletId), liar.keys)
  t.true(errors.length > 0)
  for (const error of errors) t.true(isWalletError(error, 'KEY_INTEGRITY'))
})

test('every type of old and new clients is known under the name that plugins use, and each app has the repo of its account [3.16]', async t => {
  const names = {
    bitcoin: ['bitcoin', 'bitcoin-bip44', 'bitcoin-bip49'],
    'bitcoin-testnet': ['bitcoin-testnet', 'bitcoin-bip44-testnet', 'bitcoin-bip49-testnet'],
    bitcoincash: ['bitcoincash', 'bitcoincash-bip32', 'bitcoincash-bip44'],
    'bitcoincash-testnet': ['bitcoincash-testnet', 'bitcoincash-bip44-testnet'],
    dash: ['dash', 'dash-bip44'],
    dogecoin: ['dogecoin', 'dogecoin-bip44'],
    litecoin: ['litecoin', 'litecoin-bip44', 'litecoin-bip49'],
    feathercoin: ['feathercoin', 'feathercoin-bip44', 'feathercoin-bip49'],
    qtum: ['qtum', 'qtum-bip44'],
    ufo: ['ufo', 'ufo-bip49', 'ufo-bip84'],
    zcoin: ['zcoin', 'zcoin-bip44'],
    bitid: ['bitid']
  }
  const boxes = Object.entries(names).flatMap(([fixed, types]) =>
    types.map(name => {
      const { type: _, ...rest } = toyInfo(`wallet:${name}`)
      const id = walletIdOf(io, `wallet:${name}`, io.crypto.fromBase64(String(rest.keys.dataKey)))
      const keys = { ...rest.keys, format: /bip\d\d/.exec(name)?.[0] ?? 'bip32' }
      return { box: { id, type: `wallet:${name}`, keys }, fixed: `wallet:${fixed}` }
    })
  )
  const user = makeKnownUser(t, { infos: boxes.map(({ box }) => box) })
  const { account } = await user.logIn()
  const listed = listedWallets(account).map(({ walletId, type }) => [walletId, type])
  t.deepEqual(
    listed,
    boxes.map(({ box, fixed }) => [box.id, fixed])
  )
  for (const { box } of boxes) t.like(await account.walletKeys.getRawPrivateKey(box.id), box.keys)
  t.is(user.repo.type, 'account-repo:co.airbitz.wallet')
  t.is(accountRepoTypeOf('one.app'), 'account-repo:one.app')
  const app = await user.logIn({ appId: 'one.app', ...toys() })
  const { id } = await app.account.createCurrencyWallet('wallet:toycoin')
  t.deepEqual(
    listedWallets(app.account).map(({ walletId }) => walletId),
    [id]
  )
  await account.sync()
  const seen = listedWallets(account).find(({ walletId }) => walletId === id)
  t.deepEqual([seen?.appIds, seen?.appId], [['one.app'], 'one.app'])
})

test('an invalid key box costs only its own wallet: bad ids, types, keys and JSON', async t => {
  const [good, misnamed] = [toyInfo(), legacyFile()]
  const twin = toyInfo()
  const noKeys = { ...toyInfo(), keys: { toyKey: '00' } }
  const badKeys = { ...toyInfo(), keys: { dataKey: 'AAAA', syncKey: '?' } }
  const user = makeKnownUser(t, {
    infos: [
      { ...toyInfo(), id: 'AAAA' },
      { ...toyInfo(), id: 5 },
      'text',
      null,
      { id: good.id },
      good,
      { ...good, type: 'wallet:other' },
      noKeys,
      badKeys,
      twin,
      { ...toyInfo(), keys: { ...toyInfo().keys, syncKey: twin.keys.syncKey } },
      { id: misnamed.walletId, type: 'wallet:bitcoin-bip44', keys: misnamed.keys }
    ]
  })
  const { account } = await user.logIn(toys())
  t.is(account.getSnapshot().walletIds.length, 6)
  t.like(await account.walletKeys.getRawPrivateKey(misnamed.walletId), { format: 'bip32', coinType: 0 })
  t.is(listedWallets(account).find(({ walletId }) => walletId === misnamed.walletId)?.type, 'wallet:bitcoin')
  const results = await account.openAllWallets()
  const codes = results.map(result =>
    result.ok ? 'ok' : isWalletError(result.error) ? result.error.code : '?'
  )
  t.deepEqual(codes, ['ok', 'KEY_INTEGRITY', 'KEY_INTEGRITY', 'ok', 'KEY_INTEGRITY', 'ok'])
})

test('a request is read at the call, and later changes of its object have no effect', async t => {
  const { account } = await makeKnownUser(t).logIn({ plugins: [makeToy().plugin] })
  const { id } = await account.createCurrencyWallet('wallet:toycoin')
  const before = account.changeWalletStates({ [id]: { sortIndex: 1 } })
  const change = { hidden: true }
  const requested = account.changeWalletStates({ [id]: change })
  change.hidden = false
  await Promise.all([before, requested])
  t.true(listedWallets(account)[0]?.hidden)
})

test('a change that falls at any moment of a sync keeps what the sync brings', async t => {
  const mutex = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) await new Promise(resolve => setImmediate(resolve))
  }
  for (let moment = 0; moment < 24; moment += 1) {
    const info = toyInfo()
    const user = makeKnownUser(t, { infos: [info] })
    const path = user.statesPath(info.id)
    user.put(user.repo, { [path]: { id: info.id, sortIndex: 1, migratedFromWalletId: 'before' } })
    const memory = new Map<string, string>()
    const disk = makeFaultDisk(memory)
    const setText: Disk['setText'] = async (...file) => {
      await mutex(4)
      await disk.setText(...file)
    }
    const storage = storageOn({ ...disk, setText })
    const { account, kernel } = await user.logIn({ ...toys(), disk: memory, storage })
    user.put(user.repo, { [path]: { id: info.id, sortIndex: 2, archived: true } })
    const syncing = account.sync()
    await mutex(moment)
    await account.changeWalletStates({ [info.id]: { hidden: true } })
    await syncing
    await account.sync()
    const wanted = { id: info.id, sortIndex: 2, archived: true, hidden: true }
    t.deepEqual(user.read(user.repo, path), wanted, `after ${moment} turns`)
    await kernel.close()
  }
})

test('the keys of every wallet list are destroyed when the account closes, and none before', async t => {
  const { repo, io: repoIo } = await openDevice(makeSyncStore())
  const legacy = legacyFile()
  await setText(repo, 'Wallets/old.json', JSON.stringify(legacy.file))
  const [first, second] = [toyInfo(), toyInfo()].map(info => hideWalletInfo(info, ''))
  let listener = (): void => {}
  const login = {
    walletInfos: [first],
    subscribe(received: () => void) {
      listener = received
      return () => {}
    }
  }
  const hooks = makeKernelHooks({ clock: repoIo.clock, onFault: () => {} })
  const services = {
    ...{ io: repoIo, hooks, config: { appId: '' }, plugins: new PluginSet(hooks) },
    report: (_source: string, error: unknown) => t.fail(String(error))
  }
  const options = {
    services,
    login,
    accountRepos: { own: { repo }, all: [{ repo }] }
  } as unknown as WalletBookOptions
  const book = await WalletList.open(options)
  login.walletInfos = [second]
  listener()
  const secrets = [first?.keys, second?.keys, book.get(legacy.walletId).keys]
  t.deepEqual(
    secrets.map(secret => secret?.isAlive),
    [true, true, true]
  )
  await book.close()
  t.deepEqual(
    secrets.map(secret => secret?.isAlive),
    [false, false, false]
  )
})
