/** A word as a shell reads it back. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

const PLAIN = /^[A-Za-z0-9_./:=@%+,-]+$/

/** Characters that no command shows as they are. */
export const UNSAFE_CHARACTERS: RegExp = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Terminals act on control characters; others cannot be seen, or turn the direction of what follows. */
export const safeText = (text: string): string => text.replace(UNSAFE_CHARACTERS, '\ufffd')
