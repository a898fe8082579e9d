/** A word as a shell reads it back. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

const PLAIN = /^[A-Za-z0-9_./:=@%+,-]+$/

/** Characters that no command shows as they are. */
export const UNSAFE_CHARACTERS: RegExp = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Terminals act on control characters; others cannot be seen, or turn the direction of what follows. */
export const safeText = (text: string): string => text.replace(UNSAFE_CHARACTERS, '\ufffd')

/**
 * Shows text of someone else: each character that cannot be seen, or that changes how others are shown, as `\u{202e}`, and
 * no more than so many characters in all; what is cut ends with `…` (pure).
 */
export const escapedText = (text: string, maxLength = 200): string => {
  // Of a long text only the beginning is looked at: none of its characters becomes shorter.
  const start = text.length > maxLength ? text.slice(0, maxLength + 1) : text
  const shown = start.replace(INVISIBLE, hexOf)
  if (shown.length <= maxLength && start === text) return shown
  // A pair of surrogates and an escape are left out whole.
  return `${shown.slice(0, maxLength - 1).replace(/\\(?:u(?:\{[0-9a-f]*)?)?$|[\ud800-\udbff]$/, '')}…`
}

const hexOf = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`

/**
 * Control, format and unassigned characters, line ends, and letters and marks that draw nothing. One selector after a
 * pictogram is left, since most of them are written so; a row of selectors can hide a text.
 */
const INVISIBLE =
  /(?<!\p{Extended_Pictographic})\ufe0f|(?!\ufe0f)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** A ticker or an id of elsewhere, with `?` in place of what is no letter, figure or sign: it has no room for words (pure). */
export const bareCode = (text: string, maxLength = 20): string =>
  text.slice(0, maxLength).replace(NO_CODE, '?')

const NO_CODE = /[\p{Default_Ignorable_Code_Point}\p{Cs}]|[^\p{L}\p{N}\p{Sc}._:$+/-]/gu
