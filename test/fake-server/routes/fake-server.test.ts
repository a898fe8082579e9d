import test from 'ava'
import fc from 'fast-check'
import { STATUS } from '../../../fake-server/base/replies.ts'
import { allRoutes } from '../../../fake-server/routes/table.ts'
import { fakeFetch } from '../../../fake-server/world/io.ts'
import { checkServerAddress } from '../../../kernel/kernel.ts'
import { boxOf, id, makeServerBench, ROOT, rootData, stateOf } from '../../helpers/fake-login.ts'

test('the routes are those of the specification and the rest of the deployed ones, with their methods [7.32]', async t => {
  const list = allRoutes.map(({ path, methods }) => `${Object.keys(methods).sort().join(' ')} ${path}`)
  t.deepEqual(list.sort(), [
    'DELETE GET POST PUT /api/v2/lobby/*',
    'DELETE POST PUT /api/v2/login/otp',
    'DELETE POST PUT /api/v2/login/password',
    'DELETE POST PUT /api/v2/login/pin2',
    'DELETE POST PUT /api/v2/login/recovery2',
    'GET /v1/appIdInfo/*',
    'GET /v1/edgeServers',
    'GET POST /api/v2/login',
    'GET POST /api/v2/store/*',
    'GET POST /api/v2/store/*/*',
    'POST /api/v1/questions',
    'POST /api/v2/login/delete',
    'POST /api/v2/login/keys',
    'POST /api/v2/login/secret',
    'POST /api/v2/login/username',
    'POST /api/v2/login/vouchers',
    'POST /api/v2/messages',
    'POST /api/v2/sync',
    'POST PUT /api/v2/login/create'
  ])
  const { query, server } = makeServerBench()
  const { body: lists } = await query('GET', '/v1/edgeServers')
  t.deepEqual(Object.keys(lists), ['infoServers', 'syncServers'])
  const repo = 'ab'.repeat(20)
  server.db.createRepos([repo])
  const changes = { file: boxOf(1) }
  const { body: written } = await query('POST', `/store/${repo}`, { changes })
  t.deepEqual([Object.keys(written).sort(), written.changes], [['changes', 'hash'], changes])
  t.deepEqual((await query('GET', `/store/${repo}`)).body, written)
})

test('the table of replies is that of the specification [8.14] [8.15] [8.16] [8.17] [8.18] [8.19] [8.20] [8.21] [8.22] [8.23] [8.24] [8.25] [8.26] [8.27] [8.28]', t => {
  const rows = Object.values(STATUS).map(({ code, http, message }) => `${message} ${code}/${http}`)
  t.deepEqual(rows, [
    'Success 0/200',
    'Account created 0/201',
    'Error 1/503',
    'Account already exists 2/401',
    'No account 3/401',
    'Invalid Password 4/401',
    'Invalid Answers 5/401',
    'Invalid API Key 6/401',
    'Invalid OTP 8/401',
    'Conflicting change 10/409',
    'A login with the same appId already exists 10/401',
    'Obsolete API 1000/410',
    'Invalid request 1/401',
    'Not found 1/404',
    'Not found 3/404'
  ])
})

test('paths match exactly, with one optional slash at the end and no query [8.29]', async t => {
  const { query } = makeServerBench()
  t.is((await query('POST', '/login/', { userId: id(1) })).code, 3)
  for (const route of [
    '/login//',
    '/login?x=1',
    '/Login',
    '/login/other',
    '/store',
    '/store//',
    '/lobby',
    '/'
  ]) {
    const { status, code, message, headers } = await query('POST', route, {})
    t.deepEqual([status, code], [404, 1], route)
    t.is(message, `Unknown API endpoint /api/v2${route}`)
    t.is(headers['content-type'], 'application/json')
  }
  t.is((await query('GET', '/v1/appIdInfo/app')).status, 404)
})

test('a wrong method is 405 and OPTIONS 204, both with the methods that are allowed', async t => {
  const { query } = makeServerBench()
  for (const method of ['PATCH', 'HEAD', 'DELETE', 'constructor', '__proto__']) {
    const { status, headers, body } = await query(method, '/login')
    t.deepEqual([status, headers.allow, body], [405, 'GET, POST', undefined], method)
  }
  const options = await query('OPTIONS', '/login/keys')
  t.deepEqual([options.status, options.headers.allow, options.body], [204, 'POST', undefined])
})

