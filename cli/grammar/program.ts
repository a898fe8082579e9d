import { Command, Option } from 'commander'
import type { CommandFlag, CommandSpec } from '../command.ts'
import { wordsOf } from '../secrets/secret-names.ts'
import { commandSpecs, groupSummaries } from './commands.ts'
import { globalFlags } from './global-options.ts'

/** What the parser does when it has understood. */
export interface ProgramOptions {
  /** The command line. Commands of groups that it does not name get no flags, which saves most of the work. */
  readonly argv: readonly string[]
  /** Columns of the help. */
  readonly width: number
  readonly write: (text: string) => void
  readonly onRun: (
    spec: CommandSpec,
    args: readonly (string | undefined)[],
    flags: Readonly<Record<string, unknown>>
  ) => void
  readonly onVersion: (flags: Readonly<Record<string, unknown>>) => void
}

/** Builds commander's view of the grammar. Nothing is written or ended by commander itself. */
export const buildProgram = (options: ProgramOptions): Command => {
  const program = new Command('holdfast')
  // Both are copied when a subcommand is made, so they come first (ecosystem 4.5).
  program.exitOverride().configureOutput({
    writeOut: options.write,
    writeErr: () => {},
    getOutHelpWidth: () => options.width,
    getErrHelpWidth: () => options.width
  })
  program
    .description('A self-custody wallet in your terminal. Start with: holdfast demo')
    .helpCommand(false)
    .option('-V, --version', 'print the version')
    .configureHelp({ showGlobalOptions: false })
  for (const { flags, summary, choices } of globalFlags) {
    program.addOption(optionOf({ flags, summary, ...(choices === undefined ? {} : { choices }) }))
  }
  let verbosity = 0
  program.on('option:verbose', () => {
    verbosity += 1
    program.setOptionValue('verbose', verbosity)
  })
  program.on('option:version', () => options.onVersion(program.opts()))
  for (const spec of commandSpecs) addCommand(program, spec, options)
  return program
}

/** The help of a command, as it is printed. */
export const helpTextOf = (command: Command): string => command.helpInformation()

const addCommand = (program: Command, spec: CommandSpec, options: ProgramOptions): void => {
  const words = spec.name.split(' ')
  let parent = program
  for (let depth = 1; depth < words.length; depth += 1) {
    parent = groupOf(parent, words[depth - 1] ?? '', words.slice(0, depth).join(' '))
  }
  const command = parent
    .command(`${words.at(-1)}${spec.arguments === undefined ? '' : ` ${spec.arguments}`}`)
    .summary(spec.summary)
    .description(
      spec.example === undefined ? spec.summary : `${spec.summary}\n\nExample:\n  holdfast ${spec.example}`
    )
    .aliases(spec.aliases ?? [])
    .allowExcessArguments(false)
    .addHelpText('after', '\nFlags of every command: holdfast --help')
  if (words.slice(0, -1).every(word => options.argv.includes(word))) addFlags(command, spec)
  command.action(() => {
    options.onRun(spec, flatten(command.processedArgs), command.optsWithGlobals())
  })
}

const addFlags = (command: Command, spec: CommandSpec): void => {
  for (const flag of spec.flags ?? []) {
    command.addOption(optionOf(flag))
    if (command.options.some(({ long }) => flag.flags === long?.replace('--', '--no-')))
      forbidBoth(command, flag.flags.slice('--no-'.length))
  }
  for (const secret of spec.secrets ?? []) {
    command.option(`--${secret}-stdin`, `read the ${wordsOf(secret)} from standard input`)
    command.option(`--${secret}-file <path>`, `read the ${wordsOf(secret)} from a private file`)
  }
  if ((spec.secrets ?? []).length > 0) {
    command.option('--secrets-stdin', 'read one JSON object of secrets from standard input')
  }
}

/** Of a flag and its opposite commander would let the later one win. */
const forbidBoth = (command: Command, name: string): void => {
  const given = new Set<string>()
  for (const one of [name, `no-${name}`]) {
    command.on(`option:${one}`, () => {
      if (given.add(one).size > 1) command.error(`error: --${name} does not go with --no-${name}`)
    })
  }
}

const groupOf = (parent: Command, word: string, name: string): Command =>
  parent.commands.find(command => command.name() === word) ??
  parent
    .command(word)
    .description(groupSummaries[name] ?? '')
    .helpCommand(false)

const optionOf = ({ flags, summary, isRepeatable, choices }: CommandFlag): Option => {
  const option = new Option(flags, summary)
  if (choices !== undefined) option.choices([...choices])
  if (isRepeatable !== true) return option
  const parseOne = option.parseArg
  return option.argParser<string[]>((text, before) => {
    parseOne?.(text, undefined)
    return [...(Array.isArray(before) ? before : []), text]
  })
}

const flatten = (args: readonly unknown[]): readonly (string | undefined)[] =>
  args.flatMap(value => (Array.isArray(value) ? (value as string[]) : [value as string | undefined]))
