import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { WebSocket, WebSocketServer } from 'ws'
import type { FetchOptions, Io } from '../../kernel/io/io.ts'
import { makeCrossOriginFetch } from '../../platform/browser/cross-origin-fetch.ts'
import { makeBrowserIo } from '../../platform/browser/index.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'

const serve = async (t: ExecutionContext, listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a request arrives as it was given, and the reply is its status, headers and text', async t => {
  const base = await serve(t, (request, response) => {
    let body = ''
    request.on('data', part => {
      body += part
    })
    request.on('end', () => {
      response.writeHead(409, { 'X-Kind': 'echo' })
      response.end(
        `\ufeff${request.method} ${request.headers.authorization} ${request.headers.cookie} ${body} ä€𝄞`
      )
    })
  })
  const { status, headers, text } = await makeBrowserIo().fetch(`${base}/x`, {
    ...{ method: 'DELETE', headers: { authorization: 'Token x' }, body: '{}' }
  })
  t.is(status, 409)
  t.is(headers['x-kind'], 'echo')
  t.is(text, 'DELETE Token x undefined {} ä€𝄞')
})

test('a reply beyond the limit is refused, with or without a length; a redirect is not followed', async t => {
  const base = await serve(t, (request, response) => {
    if (request.url === '/announced') response.writeHead(200, { 'content-length': 2000 })
    if (request.url === '/away') response.writeHead(307, { location: '/announced' })
    response.end('x'.repeat(2000))
  })
  const { fetch } = makeBrowserIo({ maxReplyBytes: 1000 })
  for (const path of ['announced', 'sudden']) {
    await t.throwsAsync(fetch(`${base}/${path}`), { code: 'REPLY_TOO_LARGE' })
  }
  await t.throwsAsync(fetch(`${base}/away`), { instanceOf: TypeError })
})

test('bytes go out and come back as they are, within the same limit', async t => {
  const base = await serve(t, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => response.end(Buffer.concat(parts)))
  })
  const bodyBytes = Uint8Array.from({ length: 256 }, (_, at) => 255 - at)
  const { fetch } = makeBrowserIo({ maxReplyBytes: 1000 })
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

test.serial('no cookie goes out, and nothing is read from or left in the cache of the browser', async t => {
  const own = globalThis.fetch
  const requested: RequestInit[] = []
  globalThis.fetch = async (_, request = {}) => {
    requested.push(request)
    return new Response('')
  }
  t.teardown(() => {
    globalThis.fetch = own
  })
  await makeBrowserIo().fetch('https://server.example/')
  t.like(requested[0], { cache: 'no-store', credentials: 'omit', redirect: 'error' })
})

test('a signal ends a request, before it begins and on its way', async t => {
  const base = await serve(t, () => undefined)
  const { fetch } = makeBrowserIo()
  await t.throwsAsync(fetch(base, { signal: AbortSignal.abort() }), { any: true, name: 'AbortError' })
  const aborter = new AbortController()
  const reply = fetch(base, { signal: aborter.signal })
  aborter.abort()
  await t.throwsAsync(reply, { any: true, name: 'AbortError' })
})

test('time passes, turns end, and randomness of any size is not all zeros', async t => {
  const { clock, random, crypto, connect } = makeBrowserIo()
  t.true(Math.abs(clock.now() - Date.now()) < 60_000)
  const start = clock.monotonic()
  await clock.turn()
  await new Promise<void>(resolve => {
    clock.after(0, () => t.fail('it was cancelled'))()
    clock.after(1, resolve)
  })
  t.true(clock.monotonic() > start)
  t.is(random(200_000).length, 200_000)
  t.true(
    random(200_000)
      .slice(-32)
      .some(byte => byte !== 0)
  )
  t.is(crypto.name, 'noble')
  t.is(connect, undefined)
})

// Node 20 has none of its own; this one keeps the same standard.
Object.assign(globalThis, { WebSocket })

