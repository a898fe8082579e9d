import type { CommandResult } from '../output/view.ts'
import type { SecretName } from '../secrets/secret-sources.ts'
import type { Session } from './session.ts'

/** A flag of one command, in commander's notation: `--amount <amount>`. */
export interface CommandFlag {
  readonly flags: string
  readonly summary: string
  /** May be given several times. */
  readonly isRepeatable?: boolean
  readonly choices?: readonly string[]
}

/** What the grammar knows of a command, without loading it. */
export interface CommandSpec {
  /** One or more words: `tx list`. */
  readonly name: string
  /** Commander's notation: `<wallet> [amount]`. */
  readonly arguments?: string
  readonly summary: string
  /** How it is used, behind `holdfast`: `wallets list --all`. */
  readonly example?: string
  readonly flags?: readonly CommandFlag[]
  readonly secrets?: readonly SecretName[]
  readonly aliases?: readonly string[]
  /** Runs until it is stopped: Ctrl-C is its ordinary end. So does any command with `--watch`. */
  readonly isServer?: boolean
  /** The command itself, loaded when it is run. */
  load(): Promise<CommandRun>
}

/** Runs a command with its arguments, in the order of the grammar; gives nothing if it has printed already. */
export type CommandRun = (
  session: Session,
  ...args: readonly (string | undefined)[]
) => Promise<CommandResult | undefined>
