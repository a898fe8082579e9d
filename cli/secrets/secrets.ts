import { type Advice, CliError } from '../errors/cli-error.ts'
import { canPrompt, type Terminal } from '../terminal/terminal.ts'
import { promptSecret, type SecretQuestion } from './prompt.ts'
import { readSecrets, type SecretFlags, type SecretName, wordsOf } from './secret-sources.ts'

/** Options of {@link makeSecrets}. */
export interface SecretsOptions {
  readonly terminal: Terminal
  readonly flags: SecretFlags
  /** False: no prompts. */
  readonly mayPrompt: boolean
  /** The command as typed, for the advice how to give the secret. */
  readonly commandLine: string
}

/** The secrets of a command: from standard input or a file if flags name one, else from a prompt. */
export interface Secrets {
  /** A secret that came by a flag. */
  given(name: SecretName): Promise<string | undefined>
  /** True if {@link ask} can prompt. */
  readonly canPrompt: boolean
  /** Prompts on the terminal. @throws CliError INTERRUPTED; {@link promptImpossible} without a terminal */
  prompt(name: SecretName, question: SecretQuestion): Promise<string>
  /** The PROMPT_IMPOSSIBLE error with the commands to run instead; any one of the secrets would do. */
  promptImpossible(...names: readonly SecretName[]): CliError
}

/** Makes the secrets of one command; flags are read once, when first needed. */
export const makeSecrets = ({ terminal, flags, mayPrompt, commandLine }: SecretsOptions): Secrets => {
  let read: Promise<ReadonlyMap<SecretName, string>> | undefined
  const isAskable = mayPrompt && canPrompt(terminal)
  const promptImpossible = (...names: readonly SecretName[]): CliError =>
    new CliError(
      'PROMPT_IMPOSSIBLE',
      `The ${names.map(wordsOf).join(' or ')} is needed, but there is no terminal for a prompt`,
      secretsAdvice(names, commandLine)
    )
  return {
    canPrompt: isAskable,
    promptImpossible,
    async given(name) {
      read ??= readSecrets(flags, terminal)
      return (await read).get(name)
    },
    async prompt(name, question) {
      if (!isAskable) throw promptImpossible(name)
      return promptSecret(terminal, question)
    }
  }
}

/** Returns the commands that give a secret; if standard input is used already, it has to carry all of them. */
const secretsAdvice = (names: readonly SecretName[], commandLine: string): Advice => {
  const bare = commandLine.replace(/ --[a-z-]+-stdin\b/g, '')
  const asObject = {
    command: `${bare} --secrets-stdin`,
    why: `give secrets as one JSON object, such as {"${names[0]}": "…"}`
  }
  if (bare !== commandLine) return { next: [asObject] }
  return {
    next: [
      ...names.map(name => ({
        command: `${commandLine} --${name}-stdin`,
        why: `give the ${wordsOf(name)} on standard input`
      })),
      asObject
    ]
  }
}
