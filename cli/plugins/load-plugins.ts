import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  addedPluginOf,
  configOf,
  failedPlugin,
  joinOptions,
  type LoadTerms,
  loadConfigs,
  lostConfigs,
  missingPolicies,
  type ProfileConfig,
  pluginOf,
  storeRefusal,
  withGuard
} from '../../cells/bundle-exports.ts'
import type { Cells, CellsOptions } from '../../cells/node/open-cells.ts'
import type { CellFault, CellGrants } from '../../cells/platform.ts'
import {
  compact,
  type JsonObject,
  type KernelOptions,
  type LogLine,
  type Plugin
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { ProfilePaths } from '../profile/paths.ts'
import {
  type AddedPlugin,
  type AllowedConfig,
  changedInputs,
  findConfig,
  hasPlugins,
  type PluginList,
  readBundle,
  readPluginList
} from './plugin-list.ts'
import { MAX_MAP, sourcePlaces } from './source-places.ts'

/** The plugins of a profile besides those that ship. */
export interface LoadedPlugins {
  readonly plugins: readonly Plugin[]
  readonly pluginOptions: NonNullable<KernelOptions['pluginOptions']>
  /** Ends the cells of contained plugins; call it after the kernel is closed. */
  close(): void
}

/** Watches the calls into contained plugins while it has a function that notes one. */
export interface CallTracer {
  readonly noteCall: CellsOptions['onCall']
}

/** What is looked for, and where. */
export interface LoadOptions {
  /** A folder whose `holdfast.config` is used besides that of the profile. */
  readonly configFolder?: string | undefined
  /** Called with each line that contained plugins log, and with what becomes of their cells. */
  onLog?(line: LogLine): void
  /** Watches the calls into contained plugins. */
  readonly tracer?: CallTracer | undefined
  /** Milliseconds that code of one's own may take to load; 10 seconds if left out. */
  readonly loadMs?: number
}

/**
 * Loads the plugins that were added to a profile, and those of its config. One that cannot be loaded becomes a plugin that
 * fails with the reason, so that the kernel opens, and keeps and shows it as any other.
 */
export const loadPlugins = async (
  paths: ProfilePaths,
  { configFolder, onLog = () => {}, loadMs, tracer }: LoadOptions = {}
): Promise<LoadedPlugins> => {
  if (!hasPlugins(paths, configFolder)) return { plugins: [], pluginOptions: {}, close: () => {} }
  let list: PluginList
  try {
    list = readPluginList(paths)
  } catch (error) {
    return { plugins: [missingPolicies('plugins.json', error)], pluginOptions: {}, close: () => {} }
  }
  const { configs, guards, lost } = await configsFor(paths, list, { configFolder, loadMs })
  const hidden = hiddenConfigs(paths, list, configFolder).map(({ path }) =>
    missingPolicies(basename(path), 'another config in its folder takes its place')
  )
  const pluginOptions = withAdded(configs, list.plugins)
  const enabled = list.plugins.filter(({ isEnabled }) => isEnabled)
  const cells = enabled.some(({ isContained }) => isContained)
    ? await openPluginCells(onLog, tracer)
    : undefined
  const load = (added: AddedPlugin): Promise<Plugin> =>
    added.isContained && cells !== undefined
      ? loadContained(cells, paths, added, pluginOptions[added.id])
      : loadOwn(paths, added, loadMs)
  const added = await Promise.all(
    enabled.map(plugin => load(plugin).catch((error: unknown) => failedPlugin(plugin, error)))
  )
  return {
    plugins: withGuard(
      [...guards, ...hidden],
      [...lostConfigs(lost), ...added, ...configs.flatMap(({ plugins }) => plugins)]
    ),
    pluginOptions,
    close: () => cells?.close()
  }
}

/** Allowed configs with policies that are there, and that another file in the same folder keeps from being found. */
export const hiddenConfigs = (
  paths: ProfilePaths,
  { configs }: PluginList,
  folder: string | undefined
): readonly AllowedConfig[] => {
  const found = configsOf(paths, folder)
  const folders = found.map(path => dirname(path))
  return configs.filter(
    ({ path, hasPolicy }) =>
      hasPolicy && folders.includes(dirname(path)) && !found.includes(path) && existsSync(path)
  )
}

/** The configs that are allowed, and what refuses in place of policies in the others. */
const configsFor = (
  paths: ProfilePaths,
  list: PluginList,
  { configFolder, loadMs }: Pick<LoadOptions, 'configFolder'> & { readonly loadMs?: number | undefined }
): ReturnType<typeof loadConfigs> =>
  loadConfigs(
    configsOf(paths, configFolder).map(path => ({
      path,
      hasPolicy: list.configs.some(each => each.path === path && each.hasPolicy)
    })),
    async ({ path }) => importConfig(allowedConfig(paths, list, path).bundle, path, loadMs)
  )

/** The options of the configs and of the list; a config wins. */
const withAdded = (
  configs: readonly ProfileConfig[],
  plugins: readonly GivenOptions[]
): LoadedPlugins['pluginOptions'] =>
  joinOptions(
    configs,
    plugins.map(each => ({ id: each.id, options: optionsOf(each) }))
  )

/** What its owner gives a plugin, on the command line and in a file; undefined for none. */
export const optionsOf = ({ options, secretOptions }: GivenOptions): JsonObject | undefined =>
  (options ?? secretOptions) === undefined ? undefined : { ...options, ...secretOptions }

/** What an owner gives one plugin. */
type GivenOptions = Pick<AddedPlugin, 'id' | 'options' | 'secretOptions'>

/** The options of plugins, for one that is tried with those that it is given before it is added. */
export const optionsToTry = async (
  paths: ProfilePaths,
  { configFolder }: Pick<LoadOptions, 'configFolder'>,
  given: GivenOptions
): Promise<LoadedPlugins['pluginOptions']> =>
  withAdded((await configsFor(paths, readPluginList(paths), { configFolder })).configs, [given])

/** Opens the place for contained plugins; what they log goes to `onLog`. */
export const openPluginCells = async (
  onLog: (line: LogLine) => void,
  tracer?: CallTracer
): Promise<Cells> => {
  const { openCells } = await import('../../cells/node/open-cells.ts')
  const write =
    (level: LogLine['level']) =>
    (text: string, source = 'plugin'): void =>
      onLog({ source, level, text, at: new Date().toISOString() })
  const [debug, info, warn, error] = [write('debug'), write('info'), write('warn'), write('error')]
  return openCells({
    log: {
      debug: text => debug(text),
      info: text => info(text),
      warn: text => warn(text),
      error: text => error(text)
    },
    get onCall() {
      return tracer?.noteCall
    },
    onFault: ({ pluginId, reason, state }: CellFault) =>
      (state === 'running' ? info : error)(`${reason}${FAULT_ENDINGS[state]}`, pluginId)
  })
}

const FAULT_ENDINGS: Readonly<Record<CellFault['state'], string>> = {
  restarting: '; its cell is started again',
  running: '',
  stopped: '; its cell stays stopped until the wallet is started again'
}

/** What keeps plugins of a profile from being loaded, in sentences for its owner. */
export const pluginProblems = (
  paths: ProfilePaths,
  { configFolder }: LoadOptions = {}
): readonly string[] => {
  if (!hasPlugins(paths, configFolder)) return []
  const problem = problemOf(() => readPluginList(paths))
  if (problem !== undefined) return [`no plugin is loaded: ${problem}`]
  const list = readPluginList(paths)
  const damaged = list.plugins.flatMap(plugin => {
    if (!plugin.isEnabled) return []
    const problem = problemOf(() => readBundle(paths, plugin))
    return problem === undefined ? [] : [`the plugin ${plugin.id} is not loaded: ${problem}`]
  })
  const configs = configsOf(paths, configFolder).flatMap(path => {
    const problem = problemOf(() => allowedConfig(paths, list, path))
    return problem === undefined ? [] : [`${path} is not loaded: ${problem}`]
  })
  return [...damaged, ...configs]
}

const problemOf = (check: () => unknown): string | undefined => {
  try {
    check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The config of the profile, and that of the folder that a command names. */
export const configsOf = (paths: ProfilePaths, folder: string | undefined): readonly string[] =>
  [paths.config, ...(folder === undefined ? [] : [folder])].flatMap(each => findConfig(each) ?? [])

const loadContained = async (
  cells: Cells,
  paths: ProfilePaths,
  added: AddedPlugin,
  options: JsonObject = {}
): Promise<Plugin> => {
  const { code, path } = readBundle(paths, added)
  const placeOf = sourcePlaces(() => readMap(`${path}.map`))
  return cells.plugin({ id: added.id, code, sha512: added.sha512, asks: grantsOf(added), options, placeOf })
}

/** Reads a source map. @returns undefined without one, and for one that is longer than any */
const readMap = (path: string): string | undefined => {
  try {
    const file = openSync(path, 'r')
    try {
      const { size } = fstatSync(file)
      if (size > MAX_MAP) return undefined
      const bytes = Buffer.alloc(size)
      return bytes.toString('utf8', 0, readSync(file, bytes))
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

/** What a contained plugin may do. */
export const grantsOf = ({
  kind,
  hosts,
  seesKeys
}: Pick<AddedPlugin, 'hosts' | 'kind' | 'seesKeys'>): CellGrants => ({
  kind: kind as CellGrants['kind'],
  hosts,
  keys: seesKeys
})

const loadOwn = async (paths: ProfilePaths, added: AddedPlugin, loadMs?: number): Promise<Plugin> => {
  if (added.kind === 'storage') throw storeRefusal(added.id, TERMS)
  const exports = importCode(readBundle(paths, added))
  return addedPluginOf(exports, { ...added, name: added.source }, { ...TERMS, loadMs })
}

/** How the command line loads the code of plugins. */
export const TERMS: LoadTerms = {
  refuse: (problem, hint) => new CliError('PLUGIN_REFUSED', problem, compact({ hint })),
  keeper: 'the command line'
}

/** @throws CliError PLUGIN_REFUSED unless its owner has allowed a config as it is now */
export const allowedConfig = (
  paths: ProfilePaths,
  { configs }: PluginList,
  path: string
): { readonly bundle: CheckedCode } => {
  const allowed = configs.find(each => each.path === path)
  const [changed] = allowed === undefined ? [] : changedInputs(allowed)
  if (allowed !== undefined && changed === undefined) {
    return { bundle: readBundle(paths, allowed) }
  }
  const reason = changed === undefined ? 'nobody has allowed it yet' : `${basename(changed)} has changed`
  const profile = paths.name === 'default' ? '' : ` --profile ${paths.name}`
  const place = `${dirname(path) === paths.config ? '' : ` -C ${dirname(path)}`}${profile}`
  throw new CliError(
    'PLUGIN_REFUSED',
    `${reason}. It is code that runs in the process of the wallet: read it, then run holdfast plugins allow${place}`
  )
}

/**
 * Imports the bundle of a config.
 *
 * @throws CliError PLUGIN_REFUSED if it is none, or has not loaded after `loadMs`; what its code throws
 */
export const importConfig = (bundle: CheckedCode, path: string, loadMs?: number): Promise<ProfileConfig> =>
  configOf(importCode(bundle), path, { ...TERMS, loadMs })

/**
 * Imports the plugin that a bundle exports, by default or as the only one.
 *
 * @throws CliError PLUGIN_REFUSED if it exports none or several, or has not loaded after `loadMs`; what its code throws
 */
export const importPlugin = (bundle: CheckedCode, loadMs?: number): Promise<Plugin> =>
  pluginOf(importCode(bundle), { ...TERMS, loadMs })

/** The text of a bundle whose hash was compared, and the file that it is from. */
interface CheckedCode {
  readonly code: string
  readonly path: string
}

/** Runs exactly the text that was checked: the file may have changed since. */
const importCode = (bundle: CheckedCode): Promise<Readonly<Record<string, unknown>>> =>
  import(`data:text/javascript;base64,${Buffer.from(placedCode(bundle)).toString('base64')}`)

/** The text of a bundle with its place, which a text alone does not have: errors and `import.meta.url` name the file. */
export const placedCode = ({ code, path }: CheckedCode): string => {
  const { href } = pathToFileURL(path)
  const placed = code
    .replaceAll('import.meta.url', JSON.stringify(href))
    .replace(/^\/\/# sourceMappingURL=.*$/m, `//# sourceMappingURL=${href}.map`)
  return `${placed}\n//# sourceURL=${href}`
}
