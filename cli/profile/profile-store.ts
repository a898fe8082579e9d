import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compact, type Plugin, tryJsonText, WalletError } from '../../kernel/index.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { keyvSchemes, keyvStorage } from '../../plugins/storage/keyv-storage.ts'
import { levelStorage } from '../../plugins/storage/level.ts'
import { postgresStorage } from '../../plugins/storage/postgres.ts'
import { CliError } from '../errors/cli-error.ts'
import { makePrivateFolder, type ProfilePaths } from './paths.ts'
import { readProfile } from './settings.ts'
import { isRecord, removeState, writeState } from './state-files.ts'

/** Where a profile keeps its accounts and wallets, if that is not its own folder. */
export interface ProfileStore {
  /** `file:///folder`, `level:///folder`, or the address of a database; without a password. */
  readonly url: string
  /** Its owner knows that no lock keeps a second program from it. */
  readonly isUnprotected?: true
  readonly password?: string
}

const FILE = 'store.json'
const PASSWORD_FILE = 'store-password.json'
/** Stores that keep a second program out. */
const LOCKED: readonly string[] = ['file', 'level', 'postgres', 'postgresql']
const SCHEMES: readonly string[] = [...LOCKED, ...keyvSchemes]

/** Reads where a profile keeps its accounts; undefined for its folder. @throws CliError PROFILE_INVALID */
export const readProfileStore = ({ config }: Pick<ProfilePaths, 'config'>): ProfileStore | undefined => {
  const path = join(config, FILE)
  if (!existsSync(path)) return undefined
  const value = tryJsonText(readFileSync(path, 'utf8'))
  if (!isRecord(value) || typeof value.url !== 'string') throw damaged(path)
  const { isUnprotected } = value
  const { url } = checkStoreUrl(value.url)
  const secrets = existsSync(join(config, PASSWORD_FILE))
    ? tryJsonText(readFileSync(join(config, PASSWORD_FILE), 'utf8'))
    : {}
  if (!isRecord(secrets)) throw damaged(join(config, PASSWORD_FILE))
  const { password } = secrets
  if (password !== undefined && typeof password !== 'string') throw damaged(join(config, PASSWORD_FILE))
  return {
    url,
    ...compact({
      isUnprotected: isUnprotected === true ? (true as const) : undefined,
      password
    })
  }
}

/** Saves it; undefined goes back to the folder of the profile. Nothing is moved. */
export const writeProfileStore = (
  { config }: Pick<ProfilePaths, 'config'>,
  store: ProfileStore | undefined
): void => {
  removeState(config, PASSWORD_FILE)
  if (store === undefined) {
    removeState(config, FILE)
    return
  }
  const { password, ...others } = store
  // First, so that no crash leaves the password of one server with the address of another.
  writeState(config, FILE, { version: 1, ...others })
  if (password !== undefined) writeState(config, PASSWORD_FILE, { password })
}

/** A sound address. */
export interface StoreAddress {
  readonly url: string
  /** In this computer, without a server. */
  readonly isFolder: boolean
  /** A lock keeps a second program out. */
  readonly isProtected: boolean
}

/**
 * Reads the address of a store.
 *
 * @throws CliError USAGE for another form, and for one with a password, which other programs could read
 */
export const checkStoreUrl = (text: string): StoreAddress => {
  const scheme = /^([a-z]+):\/\//.exec(text)?.[1] ?? ''
  const parsed = SCHEMES.includes(scheme) && text.length <= 2000 ? urlOf(text) : null
  if (parsed === null)
    throw new CliError('USAGE', 'This is no address of a store', {
      hint: `Such as level:///home/me/wallets or postgres://me@127.0.0.1/wallets. It begins with ${SCHEMES.join('://, ')}://.`
    })
  if (parsed.password !== '')
    throw new CliError(
      'USAGE',
      'The address of a store has no password: other programs can read a command line',
      {
        hint: 'Leave it out and use holdfast profile store with --store-password-file <path>, or type it at the prompt.'
      }
    )
  const isFolder = scheme === 'file' || scheme === 'level'
  // A client would take a password, or another host, from there.
  if (parsed.hash !== '' || !/^(?:\?sslmode=[a-z-]+)?$/.test(parsed.search))
    throw new CliError('USAGE', 'The address of a store has no options but sslmode')
  if (!isFolder && scheme !== 'sqlite' && parsed.hostname === '')
    throw new CliError('USAGE', 'The address of this store lacks its host', {
      hint: `Such as ${scheme}://127.0.0.1/wallets.`
    })
  if (isFolder && (parsed.host !== '' || parsed.pathname.length < 2))
    throw new CliError('USAGE', 'This store is a folder of this computer', {
      hint: `It has three slashes, such as ${scheme}:///home/me/wallets.`
    })
  return { url: text, isFolder, isProtected: LOCKED.includes(scheme) }
}

