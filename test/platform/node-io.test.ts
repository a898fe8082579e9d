import { execFileSync } from 'node:child_process'
import dns from 'node:dns'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { type WebSocket, WebSocketServer } from 'ws'
import { makeAbort } from '../../kernel/base/deadline.ts'
import type { AbortSignalLike, ChannelHandlers } from '../../kernel/io/io.ts'
import { makeNodeIo } from '../../platform/node/index.ts'

const io = makeNodeIo()
const smallIo = makeNodeIo({ maxReplyBytes: 1000 })

const listen = async (t: ExecutionContext, server: Server): Promise<number> => {
  const sockets = new Set<Socket>()
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

const serve = async (t: ExecutionContext, listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(t, createHttpServer(listener))}`

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** Handlers that remember, and promises for what is awaited. */
const listener = () => {
  const texts: string[] = []
  let wake = (): void => undefined
  let close: (error: Error | undefined) => void = () => undefined
  const closed = new Promise<Error | undefined>(resolve => {
    close = resolve
  })
  const handlers: ChannelHandlers = {
    onText: text => {
      texts.push(text)
      wake()
    },
    onClose: error => {
      texts.push('[closed]')
      close(error)
    }
  }
  const until = async (isDone: (all: string) => boolean): Promise<string> => {
    while (!isDone(texts.join(''))) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
    return texts.join('')
  }
  return { handlers, texts, closed, until }
}

test('fetch sends method, headers and body, and returns status, lower-case headers and text', async t => {
  const base = await serve(t, async (request, response) => {
    const body = await bodyOf(request)
    response.writeHead(418, { 'X-Mixed-Case': 'Yes', 'set-cookie': ['a=1', 'b=2'] })
    response.end(`\ufeff${request.method} ${request.url} ${request.headers.authorization} ${body} ✓`)
  })
  const reply = await io.fetch(`${base}/v2/login?x=1`, {
    method: 'POST',
    headers: { Authorization: 'Token abc' },
    body: '{"ü":1}'
  })
  t.is(reply.status, 418)
  t.is(reply.headers['x-mixed-case'], 'Yes')
  t.is(reply.headers['set-cookie'], 'a=1, b=2')
  t.is(reply.text, 'POST /v2/login?x=1 Token abc {"ü":1} ✓')
  t.regex((await io.fetch(base)).text, /^GET \/ undefined {2}✓$/)
})

test('fetch delivers the body of every method that may have one, DELETE included', async t => {
  const base = await serve(t, async (request, response) => {
    const body = await bodyOf(request)
    response.end(`${request.method} ${request.headers['content-length']} ${body}`)
  })
  for (const method of ['POST', 'PUT', 'DELETE']) {
    for (let count = 0; count < 2; count += 1) {
      t.is((await io.fetch(base, { method, body: '{"ü":1}' })).text, `${method} 8 {"ü":1}`)
    }
  }
})

test('fetch keeps connections for the next request', async t => {
  const ports = new Set<number | undefined>()
  const base = await serve(t, (request, response) => {
    ports.add(request.socket.remotePort)
    response.end('ok')
  })
  for (let i = 0; i < 5; i++) await io.fetch(base)
  t.is(ports.size, 1)
})

test('fetch repeats an idempotent request once when a kept connection turns out dead, and no other', async t => {
  const seen: string[] = []
  const base = await serve(t, (request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (seen.length % 2 === 0) request.socket.resetAndDestroy()
    else response.end('ok')
  })
  t.is((await io.fetch(`${base}/1`)).text, 'ok')
  t.is((await io.fetch(`${base}/2`)).text, 'ok')
  t.deepEqual(seen, ['GET /1', 'GET /2', 'GET /2'])
  await t.throwsAsync(io.fetch(`${base}/3`, { method: 'POST', body: 'once' }), { code: 'ECONNRESET' })
  t.deepEqual(seen.slice(3), ['POST /3'])
  t.is((await io.fetch(`${base}/4`)).text, 'ok')
  await io.fetch(`${base}/5`, { method: 'POST', body: 'twice', isRepeatable: true })
  await t.throwsAsync(io.fetch(`${base}/6`, { isRepeatable: false }), { code: 'ECONNRESET' })
  t.deepEqual(seen.slice(4), ['GET /4', 'POST /5', 'POST /5', 'GET /6'])
})

test('fetch closes a kept connection a second before its server does, by what that one says', async t => {
  const closed: string[] = []
  const base = await serve(t, (request, response) => {
    const { socket, url } = request
    const seconds = Number(url?.slice(1))
    response.setHeader('keep-alive', `timeout=${seconds}`)
    response.end('ok')
    socket.setTimeout(seconds * 1000 + 1, () => closed.push(`server ${url}`))
    socket.once('end', () => closed.push(`client ${url}`))
  })
  await Promise.all(['/2', '/1', '/30'].map(path => io.fetch(base + path)))
  while (closed.length < 2) await new Promise(resolve => setTimeout(resolve, 50))
  t.deepEqual(closed, ['client /1', 'client /2'])
})

test('fetch refuses a body beyond its limit, announced or not, while it streams', async t => {
  let sent = 0
  const base = await serve(t, (request, response) => {
    if (request.url === '/announced') {
      response.writeHead(200, { 'content-length': '1001' })
      response.write('a')
      return
    }
    if (request.url === '/fits') {
      response.end('a'.repeat(1000))
      return
    }
    const more = setInterval(() => {
      sent += 100
      response.write('a'.repeat(100))
    }, 1)
    response.on('close', () => clearInterval(more))
  })
  for (const path of ['announced', 'endless?token=hidden']) {
    const error = await t.throwsAsync(smallIo.fetch(`${base}/${path}`), { code: 'REPLY_TOO_LARGE' })
    t.regex(error?.message ?? '', /larger than 1000 bytes/)
    t.false(error?.message.includes('hidden'))
  }
  t.true(sent < 50_000)
  t.is((await smallIo.fetch(`${base}/fits`)).text.length, 1000)
})

test('fetch follows redirects of the same origin, and hands out those to others', async t => {
  const other = await serve(t, (_request, response) => response.end('stolen'))
  const base = await serve(t, async (request, response) => {
    const [, status, target] = /^\/(\d+)\/(.*)$/.exec(request.url ?? '') ?? []
    if (status === undefined) response.end(`${request.method} ${await bodyOf(request)}`)
    else response.writeHead(Number(status), { location: decodeURIComponent(target ?? '') }).end('moved')
  })
  const post = { method: 'POST', headers: { authorization: 'Token abc' }, body: 'data' }
  t.is((await io.fetch(`${base}/302/%2Fhere`)).text, 'GET ')
  t.is((await io.fetch(`${base}/307/%2Fhere`, post)).text, 'POST data')
  t.is((await io.fetch(`${base}/303/%2Fhere`, post)).text, 'GET ')
  const away = await io.fetch(`${base}/307/${encodeURIComponent(other)}`, post)
  t.is(away.status, 307)
  t.is(away.text, 'moved')
  await t.throwsAsync(io.fetch(`${base}/302/`), { message: /redirects without end/ })
})

test('fetch ends with an AbortError before, during and after the head of the reply', async t => {
  const base = await serve(t, (request, response) => {
    if (request.url === '/body') response.write('half')
  })
  for (const path of ['/head', '/body']) {
    const abort = new AbortController()
    const reply = io.fetch(base + path, { signal: abort.signal })
    setTimeout(() => abort.abort(), 30)
    await t.throwsAsync(reply, { name: 'AbortError' })
    await t.throwsAsync(io.fetch(base + path, { signal: abort.signal }), { name: 'AbortError' })
  }
})

test('fetch rejects where nothing answers, on a reply cut short, and on other addresses', async t => {
  const base = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('short', () => response.destroy())
  })
  await t.throwsAsync(io.fetch(base), { code: 'ECONNRESET' })
  await t.throwsAsync(io.fetch('http://127.0.0.1:1/'), { code: 'ECONNREFUSED' })
  for (const url of ['file:///etc/passwd', 'nonsense', 'ftp://localhost/', 'http://me:pw@localhost/', '']) {
    await t.throwsAsync(io.fetch(url), { instanceOf: TypeError, message: 'This is no http or https address' })
  }
})

test('a TCP channel carries text both ways, whole characters only, and closes once', async t => {
  const port = await listen(
    t,
    createTcpServer(socket => {
      socket.on('data', data => {
        for (const byte of data) socket.write(Uint8Array.of(byte))
        if (data.includes('bye')) socket.end()
      })
    })
  )
  const reported = listener()
  const channel = await io.connect?.({ host: '127.0.0.1', port, isTls: false }, reported.handlers)
  channel?.send('grüße ✓\n')
  t.is(await reported.until(all => all.includes('\n')), 'grüße ✓\n')
  channel?.send('bye')
  t.is(await reported.closed, undefined)
  t.is(reported.texts.join(''), 'grüße ✓\nbye[closed]')
  t.notThrows(() => channel?.send('too late'))
})

test('a TCP channel that its owner closes emits only the close', async t => {
  const port = await listen(
    t,
    createTcpServer(socket => {
      const more = setInterval(() => socket.write('x'), 1)
      socket.on('close', () => clearInterval(more))
    })
  )
  const reported = listener()
  const channel = await io.connect?.({ host: '127.0.0.1', port, isTls: false }, reported.handlers)
  await reported.until(all => all.length > 0)
  channel?.close()
  const before = reported.texts.length
  await reported.closed
  t.deepEqual(reported.texts.slice(before), ['[closed]'])
})

test('a TCP connection that fails rejects, and a peer that does not read is dropped', async t => {
  await t.throwsAsync(
    async () => io.connect?.({ host: '127.0.0.1', port: 1, isTls: false }, listener().handlers),
    {
      code: 'ECONNREFUSED'
    }
  )
  const port = await listen(
    t,
    createTcpServer(socket => socket.pause())
  )
  await t.throwsAsync(async () => {
    const late = setTimeout(() => undefined, 10_000)
    t.teardown(() => clearTimeout(late))
    const plain = createTcpServer(socket => socket.end('no tls here'))
    return io.connect?.({ host: '127.0.0.1', port: await listen(t, plain), isTls: true }, listener().handlers)
  })
  const reported = listener()
  const channel = await smallIo.connect?.({ host: '127.0.0.1', port, isTls: false }, reported.handlers)
  for (let i = 0; i < 100; i++) channel?.send('x'.repeat(1024 * 1024))
  t.is((await reported.closed)?.message, 'The peer does not read')
})

const serveWebSocket = async (
  t: ExecutionContext,
  onSocket: (socket: WebSocket) => void
): Promise<string> => {
  const http = createHttpServer()
  const sockets = new WebSocketServer({ server: http })
  sockets.on('connection', onSocket)
  return `ws://127.0.0.1:${await listen(t, http)}`
}

