import { base58Of } from '../../kernel/crypto/encoding.ts'
import { makeNodeIo } from '../../platform/node/index.ts'

const { crypto } = makeNodeIo()

/** Every form in which bytes could leak. */
export const formsOf = (bytes: Uint8Array): string[] => {
  const hex = crypto.toHex(bytes)
  const base64 = crypto.toBase64(bytes)
  return [hex, hex.toUpperCase(), base64, base64.replace(/=+$/, ''), base58Of(bytes), [...bytes].join(',')]
}
