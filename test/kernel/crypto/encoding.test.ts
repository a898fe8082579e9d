import { base58 } from '@scure/base'
import test from 'ava'
import fc from 'fast-check'
import {
  base32Of,
  base58Of,
  base64Of,
  equalBytes,
  parseBase32,
  parseBase58,
  parseBase64,
  textOf,
  utf8Of,
  writeUtf8
} from '../../../kernel/crypto/encoding.ts'

test('UTF-8 gives every well-formed text back, byte order marks and NULs included', t => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      t.is(textOf(utf8Of(text)), text)
      t.deepEqual([...utf8Of(text)], [...Buffer.from(text, 'utf8')])
    })
  )
  t.is(textOf(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61, 0)), '\ufeffa\0')
})

test('UTF-8 has as many bytes for the first and the last letter of each length as the platform writes', t => {
  for (const point of [0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff]) {
    const letter = String.fromCodePoint(point)
    const alone = new Uint8Array(20)
    t.true(
      alone.subarray(writeUtf8(letter, alone, 0)).every(byte => byte === 0),
      'nothing behind its end'
    )
    const text = `a${letter}b`
    const bytes = new Uint8Array(20)
    const end = writeUtf8(text, bytes, 3)
    t.deepEqual([...bytes.subarray(3, end)], [...Buffer.from(text, 'utf8')], point.toString(16))
    t.true(bytes.subarray(end).every(byte => byte === 0))
    t.deepEqual([...utf8Of(text)], [...Buffer.from(text, 'utf8')], point.toString(16))
  }
})

test('UTF-8 refuses lone surrogates and malformed bytes', t => {
  for (const text of ['\ud800', 'a\udc00b', '\udfff', '\udc00\ud800']) {
    t.throws(() => utf8Of(text), { instanceOf: TypeError })
    t.throws(() => writeUtf8(text, new Uint8Array(20), 0), { instanceOf: TypeError })
  }
  const malformed = [
    [0x80],
    [0xc3],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xff],
    [0xe2, 0x82]
  ]
  for (const bytes of malformed) t.throws(() => textOf(Uint8Array.from(bytes)), { instanceOf: TypeError })
})

test('base58 and base32 give every byte string back', t => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), bytes => {
      t.deepEqual(new Uint8Array(parseBase58(base58Of(bytes))), bytes)
      t.deepEqual(parseBase32(base32Of(bytes)), bytes)
      t.deepEqual(parseBase32(base32Of(bytes).toLowerCase()), bytes)
    })
  )
})

test('base58 is that of the library, leading zeros included', t => {
  fc.assert(
    fc.property(fc.nat(4), fc.uint8Array({ maxLength: 80 }), (zeros, rest) => {
      const bytes = Uint8Array.of(...new Uint8Array(zeros), ...rest)
      t.is(base58Of(bytes), base58.encode(bytes))
    })
  )
})

test('base58 refuses foreign letters and endless texts, and never quotes them', t => {
  for (const text of ['0', 'O', 'I', 'l', 'a b', 'ä', 'secret!']) {
    const error = t.throws(() => parseBase58(text), { instanceOf: TypeError })
    t.is(error?.message, 'This is no base58 text')
  }
  t.throws(() => parseBase58('1'.repeat(513)), { instanceOf: TypeError })
  t.is(parseBase58('1'.repeat(512)).length, 512)
})

test('base32 that is all padding has no bytes', t => {
  for (const text of ['', '=', '=======']) t.deepEqual([...parseBase32(text)], [])
})

test('base32 refuses a last letter that carries no whole byte', t => {
  for (const text of ['A', 'AAA', 'AAAAAA', 'AB']) {
    t.throws(() => parseBase32(text), { instanceOf: TypeError, message: 'Unexpected end of data' })
  }
  t.throws(() => parseBase32('AA=A'), { instanceOf: TypeError, message: 'Invalid character =' })
})

test('byte strings are equal only if every byte and the length are', t => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (bytes, at, flip) => {
        const other = bytes.slice()
        t.true(equalBytes(bytes, other))
        const index = at % bytes.length
        other[index] = (other[index] ?? 0) ^ flip
        t.false(equalBytes(bytes, other))
        t.false(equalBytes(bytes, bytes.subarray(1)))
      }
    )
  )
})

test('base64 is that of the platform, and refuses every other spelling of the same bytes', t => {
  const isStrict = (text: string): boolean =>
    /^[A-Za-z0-9+/]*={0,2}$/.test(text) && Buffer.from(text, 'base64').toString('base64') === text
  const asText = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'AQgwz09+/=-_ \u0141'), maxLength: 12 }),
    fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes).toString('base64'))
  )
  fc.assert(
    fc.property(asText, text => {
      if (isStrict(text)) {
        t.deepEqual([...parseBase64(text)], [...Buffer.from(text, 'base64')])
        t.is(base64Of(parseBase64(text)), text)
      } else {
        const error = t.throws(() => parseBase64(text), { instanceOf: TypeError })
        t.is(error?.message, 'This is no base64 text')
      }
    })
  )
  for (const text of ['AB==', 'AAB=', 'A===', 'AA=A', 'AA', '====', '=', 'A\u0141==', 'AAA*'])
    t.throws(() => parseBase64(text), { instanceOf: TypeError }, text)
})
