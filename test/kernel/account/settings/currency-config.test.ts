import test from 'ava'
import { settle } from '../../../helpers/login-device.ts'
import { boxOf } from '../../../helpers/repo-device.ts'
import { openSettings, type SettingsDevice, tokenOf } from '../../../helpers/settings-device.ts'
import { makeSyncStore, type SyncStore } from '../../../helpers/sync-store.ts'

const ETHER = {
  pluginId: 'ether',
  tokens: () => ({ aa: tokenOf('AAA', '0xAA'), bb: tokenOf('BBB', '0xBB') }),
  getTokenId: async ({ networkLocation }: { networkLocation?: { contractAddress?: unknown } }) => {
    const address = String(networkLocation?.contractAddress)
    if (!/^0x[0-9A-Fa-f]+$/.test(address)) throw new TypeError('That is no contract')
    return address.slice(2).toLowerCase()
  }
}
const OLD = { pluginId: 'oldchain', tokens: () => ({ zz: tokenOf('ZZZ', '0xZZ') }) }
const PLAIN = { pluginId: 'plain' }
const currencies = [ETHER, OLD, PLAIN]

const put = (store: SyncStore, files: Readonly<Record<string, unknown>>): void =>
  store.put(
    Object.fromEntries(Object.entries(files).map(([path, value]) => [path, boxOf(JSON.stringify(value))]))
  )

const stateOf = ({ settings }: SettingsDevice, pluginId = 'ether') =>
  settings.currencyConfig(pluginId).getSnapshot()

test('an account keeps tokens, settings, swap settings and tokens that are always on for each plugin [3.21]', async t => {
  const store = makeSyncStore()
  put(store, {
    'CustomTokens.json': { customTokens: { ether: { cc: tokenOf('CCC', '0xCC') } } },
    'PluginSettings.json': {
      userSettings: { ether: { server: 'one' }, shop: { key: 'two' } },
      swapSettings: { shop: { enabled: false } },
      alwaysEnabledTokens: { ether: { bb: true, gone: true } }
    }
  })
  const device = await openSettings(store, { currencies, swaps: ['shop', 'other'] })
  await device.settings.currencyConfig('ether').builtinTokensReady()
  const { builtinTokens, customTokens, allTokens, alwaysEnabledTokenIds, userSettings } = stateOf(device)
  t.deepEqual(Object.keys(builtinTokens), ['aa', 'bb'])
  t.deepEqual({ ...customTokens }, { cc: tokenOf('CCC', '0xCC') })
  t.deepEqual(Object.keys(allTokens), ['aa', 'bb', 'cc'])
  t.deepEqual(alwaysEnabledTokenIds, ['bb'])
  t.deepEqual(userSettings, { server: 'one' })
  t.deepEqual(device.settings.swapConfig('shop').getSnapshot(), {
    isEnabled: false,
    userSettings: { key: 'two' },
    needsActivation: false
  })
  t.deepEqual(device.settings.swapConfig('other').getSnapshot(), {
    isEnabled: true,
    userSettings: {},
    needsActivation: false
  })
  t.throws(() => device.settings.currencyConfig('shop'), { code: 'PLUGINS_MISSING' })
  t.throws(() => device.settings.swapConfig('ether'), { code: 'PLUGINS_MISSING' })
  t.throws(() => device.settings.currencyConfig('__proto__'), { code: 'PLUGINS_MISSING' })
  t.deepEqual(device.faults, [])
})

