import { compact } from './base/compact.ts'
import { copyData } from './base/copy-data.ts'
import { type DiskDeadline, diskWithDeadline, storeWithDeadline } from './base/disk-deadline.ts'
import { checkedDisk, subDisk } from './base/disk-path.ts'
import { describeError, errorOf, failureLine, isWalletError, WalletError } from './base/errors.ts'
import { isRecord, type JsonObject, parseJson } from './base/json.ts'
import { quarantine } from './base/quarantine.ts'
import type { Context } from './context.ts'
import type { SnrpOptions } from './crypto/key-derivation.ts'
import type { Disk } from './io/disk.ts'
import type { Io } from './io/io.ts'
import type { IgnoredAnswer } from './plugins/dispatch.ts'
import type { KernelHooks } from './plugins/hook-types.ts'
import { makeKernelHooks } from './plugins/hooks.ts'
import {
  currencyHost,
  type HostOptions,
  observerHost,
  type Plugin,
  type PluginSource,
  type PolicyHost,
  policyHost,
  rateHost,
  storageHost,
  swapHost
} from './plugins/plugin.ts'
import { PluginCalls } from './plugins/plugin-calls.ts'
import { captureIo } from './plugins/plugin-io.ts'
import { PluginSet } from './plugins/plugin-set.ts'
import { quotaDisk } from './plugins/quota-disk.ts'
import { describe, readPluginHead, settlePlugin } from './plugins/read-plugin.ts'
import {
  type KernelConfig,
  type LogPort,
  type LogThreshold,
  makeInBackground,
  makeLog,
  type Services
} from './plugins/services.ts'
import { checkedStore, type StoreDisk, storeDisk } from './store/store-disk.ts'
import type { EngineLog } from './types/engine.ts'
import type { PluginId } from './types/ids.ts'
import type { FaultSnapshot, PluginKind } from './types/snapshots.ts'

/** The options of a kernel, for {@link createKernel}. Defaults are those of specification §9 and protocol §2.1. */
export interface KernelOptions {
  /** The platform, such as `makeNodeIo()` of `holdfast/node`. */
  readonly io: Io
  /** Exactly one of them is a storage plugin. A promise, or a function that makes a plugin, is waited for. */
  readonly plugins: readonly PluginSource[]
  /** Sent to the login server with each request; only a kernel without one needs none. */
  readonly apiKey?: string
  readonly appId?: string
  /** The base of the login server; null for a kernel without one, whose accounts are on this device only. */
  readonly authServer?: string | null
  readonly infoServers?: readonly string[]
  readonly syncServers?: readonly string[]
  readonly deviceDescription?: string
  readonly hideKeys?: boolean
  readonly logLevel?: LogThreshold
  readonly skipBlockHeight?: boolean
  /** The cost of guessing a new password; by default about two seconds on this device. */
  readonly passwordSnrp?: SnrpOptions
  /** Given to each plugin by id. */
  readonly pluginOptions?: Readonly<Record<string, JsonObject>>
  /** Ids of plugins that `addPlugin` brings later; logins wait for them until `lockPlugins`. */
  readonly laterPlugins?: readonly string[]
  /**
   * Ids of plugins without which no account may open: if one is missing or failed, every login ends with
   * PLUGINS_MISSING. Without it an account opens all the same, and only the wallets of that plugin cannot be used.
   */
  readonly required?: readonly string[]
  /** Receives each failure that belongs to no call. */
  readonly onError?: (source: string, error: unknown) => void
}

/**
 * A running kernel, made by {@link createKernel}.
 *
 * @example
 * ```ts
 * console.log(kernel.context.localUsers.map(({ username }) => username))
 * await kernel.close()
 * ```
 */
export interface Kernel {
  readonly context: Context
  /** The random id of this device, base64. */
  readonly clientId: string
  /** The platform that it was made with. */
  readonly io: Io
  /** The plugins that it was made with, without those of `addPlugin`. */
  readonly plugins: readonly Plugin[]
  /** Adds a plugin that was announced as later. @throws PLUGINS_LOCKED */
  addPlugin(plugin: Plugin): void
  /** Ends the wait for later plugins: logins go on without those that have not come. */
  lockPlugins(): void
  /**
   * Logs out every account, notifies the plugins and closes the disk. A second call waits for the first.
   *
   * @throws STORAGE_TIMEOUT if a write has not ended: then the data stays locked until it does, or the process ends
   */
  close(): Promise<void>
}

const DEFAULT_API_KEY = '4248c1bf41e53b840a5fdb2c872dd3ade525e66d'
const HOST = 'edge.app'
const SYNC_NAMES = ['us1', 'us2', 'us3', 'us4', 'us5', 'us6', 'eu']

