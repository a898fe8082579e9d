import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { commandSpecs } from '../../cli/commands/commands.ts'
import type { CommandSpec } from '../../cli/session/command.ts'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { homeFor, type Ran, runHoldfast, WITH_AGENT } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { LIMIT } from '../helpers/plugin-sources.ts'
import { serveSocks } from '../helpers/socks-stub.ts'

const HOOK = pathToFileURL(fileURLToPath(new URL('../helpers/record-traffic.js', import.meta.url))).href
const ONION = 'abcdefghijklmnop.onion'
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const XPUB =
  'tpubDC5FSnBiZDMmhiuCmWAYsLwgLYrrT9rAqvTySfuCCrgsWz8wxMXUS9Tb9iVMvcRbvFcAHGkMD5Kx8koh4GquNGNTfohfk7pgjhaPCdXpoba'
/** The private key 1 on test networks. */
const KEY = 'cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA'
const secrets = {
  password: 'Correct Horse 1',
  'new-password': 'Correct Horse 1',
  pin: '4815',
  'new-pin': '4815',
  answers: ['blue', 'Rex'],
  'private-key': KEY
}

/** One line of the command line, in the order in which they are run. */
interface Row {
  /** An underscore is a space, and `{name}` a file, or something that an earlier line gave. */
  readonly words: string
  /** The code of the error with which it ends; it succeeds if left out, and ends anyhow if it is `any`. */
  readonly code?: string
  /** For a command that runs until it is stopped. */
  readonly stopMs?: number
  /** Other secrets, or a text, on standard input. */
  readonly input?: object | string
  /** In a process of its own, which uses an agent that runs. */
  readonly isProcess?: boolean
  /** What later lines need of its result. */
  keep?(data: Ran['json']['data']): Readonly<Record<string, string>>
  /** Before it runs. */
  prepare?(stage: Stage): void
}

interface Stage {
  readonly world: ReturnType<typeof makeFakeWorld>
  /** What stands for `{name}`. */
  readonly known: Record<string, string>
}

const row = (words: string, rest: Omit<Row, 'words'> = {}): Row => ({ words, ...rest })
const refused = (words: string, code: string): Row => ({ words, code })
const stopped = (words: string, rest: Omit<Row, 'words'> = {}): Row => ({ words, stopMs: 1500, ...rest })
const own = { password: 'Another Horse 2' }

/** Commands of the fake world that want something. */
const FAKE: Readonly<Record<string, string>> = {
  'fake chain fund': 'fake chain fund Savings 1_BTC',
  'fake net latency': 'fake net latency 1ms',
  'fake net fail': 'fake net fail 0.1',
  'fake clock advance': 'fake clock advance 1h',
  'fake clock set': 'fake clock set 2027-01-01',
  'fake user load': 'fake user load {user}',
  'fake user dump': 'fake user dump alice -o {dump} --yes --confirm alice'
}

/** The command of a line. */
const specOf = (words: string): CommandSpec | undefined =>
  commandSpecs
    .filter(({ name }) => words === name || words.startsWith(`${name} `))
    .sort((one, other) => other.name.length - one.name.length)[0]

