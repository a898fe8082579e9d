import { connect } from 'node:net'
import test from 'ava'
import { WebSocket } from 'ws'
import { makeFakeWorld, openPersistentWorld } from '../../../fake-server/fake-world.ts'
import { serveFakeServer } from '../../../fake-server/http/http-server.ts'
import { serveFakeWorld } from '../../../fake-server/http/serve-fake-world.ts'
import { FAKE_SERVER_LISTS } from '../../../fake-server/routes/fake-server.ts'
import { WalletError } from '../../../kernel/base/errors.ts'
import { makeNobleCrypto } from '../../../kernel/crypto/noble-crypto.ts'
import { checkServerAddress } from '../../../kernel/kernel.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { id, makeServerBench, ROOT, rootData } from '../../helpers/fake-login.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'

const post = (url: string, body: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: 'Token k' }
  })

test('the same server answers over real HTTP, and lists its own address', async t => {
  const { server } = makeServerBench({ apiKeys: ['k'] })
  const http = await serveFakeServer(server)
  try {
    t.notThrows(() => checkServerAddress(http.url))
    const made = await post(`${http.url}/api/v2/login/create`, JSON.stringify({ data: rootData() }))
    t.is(made.status, 201)
    t.is(made.headers.get('content-type'), 'application/json')
    const login = (await (await post(`${http.url}/api/v2/login/`, JSON.stringify(ROOT))).json()) as {
      results: { loginId: string }
    }
    t.is(login.results.loginId, id(1))
    const lists = await (await fetch(`${http.url}/v1/edgeServers`)).json()
    t.deepEqual(lists, { infoServers: [http.url], syncServers: [http.url] })
    const wrong = await fetch(`${http.url}/api/v2/login`, { method: 'PATCH' })
    t.deepEqual([wrong.status, wrong.headers.get('allow'), await wrong.text()], [405, 'GET, POST', ''])
    t.is((await fetch(`${http.url}/api/v2/login?x`)).status, 404)
    const large = await post(`${http.url}/api/v2/login`, 'x'.repeat(8_100_000)).catch(() => undefined)
    if (large !== undefined) t.is(large.status, 413)
    server.isOnline = false
    await t.throwsAsync(fetch(`${http.url}/v1/edgeServers`))
    server.isOnline = true
    t.is((await fetch(`${http.url}/v1/edgeServers`)).status, 200)
  } finally {
    await http.close()
  }
  t.deepEqual(server.servers, FAKE_SERVER_LISTS)
  await t.throwsAsync(fetch(`${http.url}/v1/edgeServers`))
})

test('bytes that are no HTTP do not stop the server', async t => {
  const { server } = makeServerBench()
  const http = await serveFakeServer(server)
  try {
    for (const bytes of [
      '\u0000\u0001garbage\r\n\r\n',
      'GET\r\n\r\n',
      'POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n'
    ]) {
      await new Promise<void>(resolve => {
        const socket = connect(http.port, '127.0.0.1', () => socket.end(bytes))
        socket.on('data', () => {})
        socket.on('error', () => resolve())
        socket.on('close', () => resolve())
      })
    }
    t.is((await fetch(`${http.url}/v1/edgeServers`)).status, 200)
  } finally {
    await http.close()
  }
})

test('a whole world is served on five free or given ports, and a port in use leaves nothing listening', async t => {
  const clock = makeFakeClock()
  const world = makeFakeWorld({ io: { clock, crypto: makeNobleCrypto(clock), random: makeSeededRandom(3) } })
  world.chain.mine(2)
  const served = await serveFakeWorld(world)
  try {
    t.is((await post(`${served.authServer}/v2/login`, JSON.stringify({ userId: id(1) }))).status, 401)
    const [tcp = '', webSocket = ''] = served.electrumServers
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(tcp).port), '127.0.0.1')
      socket.setEncoding('utf8')
      socket.on('error', reject)
      let received = ''
      socket.on('data', piece => {
        received += piece
        if (received.split('\n').length < 3) return
        socket.destroy()
        resolve(received)
      })
      socket.write('{"jsonrpc":"2.0","id":1,"method":"server.version","params":["t","1.4"]}\n')
      socket.write('{"jsonrpc":"2.0","id":2,"method":"blockchain.headers.subscribe","params":[]}\n')
    })
    t.regex(text, /"height":2/)
    t.is((await fetch(webSocket.replace('ws:', 'http:'))).status, 426)
    const electrumPort = Number(new URL(tcp).port)
    await t.throwsAsync(serveFakeWorld(world, { electrumPort }), { code: 'EADDRINUSE' })
    t.is(world.server.servers.syncServers[0], served.syncServers[0])
  } finally {
    await served.close()
  }
  await t.throwsAsync(fetch(`${served.authServer}/v2/login`))
  const { bitcoin, litecoin } = served.chainServers
  const [electrumPort, electrumWebSocketPort, litecoinPort, litecoinWebSocketPort] = [
    ...bitcoin,
    ...litecoin
  ].map(url => Number(new URL(url).port)) as [number, number, number, number]
  const ports = { electrumPort, electrumWebSocketPort, litecoinPort, litecoinWebSocketPort }
  const again = await serveFakeWorld(world, ports)
  await again.close()
  t.deepEqual(again.chainServers, served.chainServers)
})

