import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect as connectTcp, type Socket } from 'node:net'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { profileCertificates } from '../../cli/profile/certificates.ts'
import { profilePaths } from '../../cli/profile/paths.ts'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { closeAgents } from '../helpers/agents.ts'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { onTerminal, runOnTerminal } from '../helpers/on-terminal.ts'
import { selfSigned, serveTls, type TlsServer } from '../helpers/tls-certificates.ts'

const password = 'Correct Horse 1'
const pin = '4815'
const YES = ['--yes', '--confirm', 'yes'] as const

const [first, second] = [selfSigned(), selfSigned()]
const fingerprintOf = ({ cert }: { readonly cert: string }): string =>
  new X509Certificate(cert).fingerprint256

const run = (home: string, words: string, more: readonly string[] = [], input?: object): Promise<Ran> =>
  runInProcess([...words.split(' '), ...more, '--json'], {
    home,
    ...(input === undefined ? {} : { input: JSON.stringify(input) })
  })

const done = async (ran: Promise<Ran>): Promise<Ran['json']['data']> => {
  const { code, stdout, stderr, json } = await ran
  if (code !== 0) throw new Error(`${code}: ${stdout} ${stderr}`)
  return json.data
}

/** A fake world whose Electrum server of Bitcoin stands behind TLS with a self-signed certificate. */
const worldBehindTls = async (
  t: ExecutionContext
): Promise<{ readonly tls: TlsServer; readonly plain: string; readonly login: readonly string[] }> => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const served = await serveFakeWorld(world)
  t.teardown(async () => {
    await served.close()
    await world.close()
  })
  const [plain = ''] = served.chainServers.bitcoin
  const tls = await serveTls(t, first, (socket: Socket) => {
    const inner = connectTcp(Number(new URL(plain).port), '127.0.0.1')
    for (const [from, to] of [[socket, inner] as const, [inner, socket] as const]) {
      from.on('error', () => to.destroy())
      from.pipe(to)
    }
  })
  return {
    tls,
    plain,
    login: ['--login-server', served.authServer, '--sync-server', ...served.syncServers.slice(0, 1)]
  }
}

const makeProfile = async (home: string, flags: readonly string[]): Promise<void> => {
  writeFileSync(`${home}/key`, 'a-key\n', { mode: 0o600 })
  await done(
    run(home, 'profile create own --network regtest', [...flags, '--api-key-file', `${home}/key`, ...YES])
  )
  await done(run(home, 'account create alice --profile own', ['--secrets-stdin'], { password, pin }))
}

const withPin = (home: string, words: string): Promise<Ran> =>
  run(home, `${words} --profile own`, ['--secrets-stdin'], { pin })

test('a script uses a self-signed server once it is trusted, and refuses another certificate until it is forgotten', async t => {
  const home = homeFor(t)
  const { tls, login } = await worldBehindTls(t)
  const chain = `tls://127.0.0.1:${tls.port}`
  await makeProfile(home, [...login, '--chain', `bitcoin=${chain}`])
  const unknown = await withPin(home, 'wallets create bitcoin --name Savings')
  t.true(unknown.json.error.message.includes(fingerprintOf(first)), 'refused, with the fingerprint')
  t.deepEqual(tls.received, [], 'and never written to')

  const { servers } = await done(run(home, 'profile trust own --yes'))
  t.deepEqual(servers, [
    { server: `127.0.0.1:${tls.port}`, state: 'pinned', fingerprint: fingerprintOf(first) }
  ])
  await done(withPin(home, 'sync'))
  const { certificates } = await done(run(home, 'profile show own'))
  t.is(certificates[0].fingerprint, fingerprintOf(first))

  const before = tls.received.length
  tls.present(second)
  // Its connections would go on.
  await closeAgents(home)
  const { message } = (await withPin(home, 'sync')).json.error
  t.true(message.includes(fingerprintOf(first)) && message.includes(fingerprintOf(second)), message)
  t.is(tls.received.length, before)
  await done(run(home, `profile trust own --forget 127.0.0.1:${tls.port}`))
  await done(run(home, 'profile trust own --yes'))
  await done(withPin(home, 'sync'))
  t.true(tls.received.length > before)
})

test('a server whose certificate has changed gives way to the next one of the profile', async t => {
  const home = homeFor(t)
  const { tls, plain, login } = await worldBehindTls(t)
  const chain = `bitcoin=tls://127.0.0.1:${tls.port}#${fingerprintOf(second).replaceAll(':', '').toLowerCase()}`
  await makeProfile(home, [...login, '--chain', chain, '--chain', `bitcoin=${plain}`])
  await done(withPin(home, 'wallets create bitcoin --name Savings'))
  await done(withPin(home, 'sync'))
  t.deepEqual(tls.received, [])
})

