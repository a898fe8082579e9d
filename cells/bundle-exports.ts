import type { JsonObject, Plugin } from '../kernel/plugin-api.ts'

/** What a `holdfast.config` brings, with the plugins that it only gave promises of or functions for. */
export interface ProfileConfig {
  readonly plugins: readonly Plugin[]
  /** By the id of the plugin, as the kernel takes them. */
  readonly pluginOptions: Readonly<Record<string, JsonObject>>
}

type Exports = Readonly<Record<string, unknown>>

/** How a program words what it refuses to load, and how long it waits. */
export interface LoadTerms {
  /** Makes the error for a problem, and what its author should write instead. */
  refuse(problem: string, hint?: string): Error
  /** Who keeps its files itself, so that a store has no use: `the command line` or `this page`. */
  readonly keeper: string
  /** Milliseconds that code may take to load; 10 seconds if left out. */
  readonly loadMs?: number | undefined
}

/**
 * Waits for the plugin that a bundle exports, by default or as the only one.
 *
 * @throws what `refuse` makes if it exports none or several, or has not loaded in time; what its code throws
 */
export const pluginOf = async (exports: Promise<Exports>, terms: LoadTerms): Promise<Plugin> =>
  requireFound(await inTime(exports.then(pluginIn), terms), terms)

/**
 * Waits for a plugin that was added to a profile, for its own code.
 *
 * @param name - of its code, for the sentence of one that has become another
 * @throws as {@link pluginOf}, and what `refuse` makes for another plugin than was added
 */
export const addedPluginOf = async (
  exports: Promise<Exports>,
  { id, kind, name }: Pick<Plugin, 'id'> & { readonly kind: string; readonly name: string },
  terms: LoadTerms
): Promise<Plugin> => {
  const plugin = await pluginOf(exports, terms)
  if (plugin.id === id && plugin.kind === kind) return plugin
  throw terms.refuse(`${name} is the plugin ${plugin.id} now, of the kind ${plugin.kind}`)
}

/**
 * Waits for what a `holdfast.config` exports, and for the plugins that its functions make: whether one is a policy must be known.
 * A store among them has failed, since it would be kept and never used.
 *
 * @param path - of the file, for the sentence
 * @throws what `refuse` makes if it is none, or has not loaded in time; what its code throws
 */
export const configOf = (exports: Promise<Exports>, path: string, terms: LoadTerms): Promise<ProfileConfig> =>
  inTime(
    exports.then(async found => {
      const { plugins, pluginOptions } = requireFound(configIn(found, path), terms)
      const made = await Promise.all(plugins.map(each => (typeof each === 'function' ? each() : each)))
      const at = made.findIndex(each => typeof each !== 'object' || each === null)
      if (at >= 0)
        throw terms.refuse(`plugins[${at}] of ${path} is ${textOf(made[at])}, and must be a plugin`, HINT)
      return { plugins: (made as readonly Plugin[]).map(each => withoutStore(each, terms)), pluginOptions }
    }),
    terms
  )

const withoutStore = (plugin: Plugin, terms: LoadTerms): Plugin =>
  plugin.kind === 'storage' ? failedPlugin(plugin, storeRefusal(plugin.id, terms)) : plugin

/** The refusal of a storage plugin, which would be kept and never used. */
export const storeRefusal = (id: string, { refuse, keeper }: LoadTerms): Error =>
  refuse(
    `The plugin ${id} is a store, and ${keeper} keeps its files in its own`,
    'A storage plugin is part of an application, which gives it to createKernel.'
  )

/** The configs of a profile that could be loaded, and what became of the others. */
export interface LoadedConfigs<Config> {
  readonly configs: readonly ProfileConfig[]
  /** What refuses in place of the policies of a config. */
  readonly guards: readonly Plugin[]
  /** Those without a policy that could not be loaded. */
  readonly lost: readonly { readonly config: Config; readonly error: unknown }[]
}

/** In place of the plugins of configs that could not be loaded, and that had no policy: plugins that have failed with the reason. */
export const lostConfigs = (lost: LoadedConfigs<unknown>['lost']): readonly Plugin[] =>
  lost.map(({ error }, at) =>
    failedPlugin({ kind: 'observer', id: at === 0 ? 'holdfast-config' : `holdfast-config-${at + 1}` }, error)
  )

/** Loads the configs of a profile. While one with policies cannot be loaded, nothing is signed. */
export const loadConfigs = async <Config extends { readonly path: string; readonly hasPolicy: boolean }>(
  found: readonly Config[],
  load: (config: Config) => Promise<ProfileConfig>
): Promise<LoadedConfigs<Config>> => {
  const configs: ProfileConfig[] = []
  const guards: Plugin[] = []
  const lost: { readonly config: Config; readonly error: unknown }[] = []
  const outcomes = await Promise.allSettled(found.map(load))
  for (const [at, config] of found.entries()) {
    const outcome = outcomes[at]
    if (outcome?.status === 'fulfilled') configs.push(outcome.value)
    else if (config.hasPolicy) guards.push(missingPolicies(fileIn(config.path), outcome?.reason))
    else lost.push({ config, error: outcome?.reason })
  }
  return { configs, guards, lost }
}

