import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { FakeWorld } from '../../fake-server/fake-world.ts'
import { CliError } from '../errors/cli-error.ts'
import { failureOf } from '../errors/failure.ts'
import type { RunningWorld } from './running-world.ts'

/** What can be done to the chain of a fake world from the command line. */
export interface ChainControl {
  /** Pays from the faucet; gives the txid. @throws ADDRESS_INVALID, AMOUNT_INVALID, BROADCAST_REFUSED */
  fund(address: string, native: string): Promise<string>
  /** Mines blocks; gives the new height. @throws OPTION_INVALID */
  mine(count: number): Promise<number>
}

/** The control of a world in this process. */
export const localControl = (world: FakeWorld): ChainControl => ({
  async fund(address, native) {
    const txid = world.chain.fund(address, native)
    await world.saved()
    return txid
  },
  async mine(count) {
    world.chain.mine(count)
    await world.saved()
    return world.chain.height
  }
})

/** The control of a world that `fake start` runs in another process. */
export const remoteControl = ({ control: { url, token } }: Pick<RunningWorld, 'control'>): ChainControl => {
  const call = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const reply = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(body)
    }).catch((error: unknown) => {
      throw new CliError('WORLD_FAILED', 'The running fake world does not answer', { cause: error })
    })
    const answer = (await reply.json()) as Record<string, unknown>
    if (reply.ok) return answer
    throw new CliError(answer.exitCode === 2 ? 'USAGE' : 'WORLD_FAILED', String(answer.message))
  }
  return {
    fund: async (address, native) => String((await call('/fund', { address, native })).txid),
    mine: async count => Number((await call('/mine', { count })).height)
  }
}

/** A control that listens on loopback for whoever knows its token. */
export interface ControlServer {
  readonly url: string
  readonly token: string
  close(): Promise<void>
}

const MAX_BODY = 10_000

/** Lets other processes of the same user control a world. */
export const serveControl = async (control: ChainControl): Promise<ControlServer> => {
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

const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  { control, token }: { readonly control: ChainControl; readonly token: string }
): Promise<void> => {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
  try {
    if (!isOwner(request.headers.authorization, token)) return send(403, { message: 'Not the owner' })
    if (request.url === '/ping') return send(200, {})
    const { address, native, count } = JSON.parse(await bodyOf(request)) as Record<string, unknown>
    if (request.url === '/fund')
      return send(200, { txid: await control.fund(String(address), String(native)) })
    if (request.url === '/mine') return send(200, { height: await control.mine(Number(count)) })
    send(404, { message: 'There is no such control' })
  } catch (error) {
    const { message, exitCode } = failureOf(error)
    send(400, { message, exitCode })
  }
}

const isOwner = (header: string | undefined, token: string): boolean => {
  const given = Buffer.from(header ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > MAX_BODY) throw new CliError('USAGE', 'The request is too large')
  }
  return text === '' ? '{}' : text
}
