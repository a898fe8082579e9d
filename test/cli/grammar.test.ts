import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { isMax } from '../../app/format/amounts.ts'
import { isSurelyValid } from '../../cli/agent/start-agent.ts'
import { commandSpecs } from '../../cli/commands/commands.ts'
import { CliError, type CliErrorCode, cliErrors } from '../../cli/errors/cli-error.ts'
import { causesOf, exitCodeRows, failureOf } from '../../cli/errors/failure.ts'
import { commandInProfile, typedCommandLineOf } from '../../cli/grammar/command-line.ts'
import {
  parseCount,
  parseDate,
  parseDuration,
  parsePairs,
  parseSpan,
  readGlobalOptions
} from '../../cli/grammar/options.ts'
import { renderTsv, renderView } from '../../cli/output/render-view.ts'
import { lobbyLinkOf, readLobbyId, spanText } from '../../cli/output/texts.ts'
import type { OutputView } from '../../cli/output/view.ts'
import { parseArguments } from '../../cli/parse-arguments.ts'
import { profilePaths } from '../../cli/profile/paths.ts'
import { crackTimeText } from '../../cli/secrets/new-secrets.ts'
import { readSecrets } from '../../cli/secrets/secret-sources.ts'
import { makeSecrets } from '../../cli/secrets/secrets.ts'
import { shapeOf, startsAgent } from '../../cli/session/command.ts'
import { makePaint, wantsColor, wrapText } from '../../cli/terminal/terminal.ts'
import { makeRandom } from '../../fake-server/base/faults.ts'
import { catalogue, WalletError } from '../../kernel/index.ts'

const parse = (...argv: string[]) => parseArguments(argv, 80)

const refused = (t: ExecutionContext, argv: readonly string[], code: CliErrorCode = 'USAGE'): CliError => {
  const error = t.throws(() => parse(...argv), { instanceOf: CliError })
  t.is(error?.code, code)
  return error as CliError
}

test('global flags stand before or behind the command, and repeat as they may', t => {
  const parsed = parse('--profile', 'work', 'tx', 'list', 'Savings', '--json', '-vv', '--limit', '5')
  if (parsed.kind !== 'run') return t.fail()
  t.is(parsed.spec.name, 'tx list')
  t.deepEqual(parsed.args, ['Savings'])
  t.like(parsed.flags, { profile: 'work', json: true, verbose: 2, limit: '5' })
  const send = parse('send', 'W', '--to', 'a', '--to', 'b', '--amount', '1', '--amount', '2', '--fee', 'low')
  if (send.kind !== 'run') return t.fail()
  const { to, amount, fee } = send.flags
  t.deepEqual([to, amount, fee], [['a', 'b'], ['1', '2'], 'low'])
})

test('unknown flags, commands and values are errors with "did you mean"', t => {
  t.is(refused(t, ['wallets', 'list', '--jsn']).hint, 'Did you mean --json?')
  t.is(refused(t, ['walets', 'list']).hint, 'Did you mean wallets?')
  refused(t, ['wallets', 'list', 'too', 'many'])
  refused(t, ['wallets', 'show'])
  refused(t, ['wallets'])
  refused(t, ['send', 'W', '--fee', 'fastest'])
  refused(t, ['tx', 'label', 'W', 'id', '--clear', 'everything'])
  refused(t, ['send', 'W', '--to'])
  refused(t, ['help', 'nothing'], 'NOT_FOUND')
})

test('a secret on the command line is refused with the reason, and never repeated', t => {
  for (const argv of [
    ['login', 'bob', '--password', 'hunter2'],
    ['login', 'bob', '--password=hunter2'],
    ['wallets', 'list', '--pin', 'hunter2'],
    ['wallets', 'list', '--recovery-key=hunter2']
  ]) {
    const error = refused(t, argv, 'SECRET_SOURCE')
    t.regex(error.hint ?? '', /Other programs can read a command line/)
    t.notRegex(JSON.stringify(failureOf(error)), /hunter2/)
  }
  t.notRegex(JSON.stringify(failureOf(refused(t, ['login', '--passwort=hunter2']))), /hunter2/)
})

test('no command takes a secret as an argument or flag value', t => {
  for (const { name, flags = [], arguments: args = '' } of commandSpecs) {
    t.notRegex(args, /password|pin|secret|key/i, name)
    for (const flag of flags.filter(({ flags: text }) => text.includes('<')))
      t.notRegex(flag.flags, /password|pin\b|secret|private|seed|mnemonic/i, name)
  }
})

