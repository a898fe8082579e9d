import type { TcpAddress } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { failureOf } from '../../errors/failure.ts'
import type { CommandResult } from '../../output/view.ts'
import { type ProfileCertificates, profileCertificates } from '../../profile/certificates.ts'
import type { ProfilePaths } from '../../profile/paths.ts'
import { proxyOf, type RealProfile } from '../../profile/settings.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import type { Session } from '../../session/session.ts'
import { canPrompt } from '../../terminal/terminal.ts'
import { existingProfile, pathsOf } from './show-profiles.ts'

/** A server of a chain that speaks TLS. */
interface TlsServer {
  readonly url: string
  /** `host:port`. */
  readonly server: string
  readonly address: TcpAddress
}

/** What was found of a server. */
interface SeenServer {
  readonly server: string
  readonly state: 'authority' | 'pinned' | 'not pinned' | 'not reached' | 'damaged'
  readonly fingerprint?: string
  readonly problem?: string
}

/** Shows the certificates of a profile's servers, and pins those that are self-signed; or forgets one. */
export const profileTrust: CommandRun = async (session, name = session.globals.profile) => {
  const paths = pathsOf(session, name)
  const profile = existingProfile(paths)
  const certificates = profileCertificates(paths, false)
  const forgotten = session.texts('forget').map(text => forget(session, certificates, text))
  if (forgotten.length > 0)
    return {
      data: { name, forgotten },
      view: { kind: 'text', lines: forgotten.map(server => `The certificate of ${server} is forgotten.`) }
    }
  const seen = await trustNewServers(session, profile, certificates)
  return { data: { name, servers: seen.map(each => ({ ...each })) }, view: viewOf(seen) }
}

/** After a profile has got servers on a terminal, asks for those that are new; a failure is a warning. */
export const trustOnTerminal = async (
  session: Session,
  paths: ProfilePaths,
  profile: RealProfile
): Promise<readonly string[]> => {
  const { input, yes, dryRun, json } = session.globals
  if (!input || yes || dryRun || json || !canPrompt(session.terminal)) return []
  const seen = await trustNewServers(session, profile, profileCertificates(paths, false))
  return seen.flatMap(({ server, problem }) => (problem === undefined ? [] : [`${server}: ${problem}`]))
}

const forget = (session: Session, certificates: ProfileCertificates, text: string): string => {
  const server = text
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/\/.*$/, '')
    .toLowerCase()
  // A damaged file is forgotten, too.
  const isKnown = session.globals.dryRun
    ? certificates.list().some(known => known.server === server)
    : certificates.forget(server)
  if (isKnown) return server
  throw new CliError('NOT_FOUND', `No certificate of ${server} is remembered`, {
    hint: 'Servers are named as host:port; holdfast profile show lists them.'
  })
}

const trustNewServers = async (
  session: Session,
  profile: RealProfile,
  certificates: ProfileCertificates
): Promise<readonly SeenServer[]> => {
  const seen: SeenServer[] = []
  for (const target of tlsServersOf(profile)) {
    session.signal.throwIfAborted()
    seen.push(await trustServer(session, profile, { target, certificates }))
  }
  return seen
}

const trustServer = async (
  session: Session,
  profile: RealProfile,
  { target, certificates }: { readonly target: TlsServer; readonly certificates: ProfileCertificates }
): Promise<SeenServer> => {
  const { server, address } = target
  let known: ReturnType<typeof certificates.find>
  try {
    known = certificates.find(server)
  } catch (error) {
    return { server, state: 'damaged', problem: failureOf(error).message }
  }
  if (typeof known === 'object') return { server, state: 'pinned', fingerprint: known.fingerprint }
  if (known === 'authority') return { server, state: 'authority' }
  session.statusLine.step(`reading the certificate of ${server}…`)
  const { makeSockets } = await import('../../../platform/node/open-socket.ts')
  const sockets = makeSockets(proxyOf(profile), 'certificates')
  let shown: Awaited<ReturnType<typeof sockets.certificateOf>>
  try {
    shown = await session.withTimeout(`The certificate of ${server}`, () => sockets.certificateOf(address))
  } catch (error) {
    return { server, state: 'not reached', problem: failureOf(error).message }
  }
  const { fingerprint } = shown
  if (!shown.isSelfSigned) return { server, state: 'authority', fingerprint }
  session.statusLine.clear()
  try {
    await confirm(session, {
      question:
        `The certificate of ${server} is self-signed, as of most Electrum servers. SHA-256:\n${fingerprint}\n` +
        'Compare it with what the operator says. Pin it, and refuse any other from now on?',
      summary: { server, fingerprint }
    })
  } catch (error) {
    if (!(error instanceof CliError && error.code === 'DECLINED')) throw error
    return {
      server,
      state: 'not pinned',
      fingerprint,
      problem: 'its certificate is not pinned, so it is not used'
    }
  }
  if (!session.globals.dryRun) certificates.pin(server, shown)
  return { server, state: 'pinned', fingerprint }
}

const tlsServersOf = ({ chains }: RealProfile): readonly TlsServer[] => {
  const urls = new Set(Object.values(chains).flat())
  return [...urls].flatMap(url => {
    const { protocol, hostname, port } = new URL(url)
    if (protocol !== 'tls:' && protocol !== 'wss:') return []
    const host = hostname.replace(/^\[|\]$/g, '')
    const address = { host, port: port === '' ? 443 : Number(port), isTls: true }
    return [{ url, server: `${host.toLowerCase()}:${address.port}`, address }]
  })
}

const viewOf = (seen: readonly SeenServer[]): CommandResult['view'] => ({
  kind: 'table',
  columns: [{ title: 'SERVER' }, { title: 'CERTIFICATE' }, { title: 'SHA-256' }],
  rows: seen.map(({ server, state, fingerprint = '', problem }) => [
    server,
    { text: problem ?? state, tone: problem === undefined ? 'plain' : 'warn' },
    fingerprint
  ]),
  empty: 'This profile names no server that speaks TLS.'
})
