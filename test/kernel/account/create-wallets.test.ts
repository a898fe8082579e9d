import test from 'ava'
import { isWalletError, WalletError } from '../../../kernel/base/errors.ts'
import type { Disk, StoragePlugin } from '../../../kernel/index.ts'
import { walletIdOf } from '../../../kernel/keys/ids.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import type { CurrencyTools } from '../../../kernel/types/engine.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { waitFor } from '../../helpers/device.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { makeKnownUser } from '../../helpers/known-user.ts'
import { listedWallets } from '../../helpers/listed-wallets.ts'
import { makeToy, type Toy } from '../../helpers/toy-currency.ts'
import { toyToken } from '../../helpers/toy-home.ts'

const io = makeNodeIo()
const { fromBase64, toBase64, toHex } = io.crypto

const storageOn = (disk: Disk): StoragePlugin => ({
  kind: 'storage',
  id: 'shared',
  apply: ({ hooks }) => hooks.openDisk.tapPromise('shared', async () => disk)
})

/** A toy that can import, under any id. */
const importer = (id: string, more: Partial<CurrencyTools> = {}): Toy =>
  makeToy({
    id,
    info: { canImportKeys: true },
    tools: { importPrivateKey: async (text, options) => ({ toyKey: text, options: options ?? {} }), ...more }
  })

test('many wallets are made with one request; one result each, and the failure of one harms no other', async t => {
  const broken = makeToy({
    id: 'broken',
    tools: {
      async createPrivateKey() {
        throw new Error('no luck')
      }
    }
  })
  const silent = makeToy({ id: 'silent', tools: { createPrivateKey: async () => undefined as never } })
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: [makeToy().plugin, broken.plugin, silent.plugin] })
  const before = user.world.server.db.roots()[0]?.keyBoxes.length ?? 0
  const routes: string[] = []
  user.world.server.use(async ({ path }, next) => {
    routes.push(path)
    return next()
  })
  const results = await account.createCurrencyWallets([
    { type: 'wallet:toycoin', name: 'One', fiatCurrencyCode: 'iso:EUR' },
    { type: 'wallet:broken' },
    { type: 'wallet:unheard-of' },
    { type: 'wallet:toycoin', fiatCurrencyCode: 'euros' },
    { type: 'wallet:silent' },
    { type: 'wallet:toycoin', name: 'Two' }
  ])
  const reported = results.map(result =>
    result.ok
      ? [result.wallet.name, result.wallet.getSnapshot().fiatCurrencyCode]
      : isWalletError(result.error)
        ? result.error.code
        : 'no luck'
  )
  t.deepEqual(reported, [
    ['One', 'iso:EUR'],
    'no luck',
    'PLUGIN_FOR_TYPE',
    'FIAT_CODE',
    'ENGINE_NO_KEY',
    ['Two', 'iso:USD']
  ])
  t.is(routes.filter(path => path === '/api/v2/login/keys').length, 1)
  t.is(user.world.server.db.roots()[0]?.keyBoxes.length, before + 2)
  await account.sync()
  const other = await user.logIn({ plugins: [makeToy().plugin] })
  await other.account.sync()
  const names = (await other.account.openAllWallets()).map(result => result.ok && result.wallet.name)
  t.deepEqual(names, ['One', 'Two'])
})

test('a type that no plugin knows: "Cannot find a currency plugin for wallet type" [8.69]', async t => {
  const info = makeWalletInfo(io, 'wallet:unheard-of', { key: '00' })
  const { account } = await makeKnownUser(t, { infos: [info] }).logIn()
  const expected = {
    code: 'PLUGIN_FOR_TYPE',
    message: 'Cannot find a currency plugin for wallet type wallet:unheard-of'
  }
  await t.throwsAsync(account.createCurrencyWallet('wallet:unheard-of'), expected)
  await t.throwsAsync(account.openWallet(info.id), expected)
  await t.throwsAsync(account.walletKeys.getRawPublicKey(info.id), expected)
})

