import { resolve } from 'node:path'
import { Command, CommanderError, Option } from 'commander'
import { compact } from '../kernel/base/compact.ts'
import { commandSpecs, groupSummaries } from './commands/commands.ts'
import { CliError } from './errors/cli-error.ts'
import { globalFlags } from './grammar/options.ts'
import { camelOf, secretAdvice, secretOfFlag, wordsOf } from './secrets/secret-sources.ts'
import type { CommandFlag, CommandSpec } from './session/command.ts'
import type { OwnerProcess, Terminal } from './terminal/terminal.ts'

/** The meaning of a command line. */
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

/** Parses a command line. @throws CliError USAGE, SECRET_SOURCE, NOT_FOUND; never repeats a possible secret */
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
  if (parsed === undefined) throw new CliError('USAGE', 'This is not a command', NEXT)
  return parsed
}

/**
 * Resolves the paths of a command line against the working directory of another process, for which it runs (pure). Its
 * standard input and descriptors are those of that process, too.
 */
export const resolvePaths = (
  parsed: ParsedArguments,
  { owner }: Pick<Terminal, 'owner'>
): ParsedArguments => {
  if (parsed.kind !== 'run' || owner === undefined) return parsed
  const { spec, args, flags } = parsed
  const at = (path: string): string => pathIn(owner, path)
  const named = (spec.flags ?? []).flatMap(
    ({ flags: notation }) => /--([a-z-]+) <file>/.exec(notation)?.[1] ?? []
  )
  const secrets = (spec.secrets ?? []).map(secret => `${secret}-file`)
  const changed = [...named, ...secrets].map(camelOf).flatMap(name => {
    const path = flags[name]
    return typeof path === 'string' ? [[name, at(path)]] : []
  })
  const kinds = (spec.arguments ?? '').split(' ')
  return {
    ...parsed,
    flags: { ...flags, ...Object.fromEntries(changed) },
    args: args.map((text, index) =>
      text !== undefined && PATH_KINDS.has(kinds[index] ?? '') ? at(text) : text
    )
  }
}

/** The notations of arguments that are paths. */
const PATH_KINDS: ReadonlySet<string> = new Set(['<file>', '[recording]'])

const pathIn = ({ folder, processId }: OwnerProcess, path: string): string => {
  const descriptor = path === '/dev/stdin' ? '0' : /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path)?.[1]
  return descriptor === undefined ? resolve(folder, path) : `/proc/${processId}/fd/${descriptor}`
}

const NEXT = { next: [{ command: 'holdfast help', why: 'see the commands' }] }

/** Returns the help of a command or group; `exit-codes` is a command of its own. */
const helpFor = (
  program: Command,
  args: readonly (string | undefined)[],
  flags: Readonly<Record<string, unknown>>
): ParsedArguments => {
  const words = args.filter(word => word !== undefined)
  const spec = commandSpecs.find(({ name }) => name === 'help')
  if (spec !== undefined && (words.join(' ') === 'exit-codes' || flags.json === true))
    return { kind: 'run', spec, args: words, flags }
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

/** Options of {@link buildProgram}: the callbacks of the parser. */
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

/** Builds the commander program of all commands. Commander itself writes and ends nothing. */
const buildProgram = (options: ProgramOptions): Command => {
  const program = new Command('holdfast')
  // Subcommands copy both settings, so they come first (ecosystem 4.5).
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
    program.addOption(optionOf({ flags, summary, ...compact({ choices }) }))
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
const helpTextOf = (command: Command): string => command.helpInformation()

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
    command.option('--secrets-fd <n>', 'read it from an open descriptor, such as 3')
  }
}

/** Commander would let the later of a flag and its opposite win. */
const forbidBoth = (command: Command, name: string): void => {
  const given = new Set<string>()
  for (const one of [name, `no-${name}`]) {
    command.on(`option:${one}`, () => {
      if (given.add(one).size > 1) command.error(`error: use either --${name} or --no-${name}`)
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

/** Explains the error of a command line without repeating the value of an unknown flag: it may be a secret. */
const usageError = ({ code, message }: CommanderError, argv: readonly string[]): CliError => {
  const [sentence = '', suggestion] = message.replace(/^error: /, '').split('\n')
  const hint = suggestion?.replace(/^\(|\)$/g, '')
  const advice = {
    ...compact({ hint }),
    next: [{ command: helpCommand(argv), why: 'see its arguments and flags' }]
  }
  if (code === 'commander.unknownOption') {
    const [flag = ''] = /--?[^\s'=]+/.exec(sentence) ?? []
    const secret = secretOfFlag(flag)
    if (secret !== undefined) {
      return new CliError('SECRET_SOURCE', `There is no ${flag}: a command line never contains a secret`, {
        hint: secretAdvice(secret)
      })
    }
    return new CliError('USAGE', `Unknown option ${flag}`, advice)
  }
  if (code === 'commander.help')
    return new CliError('USAGE', 'This is a group of commands; name one of them', advice)
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