/**
 * Makes a kernel: builds the hooks, applies observers first, then storage, then the rest, and opens the context.
 *
 * @throws API_KEY_MISSING, LOGIN_DOMAIN, STORAGE_LOCKED, STORAGE_TIMEOUT, PLUGIN_FAILED
 *
 * @example
 * ```ts
 * import { createKernel } from 'holdfast'
 * import { makeNodeIo } from 'holdfast/node'
 * import { bitcoin } from 'holdfast/plugins/currency/utxo/plugin'
 * import { memoryStorage } from 'holdfast/plugins/storage/memory'
 *
 * const kernel = await createKernel({ io: makeNodeIo(), apiKey: '', plugins: [memoryStorage(), bitcoin] })
 * const account = await kernel.context.createAccount({ username: 'alice', password: 'correct horse battery' })
 * await kernel.close()
 * ```
 */
export const createKernel = async (options: KernelOptions): Promise<Kernel> => {
  const config = configOf(options)
  const io = captureIo(options.io)
  const parts = makeParts(options, { config, io })
  const { hooks, plugins, apply } = parts

  const settling = options.plugins.map((source, at) => settlePlugin(source, at + 1, io.clock))
  const listed = await Promise.all(settling)
  const applyAll = (isMeant: (kind: PluginKind | undefined) => boolean): void => {
    for (const { given, head } of listed) if (isMeant(head.kind)) apply(given, head)
  }
  applyAll(kind => kind === 'observer')
  applyAll(kind => kind === 'storage')
  const disk = await openDisk(hooks, plugins, { clock: io.clock, onClosed: parts.diskClosed })
  try {
    parts.useDisk(disk)
    applyAll(kind => kind !== 'observer' && kind !== 'storage')
    const given = listed.flatMap(({ given: plugin, head }) => (head.kind === undefined ? [] : plugin))
    return await openKernel(options, { ...parts, config, disk, io, given })
  } catch (error) {
    await disk.close?.().catch(failure => parts.report('storage', failure))
    throw error
  }
}

type KernelContext = ReturnType<typeof makeParts> & {
  readonly config: KernelConfig
  readonly disk: Disk
  /** The functions of the application's io, captured at the start. */
  readonly io: Io
  /** The plugins of the options, after those that came later. */
  readonly given: readonly Plugin[]
}

const openKernel = async (options: KernelOptions, parts: KernelContext): Promise<Kernel> => {
  const { hooks, plugins, apply, report, config, disk, io } = parts
  if ((options.laterPlugins ?? []).length === 0) plugins.lock()

  const services: Services = Object.freeze({
    io,
    hooks,
    calls: parts.calls,
    disk,
    config,
    plugins,
    logOf: parts.logOf,
    inBackground: makeInBackground(report),
    report
  })
  // What a program that only knows the library does not load: logins, accounts and everything below them.
  const { Context } = await import('./context.ts')
  const context = await Context.open(services)
  const clientId = await openClientId(io, disk, error => report('client id', error))
  await hooks.ready.promise()

  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    try {
      await context.close()
      await hooks.closing.promise()
    } finally {
      await disk.close?.()
    }
  }
  return Object.freeze({
    context,
    clientId,
    io: options.io,
    plugins: Object.freeze(parts.given),
    addPlugin: (plugin: Plugin) => apply(plugin),
    lockPlugins: () => plugins.lock(),
    close() {
      closing ??= close()
      return closing
    }
  })
}

