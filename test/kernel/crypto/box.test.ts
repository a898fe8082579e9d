import test from 'ava'
import fc from 'fast-check'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { checkAesInput } from '../../../kernel/crypto/aes-input.ts'
import { openBox, openJson, openText, sealBox, sealJson, sealText } from '../../../kernel/crypto/box.ts'
import { type Box, isBox } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'

const io = makeNodeIo()
const key = makeSeededRandom(7)(32)
const noble = makeNodeIo({ crypto: 'noble' })

test('a box gives its bytes back, whatever backend sealed or opened it', t => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(255), (payload, seed) => {
      const before = payload.slice()
      const box = sealBox({ crypto: io.crypto, random: makeSeededRandom(seed) }, key, payload)
      const same = sealBox({ crypto: noble.crypto, random: makeSeededRandom(seed) }, key, payload)
      t.deepEqual(same, box)
      t.deepEqual(openBox(noble, key, box), before)
      t.deepEqual(openBox(io, key, box), before)
      t.deepEqual(payload, before)
    })
  )
})

test('two boxes of the same bytes differ', t => {
  const boxes = Array.from({ length: 20 }, () => JSON.stringify(sealText(io, key, 'same')))
  t.is(new Set(boxes).size, 20)
})

test('writers draw headers and footers of 0 to 31 bytes and pad to the next block', t => {
  for (let length = 0; length < 256; length++) {
    const random = (count: number): Uint8Array => new Uint8Array(count).fill(length)
    const box = sealText({ crypto: io.crypto, random }, key, 'x')
    const noise = 2 * (length & 31)
    t.is(io.crypto.fromBase64(box.data_base64).length, Math.floor((noise + 39) / 16 + 1) * 16)
  }
})

test('large payloads keep their length, which takes all four bytes', t => {
  const payload = new Uint8Array(17 * 1024 * 1024).fill(5)
  t.is(Buffer.compare(openBox(io, key, sealBox(io, key, payload)), payload), 0)
})

test('readers accept headers and footers longer than writers make', t => {
  const { crypto } = io
  const body = [200, ...new Array(200).fill(1), 0, 0, 0, 2, 104, 105, 255, ...new Array(255).fill(2)]
  const plain = [...body, ...crypto.sha256(Uint8Array.from(body))]
  const count = 16 - (plain.length % 16)
  plain.push(...new Array(count).fill(count))
  const iv = new Uint8Array(16)
  const data = crypto.aesCbcEncrypt(key, iv, Uint8Array.from(plain))
  const box = { encryptionType: 0, iv_hex: crypto.toHex(iv), data_base64: crypto.toBase64(data) }
  t.is(openText(io, key, box), 'hi')
})

test('padding of more than one block is refused, whatever its bytes say', t => {
  const { crypto } = io
  const body = [0, 0, 0, 0, 2, 104, 105, 0]
  const head = [...body, ...crypto.sha256(Uint8Array.from(body))]
  const count = 16 - (head.length % 16)
  const iv = new Uint8Array(16)
  const boxOf = (padding: readonly number[]): Box => {
    const data = crypto.aesCbcEncrypt(key, iv, Uint8Array.from([...head, ...padding]))
    return { encryptionType: 0, iv_hex: crypto.toHex(iv), data_base64: crypto.toBase64(data) }
  }
  t.is(openText(io, key, boxOf(new Array(count).fill(count))), 'hi')
  for (const byte of [count, count + 16]) {
    const box = boxOf(new Array(count + 16).fill(byte))
    t.throws(() => openText(io, key, box), { code: 'INVALID_PADDING' })
  }
})

test('text loses exactly one trailing NUL, bytes none', t => {
  t.is(openText(io, key, sealText(io, key, 'a\0')), 'a')
  t.is(openText(io, key, sealText(io, key, 'a\0\0')), 'a\0')
  t.is(openText(io, key, sealText(io, key, '')), '')
  t.deepEqual(openBox(io, key, sealText(io, key, 'a\0')), Uint8Array.of(97, 0))
})

test('JSON comes back as it was, and what is no JSON is refused without a word of it', t => {
  const value = { a: [1, 'ü', null], b: { c: false } }
  t.deepEqual(openJson(io, key, sealJson(io, key, value)), value)
  t.deepEqual(openJson(io, key, sealText(io, key, '{"a":1}\0')), { a: 1 })
  const error = t.throws(() => openJson(io, key, sealText(io, key, 'canary')), { instanceOf: SyntaxError })
  t.false(String(error?.stack).includes('canary'))
  t.throws(() => openText(io, key, sealBox(io, key, Uint8Array.of(0xff))), { instanceOf: TypeError })
})

test('a wrong key, any changed byte and any cut is refused [5.33] [8.62]', t => {
  const payload = Uint8Array.from({ length: 100 }, (_, i) => i)
  const box = sealBox({ crypto: io.crypto, random: makeSeededRandom(3) }, key, payload)
  const wrongKey = key.slice()
  wrongKey[31] = (wrongKey[31] ?? 0) ^ 1
  t.throws(() => openBox(io, wrongKey, box), { code: 'INVALID_CHECKSUM', message: 'Invalid checksum' })

  const data = io.crypto.fromBase64(box.data_base64)
  for (let i = 0; i < data.length; i++) {
    const changed = data.slice()
    changed[i] = (changed[i] ?? 0) ^ 0x40
    const error = t.throws(() => openBox(io, key, { ...box, data_base64: io.crypto.toBase64(changed) }))
    t.true(isWalletError(error, 'INVALID_CHECKSUM') || isWalletError(error, 'INVALID_PADDING'))
    t.throws(() => openBox(io, key, { ...box, data_base64: io.crypto.toBase64(data.slice(0, i)) }), {
      code: 'INVALID_CHECKSUM'
    })
  }
})

