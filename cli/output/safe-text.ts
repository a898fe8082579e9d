// Control characters, and the marks that reorder text, would let a name or a note redraw the terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** Text from outside (a name, a note, a server's words) that cannot move the cursor or turn letters around. */
export const safeText = (text: string): string => text.replace(UNSAFE, ' ')