test('an offline world closes connections to its chain, and accepts none until it is online', async t => {
  const clock = makeFakeClock()
  const world = makeFakeWorld({ io: { clock, crypto: makeNobleCrypto(clock), random: makeSeededRandom(3) } })
  const served = await serveFakeWorld(world)
  const [tcp = '', webSocket = ''] = served.electrumServers
  const hello = '{"jsonrpc":"2.0","id":1,"method":"server.version","params":["t","1.4"]}'
  const exchanges = (onAnswer: () => void): Promise<void>[] => [
    new Promise(resolve => {
      const socket = connect(Number(new URL(tcp).port), '127.0.0.1', () => socket.write(`${hello}\n`))
      socket.on('data', onAnswer)
      socket.on('error', () => {})
      socket.on('close', () => resolve())
    }),
    new Promise(resolve => {
      const socket = new WebSocket(webSocket)
      socket.on('open', () => socket.send(hello))
      socket.on('message', onAnswer)
      socket.on('error', () => {})
      socket.on('close', () => resolve())
    })
  ]
  let answers = 0
  const answered = (): void => {
    answers += 1
    if (answers === 2) world.network.change({ isOnline: false })
  }
  await Promise.all(exchanges(answered))
  await Promise.all(exchanges(() => t.fail('a connection was taken')))
  await t.throwsAsync(fetch(`${served.authServer}/v2/login`))
  world.network.change({ isOnline: true })
  const again = exchanges(answered)
  while (answers < 4) await new Promise(resolve => setImmediate(resolve))
  await served.close()
  await Promise.all(again)
  t.is(answers, 4)
})

test('a reply waits until its change is on the disk; if it cannot be saved the connection breaks', async t => {
  const clock = makeFakeClock()
  const files = memoryDisk()
  let isFull = false
  const disk = {
    ...files,
    setText: async (path: string, text: string) => {
      if (isFull) throw new WalletError('STORAGE_FULL', { path })
      await files.setText(path, text)
    }
  }
  const io = { clock, crypto: makeNobleCrypto(clock), random: makeSeededRandom(3) }
  const world = await openPersistentWorld({ disk, io })
  const served = await serveFakeWorld(world)
  isFull = true
  world.chain.mine()
  const [tcp = '', webSocket = ''] = served.electrumServers
  const hello = '{"jsonrpc":"2.0","id":1,"method":"server.version","params":["t","1.4"]}'
  const received: string[] = []
  await new Promise<void>(resolve => {
    const socket = connect(Number(new URL(tcp).port), '127.0.0.1', () => socket.write(`${hello}\n`))
    socket.on('data', piece => received.push(String(piece)))
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
  await new Promise<void>(resolve => {
    const socket = new WebSocket(webSocket)
    socket.on('open', () => socket.send(hello))
    socket.on('message', piece => received.push(String(piece)))
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
  t.deepEqual(received, [])
  t.is((await post(`${served.authServer}/v2/login`, '{}')).status, 503)
  isFull = false
  t.is((await post(`${served.authServer}/v2/login`, '{}')).status, 401)
  await served.close()
})

test('pages of this machine may read the replies, and others may not', async t => {
  const { server } = makeServerBench({ apiKeys: ['k'] })
  const http = await serveFakeServer(server)
  t.teardown(() => http.close())
  const from = (origin: string): Promise<Response> =>
    fetch(`${http.url}/v1/edgeServers`, { headers: { origin } })
  for (const origin of [
    'http://localhost:5173',
    'http://127.0.0.1',
    'http://[::1]:1',
    'https://shop.localhost'
  ]) {
    const { status, headers } = await from(origin)
    t.deepEqual(
      [status, headers.get('access-control-allow-origin'), headers.get('vary')],
      [200, origin, 'origin']
    )
  }
  for (const origin of ['https://localhost.example.com', 'https://example.com', 'null', 'localhost'])
    t.is((await from(origin)).headers.get('access-control-allow-origin'), null, origin)

  const query = (origin: string): Promise<Response> =>
    fetch(`${http.url}/api/v2/login`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type'
      }
    })
  const allowed = await query('http://localhost:5173')
  t.is(allowed.status, 204)
  t.is(allowed.headers.get('access-control-allow-methods'), 'POST')
  t.is(allowed.headers.get('access-control-allow-headers'), 'authorization, content-type')
  t.is((await query('https://example.com')).headers.get('access-control-allow-methods'), null)
})
