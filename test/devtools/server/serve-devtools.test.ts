import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { WebSocket } from 'ws'
import type { ClientMessage } from '../../../devtools/core/protocol/protocol.ts'
import { SOCKET_PROTOCOL, tokenProtocolOf } from '../../../devtools/core/protocol/server-paths.ts'
import { type PanelFiles, readPanelFiles } from '../../../devtools/server/panel-files.ts'
import {
  CUT_BYTES,
  type DevtoolsServer,
  type HostChannel,
  MAX_CLIENTS,
  MAX_MESSAGE,
  SLOW_BYTES,
  serveDevtools
} from '../../../devtools/server/serve-devtools.ts'
import { query, type Reply } from '../../helpers/query.ts'

const PAGE = '<!doctype html><script type="module" src="/panel.js"></script>'

const files: PanelFiles = new Map([
  ['/', { contentType: 'text/html; charset=utf-8', body: Buffer.from(PAGE) }],
  ['/panel.js', { contentType: 'text/javascript; charset=utf-8', body: Buffer.from('export {}') }]
])

interface Scene {
  readonly server: DevtoolsServer
  readonly host: string
  readonly channels: HostChannel[]
  readonly received: ClientMessage[]
  /** How many channels have ended. */
  readonly ended: () => number
}

/** A server whose kernel only listens. */
const serve = async (t: ExecutionContext, given: PanelFiles = files): Promise<Scene> => {
  const channels: HostChannel[] = []
  const received: ClientMessage[] = []
  let ended = 0
  const server = await serveDevtools({
    files: given,
    attach(channel) {
      channels.push(channel)
      channel.onMessage(message => received.push(message))
      return () => {
        ended += 1
      }
    }
  })
  t.teardown(() => server.close())
  return { server, host: `127.0.0.1:${server.port}`, channels, received, ended: () => ended }
}

interface Attempt {
  readonly path?: string
  readonly origin?: string | undefined
  readonly host?: string
  readonly protocols?: string[]
}

/** How the page opens its socket, unless an attack changes something. */
const open = ({ server, host }: Scene, attempt: Attempt = {}): WebSocket => {
  const origin = 'origin' in attempt ? attempt.origin : `http://${host}`
  const { protocols = [SOCKET_PROTOCOL, tokenProtocolOf(server.token)] } = attempt
  return new WebSocket(`ws://${host}${attempt.path ?? '/socket'}`, protocols, {
    headers: {
      ...(origin === undefined ? {} : { origin }),
      ...(attempt.host === undefined ? {} : { host: attempt.host })
    }
  })
}

const opened = async (scene: Scene, attempt?: Attempt): Promise<WebSocket> => {
  const socket = open(scene, attempt)
  await once(socket, 'open')
  return socket
}

/** What the server answers to an attempt that it does not let in. */
const refusal = (scene: Scene, attempt: Attempt): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const socket = open(scene, attempt)
    socket.on('open', () => reject(new Error('It was let in')))
    socket.on('error', () => {})
    socket.on('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8')
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
      })
    })
  })

const closeOf = async (socket: WebSocket): Promise<number> => (await once(socket, 'close'))[0]

const eventually = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise(resolve => setTimeout(resolve, 5))
}

test('the page, its script and its style are served with headers that forbid all else', async t => {
  const { server, host } = await serve(t)
  const page = await query(server, '/')
  t.deepEqual([page.status, page.body], [200, PAGE])
  const { date: _date, connection: _connection, ...headers } = page.headers
  t.deepEqual(headers, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(PAGE.length),
    'content-security-policy':
      `default-src 'none'; script-src 'self'; style-src 'self'; connect-src ws://${host}; ` +
      "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'; trusted-types 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store'
  })
  const script = await query(server, '/panel.js')
  t.deepEqual(
    [script.status, script.headers['content-type'], script.body],
    [200, 'text/javascript; charset=utf-8', 'export {}']
  )
  const head = await query(server, '/panel.js', { method: 'HEAD' })
  t.deepEqual([head.status, head.headers['content-length'], head.body], [200, '9', ''])
})

