/**
 * `TextEncoder` of a realm, which has only the language: many packages turn texts into bytes with it. Evaluated in the realm, so
 * it uses nothing outside of itself.
 */
export class RealmTextEncoder {
  get encoding(): string {
    return 'utf-8'
  }

  /** The UTF-8 bytes of a text; half a letter becomes U+FFFD. */
  encode(text: unknown = ''): Uint8Array {
    const bytes: number[] = []
    for (const letter of String(text)) {
      const found = letter.codePointAt(0) ?? 0
      const code = found >= 0xd800 && found <= 0xdfff ? 0xfffd : found
      const more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3
      bytes.push(more === 0 ? code : ((0xff << (7 - more)) & 0xff) | (code >> (6 * more)))
      for (let left = more - 1; left >= 0; left -= 1) bytes.push(0x80 | ((code >> (6 * left)) & 0x3f))
    }
    return Uint8Array.from(bytes)
  }
}

/** `TextDecoder` of a realm, of UTF-8 alone and of whole texts. Evaluated in the realm. */
export class RealmTextDecoder {
  readonly encoding: string = 'utf-8'
  readonly fatal: boolean
  readonly ignoreBOM: boolean

  /** @throws RangeError for any other encoding */
  constructor(
    label: unknown = 'utf-8',
    { fatal = false, ignoreBOM = false }: { fatal?: boolean; ignoreBOM?: boolean } = {}
  ) {
    if (!/^utf-?8$/i.test(String(label).trim())) throw new RangeError('A cell decodes utf-8 only')
    this.fatal = fatal === true
    this.ignoreBOM = ignoreBOM === true
  }

  /** The text of bytes; what is no UTF-8 becomes U+FFFD. @throws TypeError for it if `fatal` is set */
  decode(input: ArrayBuffer | ArrayBufferView = new Uint8Array(0)): string {
    const bytes =
      input instanceof ArrayBuffer
        ? new Uint8Array(input)
        : new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
    let text = ''
    for (let at = 0; at < bytes.length; ) {
      const first = bytes[at] ?? 0
      const more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1
      let code = more === 0 ? first : first & (0x3f >> more)
      let length = 1
      // The second byte rules out forms that are too long, surrogates, and codes above the last one.
      const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
      const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
      const isStart = more === 0 || (first >= 0xc2 && first <= 0xf4)
      for (; isStart && length <= more; length += 1) {
        const next = bytes[at + length] ?? 0
        if (next < (length === 1 ? least : 0x80) || next > (length === 1 ? most : 0xbf)) break
        code = (code << 6) | (next & 0x3f)
      }
      const isWhole = isStart && length > more
      if (!isWhole && this.fatal) throw new TypeError('The encoded data was not valid for encoding utf-8')
      text += isWhole ? String.fromCodePoint(code) : '\ufffd'
      at += length
    }
    return !this.ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text
  }
}