test('a body that is no JSON, too large, too deep or of a wrong type is an invalid request that names no value [8.25]', async t => {
  const { query, server } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  const before = stateOf(server)
  const deep = `${'['.repeat(100)}${']'.repeat(100)}`
  const bodies = [
    '{',
    deep,
    '[]',
    '"text"',
    '7',
    'null',
    '{"loginId":5}',
    '{"loginId":"no base64"}',
    '{"__proto__":{}}'
  ]
  for (const body of [...bodies, '{"userId":"AAB="}', '{"otp":1}', '{"recovery2Auth":"AA=="}']) {
    const { status, code, message } = await query('POST', '/login', body)
    t.deepEqual([status, code], [401, 1], body)
    t.regex(message ?? '', /^Invalid request(: |$)/)
    t.notRegex(message ?? '', /no base64/)
  }
  const large = await query('POST', '/login', `{"otp":"${'x'.repeat(8_000_001)}"}`)
  t.deepEqual([large.status, large.code], [413, 1])
  t.is(stateOf(server), before)
  t.is((await query('POST', '/login')).message, 'Invalid request')
})

test('API keys are checked only where a test names them, and not by the sync and info servers [8.20]', async t => {
  const { query } = makeServerBench({ apiKeys: ['good'] })
  const right = { authorization: 'Token good' }
  t.is((await query('POST', '/login', { userId: id(1) }, right)).code, 3)
  for (const headers of [{}, { authorization: 'Token bad' }, { authorization: 'good' }]) {
    const { status, code, message } = await query('POST', '/login', { userId: id(1) }, headers)
    t.deepEqual([status, code, message], [401, 6, 'Invalid API Key'])
  }
  t.is((await query('GET', '/v1/edgeServers')).status, 200)
  t.is((await query('GET', '/store/00/')).body.msg, 'Hash not found')
})

test('a lobby is made once, collects replies, and is gone when deleted [3.36] [5.46] [7.22] [7.23] [7.24] [8.27]', async t => {
  const { query, server } = makeServerBench()
  const request = { publicKey: id(1), loginRequest: { appId: 'a' }, other: [1] }
  const missing = await query('GET', '/lobby/abc')
  t.deepEqual([missing.status, missing.code, missing.message], [404, 3, 'Cannot find lobby abc'])
  t.is((await query('PUT', '/lobby/abc', { data: request })).code, 0)
  const again = await query('PUT', '/lobby/abc', { data: request })
  t.deepEqual([again.status, again.code, again.message], [401, 2, 'Lobby abc already exists.'])
  t.is(server.db.lobby('abc')?.expires, Date.UTC(2026, 0, 1) + 600_000)
  t.is((await query('POST', '/lobby/abc', { data: { publicKey: id(2), box: boxOf(1) } })).code, 0)
  t.deepEqual((await query('GET', '/lobby/abc/')).results, {
    request,
    replies: [{ publicKey: id(2), box: boxOf(1) }]
  })
  t.is((await query('POST', '/lobby/abc', { data: { publicKey: id(2) } })).code, 1)
  t.is((await query('PUT', '/lobby/def', { data: { publicKey: 5 } })).code, 1)
  t.is((await query('DELETE', '/lobby/abc')).code, 0)
  t.is((await query('GET', '/lobby/abc')).code, 3)
})

test('a lobby keeps the request and ends with its timeout, and its id is free again [3.34]', async t => {
  const { query, clock, server } = makeServerBench()
  const request = { loginRequest: { appId: 'org.example.shop' }, publicKey: id(1), timeout: 60 }
  await query('PUT', '/lobby/abc', { data: request })
  await query('PUT', '/lobby/def', { data: { publicKey: id(1) } })
  await clock.advance(59_999)
  t.deepEqual((await query('GET', '/lobby/abc')).results.request, request)
  await clock.advance(1)
  for (const method of ['GET', 'POST', 'DELETE']) {
    const { status, code } = await query(method, '/lobby/abc', { data: { publicKey: id(2), box: boxOf(1) } })
    t.deepEqual([status, code], [404, 3], method)
  }
  t.is((await query('PUT', '/lobby/abc', { data: { publicKey: id(3) } })).code, 0)
  await clock.advance(540_000)
  t.is((await query('GET', '/lobby/def')).code, 3)
  await query('PUT', '/lobby/ghi', { data: { publicKey: id(3) } })
  t.deepEqual([server.db.lobby('def'), server.db.counts.lobbies], [undefined, 2])
})