test('a WebSocket carries whole messages both ways and closes once', async t => {
  const url = await serveWebSocket(t, socket => {
    socket.send('hello')
    socket.on('message', (data, isBinary) => {
      socket.send(data, { binary: !isBinary })
      if (String(data) === 'bye') socket.close()
    })
  })
  const reported = listener()
  const channel = await io.webSocket?.(url, reported.handlers)
  channel?.send('grüße ✓')
  channel?.send('bye')
  t.is(await reported.closed, undefined)
  t.deepEqual(reported.texts, ['hello', 'grüße ✓', 'bye', '[closed]'])
  t.notThrows(() => channel?.send('too late'))
})

test('a WebSocket that its owner closes emits only the close', async t => {
  const url = await serveWebSocket(t, socket => {
    const more = setInterval(() => socket.send('x'), 1)
    socket.on('close', () => clearInterval(more))
  })
  const reported = listener()
  const channel = await io.webSocket?.(url, reported.handlers)
  await reported.until(all => all.length > 0)
  channel?.close()
  const before = reported.texts.length
  await reported.closed
  t.deepEqual(reported.texts.slice(before), ['[closed]'])
})

test('a WebSocket refuses a message beyond the limit, a refused hand-shake and a peer that does not read', async t => {
  const large = listener()
  const url = await serveWebSocket(t, socket => socket.send('x'.repeat(1001)))
  await smallIo.webSocket?.(url, large.handlers)
  t.regex((await large.closed)?.message ?? '', /Max payload size exceeded/)
  t.deepEqual(large.texts, ['[closed]'])

  const base = await serve(t, (_request, response) => response.end('no'))
  const refused = listener()
  await t.throwsAsync(async () => io.webSocket?.(base.replace('http', 'ws'), refused.handlers))
  await t.throwsAsync(async () => io.webSocket?.('nonsense', refused.handlers))
  t.deepEqual(refused.texts, [])

  const deaf = listener()
  const channel = await smallIo.webSocket?.(await serveWebSocket(t, socket => socket.pause()), deaf.handlers)
  for (let i = 0; i < 100; i++) channel?.send('x'.repeat(1024 * 1024))
  t.is((await deaf.closed)?.message, 'The peer does not read')
})

