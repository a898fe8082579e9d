import { shellWord } from '../../app/format/safe-text.ts'
import type { GlobalOptions } from './options.ts'

/** Quotes arguments as a command line that can be pasted into a shell: `holdfast send Savings --amount '0.01 BTC'`. */
export const typedCommandLineOf = (argv: readonly string[]): string =>
  ['holdfast', ...argv.map(shellWord)].join(' ')

/** Adds the flags of the current profile and device to a command: `holdfast wallets list --device phone`. */
export const commandInProfile = (
  { profile, usualProfile, device }: Pick<GlobalOptions, 'device' | 'profile' | 'usualProfile'>,
  words: string
): string => {
  const flags = [
    ...(profile === usualProfile ? [] : [`--profile ${profile}`]),
    ...(device === 'default' ? [] : [`--device ${device}`])
  ]
  return ['holdfast', words, ...flags].join(' ')
}