test('nothing is made, on the server or here, when the request fails; each result says why', async t => {
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  user.world.setOnline(false)
  const results = await account.createCurrencyWallets([
    { type: 'wallet:toycoin' },
    { type: 'wallet:toycoin' }
  ])
  t.deepEqual(
    results.map(result => !result.ok && isWalletError(result.error, 'NETWORK')),
    [true, true]
  )
  user.world.setOnline(true)
  await account.sync()
  t.deepEqual(listedWallets(account), [])
  t.deepEqual(await account.createCurrencyWallets([]), [])
})

test('importing keys needs plugin support: "This wallet does not support importing keys" [5.23]', async t => {
  const refused = importer('refused')
  const plugins = [
    makeToy().plugin,
    importer('good').plugin,
    { ...refused.plugin, info: { ...refused.plugin.info, canImportKeys: false } }
  ]
  const { account } = await makeKnownUser(t).logIn({ plugins })
  const expected = {
    code: 'IMPORT_UNSUPPORTED',
    message: 'This wallet does not support importing keys'
  }
  for (const type of ['wallet:toycoin', 'wallet:refused'])
    await t.throwsAsync(account.createCurrencyWallet(type, { importText: 'a b c' }), expected)
  const keyOptions = { format: 'old' }
  const { id } = await account.createCurrencyWallet('wallet:good', { importText: 'abcd', keyOptions })
  t.like(await account.walletKeys.getRawPrivateKey(id), {
    toyKey: 'abcd',
    options: keyOptions,
    imported: true
  })
})

test('keys record their origin: made, imported, or as given', async t => {
  const { account } = await makeKnownUser(t).logIn({ plugins: [importer('toycoin').plugin] })
  const keys = { toyKey: toHex(io.random(32)), note: { deep: [1] } }
  const ids = await Promise.all(
    [{}, { importText: 'abcd' }, { keys }].map(
      async options => (await account.createCurrencyWallet('wallet:toycoin', options)).id
    )
  )
  const [made, imported, given] = await Promise.all(ids.map(id => account.walletKeys.getRawPrivateKey(id)))
  t.is(made?.imported, false)
  t.is(imported?.imported, true)
  t.deepEqual(Object.keys(given ?? {}).sort(), ['dataKey', 'note', 'syncKey', 'toyKey'])
  await t.throwsAsync(account.createCurrencyWallet('wallet:toycoin', { keys, importText: 'abcd' }), {
    code: 'OPTION_INVALID'
  })
  for (const bad of [{ dataKey: 'AAAA' }, { syncKey: 'AAAA' }, { dataKey: 5 as unknown as string }])
    await t.throwsAsync(account.createCurrencyWallet('wallet:toycoin', { keys: { ...keys, ...bad } }), {
      code: 'KEY_INTEGRITY'
    })
  // Nothing of what was refused is in the account.
  t.is(listedWallets(account).length, 3)
})

test('a new wallet of a legacy type has the id of that type and asks the plugin for keys of that form', async t => {
  const requested: unknown[] = []
  const litecoin = importer('litecoin', {
    async createPrivateKey(type, options) {
      requested.push([type, options])
      return { toyKey: toHex(io.random(32)), ...options }
    }
  })
  const { account } = await makeKnownUser(t).logIn({ plugins: [litecoin.plugin] })
  const { id, type } = await account.createCurrencyWallet('wallet:litecoin-bip49', {
    keyOptions: { more: 1 }
  })
  t.deepEqual(requested, [['wallet:litecoin', { format: 'bip49', coinType: 2, more: 1 }]])
  t.is(type, 'wallet:litecoin')
  await account.createCurrencyWallet('wallet:litecoin-bip49', { keyOptions: { format: 'bip84' } })
  t.deepEqual(requested[1], ['wallet:litecoin', { format: 'bip84', coinType: 2 }])
  const { dataKey } = await account.walletKeys.getRawPrivateKey(id)
  t.is(id, walletIdOf(io, 'wallet:litecoin-bip49', fromBase64(String(dataKey))))
})

