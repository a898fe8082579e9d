import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkServerAddress, compact, type KernelOptions, tryJsonText } from '../../kernel/index.ts'
import type { SocksProxy } from '../../platform/node/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { ProfilePaths } from './paths.ts'
import { isRecord, writeState } from './state-files.ts'

/** The networks that a profile can be made for, besides the fake world. */
export const realNetworks = ['main', 'test', 'regtest'] as const

/** A network of real nodes. A profile keeps the one that it was made with. */
export type RealNetwork = (typeof realNetworks)[number]

/** The settings of a profile on a real network. No server that stands in none of them is ever asked. */
export interface RealProfile {
  readonly network: RealNetwork
  /** The address of the login server's API, such as `https://login.example.org/api`. */
  readonly loginServer?: string
  readonly syncServers: readonly string[]
  readonly infoServers: readonly string[]
  /** Chain servers by plugin id: `tls://host:port`, `tcp://…`, `wss://…` or `ws://…` of Electrum, `esplora+https://host/api`, `rpc+http://127.0.0.1:8332` of a node. */
  readonly chains: Readonly<Record<string, readonly string[]>>
  /** The files with the logins of nodes, by `host:port`; each node writes one at its start. */
  readonly nodeCookies?: Readonly<Record<string, string>>
  /** The ids of the shipped rate and swap plugins that may ask their servers. */
  readonly providers: readonly string[]
  /** A SOCKS5 proxy for every connection: `socks5://127.0.0.1:9050`. */
  readonly proxy?: string
  /** Pins a self-signed certificate at its first use without a question; otherwise it is refused until it is pinned. */
  readonly pinsCertificates?: true
  /** ISO time at which its owner has agreed to use real coins. */
  readonly created: string
}

/** The kernel options that depend on the network of a profile. */
export type WorldSettings = Pick<
  KernelOptions,
  'apiKey' | 'appId' | 'authServer' | 'infoServers' | 'pluginOptions' | 'syncServers'
>

/** The network of a profile; `fake` for one without settings. */
export type ProfileNetwork = RealNetwork | 'fake'

const FILE = 'profile.json'
const KEY_FILE = 'api-key.json'
const LOGIN_FILE = 'node-logins.json'
/** What an older version does not know and must not pass over, such as a proxy, makes the newer version of the file. */
const VERSIONS: readonly unknown[] = [1, 2]
const MAX_SERVERS = 50
const MAX_CHAINS = 100
const MAX_PROVIDERS = 100
const MAX_FILE = 1_000_000

/** The path of the settings. */
export const settingsPath = ({ config }: Pick<ProfilePaths, 'config'>): string => join(config, FILE)

/** The paths of the files of secrets, which only their owner can read. */
export const secretPaths = ({
  config
}: Pick<ProfilePaths, 'config'>): { readonly apiKey: string; readonly nodeLogins: string } => ({
  apiKey: join(config, KEY_FILE),
  nodeLogins: join(config, LOGIN_FILE)
})

/**
 * Reads the settings of a profile; undefined for a profile of the fake world, which has none.
 *
 * @throws CliError PROFILE_INVALID if they are damaged: a real profile is never taken for the fake world
 */
export const readProfile = (paths: Pick<ProfilePaths, 'config'>): RealProfile | undefined => {
  const path = settingsPath(paths)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw invalid(path, `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`, error)
  }
  const value = text.length > MAX_FILE ? undefined : tryJsonText(text)
  if (!isRecord(value)) throw invalid(path, 'is damaged')
  if (!VERSIONS.includes(value.version)) throw invalid(path, 'was written by another version of holdfast')
  return parseProfile(value, path)
}

/** Saves the settings of a profile. */
export const writeProfile = ({ config }: Pick<ProfilePaths, 'config'>, profile: RealProfile): void =>
  writeState(config, FILE, { version: profile.proxy === undefined ? 1 : 2, ...profile })

/** The network of a profile, for every envelope; `unknown` where its settings are damaged. */
export const networkOf = (paths: Pick<ProfilePaths, 'config'>): ProfileNetwork | 'unknown' => {
  try {
    return readProfile(paths)?.network ?? 'fake'
  } catch {
    return 'unknown'
  }
}