test('a bad token of a plugin is reported and left out; a failing or silent plugin delays no other', async t => {
  const bad = JSON.parse('{"__proto__":{},"constructor":{},"":{}}')
  const device = await openSettings(makeSyncStore(), {
    currencies: [
      {
        pluginId: 'mixed',
        tokens: () => ({ ...ETHER.tokens(), bad: { currencyCode: 5 }, constructor: 1, ...bad })
      },
      { pluginId: 'thrower', tokens: () => Promise.reject(new Error('no')) },
      { pluginId: 'silent', tokens: () => new Promise(() => {}) },
      { pluginId: 'list', tokens: () => [1, 2] },
      PLAIN
    ]
  })
  for (const pluginId of ['mixed', 'thrower', 'list', 'plain'])
    await device.settings.currencyConfig(pluginId).builtinTokensReady()
  t.deepEqual(Object.keys(stateOf(device, 'mixed').builtinTokens), ['aa', 'bb'])
  t.true(stateOf(device, 'mixed').areBuiltinTokensKnown)
  t.true(stateOf(device, 'plain').areBuiltinTokensKnown)
  for (const pluginId of ['thrower', 'silent', 'list'])
    t.false(stateOf(device, pluginId).areBuiltinTokensKnown)
  t.is(({} as { currencyCode?: string }).currencyCode, undefined)
  const paths = device.faults.map(fault => (fault as { details: { path?: string } }).details.path)
  t.true(paths.includes('bad.currencyCode'))
  await device.clock.advance(30_000)
  await device.settings.currencyConfig('silent').builtinTokensReady()
  const silent = device.faults.filter(fault => (fault as Error).message.includes('silent'))
  t.like(silent.at(-1), { code: 'PLUGIN_FAILED' })
})

test('a failed plugin is called again, and its tokens arrive later', async t => {
  let isUp = false
  const tokens = () => (isUp ? ETHER.tokens() : Promise.reject(new Error('no network')))
  const device = await openSettings(makeSyncStore(), { currencies: [{ pluginId: 'ether', tokens }] })
  await device.settings.currencyConfig('ether').builtinTokensReady()
  let reported = 0
  device.settings.currencyConfig('ether').subscribe(() => (reported += 1))
  isUp = true
  await device.clock.advance(300_000)
  t.deepEqual(Object.keys(stateOf(device).allTokens), ['aa', 'bb'])
  t.is(reported, 1)
})

test('a token is added under the id that its plugin gives, changed and removed', async t => {
  const store = makeSyncStore()
  const device = await openSettings(store, { currencies })
  const config = device.settings.currencyConfig('ether')
  t.is(await config.addCustomToken(tokenOf('CCC', '0xCC')), 'cc')
  await config.changeCustomToken('cc', tokenOf('DDD', '0xcc'))
  t.deepEqual({ ...config.getSnapshot().customTokens }, { cc: tokenOf('DDD', '0xcc') })
  t.deepEqual(await device.json('CustomTokens.json'), {
    customTokens: { ether: { cc: tokenOf('DDD', '0xcc') } }
  })
  await t.throwsAsync(config.addCustomToken(tokenOf('X', 'nowhere')), { message: 'That is no contract' })
  await t.throwsAsync(config.addCustomToken({ ...tokenOf('X', '0xdd'), denominations: 5 as never }), {
    code: 'OPTION_INVALID',
    message: "The token's denominations is no list"
  })
  await config.removeCustomToken('cc')
  await config.removeCustomToken('cc')
  t.deepEqual(Object.keys(config.getSnapshot().allTokens), ['aa', 'bb'])
  t.deepEqual(await device.json('CustomTokens.json'), { customTokens: { ether: {} } })
})

test('a custom token can be changed only under an id that exists, and the change cannot make it another token [5.21]', async t => {
  const device = await openSettings(makeSyncStore(), { currencies })
  const config = device.settings.currencyConfig('ether')
  for (const tokenId of ['cc', 'aa', '__proto__', 'toString']) {
    const refused = await t.throwsAsync(config.changeCustomToken(tokenId, tokenOf('CCC', '0xCC')), {
      code: 'TOKEN_NOT_FOUND'
    })
    t.is(refused?.message, `There is no token with id ${tokenId}`)
  }
  await config.addCustomToken(tokenOf('CCC', '0xCC'))
  await t.throwsAsync(config.changeCustomToken('cc', tokenOf('CCC', '0xDD')), { code: 'OPTION_INVALID' })
  t.deepEqual({ ...config.getSnapshot().customTokens }, { cc: tokenOf('CCC', '0xCC') })
})

