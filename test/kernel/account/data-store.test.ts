import test from 'ava'
import { boxOf } from '../../helpers/repo-device.ts'
import { setText } from '../../helpers/repo-texts.ts'
import { openSettings, type SettingsDevice } from '../../helpers/settings-device.ts'
import { makeSyncStore } from '../../helpers/sync-store.ts'

const open = (): Promise<SettingsDevice> => openSettings(makeSyncStore())

const filesOf = async ({ repo, json }: SettingsDevice): Promise<unknown[]> =>
  Promise.all((await repo.list('Plugins')).map(json))

test('an item is a file with its key and data, and its store is named in Name.json [3.38]', async t => {
  const device = await open()
  await device.dataStore.setItem('shop', 'cart', 'three pears')
  t.deepEqual(
    (await filesOf(device)).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    [{ key: 'cart', data: 'three pears' }, { name: 'shop' }]
  )
  for (const path of await device.repo.list('Plugins')) {
    t.regex(path, /^Plugins\/[1-9A-HJ-NP-Za-km-z]{40,}\/([1-9A-HJ-NP-Za-km-z]{40,}|Name)\.json$/)
    t.notRegex(path, /shop|cart/)
  }
  t.is(await device.dataStore.getItem('shop', 'cart'), 'three pears')
})

test('stores and items are listed, replaced and deleted; the last item leaves the store', async t => {
  const { dataStore, repo } = await open()
  t.deepEqual(await dataStore.listStoreIds(), [])
  t.deepEqual(await dataStore.listItemIds('shop'), [])
  await dataStore.setItem('shop', 'cart', '1')
  await dataStore.setItem('shop', 'a/../b', '2')
  await dataStore.setItem('notes', '', 'of nothing')
  await dataStore.setItem('shop', 'cart', '3')
  t.deepEqual(await dataStore.listStoreIds(), ['notes', 'shop'])
  t.deepEqual(await dataStore.listItemIds('shop'), ['a/../b', 'cart'])
  t.is(await dataStore.getItem('shop', 'cart'), '3')
  t.is(await dataStore.getItem('notes', ''), 'of nothing')
  for (const item of ['cart', 'a/../b', 'never']) await dataStore.deleteItem('shop', item)
  t.deepEqual(await dataStore.listItemIds('shop'), [])
  t.deepEqual(await dataStore.listStoreIds(), ['notes', 'shop'])
  await dataStore.deleteStore('shop')
  await dataStore.deleteStore('shop')
  t.deepEqual(await dataStore.listStoreIds(), ['notes'])
  await dataStore.deleteStore('notes')
  t.deepEqual(await repo.list('Plugins'), [])
})

test('an item must exist, and a folder must carry the name of its store [5.39]', async t => {
  const device = await open()
  const { dataStore, repo } = device
  await dataStore.setItem('shop', 'cart', '1')
  for (const [store, item] of [
    ['shop', 'other'],
    ['none', 'cart'],
    ['shop', '__proto__']
  ] as const) {
    const missing = await t.throwsAsync(dataStore.getItem(store, item), { code: 'ITEM_NOT_FOUND' })
    t.is(missing?.message, `No item named "${item}"`)
  }
  const [name = ''] = (await repo.list('Plugins')).filter(path => path.endsWith('/Name.json'))
  await setText(repo, name, '{"name":"bank"}')
  await dataStore.setItem('notes', 'a', '1')
  const calls = [
    () => dataStore.getItem('shop', 'cart'),
    () => dataStore.listItemIds('shop'),
    () => dataStore.setItem('shop', 'cart', '2'),
    () => dataStore.deleteItem('shop', 'cart')
  ]
  for (const call of calls) {
    const refused = await t.throwsAsync<Error>(call(), { code: 'FOLDER_NAME' })
    t.is(refused?.message, "folder name doesn't match")
  }
  t.deepEqual(await dataStore.listStoreIds(), ['notes'])
  t.is(device.faults.length, 1)
  t.like(device.faults[0], { code: 'FOLDER_NAME' })
})

