import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { compact, tryJsonText } from '../../../kernel/index.ts'
import { endUnusedAgent, isListening } from '../../agent/client.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CommandResult } from '../../output/view.ts'
import { profileCertificates, readFingerprint } from '../../profile/certificates.ts'
import { checkProfileName, chooseUsualProfile, type ProfilePaths } from '../../profile/paths.ts'
import { readProfileStore } from '../../profile/profile-store.ts'
import { currenciesOf, nameableProviders } from '../../profile/real-world.ts'
import {
  checkChainServer,
  checkHttpServer,
  checkProxy,
  nodesOf,
  type RealNetwork,
  type RealProfile,
  readApiKey,
  readNodeLogins,
  readProfile,
  removeApiKey,
  removeProfile,
  writeApiKey,
  writeNodeLogins,
  writeProfile
} from '../../profile/settings.ts'
import { isRecord } from '../../profile/state-files.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirmTyped } from '../../session/confirm.ts'
import type { Session } from '../../session/session.ts'
import { existingProfile, pathsOf, profileNames, shownProfile } from './show-profiles.ts'
import { trustOnTerminal } from './trust-servers.ts'

/** Makes a profile on a real network, after a typed yes. */
export const profileCreate: CommandRun = async (session, name = '') => {
  const paths = pathsOf(session, name)
  const network = session.text('network') as RealNetwork | undefined
  if (network === undefined)
    throw new CliError('USAGE', 'A profile needs its network: --network main, test or regtest', {
      hint: 'Profiles of the fake world need no command: name a new one with --profile.'
    })
  if (name === 'default')
    throw new CliError('PROFILE_INVALID', 'The profile default stays in the fake world; choose another name')
  if (readProfile(paths) !== undefined)
    throw new CliError('PROFILE_INVALID', `There is a profile ${name} already`, {
      next: [{ command: `holdfast profile show ${name}`, why: 'see its servers' }]
    })
  if (hasEntries(paths.data))
    throw new CliError(
      'PROFILE_INVALID',
      `The profile ${name} has data of the fake world; choose another name`
    )
  const none = { syncServers: [], infoServers: [], chains: {}, providers: [] }
  const profile = edited(session, { network, ...none, created: new Date().toISOString() })
  const apiKey = await apiKeyFor(session, profile, false)
  const logins = await nodeLoginsFor(session, paths, profile)
  await confirmTyped(session, {
    question: `${RISKS[network]} The servers that you name see your addresses.`,
    name: 'yes',
    reason: 'This profile leaves the fake world',
    summary: { profile: name, network, servers: [...serversOf(profile)] }
  })
  if (!session.globals.dryRun) {
    if (apiKey !== undefined) writeApiKey(paths, apiKey)
    writeNodeLogins(paths, logins)
    // First: a server that was named with its certificate is never known without it.
    expectFingerprints(session, paths)
    writeProfile(paths, profile)
  }
  return resultOf(session, paths, profile)
}

const RISKS: Readonly<Record<RealNetwork, string>> = {
  main: 'This profile holds real money, which no one can give back once it is sent or its keys are lost.',
  test: 'This profile is on public test networks, whose coins are worth nothing.',
  regtest: 'This profile is on a private test network, whose coins are worth nothing.'
}

/** Changes the servers of a profile; what no flag names stays. */
export const profileEdit: CommandRun = async (session, name = '') => {
  const paths = pathsOf(session, name)
  const before = existingProfile(paths)
  await refuseAgent(paths)
  const profile = edited(session, before)
  // The key of one server is no business of another.
  const isSameServer = before.loginServer === profile.loginServer
  const apiKey = await apiKeyFor(session, profile, isSameServer && readApiKey(paths) !== undefined)
  const logins = await nodeLoginsFor(session, paths, profile)
  if (!session.globals.dryRun) {
    if (apiKey !== undefined) writeApiKey(paths, apiKey)
    else if (!isSameServer) removeApiKey(paths)
    writeNodeLogins(paths, logins)
    // First: a server that was named with its certificate is never known without it.
    expectFingerprints(session, paths)
    writeProfile(paths, profile)
  }
  return resultOf(session, paths, profile)
}

/** Shows or chooses the profile that is used while none is named. */
export const profileDefault: CommandRun = async (session, name) => {
  const { environment } = session.terminal
  if (name !== undefined) {
    checkProfileName(name)
    const isKnown = name === 'default' || profileNames(environment).includes(name)
    if (!isKnown) throw notFound(name)
    if (!session.globals.dryRun) chooseUsualProfile(environment, name)
  }
  const chosen = name ?? session.globals.usualProfile
  return { data: { name: chosen }, view: { kind: 'text', lines: [chosen] } }
}

