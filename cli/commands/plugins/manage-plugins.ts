import { join, resolve } from 'node:path'
import { storeRefusal } from '../../../cells/bundle-exports.ts'
import {
  compact,
  createKernel,
  isWalletError,
  type Json,
  type JsonObject,
  type KernelOptions,
  type Plugin,
  tryJsonText
} from '../../../kernel/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parsePairs } from '../../grammar/options.ts'
import type { CommandResult, RecordView } from '../../output/view.ts'
import { bundlePlugin, entryOf } from '../../plugins/bundle.ts'
import { followPlugin, throwIfFailed } from '../../plugins/followed-plugin.ts'
import { installPackage, isPackage } from '../../plugins/install.ts'
import {
  grantsOf,
  importConfig,
  importPlugin,
  openPluginCells,
  optionsToTry,
  TERMS
} from '../../plugins/load-plugins.ts'
import {
  type AddedPlugin,
  changePluginList,
  findConfig,
  type PluginBundle,
  type PluginList,
  pluginFolder,
  readPluginList,
  stagingFolder,
  writeBundle
} from '../../plugins/plugin-list.ts'
import { sourcePlaces } from '../../plugins/source-places.ts'
import { isShippedId } from '../../profile/real-world.ts'
import { readProfile } from '../../profile/settings.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { isJsonObject, readTextFile } from '../../session/input.ts'
import type { Session } from '../../session/session.ts'

/**
 * Adds a plugin: what it is and may do is shown first, and from then on the file runs that was bundled now. It runs in a cell,
 * unless `--no-cell` says that it is code of one's own.
 */
export const pluginsAdd: CommandRun = async (session, source = '') => {
  const isContained = session.flags.cell !== false
  const given = await readOptions(session)
  const staging = stagingFolder(session.paths)
  const { origin, bundle } = await bundleOf(session, source, { staging: staging.path, isContained }).finally(
    staging.remove
  )
  for (const warning of origin.warnings) session.statusLine.warn(warning)
  const checked = isContained
    ? await checkContained(session, origin.source, { bundle, given })
    : await checkOwn(session, origin.source, { bundle, given })
  const { id } = checked
  const added: AddedPlugin = {
    ...checked,
    ...{ source: origin.source, ...compact({ version: origin.version }) },
    ...{ file: '', sha512: bundle.sha512, isEnabled: true, isContained },
    added: new Date().toISOString()
  }
  let isReplaced = hasPlugin(readPluginList(session.paths), id)
  if (!session.globals.dryRun)
    await changePluginList(session.paths, list => {
      isReplaced = hasPlugin(list, id)
      const file = writeBundle(session.paths, { name: id, ...bundle })
      return { ...list, plugins: [...list.plugins.filter(each => each.id !== id), { ...added, file }] }
    })
  return {
    data: { plugin: addedJson(added), replaced: isReplaced, dryRun: session.globals.dryRun },
    view: addedView(added),
    warnings: session.globals.json ? origin.warnings : [],
    advice: session.globals.dryRun
      ? ['Nothing was added (--dry-run)']
      : [`See it: holdfast plugins show ${id}`]
  }
}

const hasPlugin = ({ plugins }: PluginList, id: string): boolean => plugins.some(each => each.id === id)

/** Bundles a plugin; nothing is left of a package but that. */
const bundleOf = async (
  session: Session,
  source: string,
  { staging, isContained }: { readonly staging: string; readonly isContained: boolean }
): Promise<{ readonly origin: Origin; readonly bundle: PluginBundle }> => {
  const origin = await originOf(session, source, staging)
  return { origin, bundle: await bundlePlugin(origin.entry, isContained ? 'cell' : 'module') }
}

type CheckedPlugin = Pick<AddedPlugin, 'hosts' | 'id' | 'kind' | 'options' | 'secretOptions' | 'seesKeys'>
type GivenOptions = Pick<AddedPlugin, 'options' | 'secretOptions'>

interface ToCheck {
  readonly bundle: PluginBundle
  readonly given: GivenOptions
}

/** Reads the options of the command; nothing if it has none. @throws CliError USAGE, NOT_FOUND */
const readOptions = async (session: Session): Promise<GivenOptions> => {
  const texts = session.texts('option')
  const file = session.text('optionsFile')
  if (texts.length === 0 && file === undefined) return {}
  const pairs = Object.entries(parsePairs(texts, 'option')).map(([key, text]): [string, Json] => {
    const value = tryJsonText(text)
    return [key, value === undefined ? text : (value as Json)]
  })
  return {
    options: Object.fromEntries(pairs),
    ...compact({ secretOptions: file === undefined ? undefined : await readOptionsFile(file) })
  }
}

