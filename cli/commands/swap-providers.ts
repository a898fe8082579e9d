import type { JsonObject, SwapConfigSnapshot, SwapPlugin } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { durationText } from '../output/times.ts'
import type { Cell, CellLike } from '../output/view.ts'
import { makeChange } from '../session/make-change.ts'
import { upload } from '../session/upload.ts'
import type { Session } from '../session.ts'
import { findProvider } from '../swap/find-provider.ts'
import { medianOf, type ProviderRecord, readProviderRecords } from '../swap/provider-record.ts'

/** Lists the providers of swaps: whether they are asked for quotes, and how they did on this device. */
export const swapProviders: CommandRun = async session => {
  const account = await session.account()
  const records = readProviderRecords(session.paths.session)
  const rows = (await session.swapPlugins()).map(plugin => ({
    plugin,
    config: account.swapConfig(plugin.id).getSnapshot(),
    record: records.get(plugin.id) ?? { durations: [] }
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
      empty: 'No provider of swaps is installed.'
    }
  }
}

/** Has a provider asked for quotes, on all devices. */
export const swapEnable: CommandRun = (session, text = '') => changeEnabled(session, text, true)

/** Keeps a provider from being asked, on all devices. */
export const swapDisable: CommandRun = (session, text = '') => changeEnabled(session, text, false)

const changeEnabled = async (session: Session, text: string, isEnabled: boolean): Promise<CommandResult> => {
  const { id, displayName } = await findProvider(session, text)
  const config = (await session.account()).swapConfig(id)
  const result = await makeChange(session, {
    doing: 'Changing the provider',
    done: `${displayName} ${isEnabled ? 'is asked for quotes' : 'is not asked for quotes any more'}`,
    data: { id, enabled: isEnabled },
    call: () => config.changeEnabled(isEnabled)
  })
  return session.globals.dryRun ? result : { ...result, warnings: await upload(session) }
}

interface ProviderRow {
  readonly plugin: SwapPlugin
  readonly config: SwapConfigSnapshot
  readonly record: ProviderRecord
}

const jsonOf = ({ plugin, config, record }: ProviderRow): JsonObject => ({
  id: plugin.id,
  name: plugin.displayName,
  type: plugin.isDex === true ? 'DEX' : 'CEX',
  enabled: config.isEnabled,
  needsActivation: config.needsActivation,
  supportEmail: plugin.supportEmail ?? null,
  medianMs: medianOf(record) ?? null,
  lastError: record.lastError ?? null
})

const cellsOf = ({ plugin, config, record }: ProviderRow): readonly CellLike[] => {
  const median = medianOf(record)
  return [
    plugin.id,
    plugin.displayName,
    plugin.isDex === true ? 'DEX' : 'CEX',
    stateCell(config),
    median === undefined ? '' : durationText(median),
    record.lastError ?? ''
  ]
}

const stateCell = ({ isEnabled, needsActivation }: SwapConfigSnapshot): Cell => {
  if (!isEnabled) return { text: 'off', tone: 'dim' }
  return needsActivation ? { text: 'needs settings', tone: 'warn' } : { text: 'on', tone: 'good' }
}
