/**
 * Writes a text's UTF-8 bytes from `start` on and gives where they end; at most three bytes a letter of the text.
 *
 * @throws TypeError if the text holds a lone surrogate
 */
export const writeUtf8 = (text: string, bytes: Uint8Array, start: number): number => {
  let at = start
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code < 0x80) {
      bytes[at] = code
      at += 1
    } else {
      const point = text.codePointAt(i) ?? 0
      if (point >= 0xd800 && point <= 0xdfff) throw new TypeError('This text has half a character')
      at = writePoint(point, bytes, at)
      if (point > 0xffff) i += 1
    }
  }
  return at
}

const writePoint = (point: number, bytes: Uint8Array, at: number): number => {
  const count = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
  bytes[at] = (point >>> (6 * (count - 1))) | (LEADS[count - 2] ?? 0)
  for (let i = 1; i < count; i += 1) bytes[at + i] = 0x80 | ((point >>> (6 * (count - 1 - i))) & 0x3f)
  return at + count
}

const LEADS = [0xc0, 0xe0, 0xf0]