test('garbage is always a catalogue error, never a crash', t => {
  const hostile = fc.record({
    encryptionType: fc.constantFrom(0, 0, 0, 1, -1, Number.NaN),
    iv_hex: fc.oneof(fc.string(), fc.constant('00'.repeat(16))),
    data_base64: fc.oneof(
      fc.string(),
      fc.uint8Array({ maxLength: 96 }).map(bytes => io.crypto.toBase64(bytes)),
      fc.uint8Array({ minLength: 96, maxLength: 96 }).map(bytes => io.crypto.toBase64(bytes))
    )
  })
  fc.assert(
    fc.property(hostile, box => {
      t.true(isBox(box))
      const codes = [io, noble].map(({ crypto }) => {
        const error = t.throws(() => openBox({ crypto }, key, box))
        return isWalletError(error) ? error.code : undefined
      })
      t.true(codes[0] === 'UNKNOWN_ENCRYPTION' || codes[0] === 'INVALID_CHECKSUM')
      t.is(codes[0], codes[1])
    })
  )
})

test('nonsense lengths behind a good key are a bad checksum', t => {
  const { crypto } = io
  const iv = new Uint8Array(16)
  const plains = [
    new Uint8Array(0),
    new Uint8Array(16).fill(255),
    new Uint8Array(48),
    new Uint8Array(64).fill(127)
  ]
  for (const plain of plains) {
    const data_base64 = crypto.toBase64(crypto.aesCbcEncrypt(key, iv, plain))
    t.throws(() => openBox(io, key, { encryptionType: 0, iv_hex: crypto.toHex(iv), data_base64 }), {
      code: 'INVALID_CHECKSUM'
    })
  }
})

test('a box that ends with its checksum lacks its padding, and a cipher takes no vector of another length', t => {
  const { crypto } = io
  const body = [0, 0, 0, 0, 10, ...new Array(10).fill(104), 0]
  const plain = Uint8Array.from([...body, ...crypto.sha256(Uint8Array.from(body))])
  t.is(plain.length % 16, 0)
  const iv = new Uint8Array(16)
  const data_base64 = crypto.toBase64(crypto.aesCbcEncrypt(key, iv, plain))
  t.throws(() => openBox(io, key, { encryptionType: 0, iv_hex: crypto.toHex(iv), data_base64 }), {
    code: 'INVALID_PADDING'
  })
  for (const length of [0, 15, 17])
    t.throws(() => checkAesInput(key, new Uint8Array(length), plain), { message: /initialization vector/ })
})

test('no bytes encrypt to no bytes, whatever the backend', t => {
  for (const { crypto } of [io, noble]) {
    const [iv, none] = [new Uint8Array(16), new Uint8Array(0)]
    t.deepEqual([...crypto.aesCbcEncrypt(key, iv, none)], [])
    t.deepEqual([...crypto.aesCbcDecrypt(key, iv, none)], [])
  }
})

test('sealing with a key of a wrong length is refused', t => {
  t.throws(() => sealText(io, key.subarray(1), 'a'), { instanceOf: TypeError })
  t.throws(() => openBox(io, key.subarray(1), sealText(io, key, 'a')), { code: 'INVALID_CHECKSUM' })
})

test('only objects with the three fields of a box count as one [3.1]', t => {
  t.true(isBox(sealText(io, key, 'a')))
  const good = { encryptionType: 0, iv_hex: '', data_base64: '' }
  const others = [null, 1, 'box', [], {}, { ...good, iv_hex: 1 }, { ...good, data_base64: null }]
  for (const other of [...others, { ...good, encryptionType: '0' }, true]) t.false(isBox(other))
})

test('a type other than 0, and padding that is wrong behind a good checksum, have their own errors [3.1] [5.33] [8.63] [8.64]', t => {
  const { crypto } = io
  const box = sealText(io, key, 'a')
  for (const encryptionType of [1, -1, 0.5, Number.NaN]) {
    t.throws(() => openBox(io, key, { ...box, encryptionType }), {
      code: 'UNKNOWN_ENCRYPTION',
      message: 'Unknown encryption type'
    })
  }
  const plain = crypto.aesCbcDecrypt(key, crypto.fromHex(box.iv_hex), crypto.fromBase64(box.data_base64))
  const padding = plain.at(-1) ?? 0
  for (const wrong of [0, 17, padding + 1]) {
    plain[plain.length - 1] = wrong
    const data_base64 = crypto.toBase64(crypto.aesCbcEncrypt(key, crypto.fromHex(box.iv_hex), plain))
    t.throws(() => openBox(io, key, { ...box, data_base64 }), {
      code: 'INVALID_PADDING',
      message: 'Invalid PKCS7 padding'
    })
  }
})