test('help is shown for everything, and only for what exists', t => {
  for (const argv of [
    [],
    ['--help'],
    ['help'],
    ['help', 'send'],
    ['tx', '--help'],
    ['help', 'tx', 'label']
  ]) {
    const parsed = parse(...argv)
    t.is(parsed.kind, 'help')
    t.regex(parsed.kind === 'help' ? parsed.text : '', /^Usage: holdfast/)
  }
  for (const { name } of commandSpecs.filter(spec => spec.name !== 'help')) {
    const parsed = parse('help', ...name.split(' '))
    t.regex(parsed.kind === 'help' ? parsed.text : '', new RegExp(`^Usage: holdfast ${name}`))
  }
  t.is(parse('-V').kind, 'version')
})

test('every example in the help is a command that can be typed, and of the command that it explains', t => {
  for (const { name, example } of commandSpecs) {
    if (example === undefined) continue
    const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    const parsed = parse(...words)
    t.is(parsed.kind === 'run' ? parsed.spec.name : '', name, example)
    const help = parse('help', ...name.split(' '))
    t.true(help.kind === 'help' && help.text.includes(`  holdfast ${example}\n`), name)
  }
})

test('each error of the catalogue has one exit code, and no code is used twice by name', t => {
  const listed = exitCodeRows().flatMap(({ codes }) => codes)
  t.deepEqual([...listed].sort(), [...Object.keys(catalogue), ...Object.keys(cliErrors)].sort())
  t.is(new Set(listed).size, listed.length)
  for (const { exitCode } of exitCodeRows())
    t.true(Number.isInteger(exitCode) && exitCode >= 0 && exitCode < 256)
})

test('global options: a flag wins over the environment, and bad ones are refused', t => {
  const read = (flags: object, environment = {}) => readGlobalOptions({ ...flags }, { environment })
  t.like(read({}), { profile: 'default', json: false, input: true, timeoutMs: 60_000, account: undefined })
  const environment = { HOLDFAST_PROFILE: 'p', HOLDFAST_FORMAT: 'json', HOLDFAST_TIMEOUT: '2m', CI: 'true' }
  t.like(read({}, environment), { profile: 'p', json: true, timeoutMs: 120_000, input: false })
  t.like(read({ profile: 'q', timeout: '500ms' }, environment), { profile: 'q', timeoutMs: 500 })
  for (const profile of ['..', 'a/b', '', '.hidden', 'x'.repeat(41)]) {
    if (profile !== '') t.throws(() => read({ profile }), { instanceOf: CliError })
  }
  t.throws(() => read({ timeout: 'soon' }), { instanceOf: CliError })
})

test('durations, counts, pairs and dates are parsed', t => {
  t.is(parseDuration('1h'), 3_600_000)
  for (const bad of ['0s', '10', '1d', '-1s', '999999h'])
    t.throws(() => parseDuration(bad), { instanceOf: CliError })
  t.is(parseCount('7', 'n', [1, 10]), 7)
  for (const bad of ['0', '11', '1.5', 'x', ''])
    t.throws(() => parseCount(bad, 'n', [1, 10]), { instanceOf: CliError })
  t.deepEqual(parsePairs(['a=1', 'b=x=y'], 'pair'), { a: '1', b: 'x=y' })
  t.throws(() => parsePairs(['=1'], 'pair'), { instanceOf: CliError })
  t.is(parseDate('2026-01-05', 'start').toISOString(), '2026-01-05T00:00:00.000Z')
  t.throws(() => parseDate('2026-99-99', 'start'), { instanceOf: CliError })
  t.is(typedCommandLineOf(['send', "it's", '0.1 BTC']), "holdfast send 'it'\\''s' '0.1 BTC'")
})

