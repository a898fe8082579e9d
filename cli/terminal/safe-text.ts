// Control characters, and the marks that reorder text, would let a name or a note redraw the terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** Longer text would push the rest off the screen. */
const MAX_LENGTH = 100

/** Returns text from outside (a name, a note, a server's message) that cannot move the cursor or reorder letters. */
export const safeText = (text: string): string => text.replace(UNSAFE, ' ')

/** {@link safeText} that keeps its lines; for a terminal that is shown what is meant for a file. */
export const safeLines = (text: string): string => text.split(/\r?\n/).map(safeText).join('\n')

/** Returns untrusted text, such as the name of a device or an app, as {@link safeText} and cut to a short length. */
export const untrustedText = (text: string): string => {
  const start = safeText(text.slice(0, MAX_LENGTH + 1))
  return start.length > MAX_LENGTH ? `${start.slice(0, MAX_LENGTH - 2)}..` : start
}

/** Serializes JSON with the same characters escaped; it parses to the same value. */
export const safeJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replace(UNSAFE, char =>
    char === '\n' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  )
