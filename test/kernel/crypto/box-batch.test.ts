/// <reference lib="dom" />
import { webcrypto } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import {
  MAX_MARK,
  openMarkedText,
  openPacked,
  openText,
  openTexts,
  sealBox,
  sealPacked,
  sealText,
  sealTexts
} from '../../../kernel/crypto/box.ts'
import type { Box } from '../../../kernel/types/keys.ts'
import { makeWebCrypto } from '../../../platform/browser/browser-crypto.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const key = new Uint8Array(32).fill(9)
const boxesOf = (texts: readonly string[]): Box[] => texts.map(text => JSON.parse(text) as Box)

const native = makeNodeIo()
const noble = makeNodeIo({ crypto: 'noble' })
/** As a web page has it: its own cryptography answers later. */
const web = {
  ...noble,
  crypto: { ...noble.crypto, async: makeWebCrypto(webcrypto.subtle as SubtleCrypto, noble.crypto) }
}
const ios = { native, noble, web }

test('the zero that older clients put behind a text is none of it, in many boxes as in one', async t => {
  for (const io of Object.values(ios)) {
    const boxes = ['text\0', 'text\0\0', '\0', ''].map(text => sealBox(io, key, Buffer.from(text)))
    t.deepEqual(await openTexts(io, key, boxes), ['text', 'text\0', '', ''])
    t.deepEqual(
      boxes.map(box => openText(io, key, box)),
      ['text', 'text\0', '', '']
    )
    t.deepEqual(
      boxes.map(box => openMarkedText(io, { key, box }, () => undefined).text),
      ['text', 'text\0', '', '']
    )
  }
})

for (const [name, io] of Object.entries(ios)) {
  test(`texts sealed together open one by one, and boxes sealed one by one open together, with ${name} cryptography`, async t => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 12 }),
        async texts => {
          const together = sealTexts(io, key, texts)
          t.deepEqual(
            boxesOf(together).map(box => openText(io, key, box)),
            texts.map(text => (text.endsWith('\0') ? text.slice(0, -1) : text))
          )
          const boxes = texts.map(text => sealText(io, key, text))
          t.deepEqual(
            await openTexts(io, key, boxes),
            boxes.map(box => openText(io, key, box))
          )
        }
      ),
      { numRuns: 100 }
    )
  })

  test(`packed texts are unpacked, and damage is refused, with ${name} cryptography`, async t => {
    const bytes = new Uint8Array(1000).map((_, at) => at)
    const write = (plain: Uint8Array, start: number): number => {
      plain.set(bytes, start)
      return start + bytes.length
    }
    const packed = sealPacked(native, key, { room: bytes.length, write })
    t.deepEqual(await openPacked(io, key, packed), bytes)
    const other = packed.slice().fill(0, 0, 3)
    await t.throwsAsync(openPacked(io, key, other), { message: /checksum/i })
    await t.throwsAsync(openPacked(io, new Uint8Array(32), packed), { message: /checksum/i })
    await t.throwsAsync(openPacked(io, key, packed.slice(0, 40)))
  })

  test(`a box that does not open leaves its neighbours alone, with ${name} cryptography`, async t => {
    const boxes = boxesOf(sealTexts(native, key, ['a', 'b', 'c', 'd', 'e', 'f']))
    const damaged: Box[] = [
      boxes[0] as Box,
      { ...(boxes[1] as Box), data_base64: 'AAAA' },
      { ...(boxes[2] as Box), iv_hex: '00' },
      { ...(boxes[3] as Box), encryptionType: 1 },
      { ...(boxes[4] as Box), data_base64: (boxes[0] as Box).data_base64 },
      boxes[5] as Box
    ]
    t.deepEqual(await openTexts(io, key, damaged), ['a', undefined, undefined, undefined, undefined, 'f'])
    t.deepEqual(await openTexts(io, new Uint8Array(32), boxes), Array(6).fill(undefined))
    t.deepEqual(await openTexts(io, key, []), [])
    t.deepEqual(sealTexts(native, key, []), [])
  })
}

test('a text of more than a megabyte is sealed whole, however many bytes its letters take', t => {
  const text = '€'.repeat(400_000)
  const [box = ''] = sealTexts(native, key, [text])
  t.true(openText(native, key, JSON.parse(box) as Box) === text)
})

test('a large text is sealed whole beside the longest marks, and large bytes in the form that stays on the device', async t => {
  const text = '€'.repeat(400_000)
  t.is(MAX_MARK, 2 * 224)
  const part = new Uint8Array(224).fill(7)
  const [box = ''] = sealTexts(native, key, [{ text, mark: { header: part, footer: part } }])
  const readMark = ({ header, footer }: { header: Uint8Array; footer: Uint8Array }): readonly Uint8Array[] =>
    [header, footer].map(bytes => bytes.slice(0, part.length))
  const opened = openMarkedText(native, { key, box: JSON.parse(box) as Box }, readMark)
  t.true(opened.text === text)
  t.deepEqual(opened.mark, [part, part])

  const payload = new Uint8Array(2_000_000).fill(5)
  const packed = sealPacked(native, key, {
    room: payload.length,
    write(bytes, start) {
      bytes.set(payload, start)
      return start + payload.length
    }
  })
  t.is(Buffer.compare(await openPacked(native, key, packed), payload), 0)
})

test('a box whose vector or data has an odd length does not open, and those beside it do', async t => {
  const [first, last] = ['first', 'last'].map(text => sealText(native, key, text)) as [Box, Box]
  const odd: readonly Partial<Box>[] = [
    { iv_hex: '' },
    { iv_hex: first.iv_hex.slice(2) },
    { iv_hex: `${first.iv_hex}00` },
    { data_base64: '' },
    { data_base64: first.data_base64.slice(4) },
    { iv_hex: '', data_base64: 'AAAA' }
  ]
  for (const io of Object.values(ios)) {
    for (const more of odd)
      t.deepEqual(await openTexts(io, key, [first, { ...first, ...more }, last]), [
        'first',
        undefined,
        'last'
      ])
  }
})

test('no two boxes of a batch share a vector, and equal texts do not show', t => {
  const boxes = boxesOf(sealTexts(native, key, Array(200).fill('the same')))
  t.is(new Set(boxes.map(box => box.iv_hex)).size, 200)
  t.is(new Set(boxes.map(box => box.data_base64)).size, 200)
})

test('half a character in one of many texts is refused', t => {
  t.throws(() => sealTexts(native, key, ['fine', 'half \ud83d']), { instanceOf: TypeError })
  t.throws(() => sealTexts(native, key, ['\udc00']), { instanceOf: TypeError })
})