test('waiting times, links and long lines are read and written as people do', t => {
  t.is(parseSpan('7d'), 604_800)
  t.is(parseSpan('90m'), 5400)
  for (const bad of ['', '0d', '7', '7s', '-1d', '1.5h'])
    t.throws(() => parseSpan(bad), { instanceOf: CliError }, bad)
  t.deepEqual([604_800, 86_400, 5400, 61, 1].map(spanText), [
    '7 days',
    '1 day',
    '90 minutes',
    '61 seconds',
    '1 second'
  ])
  t.deepEqual([0.2, 1, 200, 4e7, 1e12, 1e18, 1e30].map(crackTimeText), [
    'less than a second',
    'about 1 second',
    'about 3 minutes',
    'about 1 year',
    'about 31,000 years',
    'about 31 billion years',
    'more than a trillion years'
  ])
  for (const text of ['aB3', 'edge://edge/aB3', 'https://deep.example/edge/aB3?x=1#y', ' aB3 '])
    t.is(readLobbyId(text), 'aB3')
  t.is(readLobbyId(lobbyLinkOf('aB3')), 'aB3')
  t.is(wrapText('one two three', 7), 'one two\nthree')
  t.is(wrapText('\u001b[2mone\u001b[22m two', 7), '\u001b[2mone\u001b[22m two', 'colours count for nothing')
  t.is(wrapText('unbreakable', 3), 'unbreakable')
  t.is(
    commandInProfile({ profile: 'default', usualProfile: 'default', device: 'default' }, 'wallets list'),
    'holdfast wallets list'
  )
  t.is(
    commandInProfile({ profile: 'p', usualProfile: 'default', device: 'd' }, 'sync'),
    'holdfast sync --profile p --device d'
  )
})

test('the word max is known however it is typed', t => {
  t.true(isMax(' MAX '))
  t.false(isMax('maximum'))
})

const secretsFrom = (text: string): NodeJS.ReadStream => Readable.from([text]) as unknown as NodeJS.ReadStream

test('secrets come from one line, one object or a private file', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-secrets-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'pin')
  writeFileSync(path, '4321\n', { mode: 0o600 })
  const none = { stdin: [], files: new Map(), hasJson: false, descriptor: undefined } as const
  const empty = { stdin: secretsFrom('') }
  t.is((await readSecrets({ ...none, files: new Map([['pin', path]]) }, empty)).get('pin'), '4321')
  t.is(
    (await readSecrets({ ...none, stdin: ['password'] }, { stdin: secretsFrom(' a b \r\n') })).get(
      'password'
    ),
    ' a b '
  )
  const json = await readSecrets(
    { ...none, hasJson: true },
    {
      stdin: secretsFrom('{"pin":"1","password":"2"}')
    }
  )
  t.deepEqual(
    [...json],
    [
      ['pin', '1'],
      ['password', '2']
    ]
  )

  const bad = (error: unknown): boolean => error instanceof CliError && error.code === 'SECRET_SOURCE'
  chmodSync(path, 0o640)
  const shared = await t.throwsAsync(readSecrets({ ...none, files: new Map([['pin', path]]) }, empty))
  t.true(bad(shared))
  t.regex(shared?.message ?? '', /can be read by others/)
  t.true(bad(await t.throwsAsync(readSecrets({ ...none, files: new Map([['pin', folder]]) }, empty))))
  t.true(bad(await t.throwsAsync(readSecrets({ ...none, stdin: ['pin'], hasJson: true }, empty))))
  for (const text of ['', '[]', '{"pin":1}', '{"pin":"hunter2"']) {
    const error = await t.throwsAsync(readSecrets({ ...none, hasJson: true }, { stdin: secretsFrom(text) }))
    t.true(bad(error), text)
    t.notRegex(causesOf(error).join(), /hunter2/)
  }
})

test('secrets come from a descriptor as one object, and each of them from one source', async t => {
  const none = { stdin: [], files: new Map(), hasJson: false, descriptor: undefined } as const
  const descriptors: number[] = []
  const terminal = (text: string, stdin = '') => ({
    stdin: secretsFrom(stdin),
    async readDescriptor(descriptor: number) {
      descriptors.push(descriptor)
      return text
    }
  })
  const given = await readSecrets({ ...none, descriptor: '7' }, terminal('{"pin":"1","answers":["a","b"]}'))
  t.deepEqual(descriptors, [7])
  t.deepEqual(Object.fromEntries(given), { pin: '1', answers: '["a","b"]' })
  const both = { ...none, stdin: ['password'], descriptor: '3' } as const
  t.is((await readSecrets(both, terminal('{"pin":"1"}', 'x'))).get('password'), 'x')
  const twice = await t.throwsAsync(readSecrets(both, terminal('{"password":"hunter2"}', 'hunter2')))
  t.like(twice, { code: 'SECRET_SOURCE', message: 'Two sources bring the password' })
  for (const descriptor of ['0', '2', '1024', '-1', 'x', '3.5', ''])
    await t.throwsAsync(readSecrets({ ...none, descriptor }, terminal('{}')), { code: 'USAGE' }, descriptor)
  for (const text of ['', 'pin=1', '[]', '{"pin":1}', '{"pin":"hunter2"']) {
    const error = await t.throwsAsync(readSecrets({ ...none, descriptor: '3' }, terminal(text)))
    t.like(error, { code: 'SECRET_SOURCE' }, text)
    t.notRegex(causesOf(error).join(), /hunter2/)
  }
  const { stdin } = terminal('')
  await t.throwsAsync(readSecrets({ ...none, descriptor: '3' }, { stdin }), {
    message: /cannot be read here/
  })
})

