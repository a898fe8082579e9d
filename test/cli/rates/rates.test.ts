import test from 'ava'
import type { RatePlugin } from '../../../kernel/index.ts'
import { type Envelope, makeHome, type Ran } from '../../helpers/command-line.ts'
import { failed, succeeded } from '../../helpers/envelopes.ts'
import { runInProcess } from '../../helpers/in-process.ts'
import { toySource } from '../../helpers/rate-home.ts'
import { startInProcess } from '../../helpers/running-command.ts'

// Codes that no plugin that ships has heard of, so that only the toys speak of them.
const { home, remove } = makeHome()
test.after.always(remove)

const toys: readonly RatePlugin[] = [
  toySource('quick', [
    ['AAA', 'iso:XTS', 200],
    ['AAA', 'BBB', 4]
  ]),
  toySource('slow', [['BBB', 'iso:XTS', 51]], { bias: 0.5 }),
  toySource('broken', () => Promise.reject(new Error('out of order'))),
  toySource('gone', [], { retired: 'closed in 2024' })
]

const run = (...args: readonly string[]): Promise<Ran> => runInProcess(args, { home, plugins: toys })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args, '--json')
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}

test.serial('rates get shows a value with rate, age, source and route, without a login', async t => {
  const { data } = succeeded(t, await run('rates', 'get', 'aaa', 'iso:xts', '0.5', '--json'), 'rates.get/1')
  t.like(data, { from: 'AAA', to: 'iso:XTS', amount: '0.5', value: '100', rate: '200' })
  t.like(data, { source: 'quick', stale: false })
  t.true(data.ageSeconds <= 5)
  t.is(data.route.hops.length, 1)
  t.regex((await run('rates', 'get', 'AAA', 'iso:XTS', '0.5')).stdout, /^0\.5 AAA\t100\.00 XTS\n/)
})

test.serial(
  'rates get finds routes over several providers, also in reverse, and --bias changes the route',
  async t => {
    const back = await dataOf('rates', 'get', 'iso:XTS', 'BBB', '51')
    t.regex((await run('rates', 'get', 'iso:XTS', 'BBB', '51')).stdout, /^51 XTS\t1 BBB\n/)
    t.true(back.route.hops[0].inverted)
    const through = await dataOf('rates', 'get', 'AAA', 'iso:XTS', '--bias', 'quick=5', '--bias', 'slow=-0.5')
    t.is(through.rate, '200', 'one dear hop is still cheaper than a dear and a cheap one')
    const over = await dataOf('rates', 'get', 'BBB', 'iso:XTS', '--bias', 'slow=20')
    t.is(over.source, 'quick')
    t.is(over.rate, '50')
    failed(t, await run('rates', 'get', 'AAA', 'BBB', '--bias', 'quick=cheap', '--json'), 'USAGE', 2)
    failed(t, await run('rates', 'get', 'AAA', 'BBB', 'much', '--json'), 'USAGE', 2)
  }
)

test.serial('an unknown source is refused, and the error names the known ids', async t => {
  for (const words of [
    ['get', 'AAA', 'BBB', '--bias', 'quik=20'],
    ['route', 'AAA', 'BBB', '--bias', 'quik=20'],
    ['pairs', '--source', 'quik']
  ]) {
    const { error } = failed(t, await run('rates', ...words, '--json'), 'NOT_FOUND', 6)
    t.regex(error.hint, /\bquick, slow, broken, gone\b/)
  }
  t.is((await dataOf('rates', 'get', 'BBB', 'iso:XTS', '--bias', 'SLOW=20')).source, 'quick')
  t.is((await dataOf('rates', 'pairs', '--source', 'QUICK')).pairs.length, 2)
})

test.serial('a currency in itself is one, and no rate of any time or source', async t => {
  const { rate, rateAt, ageSeconds, source } = await dataOf('rates', 'get', 'AAA', 'AAA')
  t.deepEqual({ rate, rateAt, ageSeconds, source }, { rate: '1', rateAt: null, ageSeconds: 0, source: '' })
})

test.serial('without a route it ends with 47 and advice', async t => {
  const { error } = failed(t, await run('rates', 'get', 'AAA', 'EUR', '--json'), 'NO_RATE', 47)
  t.deepEqual(error.details, { from: 'AAA', to: 'EUR' })
  t.deepEqual(
    error.next.map(({ command }: { command: string }) => command),
    ['holdfast rates get AAA iso:EUR', 'holdfast rates providers']
  )
  failed(t, await run('rates', 'route', 'AAA', 'QQQ', '--json'), 'NO_RATE', 47)
})