const readOptionsFile = async (file: string): Promise<JsonObject> => {
  const text = await readTextFile(file)
  const value = text.length > MAX_OPTIONS ? undefined : tryJsonText(text)
  if (isJsonObject(value)) return value
  throw new CliError('USAGE', `The file ${file} is no JSON object of up to ${MAX_OPTIONS} characters`)
}

const MAX_OPTIONS = 100_000

/** The options that are given now, or else those that the plugin has: adding it again may be an update of its code. */
const optionsFor = (
  session: Session,
  id: string,
  given: GivenOptions
): GivenOptions & { readonly id: string } => {
  const old = readPluginList(session.paths).plugins.find(each => each.id === id)
  const { options, secretOptions } = Object.keys(given).length === 0 ? (old ?? {}) : given
  return { id, ...compact({ options, secretOptions }) }
}

/** Reads what a plugin is in a cell, applies it there, and asks. */
const checkContained = async (
  session: Session,
  source: string,
  { bundle: { code, sha512, map }, given }: ToCheck
): Promise<CheckedPlugin> => {
  const placeOf = sourcePlaces(() => map)
  const cells = await openPluginCells(line => session.statusLine.log(line))
  try {
    const { id, kind, hosts, keys } = await loading(() => cells.inspect(code, placeOf))
    refuseShipped(id)
    const asks = grantsOf({ kind, hosts, seesKeys: keys })
    const own = optionsFor(session, id, given)
    const pluginOptions = await optionsToTry(session.paths, session.globals, own)
    const options = pluginOptions[id] ?? {}
    const plugin = await loading(() => cells.plugin({ id, code, sha512, asks, options, placeOf }))
    await checkApplies(session, plugin, pluginOptions)
    const old = readPluginList(session.paths).plugins.find(each => each.id === id)
    await confirm(session, {
      question: [
        `${source} (${sizeOf(code)}, ${sha512.slice(0, 16)}…) is the plugin ${id}, of the kind ${kind}. It runs in a cell,`,
        `${hosts.length === 0 ? 'fetches from no host' : `fetches from ${hosts.join(', ')}`} and sees`,
        `${keys ? 'the keys of its own wallets' : kind === 'currency' ? KERNEL_SIGNS : 'no keys'}.`,
        old === undefined
          ? 'Add it?'
          : `Replace the one that was added on ${old.added.slice(0, 10)}${widerText(old, hosts)}?`
      ].join(' '),
      summary: {
        source,
        id,
        kind,
        hosts: [...hosts],
        seesKeys: keys,
        bytes: code.length,
        sha512,
        contained: true
      }
    })
    return { ...own, kind, hosts, seesKeys: keys }
  } finally {
    cells.close()
  }
}

/** Says which hosts an update wants beyond those that were shown before. */
const widerText = (old: AddedPlugin, hosts: readonly string[]): string => {
  const more = hosts.filter(host => !old.hosts.includes(host))
  if (!old.isContained) return ', which ran without a cell'
  return more.length === 0 ? '' : `, which did not fetch from ${more.join(', ')}`
}

/** Asks before the code runs at all, since it runs with all rights of the wallet. */
const checkOwn = async (
  session: Session,
  source: string,
  { bundle, given }: ToCheck
): Promise<CheckedPlugin> => {
  const { plugins } = readPluginList(session.paths)
  // What it is called is known only once it has run: a new version of a package is of the same package.
  const sameSource = plugins.filter(each => packageIn(each.source) === packageIn(source))
  await confirmOwnCode(session, source, bundle, sameSource.map(oldText).join(' and '))
  const plugin = await loading(() => importPlugin(stagedCode(session, bundle)))
  const { id, kind } = plugin
  const own = optionsFor(session, id, given)
  await checkApplies(session, plugin, await optionsToTry(session.paths, session.globals, own))
  refuseShipped(id)
  const old = plugins.find(each => each.id === id)
  if (old !== undefined && !sameSource.includes(old))
    await confirm(session, {
      question: `${source} is the plugin ${id}. Replace ${oldText(old)}, from ${old.source}?`,
      summary: { source, id, kind, replaces: addedJson(old), contained: false }
    })
  const seesKeys = plugin.kind === 'currency' && plugin.info.signing === undefined
  return { ...own, kind, hosts: [], seesKeys }
}

/** The name of a package without its version; a path as it is. */
const packageIn = (source: string): string => source.replace(/(?<=.)@[^/@]*$/, '')

const oldText = ({ id, added, isContained }: AddedPlugin): string =>
  `the plugin ${id} that was added on ${added.slice(0, 10)}${isContained ? ' and runs in a cell' : ''}`

