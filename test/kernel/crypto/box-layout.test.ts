import test from 'ava'
import { inScratch, layOutBox, MAX_MARK, MOST_AROUND, type Noise } from '../../../kernel/crypto/box.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const { crypto } = makeNodeIo()

/** 1, 2, 3, …: so that each byte shows where it came from. */
const counted = (count: number): Uint8Array => Uint8Array.from({ length: count }, (_, i) => (i + 1) & 0xff)

const layOut = (
  payload: Uint8Array,
  {
    noise,
    start,
    mark,
    random = counted
  }: {
    noise: Noise
    start: number
    mark?: { header: Uint8Array; footer: Uint8Array }
    random?: (count: number) => Uint8Array
  }
): number[] => {
  const plain = new Uint8Array(payload.length + MOST_AROUND + MAX_MARK + start)
  const end = layOutBox({ io: { crypto, random }, plain, noise, mark }, start, (bytes, at) => {
    bytes.set(payload, at)
    return at + payload.length
  })
  return [...plain.subarray(start, end)]
}

const withEnd = (body: number[]): number[] => {
  const head = [...body, ...crypto.sha256(Uint8Array.from(body))]
  const count = 16 - (head.length % 16)
  return [...head, ...new Array<number>(count).fill(count)]
}

test('a box is laid out as vector, header, length, payload, footer, checksum and padding', t => {
  const payload = Uint8Array.from({ length: 300 }, (_, i) => i & 0xff)
  const mark = { header: Uint8Array.of(200, 201), footer: Uint8Array.of(202, 203, 204) }
  // Bytes 17 and 18 of the random ones say how much noise there is: 17 and 18.
  const [header, footer] = [counted(18 + 31).slice(18, 35), counted(18 + 62).slice(49, 67)]
  const length = [0, 0, 1, 44]
  for (const start of [0, 5]) {
    t.deepEqual(layOut(payload, { noise: 'random', start }), [
      ...counted(16),
      ...withEnd([17, ...header, ...length, ...payload, 18, ...footer])
    ])
    t.deepEqual(layOut(payload, { noise: 'random', start, mark }), [
      ...counted(16),
      ...withEnd([19, 200, 201, ...header, ...length, ...payload, 21, 202, 203, 204, ...footer])
    ])
    t.deepEqual(layOut(payload, { noise: 'aligned', start, mark }), [
      ...counted(16),
      ...withEnd([5, 200, 201, 19, 20, 21, ...length, ...payload, 3, 202, 203, 204])
    ])
  }
})

test('the buffer fits the longest header and footer, and a payload of any length is padded to a whole block', t => {
  const random = (count: number): Uint8Array => new Uint8Array(count).fill(255)
  for (let length = 0; length < 40; length += 1) {
    const bytes = layOut(new Uint8Array(length), { noise: 'random', start: 0, random })
    t.is(bytes.length % 16, 0)
    t.true(bytes.length <= length + MOST_AROUND)
    t.true(
      bytes.slice(16 + 1, 16 + 1 + 31).every(byte => byte === 255),
      'all noise is random'
    )
    t.true(
      bytes
        .slice(16 + 1 + 31 + 4 + length + 1)
        .slice(0, 31)
        .every(byte => byte === 255)
    )
    t.deepEqual(bytes.slice(16), withEnd(bytes.slice(16, 16 + 1 + 31 + 4 + length + 1 + 31)))
  }
})

test('a lent buffer is overwritten as far as it was used, also after a failure', t => {
  for (const room of [100, 1024 * 1024, 1024 * 1024 + 1]) {
    let lent: Uint8Array = new Uint8Array(0)
    const result = inScratch(room, plain => {
      lent = plain
      plain.fill(7, 0, 50)
      return { used: 50, result: 'done' }
    })
    t.is(result, 'done')
    t.true(lent.length >= room)
    t.true(lent.subarray(0, 50).every(byte => byte === 0))
    t.throws(() =>
      inScratch(room, plain => {
        lent = plain
        plain.fill(7, 0, 90)
        throw new Error('no')
      })
    )
    t.true(lent.subarray(0, 90).every(byte => byte === 0))
  }
})