const makeParts = (
  options: KernelOptions,
  { config, io }: { readonly config: KernelConfig; readonly io: Io }
) => {
  const port = { clock: io.clock, onFault: (fault: PluginFault) => onFault(fault) }
  const calls = new PluginCalls(port)
  const hooks: KernelHooks = makeKernelHooks({
    ...{ ...port, calls },
    onIgnored: ignored => onIgnored(ignored)
  })
  const logPort: LogPort = { clock: io.clock, logged: hooks.logged, threshold: config.logLevel }
  const logs = new Map<string, EngineLog>()
  // All wallets of a currency share one.
  const logOf = (source: string): EngineLog => {
    const log = logs.get(source) ?? makeLog(source, logPort)
    logs.set(source, log)
    return log
  }
  const onFault = ({ pluginId, hook, error }: PluginFault): void => {
    logOf(pluginId).error(failureLine(`The plugin failed in ${hook}`, error))
    hooks.pluginFault.call(Object.freeze(faultOf(pluginId, hook, error)))
  }
  const known = new Set<string>()
  /** Says it once for each plugin and hook, since a tap does it at each call. */
  const onIgnored = ({ pluginId, hook, answer, hint }: IgnoredAnswer): void => {
    const key = `${pluginId}\n${hook}`
    if (known.has(key)) return
    known.add(key)
    // Its text could be anything, such as a key.
    const found = typeof answer === 'string' ? 'a text' : describe(answer)
    const words = `${hook} answered with ${found}, which is ignored`
    logOf(pluginId).warn(hint === undefined ? words : `${words}: ${hint}`)
  }
  const report = (source: string, thrown: unknown): void => {
    const error = errorOf(thrown)
    logOf(source).error(describeError(error))
    try {
      options.onError?.(source, error)
    } catch (failure) {
      logOf('application').error(failureLine('The onError listener failed', failure))
    }
  }
  const { laterPlugins: later = [], required = [] } = options
  const plugins = new PluginSet(hooks, { later, required }, io)
  let root: Disk | undefined
  const apply = (given: Plugin, head = readPluginHead(given, plugins.snapshots.length + 1)): void => {
    const { id } = head
    const pluginOptions = optionsFor(id, options.pluginOptions?.[id])
    const host = {
      ...{ hooks, io, log: logOf(id), options: pluginOptions },
      onFault: (error: unknown) => onFault({ pluginId: id, hook: 'io', error }),
      fail: (error: unknown) => {
        plugins.failPolicy(id, error)
        onFault({ pluginId: id, hook: 'fail', error })
      }
    }
    const openJail = (): Disk => {
      if (root === undefined) throw new TypeError('There is no disk yet')
      const jail = quotaDisk(subDisk(root, `plugins/${id}`), {
        pluginId: id,
        onRefused: error => report(id, error)
      })
      return Object.freeze(jail)
    }
    plugins.add(given, plugin => applyPlugin(plugin, host, openJail), {
      head,
      options: pluginOptions,
      onFailure: report,
      onFault: error => onFault({ pluginId: id, hook: 'apply', error })
    })
  }
  const useDisk = (disk: Disk): void => {
    root = disk
  }
  /** Reports to every observer, not only to failed writes, that nothing is saved any more. */
  const diskClosed = (error: WalletError): void => {
    const pluginId = plugins.snapshots.find(({ kind }) => kind === 'storage')?.pluginId ?? 'storage'
    report(pluginId, error)
    hooks.pluginFault.call(Object.freeze(faultOf(pluginId, 'disk', error)))
  }
  return { hooks, calls, plugins, apply, report, logOf, useDisk, diskClosed }
}

const applyPlugin = (
  plugin: Plugin,
  host: Omit<HostOptions, 'disk'> & Pick<PolicyHost, 'fail'>,
  openJail: () => Disk
): void => {
  switch (plugin.kind) {
    case 'observer':
      plugin.apply(observerHost(plugin.id, host.hooks))
      break
    case 'storage':
      plugin.apply(storageHost(plugin.id, host))
      break
    case 'currency':
      plugin.apply(currencyHost(plugin.id, { ...host, disk: openJail() }))
      break
    case 'rates':
      plugin.apply(rateHost(plugin.id, { ...host, disk: openJail() }))
      break
    case 'swap':
      plugin.apply(swapHost(plugin.id, { ...host, disk: openJail() }))
      break
    case 'policy':
      plugin.apply(policyHost(plugin.id, { ...host, disk: openJail() }))
      break
  }
}

/** The disk of the storage plugin, or one over its store. @throws PLUGINS_MISSING, PLUGIN_FAILED */
const openDisk = async (
  hooks: KernelHooks,
  plugins: PluginSet,
  deadline: DiskDeadline
): Promise<Disk | StoreDisk> => {
  const disk = await hooks.openDisk.promise({ purpose: 'everything' })
  if (disk !== undefined) return diskWithDeadline(checkedDisk(disk), deadline)
  const store = await hooks.openStore.promise({ purpose: 'everything' })
  if (store !== undefined) return storeDisk(storeWithDeadline(checkedStore(store), deadline))
  throw storageMissing(plugins)
}

const storageMissing = (plugins: PluginSet): WalletError => {
  const failed = plugins.snapshots.find(({ kind, state }) => kind === 'storage' && state === 'failed')
  const reasons = failed?.message === undefined ? {} : { reasons: [failed.message] }
  return new WalletError('PLUGINS_MISSING', { pluginIds: [failed?.pluginId ?? 'storage'], ...reasons })
}

/** Returns a frozen copy of the application's options for a plugin, so that it cannot be changed. @throws OPTION_INVALID */
const optionsFor = (id: PluginId, given: JsonObject = {}): JsonObject => {
  const refuse = (rule: string): WalletError =>
    new WalletError('OPTION_INVALID', { option: `pluginOptions of ${id}`, rule })
  const copy = copyData(given, { maxLength: MAX_OPTIONS, isFrozen: true, refuse })
  return copy as JsonObject
}

