import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { runPluginTests } from '../../cli/plugins/run-tests.ts'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { waitFor } from '../helpers/device.ts'
import { runInProcess } from '../helpers/in-process.ts'

const SHOP = readFileSync(new URL('../../../examples/price-shop.ts', import.meta.url), 'utf8')
const TEST = `
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test, { afterEach, before, describe } from 'node:test'
import { rateSuite, type Suite, type SuiteOptions, testSuite } from 'holdfast/testing'
import { priceShop } from '../src/index.ts'

const wanted = ['BTC iso:USD']
const replies = { 'https://shop.example.org/price': '{"usd":64000}' }
export const suite = (options: SuiteOptions = {}): Suite =>
  rateSuite(priceShop, { valid: [{ wanted, replies, offers: { 'BTC iso:USD': 64_000 } }], ...options })
testSuite(test, suite())
`
const OWN_TESTS = `
let seen = ''
describe('group', () => {
  before(() => { seen += 'b' })
  afterEach(() => { seen += 'e' })
  test('inner', t => { assert.equal(seen, 'b'); t.mock.fn()() })
  test('not today', { skip: 'it rains' }, () => {})
  test('skips itself', t => t.skip('no umbrella'))
})
test('sees its hooks', () => assert.equal(seen, 'bee'))
test('reads beside itself', () => assert.match(readFileSync(new URL('../package.json', import.meta.url), 'utf8'), /shop/))
test('fails', () => assert.equal(priceShop.displayName, 'Another'))
`
const BROKEN =
  'const none: { usd?: { x: number } } = {}\n      if (none.usd!.x > 1) return\n      if (!wanted'

interface Project {
  readonly folder: string
  run(...flags: readonly string[]): Promise<Ran>
  write(name: string, text: string): void
}

/** The project of an author, with a rate source in TypeScript. `below`: the folder that it stands in, in a folder of the test. */
const openProject = (t: ExecutionContext, code = SHOP, tests = TEST, below = ''): Project => {
  const home = homeFor(t)
  const stands = below.startsWith('/') ? makeFolder(t, below) : join(home, below)
  const folder = join(stands, 'shop')
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  write('package.json', '{ "name": "shop", "type": "module", "exports": "./src/index.ts" }')
  write('src/index.ts', code)
  write('test/plugin.test.ts', tests)
  return { folder, write, run: (...flags) => runInProcess(['plugins', 'test', folder, ...flags], { home }) }
}

