import { openPageCells } from '../../cells/browser/open-page-cells.ts'
import type { CellSet } from '../../cells/make-cells.ts'
import type { CellGrants } from '../../cells/platform.ts'
import { type EngineLog, type Plugin, parseJsonText } from '../../kernel/index.ts'

/** A plugin of a profile, as the development server gives it. */
export interface ServedPlugin {
  readonly id: string
  readonly kind: string
  readonly hosts: readonly string[]
  readonly seesKeys: boolean
  readonly sha512: string
  readonly code: string
  /** Why there is no code; empty if there is. */
  readonly problem: string
}

/**
 * Loads the plugins of a profile into cells of this page. One that cannot be loaded becomes a plugin that fails with the
 * reason, as in the command line.
 */
export const loadProfilePlugins = async (): Promise<readonly Plugin[]> => {
  const reply = await fetch('/profile-plugins.json')
  const served = readServed(await reply.text())
  if (served.length === 0) return []
  const cells = openPageCells({
    ...{ frame: '/cell-frame.html', log, onFault: silent }
  })
  return Promise.all(served.map(each => load(cells, each).catch(error => failedPlugin(each, error))))
}

/** @throws Error for what is no list of plugins */
const readServed = (text: string): readonly ServedPlugin[] => {
  const list = parseJsonText(text, { maxDepth: 4, maxValues: 100_000 })
  if (Array.isArray(list) && list.every(isServed)) return list
  throw new Error('The development server gives no list of plugins')
}

const isServed = (value: unknown): value is ServedPlugin => {
  const { hosts, seesKeys, ...texts } = (value ?? {}) as Partial<ServedPlugin>
  return (
    ['id', 'kind', 'sha512', 'code', 'problem'].every(
      name => typeof texts[name as keyof typeof texts] === 'string'
    ) &&
    typeof seesKeys === 'boolean' &&
    Array.isArray(hosts) &&
    hosts.every(host => typeof host === 'string')
  )
}

// A call that fails says why itself, and nothing follows a log before there is a kernel.
const silent = (): void => {}
const log: EngineLog = { debug: silent, info: silent, warn: silent, error: silent }

const load = async (
  cells: CellSet,
  { id, kind, hosts, seesKeys, sha512, code, problem }: ServedPlugin
): Promise<Plugin> => {
  if (problem !== '') throw new Error(problem)
  const asks: CellGrants = { kind: kind as CellGrants['kind'], hosts, keys: seesKeys }
  return cells.plugin({ id, code, sha512, asks })
}

const failedPlugin = ({ id, kind }: ServedPlugin, error: unknown): Plugin =>
  ({
    ...{ kind, id },
    get apply(): never {
      throw error
    }
  }) as unknown as Plugin