test('the page by the name localhost may open the socket of that name', async t => {
  const scene = await serve(t)
  const named = `localhost:${scene.server.port}`
  const page = await query(scene.server, '/', { headers: { host: named } })
  t.is(page.status, 200)
  t.true(String(page.headers['content-security-policy']).includes(`connect-src ws://${named};`))
  const socket = await opened(scene, { host: named, origin: `http://${named}` })
  t.is(socket.protocol, SOCKET_PROTOCOL)
})

test('a path that is no file of the list finds nothing, however it is written', async t => {
  const { server } = await serve(t)
  const paths = [
    '/index.html',
    '/panel.js/',
    '/PANEL.JS',
    '//panel.js',
    '/../package.json',
    '/..%2f..%2fpackage.json',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/panel.js%00.html',
    '/panel.js\\..\\x',
    '/socket',
    '/__proto__',
    'http://127.0.0.1/panel.js',
    '*'
  ]
  for (const path of paths) t.is((await query(server, path)).status, 404, path)
  t.is((await query(server, '/?a=/../x')).status, 200)
})

test('only GET and HEAD are answered', async t => {
  const { server } = await serve(t)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE']) {
    const reply = await query(server, '/', { method })
    t.deepEqual([reply.status, reply.headers.allow], [405, 'GET, HEAD'], method)
  }
})

test('a request for another host gets 403 and not a word, as under DNS rebinding', async t => {
  const { server } = await serve(t)
  const hosts = [
    'evil.example',
    `evil.example:${server.port}`,
    '127.0.0.1',
    'localhost',
    `127.0.0.1:${server.port + 1}`,
    `127.0.0.1.evil.example:${server.port}`,
    `localhost.:${server.port}`,
    `LOCALHOST:${server.port}`,
    `[::1]:${server.port}`,
    `0.0.0.0:${server.port}`
  ]
  for (const host of hosts) {
    const reply = await query(server, '/', { headers: { host } })
    t.deepEqual([reply.status, reply.body], [403, ''], host)
    t.is(reply.headers['content-security-policy'], undefined)
  }
})

test('the socket opens for our own page with our token alone, and names no token in its answer', async t => {
  const scene = await serve(t)
  const { server, host } = scene
  t.is(Buffer.from(server.token, 'base64url').length, 32)
  const proof = tokenProtocolOf(server.token)
  const otherLetter = server.token.endsWith('A') ? 'B' : 'A'
  const attempts: [string, Attempt][] = [
    ['no token', { protocols: [SOCKET_PROTOCOL] }],
    ['an empty token', { protocols: [SOCKET_PROTOCOL, 'token.'] }],
    ['another token', { protocols: [SOCKET_PROTOCOL, tokenProtocolOf('A'.repeat(43))] }],
    ['almost the token', { protocols: [SOCKET_PROTOCOL, proof.slice(0, -1) + otherLetter] }],
    ['a longer token', { protocols: [SOCKET_PROTOCOL, `${proof}A`] }],
    ['the token alone', { protocols: [proof] }],
    ['the token first', { protocols: [proof, SOCKET_PROTOCOL] }],
    ['many guesses', { protocols: [SOCKET_PROTOCOL, proof, tokenProtocolOf('B')] }],
    ['no protocol', { protocols: [] }],
    ['no origin', { origin: undefined }],
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['the null origin', { origin: 'null' }],
    ['an origin on another port', { origin: `http://127.0.0.1:${server.port + 1}` }],
    ['an origin under TLS', { origin: `https://${host}` }],
    ['the other name of us', { origin: `http://localhost:${server.port}` }],
    [
      'a rebinding host',
      { host: `evil.example:${server.port}`, origin: `http://evil.example:${server.port}` }
    ],
    ['a rebinding host with our origin', { host: `evil.example:${server.port}` }],
    ['another path', { path: '/' }],
    ['a token in the query', { path: `/socket?token=${server.token}`, protocols: [SOCKET_PROTOCOL] }]
  ]
  for (const [name, attempt] of attempts) {
    const reply = await refusal(scene, attempt)
    t.deepEqual([reply.status, reply.body], [403, ''], name)
    t.deepEqual(reply.headers, { connection: 'close', 'content-length': '0' }, name)
  }
  t.deepEqual(scene.channels, [])
  const socket = open(scene)
  const [response] = await once(socket, 'upgrade')
  t.is(response.headers['sec-websocket-protocol'], SOCKET_PROTOCOL)
  t.false(JSON.stringify(response.headers).includes(server.token))
  await eventually(() => scene.channels.length === 1)
})

