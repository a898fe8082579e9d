import { createHash } from 'node:crypto'
import test from 'ava'
import { Secret } from '../../../../kernel/base/secret.ts'
import { encodeIndexPart, makeColumns } from '../../../../kernel/repo/store/index-part.ts'
import { encodeSegment } from '../../../../kernel/repo/store/segment.ts'
import { decodeProvenance, encodeProvenance } from '../../../../kernel/sync/lineage.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

// What is compared here was written by the first version that had these formats: if one of it changes, the files and boxes
// that devices have can no longer be read.

const io = { ...makeRepoIo(), random: (count: number) => new Uint8Array(count).fill(3) }
const crypto = { io, key: new Secret(new Uint8Array(32).fill(7)) }
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

test('a segment has the bytes that it always had', async t => {
  const rows = Array.from({ length: 100 }, (_, i) => ({
    ...{ key: `key ${i}`, text: `text of ${i} with 日本`, order: 1_700_000_000 + i / 2, mark: i - 7 }
  }))
  const { text, counts } = await encodeSegment(crypto, { table: 't/', segment: 3 }, { rows, start: 0 })
  t.deepEqual(counts, [100])
  t.is(text.slice(0, 96), String(text.length).padStart(8).padEnd(96))
  t.is(digestOf(text), '129d0d507c28e1b8eb9db0cf8ed64d40')
})

test('a part of an index has the bytes that it always had', t => {
  const columns = makeColumns(300)
  for (let i = 0; i < 300; i += 1) {
    columns.order[i] = i / 4
    columns.low[i] = i * 7919
    columns.high[i] = i * 104_729
    columns.mark[i] = 5 - i
    columns.place[i] = i * 16
    columns.slot[i] = i
  }
  t.is(digestOf(encodeIndexPart(crypto, { table: 't/', id: 9 }, columns)), 'e722c61894beadbe08ffc0adc902516c')
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
  t.is(io.crypto.toHex(header), '68666c696e6501020123456789ab6553f100ba987654321000000005')
  t.is(io.crypto.toHex(footer), '02811c9dc50053f1000000000701000005')
  t.deepEqual(decodeProvenance({ header, footer }), { lineage, stamps })
})