test('a wallet says which one it follows, and starts with its tokens, on every device', async t => {
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  const old = await account.createCurrencyWallet('wallet:toycoin')
  const [result] = await account.createCurrencyWallets([
    { type: 'wallet:toycoin', migratedFromWalletId: old.id, enabledTokenIds: ['b', 'a', 'b'] }
  ])
  await account.sync()
  const id = String(result?.walletId)
  t.is(user.read(user.repo, user.statesPath(id)).migratedFromWalletId, old.id)
  const keys = await account.walletKeys.getRawPrivateKey(id)
  t.deepEqual(user.read({ id, type: 'wallet:toycoin', keys }, 'Tokens.json'), {
    enabledTokenIds: ['a', 'b'],
    detectedTokenIds: []
  })
  const other = await user.logIn({ plugins: [makeToy().plugin] })
  await other.account.sync()
  const listed = listedWallets(other.account).find(({ walletId }) => walletId === id)
  t.is(listed?.migratedFromWalletId, old.id)
})

test('importing keys that the account has makes no second wallet, but restores the first one', async t => {
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  const first = await account.createCurrencyWallet('wallet:toycoin', { name: 'First' })
  const keys = await account.walletKeys.getRawPrivateKey(first.id)
  await account.changeWalletStates({ [first.id]: { deleted: true, archived: true } })
  const contradiction = { ...keys, toyKey: 'another' }
  const results = await account.createCurrencyWallets([
    { type: 'wallet:toycoin', keys, name: 'Again' },
    { type: 'wallet:toycoin', keys: contradiction },
    { type: 'wallet:toycoin' }
  ])
  t.deepEqual(
    results.map(result =>
      result.ok ? result.wallet.id === first.id : isWalletError(result.error) && result.error.code
    ),
    [true, 'KEY_INTEGRITY', false]
  )
  t.is(first.name, 'Again')
  t.is(account.getSnapshot().activeWalletIds.length, 2)
  const fresh = { toyKey: toHex(io.random(32)), dataKey: toBase64(io.random(32)) }
  const twins = await account.createCurrencyWallets([
    { type: 'wallet:toycoin', keys: { ...fresh, syncKey: keys.syncKey ?? '' } },
    { type: 'wallet:toycoin', keys: { ...fresh, toyKey: 'other' } }
  ])
  t.true(twins.every(result => !result.ok && isWalletError(result.error, 'KEY_INTEGRITY')))
})

test('keys that add to those of a wallet are added, and what the wallet holds stays', async t => {
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  const swapRequest = { name: 'First', fiatCurrencyCode: 'iso:EUR' }
  const first = await account.createCurrencyWallet('wallet:toycoin', swapRequest)
  const { id } = first
  const keys = { ...(await account.walletKeys.getRawPrivateKey(id)), note: 'more' }
  await account.sync()
  // A device that knows the keys and has none of the files.
  const other = await user.logIn({ plugins: [makeToy().plugin] })
  await other.account.sync()
  const results = await other.account.createCurrencyWallets([
    { type: 'wallet:toycoin', keys },
    { type: 'wallet:toycoin', keys: { ...keys, note: 'another' } }
  ])
  t.deepEqual(
    results.map(result => (result.ok ? result.wallet.id : isWalletError(result.error) && result.error.code)),
    [id, 'KEY_INTEGRITY']
  )
  t.is((await other.account.walletKeys.getRawPrivateKey(id)).note, 'more')
  t.like((await other.account.openWallet(id)).getSnapshot(), swapRequest)
  await other.account.sync()
  await account.sync()
  t.is((await account.walletKeys.getRawPrivateKey(id)).note, 'more')
  t.like(first.getSnapshot(), swapRequest)
})

