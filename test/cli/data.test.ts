import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { closeAgents } from '../helpers/agents.ts'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const file = (name: string): string => join(home, name)
test.after.always(remove)

const run = (args: readonly string[], input = ''): Promise<Ran> =>
  runInProcess([...args, '--pin-file', file('pin')], { home, input })
const dataOf = async (args: readonly string[], input = ''): Promise<Envelope['data']> => {
  const ran = await run([...args, '--json'], input)
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}

test.before(async () => {
  writeFileSync(file('pin'), '2468', { mode: 0o600 })
  const secrets = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
  const options = { home, input: secrets }
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], options)
  await runInProcess(
    ['login', 'alice', '--device', 'phone', '--with', 'password', '--secrets-stdin'],
    options
  )
})

test.serial('data set takes a text from standard input or a file, and get gives it back', async t => {
  t.deepEqual(await dataOf(['data', 'stores']), { stores: [] })
  await dataOf(['data', 'set', 'com.example', 'greeting', '--value-stdin'], 'hello\nworld\n')
  writeFileSync(file('exact'), 'ends with a line break\n')
  await dataOf(['data', 'set', 'com.example', 'exact', '--file', file('exact')])
  t.deepEqual(await dataOf(['data', 'stores']), { stores: [{ id: 'com.example', items: 2 }] })
  t.deepEqual(await dataOf(['data', 'ls', 'com.example']), {
    store: 'com.example',
    items: ['exact', 'greeting']
  })
  t.is((await dataOf(['data', 'get', 'com.example', 'greeting'])).value, 'hello\nworld')
  t.is((await run(['data', 'get', 'com.example', 'greeting'])).stdout, 'hello\nworld\n')
  await dataOf(['data', 'get', 'com.example', 'exact', '-o', file('out')])
  t.is(readFileSync(file('out'), 'utf8'), 'ends with a line break\n')
  t.is(statSync(file('out')).mode & 0o777, 0o600)
})

test.serial(
  'data set refuses a value that it cannot store unchanged, and data get a missing item',
  async t => {
    writeFileSync(file('bytes'), new Uint8Array([0xff, 0xfe]))
    const set = (...args: readonly string[]): Promise<Ran> =>
      run(['data', 'set', 's', 'i', '--json', ...args])
    failed(t, await set(), 'USAGE', 2)
    failed(t, await set('--value-stdin', '--file', file('exact')), 'USAGE', 2)
    failed(t, await set('--value-stdin', '--secrets-stdin'), 'USAGE', 2)
    failed(t, await set('--file', file('bytes')), 'USAGE', 2)
    failed(t, await set('--file', file('none')), 'NOT_FOUND', 6)
    failed(t, await run(['data', 'get', 'com.example', 'none', '--json']), 'ITEM_NOT_FOUND', 6)
    failed(t, await run(['data', 'list', 'none', '--json']), 'NOT_FOUND', 6)
    failed(t, await run(['data', 'rm', 'none', '--yes', '--json']), 'NOT_FOUND', 6)
  }
)

test.serial('one device imports the export of another, and replaces an item only on request', async t => {
  await dataOf(['data', 'set', '__proto__', 'toString', '--value-stdin'], 'odd')
  const facts = succeeded(t, await run(['data', 'export', '-o', file('all.json'), '--json']), 'data.export/1')
  t.deepEqual(facts.data, { file: file('all.json'), stores: 2, items: 3 })
  const missing = await run([
    'data',
    'export',
    'com.example',
    'com.exmaple',
    '-o',
    file('none.json'),
    '--json'
  ])
  t.is(missing.code, 6)
  t.is(missing.json.error.message, 'There is no store "com.exmaple" in this account')
  t.false(existsSync(file('none.json')))
  const printed = await run(['data', 'export', 'com.example'])
  t.deepEqual(JSON.parse(printed.stdout).stores, {
    'com.example': { exact: 'ends with a line break\n', greeting: 'hello\nworld' }
  })
  await dataOf(['data', 'rm', '__proto__', '--yes'])
  await dataOf(['data', 'set', 'com.example', 'greeting', '--value-stdin'], 'changed')
  const imported = async (...args: readonly string[]) => {
    const ran = await runInProcess(
      ['data', 'import', file('all.json'), '--device', 'phone', '--json', '--secrets-stdin', ...args],
      { home, input: JSON.stringify({ pin: '2468' }) }
    )
    const { results } = ran.json.data
    return [
      ran.code,
      ...results.map(({ item, status }: Record<string, string>) => `${item} ${status}`).sort()
    ]
  }
  const first = [9, 'exact same', 'greeting conflict', 'toString applied']
  t.deepEqual(await imported('--dry-run'), first)
  t.deepEqual(await imported(), first)
  t.deepEqual(await imported('--overwrite'), [0, 'exact same', 'greeting applied', 'toString same'])
  t.is((await dataOf(['data', 'get', 'com.example', 'greeting'])).value, 'hello\nworld')
  t.is((await dataOf(['data', 'get', '__proto__', 'toString'])).value, 'odd')
  for (const text of [
    '',
    '[]',
    '{"schema":"data.export/1"}',
    '{"schema":"x","stores":{}}',
    '{"stores":{"a":{"b":1}}}'
  ]) {
    writeFileSync(file('bad.json'), text)
    failed(t, await run(['data', 'import', file('bad.json'), '--json']), 'USAGE', 2)
  }
})

