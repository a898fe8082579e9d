import { type Command, CommanderError } from 'commander'
import type { CommandSpec } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { commandSpecs } from './commands.ts'
import { buildProgram, helpTextOf } from './program.ts'
import { usageError } from './usage-error.ts'

/** What a command line means. */
export type ParsedArguments =
  | {
      readonly kind: 'run'
      readonly spec: CommandSpec
      readonly args: readonly (string | undefined)[]
      /** The flags of the command and the global ones, by commander's names. */
      readonly flags: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version'; readonly flags: Readonly<Record<string, unknown>> }

/** Reads a command line. @throws CliError USAGE, SECRET_SOURCE, NOT_FOUND; never repeats what may be a secret */
export const parseArguments = (argv: readonly string[], width: number): ParsedArguments => {
  let parsed: ParsedArguments | undefined
  let shown = ''
  const program = buildProgram({
    argv,
    width,
    write: text => {
      shown += text
    },
    onRun(spec, args, flags) {
      parsed = spec.name === 'help' ? helpFor(program, args, flags) : { kind: 'run', spec, args, flags }
    },
    onVersion(flags) {
      // It ends the parsing, so that a flag behind it has not been seen yet.
      parsed = { kind: 'version', flags: { ...flags, json: argv.includes('--json') } }
      throw new CommanderError(0, 'commander.version', '')
    }
  })
  if (argv.length === 0) return { kind: 'help', text: helpTextOf(program) }
  try {
    program.parse([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.code === 'commander.helpDisplayed') return { kind: 'help', text: shown }
    if (error.code !== 'commander.version') throw usageError(error, argv)
  }
  if (parsed === undefined) throw new CliError('USAGE', 'This is no command', NEXT)
  return parsed
}

const NEXT = { next: [{ command: 'holdfast help', why: 'see the commands' }] }

/** The help of a command or group; `exit-codes` is a command of its own. */
const helpFor = (
  program: Command,
  args: readonly (string | undefined)[],
  flags: Readonly<Record<string, unknown>>
): ParsedArguments => {
  const words = args.filter(word => word !== undefined)
  if (words.join(' ') === 'exit-codes') {
    const spec = commandSpecs.find(({ name }) => name === 'help')
    if (spec !== undefined) return { kind: 'run', spec, args: [], flags }
  }
  let command = program
  for (const word of words) {
    const inner = command.commands.find(one => one.name() === word || one.aliases().includes(word))
    if (inner === undefined) {
      throw new CliError('NOT_FOUND', `There is no help about "${words.join(' ')}"`, {
        hint: 'Topics: exit-codes, and the name of any command.',
        ...NEXT
      })
    }
    command = inner
  }
  return { kind: 'help', text: helpTextOf(command) }
}