test('the address of the page holds the token in the fragment, and each server has another', async t => {
  const [one, two] = [await serve(t), await serve(t)]
  const url = new URL(one.server.url)
  t.deepEqual(
    [url.origin, url.pathname, url.search, url.hash],
    [`http://${one.host}`, '/', '', `#token=${one.server.token}`]
  )
  t.not(one.server.token, two.server.token)
})

test('messages go both ways, and the end of a socket detaches its panel', async t => {
  const scene = await serve(t)
  const socket = await opened(scene)
  const subscribe: ClientMessage = { type: 'subscribe', version: 1, sinceSeq: 4 }
  const call: ClientMessage = { type: 'call', id: 1, action: 'rates.refresh', input: {} }
  socket.send(JSON.stringify(subscribe))
  socket.send(JSON.stringify(call))
  await eventually(() => scene.received.length === 2)
  t.deepEqual(scene.received, [subscribe, call])
  const result = { type: 'result', id: 1, output: { done: true } } as const
  scene.channels[0]?.send(result)
  t.deepEqual(JSON.parse(String((await once(socket, 'message'))[0])), result)
  t.is(scene.ended(), 0)
  socket.close()
  await eventually(() => scene.ended() === 1)
})

test('a frame that is not JSON ends the socket, and later frames are ignored', async t => {
  const scene = await serve(t)
  const call = { type: 'call', id: 1, action: 'rates.refresh', input: {} }
  const frames: [string | Buffer, number][] = [
    ['', 1008],
    ['garbage', 1008],
    ['{"type":"subscribe"', 1008],
    [Buffer.from(JSON.stringify(call)), 1003],
    [JSON.stringify({ ...call, input: { text: 'x'.repeat(MAX_MESSAGE) } }), 1009]
  ]
  for (const [frame, code] of frames) {
    const socket = await opened(scene)
    socket.send(frame)
    socket.send(JSON.stringify(call))
    t.is(await closeOf(socket), code, String(frame).slice(0, 80))
  }
  await eventually(() => scene.ended() === frames.length)
  t.deepEqual(scene.received, [])
})

test('more panels than allowed are sent away until one has gone', async t => {
  const scene = await serve(t)
  const sockets: WebSocket[] = []
  for (let index = 0; index < MAX_CLIENTS; index++) sockets.push(await opened(scene))
  t.is(await closeOf(open(scene)), 1013)
  t.is(scene.channels.length, MAX_CLIENTS)
  sockets[0]?.close()
  await eventually(() => scene.ended() === 1)
  await opened(scene)
  t.is(scene.channels.length, MAX_CLIENTS + 1)
})

test('a panel that does not read is slow first and cut off later', async t => {
  const scene = await serve(t)
  const socket = await opened(scene)
  socket.pause()
  await eventually(() => scene.channels.length === 1)
  const [channel] = scene.channels
  if (channel === undefined) throw new Error('No channel')
  const message = { type: 'result', id: 1, output: { text: 'x'.repeat(500_000) } } as const
  t.false(channel.isSlow())
  let sent = 0
  while (!channel.isSlow()) {
    channel.send(message)
    sent += 500_000
    t.true(sent < 10 * SLOW_BYTES + CUT_BYTES)
  }
  t.is(scene.ended(), 0)
  for (let more = 0; more < 2 * CUT_BYTES; more += 500_000) channel.send(message)
  await eventually(() => scene.ended() === 1)
})

test('a panel that reads gets all messages at once, however many', async t => {
  const scene = await serve(t)
  const socket = await opened(scene)
  await eventually(() => scene.channels.length === 1)
  const text = 'x'.repeat(CUT_BYTES + SLOW_BYTES)
  const received = Promise.race([once(socket, 'message'), once(socket, 'close')])
  scene.channels[0]?.send({ type: 'result', id: 1, output: { text } })
  t.is(String((await received)[0]).length, JSON.stringify({ type: 'result', id: 1, output: { text } }).length)
  t.is(scene.ended(), 0)
})

test('a slow panel that has caught up is no longer slow', async t => {
  const scene = await serve(t)
  const socket = await opened(scene)
  socket.pause()
  await eventually(() => scene.channels.length === 1)
  const [channel] = scene.channels
  if (channel === undefined) throw new Error('No channel')
  while (!channel.isSlow()) channel.send({ type: 'result', id: 1, output: { text: 'x'.repeat(500_000) } })
  socket.resume()
  await eventually(() => !channel.isSlow())
  t.is(scene.ended(), 0)
})