const makeFolder = (t: ExecutionContext, below: string): string => {
  mkdirSync(below, { recursive: true })
  const folder = mkdtempSync(join(below, 'project-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

type Result = { readonly title: string; readonly outcome: string; readonly message: string }

test('the suite of a project runs in TypeScript with the tests of its file, each once', async t => {
  const project = openProject(t, SHOP, TEST + OWN_TESTS)
  const { code, json } = await project.run('--json')
  t.is(code, 1)
  const { pluginId, kind, level, failed, results } = json.data
  t.deepEqual([pluginId, kind, level, failed], ['priceshop', 'rates', 'full', 1])
  const outcomes = new Map(results.map(({ title, outcome }: Result) => [title, outcome]))
  t.is(outcomes.size, results.length)
  t.is(outcomes.get('rates.valid BTC iso:USD'), 'passed')
  t.is(outcomes.get('rates.random-faults'), 'passed')
  t.false([...outcomes.keys()].some(title => String(title).startsWith('priceshop: ')))
  const own = [
    'group › inner',
    'group › not today',
    'group › skips itself',
    'sees its hooks',
    'reads beside itself'
  ]
  t.deepEqual(
    own.map(title => outcomes.get(title)),
    ['passed', 'skipped', 'skipped', 'passed', 'passed']
  )
  const failure = results.find(({ title }: Result) => title === 'fails')
  const line = (TEST + OWN_TESTS).split('\n').findIndex(each => each.startsWith("test('fails'")) + 1
  t.regex(failure.message, new RegExp(`'Price Shop'[^]*test/plugin\\.test\\.ts:${line}:`))
})

const COUNTED = `
const order: string[] = []
after(() => { writeFileSync('order', order.join(' ')) })
test('outer', async t => {
  t.beforeEach(() => { order.push('each') })
  await t.test('first', () => { order.push('first') })
  await t.test('second', async inner => { await inner.test('deep', () => assert.fail('deep down')) })
  await t.test('third', { skip: 'no' }, () => {})
  void t.test('not awaited', async () => { await null; order.push('late') })
})
test('inner by its import', async () => { await test('inside', () => { order.push('inside') }) })
test.todo('fails and is to be done', () => assert.fail('not yet'))
test('says so itself', t => { t.todo('soon'); assert.fail('not yet') })
test.todo('is to be done')
test('goes on after its skip', t => { t.skip('wet'); order.push('went on') })
test('is late', { timeout: 50 }, () => new Promise(resolve => setTimeout(resolve, 10_000)))
test('calls back', (_t, done) => { setTimeout(() => done(new Error('by callback')), 1) })
test('calls back well', (_t, done) => { setTimeout(done, 1) })
describe('async group', async () => {
  await null
  test('inner', () => {})
})
`

test('inner tests, skip, todo, timeout and callbacks are counted as node:test does', async t => {
  const imports = TEST.replace('readFileSync', 'readFileSync, writeFileSync').replace(
    'test, { afterEach,',
    'test, { after, afterEach,'
  )
  const project = openProject(t, SHOP, imports + COUNTED)
  const { code, json } = await project.run('--json', '--level', 'quick')
  t.is(code, 1)
  const results: readonly Result[] = json.data.results
  const own = results.filter(({ title }) => !/^[a-z]+\.[a-z-]+/.test(title))
  t.deepEqual(
    own.map(({ title, outcome, message }) => [title, outcome, message.split('\n')[0]]),
    [
      ['outer › first', 'passed', ''],
      ['outer › second › deep', 'failed', 'AssertionError [ERR_ASSERTION]: deep down'],
      ['outer › second', 'failed', 'Error: 1 of its inner tests failed'],
      ['outer › third', 'skipped', 'no'],
      ['outer › not awaited', 'passed', ''],
      ['outer', 'failed', 'Error: 1 of its inner tests failed'],
      ['inner by its import › inside', 'passed', ''],
      ['inner by its import', 'passed', ''],
      ['fails and is to be done', 'skipped', 'its author has still to do it'],
      ['says so itself', 'skipped', 'soon'],
      ['is to be done', 'skipped', 'its author has still to do it'],
      ['goes on after its skip', 'skipped', 'wet'],
      ['is late', 'failed', 'Error: It has not ended after 50 ms'],
      ['calls back', 'failed', 'Error: by callback'],
      ['calls back well', 'passed', ''],
      ['async group › inner', 'passed', '']
    ]
  )
  t.is(json.data.failed, own.filter(({ outcome }) => outcome === 'failed').length)
  t.is(readFileSync(join(project.folder, 'order'), 'utf8'), 'each first each each late inside went on')
})

test('where a test of a file is the only one, its others are skipped, and the suite runs', async t => {
  const project = openProject(
    t,
    SHOP,
    `${TEST}
test('left out', () => assert.fail('it ran'))
test.only('alone', () => {})
describe.only('group', () => { test('in it', () => {}) })`
  )
  const { code, json } = await project.run('--json', '--level', 'quick')
  t.is(code, 0)
  const outcomes = new Map(json.data.results.map(({ title, outcome }: Result) => [title, outcome]))
  t.is(outcomes.get('rates.valid BTC iso:USD'), 'passed')
  t.deepEqual(
    ['left out', 'alone', 'group › in it'].map(title => outcomes.get(title)),
    ['skipped', 'passed', 'passed']
  )
})

test('the level and the text select what runs, and each format of a report can be had', async t => {
  const project = openProject(t)
  const listed = (await project.run('--list', '--level', 'quick', '--json')).json.data
  t.true(listed.checks.length > 5)
  t.true(
    listed.checks.every((check: { level: string; reason: string }) => check.level === 'quick' && check.reason)
  )
  const tap = await project.run('--only', 'rates.valid', '--format', 'tap')
  t.is(tap.code, 0)
  t.is(tap.stdout, 'TAP version 14\n1..1\nok 1 - rates.valid BTC iso:USD\n')
  t.regex(
    (await project.run('--only', 'rates.valid', '--format', 'junit')).stdout,
    /<testcase .*rates\.valid/
  )
  t.regex(
    (await project.run('--only', 'rates.valid')).stdout,
    /✔ rates\.valid.*\n.*conformance 1\/1, 0 skipped, full/
  )
  const none = await project.run('--only', 'no such check')
  t.is(none.code, 1)
  t.regex(none.stderr, /no check has this text in its title/)
})

for (const [where, below] of [
  ['in a folder of its own', ''],
  ['in a folder whose name has blanks, brackets and letters of other alphabets', 'Žuža (mine)/50%'],
  ['within a copy of this package', join(process.cwd(), '.build')]
] as const)
  test(`a mistake in a plugin names the line of its source ${where}`, async t => {
    const project = openProject(t, SHOP.replace('if (!wanted', BROKEN), TEST, below)
    const line = SHOP.split('\n').findIndex(each => each.includes('if (!wanted')) + 2
    const { code, json } = await project.run('--only', 'rates.valid', '--json')
    t.is(code, 1)
    const [{ message }] = json.data.results
    t.true(message.includes(`(at src/index.ts:${line}:`), message)
  })

const MISTAKES: readonly (readonly [
  about: string,
  file: string,
  text: string,
  code: string,
  sentence: RegExp
])[] = [
  [
    'a syntax error',
    'src/index.ts',
    'export const\n  priceShop = {;',
    'PLUGIN_REFUSED',
    /src\/index\.ts:2:\d+: \S/
  ],
  [
    'a missing import',
    'src/index.ts',
    "import './gone.ts'",
    'PLUGIN_REFUSED',
    /src\/index\.ts:1:\d+: .*gone\.ts/
  ],
  [
    'a missing export',
    'src/index.ts',
    'export const other = 1',
    'PLUGIN_REFUSED',
    /"priceShop" is not exported/
  ],
  [
    'code that throws',
    'src/index.ts',
    "export const priceShop = {}\n\nthrow new Error('not today')",
    'PLUGIN_REFUSED',
    /loaded: Error: not today[\s\S]*src\/index\.ts:3:/
  ],
  ['no suite', 'test/plugin.test.ts', 'export const a = 1', 'PLUGIN_REFUSED', /does not export suite/],
  [
    'a suite that is none',
    'test/plugin.test.ts',
    'export const suite = {}',
    'PLUGIN_REFUSED',
    /its export suite is of the type object, and no function/
  ],
  [
    'a suite of nothing',
    'test/plugin.test.ts',
    'export const suite = () => 1',
    'PLUGIN_REFUSED',
    /returns no suite/
  ],
  ['an exit', 'test/plugin.test.ts', 'process.exit(3)', 'PLUGIN_REFUSED', /its process ended with 3/]
]
for (const [about, file, text, code, sentence] of MISTAKES)
  test(`a test cannot run with ${about}, and says why`, async t => {
    const project = openProject(t)
    project.write(file, text)
    const { code: exitCode, json } = await project.run('--json')
    t.is(exitCode, 4)
    t.is(json.error.code, code)
    t.regex(json.error.message, sentence)
  })

test('a folder without a test file says what to write, and one with several which to name', async t => {
  const project = openProject(t)
  project.write('empty/package.json', '{}')
  project.write('several/one.test.ts', TEST)
  project.write('several/other.test.ts', TEST)
  const errorOf = async (name: string) => {
    const home = dirname(project.folder)
    const ran = await runInProcess(['plugins', 'test', join(project.folder, name), '--json'], { home })
    return ran.json.error
  }
  t.regex((await errorOf('empty')).message, /has no test file/)
  t.regex((await errorOf('several')).message, /several test files/)
  t.regex((await errorOf('nowhere')).message, /There is no folder/)
})

test('a check that never ends is ended with its process, and fails', async t => {
  const { folder } = openProject(t, SHOP.replace('if (!wanted', 'for (;;) {}\n      if (!wanted'))
  const { results } = await runPluginTests(
    { folder, test: join(folder, 'test/plugin.test.ts') },
    {
      level: 'quick',
      only: ['rates.'],
      silentMs: 4000,
      signal: new AbortController().signal,
      onOutput: () => {}
    }
  )
  t.is(results.length, 1)
  t.is(results[0]?.outcome, 'failed')
  t.regex(results[0]?.message ?? '', /has said nothing for 4 seconds; the checks after it did not run/)
})

test('a stop ends the process of the tests', async t => {
  const project = openProject(t)
  const mark = join(project.folder, 'mark')
  project.write(
    'src/index.ts',
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(mark)}, String(process.pid))\n` +
      SHOP.replace('if (!wanted', 'for (;;) {}\n      if (!wanted')
  )
  const controller = new AbortController()
  const home = dirname(project.folder)
  const running = runInProcess(['plugins', 'test', project.folder, '--json'], {
    home,
    signal: controller.signal
  })
  await waitFor(() => existsSync(mark) && readFileSync(mark, 'utf8') !== '')
  controller.abort()
  t.not((await running).code, 0)
  const pid = Number(readFileSync(mark, 'utf8'))
  await waitFor(() => {
    try {
      process.kill(pid, 0)
      return false
    } catch {
      return true
    }
  })
  t.pass()
})
