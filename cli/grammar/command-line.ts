/** A command line that can be pasted into a shell: `holdfast send Savings --amount '0.01 BTC'`. */
export const commandLineOf = (argv: readonly string[]): string => ['holdfast', ...argv.map(quoted)].join(' ')

const PLAIN = /^[A-Za-z0-9_./:=@%+,-]+$/

const quoted = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
