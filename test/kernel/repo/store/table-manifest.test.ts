import test from 'ava'
import fc from 'fast-check'
import { parseManifest, suspectManifest } from '../../../../kernel/repo/store/table-manifest.ts'

const asPairs = fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 3 })

test('a manifest is read back from its text', t => {
  fc.assert(
    fc.property(asPairs, asPairs, (parts, segments) => {
      t.deepEqual(parseManifest(JSON.stringify({ parts, segments })), { parts, segments })
    })
  )
})

test('a manifest with anything but lists of pairs of whole numbers is refused', t => {
  const asOdd = fc.oneof(
    fc.constantFrom<unknown>(undefined, null, 1, '12', {}, { length: 2 }),
    fc
      .constantFrom<unknown>([1], [1, 2, 3], ['1', '2'], [1, 0.5], [1, null], 7, '12', null, {
        0: 1,
        1: 2,
        length: 2
      })
      .map(pair => [[3, 4], pair])
  )
  fc.assert(
    fc.property(asPairs, asOdd, (pairs, odd) => {
      t.is(parseManifest(JSON.stringify({ parts: pairs, segments: odd })), undefined)
      t.is(parseManifest(JSON.stringify({ parts: odd, segments: pairs })), undefined)
    })
  )
  for (const text of [undefined, '', '[]', 'null', '{"parts":[],"segments":[]'])
    t.is(parseManifest(text), undefined)
})

test('the rows of files that no valid manifest names count as none until the files are read', t => {
  t.is(suspectManifest(undefined), undefined)
  t.is(suspectManifest({ parts: [1], segments: [] }), undefined)
  t.deepEqual(suspectManifest({ parts: [4], segments: [2, 3] }), {
    parts: [[4, 0]],
    segments: [
      [2, 0],
      [3, 0]
    ]
  })
})