/** Options of {@link profileStorage}. */
export interface ProfileStorageOptions {
  /** In place of what the profile says. */
  readonly given?: ProfileStore | undefined
  readonly waitMs: number
  readonly holder: string
}

/** The storage plugin of a device of a profile. @throws CliError USAGE, PROFILE_INVALID */
export const profileStorage = (
  paths: ProfilePaths,
  { given, waitMs, holder }: ProfileStorageOptions
): Plugin => {
  const store = given ?? readProfileStore(paths)
  if (store === undefined) {
    makePrivateFolder(paths.device)
    return fileStorage(paths.device, { waitMs, holder })
  }
  const { isFolder, isProtected } = checkStoreUrl(store.url)
  const url = new URL(store.url)
  const name = `${paths.name}/${relative(paths.data, paths.device).replaceAll('\\', '/')}`
  if (isFolder) {
    const folder = join(fileURLToPath(`file://${url.pathname}`), name)
    makePrivateFolder(dirname(folder))
    return url.protocol === 'file:'
      ? fileStorage(folder, { waitMs, holder })
      : levelStorage(folder, { waitMs, load: () => loadFrom<never>(paths, 'classic-level') })
  }
  if (!isProtected && store.isUnprotected !== true)
    throw new CliError('USAGE', 'No lock keeps a second program from this database', {
      hint: `If no other program uses it, say so once: holdfast profile store ${paths.name} <url> --unprotected`
    })
  // A proxy has no way around it.
  if (readProfile(paths)?.proxy !== undefined && !isHere(url))
    throw new CliError(
      'USAGE',
      'This profile has a proxy, which a database on another computer would go around'
    )
  if (store.password !== undefined) url.password = encodeURIComponent(store.password)
  // One segment; names of profiles and devices have no plus.
  const options = {
    name: name.replaceAll('/', '+'),
    load: (packageName = 'pg') => loadFrom<never>(paths, packageName)
  }
  return isProtected
    ? postgresStorage(url.href, { ...options, waitMs, holder: `${holder} (process ${process.pid})` })
    : keyvStorage(url.href, { ...options, isUnprotected: true })
}

const urlOf = (text: string): URL | null => {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

const isHere = ({ protocol, hostname }: URL): boolean =>
  protocol === 'sqlite:' || ['localhost', '127.0.0.1', '[::1]', ''].includes(hostname)

/** Loads a package that its owner has installed for the profile, or beside this program. */
const loadFrom = async <T>({ config }: ProfilePaths, name: string): Promise<T> => {
  for (const place of [join(config, 'package.json'), import.meta.url]) {
    let path: string
    try {
      path = createRequire(place).resolve(name)
    } catch {
      continue
    }
    const loaded = (await import(pathToFileURL(path).href)) as { readonly default?: T }
    // Of these two the classes are wanted, of Keyv's adapters the module.
    return (['classic-level', 'pg'].includes(name) ? (loaded.default ?? loaded) : loaded) as T
  }
  const reason = `the package ${name} is not installed: npm install --prefix "${config}" ${name}`
  throw new WalletError('STORAGE_FAILED', { path: '', reason })
}

const damaged = (path: string): CliError =>
  new CliError('PROFILE_INVALID', `The settings of this profile, ${path}, are damaged`, {
    hint: 'Restore the file, or set the store again: holdfast profile store <name> <url>. The accounts stay where they are.'
  })