for (const [kind, waitsFor] of [
  ['TCP', 'a name to be looked up'],
  ['TLS', 'a handshake'],
  ['WebSocket', 'an upgrade'],
  ['SOCKS', 'a proxy']
] as const)
  test.serial(
    `an attempt at ${kind} that waits for ${waitsFor} ends at the signal, and leaves no socket`,
    async t => {
      const { lookup } = dns
      t.teardown(() => {
        dns.lookup = lookup
      })
      const sockets: Socket[] = []
      const server = createTcpServer({ allowHalfOpen: false }, socket => {
        socket.resume()
        sockets.push(socket)
      })
      const port = await listen(t, server)
      const lookups: string[] = []
      if (kind === 'TCP') dns.lookup = ((name: string) => void lookups.push(name)) as never
      const proxied = makeNodeIo({ proxy: { host: '127.0.0.1', port } })
      const { handlers, texts } = listener()
      const open = (signal: AbortSignalLike): Promise<unknown> | undefined => {
        const address = { host: kind === 'TCP' ? 'silent.example' : '127.0.0.1', port, isTls: kind === 'TLS' }
        if (kind === 'WebSocket') return io.webSocket?.(`ws://127.0.0.1:${port}`, handlers, { signal })
        return (kind === 'SOCKS' ? proxied : io).connect?.(address, handlers, { signal })
      }
      const { signal, abort } = makeAbort()
      const opening = open(signal) as Promise<unknown>
      while (sockets.length + lookups.length === 0) await new Promise(resolve => setImmediate(resolve))
      const ended = Promise.all(sockets.map(socket => new Promise(resolve => socket.once('close', resolve))))
      abort()
      await t.throwsAsync(opening, { message: /needed no more/ })
      await ended
      await t.throwsAsync(open(signal) as Promise<unknown>, { message: /needed no more/ })
      t.deepEqual(texts, [])
    }
  )

