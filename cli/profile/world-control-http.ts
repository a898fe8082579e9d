import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { catalogue, parseJsonText, WalletError } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { type CliErrorCode, cliErrors } from '../errors/cli-errors.ts'
import { failureOf } from '../errors/failure.ts'
import type { RunningWorld } from './running-world.ts'
import type { WorldControl } from './world-control.ts'

/** A control that listens on loopback for whoever knows its token. */
export interface ControlServer {
  readonly url: string
  readonly token: string
  close(): Promise<void>
}

/** The control of a world that `fake start` runs in another process; it fails as the one there does. */
export const remoteControl = ({ control: { url, token } }: Pick<RunningWorld, 'control'>): WorldControl => {
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
      readonly failure?: ToldFailure
    }
    if (answer.failure !== undefined) throw errorOf(answer.failure)
    return answer.result
  }
  const methods = NAMES.map(name => [name, (...args: readonly unknown[]) => call(name, args)])
  return Object.fromEntries(methods) as WorldControl
}

/** Lets other processes of the same user control a world. */
export const serveControl = async (control: WorldControl): Promise<ControlServer> => {
  const token = randomBytes(24).toString('hex')
  const http = createServer((request, response) => {
    void answer(request, response, { control, token })
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

/** A user with many transactions is the largest thing that is sent. */
const MAX_BODY = 300_000_000
const DUMP_LIMITS = { maxValues: 8_000_000 }

const NAMES = [
  ...(['chainsOf', 'fund', 'mine', 'network', 'changeNetwork', 'now'] as const),
  ...(['skip', 'users', 'loadUser', 'dumpUser', 'requests'] as const)
] satisfies readonly (keyof WorldControl)[]

interface ToldFailure {
  readonly code: string
  readonly message: string
  readonly details: object
}

const errorOf = ({ code, message, details }: ToldFailure): Error => {
  if (Object.hasOwn(catalogue, code)) return new WalletError(code as keyof typeof catalogue, details as never)
  return new CliError(Object.hasOwn(cliErrors, code) ? (code as CliErrorCode) : 'WORLD_FAILED', message)
}

const answer = async (
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
    if (name === undefined) return fail(new CliError('WORLD_FAILED', 'There is no such control'))
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