test('where the plugin gives no ids, a token needs a contract address, and the account a wallet [5.20]', async t => {
  const walletTypes: string[] = []
  const device = await openSettings(makeSyncStore(), { currencies, walletTypes })
  const config = device.settings.currencyConfig('oldchain')
  await t.throwsAsync(config.addCustomToken(tokenOf('NEW', '0xNeW')), { code: 'WALLET_MISSING' })
  walletTypes.push('wallet:oldchain', 'wallet:plain')
  await t.throwsAsync(config.addCustomToken(tokenOf('NEW')), {
    code: 'NOT_SUPPORTED',
    message: 'This wallet does not support tokens without a contract address'
  })
  t.is(await config.addCustomToken(tokenOf('NEW', '0xNeW')), 'new')
  t.deepEqual(Object.keys(config.getSnapshot().customTokens), ['new'])
})

test('a currency without tokens refuses one with a reason', async t => {
  const device = await openSettings(makeSyncStore(), { currencies, walletTypes: ['wallet:plain'] })
  await t.throwsAsync(device.settings.currencyConfig('plain').addCustomToken(tokenOf('NEW', '0xNEW')), {
    code: 'NOT_SUPPORTED',
    message: 'This wallet does not support tokens'
  })
})

test('a bad token id is a fault of its plugin, and nothing is written', async t => {
  for (const id of ['__proto__', 'constructor', '', 'x'.repeat(201), 7]) {
    const getTokenId = async () => id as string
    const device = await openSettings(makeSyncStore(), { currencies: [{ pluginId: 'ether', getTokenId }] })
    await t.throwsAsync(device.settings.currencyConfig('ether').addCustomToken(tokenOf('X')), {
      code: 'BOGUS_DATA'
    })
    t.is(device.repo.pendingCount, 0)
  }
})

const legacyToken = (code: string, address: string, more: object = {}) => ({
  ...{ contractAddress: address, currencyCode: code, currencyName: `The ${code}`, denomination: '3' },
  ...{
    denominations: [{ name: code, multiplier: '1000' }],
    multiplier: '1000',
    walletType: 'wallet:ether',
    ...more
  }
})

const LEGACY = {
  customTokens: [
    legacyToken('CCC', '0xCC'),
    legacyToken('HID', '0xDD', { isVisible: false }),
    legacyToken('LOST', '0xEE', { walletType: 'wallet:nobody' }),
    legacyToken('OLD', '0xFF', { walletType: 'wallet:oldchain' }),
    'damaged'
  ],
  other: { of: 'the app' }
}

test('tokens of old settings are shown, copied by the first edit, and never read again', async t => {
  const store = makeSyncStore()
  put(store, { 'Settings.json': LEGACY })
  const device = await openSettings(store, { currencies })
  const config = device.settings.currencyConfig('ether')
  t.deepEqual({ ...config.getSnapshot().customTokens }, { cc: tokenOf('CCC', '0xCC') })
  t.deepEqual(Object.keys(stateOf(device, 'oldchain').customTokens), ['ff'])
  t.is(device.faults.length, 1)
  await config.addCustomToken(tokenOf('CCC', '0xCC'))
  await config.removeCustomToken('none')
  t.is(device.repo.pendingCount, 0)
  await config.removeCustomToken('cc')
  t.deepEqual(await device.json('CustomTokens.json'), {
    customTokens: { ether: {}, oldchain: { ff: tokenOf('OLD', '0xFF') } }
  })
  t.deepEqual(await device.json('Settings.json'), LEGACY)
  await device.sync()
  const again = await openSettings(store, { currencies })
  t.deepEqual(Object.keys(stateOf(again).customTokens), [])
  t.deepEqual(Object.keys(stateOf(again, 'oldchain').customTokens), ['ff'])
})