test('the info server describes only the registered apps, without an envelope [3.37]', async t => {
  const { query, server } = makeServerBench()
  const app = {
    appName: 'Shop',
    imageUrl: 'https://example.org/1.png',
    lightImageUrl: 'https://example.org/light.png',
    darkImageUrl: 'https://example.org/dark.png'
  }
  server.db.saveApp('org.example/shop', app)
  const found = await query('GET', '/v1/appIdInfo/org.example%2Fshop')
  t.deepEqual([found.status, found.body], [200, app])
  t.is((await query('GET', '/v1/appIdInfo/org.example')).status, 404)
  t.is((await query('GET', '/v1/appIdInfo/%E0%A4%A')).status, 404)
  server.db.saveApp('org.example/shop', null)
  t.is((await query('GET', '/v1/appIdInfo/org.example%2Fshop')).status, 404)
  for (let count = 0; count < 1000; count += 1) server.db.saveApp(`${count}`, app)
  t.throws(() => server.db.saveApp('one more', app), { instanceOf: RangeError })
})

test('recovery questions come with a category and a least length [3.32] [7.20]', async t => {
  const { query } = makeServerBench({ apiKeys: ['good'] })
  t.is((await query('POST', '/api/v1/questions', {})).code, 6)
  const { code, results } = await query('POST', '/api/v1/questions', {}, { authorization: 'Token good' })
  t.is(code, 0)
  t.deepEqual([...new Set(results.map(({ category }: { category: string }) => category))].sort(), [
    'address',
    'must',
    'numeric',
    'recovery2',
    'string'
  ])
  for (const choice of results) {
    t.deepEqual(Object.keys(choice).sort(), ['category', 'min_length', 'question'])
    t.true(choice.min_length > 0 && choice.question.endsWith('?'))
  }
})

test('the list of servers has both lists, and its addresses pass the domain rule', async t => {
  const { query } = makeServerBench()
  const { infoServers, syncServers } = (await query('GET', '/v1/edgeServers')).body
  t.true(infoServers.length > 0 && syncServers.length > 0)
  for (const url of [...infoServers, ...syncServers]) t.notThrows(() => checkServerAddress(url))
})

test('the fetch reaches the server under every address the domain rule allows, and nothing else [8.32]', async t => {
  const { server } = makeServerBench()
  const fetch = fakeFetch(server)
  const hosts = [
    'http://localhost',
    'http://localhost:8080',
    'https://localhost',
    'https://login.edge.app',
    'https://a.b.edgetest.app'
  ]
  for (const host of hosts) {
    const reply = await fetch(`${host}/api/v2/login`, {
      method: 'post',
      body: JSON.stringify({ userId: id(1) })
    })
    t.is(JSON.parse(reply.text).status_code, 3, host)
  }
  const others = [
    'http://login.edge.app',
    'https://edge.app.example.org',
    'https://localhost@example.org',
    'ftp://localhost',
    'x'
  ]
  for (const host of others) {
    await t.throwsAsync(async () => fetch(`${host}/v1/edgeServers`), { message: 'Fake network error' }, host)
  }
  server.isOnline = false
  await t.throwsAsync(async () => fetch('http://localhost/v1/edgeServers'), { message: 'Fake network error' })
  server.isOnline = true
  t.is((await fetch('http://localhost/v1/edgeServers')).status, 200)
  const elsewhere = fakeFetch(server, { elsewhere: async () => ({ status: 299, headers: {}, text: '' }) })
  t.is((await elsewhere('https://example.org/')).status, 299)
})

test('an aborted fetch ends at once, though the server answers later', async t => {
  const { server } = makeServerBench()
  server.use(() => new Promise(() => {}))
  const controller = new AbortController()
  const reply = fakeFetch(server)('http://localhost/v1/edgeServers', { signal: controller.signal })
  controller.abort()
  await t.throwsAsync(reply, { message: 'The request was aborted' })
})

