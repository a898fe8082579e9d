import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { profilePaths } from '../../cli/profile/paths.ts'
import { onlyNamedHosts } from '../../cli/profile/real-world.ts'
import { nodeLoginOf, readProfile } from '../../cli/profile/settings.ts'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveEsplora } from '../../fake-server/http/esplora.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import type { Io } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { closeAgents, usesAgent } from '../helpers/agents.ts'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { waitFor } from '../helpers/device.ts'
import { FakeNode, serveNode } from '../helpers/fake-node.ts'
import { runInProcess } from '../helpers/in-process.ts'

const password = 'Correct Horse 1'
const pin = '4815'
const YES = ['--yes', '--confirm', 'yes'] as const

const run = (home: string, words: string, more: readonly string[] = [], input?: object): Promise<Ran> =>
  runInProcess([...words.split(' '), ...more, '--json'], {
    home,
    ...(input === undefined ? {} : { input: JSON.stringify(input) })
  })

/** An agent keeps the settings that it has begun with, so that it has to end before they change. */
const edit = async (home: string, words: string): Promise<Ran> => {
  await closeAgents(home)
  return run(home, `profile edit ${words}`)
}

const done = async (ran: Promise<Ran>): Promise<Ran['json']['data']> => {
  const { code, stdout, stderr, json } = await ran
  if (code !== 0) throw new Error(`${code}: ${stdout} ${stderr}`)
  return json.data
}

const keyFile = (home: string): string => {
  const path = join(home, 'key')
  writeFileSync(path, 'a-key-of-the-owner\n')
  chmodSync(path, 0o600)
  return path
}

for (const kind of ['Electrum', 'Esplora', 'a node'] as const)
  test.serial(
    `a profile on servers of its owner, of ${kind}, takes a payment, sends one, and asks no other host`,
    async t => {
      const home = homeFor(t)
      const world = makeFakeWorld({ io: makeNodeIo() })
      const served = await serveFakeWorld(world)
      t.teardown(async () => {
        await served.close()
        await world.close()
      })
      const esplora = await serveEsplora(world.chains.bitcoin)
      t.teardown(() => esplora.close())
      const [electrum = ''] = served.chainServers.bitcoin
      const login = '__cookie__:secret-of-the-node'
      const node = await serveNode(t, new FakeNode(world.chains.bitcoin), login)
      const cookie = join(home, 'cookie')
      writeFileSync(cookie, login)
      const chains = { Electrum: electrum, Esplora: esplora.url, 'a node': `rpc+http://${node}` }
      const chain = chains[kind]
      const cookies = kind === 'a node' ? ['--node-cookie', `${node}=${cookie}`] : []
      const [sync = ''] = served.syncServers
      const requested = recordConnections(t.teardown.bind(t))
      await done(
        run(home, `profile create own --network regtest --login-server ${served.authServer}`, [
          ...['--sync-server', sync, '--chain', `bitcoin=${chain}`, '--api-key-file', keyFile(home), ...YES],
          ...cookies
        ])
      )
      const wallet = (words: string, more: readonly string[] = []): Promise<Ran['json']['data']> =>
        done(run(home, `${words} --profile own`, [...more, '--secrets-stdin'], { pin }))
      await done(run(home, 'account create alice --profile own', ['--secrets-stdin'], { password, pin }))
      await wallet('wallets create bitcoin --name Savings')
      const { address } = await wallet('address show Savings')
      world.chains.bitcoin.fund(address, '5000000')
      world.chains.bitcoin.mine(1)
      // An agent keeps the wallet open: an Electrum server notifies it a moment later, the others are asked now and then.
      let spendable = ''
      await waitFor(async () => {
        const { balances } = await wallet('balance')
        spendable = balances[0].spendable.native
        return spendable === '5000000' || !usesAgent
      }, 90_000)
      t.is(spendable, '5000000')
      const payee = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
      const sent = await wallet(`send Savings --to ${payee} --yes`, ['--amount', '10000 native'])
      t.regex(JSON.stringify(sent), /[0-9a-f]{64}/)
      await wallet('sync')
      await wallet('rates get BTC iso:EUR').catch(() => undefined)
      const named = [served.authServer, chain].map(url => new URL(url).port)
      t.deepEqual(
        [...requested].filter(target => !named.some(port => target.endsWith(`:${port}`))),
        []
      )
      t.true(requested.size > 0)
    }
  )

