/// <reference lib="dom" />

import { openPageCells } from '../../cells/browser/open-page-cells.ts'
import {
  addedPluginOf,
  configOf,
  failedPlugin,
  fileIn,
  joinOptions,
  type LoadTerms,
  loadConfigs,
  lostConfigs,
  missingPolicies,
  type ProfileConfig,
  withGuard
} from '../../cells/bundle-exports.ts'
import type { CellSet } from '../../cells/make-cells.ts'
import type { CellGrants } from '../../cells/platform.ts'
import { type EngineLog, type JsonObject, type Plugin, parseJsonText } from '../../kernel/index.ts'
import { takeToken } from '../react/panel-token.ts'

/** What the development server gives of a profile. */
export interface ServedPlugins {
  readonly plugins: readonly ServedPlugin[]
  readonly configs: readonly ServedConfig[]
  /** What may have had policies and is not loaded. */
  readonly guards: readonly { readonly source: string; readonly problem: string }[]
}

/** A plugin of the list of a profile. */
export interface ServedPlugin {
  readonly id: string
  readonly kind: string
  readonly hosts: readonly string[]
  readonly seesKeys: boolean
  readonly sha512: string
  /** False for code of one's own, which runs in the page. */
  readonly isContained: boolean
  /** What its owner gives it. */
  readonly options: JsonObject
  readonly code: string
  /** Why there is no code; empty if there is. */
  readonly problem: string
}

/** A `holdfast.config` of a profile, as it was allowed. */
export interface ServedConfig {
  /** The absolute path of the file. */
  readonly path: string
  /** True if one of its plugins is a policy: nothing is paid while it cannot be loaded. */
  readonly hasPolicy: boolean
  readonly code: string
  /** Why there is no code; empty if there is. */
  readonly problem: string
}

/** The plugins of a profile, with their options by their ids. */
export interface ProfilePlugins {
  readonly plugins: readonly Plugin[]
  readonly pluginOptions: Readonly<Record<string, JsonObject>>
}

interface FetchedPlugins extends ProfilePlugins {
  readonly notices: readonly string[]
}

/**
 * Loads the plugins of a profile: into cells of this page, and those that run without a cell into the page itself. One that
 * cannot be loaded becomes a plugin that fails with the reason, as in the command line.
 *
 * @param place - above it stands what the person should know of them: which run without a cell, and which config is not loaded
 */
export const loadProfilePlugins = async (place: HTMLElement): Promise<ProfilePlugins> => {
  const { notices, ...found } = await fetchPlugins(takeToken(window))
  for (const text of notices) {
    const notice = document.createElement('p')
    notice.className = 'own-code'
    notice.setAttribute('role', 'note')
    notice.textContent = text
    place.before(notice)
  }
  return found
}

/** @param token - of the address that the development server printed; undefined in a page that was opened without it */
const fetchPlugins = async (token: string | undefined): Promise<FetchedPlugins> => {
  const reply = await fetch('/profile-plugins.json', { headers: { authorization: `Bearer ${token ?? ''}` } })
  if (reply.status === 401) return WITHOUT_TOKEN
  const served = readServed(await reply.text())
  const { configs, guards, lost } = await loadConfigs(served.configs, loadConfig)
  const pluginOptions = joinOptions(configs, served.plugins)
  const cells = served.plugins.some(({ isContained }) => isContained)
    ? openPageCells({ frame: '/cell-frame.html', log, onFault: silent })
    : undefined
  // Also one that fails to load: its code has run by then.
  const own = served.plugins.filter(({ isContained, problem }) => !isContained && problem === '')
  const added = await Promise.all(
    served.plugins.map(async each => {
      try {
        return await load(cells, each, pluginOptions[each.id])
      } catch (error) {
        return failedPlugin(each, error)
      }
    })
  )
  const inline = configs.flatMap(({ plugins }) => plugins)
  return {
    plugins: withGuard(
      [...guards, ...served.guards.map(({ source, problem }) => missingPolicies(source, problem))],
      [...lostConfigs(lost), ...added, ...inline]
    ),
    pluginOptions,
    notices: noticesOf(
      [...own.map(({ id }) => id), ...inline.map(({ id }) => `${id} of holdfast.config`)],
      served
    )
  }
}

/** @param own - whose code runs without a cell, by name */
const noticesOf = (own: readonly string[], { configs }: ServedPlugins): readonly string[] => {
  const without =
    own.length === 0
      ? []
      : [`Without a cell, with all that this page can do and sees, keys included: ${own.join(', ')}.`]
  const lost = configs.flatMap(({ path, problem }) =>
    problem === '' ? [] : [`${fileIn(path)} is not loaded: ${problem}.`]
  )
  return [...without, ...lost]
}

/** Without the token nothing of the profile is known, its policies neither. */
const WITHOUT_TOKEN: FetchedPlugins = {
  plugins: [missingPolicies('The profile', 'this page was opened without its token')],
  pluginOptions: {},
  notices: [
    'No plugin of the profile is loaded: this page was opened without its token. Open the address that npm run devtools printed.'
  ]
}

/** Reads what the development server gives. @throws Error for what is no list of plugins */
export const readServed = (text: string): ServedPlugins => {
  const found = parseJsonText(text, { maxDepth: 20, maxValues: 100_000 }) as Partial<ServedPlugins> | null
  const { plugins, configs, guards } = found ?? {}
  if (
    [plugins, configs, guards].every(Array.isArray) &&
    plugins?.every(isServed) &&
    configs?.every(isServedConfig) &&
    guards?.every(each => ['source', 'problem'].every(name => isText(each, name)))
  )
    return found as ServedPlugins
  throw new Error('The development server gives no list of plugins')
}

const isText = (value: unknown, name: string): boolean =>
  typeof (value as Readonly<Record<string, unknown>> | null)?.[name] === 'string'

// Without a word about policies nothing could be refused in their place.
const isServedConfig = (value: unknown): boolean =>
  ['path', 'code', 'problem'].every(name => isText(value, name)) &&
  typeof (value as ServedConfig).hasPolicy === 'boolean'

const isServed = (value: unknown): boolean => {
  const { hosts, seesKeys, isContained, options } = (value ?? {}) as Partial<ServedPlugin>
  return (
    ['id', 'kind', 'sha512', 'code', 'problem'].every(name => isText(value, name)) &&
    typeof seesKeys === 'boolean' &&
    typeof isContained === 'boolean' &&
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
  cells: CellSet | undefined,
  { id, kind, hosts, seesKeys, sha512, isContained, code, problem }: ServedPlugin,
  options: JsonObject = {}
): Promise<Plugin> => {
  if (problem !== '') throw new Error(problem)
  if (isContained && cells !== undefined) {
    const asks: CellGrants = { kind: kind as CellGrants['kind'], hosts, keys: seesKeys }
    return cells.plugin({ id, code, sha512, asks, options })
  }
  return addedPluginOf(importCode(code), { id, kind, name: 'it' }, TERMS)
}

const loadConfig = async ({ path, code, problem }: ServedConfig): Promise<ProfileConfig> => {
  if (problem !== '') throw new Error(problem)
  return configOf(importCode(code), path, TERMS)
}

const TERMS: LoadTerms = {
  refuse: (problem, hint) => new Error(hint === undefined ? problem : `${problem}. ${hint}`),
  keeper: 'this page'
}

/** Imports code as a module, so that the rules of modules hold for it as on the command line. */
const importCode = async (code: string): Promise<Readonly<Record<string, unknown>>> => {
  const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
  try {
    return await import(/* @vite-ignore */ address)
  } finally {
    URL.revokeObjectURL(address)
  }
}