test('without a prompt, the error names the commands that work', async t => {
  const stream = new PassThrough() as unknown as NodeJS.ReadStream & NodeJS.WriteStream
  const secrets = makeSecrets({
    terminal: { stdin: stream, stdout: stream, stderr: stream, environment: {} },
    flags: { stdin: [], files: new Map(), hasJson: false, descriptor: undefined },
    mayPrompt: true,
    commandLine: 'holdfast balance'
  })
  t.false(secrets.canPrompt)
  const error = await t.throwsAsync(secrets.prompt('pin', { message: 'PIN:' }), { instanceOf: CliError })
  t.like(error, { code: 'PROMPT_IMPOSSIBLE', exitCode: 5 })
  t.is(error?.next[0]?.command, 'holdfast balance --pin-stdin')
})

test('failures: catalogue errors keep their advice, strangers are bugs, and causes hide keys', t => {
  const wallet = failureOf(new WalletError('DUST_SPEND', { minimum: '294' }))
  t.like(wallet, {
    code: 'DUST_SPEND',
    exitCode: 33,
    hint: 'Send at least 294 native units.',
    name: 'DustSpendError'
  })
  const challenge = { challengeId: 'c-1', challengeUri: 'https://captcha.example/c-1' }
  t.is(
    failureOf(new WalletError('CHALLENGE', challenge)).next[0]?.command,
    'holdfast login <user> --challenge-id c-1'
  )
  const reset = failureOf(new WalletError('OTP', { reason: 'ip', resetDate: '2026-01-08T00:00:00.000Z' }))
  t.regex(reset.hint ?? '', /^This network is new to the account/)
  t.deepEqual(reset.next.at(-1), {
    command: 'holdfast login <user>',
    why: 'two-factor is switched off automatically at 2026-01-08T00:00:00.000Z'
  })
  const key = 'L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1'
  const stranger = new Error('outer', { cause: new Error(`the key is ${key}`) })
  t.like(failureOf(stranger), { code: 'INTERNAL', exitCode: 1 })
  const causes = causesOf(stranger).join('\n')
  t.regex(causes, /caused by Error: the key is/)
  t.notRegex(causes, new RegExp(key))
})

const table: OutputView = {
  kind: 'table',
  columns: [
    { title: 'NAME', canShrink: true },
    { title: 'AMOUNT', align: 'right' }
  ],
  rows: [
    ['a'.repeat(60), '0.5 BTC'],
    ['evil\u001b[2Jname\tx', '12 BTC']
  ],
  empty: 'nothing'
}

test('tables fit the terminal, cut names in the middle and never amounts; TSV is whole', t => {
  const plain = { paint: makePaint(false), width: 40, isAscii: false }
  const lines = renderView(table, plain)
  t.is(lines.length, 3)
  for (const line of lines) t.true(line.length <= 40, line)
  t.regex(lines[1] ?? '', /^a+…a+ +0\.5 BTC$/)
  t.regex(renderView(table, { ...plain, isAscii: true })[1] ?? '', /^a+\.\.a+ /)
  t.is(renderTsv(table)[0], `${'a'.repeat(60)}\t0.5 BTC`)
  for (const line of [...lines, ...renderTsv(table)]) t.false(line.includes('\u001b'))
  t.is(renderTsv(table)[1]?.split('\t').length, 2)
  t.deepEqual(renderView({ ...table, rows: [] }, plain), ['nothing'])
  const wide = { ...table, columns: [...table.columns, { title: 'NOTES' }], rows: [['a', '1 BTC', '']] }
  t.deepEqual(renderView(wide, plain), ['NAME  AMOUNT', 'a      1 BTC'], 'an empty column is left out')
  t.is(renderTsv(wide)[0], 'a\t1 BTC\t', 'but not for programs')
})

