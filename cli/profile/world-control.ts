import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { base58 } from '@scure/base'
import type { TrafficLine } from '../../fake-server/base/traffic.ts'
import { type ChainId, chainIds } from '../../fake-server/chain/open-chain.ts'
import { type ChainControl, makeChainControl } from '../../fake-server/chain-control.ts'
import type { FakeWorld } from '../../fake-server/fake-world.ts'
import type { FakeUser } from '../../fake-server/users/fake-user.ts'
import { catalogue, type Io, parseJsonText, WalletError } from '../../kernel/index.ts'
import { CliError, type CliErrorCode, cliErrors } from '../errors/cli-error.ts'
import { failureOf } from '../errors/failure.ts'

/** A user as the servers of a world know it, without its name. Dates are ISO text. */
export interface WorldUser {
  /** Base58. */
  readonly loginId: string
  readonly created: string
  readonly lastLogin: string | null
  /** The root's and those of its apps. */
  readonly logins: number
  readonly hasName: boolean
  readonly hasTwoFactor: boolean
}

/** The user to dump. The key is base58 and a secret. */
export interface WorldUserKey {
  readonly loginId: string
  readonly loginKey: string
  readonly username?: string | undefined
}

/** The operations on a fake world; arguments and results are JSON. */
export interface WorldControl extends ChainControl {
  /** The chains on which an address is valid. */
  chainsOf(address: string): Promise<readonly ChainId[]>
  /** The time of the world, in milliseconds since 1970. */
  now(): Promise<number>
  /** Moves the time forward by milliseconds; gives the new time. */
  skip(milliseconds: number): Promise<number>
  users(): Promise<readonly WorldUser[]>
  /** Takes a user in the deployed format in; gives its base58 login id. @throws BAD_REPLY, ACCOUNT_EXISTS */
  loadUser(user: unknown): Promise<string>
  /** @throws ACCOUNT_NOT_FOUND, DUMP_OF_CHILD, INVALID_CHECKSUM */
  dumpUser(key: WorldUserKey): Promise<FakeUser>
  /** The requests that are remembered, later than a sequence number. */
  requests(after: number): Promise<readonly TrafficLine[]>
}

/** Controls a world in this process; each call resolves when its effect is saved. */
export const localControl = (world: FakeWorld): WorldControl => {
  const { chains, clock, server, saved } = world
  return {
    chainsOf: async address => chainIds.filter(id => chains[id].takes(address)),
    ...makeChainControl(world),
    now: async () => clock.now(),
    async skip(milliseconds) {
      clock.skip(milliseconds)
      await saved()
      return clock.now()
    },
    users: async () => usersOf(world),
    async loadUser(user) {
      const { loadFakeUser } = await import('../../fake-server/users/load-user.ts')
      const { crypto } = await nodeIo()
      const { loginId } = loadFakeUser({ db: server.db, crypto, clock }, user)
      await saved()
      return base58Of(loginId)
    },
    async dumpUser({ loginId, loginKey, username }) {
      const { dumpFakeUser } = await import('../../fake-server/users/dump-user.ts')
      const io = await nodeIo()
      const key = { loginId: io.crypto.toBase64(base58.decode(loginId)), loginKey: base58.decode(loginKey) }
      return dumpFakeUser({ io, db: server.db, clock }, { ...key, username })
    },
    requests: async after => server.traffic.lines.filter(({ sequence }) => sequence > after)
  }
}

const nodeIo = async (): Promise<Io> => (await import('../../platform/node/index.ts')).makeNodeIo()

const base58Of = (base64: string): string => base58.encode(Buffer.from(base64, 'base64'))

const usersOf = ({ server: { db } }: FakeWorld): WorldUser[] => {
  const countOf = (loginId: string): number =>
    db.childrenOf(loginId).reduce((count, child) => count + countOf(child.loginId), 1)
  return db.roots().map(({ loginId, created, lastLogin, userTextBox, otpKey }) => ({
    loginId: base58Of(loginId),
    created,
    lastLogin: lastLogin ?? null,
    logins: countOf(loginId),
    hasName: userTextBox !== undefined,
    hasTwoFactor: otpKey !== undefined
  }))
}

/** The loopback address of a control server, and the token of its owner. */
export interface ControlAddress {
  readonly url: string
  readonly token: string
}

/** A control server on loopback. */
export interface ControlServer extends ControlAddress {
  close(): Promise<void>
}

/** Controls a world that `fake start` runs in another process; calls throw the errors of that process. */
export const remoteControl = ({ url, token }: ControlAddress): WorldControl => {
  const call = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const reply = await fetch(`${url}/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(args)
    }).catch((error: unknown) => {
      throw new CliError('WORLD_FAILED', 'The running fake world does not answer', { cause: error })
    })
    const answer = parseJsonText(await reply.text(), DUMP_LIMITS) as {
      readonly result?: unknown
      readonly failure?: FailureReply
    }
    if (answer.failure !== undefined) throw errorOf(answer.failure)
    return answer.result
  }
  const methods = NAMES.map(name => [name, (...args: readonly unknown[]) => call(name, args)])
  return Object.fromEntries(methods) as WorldControl
}

/** Serves the control of a world to other processes of the same user. */
export const serveControl = async (control: WorldControl): Promise<ControlServer> => {
  const token = randomBytes(24).toString('hex')
  const http = createServer((request, response) => {
    void handleRequest(request, response, { control, token })
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(0, '127.0.0.1', resolve)
  })
  const address = http.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    close: () =>
      new Promise(resolve => {
        http.close(() => resolve())
        http.closeAllConnections()
      })
  }
}

/** A dumped user with many transactions is the largest body. */
const MAX_BODY = 300_000_000
const DUMP_LIMITS = { maxValues: 8_000_000 }

const NAMES = [
  ...(['chainsOf', 'fund', 'mine', 'network', 'changeNetwork', 'now'] as const),
  ...(['skip', 'users', 'loadUser', 'dumpUser', 'requests'] as const)
] satisfies readonly (keyof WorldControl)[]

interface FailureReply {
  readonly code: string
  readonly message: string
  readonly details: object
}

const errorOf = ({ code, message, details }: FailureReply): Error => {
  if (Object.hasOwn(catalogue, code)) return new WalletError(code as keyof typeof catalogue, details as never)
  return new CliError(Object.hasOwn(cliErrors, code) ? (code as CliErrorCode) : 'WORLD_FAILED', message)
}

const handleRequest = async (
  request: IncomingMessage,
  response: ServerResponse,
  { control, token }: { readonly control: WorldControl; readonly token: string }
): Promise<void> => {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
  const fail = (error: unknown): void => {
    const { code, message, details } = failureOf(error)
    send(400, { failure: { code, message, details } })
  }
  try {
    if (!isOwner(request.headers.authorization, token)) return send(403, { message: 'Not the owner' })
    if (request.url === '/ping') return send(200, {})
    const name = NAMES.find(known => request.url === `/${known}`)
    if (name === undefined) return fail(new CliError('WORLD_FAILED', 'Unknown control'))
    const args = parseJsonText(await bodyOf(request), DUMP_LIMITS) as readonly unknown[]
    const method = control[name] as (...given: readonly unknown[]) => Promise<unknown>
    send(200, { result: await method(...args) })
  } catch (error) {
    fail(error)
  }
}

const isOwner = (header: string | undefined, token: string): boolean => {
  const given = Buffer.from(header ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_BODY) throw new CliError('USAGE', 'The request is too large')
    chunks.push(chunk)
  }
  return length === 0 ? '[]' : Buffer.concat(chunks).toString('utf8')
}