/** Every host and port that this process connects to. */
const recordConnections = (teardown: (end: () => void) => void): ReadonlySet<string> => {
  const requested = new Set<string>()
  const { connect } = net.Socket.prototype
  net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
    const [first] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args
    const { host = 'localhost', port, path } = first as { host?: string; port?: number; path?: string }
    // An agent is reached by a path.
    if (path === undefined || path === null) requested.add(`${host}:${port}`)
    return Reflect.apply(connect, this, args)
  } as typeof connect
  teardown(() => {
    net.Socket.prototype.connect = connect
  })
  return requested
}

test('a request to a host that the profile does not name is refused before its name is looked up', async t => {
  const requested: string[] = []
  const io = {
    ...makeNodeIo(),
    fetch: async (url: string) => {
      requested.push(url)
      return { status: 200, headers: {}, text: '' }
    },
    connect: async ({ host }: { host: string }) => void requested.push(host),
    webSocket: async (url: string) => void requested.push(url)
  } as unknown as Io
  const guarded = onlyNamedHosts(
    io,
    'own',
    new Set(['login.edge.app:443', '::1:50001', 'coins.example.org:8443'])
  )
  await guarded.fetch('https://login.edge.app/api/v2/login')
  await guarded.connect?.({ host: '::1', port: 50_001, isTls: false }, {} as never)
  await guarded.webSocket?.('wss://COINS.example.org:8443/', {} as never)
  t.is(requested.length, 3)
  for (const call of [
    () => guarded.fetch('https://login.edge.app:8443/'),
    () => guarded.fetch('http://login.edge.app/'),
    () => guarded.fetch('https://rates.example.org/'),
    () => guarded.fetch('https://login.edge.app@rates.example.org/'),
    () => guarded.connect?.({ host: '::1', port: 50_002, isTls: false }, {} as never),
    () => guarded.webSocket?.('wss://coins.example.org/', {} as never)
  ]) {
    const error = await t.throwsAsync(async () => call(), { code: 'NETWORK' })
    t.regex(error?.message ?? '', /the profile own does not name it/)
  }
  t.is(requested.length, 3)
})

test('without a login server the profile says so, and a named one without a key ends with No API key provided', async t => {
  const home = homeFor(t)
  await done(run(home, 'profile create alone --network test', YES))
  const alone = await run(home, 'account available alice --profile alone')
  t.is(alone.json.error.code, 'NETWORK')
  t.is(alone.json.error.message, 'Could not reach a login server: none is named')
  t.deepEqual(alone.json.error.next, [
    { command: 'holdfast profile edit --help', why: 'name a login server' }
  ])
  await done(edit(home, 'alone --login-server https://login.edgetest.app/api'))
  const keyless = await run(home, 'account create alice --profile alone', ['--secrets-stdin'], {
    password,
    pin
  })
  t.is(keyless.json.error.message, 'No API key provided')
  const { settings } = await done(run(home, 'profile show alone'))
  t.deepEqual(settings['API key'], { value: [], from: 'not set' })
})

