import { base32Of, base58Of, parseBase32, parseBase58 } from '../../../kernel/crypto/encoding.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'
import { eachVector, type GroupCheck, io } from './check.ts'

const { fromHex, toHex } = io.crypto

export const checkBase58: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  t.is(base58Of(fromHex(inputs.bytes_hex)), outputs.base58, id)
  t.is(toHex(parseBase58(outputs.base58)), inputs.bytes_hex, id)
})

export const checkOtpKeyParse: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  if (outputs.error !== undefined) {
    t.throws(() => parseBase32(inputs.text), { instanceOf: TypeError, message: outputs.error }, id)
    return
  }
  const key = parseBase32(inputs.text)
  t.is(toHex(key), outputs.hex, id)
  t.deepEqual(parseBase32(base32Of(key)), key, id)
})

/** One continuous stream runs through the vectors of this group. */
export const checkFakeRng: GroupCheck = (t, vectors) => {
  const random = makeSeededRandom()
  for (const { id, inputs, outputs } of vectors) t.is(toHex(random(inputs.bytes)), outputs.hex, id)
}