test('a wallet with copied keys of another account shows the same data, and changes it only on request', async t => {
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  const first = await account.createCurrencyWallet('wallet:toycoin', {
    name: 'First',
    fiatCurrencyCode: 'iso:EUR'
  })
  await account.sync()
  const keys = await account.walletKeys.getRawPrivateKey(first.id)
  const app = await user.logIn({ plugins: [makeToy().plugin], appId: 'one.app' })
  const copy = await app.account.createCurrencyWallet('wallet:toycoin', { keys, name: 'Second' })
  t.is(copy.id, first.id)
  t.like(copy.getSnapshot(), { name: 'Second', fiatCurrencyCode: 'iso:EUR' })
  await app.account.sync()
  await account.sync()
  await waitFor(() => first.name === 'Second')
  t.is(first.getSnapshot().fiatCurrencyCode, 'iso:EUR')
})

test('importing the keys of a wallet again keeps its name and fiat code', async t => {
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  const swapRequest = { name: 'First', fiatCurrencyCode: 'iso:EUR' }
  const { id } = await account.createCurrencyWallet('wallet:toycoin', swapRequest)
  const keys = await account.walletKeys.getRawPrivateKey(id)
  await account.sync()
  const other = await user.logIn({ plugins: [makeToy().plugin] })
  await other.account.sync()
  const again = await other.account.createCurrencyWallet('wallet:toycoin', { keys })
  t.like(again.getSnapshot(), swapRequest)
})