/** Every command at least once, on a wallet that has coins. */
const ROWS: readonly Row[] = [
  row('help'),
  row('help send'),
  row('completion bash'),
  row('profile list'),
  row('profile show own'),
  row('profile default own'),
  row('profile trust own --yes'),
  row('profile edit own --certificates pin'),
  refused('profile store own redis://192.0.2.1:6379', 'USAGE'),
  row('account available alice'),
  row('account create alice'),
  row('account password check'),
  row('logout'),
  row('login alice'),
  row('whoami'),
  row('messages'),
  row('account list'),
  row('account show'),
  row('account key'),
  row('account password verify'),
  row('account password set'),
  row('account pin verify'),
  row('account pin set'),
  row('account pin disable'),
  row('account pin enable'),
  row('account pin show'),
  row('account recovery choices'),
  row('account recovery setup --question Colour? --question Dog?'),
  row('account recovery key --reveal', { keep: data => ({ recoveryKey: data.recoveryKey }) }),
  row('account recovery questions alice'),
  row('account recovery remove --yes'),
  row('2fa status'),
  row('2fa enable', { keep: data => ({ otpKey: data.otpKey }) }),
  row('2fa code'),
  row('2fa key'),
  refused('2fa repair', 'PROMPT_IMPOSSIBLE'),
  refused('2fa reset request', 'NOT_NEEDED'),
  row('2fa reset cancel'),
  row('2fa disable --yes --confirm alice'),
  row('voucher list'),
  row('voucher approve --all'),
  row('voucher reject --all'),
  refused('lobby show 2DKSbTpgCk', 'LOBBY_NOT_FOUND'),
  refused('lobby approve 2DKSbTpgCk --yes', 'LOBBY_NOT_FOUND'),
  refused('lobby close 2DKSbTpgCk --yes', 'LOBBY_NOT_FOUND'),
  row('wallets types'),
  row('wallets create bitcoin --name Savings', { keep: data => ({ wallet: data.wallet.id }) }),
  row('wallets create bitcoin --name Spending'),
  row('wallets import bitcoin --name Old', {
    input: { ...secrets, 'private-key': `${'zoo '.repeat(11)}wrong` }
  }),
  row('wallets watch bitcoin --name Cold --file {xpub} --key-option format=bip44'),
  row('address show Savings', {
    keep: data => ({ address: data.address }),
    prepare({ world }) {
      world.chains.bitcoin.mine(1)
    }
  }),
  row('address Savings', {
    prepare({ world, known }) {
      for (const amount of ['5000000', '6000000', '7000000'])
        world.chains.bitcoin.fund(known.address ?? '', amount)
      world.chains.bitcoin.mine(1)
    }
  }),
  row('sync Savings'),
  row('balance --fiat iso:EUR'),
  row('balance'),
  row('wallets list'),
  row('wallets show Savings'),
  row('wallets staking Savings'),
  row('wallets keys Savings'),
  row('wallets dump Savings'),
  row('wallets rename Spending Daily'),
  row('wallets fiat Savings iso:EUR'),
  row('wallets sort Savings 0'),
  row('wallets archive Old'),
  row('wallets unarchive Old'),
  row('wallets hide Old'),
  row('wallets unhide Old'),
  row('wallets delete Old --yes'),
  row('wallets undelete Old'),
  row('wallets pause Daily'),
  row('wallets resume Daily'),
  row('wallets resync Daily --yes'),
  row('wallets wait Savings'),
  refused('wallets activate Savings --list', 'NOT_SUPPORTED'),
  row('wallets methods Savings'),
  refused('wallets split Savings --to bitcoincash --yes', 'SPLIT_SEGWIT'),
  row('address new Daily --name Bob'),
  row('address lock Daily'),
  row('address save Daily --name Bob'),
  row('amount Savings 0.01_BTC --to sats'),
  row(`uri parse Savings bitcoin:${PAYEE}?amount=0.1`),
  row(`uri encode Savings ${PAYEE}`),
  row('message sign Savings --message Hi --format legacy', {
    keep: data => ({ signer: data.address, signature: data.signature })
  }),
  row('message verify bitcoin {signer} {signature} --message Hi'),
  row('tokens list bitcoin'),
  refused('tokens enable Savings USDX', 'NOT_FOUND'),
  refused('tokens disable Savings USDX', 'NOT_FOUND'),
  refused('tokens always bitcoin add USDX', 'NOT_FOUND'),
  refused('tokens add bitcoin --code USDX --name Dollar --decimals 6 --contract 0x1f98', 'NOT_SUPPORTED'),
  refused('tokens edit bitcoin USDX --name Dollar', 'NOT_FOUND'),
  refused('tokens remove bitcoin USDX', 'NOT_FOUND'),
  row(`send Savings --to ${PAYEE} --amount 10000_native --fee low --yes`, {
    keep: data => ({ txid: data.txid })
  }),
  row('tx open Savings'),
  row('tx resend Savings {txid} --yes'),
  row('tx replace Savings {txid} --fee high --yes', { keep: data => ({ txid: data.txid }) }),
  row('tx bump Savings {txid} --fee custom --custom-fee satPerByte=60 --yes'),
  row(`send Savings --to ${PAYEE} --amount 20000_native --sign-only -o {signed} --yes --again`),
  row('tx broadcast Savings {signed} --yes'),
  row(`send Savings --to ${PAYEE} --amount 30000_native --sign-only -o {unsent} --yes --again`),
  row('tx save Savings {unsent}', {
    keep: data => ({ saved: data.txid, start: data.txid.slice(0, 8) })
  }),
  row('tx forget Savings {saved} --yes --confirm {start}'),
  row('sweep Daily --yes', {
    prepare({ world }) {
      world.chains.bitcoin.fund('mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r', '400000')
      world.chains.bitcoin.mine(1)
    }
  }),
  row('tx list Savings'),
  row('tx list'),
  row('tx search x'),
  row('tx show Savings {txid}'),
  row('tx stream Savings'),
  row('tx export Savings --format csv --fiat iso:EUR -o {export}'),
  row('tx label Savings {txid} --name Alice'),
  row('tx import-labels {labels}'),
  row('coins list Savings', { keep: data => ({ coin: data.coins[0].coin }) }),
  row('coins freeze Savings {coin}'),
  row('coins unfreeze Savings {coin}'),
  row('coins label Savings {coin} --label Rent'),
  row('policy list'),
  row('policy explain'),
  row(`policy test Savings 0.0001_BTC ${PAYEE}`),
  row('policy device'),
  refused('policy approve 123', 'CONFIRMATION_REQUIRED'),
  row('policy add daily rolling --max 1_BTC --per 24h --yes'),
  row('policy remove daily --yes'),
  refused('policy cancel daily', 'OPTION_INVALID'),
  row('policy set-aside --yes'),
  refused('policy reset --yes', 'OPTION_INVALID'),
  row('swap providers'),
  refused('swap enable sideshift', 'any'),
  refused('swap settings sideshift', 'any'),
  refused('swap quote --from Savings --to Daily --amount 0.01_BTC', 'any'),
  refused('swap run --from Savings --to Daily --amount 0.01_BTC --min-receive 0.001_BTC --yes', 'any'),
  refused('swap approve 1f0c9a3b-1 --yes', 'NOT_FOUND'),
  row('swap close 1f0c9a3b-1'),
  row('swap history'),
  refused('swap disable sideshift', 'any'),
  refused('rates get BTC iso:EUR', 'NO_RATE'),
  refused('rates route BTC iso:EUR --explain', 'NO_RATE'),
  row('rates pairs BTC'),
  row('rates providers'),
  row('rates refresh'),
  row('rates hints add LTC iso:CHF'),
  row('rates hints list'),
  row('rates hints clear'),
  row('data set store item --file {xpub}'),
  row('data stores'),
  row('data list store'),
  row('data get store item'),
  row('data export -o {data}'),
  row('data import {data} --overwrite'),
  row('data remove store item --yes'),
  row('data recover'),
  row('sync'),
  row('sync status'),
  row('sync repos'),
  row('plugins list'),
  row('plugins show bitcoin'),
  row('agent status'),
  row('agent clients add helper --scope propose -o {token}'),
  row('agent clients list'),
  row('agent clients log'),
  row('agent clients revoke helper'),
  refused('proposals list', 'AGENT_NOT_RUNNING'),
  refused('proposals show 1', 'AGENT_NOT_RUNNING'),
  refused('proposals approve 1 --yes', 'AGENT_NOT_RUNNING'),
  refused('proposals decline 1', 'AGENT_NOT_RUNNING'),
  stopped('tx watch'),
  stopped('sync watch'),
  stopped('devtools'),
  ...commandSpecs
    .filter(({ name }) => name.startsWith('fake '))
    .map(({ name }) => refused(FAKE[name] ?? name, 'PROFILE_INVALID')),
  refused('account backup {backup}', 'any'),
  row('account create bob --local', { input: own }),
  row('account backup {local}', { input: own }),
  row('logout'),
  row('account forget bob --yes --confirm bob'),
  row('account restore {local}', { input: own }),
  row('login bob', { input: own }),
  row('account move-to-server', { input: own }),
  row('account username set bobby', { input: own }),
  row('account delete --yes --confirm bobby', { input: own }),
  row('login alice'),
  row('plugins add {plugin.ts} --yes'),
  row('plugins disable limit'),
  row('plugins enable limit'),
  refused('plugins allow --yes -C {folder}', 'NOT_FOUND'),
  row('plugins remove limit --yes'),
  row('agent start', { isProcess: true }),
  row('agent clients add helper --scope propose -o {token2}', { isProcess: true }),
  row('balance', { isProcess: true }),
  row('proposals list', { isProcess: true }),
  stopped('mcp --client-file {token2}', { isProcess: true }),
  row('agent lock', { isProcess: true }),
  row('agent unlock', { isProcess: true }),
  row('agent stop', { isProcess: true }),
  row('account pin remove --yes'),
  row('account password remove --yes'),
  row('demo --speed fast', { isProcess: true }),
  row('profile remove own --yes --confirm own')
]

