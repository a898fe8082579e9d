import { shellWord } from '../../devtools/core/shell-word.ts'
import type { Json, JsonObject } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { parsePairs } from '../grammar/values.ts'
import { secretJson, secretText } from '../output/revealed.ts'
import type { SecretName } from '../secrets/secret-names.ts'
import { makeChange } from '../session/make-change.ts'
import { upload } from '../session/upload.ts'
import type { Session } from '../session.ts'
import { findProvider } from '../swap/find-provider.ts'

/** Shows or changes the settings of a provider of swaps; a secret is typed hidden or comes from standard input or a private file. */
export const swapSettings: CommandRun = async (session, text = '') => {
  const plugin = await findProvider(session, text)
  const config = (await session.account()).swapConfig(plugin.id)
  const change = await changeOf(session, plugin.displayName)
  const { userSettings: before } = config.getSnapshot()
  if (change === undefined) return shown(session, plugin.id, before)
  const after = changed(before, change)
  const needsActivation = plugin.checkSettings?.(after).needsActivation === true
  const result = await makeChange(session, {
    doing: 'Changing the settings',
    done: `${plugin.displayName}: ${needsActivation ? 'saved, and it still needs more settings' : 'saved'}`,
    data: { id: plugin.id, needsActivation, settings: settingsJson(session, after) },
    call: () => config.changeUserSettings(after)
  })
  return session.globals.dryRun ? result : { ...result, warnings: await upload(session) }
}

interface SettingsChange {
  readonly set: Readonly<Record<string, string>>
  readonly unset: readonly string[]
}

/** Undefined if nothing is to be changed. @throws CliError SECRET_SOURCE, PROMPT_IMPOSSIBLE, INTERRUPTED, USAGE */
const changeOf = async (session: Session, providerName: string): Promise<SettingsChange | undefined> => {
  const set = parsePairs(session.texts('set'), 'setting')
  const open = Object.keys(set).find(isSecret)
  if (open !== undefined) {
    throw new CliError(
      'SECRET_SOURCE',
      `"${open}" is a secret, and a secret never stands on the command line`,
      {
        hint: `Other programs can read a command line. Use --ask ${shellWord(open)}.`
      }
    )
  }
  const apiKey = await session.secrets.given('api-key')
  const secrets = apiKey === undefined ? {} : { apiKey }
  const asked = await askAll(session, providerName)
  const unset = session.texts('unset')
  const all = { ...set, ...secrets, ...asked }
  return unset.length === 0 && Object.keys(all).length === 0 ? undefined : { set: all, unset }
}

/** The settings of `--ask`: from the object of `--secrets-stdin`, where each is a field of its name, or typed hidden. */
const askAll = async (session: Session, providerName: string): Promise<Record<string, string>> => {
  const { secrets, commandLine } = session
  const found: Record<string, string> = Object.create(null)
  for (const name of session.texts('ask')) {
    // A setting is named by the plugin; its secret comes the way that the secrets of the grammar come.
    const secret = name as SecretName
    const given = await secrets.given(secret)
    if (given === undefined && !secrets.canAsk) {
      throw new CliError(
        'PROMPT_IMPOSSIBLE',
        `The setting ${name} is needed, and nobody can be asked for it`,
        {
          next: [
            {
              command: `${commandLine.replace(/ --[a-z-]+-stdin\b/g, '')} --secrets-stdin`,
              why: `give secrets as one JSON object, such as {"${name}": "…"}`
            }
          ]
        }
      )
    }
    found[name] = given ?? (await secrets.ask(secret, { message: `${name} for ${providerName}:` }))
  }
  return found
}

const changed = (before: JsonObject, { set, unset }: SettingsChange): JsonObject => {
  const rest = Object.entries({ ...before, ...set }).filter(([name]) => !unset.includes(name))
  return Object.fromEntries(rest)
}

const shown = (session: Session, id: string, settings: JsonObject) => ({
  data: { id, settings: settingsJson(session, settings) },
  view: {
    kind: 'table' as const,
    columns: [{ title: 'SETTING' }, { title: 'VALUE', canShrink: true }],
    rows: Object.entries(settings).map(([name, value]) => [
      name,
      isSecret(name) ? secretText(session, plainText(value)) : plainText(value)
    ]),
    empty: 'It has no settings of its own.'
  }
})

const settingsJson = (session: Session, settings: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      isSecret(name) ? secretJson(session, plainText(value)) : value
    ])
  )

const plainText = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null)

/** Plugins do not say which of their settings are secrets; what is called like one is treated as one. */
const isSecret = (name: string): boolean => /key|secret|token|password|passphrase|credential|auth/i.test(name)