test('a signal that aborts later leaves an open connection alone', async t => {
  const port = await listen(
    t,
    createTcpServer(socket => socket.on('data', data => socket.write(data)))
  )
  const { handlers, until } = listener()
  const { signal, abort } = makeAbort()
  const channel = await io.connect?.({ host: '127.0.0.1', port, isTls: false }, handlers, { signal })
  abort()
  channel?.send('still here')
  t.is(await until(all => all.length >= 10), 'still here')
  channel?.close()
})

test('the clock moves, waits, is cancelled and waits for months without firing early', async t => {
  const { clock } = io
  const [before, now, after] = [Date.now(), clock.now(), Date.now()]
  t.true(before <= now && now <= after)
  const start = clock.monotonic()
  const fired: string[] = []
  const cancel = clock.after(5, () => fired.push('cancelled'))
  clock.after(2 ** 31 + 5, () => fired.push('months'))
  cancel()
  const wait = (): Promise<void> =>
    new Promise(resolve => {
      const alive = setTimeout(() => undefined, 5000)
      clock.after(20, () => {
        clearTimeout(alive)
        resolve()
      })
    })
  await wait()
  await wait()
  await clock.turn()
  t.true(clock.monotonic() - start >= 15)
  t.deepEqual(fired, [])
})

test('a waiting clock does not keep a process alive', t => {
  const out = process.env.HOLDFAST_TEST_OUT ?? 'dist'
  const entry = pathToFileURL(join(process.cwd(), out, 'platform', 'node', 'index.js')).href
  const script = `const { makeNodeIo } = await import(${JSON.stringify(entry)}); makeNodeIo().clock.after(60000, () => {})`
  const start = Date.now()
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 })
  t.true(Date.now() - start < 20_000)
})