/** Deletes a profile with everything that this computer has of it. */
export const profileRemove: CommandRun = async (session, name = '') => {
  const { environment } = session.terminal
  const paths = pathsOf(session, name)
  if (!profileNames(environment).includes(name)) throw notFound(name)
  await refuseAgent(paths)
  const network = readProfile(paths)?.network ?? 'fake'
  const store = storeUrl(paths)
  const { accounts, deviceOnly } = accountsIn(join(paths.device, 'logins'))
  const lost =
    deviceOnly === 0
      ? ''
      : ` ${deviceOnly} of them ${deviceOnly === 1 ? 'is' : 'are'} on this device only: without a backup the wallets and their coins are lost.`
  await confirmTyped(session, {
    question:
      `This deletes the ${network} profile ${name} on this computer, with ${accounts} ` +
      `${accounts === 1 ? 'account' : 'accounts'} and everything that is not on a server.${lost}`,
    name,
    summary: { profile: name, network, accounts, deviceOnly }
  })
  if (!session.globals.dryRun) {
    if (session.globals.usualProfile === name) chooseUsualProfile(environment, 'default')
    // The settings go last: what is left of a real profile after a crash is never one of the fake world.
    for (const folder of [paths.data, paths.state, paths.cache])
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    removeProfile(paths)
    rmSync(paths.config, { recursive: true, force: true, maxRetries: 3 })
  }
  return {
    data: { name, network, accounts, deviceOnly },
    view: { kind: 'text', lines: [`The profile ${name} is deleted.`] },
    ...compact({ advice: store === undefined ? undefined : [`What is in ${store} stays there.`] })
  }
}

/** The address of the store of a profile that is going to be deleted, also with damaged settings. */
const storeUrl = (paths: ProfilePaths): string | undefined => {
  try {
    return readProfileStore(paths)?.url
  } catch {
    return undefined
  }
}

/** Counts the accounts of a device, and those that may be nowhere else: one that cannot be read counts as one. */
const accountsIn = (folder: string): { readonly accounts: number; readonly deviceOnly: number } => {
  const files = existsSync(folder) ? readdirSync(folder).filter(file => file.endsWith('.json')) : []
  const isDeviceOnly = (file: string): boolean => {
    try {
      const stash = tryJsonText(readFileSync(join(folder, file), 'utf8'))
      return !isRecord(stash) || stash.deviceOnly !== undefined
    } catch {
      return true
    }
  }
  return { accounts: files.length, deviceOnly: files.filter(isDeviceOnly).length }
}

/** An agent keeps the servers and the proxy that it has begun with. @throws CliError AGENT_RUNNING */
export const refuseAgent = async ({ name, state }: ProfilePaths): Promise<void> => {
  await endUnusedAgent(state)
  if (!(await isListening(state))) return
  throw new CliError('AGENT_RUNNING', `The agent of the profile ${name} is running`, {
    next: [{ command: `holdfast agent stop --profile ${name}`, why: 'end it first' }]
  })
}

const notFound = (name: string): CliError =>
  new CliError('NOT_FOUND', `There is no profile ${name}`, {
    next: [{ command: 'holdfast profile list', why: 'see their names' }]
  })

const hasEntries = (folder: string): boolean => existsSync(folder) && readdirSync(folder).length > 0

/** The settings with what the flags say. */
const edited = (session: Session, before: RealProfile): RealProfile => {
  const { loginServer: _, proxy: __, pinsCertificates: ___, nodeCookies: ____, ...others } = before
  const given = session.text('loginServer')
  const loginServer = given === undefined ? before.loginServer : ofNone(given, checkHttpServer)
  const givenProxy = session.text('proxy')
  const proxy = givenProxy === undefined ? before.proxy : ofNone(givenProxy, checkProxy)
  const first = session.text('certificates')
  const pins = first === undefined ? before.pinsCertificates === true : first === 'pin'
  const list = (flag: string, present: readonly string[], check: (text: string) => string): string[] => {
    const texts = session.texts(flag)
    const named = texts.length === 0 ? present : texts.flatMap(text => ofNone(text, check) ?? [])
    return [...new Set(named)]
  }
  return {
    ...others,
    ...compact({ loginServer, proxy, pinsCertificates: pins ? (true as const) : undefined }),
    syncServers: list('syncServer', before.syncServers, checkHttpServer),
    infoServers: list('infoServer', before.infoServers, checkHttpServer),
    providers: list('provider', before.providers, checkProvider),
    ...editedNodes(session, before)
  }
}