test('profile show says which flag, variable or choice gave what commands use', async t => {
  const home = homeFor(t)
  const usedBy = async (words: string, env = {}): Promise<unknown> =>
    (await runInProcess([...words.split(' '), '--json'], { home, env })).json.data.used
  const { used, dataFolder } = await done(run(home, 'profile show'))
  t.deepEqual(used, {
    profile: { value: 'default', from: 'usual' },
    device: { value: 'default', from: 'usual' },
    account: { value: null, from: 'not set' },
    timeout: { value: '60 s', from: 'usual' },
    offline: { value: false, from: 'usual' }
  })
  t.true(dataFolder.startsWith(home))
  await done(run(home, 'profile create other --network test', YES))
  await done(run(home, 'profile default other'))
  t.deepEqual(
    await usedBy('profile show --offline --timeout 5s --account bob', { HOLDFAST_DEVICE: 'phone' }),
    {
      profile: { value: 'other', from: 'holdfast profile default' },
      device: { value: 'phone', from: 'HOLDFAST_DEVICE' },
      account: { value: 'bob', from: '--account' },
      timeout: { value: '5 s', from: '--timeout' },
      offline: { value: true, from: '--offline' }
    }
  )
  const { profile } = (await usedBy('profile show --profile default', {
    HOLDFAST_PROFILE: 'other'
  })) as typeof used
  t.deepEqual(profile, { value: 'default', from: '--profile' })
})

test('every envelope names the network, and commands of the fake world are refused in a real profile', async t => {
  const home = homeFor(t)
  t.is((await run(home, 'profile list')).json.meta.network, 'fake')
  const made = await run(home, 'profile create real --network main', YES)
  t.is(made.json.data.network, 'main')
  const types = await run(home, 'wallets types --profile real')
  t.is(types.json.meta.network, 'main')
  const ids = types.json.data.types.map(({ pluginId }: { pluginId: string }) => pluginId)
  t.true(
    ['bitcoin', 'bitcoincash', 'dogecoin', 'dash', 'zcoin'].every(id => ids.includes(id)),
    ids.join()
  )
  t.false(ids.includes('bitcointestnet'))
  for (const words of ['fake chain mine', 'fake start', 'fake net offline', 'fake user list']) {
    const { json } = await run(home, `${words} --profile real`)
    t.is(json.error.code, 'PROFILE_INVALID', words)
    t.is(json.meta.network, 'main')
  }
})

test('no rate source and no exchange is requested until the profile names it', async t => {
  const home = homeFor(t)
  await done(run(home, 'profile create real --network main', YES))
  const providers = async (): Promise<readonly string[]> =>
    (await done(run(home, 'plugins list --profile real --kind rates'))).plugins
      .filter(({ state }: { state: string }) => state === 'applied')
      .map(({ id }: { id: string }) => id)
  t.deepEqual(await providers(), ['constantRate', 'coinmonitor', 'wazirx', 'nomics'])
  const { hosts } = await done(edit(home, 'real --provider coinbase --provider sideshift'))
  t.deepEqual(hosts, ['api.coinbase.com:443', 'sideshift.ai:443'])
  t.true((await providers()).includes('coinbase'))
  t.false((await providers()).includes('kraken'))
  await done(edit(home, 'real --provider none'))
  t.false((await providers()).includes('coinbase'))
})

