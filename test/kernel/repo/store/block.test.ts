import { createHash } from 'node:crypto'
import test from 'ava'
import { Secret } from '../../../../kernel/base/secret.ts'
import {
  blockKey,
  makeHeadColumns,
  openBody,
  openHead,
  parseBlockKey,
  sealBody,
  sealHead,
  tableSecrets
} from '../../../../kernel/repo/store/block.ts'
import { makeKeyHash } from '../../../../kernel/repo/store/row-index.ts'
import { LOSS_KEY } from '../../../../kernel/repo/store/sealed-store.ts'
import { decodeProvenance, encodeProvenance } from '../../../../kernel/sync/lineage.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

// What is compared here was written by the first version that had these formats: if one of it changes, the blocks and boxes
// that devices have can no longer be read.

const io = { ...makeRepoIo(), random: (count: number) => new Uint8Array(count).fill(3) }
const crypto = { io, key: new Secret(new Uint8Array(32).fill(7)) }
const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 32)

const columns = makeHeadColumns(300)
for (let i = 0; i < 300; i += 1) {
  columns.order[i] = i / 4
  columns.sequence[i] = i * 3
  columns.low[i] = i * 7919
  columns.high[i] = i * 104_729
  columns.mark[i] = 5 - i
  columns.slot[i] = i
}
const head = { table: 't/', block: 9, count: 300, total: 310, size: 5000, isSearchable: false, columns }
const name = { table: 't/', block: 9, part: 'body' } as const
const rows = Array.from({ length: 100 }, (_, i) => [`key ${i}`, `text of ${i} with 日本`] as const)

test('a head has the bytes that it always had, and is read back', async t => {
  const sealed = sealHead(crypto, head)
  t.is(digestOf(sealed), 'dff7240f8507acfbb3e048a72c5f624c')
  t.deepEqual(await openHead(crypto, sealed), head)
  const searchable = sealHead(crypto, { ...head, isSearchable: true })
  t.is(digestOf(searchable), '78af9ccc195d5f163520326d53331722')
  t.deepEqual(await openHead(crypto, searchable), { ...head, isSearchable: true })
})

test('a head has room for the name of its table, however long', async t => {
  for (const length of [1, 100, 1000]) {
    const named = { ...head, table: `u/${'x'.repeat(length)}/`, count: 1, columns: makeHeadColumns(1) }
    t.deepEqual(await openHead(crypto, sealHead(crypto, named)), named)
  }
})

test('a body has the bytes that it always had, and is read back', async t => {
  const sealed = sealBody(crypto, name, rows)
  t.is(digestOf(sealed), 'be977e1bc1cdce268a984ae9f452fb6c')
  const body = await openBody(crypto, name, sealed)
  t.is(body?.count, 100)
  t.deepEqual(body?.row(42), ['key 42', 'text of 42 with 日本'])
  t.throws(() => body?.row(100), { instanceOf: RangeError })
  t.is(digestOf(sealBody(crypto, { ...name, part: 'search' }, rows)), 'e919ed630a15e6a77f31219d3550c932')
})

test('a value opens as what it is, of its own block and table, and as nothing else', async t => {
  const body = sealBody(crypto, name, rows)
  t.is(await openBody(crypto, { ...name, block: 8 }, body), undefined)
  t.is(await openBody(crypto, { ...name, table: 'u/' }, body), undefined)
  const searches = sealBody(crypto, { ...name, part: 'search' }, rows)
  t.is(await openBody(crypto, { ...name, part: 'search' }, body), undefined)
  t.is(await openBody(crypto, name, searches), undefined)
  t.deepEqual((await openBody(crypto, { ...name, part: 'search' }, searches))?.row(1), rows[1])
  t.is(await openHead(crypto, body), undefined)
  // One of these is as long as a head of one row.
  for (let length = 0; length < 64; length += 1)
    t.is(await openHead(crypto, sealBody(crypto, name, [['', 'x'.repeat(length)]])), undefined)
  t.is(await openBody(crypto, name, sealHead(crypto, head)), undefined)
  for (const value of [
    new Uint8Array(0),
    new Uint8Array(5),
    body.slice(0, -16),
    body.slice().fill(1, 30, 31)
  ]) {
    t.is(await openBody(crypto, name, value), undefined)
    t.is(await openHead(crypto, value), undefined)
  }
})

test('the keys of a table are those that they always were, in the order of its blocks', t => {
  const tag = tableSecrets(crypto, 't/').tag
  t.is(io.crypto.toHex(blockKey(tag, 'body', 258)), '36a98d4f99616bc60100000102')
  t.deepEqual(parseBlockKey(blockKey(tag, 'head', 258)), { tag, part: 'head', block: 258 })
  t.is(parseBlockKey(new Uint8Array(12)), undefined)
  t.is(parseBlockKey(new Uint8Array(13).fill(3)), undefined, 'of no part')
  const hex = [1, 255, 256, 70_000].map(block => io.crypto.toHex(blockKey(tag, 'head', block)))
  t.deepEqual(hex.toSorted(), hex)
})

test('a text with half a character is refused when it is sealed', t => {
  const name = { table: 't/', block: 9, part: 'body' } as const
  for (const row of [
    ['\ud800', 'text'],
    ['key', '\udc00']
  ] as const)
    t.throws(() => sealBody(crypto, name, [row]), { code: 'STORAGE_FAILED' })
})

test('what else keeps a body from being sealed is thrown as it is', t => {
  const name = { table: 't/', block: 9, part: 'body' } as const
  const closed = { io, key: new Secret(new Uint8Array(32)) }
  closed.key.destroy()
  t.throws(() => sealBody(closed, name, [['key', 'text']]), { instanceOf: TypeError, message: /destroyed/ })
  const random = (): Uint8Array => {
    throw new RangeError('no random bytes')
  }
  const broken = { io: { ...io, random }, key: crypto.key }
  t.throws(() => sealBody(broken, name, [['key', 'text']]), { instanceOf: RangeError })
})

test('the mark of a loss has the key that it always had', t => {
  t.is(io.crypto.toHex(LOSS_KEY), '00')
})

test('keys have the hashes that they always had, and other ones in other tables', t => {
  const hashOf = makeKeyHash(tableSecrets(crypto, 't/').seed)
  t.deepEqual(
    ['', 'a', 'b', 'key 日本'].map(key => hashOf(key).join(' ')),
    ['2765271798 270784345', '97631536 2573325577', '1215699379 3965761389', '926525860 3058440108']
  )
  t.notDeepEqual(makeKeyHash(tableSecrets(crypto, 'u/').seed)('a'), hashOf('a'))
})

test('the edits of a version have the bytes that they always had', t => {
  const [first, second] = ['0123456789ab', 'ba9876543210']
  const lineage = new Map([
    [first, 1_700_000_000],
    [second, 5]
  ])
  const stamps = new Map([
    [0x811c9dc5, { session: first, count: 1_700_000_000 }],
    [7, { session: second, count: 5 }]
  ])
  const { header, footer } = encodeProvenance({ lineage, stamps })
  // The last four say that it may have floors.
  t.is(io.crypto.toHex(header), `68666c696e6501020123456789ab6553f100ba987654321000000005${'68666c32'}`)
  t.is(io.crypto.toHex(footer), '02811c9dc50053f1000000000701000005')
  t.deepEqual(decodeProvenance({ header, footer }), { lineage, stamps })
})
