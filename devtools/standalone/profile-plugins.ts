import { openPageCells } from '../../cells/browser/open-page-cells.ts'
import type { CellSet } from '../../cells/make-cells.ts'
import type { CellGrants } from '../../cells/platform.ts'
import { type EngineLog, type JsonObject, type Plugin, parseJsonText } from '../../kernel/index.ts'

/** A plugin of a profile, as the development server gives it. */
export interface ServedPlugin {
  readonly id: string
  readonly kind: string
  readonly hosts: readonly string[]
  readonly seesKeys: boolean
  readonly sha512: string
  readonly code: string
  /** What its owner gives it, but for what stands in a file. */
  readonly options: JsonObject
  /** Why there is no code; empty if there is. */
  readonly problem: string
}

/** The plugins of a profile, with their options by their ids. */
export interface ProfilePlugins {
  readonly plugins: readonly Plugin[]
  readonly pluginOptions: Readonly<Record<string, JsonObject>>
}

/**
 * Loads the plugins of a profile into cells of this page. One that cannot be loaded becomes a plugin that fails with the
 * reason, as in the command line.
 */
export const loadProfilePlugins = async (): Promise<ProfilePlugins> => {
  const reply = await fetch('/profile-plugins.json')
  const served = readServed(await reply.text())
  const pluginOptions = Object.fromEntries(served.map(({ id, options }) => [id, options]))
  if (served.length === 0) return { plugins: [], pluginOptions }
  const cells = openPageCells({
    ...{ frame: '/cell-frame.html', log, onFault: silent }
  })
  const plugins = await Promise.all(
    served.map(each => load(cells, each).catch(error => failedPlugin(each, error)))
  )
  return { plugins, pluginOptions }
}

/** @throws Error for what is no list of plugins */
const readServed = (text: string): readonly ServedPlugin[] => {
  const list = parseJsonText(text, { maxDepth: 20, maxValues: 100_000 })
  if (Array.isArray(list) && list.every(isServed)) return list
  throw new Error('The development server gives no list of plugins')
}

const isServed = (value: unknown): value is ServedPlugin => {
  const { hosts, seesKeys, options, ...texts } = (value ?? {}) as Partial<ServedPlugin>
  return (
    ['id', 'kind', 'sha512', 'code', 'problem'].every(
      name => typeof texts[name as keyof typeof texts] === 'string'
    ) &&
    typeof seesKeys === 'boolean' &&
    typeof options === 'object' &&
    options !== null &&
    !Array.isArray(options) &&
    Array.isArray(hosts) &&
    hosts.every(host => typeof host === 'string')
  )
}

// A call that fails says why itself, and nothing follows a log before there is a kernel.
const silent = (): void => {}
const log: EngineLog = { debug: silent, info: silent, warn: silent, error: silent }

const load = async (
  cells: CellSet,
  { id, kind, hosts, seesKeys, sha512, code, options, problem }: ServedPlugin
): Promise<Plugin> => {
  if (problem !== '') throw new Error(problem)
  const asks: CellGrants = { kind: kind as CellGrants['kind'], hosts, keys: seesKeys }
  return cells.plugin({ id, code, sha512, asks, options })
}

const failedPlugin = ({ id, kind }: ServedPlugin, error: unknown): Plugin =>
  ({
    ...{ kind, id },
    get apply(): never {
      throw error
    }
  }) as unknown as Plugin