test('with --certificates pin a script pins at the first use, and a damaged pin refuses its server', async t => {
  const home = homeFor(t)
  const { tls, login } = await worldBehindTls(t)
  await makeProfile(home, [
    ...login,
    '--chain',
    `bitcoin=tls://127.0.0.1:${tls.port}`,
    '--certificates',
    'pin'
  ])
  await done(withPin(home, 'wallets create bitcoin --name Savings'))
  const { certificates, settings } = await done(run(home, 'profile show own'))
  t.is(certificates[0].fingerprint, fingerprintOf(first))
  t.deepEqual(settings['new certificates'].value, ['pinned at first use'])
  const path = certificates[0].from
  for (const text of [
    '',
    '{}',
    readFileSync(path, 'utf8').replace(fingerprintOf(first), fingerprintOf(second))
  ]) {
    writeFileSync(path, text)
    await closeAgents(home)
    t.regex((await withPin(home, 'sync')).stdout, /is damaged/)
  }
  await closeAgents(home)
  await done(run(home, `profile trust own --forget tls://127.0.0.1:${tls.port}`))
  await done(withPin(home, 'sync'))
})

test('what a process remembers of a server at a first use is not replaced by another one, and a damaged pin hides no other', async t => {
  const home = homeFor(t)
  const paths = profilePaths('own', { HOLDFAST_HOME: home })
  const [one, other] = [profileCertificates(paths, true), profileCertificates(paths, true)]
  one.remember('a.example:1', { fingerprint: fingerprintOf(first), pem: first.cert })
  other.remember('a.example:1', { fingerprint: fingerprintOf(second), pem: second.cert })
  other.remember('a.example:1', 'authority')
  t.like(one.find('a.example:1'), { fingerprint: fingerprintOf(first) })
  t.deepEqual(readdirSync(join(paths.config, 'certificates')), ['a.example%3A1.json'])
  one.pin('a.example:1', { fingerprint: fingerprintOf(second) })
  t.deepEqual(other.find('a.example:1'), { fingerprint: fingerprintOf(second) })

  const chains = ['bitcoin=tls://b.example:2', 'bitcoin=tls://a.example:1'].flatMap(chain => [
    '--chain',
    chain
  ])
  await done(run(home, 'profile create own --network regtest', [...chains, ...YES]))
  const path = join(paths.config, 'certificates', 'b.example%3A2.json')
  writeFileSync(path, '{')
  const { certificates } = await done(run(home, 'profile show own'))
  t.is(certificates[0].fingerprint, fingerprintOf(second))
  t.deepEqual(certificates[1], { server: 'b.example:2', from: path, isDamaged: true })
  const { servers } = await done(run(home, 'profile trust own --yes'))
  t.deepEqual(
    servers.map(({ server, state }: { server: string; state: string }) => [server, state]),
    [
      ['b.example:2', 'damaged'],
      ['a.example:1', 'pinned']
    ]
  )
  await done(run(home, 'profile trust own --forget b.example:2'))
  t.is((await done(run(home, 'profile show own'))).certificates.length, 1)
})

onTerminal('on a terminal the question for a certificate comes when its server is named', async t => {
  const home = homeFor(t)
  const { tls } = await worldBehindTls(t)
  const chain = `bitcoin=tls://127.0.0.1:${tls.port}`
  const { code, screen } = await runOnTerminal(
    t,
    ['profile', 'create', 'own', '--network', 'regtest', '--chain', chain],
    {
      home,
      typed: [
        [/Type "yes"/, 'yes\r'],
        [/Pin it/, 'y']
      ]
    }
  )
  t.is(code, 0, screen)
  t.true(screen.replace(/\s/g, '').includes(fingerprintOf(first)), screen)
  const { certificates } = await done(run(home, 'profile show own'))
  t.is(certificates[0].fingerprint, fingerprintOf(first))
  t.deepEqual(tls.received, [])
})

onTerminal(
  'on a terminal the API key of a login server is typed where no file has it, and not shown',
  async t => {
    const home = homeFor(t)
    const words = [
      'profile',
      'create',
      'own',
      '--network',
      'regtest',
      '--login-server',
      'http://localhost:1/api'
    ]
    const { code, screen, drawn } = await runOnTerminal(t, words, {
      home,
      typed: [
        [/API key of the login server/, 'a-key-of-the-owner\r'],
        [/Type "yes"/, 'yes\r']
      ]
    })
    t.is(code, 0, screen)
    t.false(`${screen}${drawn}`.includes('a-key-of-the-owner'))
    const { settings } = await done(run(home, 'profile show own'))
    const { apiKey } = JSON.parse(readFileSync(settings['API key'].from, 'utf8'))
    t.is(apiKey, 'a-key-of-the-owner')
  }
)