test('a middleware can delay, fail or garble what it chooses, until it is taken away', async t => {
  const { server, query } = makeServerBench()
  const stop = server.use(async (request, next) => {
    if (request.path.startsWith('/api/v2/store/')) throw new Error('cut')
    const reply = await next()
    return { ...reply, body: `${reply.body}!` }
  })
  await t.throwsAsync(query('GET', '/store/00/'), { message: 'cut' })
  await t.throwsAsync(query('GET', '/v1/edgeServers'), { instanceOf: SyntaxError })
  stop()
  t.is((await query('GET', '/v1/edgeServers')).status, 200)
})

test('the traffic log is bounded and holds no body, sync key or other long text', async t => {
  const { server, query } = makeServerBench({ trafficLimit: 5 })
  const key = 'ab'.repeat(20)
  const received: string[] = []
  const stop = server.traffic.onLine(line => received.push(line.path))
  await query('POST', '/login/create', { data: { ...rootData(), newSyncKeys: [key] } })
  await query('GET', `/store/${key}/${'cd'.repeat(20)}`)
  await query('GET', `/lobby/${'Z'.repeat(30)}`)
  await query('GET', '/store/ab01/')
  stop()
  t.deepEqual(
    server.traffic.lines.map(({ sequence, method, path, status }) => [sequence, method, path, status]),
    [
      [1, 'POST', '/api/v2/login/create', 201],
      [2, 'GET', '/api/v2/store/…/…', 200],
      [3, 'GET', '/api/v2/lobby/…', 404],
      [4, 'GET', '/api/v2/store/…/', 404]
    ]
  )
  t.is(received.length, 4)
  for (let count = 0; count < 40; count += 1) await query('GET', '/v1/edgeServers')
  t.is(server.traffic.lines.length, 5)
  t.false(JSON.stringify(server.traffic.lines).includes(id(2)))
})

test('a change that cannot be saved is answered with an error, not with success [8.15]', async t => {
  const { query } = makeServerBench({ saved: () => Promise.reject(new Error('disk')) })
  const { status, code } = await query('POST', '/login/create', { data: rootData() })
  t.deepEqual([status, code], [503, 1])
})

test('garbage never crashes the server and never changes it', async t => {
  const { query, server } = makeServerBench()
  await query('POST', '/login/create', { data: { ...rootData(), newSyncKeys: ['00'] } })
  const before = stateOf(server)
  const paths = allRoutes.map(({ path }) => path.replaceAll('*', '00'))
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(id(1), id(2), id(9), boxOf(1), 'AA==', {})
  )
  const field = fc.constantFrom(
    ...Object.keys(rootData()),
    'data',
    'otp',
    'changes',
    'userId',
    'pin2Id',
    'publicKey',
    'syncToken',
    'loginIds',
    'challengeId'
  )
  const object = fc.dictionary(field, fc.oneof(value, fc.dictionary(field, value, { maxKeys: 4 })), {
    maxKeys: 6
  })
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.constantFrom(...paths), fc.webPath(), fc.string()),
      fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', ''),
      fc.oneof(
        object.map(body => JSON.stringify(body)),
        fc.string(),
        fc.json()
      ),
      async (path, method, body) => {
        const reply = await server.handle({ method, path, headers: {}, body })
        if (reply.status < 200 || reply.status > 599 || reply.status === 503) return false
        // The only changes that need no secret: a lobby, and a box for a repo whose key is known.
        return reply.status !== 200 || method === 'GET' || stateOf(server) === before || isOpenRoute(path)
      }
    ),
    { numRuns: 400 }
  )
  const logins = [...server.db.entries()].filter(({ kind }) => kind === 'login')
  t.deepEqual(JSON.stringify(logins), `[${before.slice(1, before.indexOf(',{"kind":"repo"'))}]`)
  t.is((await query('POST', '/login', ROOT)).code, 0)
})

const isOpenRoute = (path: string): boolean =>
  path.startsWith('/api/v2/store/') || path.startsWith('/api/v2/lobby/')