/** The chain servers, and the files with the logins of nodes, without those of nodes that are named no more. */
const editedNodes = (session: Session, before: RealProfile): Pick<RealProfile, 'chains' | 'nodeCookies'> => {
  const chains = editedChains(session, before)
  const cookies = new Map(Object.entries(before.nodeCookies ?? {}))
  const nodes = nodesOf({ chains })
  for (const text of session.texts('nodeCookie')) {
    const [, node = '', file = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? []
    if (!nodes.includes(node))
      throw new CliError(
        'USAGE',
        '--node-cookie is the host and the port of a node that --chain names, with a file',
        {
          hint: 'Such as --node-cookie 127.0.0.1:8332=/home/me/.bitcoin/.cookie'
        }
      )
    if (file === 'none') cookies.delete(node)
    else cookies.set(node, resolve(file))
  }
  const nodeCookies = Object.fromEntries([...cookies].filter(([node]) => nodes.includes(node)))
  return {
    chains,
    ...compact({ nodeCookies: Object.keys(nodeCookies).length === 0 ? undefined : nodeCookies })
  }
}

const ofNone = (text: string, check: (text: string) => string): string | undefined =>
  text === 'none' ? undefined : check(text)

const checkProvider = (id: string): string => {
  const known = nameableProviders().map(plugin => plugin.id)
  if (known.includes(id)) return id
  throw new CliError('USAGE', `There is no provider ${id.slice(0, 100)}`, {
    hint: `The providers are ${known.join(', ')}. Plugins that you add are asked for by holdfast plugins add.`
  })
}

const editedChains = (session: Session, { network, chains }: RealProfile): RealProfile['chains'] => {
  const known = currenciesOf(network).map(({ id }) => id)
  const given = new Map<string, string[]>()
  for (const text of session.texts('chain')) {
    const { id, server } = readChain(text)
    if (!known.includes(id))
      throw new CliError('USAGE', `--chain is a currency of the ${network} network with a server`, {
        hint: `Such as --chain ${known[0]}=tls://electrum.example.org:50002. The currencies are ${known.join(', ')}.`
      })
    const servers = given.get(id) ?? []
    given.set(id, servers)
    if (server !== 'none' && !servers.includes(server)) servers.push(checkChainServer(server))
  }
  const all = { ...chains, ...Object.fromEntries(given) }
  return Object.fromEntries(Object.entries(all).filter(([, servers]) => servers.length > 0))
}

/** Reads `currency=server#fingerprint`. */
const readChain = (
  text: string
): { readonly id: string; readonly server: string; readonly fingerprint: string | undefined } => {
  const [, id = '', server = '', fingerprint] = /^([^=]+)=([^#]+)(?:#(.*))?$/s.exec(text) ?? []
  const isTls = /^(?:tls|wss):/.test(server)
  if (fingerprint !== undefined && !(isTls && readFingerprint(fingerprint) !== undefined))
    throw new CliError(
      'USAGE',
      'After a server of TLS and a # stands the SHA-256 of its certificate, 64 digits'
    )
  return { id, server, fingerprint: readFingerprint(fingerprint) }
}

/** Pins the fingerprints that servers were written with. */
const expectFingerprints = (session: Session, paths: ProfilePaths): void => {
  const certificates = profileCertificates(paths, false)
  for (const text of session.texts('chain')) {
    const { server, fingerprint } = readChain(text)
    if (fingerprint === undefined) continue
    const { hostname, port } = new URL(server)
    certificates.pin(`${hostname.replace(/^\[|\]$/g, '')}:${port === '' ? 443 : port}`, { fingerprint })
  }
}

/** The API key from a file, standard input or a prompt; undefined where none is needed, or the present one stays. */
const apiKeyFor = async (
  session: Session,
  { loginServer }: RealProfile,
  hasKey: boolean
): Promise<string | undefined> => {
  const given = await session.secrets.given('api-key')
  if (given !== undefined) return given
  if (loginServer === undefined || hasKey || !session.secrets.canPrompt) return undefined
  return session.secrets.prompt('api-key', { message: 'API key of the login server:' })
}

/** The logins of the nodes that a profile names, with one that is new; those of others are forgotten. */
const nodeLoginsFor = async (
  session: Session,
  paths: ProfilePaths,
  profile: RealProfile
): Promise<Readonly<Record<string, string>>> => {
  const { nodeCookies = {} } = profile
  const nodes = nodesOf(profile).filter(node => nodeCookies[node] === undefined)
  const kept = Object.fromEntries(
    Object.entries(readNodeLogins(paths)).filter(([node]) => nodes.includes(node))
  )
  const named = nodesOf({ chains: { named: session.texts('chain').flatMap(text => readChain(text).server) } })
  const given = await session.secrets.given('node-login')
  const targets =
    given === undefined ? nodes.filter(node => kept[node] === undefined) : named.length > 0 ? named : nodes
  const [target] = targets
  if (given === undefined && (target === undefined || !session.secrets.canPrompt)) return kept
  if (target === undefined || targets.length > 1)
    throw new CliError('USAGE', 'A login is one of one node: name it with --chain in the same command', {
      hint: 'Such as --chain bitcoin=rpc+http://127.0.0.1:8332. Each further node needs a profile edit of its own.'
    })
  const login =
    given ??
    (await session.secrets.prompt('node-login', {
      message: `Login of the node ${target}, as user:password:`
    }))
  if (!/^[^:]+:./.test(login)) throw new CliError('USAGE', 'The login of a node is written as user:password')
  return { ...kept, [target]: login }
}

const serversOf = ({ loginServer, syncServers, infoServers, chains }: RealProfile): readonly string[] =>
  [loginServer ?? [], syncServers, infoServers, Object.values(chains).flat()].flat()

const resultOf = async (
  session: Session,
  paths: ProfilePaths,
  profile: RealProfile
): Promise<CommandResult> => {
  const warnings = await trustOnTerminal(session, paths, profile)
  const { name } = paths
  return {
    ...shownProfile(session, name, profile),
    ...{ warnings, advice: [`Use it with --profile ${name}, or always: holdfast profile default ${name}`] }
  }
}
