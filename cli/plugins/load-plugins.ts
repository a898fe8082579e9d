import { basename, dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { JsonObject, KernelOptions, Plugin } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { ProfilePaths } from '../profile/paths.ts'
import { isRecord } from '../profile/state-files.ts'
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

/** What the default export of a `holdfast.config` may hold. */
export interface ProfileConfig {
  readonly plugins?: readonly Plugin[]
  /** By the id of the plugin, as the kernel takes them. */
  readonly pluginOptions?: Readonly<Record<string, JsonObject>>
}

/** The plugins of a profile besides those that ship. */
export interface LoadedPlugins {
  readonly plugins: readonly Plugin[]
  readonly pluginOptions: NonNullable<KernelOptions['pluginOptions']>
}

/** What is looked for, and where. */
export interface LoadOptions {
  /** A folder whose `holdfast.config` is used besides that of the profile. */
  readonly configFolder?: string | undefined
}

/**
 * Loads the plugins that were added to a profile, and those of its config. One that cannot be loaded becomes a plugin that
 * fails with the reason, so that the kernel opens, and keeps and shows it as any other.
 */
export const loadPlugins = async (
  paths: ProfilePaths,
  { configFolder }: LoadOptions = {}
): Promise<LoadedPlugins> => {
  if (!hasPlugins(paths, configFolder)) return { plugins: [], pluginOptions: {} }
  const list = readPluginList(paths)
  const added = await Promise.all(
    list.plugins
      .filter(({ isEnabled }) => isEnabled)
      .map(plugin => loadAdded(paths, plugin).catch(error => failedPlugin(plugin, error)))
  )
  const configs = await Promise.all(
    configsOf(paths, configFolder).map(path => loadConfig(paths, list, path).catch(() => ({})))
  )
  return {
    plugins: [...added, ...configs.flatMap(({ plugins = [] }: ProfileConfig) => plugins)],
    pluginOptions: Object.assign({}, ...configs.map(({ pluginOptions = {} }: ProfileConfig) => pluginOptions))
  }
}

/** What keeps plugins of a profile from being loaded, in sentences for its owner. */
export const pluginProblems = (
  paths: ProfilePaths,
  { configFolder }: LoadOptions = {}
): readonly string[] => {
  if (!hasPlugins(paths, configFolder)) return []
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
const configsOf = (paths: ProfilePaths, folder: string | undefined): readonly string[] =>
  [paths.config, ...(folder === undefined ? [] : [folder])].flatMap(each => findConfig(each) ?? [])

const loadAdded = async (paths: ProfilePaths, added: AddedPlugin): Promise<Plugin> => {
  const plugin = await importPlugin(readBundle(paths, added).path)
  if (plugin.id === added.id && plugin.kind === added.kind) return plugin
  throw new CliError(
    'PLUGIN_REFUSED',
    `${added.source} is the plugin ${plugin.id} now, of the kind ${plugin.kind}`
  )
}

/** A plugin that the kernel keeps as failed, with the reason. */
const failedPlugin = ({ id, kind }: Pick<AddedPlugin, 'id' | 'kind'>, error: unknown): Plugin =>
  ({
    kind,
    id,
    get apply(): never {
      throw error
    }
  }) as unknown as Plugin

const loadConfig = async (paths: ProfilePaths, list: PluginList, path: string): Promise<ProfileConfig> =>
  importConfig(readBundle(paths, allowedConfig(paths, list, path)).path, path)

/** @throws CliError PLUGIN_REFUSED unless its owner has allowed a config as it is now */
const allowedConfig = (paths: ProfilePaths, { configs }: PluginList, path: string): AllowedConfig => {
  const allowed = configs.find(each => each.path === path)
  const [changed] = allowed === undefined ? [] : changedInputs(allowed)
  if (allowed !== undefined && changed === undefined) {
    readBundle(paths, allowed)
    return allowed
  }
  const reason = changed === undefined ? 'nobody has allowed it yet' : `${basename(changed)} has changed`
  const place = dirname(path) === paths.config ? '' : ` -C ${dirname(path)}`
  throw new CliError(
    'PLUGIN_REFUSED',
    `${reason}. It is code that runs in the process of the wallet: read it, then run holdfast plugins allow${place}`
  )
}

/** Imports the bundle of a config. @throws CliError PLUGIN_REFUSED if it is none, or what its code throws */
export const importConfig = async (bundle: string, path: string): Promise<ProfileConfig> => {
  const { default: config } = await importCode(bundle)
  const refuse = (expected: string): CliError =>
    new CliError('PLUGIN_REFUSED', `${path} does not export ${expected}`, {
      hint: 'Write: export default { plugins: [myPlugin] }'
    })
  if (!isRecord(config)) throw refuse('an object by default')
  const { plugins = [], pluginOptions = {} } = config
  if (!Array.isArray(plugins)) throw refuse('a list in plugins')
  if (!isRecord(pluginOptions) || !Object.values(pluginOptions).every(isRecord))
    throw refuse('an object for each plugin in pluginOptions')
  return config as ProfileConfig
}

/**
 * Imports the plugin that a bundle exports, by default or as the only one.
 *
 * @throws CliError PLUGIN_REFUSED if it exports none or several, or what its code throws
 */
export const importPlugin = async (bundle: string): Promise<Plugin> => {
  const exported = await importCode(bundle)
  const isPlugin = (value: unknown): boolean => isRecord(value) && 'kind' in value && 'apply' in value
  const found = isPlugin(exported.default) ? [exported.default] : Object.values(exported).filter(isPlugin)
  const [plugin, another] = found
  if (plugin !== undefined && another === undefined) return plugin as Plugin
  throw new CliError(
    'PLUGIN_REFUSED',
    plugin === undefined ? 'The file exports no plugin' : 'The file exports several plugins',
    { hint: 'Export it by default: an object with kind, id and apply.' }
  )
}

const importCode = (path: string): Promise<Readonly<Record<string, unknown>>> =>
  import(pathToFileURL(path).href)
