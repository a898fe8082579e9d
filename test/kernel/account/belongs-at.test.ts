import test from 'ava'
import { belongsAt } from '../../../kernel/account/repos.ts'
import { isWalletError } from '../../../kernel/index.ts'
import type { Box } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { makeKnownUser } from '../../helpers/known-user.ts'
import { makeToy } from '../../helpers/toy-currency.ts'
import { pathsOf } from '../../helpers/user-record.ts'

const { crypto } = makeNodeIo()

test('a server that puts the boxes of an account under each other’s paths takes nothing from a known device', async t => {
  const user = makeKnownUser(t)
  const { account, errors } = await user.logIn({ plugins: [makeToy().plugin] })
  await account.createCurrencyWallets(Array.from({ length: 6 }, () => ({ type: 'wallet:toycoin' })))
  const [first = ''] = account.getSnapshot().walletIds
  await account.changeWalletStates({ [first]: { archived: true } })
  const items = Array.from({ length: 60 }, (_, i) => `item-${i}`)
  for (const id of items)
    await account.dataStore.setItem(id.endsWith('7') ? 'other' : 'shop', id, `text of ${id}`)
  await account.sync()
  const { db } = user.world.server
  const paths = pathsOf(db, user.repo)
  const boxes = new Map(paths.map(path => [path, db.repo(keyOf(user.repo))?.files.get(path)?.content as Box]))
  const turned = Object.fromEntries(
    paths.map((path, i) => [path, boxes.get(paths[(i + 1) % paths.length] ?? '') ?? null])
  )
  db.commit(keyOf(user.repo), turned)
  await account.sync()
  const there = async (): Promise<string[]> => {
    const found: string[] = []
    for (const store of await account.dataStore.listStoreIds())
      for (const id of await account.dataStore.listItemIds(store)) found.push(id)
    return found.sort()
  }
  t.deepEqual(await there(), [...items].sort())
  for (const id of items)
    t.is(await account.dataStore.getItem(id.endsWith('7') ? 'other' : 'shop', id), `text of ${id}`)
  t.deepEqual(account.getSnapshot().archivedWalletIds, [first])
  t.true(errors.some(error => isWalletError(error, 'SYNC_OLD_STATE')))
  await account.sync()
  for (const [path, box] of boxes)
    t.deepEqual(db.repo(keyOf(user.repo))?.files.get(path)?.content, box, `${path} is on the server again`)
})

test('files that are damaged, or that a server deleted or replaced, are listed by name and restored by id', async t => {
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { name: 'Savings' })
  await account.dataStore.setItem('shop', 'cart', 'pears')
  await account.sync()
  t.deepEqual(await account.keptFiles.list(), [])
  const path = `Plugins/${user.statesPath('shop').slice(5, -5)}/${user.statesPath('cart').slice(5, -5)}.json`
  user.put(user.repo, { [path]: { key: 'cart', data: 'stones' } })
  await account.sync()
  t.is(await account.dataStore.getItem('shop', 'cart'), 'stones')
  await account.dataStore.deleteItem('shop', 'cart')
  await wallet.rename('Spendings')
  const kept = await account.keptFiles.list()
  t.deepEqual(
    kept
      .map(({ kind, title, reason, walletId, canRestore }) => [kind, title, reason, walletId, canRestore])
      .sort(),
    [
      ['data item', 'cart', 'deleted', undefined, true],
      ['data item', 'cart', 'replaced', undefined, true]
    ]
  )
  const replaced = kept.find(({ reason }) => reason === 'replaced')
  t.like(await account.keptFiles.restore(replaced?.id ?? ''), { path })
  t.is(await account.dataStore.getItem('shop', 'cart'), 'pears')
  await t.throwsAsync(account.keptFiles.restore(replaced?.id ?? ''), { code: 'KEPT_FILE_UNKNOWN' })
  await account.logout()
  await t.throwsAsync(account.keptFiles.list(), { code: 'LOGGED_OUT' })
})

test('a damaged file in quarantine is listed, and restored if it opens', async t => {
  const user = makeKnownUser(t)
  const disk = new Map<string, string>()
  const { account } = await user.logIn({ plugins: [makeToy().plugin], disk })
  await account.sync()
  user.put(user.repo, { 'PluginSettings.json': 'no JSON' })
  await account.sync()
  await account.currencyConfig('toycoin').changeUserSettings({ server: 'mine' })
  const [damaged] = await account.keptFiles.list()
  t.like(damaged, {
    kind: 'settings of plugins',
    reason: 'damaged',
    canRestore: true,
    path: 'PluginSettings.json'
  })
  await account.keptFiles.restore(damaged?.id ?? '')
  await account.sync()
})