test('garbage instead of a request harms no other connection', async t => {
  const scene = await serve(t)
  for (const bytes of [
    '\u0000\u0001\u0002\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'
  ]) {
    const socket = connect(scene.server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(bytes)
    socket.resume()
    await once(socket, 'close')
  }
  const rude = connect(scene.server.port, '127.0.0.1')
  rude.write(
    `GET /socket HTTP/1.1\r\nHost: ${scene.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
  )
  rude.resetAndDestroy()
  t.is((await query(scene.server, '/')).status, 200)
})

test('an upgrade with the right proofs that is no WebSocket is refused', async t => {
  const scene = await serve(t)
  const headers = {
    connection: 'Upgrade',
    upgrade: 'h2c',
    origin: `http://${scene.host}`,
    'sec-websocket-protocol': `${SOCKET_PROTOCOL}, ${tokenProtocolOf(scene.server.token)}`
  }
  const reply = await query(scene.server, '/socket', { headers })
  t.is(reply.status, 400)
  t.deepEqual(scene.channels, [])
})

test('without a built page there is a sentence instead of a panel, also of what was read', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-panel-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'panel.js'), 'export {}')
  const { server } = await serve(t, readPanelFiles(folder))
  const reply = await query(server, '/')
  t.deepEqual([reply.status, reply.body], [503, 'The panel has not been built. Run: npm run build\n'])

  writeFileSync(join(folder, 'index.html'), PAGE)
  writeFileSync(join(folder, 'secret.txt'), 'not on the list')
  const read = readPanelFiles(folder)
  t.deepEqual([...read.keys()], ['/', '/panel.js'])
  t.is(read.get('/')?.body.toString('utf8'), PAGE)
})

test('a panel that answers no ping until the next one is cut off, and one that does stays', async t => {
  let beat = (): void => {}
  let received = 0
  const server = await serveDevtools({
    files,
    attach(channel) {
      channel.onMessage(() => {
        received += 1
      })
      return () => {}
    },
    every(_milliseconds, call) {
      beat = call
      return () => {}
    }
  })
  t.teardown(() => server.close())
  const host = `127.0.0.1:${server.port}`
  const join = async (autoPong: boolean): Promise<WebSocket> => {
    const protocols = [SOCKET_PROTOCOL, tokenProtocolOf(server.token)]
    const socket = new WebSocket(`ws://${host}/socket`, protocols, { origin: `http://${host}`, autoPong })
    await once(socket, 'open')
    return socket
  }
  const [alive, dead] = [await join(true), await join(false)]
  const deadCode = closeOf(dead)
  for (let round = 1; round <= 3; round++) {
    const pings = [once(alive, 'ping'), ...(round === 1 ? [once(dead, 'ping')] : [])]
    beat()
    await Promise.all(pings)
    // What is sent after the answer to the ping has come after it.
    alive.send('{}')
    await eventually(() => received === round)
    if (round === 2) t.is(await deadCode, 1006)
  }
  t.is(alive.readyState, WebSocket.OPEN)
})

test('a server that ends notifies its panels and releases its port', async t => {
  const scene = await serve(t)
  const socket = await opened(scene)
  const code = closeOf(socket)
  await scene.server.close()
  t.is(await code, 1001)
  t.is(scene.ended(), 1)
  const again = await serveDevtools({ attach: () => () => {}, files, port: scene.server.port })
  t.is(again.port, scene.server.port)
  await again.close()
})

test('a refused client that does not hang up delays no other', async t => {
  const scene = await serve(t)
  const socket = connect({ port: scene.server.port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(
    `GET /socket HTTP/1.1\r\nHost: ${scene.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
  )
  const [reply] = await once(socket, 'data')
  t.regex(String(reply), /^HTTP\/1\.1 403 /)
  await scene.server.close()
  await eventually(() => socket.readableEnded || socket.destroyed)
  t.pass()
})

test('a port that is taken is refused', async t => {
  const { server } = await serve(t)
  await t.throwsAsync(serveDevtools({ attach: () => () => {}, files, port: server.port }), {
    code: 'EADDRINUSE'
  })
})
