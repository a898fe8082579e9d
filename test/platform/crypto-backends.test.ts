/// <reference lib="dom" />
import { scryptSync, webcrypto } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { makeNobleCrypto } from '../../kernel/crypto/noble-crypto.ts'
import type { CryptoPort } from '../../kernel/io/io.ts'
import { makeWebCrypto } from '../../platform/browser/browser-crypto.ts'
import { passesSelfTest } from '../../platform/node/choose-crypto.ts'
import { makeNodeIo } from '../../platform/node/index.ts'

const io = makeNodeIo()
const node = io.crypto
const noble = makeNobleCrypto(io.clock)
const web = makeWebCrypto(webcrypto.subtle as SubtleCrypto, noble)
const exactKey = new Uint8Array(32).fill(7)

const tinyScrypt = (data: Uint8Array, salt: Uint8Array): Uint8Array =>
  scryptSync(data, salt, 32, { N: 16, r: 1, p: 1 })

const exact = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

test('Node uses its native backend, and noble on request', t => {
  t.is(node.name, 'node')
  t.is(makeNodeIo({ crypto: 'noble' }).crypto.name, 'noble')
})

test('both backends hash, encrypt and encode to the same plain bytes', t => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 100 }), (data, key) => {
      const results = [node, noble].map(crypto => [
        crypto.sha256(data),
        crypto.hmacSha256(key, data),
        crypto.hmacSha1(key, data),
        crypto.fromHex(crypto.toHex(data).toUpperCase()),
        crypto.fromBase64(crypto.toBase64(data))
      ])
      t.deepEqual(results[0], results[1])
      for (const bytes of results.flat()) t.is(Object.getPrototypeOf(bytes), Uint8Array.prototype)
      t.is(node.toHex(data), noble.toHex(data))
      t.is(node.toBase64(data), noble.toBase64(data))
    })
  )
  fc.assert(
    fc.property(fc.constantFrom(16, 24, 32), exact(48), exact(64), exact(17), (size, keys, plain, ivs) => {
      const key = keys.subarray(0, size)
      const iv = ivs.subarray(1)
      const encrypted = node.aesCbcEncrypt(key, iv, plain)
      t.deepEqual(noble.aesCbcEncrypt(key, iv, plain), encrypted)
      t.deepEqual(node.aesCbcDecrypt(key, iv, encrypted), plain)
      t.deepEqual(noble.aesCbcDecrypt(key, iv, encrypted), plain)
      t.is(encrypted.length, plain.length)
    })
  )
  const [key, iv, nothing] = [new Uint8Array(32), new Uint8Array(16), new Uint8Array(0)]
  for (const crypto of [node, noble]) {
    t.deepEqual(crypto.aesCbcDecrypt(key, iv, nothing), nothing)
    for (const length of [1, 15, 17]) t.throws(() => crypto.aesCbcDecrypt(key, iv, new Uint8Array(length)))
  }
})

test('the cryptography of a web page gives the same bytes later', async t => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(16, 24, 32),
      exact(48),
      fc.integer({ min: 0, max: 5 }).chain(count => exact(count * 16)),
      exact(16),
      async (size, keys, plain, iv) => {
        const key = keys.subarray(0, size)
        const encrypted = node.aesCbcEncrypt(key, iv, plain)
        t.deepEqual(await web.aesCbcDecrypt(key, iv, encrypted), plain)
        t.deepEqual(await web.sha256(plain), node.sha256(plain))
      }
    ),
    { numRuns: 100 }
  )
  await t.throwsAsync(web.aesCbcDecrypt(exactKey, new Uint8Array(16), new Uint8Array(15)), {
    instanceOf: TypeError
  })
})

test('the cryptography of a web page has read its inputs when it returns', async t => {
  const [key, data, iv] = [exactKey.slice(), new Uint8Array(32).fill(5), new Uint8Array(16).fill(6)]
  const wanted = node.aesCbcDecrypt(key, iv, data)
  const answers = [web.aesCbcDecrypt(key, iv, data), web.sha256(data)]
  const hash = node.sha256(data)
  for (const bytes of [key, data, iv]) bytes.fill(0)
  t.deepEqual(await Promise.all(answers), [wanted, hash])
})

test('both backends derive the same bytes with scrypt', async t => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 80 }),
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(
        { n: 2, r: 1, p: 1 },
        { n: 16, r: 8, p: 1 },
        { n: 64, r: 2, p: 3 },
        { n: 1024, r: 1, p: 64 }
      ),
      async (data, salt, cost) => {
        t.deepEqual(await node.scrypt(data, salt, cost, 32), await noble.scrypt(data, salt, cost, 32))
      }
    ),
    { numRuns: 30 }
  )
})

