import test from 'ava'
import { checkServerAddress } from '../../kernel/kernel.ts'

test('servers of this product and of this machine are accepted with any port and path', t => {
  const good = [
    'http://localhost',
    'http://localhost:65535/a?b#c',
    'https://localhost:1',
    'https://edge.app/',
    'https://edgetest.app',
    'https://sync-us1.edge.app/api/v2',
    'https://a_b.c-d.edgetest.app:8443?x',
    'HTTPS://Login.Edge.App'
  ]
  for (const url of good) t.notThrows(() => checkServerAddress(url), url)
})

test('an address that only looks like ours is refused, and the message names the real host', t => {
  const bad: [url: string, host: string][] = [
    ['https://login.edge.app@evil.com', 'evil.com'],
    ['https://login.edge.app:pass@evil.com/x', 'evil.com'],
    ['https://user:hunter2@login.edge.app/', 'login.edge.app'],
    ['https://evil.com/login.edge.app', 'evil.com'],
    ['https://evil.com?.edge.app', 'evil.com'],
    ['https://evil.com#.edge.app', 'evil.com'],
    ['https://edge.app.', 'edge.app.'],
    ['https://.edge.app', '.edge.app'],
    ['https://a..edge.app', 'a..edge.app'],
    ['https://edge-app', 'edge-app'],
    ['https://edgeXapp', 'edgeXapp'],
    ['https://lögin.edge.app', 'lögin.edge.app'],
    ['https://localhost.evil.com:80', 'localhost.evil.com'],
    ['http://127.0.0.1', '127.0.0.1'],
    ['http://edge.app', 'edge.app'],
    ['ftp://localhost', 'localhost'],
    ['https://login.edge.app:65536', 'login.edge.app'],
    ['https://login.edge.app/\nx', 'login.edge.app'],
    [' https://login.edge.app', 'login.edge.app'],
    ['https:/\\login.edge.app', 'https'],
    ['', '']
  ]
  for (const [url, host] of bad) {
    t.throws(
      () => checkServerAddress(url),
      {
        code: 'LOGIN_DOMAIN',
        message: `Only *.edge.app or localhost are valid login domain names, not ${host}`
      },
      url
    )
  }
  const long = t.throws(() => checkServerAddress(`https://${'a'.repeat(10_000)}.com`), {
    code: 'LOGIN_DOMAIN'
  })
  t.true((long?.message.length ?? 0) < 200)
})
