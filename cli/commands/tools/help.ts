import { compact } from '../../../kernel/base/compact.ts'
import type { JsonObject } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { exitCodeRows, PARTIAL } from '../../errors/failure.ts'
import { globalFlags } from '../../grammar/options.ts'
import type { CommandResult } from '../../output/view.ts'
import type { CommandCatalogue, CommandFlag, CommandRun, CommandSpec } from '../../session/command.ts'

/** Lists every exit code, or with `--json` describes the commands of a topic: all of them without one. */
export const helpOf =
  (catalogue: CommandCatalogue): CommandRun =>
  async (_, ...words) =>
    words.join(' ') === 'exit-codes' ? exitCodes() : describedCommands(catalogue, words.join(' '))

const describedCommands = ({ commands: all, groups }: CommandCatalogue, topic: string): CommandResult => {
  const isWithin = (name: string): boolean => topic === '' || name === topic || name.startsWith(`${topic} `)
  const commands = all.filter(({ name }) => isWithin(name))
  if (commands.length === 0) throw new CliError('NOT_FOUND', `There is no help about "${topic}"`)
  return {
    data: {
      commands: commands.map(commandJson),
      groups: Object.entries(groups).flatMap(([name, summary]) =>
        isWithin(name) ? [{ name, summary }] : []
      ),
      globalFlags: globalFlags.map(flagJson)
    },
    view: { kind: 'text', lines: commands.map(({ name, summary }) => `${name}: ${summary}`) }
  }
}

const commandJson = (spec: CommandSpec): JsonObject => ({
  name: spec.name,
  arguments: spec.arguments ?? '',
  summary: spec.summary,
  ...compact({ example: spec.example && `holdfast ${spec.example}` }),
  aliases: [...(spec.aliases ?? [])],
  flags: (spec.flags ?? []).map(flagJson),
  secrets: [...(spec.secrets ?? [])],
  runsUntilStopped: spec.isServer === true
})

const flagJson = ({ flags, summary, choices, isRepeatable = false }: CommandFlag): JsonObject => ({
  flags,
  summary,
  choices: [...(choices ?? [])],
  repeatable: isRepeatable
})

/** Lists every exit code with the error codes that lead to it. */
const exitCodes = (): CommandResult => {
  const rows = exitCodeRows()
  return {
    data: { exitCodes: rows.map(({ exitCode, codes }) => ({ exitCode, codes: [...codes] })) },
    view: {
      kind: 'table',
      columns: [{ title: 'EXIT CODE', align: 'right' }, { title: 'ERROR CODE' }],
      rows: rows.flatMap(({ exitCode, codes }) =>
        (codes.length === 0 ? [exitCode === PARTIAL ? '(a part failed)' : '(success)'] : codes).map(code => [
          String(exitCode),
          code
        ])
      ),
      empty: ''
    }
  }
}
