import type { JsonObject, Plugin } from '../kernel/plugin-api.ts'

/** What the default export of a `holdfast.config` may hold. */
export interface ProfileConfig {
  readonly plugins?: readonly Plugin[]
  /** By the id of the plugin, as the kernel takes them. */
  readonly pluginOptions?: Readonly<Record<string, JsonObject>>
}

/** What was looked for among the exports of a bundle, or why it is not there and what its author should write. */
export type FoundExport<T> =
  | { readonly value: T; readonly problem?: undefined }
  | { readonly problem: string; readonly hint: string }

type Exports = Readonly<Record<string, unknown>>

/**
 * Finds the plugin that a bundle exports, by default or as the only one; kind and info may come from a factory.
 *
 * @throws what the factory throws
 */
export const pluginIn = async ({ default: byDefault, ...others }: Exports): Promise<FoundExport<Plugin>> => {
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

/** Finds what a `holdfast.config` exports by default. @param path - of the file, for the sentence */
export const configIn = ({ default: config }: Exports, path: string): FoundExport<ProfileConfig> => {
  const hint = 'Write: export default { plugins: [myPlugin] }'
  const without = (expected: string): FoundExport<ProfileConfig> => ({
    problem: `${path} does not export ${expected}`,
    hint
  })
  if (!isObject(config)) return without('an object by default')
  const { plugins = [], pluginOptions = {} } = config
  if (!Array.isArray(plugins)) return without('a list in plugins')
  if (!isObject(pluginOptions) || !Object.values(pluginOptions).every(isObject))
    return without('an object for each plugin in pluginOptions')
  return { value: config as ProfileConfig }
}

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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