/** A bundle that is no file yet. */
const stagedCode = (
  session: Session,
  { code }: PluginBundle
): { readonly code: string; readonly path: string } => ({
  code,
  path: join(pluginFolder(session.paths), 'new.mjs')
})

const refuseShipped = (id: string): void => {
  if (!isShippedId(id)) return
  throw new CliError('PLUGIN_REFUSED', `The id ${id} is that of a plugin that ships with holdfast`, {
    hint: OWN_ID
  })
}

const OWN_ID = 'Give the plugin an id of its own.'

const sizeOf = (code: string): string => `${Math.ceil(code.length / 1000)} kB`

/** Where a plugin comes from, and the file that it begins with. */
interface Origin {
  readonly source: string
  readonly entry: string
  readonly version?: string
  readonly warnings: readonly string[]
}

const originOf = async (session: Session, source: string, staging: string): Promise<Origin> => {
  if (!isPackage(source)) {
    const path = resolve(source)
    return { source: path, entry: entryOf(path), warnings: [] }
  }
  session.statusLine.step(`installing ${source}…`)
  const { name, version, folder, hasScripts } = await installPackage(staging, source, {
    signal: session.signal,
    isProxied: readProfile(session.paths)?.proxy !== undefined
  })
  session.statusLine.clear()
  return {
    ...{ source: `${name}@${version}`, entry: entryOf(folder), version },
    warnings: hasScripts
      ? [`${name} has install scripts, which did not run; it may not work without them`]
      : []
  }
}

/** @param replaced - what it takes the place of, in words; '' for nothing */
const confirmOwnCode = (
  session: Session,
  source: string,
  { sha512, code, inputs }: PluginBundle,
  replaced: string
): Promise<void> => {
  const files = Object.keys(inputs).length
  return confirm(session, {
    question: [
      `${source} (${files} ${files === 1 ? 'file' : 'files'}, ${sizeOf(code)}, ${sha512.slice(0, 16)}…) is code that`,
      "runs in the wallet's own process: it can read keys and files, and pay.",
      replaced === '' ? 'Run it?' : `Run it, and replace ${replaced}?`
    ].join(' '),
    summary: { source, files: Object.keys(inputs), bytes: code.length, sha512, contained: false, replaced }
  })
}

