import type { CommandResult } from '../output/view.ts'
import type { SecretName } from '../secrets/secret-sources.ts'
import type { Session } from './session.ts'

/** A flag of one command, in commander's notation: `--amount <amount>`. */
export interface CommandFlag {
  readonly flags: string
  readonly summary: string
  /** True if it can be given several times. */
  readonly isRepeatable?: boolean
  readonly choices?: readonly string[]
}

/** The grammar of a command; its code is loaded when it runs. */
export interface CommandSpec {
  /** One or more words: `tx list`. */
  readonly name: string
  /** Commander's notation: `<wallet> [amount]`. */
  readonly arguments?: string
  readonly summary: string
  /** An example, without `holdfast`: `wallets list --all`. */
  readonly example?: string
  readonly flags?: readonly CommandFlag[]
  readonly secrets?: readonly SecretName[]
  readonly aliases?: readonly string[]
  /** Runs until it is stopped: Ctrl-C is its regular end, as of every command with `--watch`. */
  readonly isServer?: boolean
  /** Changes and sends nothing, so that an error may replace its result: one about `--fields`. */
  readonly readsOnly?: boolean
  /** Runs only after a login of its own, also in an agent whose account is open: it changes who can get in. */
  readonly needsNewLogin?: boolean
  /** Needs no kernel of the profile, so that it never runs in the agent. */
  readonly runsAlone?: boolean
  /** Works with an agent that runs, and starts none. */
  readonly startsNoAgent?: boolean
  /** The command itself, loaded when it is run. */
  load(): Promise<CommandRun>
}

/** True for a command that can open an account: an agent is started for it. */
export const startsAgent = ({ secrets = [], startsNoAgent, runsAlone }: CommandSpec): boolean =>
  secrets.length > 0 && startsNoAgent !== true && runsAlone !== true

/** What the words of a command line can be, for a check that needs no parser. */
export interface CommandShape {
  readonly name: string
  readonly least: number
  readonly most: number
  /** Flags without a value. */
  readonly bare: readonly string[]
  /** Flags with one. */
  readonly valued: readonly string[]
}

/** The shape of a command. A flag whose value the parser judges is left out. */
export const shapeOf = ({
  name,
  arguments: notation = '',
  flags = [],
  secrets = []
}: CommandSpec): CommandShape => {
  const args = notation.split(' ').filter(word => word !== '')
  const named = flags.filter(({ choices }) => choices === undefined).map(each => each.flags)
  const ofSecrets = secrets.flatMap(secret => [`--${secret}-stdin`, `--${secret}-file <path>`])
  const all = [...named, ...ofSecrets, ...(secrets.length > 0 ? ['--secrets-stdin', '--secrets-fd <n>'] : [])]
  return {
    name,
    least: args.filter(word => word.startsWith('<')).length,
    most: args.some(word => word.includes('...')) ? Number.MAX_SAFE_INTEGER : args.length,
    bare: all.filter(each => !/[<[]/.test(each)).flatMap(namesOf),
    valued: all.filter(each => each.includes('<')).flatMap(namesOf)
  }
}

const namesOf = (notation: string): readonly string[] => notation.match(/(?<![\w-])--?[a-z][a-z0-9-]*/g) ?? []

/** Runs a command with its arguments in the order of the grammar; returns undefined if it has printed its result. */
export type CommandRun = (
  session: Session,
  ...args: readonly (string | undefined)[]
) => Promise<CommandResult | undefined>

/** All commands, with the sentences for their groups. */
export interface CommandCatalogue {
  readonly commands: readonly CommandSpec[]
  readonly groups: Readonly<Record<string, string>>
}
