import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../kernel/index.ts'
import { isAlive, type LockOptions, lockFolder } from '../../plugins/storage/file/file-lock.ts'
import { CliError } from '../errors/cli-error.ts'
import { makePrivateFolder, type ProfilePaths } from '../profile/paths.ts'
import { settingsPath } from '../profile/settings.ts'
import { isRecord, readState, replaceFile, writeState } from '../profile/state-files.ts'

/** A plugin that was added to a profile: what runs is the file that was bundled then, and no other. */
export interface AddedPlugin {
  readonly id: string
  readonly kind: string
  /** A package with its version, or the absolute path of a file or folder. */
  readonly source: string
  readonly version?: string
  /** The name of the bundle in the folder of the plugins. */
  readonly file: string
  /** Of the bundle, in hex. */
  readonly sha512: string
  readonly isEnabled: boolean
  /** False for code of one's own, which runs in the process of the wallet. */
  readonly isContained: boolean
  /** The hosts that a contained plugin may fetch from. */
  readonly hosts: readonly string[]
  /** True for a currency that is given keys: one for which the kernel does not sign. */
  readonly seesKeys: boolean
  /** What its owner gives it, beside what a config does. */
  readonly options?: JsonObject
  /** The same from a file: only the names are shown. */
  readonly secretOptions?: JsonObject
  /** ISO time. */
  readonly added: string
}

/** A `holdfast.config` that was allowed: it runs as it was then, and not at all once one of its files has changed. */
export interface AllowedConfig {
  /** The absolute path of the file. */
  readonly path: string
  readonly file: string
  readonly sha512: string
  /** The files of the bundle with their SHA-512 in hex. */
  readonly inputs: Readonly<Record<string, string>>
  /** True if one of its plugins is a policy: nothing is paid while it cannot be loaded. */
  readonly hasPolicy: boolean
}

/** The plugins and configs of a profile. */
export interface PluginList {
  readonly plugins: readonly AddedPlugin[]
  readonly configs: readonly AllowedConfig[]
}

const LIST = 'plugins.json'

/** The folder with the list and the bundles. */
export const pluginFolder = ({ config }: ProfilePaths): string => join(config, 'plugins')

/** True for a profile that has plugins or a config, or with a config in the folder of the command. */
export const hasPlugins = (paths: ProfilePaths, configFolder: string | undefined): boolean =>
  existsSync(join(pluginFolder(paths), LIST)) ||
  [paths.config, configFolder].some(folder => folder !== undefined && findConfig(folder) !== undefined)

/** Reads the list. @throws CliError PLUGIN_REFUSED for a damaged one, which may have named policies */
export const readPluginList = (paths: ProfilePaths): PluginList => {
  const path = join(pluginFolder(paths), LIST)
  if (!existsSync(path)) return { plugins: [], configs: [] }
  const list = parseList(readState(pluginFolder(paths), LIST))
  if (list !== undefined) return list
  throw new CliError('PLUGIN_REFUSED', `The list of plugins, ${path}, is damaged`, {
    hint: 'Restore it; or remove it, and add the plugins again.'
  })
}

/** The hosts that the plugins of a profile may fetch from while they are enabled; none of a damaged list, which loads none. */
export const addedHosts = (paths: ProfilePaths): readonly string[] => {
  try {
    return readPluginList(paths).plugins.flatMap(({ isEnabled, hosts }) => (isEnabled ? hosts : []))
  } catch {
    return []
  }
}

/**
 * Changes the list as it is now, while no other process does. Bundles that it names are written before it, and those that it
 * does not name any more are removed once it is durable, with what a killed command has left behind.
 *
 * @param edit - returns the new list; it may write bundles with {@link writeBundle}
 * @throws WalletError STORAGE_LOCKED if another process is still at it after `waitMs`
 */
export const changePluginList = async (
  paths: ProfilePaths,
  edit: (list: PluginList) => PluginList,
  { waitMs = LOCK_WAIT_MS }: Pick<LockOptions, 'waitMs'> = {}
): Promise<void> => {
  const folder = pluginFolder(paths)
  makePrivateFolder(folder)
  const lock = await lockFolder(folder, { waitMs, holder: 'holdfast plugins' })
  try {
    const list = edit(readPluginList(paths))
    writeState(folder, LIST, list)
    const kept = new Set([...list.plugins, ...list.configs].map(({ file }) => file))
    for (const name of readdirSync(folder)) {
      const [, bundle] = BUNDLED.exec(name) ?? []
      if (bundle === undefined ? DRAFT.test(name) : !kept.has(bundle)) rmSync(join(folder, name), GONE)
    }
  } finally {
    await lock.release()
  }
}

/** A change takes milliseconds. */
const LOCK_WAIT_MS = 10_000
const BUNDLED = /^(.*\.mjs)(?:\.map)?$/
const DRAFT = /\.\d{1,10}\.tmp$/

/**
 * What an agent compares: another text means that the plugins are no longer those that it runs with, or that the settings or a
 * file of the profile's config have changed.
 */
export const pluginStamp = (paths: ProfilePaths): string => {
  const list = join(pluginFolder(paths), LIST)
  const config = findConfig(paths.config)
  const inputs = config === undefined ? [] : [config, ...inputsOf(paths, config)]
  return [settingsPath(paths), list, ...inputs].map(path => timeOf(path)).join(' ')
}