test.serial('data rm asks, and deletes an item or a whole store', async t => {
  const refused = failed(t, await run(['data', 'rm', 'com.example', '--json']), 'CONFIRMATION_REQUIRED', 5)
  t.deepEqual(refused.error.details.summary, { store: 'com.example', items: 2 })
  t.true((await dataOf(['data', 'rm', 'com.example', '--dry-run'])).dryRun)
  await dataOf(['data', 'rm', 'com.example', 'exact', '--yes'])
  t.deepEqual((await dataOf(['data', 'list', 'com.example'])).items, ['greeting'])
  failed(t, await run(['data', 'rm', 'com.example', 'exact', '--yes', '--json']), 'ITEM_NOT_FOUND', 6)
  await dataOf(['data', 'rm', 'com.example', '--yes'])
  t.deepEqual((await dataOf(['data', 'stores'])).stores, [{ id: '__proto__', items: 1 }])
})

test.serial('data recover lists what was deleted, and brings it back by its id', async t => {
  await dataOf(['data', 'set', 'com.example', 'lost', '--value-stdin'], 'found again')
  await dataOf(['data', 'remove', 'com.example', 'lost', '--yes'])
  const { files } = await dataOf(['data', 'recover'])
  const lost = (files as readonly Record<string, unknown>[]).find(({ title }) => title === 'lost')
  t.like(lost, { kind: 'data item', reason: 'deleted', walletId: null, canRestore: true })
  const table = await run(['data', 'recover'])
  t.regex(table.stdout, /data item\s+lost\s+deleted/)
  const id = String(lost?.id)
  const dry = await dataOf(['data', 'recover', id, '--dry-run'])
  t.true(dry.dryRun)
  failed(t, await run(['data', 'get', 'com.example', 'lost', '--json']), 'ITEM_NOT_FOUND', 6)
  await dataOf(['data', 'recover', id, '--yes'])
  t.is((await dataOf(['data', 'get', 'com.example', 'lost'])).value, 'found again')
  failed(t, await run(['data', 'recover', 'nothing', '--yes', '--json']), 'NOT_FOUND', 6)
  const after = (await dataOf(['data', 'recover'])).files as readonly Record<string, unknown>[]
  t.false(after.some(file => file.id === id))
})

test.serial('data recover --all restores all deleted files, and sync counts the kept ones', async t => {
  for (const item of ['one', 'two']) {
    await dataOf(['data', 'set', 'com.gone', item, '--value-stdin'], item)
  }
  await dataOf(['data', 'remove', 'com.gone', '--yes'])
  const synced = await run(['sync'])
  t.regex(
    synced.stdout + synced.stderr,
    /deleted or replaced files are kept for 30 days: holdfast data recover/
  )
  await dataOf(['data', 'recover', '--all', '--yes'])
  t.deepEqual((await dataOf(['data', 'list', 'com.gone'])).items, ['one', 'two'])
})

test.serial('sync tells that a server showed an older state, and keeps the newer file', async t => {
  const world = join(home, 'data', 'default', 'fake-world')
  await dataOf(['data', 'set', 'com.old', 'item', '--value-stdin'], 'first')
  await dataOf(['sync', '--wait'])
  await closeAgents(home)
  cpSync(world, file('backup'), { recursive: true })
  await dataOf(['data', 'set', 'com.old', 'item', '--value-stdin'], 'second')
  const honest = await run(['sync', '--wait'])
  t.notRegex(honest.stdout + honest.stderr, /older state/)

  await closeAgents(home)
  rmSync(world, { recursive: true })
  cpSync(file('backup'), world, { recursive: true })
  // Another device goes on from the backup: the same upload to the same past would give the hash that it gave before.
  await dataOf(['data', 'set', 'com.other', 'item', '--value-stdin', '--device', 'phone'], 'later')
  await dataOf(['sync', '--wait', '--device', 'phone'])
  const synced = await run(['sync', '--wait'])
  t.is(synced.code, 0, synced.stderr)
  t.regex(
    synced.stdout + synced.stderr,
    /^A sync server showed an older state, last at \d{4}-\d\d-\d\d \d\d:\d\d \(1 file of 1 repo\); this device kept its newer files and uploaded them again\.$/m
  )
  const [repo] = (await dataOf(['sync', 'repos'])).repos
  t.is(repo.rolledBackFiles, 1)
  t.regex(repo.rolledBackAt, /^\d{4}-\d\d-\d\dT/)
  t.regex((await run(['sync', 'repos'])).stderr, /showed an older state/)
  await dataOf(['sync', '--device', 'phone'])
  t.is((await dataOf(['data', 'get', 'com.old', 'item', '--device', 'phone'])).value, 'second')
})