test('random bytes have the requested length, and are never repeated or shared', t => {
  const seen = new Set<string>()
  for (let i = 0; i < 2000; i++) {
    const bytes = io.random(16)
    t.is(bytes.length, 16)
    t.is(bytes.buffer.byteLength, 16)
    seen.add(io.crypto.toHex(bytes))
  }
  t.is(seen.size, 2000)
  for (const count of [0, 1, 511, 512, 513, 4096, 100_000]) t.is(io.random(count).length, count)
  t.true(new Set(io.random(100_000)).size === 256)
})

test('bytes go out and come back as they are, within the same limit', async t => {
  const base = await serve(t, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => response.end(Buffer.concat(parts)))
  })
  const bodyBytes = Uint8Array.from({ length: 256 }, (_, at) => 255 - at)
  const { fetch } = smallIo
  const sending = fetch(base, { method: 'POST', body: 'not this', bodyBytes, replyAs: 'bytes' })
  const sent = Uint8Array.from(bodyBytes)
  bodyBytes.fill(0)
  const { status, text, bytes } = await sending
  t.deepEqual([status, text], [200, ''])
  t.deepEqual(bytes, sent)
  const asText = await fetch(base, { method: 'POST', bodyBytes: Uint8Array.of(0xc3, 0xa4, 0xff) })
  t.is(asText.text, 'ä\ufffd')
  t.is(asText.bytes, undefined)
  t.deepEqual((await fetch(base, { replyAs: 'bytes' })).bytes, new Uint8Array())
  const large = fetch(base, { method: 'POST', bodyBytes: new Uint8Array(1001), replyAs: 'bytes' })
  await t.throwsAsync(large, { code: 'REPLY_TOO_LARGE' })
})

test('a login goes only with a request that wants it, to the origin that it is for', async t => {
  const seen: (string | undefined)[] = []
  const answer: RequestListener = (request, reply) => {
    seen.push(request.headers.authorization)
    reply.end('{}')
  }
  const node = await serve(t, answer)
  const other = await serve(t, answer)
  const { fetch } = makeNodeIo({ loginOf: origin => (origin === node ? 'alice:word' : undefined) })
  await fetch(`${node}/`, { withLogin: true })
  await fetch(`${node}/wallet/main`, { method: 'POST', body: '{}' })
  await fetch(`${other}/`, { withLogin: true })
  t.deepEqual(seen, [`Basic ${Buffer.from('alice:word').toString('base64')}`, undefined, undefined])
})
