import test from 'ava'
import type { Account } from '../../../kernel/index.ts'
import { fileHashOf } from '../../../kernel/keys/ids.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import { readAddresses, SavedAddresses } from '../../../kernel/wallet/addresses.ts'
import { fiatCodeOfNumber } from '../../../kernel/wallet/settings.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { waitFor } from '../../helpers/device.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { makeKnownUser } from '../../helpers/known-user.ts'
import { dataKey, openDevice } from '../../helpers/repo-device.ts'
import { makeSyncStore } from '../../helpers/sync-store.ts'
import { makeToy } from '../../helpers/toy-currency.ts'
import { openToyHome, toyToken } from '../../helpers/toy-home.ts'
import { nameOf } from '../../helpers/user-record.ts'

const io = makeNodeIo()
const toyInfo = () => makeWalletInfo(io, 'wallet:toycoin', { toyKey: io.crypto.toHex(io.random(32)) })

test('a fiat currency by its old number is read, and only its code is written; other fields are kept', async t => {
  const info = toyInfo()
  const user = makeKnownUser(t, { infos: [info] })
  user.put(info, {
    'Currency.json': { num: 978, more: 1 },
    'WalletName.json': { walletName: 'Old', more: 2 }
  })
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  const wallet = await account.openWallet(info.id)
  t.like(wallet.getSnapshot(), { fiatCurrencyCode: 'iso:EUR', name: 'Old' })
  await wallet.setFiatCurrencyCode('iso:CHF')
  await wallet.rename('New')
  await account.sync()
  t.deepEqual(user.read(info, 'Currency.json'), { fiat: 'iso:CHF', more: 1 })
  t.deepEqual(user.read(info, 'WalletName.json'), { walletName: 'New', more: 2 })
  await wallet.rename(null)
  t.is(wallet.name, null)
  await account.sync()
  t.deepEqual(user.read(info, 'WalletName.json'), { walletName: null, more: 2 })
})

test('numbers of ISO 4217 are codes, with their leading zeros, and others are none', t => {
  t.deepEqual([840, 978, 36, 8, 1, 12345, -8, 8.5, Number.NaN].map(fiatCodeOfNumber), [
    'iso:USD',
    'iso:EUR',
    'iso:AUD',
    'iso:ALL',
    undefined,
    undefined,
    undefined,
    undefined,
    undefined
  ])
})

test('what another device wrote earlier is not shown after a new name, and what it wrote later is', async t => {
  const info = toyInfo()
  const user = makeKnownUser(t, { infos: [info] })
  user.put(info, { 'WalletName.json': { walletName: 'Old' } })
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  const wallet = await account.openWallet(info.id)
  const names: (string | null)[] = []
  wallet.subscribe(() => names.push(wallet.name))
  for (const round of [1, 2, 3, 4, 5, 6]) {
    user.put(info, { 'WalletName.json': { walletName: `Theirs ${round}`, round } })
    const syncing = wallet.sync()
    // Somewhere between the arrival of the file and its reading.
    for (let turn = 0; turn < round * 2; turn += 1) await Promise.resolve()
    await Promise.all([syncing, wallet.rename(`Mine ${round}`)])
    await wallet.sync()
    await waitFor(() => wallet.name === user.read(info, 'WalletName.json').walletName)
  }
  t.true(names.length > 0)
})

test('settings that cannot be read are reported, count as missing, and are kept when they are replaced', async t => {
  const info = toyInfo()
  const user = makeKnownUser(t, { infos: [info] })
  user.put(info, { 'Currency.json': 'no json', 'WalletName.json': [] })
  const disk = new Map<string, string>()
  const { account, errors } = await user.logIn({ plugins: [makeToy().plugin], disk })
  const wallet = await account.openWallet(info.id)
  t.like(wallet.getSnapshot(), { fiatCurrencyCode: 'iso:USD', name: null })
  t.true(errors.length >= 2)
  await wallet.rename('New')
  t.true([...disk.keys()].some(path => path.startsWith('quarantine/')))
})

test('a fiat currency that is no code counts as none, and a number beside it is read', async t => {
  const [odd, numbered] = [toyInfo(), toyInfo()]
  const user = makeKnownUser(t, { infos: [odd, numbered] })
  user.put(odd, { 'Currency.json': { fiat: 'EUR' } })
  user.put(numbered, { 'Currency.json': { fiat: 'EUR', num: 978 } })
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  t.is((await account.openWallet(odd.id)).getSnapshot().fiatCurrencyCode, 'iso:USD')
  t.is((await account.openWallet(numbered.id)).getSnapshot().fiatCurrencyCode, 'iso:EUR')
})

test('a wallet that was never named is called like the app that made it', async t => {
  const appId = 'test.app'
  const { account, clock } = await openToyHome(t, { device: { appId } })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(200)
  t.is(wallet.name, appId)
  await wallet.rename('Pocket')
  t.is(wallet.name, 'Pocket')
})