test('a narrow terminal loses the last columns before a line wraps, and empty fields are not shown', t => {
  const columns = ['ONE', 'TWO', 'THREE', 'FOUR'].map((title, index) => ({ title, canShrink: index > 0 }))
  const view: OutputView = {
    kind: 'table',
    columns,
    rows: [['first', 'a'.repeat(20), 'b'.repeat(20), 'c']],
    empty: ''
  }
  const linesAt = (width: number) => renderView(view, { paint: makePaint(false), width, isAscii: true })
  t.deepEqual(linesAt(40), [
    'ONE    TWO           THREE          FOUR',
    'first  aaaaa..aaaaa  bbbbbb..bbbbb  c'
  ])
  for (const width of [30, 20, 14]) for (const line of linesAt(width)) t.true(line.length <= width, line)
  const record: OutputView = {
    kind: 'record',
    fields: [
      ['name', 'Joe'],
      ['notes', '']
    ]
  }
  t.deepEqual(renderView(record, { paint: makePaint(false), width: 40, isAscii: true }), ['name  Joe'])
  t.deepEqual(renderTsv(record), ['name\tJoe', 'notes\t'])
})

test('a long value of a record goes on below itself, word by word, and a long word stays whole', t => {
  const txid = 'ab'.repeat(32)
  const record: OutputView = {
    kind: 'record',
    fields: [
      ['ends', 'after 1 min without a command'],
      ['txid', txid]
    ]
  }
  const lines = renderView(record, { paint: makePaint(false), width: 24, isAscii: true })
  t.deepEqual(lines.join('\n').split('\n'), ['ends  after 1 min', '      without a command', `txid  ${txid}`])
})

test('colours: the flag, NO_COLOR, FORCE_COLOR, then the terminal', t => {
  t.true(wantsColor('always', { NO_COLOR: '1' }, false))
  t.false(wantsColor('never', { FORCE_COLOR: '1' }, true))
  t.false(wantsColor('auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true))
  t.true(wantsColor('auto', { FORCE_COLOR: '1' }, false))
  t.false(wantsColor('auto', { TERM: 'dumb' }, true))
  t.true(wantsColor('auto', {}, true))
  t.is(makePaint(true)('x', 'good'), '\u001b[32mx\u001b[39m')
})

test('each profile has its own folder for every kind of data', t => {
  const paths = profilePaths('work', { HOLDFAST_HOME: '/h' })
  t.deepEqual(paths, {
    name: 'work',
    config: '/h/config/work',
    data: '/h/data/work',
    device: '/h/data/work/device',
    state: '/h/state/work',
    session: '/h/state/work',
    cache: '/h/cache/work'
  })
  const second = profilePaths('work', { HOLDFAST_HOME: '/h' }, 'phone')
  t.is(second.data, paths.data, 'devices share the world')
  t.is(second.device, '/h/data/work/devices/phone')
  t.is(second.session, '/h/state/work/devices/phone')
  const { config, data, state, cache } = profilePaths('work', {})
  const platform = [config, data, state, cache]
  t.is(new Set(platform).size, 4)
  for (const path of platform) t.regex(path, /holdfast.*work$/)
})

test('what a client takes for a valid command line without the parser, the parser takes', t => {
  const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 1_000_000)
  t.log(`seed ${seed}`)
  const random = makeRandom(seed)
  const specs = commandSpecs.filter(startsAgent)
  const shapes = specs.map(shapeOf)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const flags = [...new Set([...shapes.flatMap(({ bare, valued }) => [...bare, ...valued]), ...ODD_WORDS])]
  let taken = 0
  for (let run = 0; run < 3000; run += 1) {
    const shape = pick(shapes)
    const own = [...shape.bare, ...shape.valued, '--json', '-v', '--account', 'word']
    const from = pick([own, own, own, flags])
    const words = Array.from({ length: Math.floor(random() * 5) }, () => pick(from))
    const argv = [...shape.name.split(' '), ...words]
    if (!isSurelyValid(argv, shapes)) continue
    taken += 1
    t.notThrows(() => parse(...argv), argv.join(' '))
  }
  t.true(taken > 100, `${taken} were taken`)
  for (const line of [
    'send Savings --to x --amount 1 --yes',
    'wallets list --secrets-stdin',
    'wallets list -a alice'
  ])
    t.true(isSurelyValid(line.split(' '), shapes), line)
})

const ODD_WORDS = [
  '--',
  '-',
  '',
  '-x',
  '--json=1',
  '--account=',
  '--no-input',
  '--timeout',
  '-vv',
  '--fee',
  '-5',
  '-ox'
]