test('a real profile needs a typed yes, and its name is not that of one with play money', async t => {
  const home = homeFor(t)
  const refused = await run(home, 'profile create real --network main --no-input')
  t.is(refused.json.error.code, 'CONFIRMATION_REQUIRED')
  t.is((await run(home, 'profile create real --network main --yes --confirm no')).json.error.code, 'DECLINED')
  t.is((await run(home, 'profile create default --network main', YES)).json.error.code, 'PROFILE_INVALID')
  await done(run(home, 'fake chain mine --profile toy'))
  t.is((await run(home, 'profile create toy --network main', YES)).json.error.code, 'PROFILE_INVALID')
  t.is((await run(home, 'profile create real', YES)).json.error.code, 'USAGE')
  for (const [flag, value] of [
    ['--login-server', 'https://login.example.org/api'],
    ['--login-server', 'ftp://login.edge.app'],
    ['--sync-server', 'http://sync.edge.app'],
    ['--chain', 'bitcoin=electrum.example.org:50002'],
    ['--chain', 'bitcoin=https://electrum.example.org'],
    ['--chain', 'bitcoin=tls://electrum.example.org'],
    ['--chain', 'bitcoin=esplora+https://esplora.example.org/api?key=1'],
    ['--chain', 'bitcoin=esplora+ftp://esplora.example.org'],
    ['--chain', 'bitcoin=rpc+http://127.0.0.1'],
    ['--chain', 'bitcoin=rpc+http://user:word@127.0.0.1:8332'],
    ['--chain', 'bitcoin=rpc+http://127.0.0.1:8332/wallet/mine'],
    ['--chain', 'dollar=tls://electrum.example.org:50002'],
    ['--provider', 'nobody']
  ] as const)
    t.true(
      ['USAGE', 'LOGIN_DOMAIN'].includes(
        (await run(home, 'profile create real --network main', [flag, value, ...YES])).json.error.code
      ),
      value
    )
  t.false(existsSync(profilePaths('real', { HOLDFAST_HOME: home }).config))
})

test('a profile whose settings are damaged is never taken for one of the fake world', async t => {
  const home = homeFor(t)
  await done(run(home, 'profile create real --network main', YES))
  const path = join(profilePaths('real', { HOLDFAST_HOME: home }).config, 'profile.json')
  const sound = readFileSync(path, 'utf8')
  for (const text of [
    '',
    '{',
    '[]',
    '{"version":2}',
    sound.replace('"main"', '"moon"'),
    sound.replace('{}', '{"bitcoin":["x"]}')
  ]) {
    writeFileSync(path, text)
    for (const words of ['wallets types', 'fake chain mine', 'profile show real']) {
      const { json } = await run(home, words, ['--profile', 'real'])
      t.false(json.ok, text)
      t.is(json.meta.network, 'unknown', text)
    }
  }
  writeFileSync(path, sound)
  t.true((await run(home, 'wallets types --profile real')).json.ok)
})

test('a chosen profile is used by commands that name none, and printed commands name any other', async t => {
  const home = homeFor(t)
  t.is((await done(run(home, 'profile default'))).name, 'default')
  t.is((await run(home, 'profile default nowhere')).json.error.code, 'NOT_FOUND')
  await done(run(home, 'profile create real --network main', YES))
  await done(run(home, 'profile default real'))
  t.is((await run(home, 'wallets types')).json.meta.network, 'main')
  t.is((await run(home, 'wallets types --profile default')).json.meta.network, 'fake')
  const nextOf = async (words: string): Promise<unknown> =>
    (await run(home, words)).json.error.next[0].command
  t.is(await nextOf('whoami'), 'holdfast login <user>')
  t.is(await nextOf('whoami --profile default'), 'holdfast login <user> --profile default')
  const { profiles } = await done(run(home, 'profile list'))
  t.deepEqual(profiles, [
    { name: 'default', network: 'fake', isDefault: false },
    { name: 'real', network: 'main', isDefault: true }
  ])
})

test('a removed profile leaves nothing behind, after its name is typed', async t => {
  const home = homeFor(t)
  await done(run(home, 'profile create real --network main', [...YES, '--api-key-file', keyFile(home)]))
  await done(run(home, 'plugins list --profile real'))
  await done(run(home, 'profile default real'))
  // In the suite of the agent one has the profile open, and it must not go from under it.
  if (usesAgent)
    t.is((await run(home, 'profile remove real --yes --confirm real')).json.error.code, 'AGENT_RUNNING')
  await closeAgents(home)
  t.is((await run(home, 'profile remove real --yes --confirm other')).json.error.code, 'DECLINED')
  t.is((await run(home, 'profile remove other --yes --confirm other')).json.error.code, 'NOT_FOUND')
  await done(run(home, 'profile remove real --yes --confirm real'))
  const { config, data, state } = profilePaths('real', { HOLDFAST_HOME: home })
  t.deepEqual([config, data, state].filter(existsSync), [])
  t.is((await done(run(home, 'profile default'))).name, 'default')
  t.is((await edit(home, 'real --provider none')).json.error.code, 'NOT_FOUND')
})