test.serial('offline, the last known rates are shown with their age', async t => {
  const quiet = toySource('quick', [])
  const offline = (...args: readonly string[]): Promise<Ran> =>
    runInProcess([...args, '--offline', '--json'], { home, plugins: [quiet] })
  const { data } = succeeded(t, await offline('rates', 'get', 'AAA', 'iso:XTS'), 'rates.get/1')
  t.is(data.rate, '200')
  t.is(quiet.requested.length, 0)
  const known = await offline('rates', 'get', 'AAA', 'iso:XTS', '--max-age', '1h')
  t.is(known.code, 0)
  const refused = await offline('rates', 'get', 'AAA', 'iso:XTS', '--max-age', '1ms')
  t.like(failed(t, refused, 'RATE_TOO_OLD', 47).error, { retryable: true })
})

test.serial('--max-age sends no request while a young enough rate is known', async t => {
  const source = toySource('quick', [['AAA', 'iso:XTS', 300]])
  const get = (age: string): Promise<Ran> =>
    runInProcess(['rates', 'get', 'AAA', 'iso:XTS', '--max-age', age, '--json'], { home, plugins: [source] })
  t.is((await get('10m')).json.data.rate, '200')
  t.is(source.requested.length, 0)
})

test.serial('rates route draws the hops; piped they are rows, and graphs are for other programs', async t => {
  const { data } = succeeded(
    t,
    await run('rates', 'route', 'AAA', 'iso:XTS', '--explain', '--json'),
    'rates.route/1'
  )
  t.is(data.hops.length, 1)
  t.is(data.alternatives[0].hops.length, 2)
  t.true(data.alternatives[0].totalCost > data.totalCost)
  const rows = (await run('rates', 'route', 'AAA', 'iso:XTS')).stdout.trimEnd().split('\n')
  t.is(rows.length, 1)
  t.regex(rows[0] ?? '', /^AAA\tiso:XTS\t200\tquick\t\d+ s\t0\t1\.\d{3}(\t)?$/)
  t.regex(
    (await run('rates', 'route', 'AAA', 'iso:XTS', '--graph', 'mermaid')).stdout,
    /^flowchart LR\n {2}n0\["AAA"\]/
  )
  t.regex((await run('rates', 'route', 'AAA', 'iso:XTS', '--graph', 'dot')).stdout, /^digraph rates \{/)
  const graph = JSON.parse((await run('rates', 'route', 'AAA', 'iso:XTS', '--graph', 'json')).stdout)
  t.is(graph.edges.length, 3)
})

test.serial(
  'rates pairs lists known rates with age and state; providers and refresh list the state of each provider',
  async t => {
    const { pairs } = await dataOf('rates', 'pairs', 'XTS')
    t.deepEqual(
      pairs.map(({ from, source, stale }: { from: string; source: string; stale: boolean }) => [
        from,
        source,
        stale
      ]),
      [
        ['AAA', 'quick', false],
        ['BBB', 'slow', false]
      ]
    )
    t.is((await dataOf('rates', 'pairs', 'XTS', '--source', 'slow')).pairs.length, 1)
    t.deepEqual((await dataOf('rates', 'pairs', 'XTS', '--stale')).pairs, [])
    const { providers } = await dataOf('rates', 'providers')
    const stateOf = (id: string): object => {
      const { state, message } = providers.find((one: { id: string }) => one.id === id)
      return { state, message }
    }
    t.deepEqual(stateOf('quick'), { state: 'answered', message: null })
    t.deepEqual(stateOf('gone'), { state: 'retired', message: 'closed in 2024' })
    t.like(stateOf('broken'), { state: 'failed' })
    const refreshed = await run('rates', 'refresh', '--json')
    t.true(refreshed.json.data.pairs >= 3)
    t.regex(refreshed.json.warnings.join('\n'), /Toy broken: /)
  }
)

test.serial('rates hints are listed, added and cleared', async t => {
  await dataOf('rates', 'hints', 'clear')
  t.deepEqual((await dataOf('rates', 'hints', 'list')).hints, [])
  t.true((await dataOf('rates', 'hints', 'add', 'AAA', 'iso:chf', '--dry-run')).dryRun)
  t.deepEqual((await dataOf('rates', 'hints', 'list')).hints, [])
  await dataOf('rates', 'hints', 'add', 'AAA', 'iso:chf')
  t.deepEqual((await dataOf('rates', 'hints', 'ls')).hints, [{ from: 'AAA', to: 'iso:CHF' }])
  await dataOf('rates', 'hints', 'clear')
  t.deepEqual((await dataOf('rates', 'hints', 'list')).hints, [])
})

test.serial('rates get --watch emits a rate as one event, and ends normally', async t => {
  const watch = startInProcess(['rates', 'get', 'AAA', 'iso:XTS', '--watch', '--json'], { home })
  await watch.waitFor(/rates\.get/)
  const { code, stdout } = await watch.stop()
  t.is(code, 0)
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  t.like(lines[0], { event: 'rates.get', seq: 1 })
  t.is(lines[0].data.rate, '200')
  t.deepEqual(lines.at(-1), { event: 'end', reason: 'stopped' })
})