test('tokens that are always on are limited to those that the currency has', async t => {
  const store = makeSyncStore()
  put(store, { 'PluginSettings.json': { alwaysEnabledTokens: { ether: { future: true } }, more: 1 } })
  const device = await openSettings(store, { currencies })
  const config = device.settings.currencyConfig('ether')
  await config.changeAlwaysEnabledTokenIds(['bb', 'nobody', '__proto__', 'aa', 'aa'])
  t.deepEqual(config.getSnapshot().alwaysEnabledTokenIds, ['aa', 'bb'])
  await config.changeAlwaysEnabledTokenIds(['aa'])
  t.deepEqual(config.getSnapshot().alwaysEnabledTokenIds, ['aa'])
  t.deepEqual(await device.json('PluginSettings.json'), {
    alwaysEnabledTokens: { ether: { future: true, aa: true } },
    more: 1
  })
})

test('settings keep what this version does not know, and refuse what is no JSON', async t => {
  const store = makeSyncStore()
  put(store, {
    'PluginSettings.json': {
      userSettings: { other: { a: 1 } },
      swapSettings: { shop: { enabled: true, x: 1 } },
      y: [1]
    }
  })
  const device = await openSettings(store, { currencies, swaps: ['shop'] })
  const config = device.settings.currencyConfig('ether')
  const shop = device.settings.swapConfig('shop')
  await config.changeUserSettings({ server: 'two' })
  await shop.changeEnabled(false)
  await shop.changeUserSettings({ key: 'three' })
  t.deepEqual(await device.json('PluginSettings.json'), {
    userSettings: { other: { a: 1 }, ether: { server: 'two' }, shop: { key: 'three' } },
    swapSettings: { shop: { enabled: false, x: 1 } },
    y: [1]
  })
  t.deepEqual(config.getSnapshot().userSettings, { server: 'two' })
  t.deepEqual(shop.getSnapshot(), {
    isEnabled: false,
    userSettings: { key: 'three' },
    needsActivation: false
  })
  const round: { self?: unknown } = {}
  round.self = round
  for (const bad of [null, [1], 'x', round, JSON.parse('{"__proto__":1}'), { x: 'y'.repeat(100_001) }])
    await t.throwsAsync(config.changeUserSettings(bad as never), { code: 'OPTION_INVALID' })
})

test('a login that changes nothing, and a setting that is as it was, write nothing', async t => {
  const store = makeSyncStore()
  put(store, {
    'CustomTokens.json': { customTokens: { ether: { cc: tokenOf('CCC', '0xCC') } } },
    'PluginSettings.json': {
      userSettings: { ether: { b: 1, a: 2 } },
      alwaysEnabledTokens: { ether: { bb: true } }
    }
  })
  const device = await openSettings(store, { currencies, swaps: ['shop'] })
  const config = device.settings.currencyConfig('ether')
  await config.builtinTokensReady()
  let reported = 0
  config.subscribe(() => (reported += 1))
  await config.changeUserSettings({ a: 2, b: 1 })
  await config.addCustomToken(tokenOf('CCC', '0xCC'))
  await config.changeAlwaysEnabledTokenIds(['bb'])
  await device.settings.swapConfig('shop').changeEnabled(true)
  t.is(device.repo.pendingCount, 0)
  t.is(reported, 0)
})

test('what another device changes is shown after a sync', async t => {
  const store = makeSyncStore()
  const [one, two] = [
    await openSettings(store, { currencies, swaps: ['shop'] }),
    await openSettings(store, { currencies, swaps: ['shop'] })
  ]
  await one.settings.currencyConfig('ether').addCustomToken(tokenOf('CCC', '0xCC'))
  await one.settings.swapConfig('shop').changeEnabled(false)
  let reported = 0
  two.settings.swapConfig('shop').subscribe(() => (reported += 1))
  await one.sync()
  await two.sync()
  await settle()
  t.deepEqual(Object.keys(stateOf(two).customTokens), ['cc'])
  t.false(two.settings.swapConfig('shop').getSnapshot().isEnabled)
  t.is(reported, 1)
})

