import test from 'ava'
import fc from 'fast-check'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { Disk } from '../../../../kernel/io/disk.ts'
import {
  encodeSegment,
  HEAD,
  openPiece,
  parseEnds,
  tableOfPiece
} from '../../../../kernel/repo/store/segment.ts'
import { SegmentTexts } from '../../../../kernel/repo/store/segment-texts.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

const segmentOf = (pieces: readonly string[]): string => {
  const endOf = (at: number): number => HEAD + pieces.slice(0, at + 1).join('').length
  const ends = pieces.map((_, at) => String(endOf(at)).padStart(8))
  return ends.join('').padEnd(HEAD) + pieces.join('')
}

const open = (segments: Readonly<Record<string, readonly string[]>>) => {
  const read: number[] = []
  const getSlice = async (path: string, start: number, end: number): Promise<string | undefined> => {
    const pieces = segments[path]
    if (pieces === undefined) return undefined
    read.push(end - start)
    return segmentOf(pieces).slice(start, end)
  }
  return { texts: new SegmentTexts({ getSlice } as Partial<Disk> as Disk), read }
}

const PIECES = Array.from({ length: 12 }, (_, at) => String(at).repeat(10 + at))

test('a sequential read of a segment reads all but two of its blocks in one call', async t => {
  const { texts, read } = open({ a: PIECES, b: PIECES })
  for (const path of ['a', 'b', 'a']) {
    read.length = 0
    for (const [at, piece] of PIECES.entries()) t.is(await texts.pieceText(path, at), piece)
    t.is(read.length, 4, 'the head, two pieces, and the rest')
  }
})

test('random reads, or reads of two adjacent blocks, read no other block', async t => {
  const { texts, read } = open({ a: PIECES })
  for (const at of [4, 5, 9, 10, 3, 3, 8, 0, 1]) t.is(await texts.pieceText('a', at), PIECES[at])
  t.deepEqual(read, [HEAD, ...[4, 5, 9, 10, 3, 3, 8, 0, 1].map(at => PIECES[at]?.length)])
})

test('a missing block or segment has no text', async t => {
  const { texts } = open({ a: PIECES })
  t.is(await texts.pieceText('a', 12), undefined)
  t.is(await texts.pieceText('none', 0), undefined)
  t.deepEqual([await texts.countPieces('a'), await texts.countPieces('none')], [12, 0])
})

test('blocks read in any order, also in parallel, each return their own text', async t => {
  const paths = ['a', 'b']
  const reads = fc.array(fc.tuple(fc.constantFrom(...paths), fc.nat(11), fc.boolean()), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(reads, async wanted => {
      const segments = { a: PIECES, b: PIECES.map(piece => `b${piece}`) }
      const { texts } = open(segments)
      const found: Promise<string | undefined>[] = []
      for (const [path, at, isAwaited] of wanted) {
        found.push(texts.pieceText(path, at))
        if (isAwaited) await found.at(-1)
      }
      t.deepEqual(
        await Promise.all(found),
        wanted.map(([path, at]) => segments[path as 'a' | 'b'][at])
      )
    })
  )
})

test('a block opens under its own name only, and returns its rows and no others', async t => {
  const crypto = { io: makeRepoIo(), key: new Secret(new Uint8Array(32).fill(7)) }
  const rows = [
    { key: 'a', text: 'one', order: 2.5, mark: -3 },
    { key: 'ß', text: '漢字 🎉', order: 1, mark: 0 },
    { key: '', text: '', order: -1, mark: 7 }
  ]
  const { text, counts } = await encodeSegment(crypto, { table: 't/', segment: 9 }, { rows, start: 0 })
  t.deepEqual(counts, [3])
  const [end] = parseEnds(text.slice(0, HEAD)) ?? []
  t.is(end, text.length)
  t.is(HEAD, 96, 'as in the segments that are there')
  const piece = text.slice(HEAD)
  const name = { table: 't/', segment: 9, piece: 0 }
  const opened = await openPiece(crypto, name, piece)
  t.is(opened?.count, 3)
  t.deepEqual(
    rows.map((_, slot) => opened?.row(slot)),
    rows
  )
  t.throws(() => opened?.row(3), { instanceOf: RangeError })
  for (const other of [{ table: 'u/' }, { segment: 8 }, { piece: 1 }])
    t.is(await openPiece(crypto, { ...name, ...other }, piece), undefined)
  t.is(await openPiece(crypto, name, `${piece.slice(0, -8)}AAAAAAAA`), undefined)
  t.is(await tableOfPiece(crypto, piece), 't/')
})

test('a segment has blocks of about 88,000 characters, keys and texts alike, and one longer row alone', async t => {
  const crypto = { io: makeRepoIo(), key: new Secret(new Uint8Array(32).fill(7)) }
  const countsOf = async (
    rows: readonly (readonly [key: number, text: number])[]
  ): Promise<readonly number[]> => {
    const made = rows.map(([key, text], n) => ({
      ...{ key: `${n}`.padEnd(key, 'k'), text: 'x'.repeat(text), order: n, mark: 0 }
    }))
    return (await encodeSegment(crypto, { table: 't/', segment: 3 }, { rows: made, start: 0 })).counts
  }
  t.deepEqual(await countsOf(Array.from({ length: 12 }, () => [10, 20_000])), [4, 4, 4])
  t.deepEqual(await countsOf(Array.from({ length: 12 }, () => [20_000, 10])), [4, 4, 4])
  t.deepEqual(await countsOf(Array.from({ length: 12 }, () => [10_000, 10_000])), [4, 4, 4])
  t.deepEqual(
    await countsOf([
      [10, 90_000],
      [10, 90_000],
      [10, 10]
    ]),
    [1, 1, 1]
  )
})

test('a segment that is gone in the middle of a sequential read has no more text', async t => {
  const segments: Record<string, readonly string[]> = { a: PIECES }
  const { texts } = open(segments)
  for (const at of [0, 1]) t.is(await texts.pieceText('a', at), PIECES[at])
  delete segments.a
  t.is(await texts.pieceText('a', 2), undefined)
  t.is(await texts.pieceText('a', 3), undefined)
})
