import test from 'ava'
import fc from 'fast-check'
import { PatchedMap } from '../../../../devtools/core/client/view.ts'

interface Row {
  readonly turn: number
}

const ids = fc.array(
  fc.nat(150).map(id => `id${id}`),
  { maxLength: 40 }
)

test('a patched map equals a map that was changed in place, order included, and earlier versions stay unchanged', t => {
  fc.assert(
    fc.property(ids, fc.array(fc.tuple(ids, ids), { maxLength: 30 }), (first, patches) => {
      const model = new Map<string, Row>(first.map(id => [id, { turn: -1 }]))
      let map = PatchedMap.of(model)
      const earlier: [PatchedMap<Row>, [string, Row][]][] = []
      for (const [turn, [changed, removed]] of patches.entries()) {
        earlier.push([map, [...model]])
        const rows = changed.map((id): [string, Row] => [id, { turn }])
        for (const id of removed) model.delete(id)
        for (const [id, row] of rows) model.set(id, row)
        map = map.patched({ changed: rows, removed })
      }
      earlier.push([map, [...model]])
      for (const [one, entries] of earlier) {
        const known = new Map(entries)
        t.deepEqual([...one], entries)
        t.deepEqual([...one.keys()], [...known.keys()])
        t.deepEqual([...one.values()], [...known.values()])
        t.is(one.size, known.size)
        const reported: [string, Row][] = []
        one.forEach((row, id, all) => {
          t.is(all, one)
          reported.push([id, row])
        })
        t.deepEqual(reported, entries)
        for (let id = 0; id <= 150; id += 1) {
          t.is(one.get(`id${id}`), known.get(`id${id}`))
          t.is(one.has(`id${id}`), known.has(`id${id}`))
        }
      }
    }),
    { numRuns: 50 }
  )
})
