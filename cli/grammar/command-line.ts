/** A command line that can be pasted into a shell: `holdfast send Savings --amount '0.01 BTC'`. */
export const commandLineOf = (argv: readonly string[]): string =>
  ['holdfast', ...argv.map(shellWord)].join(' ')

/** A word as a shell reads it back. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

const PLAIN = /^[A-Za-z0-9_./:=@%+,-]+$/