/** Those that no line runs, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'profile create': 'is run before all others',
  'agent run': 'is what agent start starts',
  'plugins new': 'writes a project, and opens no profile',
  'plugins test': 'runs a project in a fake world, and opens no profile',
  'plugins dev': 'runs a project in a fake world, and opens no profile'
}

/** Runs every command in a profile on servers of a fake world; gives what was looked up and connected to. */
const runAll = async (t: ExecutionContext, { isProxied }: { readonly isProxied: boolean }) => {
  const home = homeFor(t)
  const file = join(home, 'traffic')
  Object.assign(process.env, { TEST_TRAFFIC_FILE: file, NODE_OPTIONS: `--import=${HOOK}` })
  await import(HOOK)
  const world = makeFakeWorld({ io: makeNodeIo() })
  const servers = await serveFakeWorld(world)
  t.teardown(async () => {
    await servers.close()
    await world.close()
  })
  const proxy = await serveSocks(t)
  const names = 'xpub signed unsent labels data token token2 backup local export user dump plugin.ts folder'
  const known = Object.fromEntries(names.split(' ').map(name => [name, join(home, `the-${name}`)]))
  const stage: Stage = { world, known }
  writeFileSync(known.xpub ?? '', XPUB)
  writeFileSync(known.labels ?? '', '')
  writeFileSync(known.user ?? '', '{}')
  writeFileSync(known['plugin.ts'] ?? '', LIMIT)
  writeFileSync(join(home, 'key'), 'a-key\n', { mode: 0o600 })
  const unexpected: string[] = []
  const run = async (line: Row): Promise<void> => {
    const { words, code, stopMs, input, isProcess = false } = line
    line.prepare?.(stage)
    appendFileSync(file, `${JSON.stringify({ kind: 'command', target: words })}\n`)
    const args = words
      .split(' ')
      .map(word => word.replaceAll('_', ' ').replace(/\{([\w.]+)\}/, (_, name) => known[name] ?? '?'))
    const hasSecrets = (specOf(words)?.secrets ?? []).length > 0
    const stop = new AbortController()
    const timer = stopMs === undefined ? undefined : setTimeout(() => stop.abort(), stopMs)
    const all = [
      ...args,
      ...(words.startsWith('profile') ? [] : ['--profile', 'own', '--timeout', '30s']),
      ...(hasSecrets ? ['--secrets-stdin'] : []),
      ...['--json', '--no-input']
    ]
    const given = { home, input: JSON.stringify(input ?? secrets) }
    const ran = isProcess
      ? await runHoldfast(all, { ...given, env: { ...WITH_AGENT, ...recorded(file) } })
      : await runInProcess(all, { ...given, signal: stop.signal })
    clearTimeout(timer)
    if (stopMs !== undefined || code === 'any') return
    const ended = ran.code === 0 ? undefined : ran.json.error.code
    if (ended !== code) unexpected.push(`${args.join(' ')}: ${ended} ${ran.stdout} ${ran.stderr}`)
    if (ended === undefined && line.keep !== undefined) Object.assign(known, line.keep(ran.json.data))
  }
  const port = new URL(servers.chainServers.bitcoin[0] ?? '').port
  const named = {
    login: servers.authServer,
    sync: servers.syncServers[0] ?? '',
    bitcoin: isProxied ? `tcp://${ONION}:${port}` : `tcp://127.0.0.1:${port}`
  }
  const providers = isProxied
    ? ['--proxy', proxy.url, '--provider', 'coinbase', '--provider', 'sideshift']
    : []
  await run(
    row(
      [
        ...['profile create own --network regtest --yes --confirm yes --api-key-file', join(home, 'key')],
        ...['--login-server', named.login, '--info-server', named.login, '--sync-server', named.sync],
        ...['--chain', `bitcoin=${named.bitcoin}`, ...providers]
      ].join(' ')
    )
  )
  for (const each of ROWS) await run(each)
  t.deepEqual(unexpected, [])
  const traffic: readonly Traffic[] = readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
  return { traffic, named, proxy }
}

