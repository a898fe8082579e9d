import { pluginActions, type SwapProviderRow } from '../../../app/actions/plugins.ts'
import { swapActions } from '../../../app/actions/swaps.ts'
import { shellWord } from '../../../app/format/safe-text.ts'
import { durationText } from '../../../app/format/times.ts'
import type { Json, JsonObject } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parsePairs } from '../../grammar/options.ts'
import { secretJson, secretText } from '../../output/texts.ts'
import type { Cell, CellLike, CommandResult } from '../../output/view.ts'
import type { SecretName } from '../../secrets/secret-sources.ts'
import type { CommandRun } from '../../session/command.ts'
import { makeUploadedChange } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import { medianOf, type ProviderRecord, readProviderRecords } from '../../swap/provider-record.ts'
import { findProvider } from '../../swap/read-swap.ts'

/** Lists the swap providers: their state, and their record on this device. */
export const swapProviders: CommandRun = async session => {
  const account = await session.account()
  const records = readProviderRecords(session.paths.session)
  const { providers } = await session.run(pluginActions['swap.providers'], { accountId: account.id })
  const rows = providers.map(provider => ({
    provider,
    record: records.get(provider.pluginId) ?? { durations: [] }
  }))
  return {
    data: { providers: rows.map(jsonOf) },
    view: {
      kind: 'table',
      columns: [
        { title: 'ID' },
        { title: 'NAME', canShrink: true },
        { title: 'TYPE' },
        { title: 'STATE' },
        { title: 'MEDIAN', align: 'right' },
        { title: 'LAST ERROR', canShrink: true }
      ],
      rows: rows.map(cellsOf),
      empty: 'No swap provider is installed.'
    }
  }
}

/** Enables a swap provider, on all devices. */
export const swapEnable: CommandRun = (session, text = '') => changeEnabled(session, text, true)

/** Disables a swap provider, on all devices. */
export const swapDisable: CommandRun = (session, text = '') => changeEnabled(session, text, false)

const changeEnabled = async (session: Session, text: string, isEnabled: boolean): Promise<CommandResult> => {
  const { id, displayName } = await findProvider(session, text)
  const { id: accountId } = await session.account()
  return makeUploadedChange(session, {
    doing: 'Changing the provider',
    done: `${displayName} ${isEnabled ? 'is enabled' : 'is disabled'}`,
    data: { id, enabled: isEnabled },
    call: () => session.run(swapActions['swap.enable'], { accountId, pluginId: id, isEnabled })
  })
}

interface ProviderRow {
  readonly provider: SwapProviderRow
  readonly record: ProviderRecord
}

const jsonOf = ({ provider, record }: ProviderRow): JsonObject => ({
  id: provider.pluginId,
  name: provider.untrusted.displayName,
  type: provider.isDex ? 'DEX' : 'CEX',
  enabled: provider.isEnabled,
  needsActivation: provider.needsActivation,
  supportEmail: provider.untrusted.supportEmail ?? null,
  medianMs: medianOf(record) ?? null,
  lastError: record.lastError ?? null
})

const cellsOf = ({ provider, record }: ProviderRow): readonly CellLike[] => {
  const median = medianOf(record)
  return [
    provider.pluginId,
    provider.untrusted.displayName,
    provider.isDex ? 'DEX' : 'CEX',
    stateCell(provider),
    median === undefined ? '' : durationText(median),
    record.lastError ?? ''
  ]
}

const stateCell = ({ isEnabled, needsActivation }: SwapProviderRow): Cell => {
  if (!isEnabled) return { text: 'off', tone: 'dim' }
  return needsActivation ? { text: 'needs settings', tone: 'warn' } : { text: 'on', tone: 'good' }
}

/** Shows or changes the settings of a provider of swaps; a secret is typed hidden or comes from standard input or a private file. */
export const swapSettings: CommandRun = async (session, text = '') => {
  const plugin = await findProvider(session, text)
  const config = (await session.account()).swapConfig(plugin.id)
  const change = await changeOf(session, plugin.displayName)
  const { userSettings: before } = config.getSnapshot()
  if (change === undefined) return shown(session, plugin.id, before)
  const after = changed(before, change)
  const needsActivation = plugin.checkSettings?.(after).needsActivation === true
  return makeUploadedChange(session, {
    doing: 'Changing the settings',
    done: `${plugin.displayName}: ${needsActivation ? 'saved; the provider still needs more settings' : 'saved'}`,
    data: { id: plugin.id, needsActivation, settings: settingsJson(session, after) },
    call: () => config.changeUserSettings(after)
  })
}

interface SettingsChange {
  readonly set: Readonly<Record<string, string>>
  readonly unset: readonly string[]
}

/** Returns undefined without a change. @throws CliError SECRET_SOURCE, PROMPT_IMPOSSIBLE, INTERRUPTED, USAGE */
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
  const query = await promptAll(session, providerName)
  const unset = session.texts('unset')
  const all = { ...set, ...secrets, ...query }
  return unset.length === 0 && Object.keys(all).length === 0 ? undefined : { set: all, unset }
}

/** Returns the settings of `--ask`: fields of `--secrets-stdin`, or typed hidden. */
const promptAll = async (session: Session, providerName: string): Promise<Record<string, string>> => {
  const { secrets, commandLine } = session
  const found: Record<string, string> = Object.create(null)
  for (const name of session.texts('ask')) {
    // The plugin names its settings; their secrets come from the same sources as those of the grammar.
    const secret = name as SecretName
    const given = await secrets.given(secret)
    if (given === undefined && !secrets.canPrompt) {
      throw new CliError(
        'PROMPT_IMPOSSIBLE',
        `The setting ${name} is needed, but there is no terminal for a prompt`,
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
    found[name] = given ?? (await secrets.prompt(secret, { message: `${name} for ${providerName}:` }))
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
    empty: 'This provider has no settings.'
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

/** Plugins do not mark their secret settings, so the name decides. */
const isSecret = (name: string): boolean => /key|secret|token|password|passphrase|credential|auth/i.test(name)
