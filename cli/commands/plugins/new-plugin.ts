import { relative, resolve } from 'node:path'
import { shellWord } from '../../../app/format/safe-text.ts'
import type { Plugin } from '../../../kernel/index.ts'
import { defaultPlugins } from '../../../plugins/default-plugins.ts'
import { CliError } from '../../errors/cli-error.ts'
import { type PluginTemplate, planProject, pluginTemplates } from '../../plugins/new-project.ts'
import { promptChoice, promptText } from '../../secrets/prompt.ts'
import type { CommandRun } from '../../session/command.ts'
import type { Session } from '../../session/session.ts'
import { canPrompt } from '../../terminal/terminal.ts'

/** Makes the project of a plugin in a new folder. It asks for what is missing, on a terminal only. */
export const pluginsNew: CommandRun = async (session, given) => {
  const id = checkName(given ?? (await promptName(session)))
  const template = await templateOf(session)
  const folder = resolve(id)
  const { dryRun } = session.globals
  const options = { id, template, folder, overwrites: session.isOn('overwrite') }
  const project = planProject(options)
  if (!dryRun) project.write()
  const shown = relative(process.cwd(), folder)
  return {
    data: { id, kind: template.kind, template: template.name, folder, files: [...project.paths], dryRun },
    view: {
      kind: 'record',
      fields: [
        ['id', { text: id, tone: 'strong' }],
        ['kind', template.kind],
        ['template', template.name],
        ['folder', folder],
        ['files', project.paths.join(', ')]
      ]
    },
    advice: dryRun
      ? ['Nothing was written (--dry-run)']
      : [
          `Install and test it: cd ${shellWord(shown)} && npm install && npm test`,
          template.kind === 'storage'
            ? 'Use it in an application: README.md says how'
            : 'Add it to the wallet: holdfast plugins add .'
        ]
  }
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

const checkName = (name: string): string => {
  if (!NAME.test(name))
    throw new CliError(
      'USAGE',
      'The name of a plugin has 1 to 64 letters, digits, - and _, and begins with a letter',
      {
        hint: 'It becomes the id of the plugin and the name of the folder, such as my-rates.'
      }
    )
  if (defaultPlugins.some(plugin => plugin.id === name))
    throw new CliError('USAGE', `The id ${name} is that of a plugin that ships with holdfast`, {
      hint: 'Give the plugin an id of its own.'
    })
  return name
}

const mayPrompt = ({ terminal, globals }: Session): boolean =>
  globals.input && !globals.yes && canPrompt(terminal)

const promptName = async (session: Session): Promise<string> => {
  if (mayPrompt(session)) return (await promptText(session.terminal, 'Name of the plugin:')).trim()
  throw new CliError('USAGE', 'The name of the plugin is missing', {
    next: [{ command: 'holdfast plugins new my-rates --kind rates', why: 'name it' }]
  })
}

/** The template that the flags name, or that is chosen; the first of a kind where nobody can be asked. */
const templateOf = async (session: Session): Promise<PluginTemplate> => {
  const [kind, name] = [session.text('kind'), session.text('template')]
  if (name !== undefined) {
    const found = pluginTemplates.find(each => each.name === name)
    if (found !== undefined && (kind === undefined || kind === found.kind)) return found
    const names = pluginTemplates.filter(each => each.kind === (kind ?? each.kind)).map(each => each.name)
    throw new CliError('USAGE', `${kind ?? 'No kind'} has no template ${name}`, {
      hint: `Use one of: ${names.join(', ')}.`
    })
  }
  const chosen = kind ?? (await promptKind(session))
  const found = pluginTemplates.filter(each => each.kind === chosen)
  const [usual, ...others] = found
  if (usual === undefined) throw new CliError('USAGE', `There is no template for the kind ${chosen}`)
  if (others.length === 0 || !mayPrompt(session)) return usual
  const choices = found.map(each => ({ text: `${each.name}: ${each.summary}`, value: each.name }))
  const value = await promptChoice(session.terminal, 'Which one?', choices)
  return found.find(each => each.name === value) ?? usual
}

const promptKind = (session: Session): Promise<string> => {
  const kinds = [...new Set(pluginTemplates.map(({ kind }) => kind))]
  if (!mayPrompt(session))
    throw new CliError('USAGE', 'The kind of the plugin is missing', {
      hint: `Name it with --kind: ${kinds.join(', ')}.`
    })
  const choices = kinds.map(kind => ({ text: `${kind}: ${KINDS[kind]}`, value: kind }))
  return promptChoice(session.terminal, 'What kind of plugin?', choices)
}

const KINDS: Readonly<Record<Plugin['kind'], string>> = {
  currency: 'keys, addresses, history and payments of one currency',
  swap: 'quotes of an exchange',
  rates: 'prices',
  storage: 'where an application keeps the files of a wallet',
  policy: 'a rule that may refuse payments',
  observer: 'sees what happens, and changes nothing'
}
