import test from 'ava'
import { RepoHistory } from '../../../fake-server/accounts/repo-history.ts'
import { makeNobleCrypto } from '../../../kernel/crypto/noble-crypto.ts'
import { boxOf, makeServerBench, type ServerBench } from '../../helpers/fake-login.ts'

const KEY = 'ab'.repeat(20)

const repoBench = (): ServerBench => {
  const bench = makeServerBench()
  bench.server.db.createRepos([KEY])
  return bench
}

test('a missing repo is 404 for reading and writing, with or without a hash [8.30]', async t => {
  const { query, server } = repoBench()
  for (const route of ['/store/00/', '/store/00', `/store/00/${'1'.repeat(40)}`]) {
    for (const method of ['GET', 'POST']) {
      const { status, body } = await query(method, route, method === 'GET' ? undefined : { changes: {} })
      t.deepEqual([status, body], [404, { msg: 'Hash not found' }])
    }
  }
  t.is(server.db.counts.repos, 1)
})

test('a reader with a hash gets what changed since, one without gets everything', async t => {
  const { query } = repoBench()
  t.deepEqual((await query('GET', `/store/${KEY}/`)).body, { changes: {} })
  const first = (await query('POST', `/store/${KEY}/`, { changes: { a: boxOf(1), 'b/c.json': boxOf(2) } }))
    .body
  t.deepEqual(first.changes, { a: boxOf(1), 'b/c.json': boxOf(2) })
  t.regex(first.hash, /^[0-9a-f]{40}$/)
  t.deepEqual((await query('GET', `/store/${KEY}/${first.hash}`)).body, { changes: {}, hash: first.hash })
  const second = (await query('POST', `/store/${KEY}/${first.hash}`, { changes: { a: boxOf(3) } })).body
  t.deepEqual(second.changes, { a: boxOf(3) })
  t.not(second.hash, first.hash)
  t.deepEqual((await query('GET', `/store/${KEY}/${first.hash}/`)).body, second)
  t.deepEqual((await query('GET', `/store/${KEY}`)).body, {
    changes: { 'b/c.json': boxOf(2), a: boxOf(3) },
    hash: second.hash
  })
  t.deepEqual((await query('GET', `/store/${KEY.toUpperCase()}/${second.hash}`)).body.changes, {})
})

test('the reply to an upload holds what others wrote since its hash, merged with the upload', async t => {
  const { query } = repoBench()
  const { hash } = (await query('POST', `/store/${KEY}/`, { changes: { a: boxOf(1) } })).body
  await query('POST', `/store/${KEY}/${hash}`, { changes: { b: boxOf(2) } })
  const late = (await query('POST', `/store/${KEY}/${hash}`, { changes: { c: boxOf(3) } })).body
  t.deepEqual(late.changes, { b: boxOf(2), c: boxOf(3) })
})

test('null deletes, is remembered for readers of older hashes, and the file can come back', async t => {
  const { query } = repoBench()
  const { hash } = (await query('POST', `/store/${KEY}/`, { changes: { a: boxOf(1), b: boxOf(2) } })).body
  const gone = (await query('POST', `/store/${KEY}/${hash}`, { changes: { a: null, never: null } })).body
  t.deepEqual(gone.changes, { a: null, never: null })
  t.deepEqual((await query('GET', `/store/${KEY}/${hash}`)).body.changes, { a: null })
  t.deepEqual((await query('GET', `/store/${KEY}/`)).body.changes, { b: boxOf(2) })
  // Nobody can tell what a reader with a hash of another life holds, so deletions are told, too.
  t.deepEqual((await query('GET', `/store/${KEY}/${'f'.repeat(40)}`)).body.changes, { a: null, b: boxOf(2) })
  const back = (await query('POST', `/store/${KEY}/${gone.hash}`, { changes: { a: boxOf(4) } })).body
  t.deepEqual(back.changes, { a: boxOf(4) })
})

test('an upload that changes nothing makes no revision, but still gets a hash', async t => {
  const { query } = repoBench()
  const empty = (await query('POST', `/store/${KEY}/`, { changes: {} })).body
  t.regex(empty.hash, /^[0-9a-f]{40}$/)
  t.deepEqual((await query('GET', `/store/${KEY}/${empty.hash}`)).body.changes, {})
  const first = (await query('POST', `/store/${KEY}/${empty.hash}`, { changes: { a: boxOf(1) } })).body
  const again = (await query('POST', `/store/${KEY}/${first.hash}`, { changes: { a: boxOf(1) } })).body
  t.deepEqual(again, { changes: { a: boxOf(1) }, hash: first.hash })
})

test('paths that leave the repo and content that is no box are refused as a whole', async t => {
  const { query } = repoBench()
  const paths = [
    '',
    '/a',
    'a/',
    '../a',
    'a/../b',
    './a',
    'a//b',
    'a\\b',
    'a\u0000',
    'x'.repeat(1001),
    'a/'.repeat(20)
  ]
  for (const path of paths) {
    const { status, code } = await query('POST', `/store/${KEY}/`, {
      changes: { good: boxOf(1), [path]: boxOf(2) }
    })
    t.deepEqual([status, code], [401, 1], path)
  }
  const contents = ['text', 5, {}, { ...boxOf(1), iv_hex: 'xyz' }, { ...boxOf(1), data_base64: 'A' }]
  for (const content of contents) {
    t.is((await query('POST', `/store/${KEY}/`, { changes: { good: boxOf(1), a: content } })).code, 1)
  }
  t.is((await query('POST', `/store/${KEY}/`, {})).code, 1)
  t.is((await query('POST', `/store/${KEY}/`, '{"changes":{"__proto__":null}}')).code, 1)
  t.deepEqual((await query('GET', `/store/${KEY}/`)).body, { changes: {} })
})

test('a repo has bounds for files, letters and hashes', t => {
  const clock = { turn: async () => {} }
  const limits = { files: 2, letters: 11, hashes: 3 }
  const repo = new RepoHistory(KEY, makeNobleCrypto(clock), limits)
  t.is(repo.novelties({ a: boxOf(1), b: boxOf(1), c: boxOf(1) }), undefined)
  const first = repo.commit({ a: boxOf(1), b: boxOf(2) })
  t.is(repo.novelties({ a: { ...boxOf(1), data_base64: 'AAAAAAAA' } }), undefined)
  t.deepEqual(repo.novelties({ a: null }), { a: null })
  const hashes = [first, ...[3, 4, 5].map(count => repo.commit({ a: boxOf(count) }))]
  t.is(repo.hashes.length, 3)
  t.deepEqual(repo.since(hashes[3]).changes, {})
  t.deepEqual(repo.since(hashes[1]).changes, { a: boxOf(5) })
  t.deepEqual(repo.since(first).changes, { b: boxOf(2), a: boxOf(5) })
})
