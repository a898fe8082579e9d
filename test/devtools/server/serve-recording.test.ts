import type { ExecutionContext } from 'ava'
import test from 'ava'
import { WebSocket } from 'ws'
import { SOCKET_PROTOCOL, tokenProtocolOf } from '../../../devtools/core/protocol/server-paths.ts'
import type { PanelFiles } from '../../../devtools/server/panel-files.ts'
import { type DevtoolsServer, serveDevtools } from '../../../devtools/server/serve-devtools.ts'
import { query } from '../../helpers/query.ts'

const BYTES = Buffer.from('{"format":"holdfast-devtools-recording"}\n')
const files: PanelFiles = new Map([
  ['/', { contentType: 'text/html; charset=utf-8', body: Buffer.from('<!doctype html>') }]
])

const serve = async (t: ExecutionContext): Promise<DevtoolsServer & { readonly bearer: string }> => {
  const server = await serveDevtools({ files, recording: () => BYTES })
  t.teardown(() => server.close())
  return { ...server, bearer: `Bearer ${server.token}` }
}

test('a recording is sent to holders of the token, and its page may fetch nothing else', async t => {
  const server = await serve(t)
  t.is(server.url, `http://127.0.0.1:${server.port}/recording#token=${server.token}`)
  const page = await query(server, '/recording')
  t.deepEqual([page.status, page.body], [200, '<!doctype html>'])
  t.regex(String(page.headers['content-security-policy']), /; connect-src 'self'; /)
  const sent = await query(server, '/recording.ndjson', { headers: { authorization: server.bearer } })
  t.deepEqual([sent.status, sent.body], [200, BYTES.toString()])
  t.is(sent.headers['content-type'], 'application/x-ndjson')
  t.is(sent.headers['cache-control'], 'no-store')
})

test('without the token, or under another name, no recording is served', async t => {
  const server = await serve(t)
  const path = '/recording.ndjson'
  for (const authorization of ['', 'Bearer ', server.token, `bearer ${server.token}`, `${server.bearer}x`]) {
    const { status, body } = await query(server, path, { headers: { authorization } })
    t.deepEqual([status, body], [403, 'The token is missing or wrong.\n'], authorization)
  }
  t.is((await query(server, path)).status, 403)
  const rebound = { authorization: server.bearer, host: 'wallet.example' }
  const { status, body } = await query(server, path, { headers: rebound })
  t.deepEqual([status, body], [403, ''])
  t.is((await query(server, `${path}?token=${server.token}`)).status, 403)
})

test('where a recording is served no socket opens, and where a kernel is served there is no recording', async t => {
  const server = await serve(t)
  const host = `127.0.0.1:${server.port}`
  const refused = await new Promise<number | undefined>(resolve => {
    const protocols = [SOCKET_PROTOCOL, tokenProtocolOf(server.token)]
    const socket = new WebSocket(`ws://${host}/socket`, protocols, { origin: `http://${host}` })
    socket.on('error', () => {})
    socket.on('unexpected-response', (_request, response) => resolve(response.resume().statusCode))
  })
  t.is(refused, 403)
  const live = await serveDevtools({ files, attach: () => () => {} })
  t.teardown(() => live.close())
  const headers = { authorization: `Bearer ${live.token}` }
  for (const path of ['/recording', '/recording.ndjson'])
    t.is((await query(live, path, { headers })).status, 404)
})