/** Puts what refuses before the plugins of others, so that none of them can have its id. */
export const withGuard = (guards: readonly Plugin[], plugins: readonly Plugin[]): readonly Plugin[] => [
  ...guards.slice(0, 1),
  ...plugins
]

/** The name of a file, of a path on any system. */
export const fileIn = (path: string): string => path.split(/[\\/]/).at(-1) ?? path

/** Joins the options of configs and of added plugins, by the ids of plugins; what a config says wins. */
export const joinOptions = (
  configs: readonly ProfileConfig[],
  added: readonly { readonly id: string; readonly options?: JsonObject | undefined }[]
): Record<string, JsonObject> => {
  const joined: Record<string, JsonObject> = Object.assign({}, ...configs.map(each => each.pluginOptions))
  for (const { id, options } of added) if (options !== undefined) joined[id] = { ...options, ...joined[id] }
  return joined
}

/** A plugin that the kernel keeps as failed, with the reason. */
export const failedPlugin = (
  { id, kind }: Pick<Plugin, 'id'> & { readonly kind: string },
  error: unknown
): Plugin =>
  ({
    kind,
    id,
    get apply(): never {
      throw error
    }
  }) as unknown as Plugin

/** In place of policies that could not be loaded: while a policy has failed, the kernel signs nothing. */
export const missingPolicies = (source: string, error: unknown): Plugin =>
  failedPlugin(
    { kind: 'policy', id: 'missing-policies' },
    new Error(`${source}: ${error instanceof Error ? error.message : String(error)}`)
  )

/** What was looked for among the exports of a bundle, or why it is not there and what its author should write. */
type FoundExport<T> =
  | { readonly value: T; readonly problem?: undefined }
  | { readonly problem: string; readonly hint: string }

/**
 * Finds the plugin that a bundle exports, by default or as the only one; kind and info may come from a factory.
 *
 * @throws what the factory throws
 */
const pluginIn = async ({ default: byDefault, ...others }: Exports): Promise<FoundExport<Plugin>> => {
  const [sole, ...more] = Object.values(others)
  const given = byDefault ?? (more.length === 0 && typeof sole === 'function' ? sole : undefined)
  const made: unknown = await (typeof given === 'function' ? given() : given)
  const isPlugin = (value: unknown): value is Plugin => isObject(value) && 'kind' in value && 'apply' in value
  const [plugin, another] = isPlugin(made) ? [made] : Object.values(others).filter(isPlugin)
  if (plugin !== undefined && another === undefined) return { value: plugin }
  return {
    problem: plugin === undefined ? 'The file exports no plugin' : 'The file exports several plugins',
    hint: 'Export it by default: an object with kind, id and apply.'
  }
}

/** What the default export of a `holdfast.config` may hold. */
interface ExportedConfig {
  readonly plugins: readonly unknown[]
  readonly pluginOptions: Readonly<Record<string, JsonObject>>
}

/** Finds what a `holdfast.config` exports by default. @param path - of the file, for the sentence */
const configIn = ({ default: config }: Exports, path: string): FoundExport<ExportedConfig> => {
  const without = (expected: string): FoundExport<ExportedConfig> => ({
    problem: `${path} does not export ${expected}`,
    hint: HINT
  })
  if (!isObject(config)) return without('an object by default')
  const { plugins = [], pluginOptions = {}, ...others } = config
  const [other] = Object.keys(others)
  if (other !== undefined)
    return { problem: `${path} exports ${other}, and may have plugins and pluginOptions`, hint: HINT }
  if (!Array.isArray(plugins)) return without('a list in plugins')
  if (!isObject(pluginOptions) || !Object.values(pluginOptions).every(isObject))
    return without('an object for each plugin in pluginOptions')
  return { value: { plugins, pluginOptions: pluginOptions as ExportedConfig['pluginOptions'] } }
}

const HINT = 'Write: export default { plugins: [myPlugin] }'

const textOf = (value: unknown): string =>
  value === undefined ? 'missing' : value === null ? 'null' : `a ${typeof value}`

const requireFound = <T>(found: FoundExport<T>, { refuse }: LoadTerms): T => {
  if (found.problem === undefined) return found.value
  throw refuse(found.problem, found.hint)
}

/** Waits for code that may never settle. */
const inTime = async <T>(loading: Promise<T>, { refuse, loadMs = 10_000 }: LoadTerms): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(refuse(`It has not loaded after ${loadMs / 1000} s`)), loadMs)
  })
  try {
    return await Promise.race([loading, late])
  } finally {
    clearTimeout(timer)
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