test('a wallet whose creation reply was lost is found, and no second one is made', async t => {
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  let isLost = true
  user.world.server.use(async ({ path }, next) => {
    const reply = await next()
    if (path !== '/api/v2/login/keys' || !isLost) return reply
    isLost = false
    throw new Error('The reply was lost')
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { name: 'Found' })
  t.is(wallet.name, 'Found')
  t.deepEqual(account.getSnapshot().walletIds, [wallet.id])
})

test('a process that ends before the reply leaves no new wallet without name, fiat currency and tokens', async t => {
  for (const moment of ['before the request', 'after the request'] as const) {
    const user = makeKnownUser(t)
    const disk = new Map<string, string>()
    const options = { plugins: [makeToy({ tokens: { a: toyToken('A') } }).plugin] }
    const { account } = await user.logIn({ ...options, disk })
    let left: Map<string, string> | undefined
    user.world.server.use(async ({ path }, next) => {
      const isTheOne = path === '/api/v2/login/keys'
      if (isTheOne && moment === 'before the request') left = new Map(disk)
      const reply = await next()
      if (isTheOne && moment === 'after the request') left = new Map(disk)
      return reply
    })
    await account.createCurrencyWallets([
      { type: 'wallet:toycoin', name: 'One', fiatCurrencyCode: 'iso:EUR', enabledTokenIds: ['a'] },
      { type: 'wallet:toycoin', name: 'Two' }
    ])
    // What the first process went on to do never came to the server: its wallets are not synced.
    const again = await user.logIn({ ...options, disk: left ?? new Map() })
    await again.account.sync()
    const opened = await again.account.openAllWallets()
    t.deepEqual(
      opened.map(result => {
        const snapshot = result.ok ? result.wallet.getSnapshot() : undefined
        return [snapshot?.name, snapshot?.fiatCurrencyCode, snapshot?.enabledTokenIds]
      }),
      [
        ['One', 'iso:EUR', ['a']],
        ['Two', 'iso:USD', []]
      ],
      moment
    )
    const third = await user.logIn({ ...options, disk: left ?? new Map() })
    t.is((await third.account.openAllWallets()).length, 2)
  }
})

test('a wallet that was renamed elsewhere meanwhile keeps that name', async t => {
  const user = makeKnownUser(t)
  const disk = new Map<string, string>()
  const options = { plugins: [makeToy().plugin] }
  const { account } = await user.logIn({ ...options, disk })
  let left: Map<string, string> | undefined
  user.world.server.use(async ({ path }, next) => {
    if (path === '/api/v2/login/keys') left ??= new Map(disk)
    return next()
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { name: 'One' })
  await wallet.rename('Newer')
  await wallet.sync()
  await account.logout()
  const again = await user.logIn({ ...options, disk: left ?? new Map() })
  await again.account.sync()
  const [result] = await again.account.openAllWallets()
  t.is(result?.ok === true && result.wallet.name, 'Newer')
})

test('whatever write fails, a wallet is there with all its keys if the server has them, and never twice', async t => {
  let fired = 0
  for (const kind of ['lost', 'full'] as const) {
    for (let at = 1; ; at += 1) {
      const user = makeKnownUser(t)
      const disk = new Map<string, string>()
      const faults = makeFaultDisk(disk)
      const options = { plugins: [makeToy().plugin], disk }
      const { account } = await user.logIn({ ...options, storage: storageOn(faults) })
      faults.strike({ at, kind })
      const [result] = await account.createCurrencyWallets([{ type: 'wallet:toycoin', name: 'Name' }])
      const hasKeys = user.world.server.db.roots()[0]?.keyBoxes.length === 2
      if (result?.ok === true) t.true(hasKeys)
      await account.logout()
      const again = await user.logIn(options)
      await again.account.sync()
      const { walletIds } = again.account.getSnapshot()
      t.is(walletIds.length, hasKeys ? 1 : 0, `${kind} ${at}`)
      for (const walletId of walletIds) {
        const { name } = await again.account.openWallet(walletId)
        t.is(name, 'Name', `${kind} ${at}`)
      }
      if (!faults.hasFired) break
      fired += 1
    }
  }
  t.true(fired >= 8, `${fired} faults`)
})

test('a new wallet that another caller opens first still gets its tokens, name and fiat code', async t => {
  const user = makeKnownUser(t)
  const tokens = { a: toyToken('A'), b: toyToken('B') }
  const { account } = await user.logIn({ plugins: [makeToy({ tokens }).plugin] })
  account.subscribe(() => {
    for (const walletId of account.getSnapshot().walletIds) account.openWallet(walletId).catch(() => {})
  })
  const swapRequest = { name: 'Mine', fiatCurrencyCode: 'iso:EUR', enabledTokenIds: ['a', 'b'] }
  const wallet = await account.createCurrencyWallet('wallet:toycoin', swapRequest)
  await account.sync()
  const keys = await account.walletKeys.getRawPrivateKey(wallet.id)
  const file = user.read({ id: wallet.id, type: wallet.type, keys }, 'Tokens.json')
  t.deepEqual(file?.enabledTokenIds, ['a', 'b'])
  t.like(wallet.getSnapshot(), { name: 'Mine', fiatCurrencyCode: 'iso:EUR' })
})

test('a bad request among many harms no other, and an error of the keys refuses every request for them', async t => {
  const user = makeKnownUser(t)
  const { account, errors } = await user.logIn({ plugins: [makeToy().plugin] })
  const old = await account.createCurrencyWallet('wallet:toycoin')
  const results = await account.createCurrencyWallets([
    { type: 'wallet:toycoin', migratedFromWalletId: old.id },
    { type: 'wallet:toycoin', migratedFromWalletId: 7 as never }
  ])
  t.deepEqual(
    results.map(result => (result.ok ? 'ok' : isWalletError(result.error) && result.error.code)),
    ['ok', 'OPTION_INVALID']
  )
  const made = listedWallets(account).find(({ walletId }) => walletId === results[0]?.walletId)
  t.is(made?.migratedFromWalletId, old.id)

  user.world.setOnline(false)
  const keys = {
    toyKey: toHex(io.random(32)),
    dataKey: toBase64(io.random(32)),
    syncKey: toBase64(io.random(20))
  }
  const twins = await account.createCurrencyWallets([
    { type: 'wallet:toycoin', keys },
    { type: 'wallet:toycoin', keys },
    { type: 'wallet:toycoin', keys: await account.walletKeys.getRawPrivateKey(old.id), name: 'Known' }
  ])
  t.deepEqual(
    twins.map(result => (result.ok ? 'ok' : isWalletError(result.error) && result.error.code)),
    ['NETWORK', 'NETWORK', 'ok']
  )
  t.deepEqual(
    errors.filter(error => isWalletError(error, 'WALLET_ID_UNKNOWN')),
    []
  )
})

test('an invalid key text is refused with a hint, and not reported as damaged keys', async t => {
  const { account } = await makeKnownUser(t).logIn({
    plugins: [
      importer('toycoin', {
        async importPrivateKey() {
          throw new WalletError('KEY_INTEGRITY', { rule: 'no words' })
        }
      }).plugin
    ]
  })
  const error = await t.throwsAsync(
    account.createCurrencyWallet('wallet:toycoin', { importText: 'hunter2' }),
    {
      code: 'IMPORT_INVALID',
      message: 'This cannot be imported: no words'
    }
  )
  t.regex(String((error as WalletError).hint), /each word/)
})

test('keys without a field are keys: a plugin may need no more than the data key', async t => {
  const bare = makeToy({
    id: 'bare',
    info: { canImportKeys: true },
    tools: {
      createPrivateKey: async () => ({}),
      importPrivateKey: async () => ({}),
      derivePublicKey: async () => ({})
    }
  })
  const { account } = await makeKnownUser(t).logIn({ plugins: [bare.plugin] })
  const { walletKeys } = account
  const made = await account.createCurrencyWallet('wallet:bare')
  t.deepEqual(Object.keys(await walletKeys.getRawPrivateKey(made.id)).sort(), [
    'dataKey',
    'imported',
    'syncKey'
  ])
  t.deepEqual(await walletKeys.getRawPublicKey(made.id), {})
  await made.changePaused(false)
  for (const options of [{ importText: 'words' }, { keys: {} }]) {
    const { id } = await account.createCurrencyWallet('wallet:bare', options)
    t.is((await account.openWallet(id)).id, id)
  }
})

test('an account makes, lists and keeps keys of every type, also of those that are no wallets', async t => {
  const user = makeKnownUser(t)
  const options = { plugins: [makeToy().plugin] }
  const { account } = await user.logIn(options)
  const given = { secret: 'x', deep: { list: [1] } }
  const ids = [
    await account.createWallet('account-repo:some.app', given),
    await account.createWallet('wallet:unheard-of', { unknownKey: 'y' }),
    await account.createWallet('plugin-store', {}),
    await account.createWallet('wallet:toycoin')
  ]
  const types = ['account-repo:some.app', 'wallet:unheard-of', 'plugin-store', 'wallet:toycoin']
  await account.changeWalletStates({ [String(ids[0])]: { archived: true, sortIndex: 9 } })
  t.like(await account.walletKeys.getRawPrivateKey(String(ids[0])), given)
  t.is(
    await account.createWallet('plugin-store', await account.walletKeys.getRawPrivateKey(String(ids[2]))),
    String(ids[2])
  )
  t.deepEqual(account.getSnapshot().walletIds, ids.slice(3))
  await account.sync()
  const other = await user.logIn(options)
  await other.account.sync()
  for (const { listWallets } of [account, other.account].map(one => ({
    listWallets: () => one.listWallets()
  }))) {
    const listed = new Map(listWallets().map(listing => [listing.walletId, listing]))
    t.deepEqual(
      ids.map(id => [listed.get(String(id))?.type, listed.get(id)?.isWallet, listed.get(id)?.archived]),
      types.map((type, at) => [type, type.startsWith('wallet:'), at === 0])
    )
    t.is(listed.get(user.repo.id)?.type, 'account-repo:co.airbitz.wallet')
    t.is(listed.size, 5)
  }
  for (const [type, keys] of [
    ['', {}],
    [5 as never, {}],
    ['x'.repeat(1001), {}]
  ] as const)
    await t.throwsAsync(account.createWallet(type, keys), { code: 'OPTION_INVALID' })
  await t.throwsAsync(account.createWallet('plugin-store'), { code: 'PLUGIN_FOR_TYPE' })
  await t.throwsAsync(account.createCurrencyWallet('plugin-store', { keys: {} }), { code: 'PLUGIN_FOR_TYPE' })
  await t.throwsAsync(account.openWallet(user.repo.id), { code: 'PLUGIN_FOR_TYPE' })
})
