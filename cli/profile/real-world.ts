import {
  type CurrencyPlugin,
  compact,
  type Io,
  type JsonObject,
  type Plugin,
  WalletError
} from '../../kernel/index.ts'
import { utxoCurrencies, utxoCurrenciesOn } from '../../plugins/currency/utxo/all-coins.ts'
import { defaultPlugins } from '../../plugins/default-plugins.ts'
import { CliError } from '../errors/cli-error.ts'
import type { ProfilePaths } from './paths.ts'
import { type RealNetwork, type RealProfile, readApiKey, type WorldSettings } from './settings.ts'
import type { WorldControl } from './world-control.ts'

/** The kernel options of a real profile. @throws API_KEY_MISSING if it names a login server, and has no key */
export const realSettings = (paths: ProfilePaths, profile: RealProfile): WorldSettings => {
  const { network, loginServer, syncServers, infoServers, chains } = profile
  const apiKey = readApiKey(paths)
  if (loginServer !== undefined && apiKey === undefined) throw new WalletError('API_KEY_MISSING', {})
  const pluginOptions: Record<string, JsonObject> = {}
  for (const { id } of currenciesOf(network))
    pluginOptions[id] = { network: PLUGIN_NETWORKS[network], servers: [...(chains[id] ?? [])] }
  return {
    authServer: loginServer ?? null,
    infoServers,
    syncServers,
    ...compact({ apiKey }),
    appId: '',
    pluginOptions
  }
}

/**
 * The shipped plugins that a profile uses: all of them in the fake world; on a real network the currencies that have it, the
 * rate and swap plugins that the profile names, and those that ask no server.
 */
export const shippedPlugins = (profile: RealProfile | undefined): readonly Plugin[] => {
  if (profile === undefined) return defaultPlugins
  const { network, providers } = profile
  const others = defaultPlugins.filter(
    ({ kind, id, hosts = [] }) => kind !== 'currency' && (hosts.length === 0 || providers.includes(id))
  )
  return [...currenciesOf(network), ...others]
}

/** Returns true for the id of a plugin that ships, on whatever network. */
export const isShippedId = (id: string): boolean =>
  [...defaultPlugins, ...utxoCurrencies].some(each => each.id === id)

/** The rate and swap plugins that ship and ask servers, which a profile can name. */
export const nameableProviders = (): readonly Plugin[] =>
  defaultPlugins.filter(({ kind, hosts = [] }) => kind !== 'currency' && hosts.length > 0)

/** The currencies that have a network. */
export const currenciesOf = (network: RealNetwork): readonly CurrencyPlugin[] =>
  utxoCurrenciesOn(PLUGIN_NETWORKS[network])

const PLUGIN_NETWORKS: Readonly<Record<RealNetwork, string>> = {
  main: 'mainnet',
  test: 'testnet',
  regtest: 'regtest'
}

/**
 * The hosts that a profile names, each with its port: `rates.example.org:443`.
 *
 * @param added - those of the plugins that its owner has added
 */
export const namedHosts = (profile: RealProfile, added: readonly string[] = []): ReadonlySet<string> => {
  const { loginServer, syncServers, infoServers, chains } = profile
  const providers = shippedPlugins(profile).flatMap(({ hosts = [] }) => hosts)
  const servers = [loginServer ?? [], syncServers, infoServers, Object.values(chains).flat()].flat()
  return new Set([...servers, ...providers, ...added].map(hostOf))
}

/** `host:port` of an address; a host alone, as plugins write it, is one of https. */
const hostOf = (text: string): string => {
  // Before the address of an HTTP server stands the interface that it has.
  const address = text.replace(/^[a-z]+\+/, '')
  const { protocol, hostname, port } = new URL(address.includes('://') ? address : `https://${address}`)
  const isPlain = protocol === 'http:' || protocol === 'ws:'
  return keyOf(hostname, port === '' ? (isPlain ? 80 : 443) : Number(port))
}

const keyOf = (host: string, port: number): string => `${host.replace(/^\[|\]$/g, '').toLowerCase()}:${port}`

/**
 * Lets requests through to these hosts, each `host:port`, and refuses any other before its name is looked up.
 *
 * @param name - of the profile, for the error
 */
export const onlyNamedHosts = (io: Io, name: string, hosts: ReadonlySet<string>): Io => {
  const check = (host: string): void => {
    if (hosts.has(host)) return
    throw new WalletError('NETWORK', {
      path: host,
      server: host,
      reason: `the profile ${name} does not name it`
    })
  }
  const { fetch, connect, webSocket } = io
  return {
    ...io,
    fetch: async (url, options) => {
      check(hostOf(url))
      return fetch(url, options)
    },
    ...compact({
      connect:
        connect &&
        (async (...args: Parameters<typeof connect>) => {
          const [{ host, port }] = args
          check(keyOf(host, port))
          return connect(...args)
        }),
      webSocket:
        webSocket &&
        (async (...args: Parameters<typeof webSocket>) => {
          check(hostOf(args[0]))
          return webSocket(...args)
        })
    })
  }
}

/** Only a fake world can be controlled. */
export const noControl = (name: string, network: RealNetwork): WorldControl =>
  new Proxy({} as WorldControl, {
    get: (_, method) => {
      // A promise of it is looked at for this.
      if (method === 'then') return undefined
      throw notFake(name, network)
    }
  })

/** The error of a command for the fake world in a real profile. */
export const notFake = (name: string, network: RealNetwork): CliError =>
  new CliError('PROFILE_INVALID', `The profile ${name} is on the ${network} network, and has no fake world`, {
    hint: 'Name a profile of the fake world with --profile.'
  })