/** Reads the API key of the login server, which stands in a file of its own; undefined if there is none. */
export const readApiKey = (paths: Pick<ProfilePaths, 'config'>): string | undefined => {
  const { apiKey: path } = secretPaths(paths)
  if (!existsSync(path)) return undefined
  const value = tryJsonText(readFileSync(path, 'utf8'))
  if (isRecord(value) && typeof value.apiKey === 'string') return value.apiKey
  throw invalid(path, 'is damaged')
}

/** Saves the API key, readable by its owner alone. */
export const writeApiKey = ({ config }: Pick<ProfilePaths, 'config'>, apiKey: string): void =>
  writeState(config, KEY_FILE, { apiKey })

/** Removes the API key, such as that of another login server. */
export const removeApiKey = (paths: Pick<ProfilePaths, 'config'>): void =>
  rmSync(secretPaths(paths).apiKey, { force: true })

/** Reads the logins of nodes, `user:password` by `host:port`, which stand in a file of their own. */
export const readNodeLogins = (paths: Pick<ProfilePaths, 'config'>): Readonly<Record<string, string>> => {
  const { nodeLogins: path } = secretPaths(paths)
  if (!existsSync(path)) return {}
  const value = tryJsonText(readFileSync(path, 'utf8'))
  if (isRecord(value) && Object.values(value).every(isText)) return value as Readonly<Record<string, string>>
  throw invalid(path, 'is damaged')
}

/** Saves the logins of nodes, readable by their owner alone. */
export const writeNodeLogins = (
  { config }: Pick<ProfilePaths, 'config'>,
  logins: Readonly<Record<string, string>>
): void => {
  if (Object.keys(logins).length === 0) rmSync(join(config, LOGIN_FILE), { force: true })
  else writeState(config, LOGIN_FILE, logins)
}

/** The nodes that a profile names, as `host:port`. */
export const nodesOf = ({ chains }: Pick<RealProfile, 'chains'>): readonly string[] => [
  ...new Set(
    Object.values(chains)
      .flat()
      .flatMap(text => (text.startsWith('rpc+') ? [new URL(text).host.toLowerCase()] : []))
  )
]

/**
 * Finds the login for the node of an origin: that of its file, which it writes anew at each start, or the one that is kept. A file
 * that is not there means that the node does not run.
 */