/** @throws what the wallet says of the plugin, or PLUGIN_REFUSED with what its code throws */
const loading = async <T>(load: () => Promise<T>): Promise<T> => {
  try {
    return await load()
  } catch (error) {
    if (error instanceof CliError || isWalletError(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new CliError('PLUGIN_REFUSED', `The code fails when it is loaded: ${reason}`, { cause: error })
  }
}

/** Applies a plugin to a kernel without accounts and without a network. @throws what is wrong with it */
const checkApplies = async (
  session: Session,
  plugin: Plugin,
  pluginOptions: NonNullable<KernelOptions['pluginOptions']>
): Promise<void> => {
  if (plugin.kind === 'storage') throw storeRefusal(plugin.id, TERMS)
  const io = await session.io()
  let wantsNetwork = false
  const refused = (): Promise<never> => {
    wantsNetwork = true
    return Promise.reject(new Error('There is no network while a plugin is checked'))
  }
  const followed = followPlugin(plugin)
  const kernel = await createKernel({
    io: { ...io, fetch: refused, connect: refused, webSocket: refused },
    ...{ apiKey: '', authServer: 'http://localhost:9', infoServers: [], syncServers: [] },
    pluginOptions,
    logLevel: 'silent',
    plugins: [memoryStorage(), followed.plugin]
  })
  try {
    throwIfFailed(kernel)
    await followed.ended(io.clock)
  } catch (error) {
    // What needs a server may work once it is there.
    if (!wantsNetwork) throw error
    session.statusLine.warn(error instanceof Error ? error.message : String(error))
  } finally {
    await kernel.close()
  }
}

/** A plugin of the list as JSON. */
export const addedJson = (added: AddedPlugin): JsonObject => ({
  id: added.id,
  kind: added.kind,
  source: added.source,
  version: added.version ?? null,
  enabled: added.isEnabled,
  contained: added.isContained,
  hosts: [...added.hosts],
  seesKeys: added.seesKeys,
  options: { ...added.options },
  secretOptions: Object.keys(added.secretOptions ?? {}),
  sha512: added.sha512,
  added: added.added
})

/** The options that a plugin is given, in a line: of those from a file only the names. */
export const optionsText = ({ options = {}, secretOptions = {} }: AddedPlugin): string =>
  [
    ...Object.entries(options).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
    ...Object.keys(secretOptions).map(key => `${key} (from a file)`)
  ].join(', ')

/** The keys that a currency sees for which the kernel signs. */
export const KERNEL_SIGNS = 'no private keys: the wallet signs'

/** After what code of one's own is given: nothing keeps it from the rest. */
export const OWN_CODE_READS = '; it can read all others, since it runs where they are'

const keysGiven = ({ seesKeys, kind }: AddedPlugin): string =>
  seesKeys ? 'those of its own wallets' : kind === 'currency' ? KERNEL_SIGNS : 'none'

const addedView = (added: AddedPlugin): RecordView => ({
  kind: 'record',
  fields: [
    ['id', { text: added.id, tone: 'strong' }],
    ['kind', added.kind],
    ['from', added.source],
    ['runs', added.isContained ? 'in a cell' : "in the wallet's own process"],
    ['keys', `${keysGiven(added)}${added.isContained ? '' : OWN_CODE_READS}`],
    ['options', optionsText(added)],
    ['sha512', added.sha512.slice(0, 32)]
  ]
})

/** Removes a plugin from the list, with its bundle. */
export const pluginsRemove: CommandRun = async (session, id = '') =>
  change(session, id, plugins => plugins.filter(each => each.id !== id), 'removed')

/** Uses a plugin again. */
export const pluginsEnable: CommandRun = async (session, id = '') =>
  change(session, id, switched(id, true), 'enabled')

/** Keeps a plugin, and does not use it. */
export const pluginsDisable: CommandRun = async (session, id = '') =>
  change(session, id, switched(id, false), 'disabled')

const switched =
  (id: string, isEnabled: boolean) =>
  (plugins: PluginList['plugins']): PluginList['plugins'] =>
    plugins.map(each => (each.id === id ? { ...each, isEnabled } : each))

const change = async (
  session: Session,
  id: string,
  changed: (plugins: PluginList['plugins']) => PluginList['plugins'],
  done: string
): Promise<CommandResult> => {
  const edit = (list: PluginList): PluginList => {
    if (!hasPlugin(list, id)) throw notAdded(id, list)
    return { ...list, plugins: changed(list.plugins) }
  }
  if (session.globals.dryRun) edit(readPluginList(session.paths))
  else await changePluginList(session.paths, edit)
  return {
    data: { id, done, dryRun: session.globals.dryRun },
    view: {
      kind: 'text',
      lines: [session.globals.dryRun ? `${id} would be ${done}` : `${id} is ${done}`]
    }
  }
}

const notAdded = (id: string, { plugins }: PluginList): CliError =>
  isShippedId(id)
    ? new CliError('NOT_FOUND', `${id} ships with holdfast, and was not added`)
    : new CliError('NOT_FOUND', `No plugin ${id} was added to this profile`, {
        hint:
          plugins.length === 0 ? 'None was.' : `Those that were: ${plugins.map(each => each.id).join(', ')}.`
      })

/** Allows a config as it is now: it is bundled, checked and pinned. */
export const pluginsAllow: CommandRun = async session => {
  const folder = session.globals.configFolder ?? session.paths.config
  const path = findConfig(folder)
  if (path === undefined)
    throw new CliError('NOT_FOUND', `There is no holdfast.config.ts or .js in ${folder}`, {
      hint: 'Write one there, or name its folder with -C.'
    })
  const bundle = await bundlePlugin(path, 'module')
  const isAllowed = readPluginList(session.paths).configs.some(each => each.path === path)
  await confirmOwnCode(session, path, bundle, isAllowed ? 'what was allowed of it before' : '')
  const { plugins, pluginOptions } = await loading(() => importConfig(stagedCode(session, bundle), path))
  for (const [at, plugin] of plugins.entries()) {
    const { id } = plugin
    refuseShipped(id)
    if (plugins.findIndex(each => each.id === id) !== at)
      throw new CliError('PLUGIN_REFUSED', `Two plugins of ${path} have the id ${id}`, { hint: OWN_ID })
    await checkApplies(session, plugin, pluginOptions)
  }
  const { sha512, inputs } = bundle
  const hasPolicy = plugins.some(({ kind }) => kind === 'policy')
  if (!session.globals.dryRun)
    await changePluginList(session.paths, list => {
      const file = writeBundle(session.paths, { name: 'config', ...bundle })
      const others = list.configs.filter(each => each.path !== path)
      return { ...list, configs: [...others, { path, file, sha512, inputs, hasPolicy }] }
    })
  const ids = plugins.map(({ id }) => id)
  return {
    data: { path, sha512, plugins: ids, files: Object.keys(inputs), dryRun: session.globals.dryRun },
    view: {
      kind: 'record',
      fields: [
        ['config', path],
        ['plugins', ids.join(', ') || 'none'],
        ['sha512', sha512.slice(0, 32)]
      ]
    }
  }
}