test('a server that answers uploads with misplaced boxes, too, takes nothing either', async t => {
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  const items = Array.from({ length: 12 }, (_, i) => `item-${i}`)
  for (const id of items) await account.dataStore.setItem('shop', id, `text of ${id}`)
  await account.sync()
  const key = keyOf(user.repo)
  const boxes = [...(user.world.server.db.repo(key)?.files ?? [])].map(
    ([path, { content }]) => [path, content] as const
  )
  const turned = Object.fromEntries(boxes.map(([path], i) => [path, boxes[(i + 1) % boxes.length]?.[1]]))
  const stop = user.world.server.use(async ({ path }, next) => {
    const honest = await next()
    if (!path.includes(`/store/${key}`)) return honest
    return { ...honest, status: 200, body: JSON.stringify({ changes: turned, hash: 'f'.repeat(40) }) }
  })
  for (let i = 0; i < 3; i += 1) await account.sync()
  stop()
  await account.sync()
  for (const id of items) t.is(await account.dataStore.getItem('shop', id), `text of ${id}`)
  const other = await user.logIn({ plugins: [makeToy().plugin] })
  await other.account.sync()
  for (const id of items) t.is(await other.account.dataStore.getItem('shop', id), `text of ${id}`)
})

const keyOf = ({ keys }: { readonly keys: Readonly<Record<string, unknown>> }): string =>
  crypto.toHex(crypto.fromBase64(String(keys.syncKey)))

const hashOf = (text: string): string => `H${text}`

/** A path, what is there, and texts that belong there and that do not. */
const CASES: readonly (readonly [
  path: string,
  present: object,
  good: readonly unknown[],
  bad: readonly unknown[]
])[] = [
  [
    'transaction/1-Habc.json',
    { txid: 'abc' },
    [{ txid: 'abc', x: 1 }],
    [{ txid: 'abd' }, { id: 'abc' }, [], 7]
  ],
  ['transaction/1-Habc.json', { txid: 'old' }, [{ txid: 'abc' }, { txid: 'old' }], [{ txid: 'other' }]],
  [
    'Transactions/x.json',
    { state: { malleableTxId: 'a' } },
    [{ state: { malleableTxId: 'a' }, meta: {} }],
    [{ state: { malleableTxId: 'b' } }, { txid: 'a' }]
  ],
  ['Addresses/x.json', { address: 'a' }, [{ address: 'a', seq: 1 }], [{ address: 'b' }, {}]],
  // Older clients number these files, and one number can be two addresses' in turn.
  ['Addresses/0.json', { address: 'a' }, [{ address: 'b' }], [{}, { txid: 'a' }]],
  ['Keys/Hid.json', { id: 'id' }, [{ id: 'id', archived: true }], [{ id: 'other' }, { walletName: 'x' }]],
  [
    'Plugins/Hshop/Name.json',
    { name: 'shop' },
    [{ name: 'shop' }],
    [{ name: 'else' }, { key: 'a', data: '' }]
  ],
  [
    'Plugins/Hshop/Ha.json',
    { key: 'a', data: '1' },
    [{ key: 'a', data: '2' }],
    [{ key: 'b', data: '1' }, { name: 'shop' }]
  ],
  ['Wallets/1.json', { MK: '00' }, [{ MK: '00', Archived: true }], [{ MK: '01' }, {}]],
  ['WalletName.json', { walletName: 'a' }, [{ walletName: null }], [{ fiat: 'iso:USD' }, []]],
  ['Currency.json', { fiat: 'iso:USD' }, [{ num: 840 }, { fiat: 'iso:EUR' }], [{ walletName: 'a' }]],
  ['Tokens.json', { enabledTokenIds: [] }, [{ enabledTokenIds: ['a'] }], [{ fiat: 'iso:USD' }]],
  ['EnabledTokens.json', [], [['A']], [{}]],
  ['PluginSettings.json', { userSettings: {} }, [{ swapSettings: {} }], [{ customTokens: {} }]],
  ['CustomTokens.json', { customTokens: {} }, [{ customTokens: { a: {} } }], [{ userSettings: {} }]]
]

test('each kind of file of an account and of a wallet accepts only its own content', t => {
  for (const [path, present, good, bad] of CASES) {
    const belongs = (theirs: unknown): boolean =>
      belongsAt(hashOf, path, { theirs: JSON.stringify(theirs), present: JSON.stringify(present) })
    for (const theirs of good) t.true(belongs(theirs), `${path} ${JSON.stringify(theirs)}`)
    for (const theirs of bad) t.false(belongs(theirs), `${path} ${JSON.stringify(theirs)}`)
    t.false(belongsAt(hashOf, path, { theirs: 'no JSON', present: JSON.stringify(present) }), path)
  }
})

test('files of other apps, and files of another form, accept any replacement', t => {
  for (const [path, present] of [
    ['Own/thing.json', '{"txid":"a"}'],
    ['WalletName.json', '{"other":1}'],
    ['transaction/odd.json', 'no JSON']
  ] as const)
    for (const theirs of ['{}', '7', 'text']) t.true(belongsAt(hashOf, path, { theirs, present }))
})
