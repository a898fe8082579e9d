import { openBox, openText, sealBox, sealText } from '../../../kernel/crypto/box.ts'
import { isBox } from '../../../kernel/types/keys.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'
import { base64, bytes, eachVector, type GroupCheck, io } from './check.ts'

const { crypto } = io

/** Gives the random bytes that the vector's box was made with, in the order of the protocol. */
const replay = (hex: string): ((count: number) => Uint8Array) => {
  const stream = crypto.fromHex(hex)
  let position = 0
  return count => {
    position += count
    return stream.slice(position - count, position)
  }
}

const byteHex = (value: number): string => crypto.toHex(Uint8Array.of(value))

export const checkBox: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const key = bytes(inputs.key_base64)
  t.true(isBox(outputs.box), id)
  t.is(crypto.toHex(openBox(io, key, outputs.box)), inputs.data_hex, id)
  if (outputs.decryptText === null) t.throws(() => openText(io, key, outputs.box), { instanceOf: TypeError }, id)
  else t.is(openText(io, key, outputs.box), outputs.decryptText, id)

  const { header_hex, footer_hex, iv_hex } = inputs
  const lengths = byteHex(header_hex.length / 2) + byteHex(footer_hex.length / 2)
  if (Math.max(header_hex.length, footer_hex.length) / 2 > 31) return
  const random = replay(lengths + header_hex + footer_hex + iv_hex)
  t.deepEqual(sealBox({ crypto, random }, key, crypto.fromHex(inputs.data_hex)), outputs.box, id)
})

export const checkBoxRng: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const random = makeSeededRandom()
  random(inputs.discard ?? 0)
  const key = bytes(inputs.key_base64)
  const box = sealText({ crypto, random }, key, inputs.text)
  t.deepEqual(box, outputs.box, id)
  t.is(openText(io, key, box), inputs.text, id)
})

/** The AES layer's own text is the cause of the catalogue error (protocol §1.3). */
export const checkBoxErrors: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const error = t.throws(() => openBox(io, bytes(inputs.key_base64), inputs.box), { instanceOf: Error }, id)
  t.true(isWalletError(error), id)
  const text = error?.cause instanceof Error ? error.cause.message : error?.message
  t.is(text, outputs.error, id)
})

export const checkParentBox: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  t.is(base64(openBox(io, bytes(inputs.parentLoginKey_base64), inputs.parentBox)), outputs.childLoginKey_base64, id)
})