test('a socket carries texts both ways, and a message beyond the limit closes it', async t => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.teardown(() => server.close())
  await once(server, 'listening')
  server.on('connection', socket => socket.on('message', data => socket.send(`${data}`.repeat(2))))
  const texts: string[] = []
  let closed = (_: Error | undefined): void => {}
  const end = new Promise<Error | undefined>(resolve => {
    closed = resolve
  })
  const channel = await makeBrowserIo({ maxReplyBytes: 100 }).webSocket?.(
    `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    { onText: text => void texts.push(text), onClose: error => closed(error) }
  )
  channel?.send('ab')
  channel?.send('x'.repeat(60))
  t.truthy(await end)
  t.deepEqual(texts, ['abab'])
  channel?.send('late')
  const refused = makeBrowserIo().webSocket?.('ws://127.0.0.1:1/', {
    onText: () => {},
    onClose: () => t.fail()
  })
  await t.throwsAsync(refused ?? Promise.resolve())
})

const TARGET = 'https://prices.example/v1?x=1'
const PROXIES = [
  'https://one.example',
  'https://two.example',
  'https://three.example',
  'https://four.example'
]

interface Requested {
  readonly url: string
  readonly options: FetchOptions
}

/** A network in which a test decides who answers: with text, with a failure, or never. */
const makeNetwork = () => {
  const requested: Requested[] = []
  const network = {
    requested,
    answer: (_: string): string | Error | undefined => new TypeError('Failed to fetch')
  }
  const fetch: Io['fetch'] = (url, options = {}) => {
    requested.push({ url, options })
    const answer = network.answer(url)
    if (answer instanceof Error) return Promise.reject(answer)
    if (answer !== undefined) return Promise.resolve({ status: 200, headers: {}, text: answer })
    return new Promise((_, reject) =>
      options.signal?.addEventListener('abort', () =>
        reject(Object.assign(new Error('Aborted'), { name: 'AbortError' }))
      )
    )
  }
  const clock = makeFakeClock()
  const io = { fetch, clock, random: makeBrowserIo().random, proxies: PROXIES }
  return Object.assign(network, { clock, query: makeCrossOriginFetch(io) })
}

const proxied = (url: string): boolean => PROXIES.includes(url)

test('a request that fails directly goes through proxies in random order, with the address in a header [7.30]', async t => {
  const network = makeNetwork()
  const orders = new Set<string>()
  for (let count = 0; count < 60; count += 1) {
    network.requested.length = 0
    const reply = await makeNetworkOnce(network, count)
    t.is(reply, 'price')
    const urls = network.requested.map(({ url }) => url)
    t.is(urls[0], `https://host${count}.example/`)
    for (const { url, options } of network.requested.slice(1)) {
      t.true(proxied(url))
      t.deepEqual(options.headers, { accept: 'x', 'x-proxy-url': `https://host${count}.example/` })
      t.is(options.method, 'POST')
      t.is(options.body, 'b')
    }
    orders.add(urls[1] ?? '')
  }
  t.deepEqual([...orders].sort(), [...PROXIES].sort())
})

const makeNetworkOnce = async (network: ReturnType<typeof makeNetwork>, count: number): Promise<string> => {
  network.answer = url => (proxied(url) ? 'price' : new TypeError('Failed to fetch'))
  const options = { method: 'POST', headers: { accept: 'x' }, body: 'b' }
  return (await network.query(`https://host${count}.example/`, options)).text
}

test('the next proxy is tried when the one before failed or took 5 seconds, and the first reply ends the others [9.2] [7.30]', async t => {
  const network = makeNetwork()
  network.answer = url => (proxied(url) ? undefined : new TypeError('Failed to fetch'))
  const reply = network.query(TARGET)
  await network.clock.advance(4999)
  t.is(network.requested.length, 2)
  await network.clock.advance(1)
  t.is(network.requested.length, 3)
  network.answer = () => new TypeError('No proxy here')
  await network.clock.advance(5000)
  t.is(network.requested.length, 5, 'one failed at once, so the last one followed')
  network.answer = () => 'price'
  await network.clock.advance(60_000)
  t.is(network.requested.length, 5)
  t.is(network.clock.timerCount, 0)
  const later = makeNetwork()
  later.answer = url =>
    proxied(url) ? (later.requested.length === 3 ? 'price' : undefined) : new TypeError('no')
  const answered = later.query(TARGET)
  await later.clock.advance(5000)
  t.is((await answered).text, 'price')
  t.true(later.requested.slice(1).every(({ options }) => options.signal?.aborted))
  t.is(later.clock.timerCount, 0)
  reply.catch(() => {})
})

test('a host is tried directly first until it has failed five times, then directly only [9.2]', async t => {
  const network = makeNetwork()
  const urlsOf = async (): Promise<string[]> => {
    network.requested.length = 0
    await network.query(TARGET).catch(error => t.is(error.message, 'direct'))
    return network.requested.map(({ url }) => url)
  }
  network.answer = url => new TypeError(proxied(url) ? 'proxy' : 'direct')
  for (let count = 0; count < 5; count += 1) {
    const urls = await urlsOf()
    t.is(urls[0], TARGET)
    t.deepEqual(urls.slice(1).sort(), [...PROXIES].sort())
  }
  t.deepEqual(await urlsOf(), [TARGET])
  network.answer = () => 'price'
  t.deepEqual(await urlsOf(), [TARGET])
})

test('a host that only a proxy reaches is not tried directly again; another host is', async t => {
  const network = makeNetwork()
  network.answer = url => (proxied(url) ? 'price' : new TypeError('direct'))
  await network.query(TARGET)
  network.requested.length = 0
  await network.query('https://prices.example/v2')
  t.true(network.requested.every(({ url }) => proxied(url)))
  network.requested.length = 0
  await network.query('https://other.example/')
  t.is(network.requested[0]?.url, 'https://other.example/')
})

test('a host that answers is used directly only, and an aborted request goes to no proxy', async t => {
  const network = makeNetwork()
  network.answer = () => 'price'
  t.is((await network.query(TARGET)).text, 'price')
  t.is(network.requested.length, 1)
  network.answer = () => undefined
  const aborter = new AbortController()
  const reply = network.query(TARGET, { signal: aborter.signal })
  aborter.abort()
  await t.throwsAsync(reply, { name: 'AbortError' })
  t.is(network.requested.length, 2)
})

test('without proxies, and for a reply that is too large, the answer of the server stands', async t => {
  const base = await serve(t, (_, response) => response.end('x'.repeat(2000)))
  const { fetchCrossOrigin } = makeBrowserIo({ maxReplyBytes: 1000, proxies: [] })
  await t.throwsAsync(fetchCrossOrigin(base), { code: 'REPLY_TOO_LARGE' })
  await t.throwsAsync(fetchCrossOrigin('http://127.0.0.1:1/'), { instanceOf: TypeError })
})