/** Something that was looked up or connected to, or a command before what it did. */
interface Traffic {
  readonly kind: string
  readonly target: string
}

const recorded = (file: string) => ({ NODE_OPTIONS: `--import=${HOOK}`, TEST_TRAFFIC_FILE: file })

test.serial('every command is run below, or says why it is not', t => {
  const run = new Set(ROWS.map(({ words }) => specOf(words)?.name))
  const missing = commandSpecs.map(({ name }) => name).filter(name => !run.has(name) && !(name in LEFT_OUT))
  t.deepEqual(missing, [])
})

test.serial(
  'no command of a profile that names its servers looks up or connects to another host',
  async t => {
    const { traffic, named } = await runAll(t, { isProxied: false })
    const allowed = new Set(Object.values(named).map(url => new URL(url).host))
    const names = new Set([...allowed].map(host => host.replace(/:\d+$/, '')))
    const stray = traffic.filter(
      ({ kind, target }) => kind !== 'command' && !(kind === 'lookup' ? names : allowed).has(target)
    )
    t.deepEqual(stray, [])
    for (const host of allowed)
      t.true(
        traffic.some(({ target }) => target === host),
        host
      )
  }
)

test.serial(
  'no command of a profile with a proxy looks up a name, or connects to anything but the proxy',
  async t => {
    const { traffic, named, proxy } = await runAll(t, { isProxied: true })
    const targets = traffic.filter(({ kind }) => kind === 'connect').map(({ target }) => target)
    const others = targets.filter(target => target !== `127.0.0.1:${proxy.port}`)
    // The proxy runs in this process, too.
    t.deepEqual(others.sort(), proxy.log.map(({ port }) => `127.0.0.1:${port}`).sort())
    const looked = traffic.filter(({ kind }) => kind === 'lookup').map(({ target }) => target)
    t.deepEqual([...new Set(looked)], ['127.0.0.1'])
    t.true(traffic.every(({ kind }) => kind !== 'datagram'))
    const hosts = new Set(proxy.log.map(({ host }) => host))
    const expected = new Set([...Object.values(named).map(url => new URL(url).hostname), 'api.coinbase.com'])
    t.deepEqual([...hosts].sort(), [...expected].sort())
  }
)
