import test from 'ava'
import fc from 'fast-check'
import { openText, sealText } from '../../../kernel/crypto/box.ts'
import { openTexts, sealTexts } from '../../../kernel/crypto/box-batch.ts'
import type { Box } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const key = new Uint8Array(32).fill(9)
const boxesOf = (texts: readonly string[]): Box[] => texts.map(text => JSON.parse(text) as Box)

for (const crypto of ['native', 'noble'] as const) {
  const io = makeNodeIo({ crypto })

  test(`texts sealed together open one by one, and boxes sealed one by one open together, with ${crypto} cryptography`, t => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 12 }), texts => {
        const together = sealTexts(io, key, texts)
        t.deepEqual(
          boxesOf(together).map(box => openText(io, key, box)),
          texts.map(text => (text.endsWith('\0') ? text.slice(0, -1) : text))
        )
        const boxes = texts.map(text => sealText(io, key, text))
        t.deepEqual(
          openTexts(io, key, boxes),
          boxes.map(box => openText(io, key, box))
        )
      }),
      { numRuns: 100 }
    )
  })
}

const io = makeNodeIo()

test('a box that does not open leaves its neighbours alone', t => {
  const boxes = boxesOf(sealTexts(io, key, ['a', 'b', 'c', 'd', 'e', 'f']))
  const damaged: Box[] = [
    boxes[0] as Box,
    { ...(boxes[1] as Box), data_base64: 'AAAA' },
    { ...(boxes[2] as Box), iv_hex: '00' },
    { ...(boxes[3] as Box), encryptionType: 1 },
    { ...(boxes[4] as Box), data_base64: (boxes[0] as Box).data_base64 },
    boxes[5] as Box
  ]
  t.deepEqual(openTexts(io, key, damaged), ['a', undefined, undefined, undefined, undefined, 'f'])
  t.deepEqual(openTexts(io, new Uint8Array(32), boxes), Array(6).fill(undefined))
  t.deepEqual(openTexts(io, key, []), [])
  t.deepEqual(sealTexts(io, key, []), [])
})

test('no two boxes of a batch share a vector, and equal texts do not show', t => {
  const boxes = boxesOf(sealTexts(io, key, Array(200).fill('the same')))
  t.is(new Set(boxes.map(box => box.iv_hex)).size, 200)
  t.is(new Set(boxes.map(box => box.data_base64)).size, 200)
})

test('half a character in one of many texts is refused', t => {
  t.throws(() => sealTexts(io, key, ['fine', 'half \ud83d']), { instanceOf: TypeError })
  t.throws(() => sealTexts(io, key, ['\udc00']), { instanceOf: TypeError })
})