test('files that cannot be read are reported and left out, and the rest is listed', async t => {
  const device = await open()
  const { dataStore, repo } = device
  for (const item of ['a', 'b', 'c', 'd']) await dataStore.setItem('shop', item, item)
  const items = (await repo.list('Plugins')).filter(path => !path.endsWith('/Name.json'))
  const texts = ['no JSON', '{"key":5,"data":"x"}', '{"key":"other","data":"x"}']
  for (const [at, text] of texts.entries()) await setText(repo, items[at] ?? '', text)
  await setText(repo, 'Plugins/damaged/Name.json', '[]')
  const again = await openSettings(makeSyncStore(), { files: (await device.reopen()).files })
  t.is((await again.dataStore.listItemIds('shop')).length, 1)
  t.deepEqual(await again.dataStore.listStoreIds(), ['shop'])
  t.is(again.faults.length, texts.length + 1)
  t.is((await again.repo.list('Plugins')).length, items.length + 2)
})

test('ids and texts that no file can hold are refused', async t => {
  const { dataStore, repo } = await open()
  for (const bad of ['x'.repeat(4097), 'half a \ud800', 5 as never]) {
    await t.throwsAsync(dataStore.setItem(bad, 'a', ''), { code: 'OPTION_INVALID' })
    await t.throwsAsync(dataStore.setItem('a', bad, ''), { code: 'OPTION_INVALID' })
    await t.throwsAsync(dataStore.getItem('a', bad), { code: 'OPTION_INVALID' })
  }
  await t.throwsAsync(dataStore.setItem('a', 'b', { c: 1 } as never), { code: 'OPTION_INVALID' })
  await t.throwsAsync(dataStore.setItem('a', 'b', 'x'.repeat(8 * 1024 * 1024)), { code: 'STORAGE_FAILED' })
  t.is(repo.pendingCount, 0)
})

test('what was written by a deployed client is read, and an equal text writes nothing', async t => {
  const store = makeSyncStore()
  const one = await openSettings(store)
  await one.dataStore.setItem('shop', 'cart', 'three pears')
  const paths = await one.repo.list('Plugins')
  const other = makeSyncStore()
  for (const path of paths) {
    const value = (await one.json(path)) as object
    other.put({ [path]: boxOf(`${JSON.stringify(value, null, 2)}\n`) })
  }
  const { dataStore, repo } = await openSettings(other)
  t.deepEqual(await dataStore.listStoreIds(), ['shop'])
  t.deepEqual(await dataStore.listItemIds('shop'), ['cart'])
  t.is(await dataStore.getItem('shop', 'cart'), 'three pears')
  t.is(repo.pendingCount, 0)
  await dataStore.setItem('shop', 'pie', 'none')
  await dataStore.setItem('shop', 'pie', 'none')
  t.is(repo.pendingCount, 1)
})

test('a thousand items that are set at once share few writes, and a store is deleted as a whole', async t => {
  const device = await open()
  const { dataStore, repo } = device
  const ids = Array.from({ length: 1000 }, (_, at) => `item ${String(at).padStart(4, '0')}`)
  await Promise.all(ids.map(id => dataStore.setItem('shop', id, `the data of ${id}`)))
  t.deepEqual(await dataStore.listItemIds('shop'), ids)
  t.true(device.files.size < 40)
  const late = dataStore.deleteStore('shop').then(() => 'deleted')
  await dataStore.setItem('shop', 'new', '1')
  t.is(await late, 'deleted')
  t.deepEqual(await dataStore.listStoreIds(), ['shop'])
  t.deepEqual(await dataStore.listItemIds('shop'), ['new'])
  t.is((await repo.list('Plugins')).length, 2)
})

test('what another device writes and deletes is seen after a sync, and nothing works after the account has closed', async t => {
  const store = makeSyncStore()
  const [one, two] = [await openSettings(store), await openSettings(store)]
  await one.dataStore.setItem('shop', 'a', '1')
  await one.dataStore.setItem('shop', 'b', '1')
  await one.sync()
  await two.sync()
  t.deepEqual(await two.dataStore.listItemIds('shop'), ['a', 'b'])
  await one.dataStore.deleteItem('shop', 'a')
  await one.sync()
  await two.sync()
  t.deepEqual(await two.dataStore.listItemIds('shop'), ['b'])
  await two.dataStore.close()
  for (const call of [
    () => two.dataStore.listStoreIds(),
    () => two.dataStore.listItemIds('shop'),
    () => two.dataStore.getItem('shop', 'b'),
    () => two.dataStore.setItem('shop', 'b', '2'),
    () => two.dataStore.deleteStore('shop')
  ])
    await t.throwsAsync<Error>(call(), { code: 'LOGGED_OUT' })
})
