import test from 'ava'
import { readGlobalOptions } from '../../cli/grammar/options.ts'
import { selectFields } from '../../cli/output/select-fields.ts'
import { parseArguments } from '../../cli/parse-arguments.ts'
import { homeFor } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { startInProcess } from '../helpers/running-command.ts'

const paths = (...fields: readonly string[]): string[][] => fields.map(field => field.split('.'))

test('chosen fields come in the order of their names, through lists and null, and whole if a longer path repeats them', t => {
  const data = {
    count: 2,
    wallets: [
      { id: 'a', name: 'One', sync: { state: 'synced', ratio: 1 } },
      { id: 'b', name: null, sync: null }
    ],
    none: null,
    empty: []
  }
  const json = (...fields: readonly string[]): string =>
    JSON.stringify(selectFields(data, paths(...fields)).data)
  t.is(json('wallets.name', 'wallets.id'), '{"wallets":[{"name":"One","id":"a"},{"name":null,"id":"b"}]}')
  t.is(json('wallets.sync.state'), '{"wallets":[{"sync":{"state":"synced"}},{"sync":null}]}')
  t.is(json('none.a', 'empty.b.c', 'count'), '{"none":null,"empty":[],"count":2}')
  t.is(
    json('wallets.sync', 'wallets.sync.state'),
    JSON.stringify({ wallets: data.wallets.map(({ sync }) => ({ sync })) })
  )
  t.deepEqual(selectFields(data, paths('count.x', 'wallets.x', 'x', 'wallets.id')).unknown, [
    'count.x',
    'wallets.x',
    'x'
  ])
  t.deepEqual(selectFields({ list: [{ a: 1 }, { b: 2 }] }, paths('list.b')), {
    data: { list: [{}, { b: 2 }] },
    unknown: []
  })
  t.deepEqual(selectFields({}, paths('__proto__', 'constructor.name')).unknown, [
    '__proto__',
    'constructor.name'
  ])
})

test('--fields prints these fields of the data, and the rest of the envelope as it is', async t => {
  const home = homeFor(t)
  const ran = await runInProcess(['help', 'exit-codes', '--json', '--fields', 'exitCodes.exitCode'], { home })
  t.is(ran.code, 0)
  t.deepEqual(ran.json.data.exitCodes[0], { exitCode: 0 })
  t.like(ran.json, { ok: true, warnings: [], meta: { schema: 'help/1' } })
  const version = await runInProcess(['--json', '--fields', 'node', '-V'], { home })
  t.deepEqual(version.json.data, { node: process.versions.node })
  const failed = await runInProcess(['wallets', 'list', '--json', '--fields', 'wallets.id'], { home })
  t.is(failed.json.error.code, 'NOT_LOGGED_IN')
})

test('an unknown field is a mistake in the command, which lists the fields that there are', async t => {
  const home = homeFor(t)
  const ran = await runInProcess(['rates', 'get', 'BTC', 'iso:EUR', '--json', '--fields', 'rate,pirce'], {
    home
  })
  t.is(ran.code, 2)
  t.is(ran.json.error.code, 'USAGE')
  t.is(ran.json.error.message, 'The result has no field pirce')
  t.deepEqual(ran.json.error.details.unknown, ['pirce'])
  t.true(ran.json.error.details.fields.includes('rate'))
  t.regex(ran.json.error.hint, /^The fields are: .*\brate\b/)
  const plain = await runInProcess(['account', 'list', '--fields', 'accounts'], { home })
  t.is(plain.code, 2)
  t.regex(plain.stderr, /together with --json/)
  for (const fields of ['', 'a,,b', '.a', 'a.', 'a..b'])
    t.is((await runInProcess(['account', 'list', '--json', '--fields', fields], { home })).code, 2, fields)
})

test('a command that has changed something prints its whole result with a warning about an unknown field', async t => {
  const home = homeFor(t)
  const input = '{"pin":"2468"}'
  const args = ['account', 'create', '--light', '--secrets-stdin', '--json']
  const made = await runInProcess([...args, '--fields', 'logniId'], { home, input })
  t.is(made.code, 0)
  t.is(typeof made.json.data.loginId, 'string')
  t.regex(made.json.warnings.join(), /no field logniId; here is all of it/)
})

test('a stream has the chosen fields in each line, and ends at once if they are unknown', async t => {
  const home = homeFor(t)
  const args = ['rates', 'get', 'BTC', 'iso:EUR', '--watch', '--json', '--fields']
  const watching = startInProcess([...args, 'rate'], { home })
  await watching.waitFor(/"data"/)
  const { stdout } = await watching.stop()
  const [first = '{}'] = stdout.split('\n')
  t.deepEqual(Object.keys(JSON.parse(first).data), ['rate'])
  const wrong = await runInProcess([...args, 'pirce'], { home })
  t.is(wrong.code, 2)
  t.is(wrong.json.error.message, 'The result has no field pirce')
})

test('flags for fields are read from the command line and never from the environment', t => {
  const parsed = parseArguments(['balance', '--json', '--fields', 'a, b.c'], 80)
  if (parsed.kind !== 'run') return t.fail()
  t.deepEqual(readGlobalOptions(parsed.flags, { environment: {} }).fields, [['a'], ['b', 'c']])
  t.is(readGlobalOptions({ json: true }, { environment: { HOLDFAST_FIELDS: 'a' } }).fields, undefined)
})