test('a dump holds what support needs, and no private key', async t => {
  const { account } = await makeKnownUser(t, { infos: [toyInfo()] }).logIn({
    plugins: [
      makeToy({
        info: { needsKeysToSync: true },
        engine: (good, { walletInfo, callbacks }) => {
          let stolen: unknown
          return {
            async syncNetwork(keys) {
              stolen = keys.privateKeys
              callbacks.onStatus(`Syncing with ${JSON.stringify(stolen)}`)
              return good.syncNetwork(keys)
            },
            dumpData: async () =>
              ({
                address: walletInfo.keys.address,
                deep: [{ text: `the keys: ${JSON.stringify(stolen)}` }, stolen]
              }) as never
          }
        }
      }).plugin
    ]
  })
  const [walletId = ''] = account.getSnapshot().walletIds
  const wallet = await account.openWallet(walletId)
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
  const dump = await wallet.dumpData()
  t.like(dump, { walletId, walletType: 'wallet:toycoin', pluginId: 'toycoin' })
  t.like(dump.engine, { state: 'started' })
  const text = JSON.stringify(dump)
  for (const key of Object.values(await account.walletKeys.getRawPrivateKey(walletId))) {
    if (typeof key === 'string' && key.length > 12) t.false(text.includes(key))
  }
  t.like(dump.data, { address: (await wallet.getReceiveAddress()).publicAddress })
})

test('the files of a wallet hold its fiat code, name, enabled and found tokens; when and where it synced last is known [3.31]', async t => {
  const info = toyInfo()
  const user = makeKnownUser(t, { infos: [info] })
  const tokens = { gold: toyToken('GOLD'), tin: toyToken('TIN') }
  const toy = makeToy({ tokens })
  const { account } = await user.logIn({ plugins: [toy.plugin] })
  const wallet = await account.openWallet(info.id)
  const lastSyncOf = (of: Account) => of.listRepos().find(({ ownerId }) => ownerId === info.id)
  const before = lastSyncOf(account)
  await wallet.setFiatCurrencyCode('iso:EUR')
  await wallet.rename('Toys')
  await wallet.changeEnabledTokenIds(['tin'])
  await waitFor(() => toy.requests.length === 1)
  toy.requests[0]?.callbacks.onNewTokens(['gold'])
  await waitFor(async () => {
    await account.sync()
    return user.read(info, 'Tokens.json')?.detectedTokenIds.length === 1
  })
  t.deepEqual(user.read(info, 'Currency.json'), { fiat: 'iso:EUR' })
  t.deepEqual(user.read(info, 'WalletName.json'), { walletName: 'Toys' })
  t.deepEqual(user.read(info, 'Tokens.json'), {
    enabledTokenIds: ['gold', 'tin'],
    detectedTokenIds: ['gold']
  })

  const disk = new Map<string, string>()
  const next = await user.logIn({ plugins: [makeToy({ tokens }).plugin], disk })
  const same = await next.account.openWallet(info.id)
  t.like(same.getSnapshot(), { fiatCurrencyCode: 'iso:EUR', name: 'Toys' })
  t.deepEqual(same.getSnapshot().enabledTokenIds, ['gold', 'tin'])
  t.deepEqual(same.getSnapshot().detectedTokenIds, ['gold'])
  const { lastHash, lastSync = 0 } = lastSyncOf(next.account) ?? {}
  t.is(lastHash, lastSyncOf(account)?.lastHash)
  t.not(lastHash, before?.lastHash)
  t.regex(lastHash ?? '', /^[0-9a-f]{40}$/)
  t.true(Math.abs(lastSync - Date.now() / 1000) < 600)
  await next.kernel.close()
  user.world.server.use(async () => {
    throw new Error('offline')
  })
  const again = await user.logIn({ plugins: [makeToy({ tokens }).plugin], disk })
  await again.account.openWallet(info.id)
  const kept = lastSyncOf(again.account)
  t.is(kept?.lastHash, lastHash)
  t.true(Math.abs((kept?.lastSync ?? 0) - lastSync) < 60)
})

test('a file that has become that of another address since is left alone', async t => {
  const info = toyInfo()
  const user = makeKnownUser(t, { infos: [info] })
  const path = 'Addresses/0.json'
  const theirs = { seq: 7, address: 'free', state: { recycleable: true, creationDate: 5 }, meta: {} }
  user.put(info, { [path]: theirs })
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  const wallet = await account.openWallet(info.id)
  const save = async (name: string): Promise<void> => {
    await wallet.saveReceiveAddress('free', { name })
    await account.sync()
  }
  await save('Ann')
  t.like(user.read(info, path), { address: 'free', meta: { name: 'Ann' } })
  const another = { ...theirs, address: 'another' }
  user.put(info, { [path]: another })
  await account.sync()
  await save('Bob')
  t.deepEqual(user.read(info, path), another)
  const names = (await wallet.savedAddresses()).map(({ address, metadata }) => [address, metadata.name])
  t.deepEqual(names.sort(), [
    ['another', undefined],
    ['free', 'Bob']
  ])
  await wallet.saveReceiveAddress('another', { name: 'Cid' })
  await account.sync()
  t.deepEqual(user.read(info, path), { ...another, meta: { amountSatoshi: 0, name: 'Cid' } })
  t.is((await wallet.savedAddresses()).length, 2)
})

