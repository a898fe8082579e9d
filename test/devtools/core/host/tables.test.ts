import test from 'ava'
import { foldSnapshot, type TableLimits, Tables, tableLimits } from '../../../../devtools/core/host/tables.ts'
import { account, engine, pair, quote, wallet } from '../../../helpers/devtools-stage.ts'

const open = (limits: Partial<TableLimits> = {}): Tables =>
  new Tables({ ...tableLimits, ...limits }, () => {})

const ids = (tables: Tables, slice: Parameters<Tables['rows']>[0]): readonly string[] => [
  ...tables.rows(slice).keys()
]

test('a logout removes the wallets of the account, and engines that stop later do not return', t => {
  const tables = open()
  foldSnapshot(tables, 'accountChanged', account('a', { walletIds: ['w1', 'w2'] }))
  foldSnapshot(tables, 'accountChanged', account('b', { walletIds: ['w2', 'w3'] }))
  for (const id of ['w1', 'w2', 'w3']) {
    foldSnapshot(tables, 'walletChanged', wallet(id))
    foldSnapshot(tables, 'engineChanged', engine(id))
  }
  foldSnapshot(tables, 'accountChanged', account('a', { walletIds: ['w1', 'w2'], isLoggedIn: false }))
  foldSnapshot(tables, 'engineChanged', engine('w1', { state: 'stopped' }))
  foldSnapshot(tables, 'engineChanged', engine('w3', { state: 'stopped' }))
  t.deepEqual(ids(tables, 'wallets'), ['w2', 'w3'])
  t.deepEqual(ids(tables, 'engines'), ['w2', 'w3'])
  t.is(tables.rows('engines').get('w3')?.state, 'stopped')
  t.is(tables.rows('accounts').get('a')?.isLoggedIn, false)
})

test('a wallet that its account no longer lists is removed, and a new one stays', t => {
  const tables = open()
  foldSnapshot(tables, 'walletChanged', wallet('w1'))
  foldSnapshot(tables, 'walletChanged', wallet('w2'))
  foldSnapshot(tables, 'accountChanged', account('a', { walletIds: ['w1'] }))
  foldSnapshot(tables, 'accountChanged', account('a', { walletIds: ['w1', 'w2'] }))
  t.deepEqual(ids(tables, 'wallets'), ['w1', 'w2'])
  foldSnapshot(tables, 'accountChanged', account('a', { walletIds: ['w2'] }))
  t.deepEqual(ids(tables, 'wallets'), ['w2'])
})

test('a closed repo is removed, even with pending changes', t => {
  const tables = open()
  const repo = { repoId: 'r', accountId: 'a', pendingCount: 1, lastSync: 5, isSyncing: false }
  foldSnapshot(tables, 'repoChanged', { ...repo, isOpen: true })
  foldSnapshot(tables, 'repoChanged', { ...repo, repoId: 's', isOpen: true })
  foldSnapshot(tables, 'repoChanged', { ...repo, isOpen: false })
  t.deepEqual(ids(tables, 'repos'), ['s'])
})

test('the list of users is replaced as a whole', t => {
  const tables = open()
  const user = (loginId: string) => ({ loginId, isPinLoginEnabled: false, isLoggedIn: false })
  foldSnapshot(tables, 'usersChanged', [user('one'), user('two')])
  foldSnapshot(tables, 'usersChanged', [user('two'), user('three')])
  t.deepEqual(ids(tables, 'users'), ['two', 'three'])
})

test('full tables drop their oldest rows, and of quotes the oldest round as a whole', t => {
  const tables = open({ pairs: 2, quotes: 2 })
  const pairs = [pair('A', 'B', 1), pair('C', 'B', 1), pair('A', 'B', 2), pair('D', 'B', 1)]
  foldSnapshot(tables, 'ratesChanged', { pairs, providers: [] })
  t.deepEqual(ids(tables, 'pairs'), ['C B shop', 'D B shop'])
  for (const [round, plugin] of ['r1 p', 'r1 q', 'r2 p', 'r1 p', 'r3 p'].map(id => id.split(' ')))
    foldSnapshot(tables, 'quoteChanged', quote(round ?? '', plugin ?? ''))
  t.deepEqual(ids(tables, 'quotes'), ['r2 p', 'r3 p'])
  foldSnapshot(tables, 'quoteChanged', quote('r1', 'q', { state: 'resolved', fate: 'closed' }))
  foldSnapshot(tables, 'quoteChanged', quote('r2', 'p', { state: 'failed' }))
  t.deepEqual(ids(tables, 'quotes'), ['r2 p', 'r3 p'])
  t.is(tables.rows('quotes').get('r2 p')?.state, 'failed')
})
