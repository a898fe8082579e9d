import type { CommanderError } from 'commander'
import { CliError } from '../errors/cli-error.ts'
import { secretAdvice, secretOfFlag } from '../secrets/secret-names.ts'
import { groupSummaries } from './commands.ts'

/**
 * Says what is wrong with a command line, without repeating the value of any flag that does not exist: it may be
 * a secret.
 */
export const usageError = ({ code, message }: CommanderError, argv: readonly string[]): CliError => {
  const [sentence = '', suggestion] = message.replace(/^error: /, '').split('\n')
  const hint = suggestion?.replace(/^\(|\)$/g, '')
  const advice = {
    ...(hint === undefined ? {} : { hint }),
    next: [{ command: helpCommand(argv), why: 'see what it takes' }]
  }
  if (code === 'commander.unknownOption') {
    const [flag = ''] = /--?[^\s'=]+/.exec(sentence) ?? []
    const secret = secretOfFlag(flag)
    if (secret !== undefined) {
      return new CliError('SECRET_SOURCE', `There is no ${flag}: a secret never stands on the command line`, {
        hint: secretAdvice(secret)
      })
    }
    return new CliError('USAGE', `Unknown option ${flag}`, advice)
  }
  if (code === 'commander.help')
    return new CliError('USAGE', 'This is a group of commands; say which one', advice)
  return new CliError('USAGE', capitalised(sentence.replace(/\.$/, '')), advice)
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const helpCommand = (argv: readonly string[]): string => {
  const words = argv.slice(0, 3)
  const end = words.findIndex(word => !/^[a-z2]{2,12}$/.test(word))
  const known = (end === -1 ? words : words.slice(0, end)).filter(word => GROUPS.has(word))
  return ['holdfast help', ...known].join(' ')
}

const GROUPS: ReadonlySet<string> = new Set(Object.keys(groupSummaries).flatMap(name => name.split(' ')))