export const nodeLoginOf = (
  paths: Pick<ProfilePaths, 'config'>,
  profile: RealProfile
): ((origin: string) => string | undefined) => {
  // By the scheme, too: a login for https does not go out in clear.
  const origins = new Set(
    Object.values(profile.chains)
      .flat()
      .flatMap(text => (text.startsWith('rpc+') ? [new URL(text.slice('rpc+'.length)).origin] : []))
  )
  return origin => {
    const { hostname, port, protocol } = new URL(origin)
    const node = `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
    if (!origins.has(new URL(origin).origin)) return undefined
    const cookie = profile.nodeCookies?.[node]
    if (cookie === undefined) return readNodeLogins(paths)[node]
    try {
      return readFileSync(cookie, 'utf8').slice(0, 1000).trim()
    } catch {
      return undefined
    }
  }
}

/** Removes the settings and the key of a profile; it is one of the fake world after that. */
export const removeProfile = ({ config }: Pick<ProfilePaths, 'config'>): void => {
  for (const name of [FILE, KEY_FILE, LOGIN_FILE]) rmSync(join(config, name), { force: true })
}

const parseProfile = (value: Readonly<Record<string, unknown>>, path: string): RealProfile => {
  const { network, loginServer, syncServers, infoServers, chains, providers, created } = value
  const { proxy, pinsCertificates, nodeCookies } = value
  const isSound =
    realNetworks.includes(network as RealNetwork) &&
    [loginServer, proxy].every(text => text === undefined || isText(text)) &&
    (pinsCertificates === undefined || pinsCertificates === true) &&
    [syncServers, infoServers].every(list => isTexts(list, MAX_SERVERS)) &&
    isTexts(providers, MAX_PROVIDERS) &&
    (nodeCookies === undefined ||
      (isRecord(nodeCookies) && isTexts(Object.values(nodeCookies), MAX_SERVERS))) &&
    isText(created) &&
    isRecord(chains) &&
    Object.keys(chains).length <= MAX_CHAINS &&
    Object.values(chains).every(list => isTexts(list, MAX_SERVERS))
  if (!isSound) throw invalid(path, 'is damaged')
  const profile = value as unknown as RealProfile
  for (const server of [profile.loginServer ?? [], profile.syncServers, profile.infoServers].flat())
    checkHttpServer(server)
  for (const server of Object.values(profile.chains).flat()) checkChainServer(server)
  if (profile.proxy !== undefined) checkProxy(profile.proxy)
  return {
    ...compact({ loginServer: profile.loginServer, proxy: profile.proxy }),
    ...compact({ pinsCertificates: profile.pinsCertificates, nodeCookies: profile.nodeCookies }),
    ...{ network: profile.network, syncServers: profile.syncServers, infoServers: profile.infoServers },
    ...{ chains: profile.chains, providers: profile.providers, created: profile.created }
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= 2000

const isTexts = (value: unknown, max: number): boolean =>
  Array.isArray(value) && value.length <= max && value.every(isText)

const invalid = (path: string, problem: string, cause?: unknown): CliError =>
  new CliError('PROFILE_INVALID', `The settings of this profile, ${path}, ${problem}`, {
    hint: 'Restore the file. To make it anew, remove it and run holdfast profile create; accounts and wallets stay.',
    ...compact({ cause })
  })

/**
 * Reads the address of a login, sync or info server, without a final slash.
 *
 * @throws CliError USAGE for another form; LOGIN_DOMAIN for a host that the kernel does not take
 */
export const checkHttpServer = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw refused(text, 'is no address such as https://login.example.org/api')
  const address = text.replace(/\/+$/, '')
  checkServerAddress(address)
  return address
}

/** Checks if a host is this computer, in its local network, or reached through Tor, which encrypts by itself. */
const isNear = (host: string): boolean =>
  /^(?:localhost|127\.[\d.]+|\[::1\]|10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+)$/.test(
    host
  ) || /\.(?:onion|local|lan|home\.arpa)$/.test(host)

/** Reads the address of a chain server. @throws CliError USAGE */
export const checkChainServer = (text: string): string => {
  const isKnown = /^(?:tcp|tls|ws|wss|esplora\+https?|rpc\+https?):\/\//.test(text) && URL.canParse(text)
  const url = isKnown ? new URL(text) : undefined
  if (url === undefined || url.hostname === '')
    throw refused(
      text,
      'is no chain server such as tls://electrum.example.org:50002, esplora+https://esplora.example.org/api or rpc+http://127.0.0.1:8332'
    )
  const { protocol, port, pathname, search, hash } = url
  if (url.username + url.password !== '')
    throw refused(url.host, 'was written with a name or a password, which a command line shows to others')
  if (/^(?:tcp|tls|rpc\+)/.test(protocol) && port === '') throw refused(text, 'has no port, such as :50002')
  if (protocol === 'rpc+http:' && !isNear(url.hostname))
    throw refused(
      text,
      'would send the login of the node in clear through the network: use rpc+https, or a tunnel to this computer'
    )
  if (protocol.startsWith('rpc') && !['', '/'].includes(pathname))
    throw refused(text, 'has a path: a node is named as rpc+http://127.0.0.1:8332')
  if (protocol.includes('+') && search + hash !== '')
    throw refused(text, 'has a query: a server of Esplora is named as esplora+https://host/api')
  return text
}

/** Reads the address of a SOCKS5 proxy. @throws CliError USAGE */
export const checkProxy = (text: string): string => {
  const url = /^socks5h?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
  const isBare =
    url?.username === '' &&
    url.password === '' &&
    ['', '/'].includes(url.pathname) &&
    url.search + url.hash === ''
  if (url === undefined || url.hostname === '' || url.port === '' || !isBare)
    throw refused(
      text,
      'is no SOCKS5 proxy such as socks5://127.0.0.1:9050; names of circuits are made up here'
    )
  return text.replace(/\/$/, '')
}

/** The proxy of a profile. */
export const proxyOf = ({ proxy }: RealProfile): SocksProxy | undefined => {
  if (proxy === undefined) return undefined
  const { hostname, port } = new URL(proxy)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

const refused = (text: string, problem: string): CliError =>
  new CliError('USAGE', `"${text.slice(0, 200)}" ${problem}`)
