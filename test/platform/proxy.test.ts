import dns from 'node:dns'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { WebSocketServer } from 'ws'
import { makeNodeIo } from '../../platform/node/index.ts'
import { serveSocks } from '../helpers/socks-stub.ts'

const ONION = 'abcdefghijklmnop.onion'

/** A server of HTTP, WebSocket and lines on loopback. */
const serve = async (t: ExecutionContext): Promise<{ web: number; lines: number }> => {
  const http = createHttpServer((_request, response) => response.end('hello'))
  const sockets = new WebSocketServer({ server: http })
  sockets.on('connection', socket => socket.send('hello'))
  const lines = createServer(socket => void socket.end('hello'))
  for (const server of [http, lines]) await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    for (const client of sockets.clients) client.terminate()
    http.close()
    http.closeAllConnections()
    lines.close()
  })
  return { web: (http.address() as AddressInfo).port, lines: (lines.address() as AddressInfo).port }
}

const firstText = (
  start: (handlers: {
    onText(text: string): void
    onClose(error?: Error): void
  }) => Promise<unknown> | undefined
): Promise<string> =>
  new Promise((resolve, reject) => {
    start({ onText: resolve, onClose: () => undefined })?.catch(reject)
  })

test.serial(
  'through a proxy names go out unresolved, and nothing is looked up or connected to beside it',
  async t => {
    const proxy = await serveSocks(t)
    const { web, lines } = await serve(t)
    const lookups: string[] = []
    const targets = new Set<unknown>()
    const { lookup } = dns
    const { connect } = Socket.prototype
    t.teardown(() => {
      dns.lookup = lookup
      Socket.prototype.connect = connect
    })
    dns.lookup = ((name: string, ...rest: never[]) => {
      lookups.push(name)
      return Reflect.apply(lookup, dns, [name, ...rest])
    }) as typeof lookup
    Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
      const [first] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args
      targets.add((first as { port?: number }).port)
      return Reflect.apply(connect, this, args)
    } as typeof connect
    const io = makeNodeIo({ proxy: { host: '127.0.0.1', port: proxy.port } })
    t.true(io.isProxied)
    t.is((await io.fetch(`http://${ONION}:${web}/`)).text, 'hello')
    t.is(await firstText(handlers => io.webSocket?.(`ws://${ONION}:${web}/`, handlers)), 'hello')
    const address = { host: ONION, port: lines, isTls: false }
    t.is(await firstText(handlers => io.connect?.(address, handlers)), 'hello')
    Socket.prototype.connect = connect
    dns.lookup = lookup
    t.deepEqual(
      proxy.log.map(({ type, host, port }) => ({ type, host, port })),
      [web, web, lines].map(port => ({ type: 3, host: ONION, port }))
    )
    // The stub connects to the servers from this process, too.
    t.deepEqual([...targets].sort(), [proxy.port, web, lines].sort())
    t.deepEqual(
      lookups.filter(name => name !== '127.0.0.1'),
      []
    )
  }
)

test.serial('each circuit, and each server without one, has credentials of its own', async t => {
  const proxy = await serveSocks(t)
  const { lines } = await serve(t)
  const io = makeNodeIo({ proxy: { host: '127.0.0.1', port: proxy.port } })
  const other = makeNodeIo({ proxy: { host: '127.0.0.1', port: proxy.port } })
  const open = (from: typeof io, host: string, circuit?: string): Promise<string> =>
    firstText(handlers =>
      from.connect?.(
        { host, port: lines, isTls: false, ...(circuit === undefined ? {} : { circuit }) },
        handlers
      )
    )
  await open(io, 'one.example')
  await open(io, 'one.example')
  await open(io, 'two.example')
  await open(io, 'one.example', 'a')
  await open(io, 'one.example', 'b')
  await open(other, 'one.example')
  const circuits = proxy.log.map(({ user, password }) => `${user} ${password}`)
  t.is(circuits[0], circuits[1])
  t.is(new Set(circuits).size, 5)
})

test.serial('requests of one circuit share a connection, and those of two share nothing', async t => {
  const proxy = await serveSocks(t)
  const { web } = await serve(t)
  const io = makeNodeIo({ proxy: { host: '127.0.0.1', port: proxy.port } })
  for (const circuit of ['a', 'a', 'b', undefined, 'b'])
    await io.fetch(`http://one.example:${web}/`, circuit === undefined ? {} : { circuit })
  t.is(proxy.log.length, 3)
  t.is(new Set(proxy.log.map(({ user }) => user)).size, 3)
})

test.serial(
  'a proxy that is down or refuses is an error that names it, and no connection is made without it',
  async t => {
    const proxy = await serveSocks(t)
    const { web, lines } = await serve(t)
    proxy.refuse(4)
    const io = makeNodeIo({ proxy: { host: '127.0.0.1', port: proxy.port } })
    const handlers = { onText: () => undefined, onClose: () => undefined }
    const address = { host: '127.0.0.1', port: lines, isTls: false }
    const refused = await t.throwsAsync(async () => io.connect?.(address, handlers), {
      message: /HostUnreachable/
    })
    t.false(/holdfast-/.test(refused?.message ?? ''), 'no credentials in the error')
    await t.throwsAsync(io.fetch(`http://127.0.0.1:${web}/`), { message: /HostUnreachable/ })
    await t.throwsAsync(async () => io.webSocket?.(`ws://127.0.0.1:${web}/`, handlers), {
      message: /HostUnreachable/
    })
    const free = createServer()
    await new Promise<void>(done => free.listen(0, '127.0.0.1', done))
    const { port } = free.address() as AddressInfo
    await new Promise(done => free.close(done))
    const down = makeNodeIo({ proxy: { host: '127.0.0.1', port } })
    await t.throwsAsync(down.fetch(`http://127.0.0.1:${web}/`), { message: /proxy .* ECONNREFUSED/ })
  }
)

test.serial('without a proxy a server of .onion is refused before its name is looked up', async t => {
  const lookups: string[] = []
  const { lookup } = dns
  t.teardown(() => {
    dns.lookup = lookup
  })
  dns.lookup = ((name: string, ...rest: never[]) => {
    lookups.push(name)
    return Reflect.apply(lookup, dns, [name, ...rest])
  }) as typeof lookup
  const io = makeNodeIo()
  const handlers = { onText: () => undefined, onClose: () => undefined }
  const address = { host: ONION, port: 1, isTls: false }
  await t.throwsAsync(async () => io.connect?.(address, handlers), { message: /needs a proxy/ })
  await t.throwsAsync(async () => io.webSocket?.(`ws://${ONION}/`, handlers), { message: /needs a proxy/ })
  await t.throwsAsync(io.fetch(`http://${ONION}/`), { message: /needs a proxy/ })
  t.deepEqual(lookups, [])
})