const inputsOf = (paths: ProfilePaths, config: string): readonly string[] => {
  try {
    const allowed = readPluginList(paths).configs.find(({ path }) => path === config)
    return Object.keys(allowed?.inputs ?? {}).sort()
  } catch {
    // A list that is damaged has no configs.
    return []
  }
}

const timeOf = (path: string): string => {
  const { mtimeMs, size, ino } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0, ino: 0 }
  return `${ino} ${mtimeMs} ${size}`
}

/**
 * Writes the bundle of a plugin under a name with its hash, so that no other bundle is touched: each file is whole or not
 * there. Only for a change of the list, which removes what it does not name.
 *
 * @returns the name of its file
 */
export const writeBundle = (
  paths: ProfilePaths,
  { name, code, map, sha512 }: { readonly name: string } & PluginBundle
): string => {
  const file = `${name}-${sha512.slice(0, 16)}.mjs`
  const path = join(pluginFolder(paths), file)
  if (map !== undefined) replaceFile(`${path}.map`, map)
  replaceFile(path, code)
  return file
}

/**
 * Makes a folder below the plugins for as long as one is added, and removes those that earlier commands have left behind, such
 * as one that was killed.
 */
export const stagingFolder = (paths: ProfilePaths): { readonly path: string; remove(): void } => {
  const folder = pluginFolder(paths)
  makePrivateFolder(folder)
  for (const name of readdirSync(folder)) {
    const [, pid] = STAGED.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), GONE)
  }
  const path = mkdtempSync(join(folder, `staged-${process.pid}-`))
  return { path, remove: () => rmSync(path, GONE) }
}

const STAGED = /^staged-(\d{1,10})-/
const GONE = { recursive: true, force: true, maxRetries: 3 } as const

/** One file with all that a plugin is made of. */
export interface PluginBundle {
  readonly code: string
  readonly map: string | undefined
  /** Of the code, in hex. */
  readonly sha512: string
  /** The files that it was made of, with their SHA-512. */
  readonly inputs: Readonly<Record<string, string>>
}

/** Reads a bundle. @throws CliError PLUGIN_REFUSED if it is not the one that was added */
export const readBundle = (
  paths: ProfilePaths,
  { file, sha512 }: Pick<AddedPlugin, 'file' | 'sha512'>
): { readonly code: string; readonly path: string } => {
  const path = join(pluginFolder(paths), file)
  let code: string
  try {
    code = readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError('PLUGIN_REFUSED', `The file ${path} cannot be read`, {
      hint: 'Add the plugin again.',
      cause: error
    })
  }
  if (sha512Of(code) === sha512) return { code, path }
  throw new CliError('PLUGIN_REFUSED', `The file ${path} has changed since the plugin was added`, {
    hint: 'Somebody changed what would run in your wallet. Look who, then add the plugin again.'
  })
}

/** The SHA-512 of a text or a file's bytes, in hex. */
export const sha512Of = (content: string | Uint8Array): string =>
  createHash('sha512').update(content).digest('hex')

/** The `holdfast.config` of a folder, if it has one. */
export const findConfig = (folder: string): string | undefined =>
  ['holdfast.config.ts', 'holdfast.config.mts', 'holdfast.config.js', 'holdfast.config.mjs']
    .map(name => join(folder, name))
    .find(path => existsSync(path))

/** The files of an allowed config that are not as they were then. */
export const changedInputs = ({ inputs }: AllowedConfig): readonly string[] =>
  Object.entries(inputs).flatMap(([path, sha512]) => {
    try {
      return sha512Of(readFileSync(path)) === sha512 ? [] : [path]
    } catch {
      return [path]
    }
  })

/** @returns undefined for a list that is damaged */
const parseList = (value: unknown): PluginList | undefined => {
  if (!isRecord(value) || !Array.isArray(value.plugins) || !Array.isArray(value.configs)) return undefined
  return value.plugins.every(isAdded) && value.configs.every(isAllowed)
    ? (value as unknown as PluginList)
    : undefined
}

const FILE = /^[A-Za-z0-9_-]{1,80}-[0-9a-f]{16}\.mjs$/
const HASH = /^[0-9a-f]{128}$/

const isAdded = (value: unknown): boolean =>
  isRecord(value) &&
  isBundled(value) &&
  ['id', 'kind', 'source', 'added'].every(name => typeof value[name] === 'string') &&
  ['isEnabled', 'isContained', 'seesKeys'].every(name => typeof value[name] === 'boolean') &&
  (value.version === undefined || typeof value.version === 'string') &&
  [value.options, value.secretOptions].every(
    options => options === undefined || (isRecord(options) && !Array.isArray(options))
  ) &&
  Array.isArray(value.hosts) &&
  value.hosts.every(host => typeof host === 'string')

const isAllowed = (value: unknown): boolean =>
  isRecord(value) &&
  isBundled(value) &&
  typeof value.path === 'string' &&
  typeof value.hasPolicy === 'boolean' &&
  isRecord(value.inputs) &&
  Object.values(value.inputs).every(hash => typeof hash === 'string' && HASH.test(hash))

const isBundled = ({ file, sha512 }: Readonly<Record<string, unknown>>): boolean =>
  typeof file === 'string' && FILE.test(file) && typeof sha512 === 'string' && HASH.test(sha512)
