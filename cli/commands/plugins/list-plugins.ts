import type { JsonObject, PluginSnapshot } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CellLike } from '../../output/view.ts'
import { type AddedPlugin, readPluginList } from '../../plugins/plugin-list.ts'
import { isShippedId } from '../../profile/real-world.ts'
import type { CommandRun } from '../../session/command.ts'
import type { Session } from '../../session/session.ts'
import { addedJson, KERNEL_SIGNS, OWN_CODE_READS, optionsText } from './manage-plugins.ts'

/** A plugin of the profile, as far as it is known. */
interface ListedPlugin {
  readonly id: string
  readonly kind: string
  /** Undefined of one that is disabled. */
  readonly state: PluginSnapshot | undefined
  /** Undefined of one that ships, or stands in a config. */
  readonly added: AddedPlugin | undefined
  readonly isShipped: boolean
}

/** Lists the plugins of the profile with their states. */
export const pluginsList: CommandRun = async session => {
  const kind = session.text('kind')
  const found = await listedPlugins(session)
  const plugins = found.filter(plugin => kind === undefined || plugin.kind === kind)
  return {
    data: { plugins: plugins.map(listedJson) },
    view: {
      kind: 'table',
      columns: [
        { title: 'ID' },
        { title: 'KIND' },
        { title: 'STATE' },
        { title: 'RUNS' },
        { title: 'FROM', canShrink: true }
      ],
      rows: plugins.map(plugin => [
        plugin.id,
        plugin.kind,
        stateCell(plugin),
        placeOf(plugin),
        plugin.added?.source ?? (plugin.isShipped ? 'holdfast' : 'config')
      ]),
      empty: 'No plugin is of this kind.'
    },
    warnings: plugins.flatMap(({ id, state }) =>
      state?.state === 'failed' ? [`${id} failed: ${state.message ?? 'without a reason'}`] : []
    )
  }
}

/** Shows one plugin: where it is from, what it may do, and what is wrong with it. */
export const pluginsShow: CommandRun = async (session, id = '') => {
  const plugins = await listedPlugins(session)
  const plugin = plugins.find(each => each.id === id)
  if (plugin === undefined)
    throw new CliError('NOT_FOUND', `This profile has no plugin ${id}`, {
      next: [{ command: 'holdfast plugins list', why: 'see the ids' }]
    })
  const { added, state } = plugin
  const { mistake, message } = state ?? {}
  return {
    data: { plugin: listedJson(plugin) },
    view: {
      kind: 'record',
      fields: [
        ['id', { text: id, tone: 'strong' }],
        ['kind', plugin.kind],
        ['state', stateCell(plugin)],
        ['reason', message ?? ''],
        ['field', mistake?.field ?? ''],
        ['found', mistake?.found ?? ''],
        ['expected', mistake?.expected ?? ''],
        ['hint', mistake?.hint ?? ''],
        ['runs', placeOf(plugin)],
        ['keys', keysOf(plugin)],
        ['fetches from', added?.isContained === true ? added.hosts.join(', ') || 'no host' : ''],
        ['options', added === undefined ? '' : optionsText(added)],
        ['from', added?.source ?? (plugin.isShipped ? 'holdfast' : 'config')],
        ['version', added?.version ?? ''],
        ['sha512', added?.sha512.slice(0, 32) ?? ''],
        ['added', added?.added ?? '']
      ]
    }
  }
}

const listedPlugins = async (session: Session): Promise<readonly ListedPlugin[]> => {
  const { plugins: states } = await session.context()
  const { plugins: list } = readPluginList(session.paths)
  const addedOf = (id: string): AddedPlugin | undefined => list.find(each => each.id === id)
  const isOwn = ({ pluginId, kind }: PluginSnapshot): boolean =>
    // Those of the command line itself: its log and its storage.
    !(OWN.has(pluginId) || (kind === 'storage' && addedOf(pluginId) === undefined))
  const known = states.filter(isOwn).map(
    (state): ListedPlugin => ({
      ...{ id: state.pluginId, kind: state.kind ?? 'unknown', state, added: addedOf(state.pluginId) },
      isShipped: addedOf(state.pluginId) === undefined && isShippedId(state.pluginId)
    })
  )
  const off = list
    .filter(({ isEnabled }) => !isEnabled)
    .map((added): ListedPlugin => ({ ...added, state: undefined, added, isShipped: false }))
  return [...known, ...off]
}

const OWN: ReadonlySet<string> = new Set(['command-line-log', 'devtools', 'late-taps'])

const stateCell = ({ state }: ListedPlugin): CellLike => {
  if (state === undefined) return { text: 'disabled', tone: 'dim' }
  return state.state === 'applied' ? { text: 'applied', tone: 'good' } : { text: state.state, tone: 'bad' }
}

const placeOf = ({ added }: ListedPlugin): string =>
  added?.isContained === true ? 'in a cell' : 'in process'

const keysOf = (plugin: ListedPlugin): string => {
  const isOwnCode = !plugin.isShipped && plugin.added?.isContained !== true
  return `${givenKeys(plugin)}${isOwnCode ? OWN_CODE_READS : ''}`
}

const givenKeys = ({ kind, state, added }: ListedPlugin): string => {
  if (kind !== 'currency') return 'none'
  if (state?.currency?.isSignedByKernel ?? added?.seesKeys === false) return KERNEL_SIGNS
  const others = state?.needsKeysTo ?? []
  return ['those of its own wallets, to sign', ...others].join(', ')
}

const listedJson = (plugin: ListedPlugin): JsonObject => {
  const { id, kind, state, added, isShipped } = plugin
  const { message, mistake, errorCode } = state ?? {}
  return {
    ...{ id, kind, state: state?.state ?? 'disabled', shipped: isShipped },
    ...{ error: errorCode ?? null, reason: message ?? null },
    mistake: mistake === undefined ? null : { ...mistake },
    added: added === undefined ? null : addedJson(added)
  }
}
