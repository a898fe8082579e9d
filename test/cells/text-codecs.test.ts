import test from 'ava'
import { RealmTextDecoder, RealmTextEncoder } from '../../cells/realm-text.ts'
import { makeRandom } from '../../fake-server/base/faults.ts'

const seed = Date.now() % 1_000_000
const random = makeRandom(seed)
const below = (count: number): number => Math.floor(random() * count)

test('the encoder of a realm writes the bytes that every platform writes, also of halves of letters', t => {
  t.log(`seed ${seed}`)
  const ours = new RealmTextEncoder()
  const theirs = new TextEncoder()
  t.is(ours.encoding, 'utf-8')
  t.deepEqual(ours.encode(), theirs.encode())
  const ranges = [0x80, 0x800, 0x10000]
  for (let count = 0; count < 2000; count += 1) {
    const units = Array.from({ length: below(12) }, () => below(ranges[below(3)] ?? 1))
    const pair = [0xd800 + below(0x400), 0xdc00 + below(0x400)]
    const text = String.fromCharCode(...units, ...(below(2) === 0 ? pair : []), 0xd800 + below(0x800))
    t.deepEqual(ours.encode(text), theirs.encode(text))
  }
})

/** Asks the platform, since a replacement letter may also stand in the bytes themselves, beside others that are none. */
const isSound = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

test('the decoder of a realm reads bytes as every platform does, and refuses the same ones', t => {
  t.log(`seed ${seed}`)
  for (const [ours, theirs] of [
    [new RealmTextDecoder(), new TextDecoder()],
    [new RealmTextDecoder('UTF-8', { ignoreBOM: true }), new TextDecoder('utf-8', { ignoreBOM: true })]
  ] as const)
    for (let count = 0; count < 5000; count += 1) {
      const starts = [0x41, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xff]
      const bytes = Uint8Array.from({ length: below(9) }, () =>
        below(2) === 0 ? (starts[below(8)] ?? 0) : 0x80 + below(0x48)
      )
      const text = theirs.decode(bytes)
      t.is(ours.decode(bytes), text, bytes.join(' '))
      const strict = new RealmTextDecoder('utf8', { fatal: true })
      if (isSound(bytes)) t.notThrows(() => strict.decode(bytes))
      else t.throws(() => strict.decode(bytes), { instanceOf: TypeError })
    }
  t.is(new RealmTextDecoder().decode(Uint8Array.from([0xef, 0xbb, 0xbf, 0x41])), 'A')
  t.is(new RealmTextDecoder().decode(Uint8Array.from([0x40, 0x41]).buffer), '@A')
  t.throws(() => new RealmTextDecoder('latin1'), { instanceOf: RangeError })
})