test('each address file is read once, however many addresses are noted, also one that cannot be read', async t => {
  const device = await openDevice(makeSyncStore())
  const { repo, clock, io } = device
  const record = { seq: 0, address: 'theirs', state: { recycleable: true, creationDate: 5 }, meta: {} }
  const texts = {
    'Addresses/0.json': '{',
    'Addresses/1.json': '[]',
    'Addresses/2.json': JSON.stringify(record)
  }
  await repo.write({ texts: new Map(Object.entries(texts)) })
  const reads: string[] = []
  const getText = repo.getText.bind(repo)
  Object.defineProperty(repo, 'getText', {
    value: (path: string) => {
      reads.push(path)
      return getText(path)
    }
  })
  const report = (error: unknown): void => t.fail(String(error))
  const files = new SavedAddresses({ repo, disk: makeFaultDisk(device.files), clock, report }, text =>
    fileHashOf(io, dataKey, text)
  )
  for (const address of ['one', 'two', 'three']) {
    await files.edit({ address, recycleable: true, metadata: { name: address } })
  }
  const wasThere = (path: string): boolean => Object.hasOwn(texts, path)
  t.deepEqual(reads.filter(wasThere).sort(), Object.keys(texts))
  // The file that an edit makes is read for that edit alone.
  t.is(new Set(reads).size, reads.length)
  t.is((await readAddresses(repo, () => {})).length, 4)
})

test('an address that another client wrote is edited where it stands, and what that client keeps there stays', async t => {
  const info = toyInfo()
  const user = makeKnownUser(t, { infos: [info] })
  const theirs = {
    seq: 7,
    address: 'free',
    state: { recycleable: true, creationDate: 5, more: 1 },
    meta: { amountSatoshi: 9, bizId: 3, name: 'Old', notes: 'kept' },
    other: [2]
  }
  // Names on either side of the one that we would give.
  for (const name of ['0', 'zzz']) {
    const path = `Addresses/${name}.json`
    user.put(info, { [path]: theirs })
    const { account } = await user.logIn({ plugins: [makeToy().plugin] })
    const wallet = await account.openWallet(info.id)
    await wallet.lockReceiveAddress('free', { name: 'Ann' })
    await wallet.saveReceiveAddress('free', { category: 'income', notes: null })
    t.deepEqual(await wallet.savedAddresses(), [
      {
        seq: 7,
        address: 'free',
        recycleable: false,
        creationDate: 5,
        metadata: { name: 'Ann', category: 'income' }
      }
    ])
    await account.sync()
    t.deepEqual(user.read(info, path), {
      ...theirs,
      state: { ...theirs.state, recycleable: false },
      meta: { amountSatoshi: 9, bizId: 3, name: 'Ann', category: 'income' }
    })
    user.put(info, { [path]: null })
    await account.logout()
  }
})

test('an address is a file with its number, whether it can be used again, and since when [3.30]', async t => {
  const info = toyInfo()
  const user = makeKnownUser(t, { infos: [info] })
  const theirs = (address: string, state: object): object => ({ seq: 7, address, state, meta: {} })
  user.put(info, {
    'Addresses/used.json': theirs('used', { recycleable: false, creationDate: 1_500_000_000.5 }),
    'Addresses/bare.json': theirs('bare', {})
  })
  const locked: unknown[] = []
  const toy = makeToy({
    onCall: (method, args) =>
      void (method === 'addGapLimitAddresses' && locked.push(...(args[0] as string[])))
  })
  const { account } = await user.logIn({ plugins: [toy.plugin] })
  const wallet = await account.openWallet(info.id)
  const read = (await wallet.savedAddresses()).sort((one, other) => one.address.localeCompare(other.address))
  t.deepEqual(read, [
    { seq: 7, address: 'bare', recycleable: true, creationDate: 0, metadata: {} },
    { seq: 7, address: 'used', recycleable: false, creationDate: 1_500_000_000.5, metadata: {} }
  ])
  await waitFor(() => locked.length > 0)
  t.deepEqual(locked, ['used'])
  await wallet.lockReceiveAddress('mine')
  await account.sync()
  const { seq, address, state } = user.read(info, `Addresses/${nameOf(info, 'mine')}.json`)
  t.deepEqual([seq, address, state.recycleable], [0, 'mine', false])
  t.true(Math.abs(state.creationDate - Date.now() / 1000) < 600)
})
