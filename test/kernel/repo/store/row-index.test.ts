import test from 'ava'
import { aliveIn, deletionsOf, withoutDead } from '../../../../kernel/repo/store/index-columns.ts'
import { type IndexColumns, makeColumns } from '../../../../kernel/repo/store/index-part.ts'
import { hashKey } from '../../../../kernel/repo/store/key-hash.ts'
import { RowIndex } from '../../../../kernel/repo/store/row-index.ts'
import { drawSeed, makeSeededRandom, type SeededRandom } from '../../../helpers/drawn-runs.ts'

/** A row as the columns hold it; one at place 0 removes what is known of its hash. */
interface Row {
  readonly low: number
  readonly high: number
  readonly order: number
  readonly mark: number
  readonly place: number
  readonly slot: number
}

const partOf = (rows: readonly Row[]): IndexColumns => {
  const part = makeColumns(rows.length)
  for (const [i, row] of rows.entries())
    for (const name of ['low', 'high', 'order', 'mark', 'place', 'slot'] as const) part[name][i] = row[name]
  return part
}

const rowIn = (columns: IndexColumns, row: number): Row => {
  const [low = 0, high = 0, order = 0] = [columns.low[row], columns.high[row], columns.order[row]]
  const [mark = 0, place = 0, slot = 0] = [columns.mark[row], columns.place[row], columns.slot[row]]
  return { low, high, order, mark, place, slot }
}

const isSameKey = (left: Row, right: Row): boolean => left.low === right.low && left.high === right.high

/** What a part makes of a plain list in descending order. */
const applied = (rows: readonly Row[], part: readonly Row[]): Row[] => {
  const list = [...rows]
  for (const row of part) {
    const at = list.findIndex(known => isSameKey(known, row))
    if (at >= 0 && row.place > 0 && list[at]?.order === row.order) {
      list[at] = row
      continue
    }
    if (at >= 0) list.splice(at, 1)
    if (row.place === 0) continue
    const end = list.findIndex(({ order }) => order < row.order)
    list.splice(end < 0 ? list.length : end, 0, row)
  }
  return list
}

/** Keys whose hashes meet in the lookup, and share one of their halves. */
const KEYS = Array.from({ length: 120 }, (_, n) => ({
  low: 1 + 64 * (n % 12),
  high: 7 * Math.floor(n / 12)
}))

let places = 0

/** So many rows of different keys, those that remove others last. */
const drawPart = (seededRandom: SeededRandom, size: number, isFirst: boolean): Row[] => {
  const keys = [...KEYS]
  const rows = Array.from({ length: size }, (): Row => {
    const [key] = keys.splice(seededRandom.below(keys.length), 1)
    places += 1
    const isDead = !isFirst && seededRandom.oneIn(4)
    return {
      ...(key ?? { low: 0, high: 0 }),
      order: isDead ? 0 : seededRandom.below(9) - 4,
      mark: isDead ? 0 : seededRandom.below(5) - 2,
      place: isDead ? 0 : places,
      slot: seededRandom.below(9)
    }
  })
  const alive = rows.filter(({ place }) => place > 0).sort((left, right) => right.order - left.order)
  return [...alive, ...rows.filter(({ place }) => place === 0)]
}

test('an index finds and orders the rows of its parts as a plain list does, also where hashes collide', t => {
  const seededRandom = makeSeededRandom(drawSeed(t))
  for (let run = 0; run < 25; run += 1) {
    const index = new RowIndex()
    let list: Row[] = []
    for (let round = 0; round < 5; round += 1) {
      const parts = Array.from({ length: 1 + seededRandom.below(3) }, (_, n) =>
        drawPart(seededRandom, seededRandom.below(seededRandom.oneIn(3) ? 60 : 6), round + n === 0)
      )
      index.apply(parts.map(partOf))
      for (const part of parts) list = applied(list, part)
      t.deepEqual(
        Array.from(index.byOrder, row => rowIn(index.columns, row)),
        list
      )
      const whole = index.toPart()
      t.deepEqual(
        Array.from({ length: whole.count }, (_, i) => rowIn(whole, i)),
        list
      )
      for (const { low, high } of [...KEYS, { low: 1, high: 8 }, { low: 2, high: 7 }]) {
        const row = index.find(Uint32Array.of(low, high))
        const offset = list.findIndex(known => known.low === low && known.high === high)
        if (offset < 0) t.true(row < 0)
        else t.is(index.offsetOf(row), offset)
      }
    }
  }
})

test('a row takes 26 bytes of an index, as on existing disks', t => {
  const bytes = (count: number): number => makeColumns(count).order.buffer.byteLength
  t.is(bytes(1000) - bytes(0), 26_000)
})

test('keys have the same hashes as on existing disks', t => {
  const hash = new Uint32Array(2)
  const hashOf = (key: string): number[] => {
    hashKey(Uint32Array.of(0x01234567, 0x89abcdef), key, hash)
    return [...hash]
  }
  t.deepEqual(hashOf(''), [0xbde14a11, 0xb8b3725e])
  t.deepEqual(hashOf('a'), [0x729491e8, 0x636c4037])
  t.deepEqual(hashOf('transaction/1.json'), [0x7e92a155, 0xd0206fcf])
  t.deepEqual(hashOf('漢字 🎉'), [0x33612793, 0x89fe5b47])
})

test('the rows of a part are those with a place and the deletions, in their order', t => {
  for (const places of [[], [16], [0], [16, 17, 32], [0, 0], [16, 0, 33, 0, 17]]) {
    const rows = places.map((place, n) => ({
      low: n + 1,
      high: n + 7,
      order: n + 3,
      mark: n,
      slot: n + 2,
      place
    }))
    const part = partOf(rows)
    const rowsIn = (columns: IndexColumns): Row[] =>
      Array.from({ length: columns.count }, (_, n) => rowIn(columns, n))
    t.deepEqual(
      rowsIn(withoutDead(part)),
      rows.filter(({ place }) => place !== 0)
    )
    t.deepEqual(
      rowsIn(deletionsOf(part)),
      rows.filter(({ place }) => place === 0)
    )
  }
  t.deepEqual(
    [...aliveIn(partOf([16, 17, 33, 49, 50].map(place => ({ ...ANY_ROW, place }))))],
    [
      [1, 2],
      [2, 1],
      [3, 2]
    ]
  )
})

const ANY_ROW: Row = { low: 1, high: 1, order: 1, mark: 0, place: 16, slot: 0 }