test('the API key of a profile stands in no result, and in a file that only its owner can read', async t => {
  const home = homeFor(t)
  const made = await run(home, 'profile create real --network main', [
    ...['--login-server', 'https://login.edge.app/api', '--api-key-file', keyFile(home), ...YES]
  ])
  const shown = await run(home, 'profile show real')
  for (const { stdout, stderr } of [made, shown]) t.false((stdout + stderr).includes('a-key-of-the-owner'))
  t.deepEqual(shown.json.data.settings['API key'].value, ['set'])
  const keyAfter = async (server: string): Promise<unknown> =>
    (await done(run(home, `profile edit real --login-server ${server}`))).settings['API key'].value
  t.deepEqual(await keyAfter('https://login.edge.app/api'), ['set'])
  t.deepEqual(await keyAfter('https://login.edgetest.app/api'), [], 'another server gets no key of the first')
})

test('the login of a node stands in no result, is one of one node, and is forgotten with it', async t => {
  const home = homeFor(t)
  const [one, two] = ['127.0.0.1:8332', '127.0.0.1:9332']
  const loginFile = join(home, 'login')
  writeFileSync(loginFile, 'alice:a-word-of-the-node\n')
  chmodSync(loginFile, 0o600)
  const login = ['--node-login-file', loginFile]
  const chain = (id: string, node: string): string[] => ['--chain', `${id}=rpc+http://${node}`]
  const made = await run(home, 'profile create real --network main', [
    ...chain('bitcoin', one),
    ...login,
    ...YES
  ])
  const shown = await run(home, 'profile show real')
  for (const { stdout, stderr } of [made, shown]) t.false((stdout + stderr).includes('a-word-of-the-node'))
  const { value, from } = shown.json.data.settings[`login of ${one}`]
  t.deepEqual(value, ['set'])
  t.true(readFileSync(from, 'utf8').includes('a-word-of-the-node'), 'it names the file')
  const { config } = profilePaths('real', { HOLDFAST_HOME: home })
  const file = join(config, 'node-logins.json')
  t.is(statSync(file).mode & 0o077, 0)
  t.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { [one]: 'alice:a-word-of-the-node' })
  for (const remote of [
    'node.example.org:8332',
    '8.8.8.8:8332',
    '172.32.0.1:8332',
    '127.0.0.1.example.org:8332'
  ])
    t.is((await run(home, 'profile edit real', chain('bitcoin', remote))).json.error.code, 'USAGE', remote)
  const loginAt = nodeLoginOf(profilePaths('real', { HOLDFAST_HOME: home }), readProfile({ config }) as never)
  t.is(loginAt(`http://${one}`), 'alice:a-word-of-the-node')
  t.is(loginAt(`https://${one}`), undefined, 'of another scheme')
  const both = [...chain('litecoin', two), ...chain('bitcoin', one), ...login]
  t.is((await run(home, 'profile edit real', both)).json.error.code, 'USAGE', 'which of the two is meant')
  await done(run(home, 'profile edit real', [...chain('litecoin', two), ...login]))
  t.deepEqual(Object.keys(JSON.parse(readFileSync(file, 'utf8'))), [one, two])
  const cookie = ['--node-cookie', `${two}=${join(home, 'cookie')}`]
  const { settings } = await done(run(home, 'profile edit real --chain bitcoin=none', cookie))
  t.deepEqual(settings[`login of ${two}`].value, [`in ${join(home, 'cookie')}`])
  t.false(existsSync(file), 'no node needs a login that is kept here')
  t.is((await run(home, 'profile edit real', ['--node-cookie', `${one}=/x`])).json.error.code, 'USAGE')
})