test('a token that an old app adds to its settings is shown after a sync', async t => {
  const store = makeSyncStore()
  const device = await openSettings(store, { currencies })
  t.deepEqual(Object.keys(stateOf(device).customTokens), [])
  put(store, { 'Settings.json': { customTokens: [legacyToken('CCC', '0xCC')] } })
  await device.sync()
  await settle()
  t.deepEqual(Object.keys(stateOf(device).customTokens), ['cc'])
})

test('damaged files are reported and read as far as they go; an edit keeps them before it replaces anything', async t => {
  const store = makeSyncStore()
  put(store, {
    'CustomTokens.json': {
      customTokens: { ether: { cc: tokenOf('CCC', '0xCC'), dd: 'damaged' }, oldchain: [1] }
    },
    'PluginSettings.json': [1, 2],
    'Settings.json': LEGACY
  })
  const device = await openSettings(store, { currencies, walletTypes: ['wallet:oldchain'] })
  const config = device.settings.currencyConfig('ether')
  t.deepEqual(Object.keys(config.getSnapshot().customTokens), ['cc'])
  await config.addCustomToken(tokenOf('EEE', '0xEE'))
  t.is(device.kept.size, 0)
  await device.settings.currencyConfig('oldchain').addCustomToken(tokenOf('FFF', '0xFF'))
  t.is(device.kept.size, 1)
  await config.changeUserSettings({ server: 'two' })
  t.is(device.kept.size, 2)
  t.deepEqual(await device.json('CustomTokens.json'), {
    customTokens: {
      ether: { cc: tokenOf('CCC', '0xCC'), dd: 'damaged', ee: tokenOf('EEE', '0xEE') },
      oldchain: { ff: tokenOf('FFF', '0xFF') }
    }
  })
  t.deepEqual(await device.json('PluginSettings.json'), { userSettings: { ether: { server: 'two' } } })
})

test('after the account has closed nothing can be changed', async t => {
  const device = await openSettings(makeSyncStore(), { currencies, swaps: ['shop'] })
  const editing = device.settings.currencyConfig('ether').changeUserSettings({ a: 1 })
  await device.settings.close()
  await editing
  const config = device.settings.currencyConfig('ether')
  await t.throwsAsync(config.changeUserSettings({ a: 2 }), { code: 'LOGGED_OUT' })
  await t.throwsAsync(config.addCustomToken(tokenOf('CCC', '0xCC')), { code: 'LOGGED_OUT' })
  await t.throwsAsync(device.settings.swapConfig('shop').changeEnabled(false), { code: 'LOGGED_OUT' })
})

test('changes that are made in a row, or beside a sync, end as their caller meant them', async t => {
  const store = makeSyncStore()
  const [one, two] = [
    await openSettings(store, { currencies, swaps: ['shop'] }),
    await openSettings(store, { currencies, swaps: ['shop'] })
  ]
  const config = one.settings.currencyConfig('ether')
  const shop = one.settings.swapConfig('shop')
  await config.builtinTokensReady()
  await Promise.all([
    config.changeUserSettings({ a: 1, b: 2 }),
    config.changeUserSettings({ a: 1 }),
    config.changeAlwaysEnabledTokenIds(['aa', 'bb']),
    config.changeAlwaysEnabledTokenIds(['bb']),
    shop.changeEnabled(false),
    shop.changeEnabled(true),
    shop.changeEnabled(false)
  ])
  t.deepEqual(config.getSnapshot().userSettings, { a: 1 })
  t.deepEqual(config.getSnapshot().alwaysEnabledTokenIds, ['bb'])
  t.false(shop.getSnapshot().isEnabled)
  await one.sync()
  await two.sync()
  await settle()
  await two.settings.currencyConfig('ether').changeUserSettings({ a: 2, theirs: true })
  await two.settings.currencyConfig('ether').changeAlwaysEnabledTokenIds(['aa', 'bb'])
  await two.sync()
  const syncing = one.sync()
  const { userSettings } = config.getSnapshot()
  await Promise.all([config.changeUserSettings({ ...userSettings, mine: 1 }), syncing])
  await settle()
  t.deepEqual(config.getSnapshot().userSettings, { a: 2, theirs: true, mine: 1 })
  t.deepEqual(config.getSnapshot().alwaysEnabledTokenIds, ['aa', 'bb'])
})