test('both backends refuse the same malformed input with a TypeError that quotes nothing', t => {
  const base64 = [
    'A',
    'AA',
    'AAA',
    'AAAA=',
    'AA=A',
    'AB==',
    'AAB=',
    'AA-_',
    'AAAA ',
    ' AAAA',
    'AA\nAA',
    '====',
    'AAŁA'
  ]
  const long = 'ab'.repeat(100)
  const hex = [
    `${long}g0`,
    `${long}0`,
    `${long}ŁŁ`,
    `0g${long}`,
    '0',
    '000',
    '0g',
    'zz',
    '0 ',
    '0x00',
    'ŁŁ',
    '\u212a\u212a'
  ]
  for (const crypto of [node, noble]) {
    for (const text of base64) {
      const error = t.throws(
        () => crypto.fromBase64(text),
        { instanceOf: TypeError },
        `${crypto.name} ${text}`
      )
      t.is(error?.message, 'This is no base64 text')
    }
    for (const text of hex) {
      const error = t.throws(() => crypto.fromHex(text), { instanceOf: TypeError }, `${crypto.name} ${text}`)
      t.is(error?.message, 'This is no hexadecimal text')
    }
    const block = new Uint8Array(16)
    for (const run of [crypto.aesCbcEncrypt, crypto.aesCbcDecrypt]) {
      t.throws(() => run(block.subarray(1), block, block), { instanceOf: TypeError })
      t.throws(() => run(block, block.subarray(1), block), { instanceOf: TypeError })
      t.throws(() => run(block, block, block.subarray(1)), { instanceOf: TypeError })
      t.is(run(block, block, new Uint8Array(0)).length, 0)
    }
  }
  fc.assert(
    fc.property(fc.string({ maxLength: 12, unit: fc.constantFrom(...'AQgwz09+/= -_\nŁé') }), text => {
      const sizes = [node, noble].map(crypto => {
        try {
          return crypto.toHex(crypto.fromBase64(text))
        } catch {
          return 'refused'
        }
      })
      t.is(sizes[0], sizes[1], JSON.stringify(text))
    }),
    { numRuns: 500 }
  )
})

test('both backends write the UTF-8 bytes of a text at a given offset, and refuse half a character', t => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.nat(20), (text, start) => {
      for (const crypto of [node, noble]) {
        const bytes = new Uint8Array(start + text.length * 3)
        const end = crypto.writeUtf8(text, bytes, start)
        t.is(Buffer.from(bytes.subarray(start, end)).toString('utf8'), text)
        t.true(bytes.subarray(0, start).every(byte => byte === 0))
      }
    })
  )
  for (const crypto of [node, noble]) {
    for (const text of ['a\ud83d', '\udc00b', 'a\ud83d\ud83d\udc00']) {
      t.throws(() => crypto.writeUtf8(text, new Uint8Array(30), 0), { instanceOf: TypeError })
    }
  }
})

test('two scrypts of noble never overlap, and a failed one does not stop the next', async t => {
  const mutex: string[] = []
  let started = 0
  const crypto = makeNobleCrypto({
    turn: async () => {
      await io.clock.turn()
      mutex.push(`start ${++started}`)
    }
  })
  const data = Uint8Array.of(1, 2, 3)
  const cost = { n: 4096, r: 8, p: 1 }
  const run = async (name: string, n: number): Promise<void> => {
    await crypto.scrypt(data, data, { ...cost, n }, 32).catch(() => mutex.push(`${name} failed`))
    mutex.push(`end ${name}`)
  }
  await Promise.all([run('1', 4096), run('2', 3), run('3', 16)])
  t.deepEqual(mutex, ['start 1', 'end 1', 'start 2', '2 failed', 'end 2', 'start 3', 'end 3'])
})

test('noble lets other work run while it derives, and reads its input at the call', async t => {
  const data = Uint8Array.of(1, 2, 3)
  const expected = await node.scrypt(data, data, { n: 16384, r: 8, p: 1 }, 32)
  let beats = 0
  const timer = setInterval(() => beats++, 1)
  const job = noble.scrypt(data, data, { n: 16384, r: 8, p: 1 }, 32)
  data.fill(9)
  t.deepEqual(await job, expected)
  clearInterval(timer)
  t.true(beats >= 3, `${beats} beats`)
})

test('the self-test passes both backends and fails every broken primitive', t => {
  t.true(passesSelfTest(node, tinyScrypt))
  t.true(passesSelfTest(noble, tinyScrypt))
  const flipped =
    <A extends readonly unknown[]>(run: (...args: A) => Uint8Array) =>
    (...args: A): Uint8Array => {
      const bytes = run(...args).slice()
      bytes[0] = (bytes[0] ?? 0) ^ 1
      return bytes
    }
  const broken: CryptoPort[] = [
    { ...node, sha256: flipped(node.sha256) },
    { ...node, hmacSha256: flipped(node.hmacSha256) },
    { ...node, hmacSha1: flipped(node.hmacSha1) },
    { ...node, aesCbcEncrypt: flipped(node.aesCbcEncrypt) },
    { ...node, aesCbcDecrypt: flipped(node.aesCbcDecrypt) },
    { ...node, fromBase64: flipped(node.fromBase64) },
    { ...node, toBase64: () => 'AAAA' },
    {
      ...node,
      sha256: () => {
        throw new Error('disabled in FIPS mode')
      }
    }
  ]
  for (const crypto of broken) t.false(passesSelfTest(crypto, tinyScrypt))
  t.false(passesSelfTest(node, flipped(tinyScrypt)))
})
