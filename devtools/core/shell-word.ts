/** A word as a shell reads it back. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

const PLAIN = /^[A-Za-z0-9_./:=@%+,-]+$/