const MAX_OPTIONS = 10_000_000

interface PluginFault {
  readonly pluginId: PluginId
  readonly hook: string
  readonly error: unknown
}

const faultOf = (pluginId: PluginId, hook: string, thrown: unknown): FaultSnapshot => {
  const error = errorOf(thrown)
  return {
    pluginId,
    hook,
    errorName: error.name.slice(0, 100),
    ...compact({ errorCode: isWalletError(error) ? error.code : undefined }),
    message: describeError(error)
  }
}

const configOf = (options: KernelOptions): KernelConfig => {
  const { authServer = `https://login.${HOST}/api` } = options
  // JavaScript callers can also give null.
  const apiKey = options.apiKey ?? undefined
  if (authServer !== null && apiKey === undefined) throw new WalletError('API_KEY_MISSING', {})
  const config: KernelConfig = {
    apiKey: apiKey || DEFAULT_API_KEY,
    appId: options.appId ?? '',
    authServer: authServer ?? '',
    infoServers: options.infoServers ?? [`https://info-eu1.${HOST}`, `https://info-us1.${HOST}`],
    syncServers: options.syncServers ?? SYNC_NAMES.map(name => `https://sync-${name}.${HOST}`),
    ...compact({ deviceDescription: options.deviceDescription, passwordSnrp: options.passwordSnrp }),
    hideKeys: options.hideKeys ?? false,
    logLevel: options.logLevel ?? 'warn',
    skipBlockHeight: options.skipBlockHeight ?? false
  }
  for (const server of [
    ...(authServer === null ? [] : [authServer]),
    ...config.infoServers,
    ...config.syncServers
  ])
    checkServerAddress(server)
  return Object.freeze(config)
}

const PATH = 'client.json'
const LENGTH = 16

/**
 * Reads the random id of this device, or makes it on the first start (protocol §3.1; specification §9).
 *
 * A damaged file is kept in quarantine, reported and replaced; where the disk cannot be read or written, the id is for
 * this run only.
 *
 * @returns base64 of 16 bytes
 */
const openClientId = async (io: Io, disk: Disk, report: (error: unknown) => void): Promise<string> => {
  const fresh = io.crypto.toBase64(io.random(LENGTH))
  try {
    const text = await disk.getText(PATH)
    const known = text === undefined ? undefined : readId(io, text)
    if (known !== undefined) return known
    if (text !== undefined) {
      report(await quarantine(disk, io.clock, { path: PATH, text, rule: 'it holds no client id' }))
    }
    await disk.setText(PATH, JSON.stringify({ clientId: fresh }))
  } catch (error) {
    report(error)
  }
  return fresh
}

const readId = ({ crypto }: Io, text: string): string | undefined => {
  try {
    const value = parseJson(text, PATH)
    const clientId = isRecord(value) ? value.clientId : undefined
    return typeof clientId === 'string' && crypto.fromBase64(clientId).length === LENGTH
      ? clientId
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Checks the address of a configured server: http on localhost only, https on localhost, `edge.app`,
 * `edgetest.app` and their subdomains (specification §2, protocol §2.1). Ports and paths are free.
 *
 * Refuses credentials in the address, which would let it name one host and mean another.
 *
 * @throws WalletError LOGIN_DOMAIN naming the host
 *
 * @example
 * ```ts
 * import { checkServerAddress } from 'holdfast'
 *
 * checkServerAddress('https://login.edge.app/api')
 * ```
 */
export const checkServerAddress = (url: string): void => {
  const [, scheme, host = '', port = '0'] = ADDRESS.exec(url)?.map(part => part?.toLowerCase()) ?? []
  const isKnown = scheme === 'http' ? host === 'localhost' : HTTPS_HOST.test(host)
  if (!isKnown || Number(port) > 65535) throw new WalletError('LOGIN_DOMAIN', { host: hostOf(url) })
}

const ADDRESS = /^(https?):\/\/([\w.-]{1,253})(?::(\d{1,5}))?(?:[/?#][!-~]*)?$/i

const HTTPS_HOST = /^(?:localhost|(?:[\w-]+\.)*edge(?:test)?\.app)$/

/** Only for the message: what stands where the host belongs, without credentials. */
const hostOf = (url: string): string => {
  const authority = url.replace(/^[^/]*\/\//, '').split(/[/?#]/, 1)[0] ?? ''
  return authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d*$/, '')
    .slice(0, 100)
}
