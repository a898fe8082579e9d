import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { homeFor, type Ran, runHoldfast } from '../helpers/command-line.ts'
import { serveSocks } from '../helpers/socks-stub.ts'

const HOOK = pathToFileURL(fileURLToPath(new URL('../helpers/record-traffic.js', import.meta.url))).href
const ONION = 'abcdefghijklmnop.onion'
const payee = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const secrets = { password: 'Correct Horse 1', pin: '4815' }

interface Traffic {
  readonly kind: string
  readonly target: string
}

/** A home with a profile on servers of a fake world, whose commands run in recorded processes. */
const stage = async (t: ExecutionContext, { isProxied }: { readonly isProxied: boolean }) => {
  const home = homeFor(t)
  const file = join(home, 'traffic')
  const world = makeFakeWorld({ io: makeNodeIo() })
  const served = await serveFakeWorld(world)
  t.teardown(async () => {
    await served.close()
    await world.close()
  })
  const proxy = await serveSocks(t)
  const run = async (words: string, more: readonly string[] = [], input: object = secrets): Promise<Ran> => {
    const ran = await runHoldfast([...words.split(' '), ...more, '--json', '--no-input'], {
      home,
      input: JSON.stringify(input),
      env: { NODE_OPTIONS: `--import=${HOOK}`, TEST_TRAFFIC_FILE: file }
    })
    t.log(words, ran.code)
    return ran
  }
  const done = async (ran: Promise<Ran>): Promise<Ran['json']['data']> => {
    const { code, stdout, stderr, json } = await ran
    if (code !== 0) throw new Error(`${code}: ${stdout} ${stderr}`)
    return json.data
  }
  const port = new URL(served.chainServers.bitcoin[0] ?? '').port
  const named = {
    login: served.authServer,
    sync: served.syncServers[0] ?? '',
    bitcoin: isProxied ? `tcp://${ONION}:${port}` : `tcp://127.0.0.1:${port}`
  }
  writeFileSync(join(home, 'key'), 'a-key\n', { mode: 0o600 })
  await done(
    run('profile create own --network regtest', [
      ...['--login-server', named.login, '--sync-server', named.sync, '--info-server', named.login],
      ...['--chain', `bitcoin=${named.bitcoin}`],
      ...['--api-key-file', join(home, 'key'), '--yes', '--confirm', 'yes'],
      // The proxy of the test connects them to nothing; without it they would be real.
      ...(isProxied ? ['--proxy', proxy.url, '--provider', 'coinbase'] : [])
    ])
  )
  const traffic = (): readonly Traffic[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter(line => line !== '')
          .map(line => JSON.parse(line))
      : []
  return { world, proxy, run, done, named, traffic }
}

type Stage = Awaited<ReturnType<typeof stage>>

/** Commands of every kind that uses the network, or could. */
const runCommands = async (t: ExecutionContext, { world, run, done }: Stage): Promise<void> => {
  const command = (words: string, more: readonly string[] = []): Promise<Ran> =>
    run(`${words} --profile own --timeout 60s`, [...more, '--secrets-stdin'])
  await done(command('account create alice'))
  await done(command('wallets create bitcoin --name Savings'))
  await done(command('wallets create bitcoin --name Spending'))
  const { address } = await done(command('address show Savings'))
  world.chains.bitcoin.fund(address, '5000000')
  world.chains.bitcoin.mine(1)
  const { balances } = await done(command('balance'))
  t.true(JSON.stringify(balances).includes('5000000'))
  const sent = await done(command(`send Savings --to ${payee} --yes`, ['--amount', '10000 native']))
  t.regex(JSON.stringify(sent), /[0-9a-f]{64}/)
  for (const words of ['sync', 'tx list Savings', 'wallets list', 'swap quote --from Savings --to Spending'])
    await command(words)
  for (const words of ['rates get BTC iso:EUR', 'rates refresh', 'swap providers', 'plugins list', 'whoami'])
    await run(`${words} --profile own --timeout 10s`)
  await run('profile show own')
  await run('profile trust own --yes')
}

test.serial(
  'with a profile that names its servers no command looks up or connects to another host',
  async t => {
    const own = await stage(t, { isProxied: false })
    await runCommands(t, own)
    const allowed = new Set(Object.values(own.named).map(url => new URL(url).host))
    const names = new Set([...allowed].map(host => host.replace(/:\d+$/, '')))
    const stray = own
      .traffic()
      .filter(({ kind, target }) => !(kind === 'lookup' ? names : allowed).has(target))
    t.deepEqual(stray, [])
    t.true(own.traffic().some(({ target }) => target === new URL(own.named.bitcoin).host))
  }
)

test.serial(
  'with a proxy no command looks up a name, or connects to anything but the proxy, and wallets share no circuit',
  async t => {
    const own = await stage(t, { isProxied: true })
    await runCommands(t, own)
    const stray = own
      .traffic()
      .filter(({ kind, target }) =>
        kind === 'connect' ? target !== `127.0.0.1:${own.proxy.port}` : target !== '127.0.0.1'
      )
    t.deepEqual(stray, [])
    const hosts = new Set(own.proxy.log.map(({ host }) => host))
    t.true(hosts.has(ONION))
    t.true(hosts.has('api.coinbase.com'), [...hosts].join())
    t.true(own.proxy.log.every(({ type, host }) => type === 3 || host === '127.0.0.1'))
    const circuits = own.proxy.log.filter(({ host }) => host === ONION).map(({ user }) => user)
    t.true(new Set(circuits).size >= 4, 'each wallet of each command has its own')
  }
)