test('an edit ignores a synced setting that is not shown yet', async t => {
  const store = makeSyncStore()
  const [one, two] = [await openSettings(store, { currencies }), await openSettings(store, { currencies })]
  const config = one.settings.currencyConfig('ether')
  await config.changeUserSettings({ a: 1 })
  await one.sync()
  await two.sync()
  await settle()
  await two.settings.currencyConfig('ether').changeUserSettings({ a: 2, theirs: true })
  await two.sync()
  let editing: Promise<void> | undefined
  one.repo.onServerChange(() => {
    editing ??= config.changeUserSettings({ ...config.getSnapshot().userSettings, mine: 1 })
  })
  await one.sync()
  await editing
  t.deepEqual(config.getSnapshot().userSettings, { a: 2, theirs: true, mine: 1 })
})

test('two tokens with one currency code are two tokens, and editing a code switches nothing on', async t => {
  const device = await openSettings(makeSyncStore(), { currencies })
  const config = device.settings.currencyConfig('ether')
  await config.addCustomToken(tokenOf('AAA', '0xCC'))
  await config.addCustomToken(tokenOf('AAA', '0xDD'))
  await config.changeAlwaysEnabledTokenIds(['aa', 'cc'])
  await config.changeCustomToken('dd', tokenOf('BBB', '0xDD'))
  await config.changeCustomToken('cc', tokenOf('BBB', '0xCC'))
  t.deepEqual(Object.keys(config.getSnapshot().allTokens), ['aa', 'bb', 'cc', 'dd'])
  t.deepEqual(config.getSnapshot().alwaysEnabledTokenIds, ['aa', 'cc'])
  await config.removeCustomToken('cc')
  t.deepEqual(config.getSnapshot().alwaysEnabledTokenIds, ['aa'])
})

test('a token that another client added without denominations, or with senseless ones, stays', async t => {
  const store = makeSyncStore()
  const { networkLocation } = tokenOf('CCC', '0xCC')
  const bare = { currencyCode: 'CCC', displayName: '', denominations: [], networkLocation }
  const odd = { ...tokenOf('DDD', '0xDD'), denominations: [{ name: 'DDD', multiplier: '0' }] }
  put(store, { 'CustomTokens.json': { customTokens: { ether: { cc: bare, dd: odd } } } })
  const device = await openSettings(store, { currencies })
  await device.settings.currencyConfig('ether').builtinTokensReady()
  t.deepEqual({ ...stateOf(device).customTokens }, { cc: bare, dd: { ...odd, denominations: [] } })
  t.deepEqual(stateOf(device).allTokens.cc, bare)
  t.deepEqual(device.faults, [])
})

test('settings that were set can be unset: nothing of them stays in the file, and what others keep there does', async t => {
  const store = makeSyncStore()
  put(store, {
    'PluginSettings.json': {
      userSettings: { ether: { server: 'one' }, other: { kept: true } },
      swapSettings: { shop: { enabled: false, kept: true } }
    }
  })
  const device = await openSettings(store, { currencies, swaps: ['shop'] })
  const config = device.settings.currencyConfig('ether')
  const shop = device.settings.swapConfig('shop')
  await shop.changeUserSettings({ key: 'two' })
  for (const _ of ['set', 'unset already']) {
    await config.changeUserSettings(undefined)
    await shop.changeUserSettings(undefined)
    await shop.changeEnabled(undefined)
    t.deepEqual(config.getSnapshot().userSettings, {})
    t.like(shop.getSnapshot(), { isEnabled: true, userSettings: {} })
    t.deepEqual(await device.json('PluginSettings.json'), {
      userSettings: { other: { kept: true } },
      swapSettings: { shop: { kept: true } }
    })
  }
  await config.changeUserSettings({ server: 'two' })
  t.deepEqual(config.getSnapshot().userSettings, { server: 'two' })
})
