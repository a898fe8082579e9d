import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import { parseAst } from 'rolldown/parseAst'
import { allowList } from '../../cells/host-functions.ts'
import { makeCells } from '../../cells/make-cells.ts'
import { HostProcess } from '../../cells/node/host-process.ts'
import type { CellThread, ThreadRequest } from '../../cells/platform.ts'
import { findImport } from '../../cells/protocol.ts'
import { isWalletError, makeAbort } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'
import { applied, HONEST, openCellStage, pinOf, pricesOf, rateCode } from '../helpers/cell-stage.ts'
import { waitFor } from '../helpers/device.ts'

test('a cell that dies is back and reported, one that dies three times stays stopped, and its neighbour notices nothing', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const honest = applied(stage, await stage.load(HONEST, { id: 'honest' }))
  const code = rateCode(
    'if (wanted.length === 1 && options.isBad) for (;;) offer(wanted[0], 1); offer(wanted[0], 2)'
  )
  const bad = await stage.load(code, { options: { isBad: true } })
  const taps = applied(stage, bad, { options: { isBad: true } })
  for (const count of [1, 2, 3]) {
    await waitFor(async () => {
      const error = await pricesOf(stage, taps).catch((thrown: unknown) => thrown)
      return (
        isWalletError(error, 'PLUGIN_FAILED') &&
        /fetchRates: it sent more than a cell may/.test(error.message)
      )
    })
    t.deepEqual(await pricesOf(stage, honest), [64_000])
    t.is(stage.faults.filter(({ state }) => state !== 'running').length, count)
  }
  const { state, pluginId, reason } = stage.faults.at(-1) ?? {}
  t.deepEqual([state, pluginId], ['stopped', 'bad'])
  t.regex(reason ?? '', /stopped after 3 faults in ten minutes/)
  await t.throwsAsync(pricesOf(stage, taps), { message: /stopped after 3 faults/ })
})

test('the death of the process of the cells is repaired while a call waits', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const slow = rateCode('await new Promise(done => setTimeout(done, 1000)); offer(wanted[0], 2)')
  const taps = applied(stage, await stage.load(slow))
  const honest = applied(stage, await stage.load(HONEST, { id: 'honest' }))
  const waiting = pricesOf(stage, taps)
  for (let turn = 0; turn < 3; turn += 1) await pricesOf(stage, honest)
  const [{ pid = 0 } = {}] = stage.cells.processes
  process.kill(pid, 'SIGKILL')
  t.deepEqual(await waiting, [2])
  t.deepEqual(await pricesOf(stage, honest), [64_000])
  t.deepEqual(stage.faults, [])
})

test('a process that is killed from outside while one of its cells runs is no fault of that cell', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const busy = rateCode(
    "log.info('runs'); const end = Date.now() + 1000; while (Date.now() < end); offer(wanted[0], 2)"
  )
  const taps = applied(stage, await stage.load(busy))
  const honest = applied(stage, await stage.load(HONEST, { id: 'honest' }))
  const waiting = pricesOf(stage, taps)
  await waitFor(() => stage.seen.includes('runs'))
  const [{ pid = 0 } = {}] = stage.cells.processes
  process.kill(pid, 'SIGKILL')
  t.deepEqual(await waiting, [2])
  t.deepEqual(await pricesOf(stage, honest), [64_000])
  t.deepEqual(stage.faults, [])
  t.deepEqual(
    stage.cells.processes.map(({ cells }) => cells),
    [1, 1]
  )
})

test('a contained exchange that follows an order learns that its answer is not wanted any more', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const shop = `definePlugin({ kind: 'swap', id: 'shop', displayName: 'Shop', apply({ hooks, log }) {
    hooks.fetchQuotes.tapPromise('shop', async () => {})
    hooks.watchOrder.tapPromise('shop', ({ orderId, signal }) => new Promise(done => {
      log.info('watching ' + orderId)
      signal.addEventListener('abort', () => done({ state: 'failed' }))
    }))
  } })`
  const taps = applied(stage, await stage.load(shop, { id: 'shop', kind: 'swap' }))
  const { signal, abort } = makeAbort()
  const answer = taps.get('watchOrder')?.({ orderId: 'a1', txid: 'b2', signal })
  await waitFor(() => stage.seen.includes('watching a1'))
  abort()
  t.deepEqual(await answer, { state: 'failed' })
})

test('no call that waits loses its offers, however many came after it', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const code = rateCode(
    "if (wanted[0].toCurrency !== 'iso:EUR') return offer(wanted[0], 1); await new Promise(done => setTimeout(done, 700)); offer(wanted[0], 2)"
  )
  const taps = applied(stage, await stage.load(code))
  const offered: unknown[] = []
  const request = (toCurrency: string): unknown =>
    taps.get('fetchRates')?.({
      wanted: [{ fromCurrency: 'BTC', toCurrency }],
      offer: (_pair: unknown, rate: unknown) => offered.push(rate)
    })
  const slow = request('iso:EUR')
  for (let turn = 0; turn < 5; turn += 1)
    await Promise.all(Array.from({ length: 60 }, () => request('iso:USD')))
  await slow
  t.is(offered.filter(rate => rate === 2).length, 1)
  t.is(offered.length, 301)
})

test('code is refused that is not what was added, that could import, or whose kind cannot be contained', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const asks = { kind: 'rates', hosts: [], keys: false } as const
  const fault = { code: 'PLUGIN_INVALID' } as never
  await t.throwsAsync(stage.cells.plugin({ id: 'x', code: `${HONEST} `, sha512: pinOf(HONEST), asks }), fault)
  await t.throwsAsync(stage.load(rateCode("await import('node:fs')")), fault)
  await t.throwsAsync(stage.load(HONEST, { id: 'honest', kind: 'storage' }), fault)
  await t.throwsAsync(stage.load(HONEST, { id: 'other' }), { message: /id is "honest", and must be "other"/ })
  const policy = `definePlugin({ kind: 'policy', id: 'p', apply({ hooks }) { hooks.rankQuotes.tap('p', x => x) } })`
  await t.throwsAsync(stage.load(policy, { id: 'p', kind: 'policy' }), {
    message: /rankQuotes is a hook that is answered at once/
  })
  const plugin = await stage.load(HONEST, { id: 'honest', options: { a: 1 } })
  t.throws(() => applied(stage, plugin, { options: { a: 2 } }), fault)
})

test('a plugin says what it is before it is applied, also as the only one that a bundle exports', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const plugin = `{ kind: 'swap', id: 'shop', apply() { throw new Error('applied') } }`
  t.deepEqual(await stage.cells.inspect(`var __plugin = { shop: ${plugin}, rate: 7 }`), {
    id: 'shop',
    kind: 'swap',
    hosts: [],
    keys: false
  })
  t.deepEqual(
    await stage.cells.inspect(`definePlugin(async () => ({ ...${plugin}, hosts: ['shop.example'] }))`),
    {
      id: 'shop',
      kind: 'swap',
      hosts: ['shop.example'],
      keys: false
    }
  )
  await t.throwsAsync(stage.cells.inspect(`var __plugin = { a: ${plugin}, b: ${plugin} }`), {
    message: /several plugins/
  })
  await t.throwsAsync(stage.cells.inspect('throw new Error("no")'), { message: 'no' })
  await t.throwsAsync(stage.cells.inspect('for (;;) console.log(1)'), { code: 'PLUGIN_FAILED' } as never)
  t.deepEqual(stage.cells.processes, [])
})

test('no import is missed, whatever stands around it', t => {
  const pieces = [
    'import',
    '(',
    ')',
    "'x'",
    '.',
    '..',
    '...',
    '/**/',
    '//\n',
    '\n',
    ' ',
    'a',
    '5',
    '[',
    ']',
    ';',
    '<!--',
    '-->',
    '/',
    '`',
    '${',
    '}',
    'meta',
    'defer',
    '\u2028',
    '\ufeff',
    '?.',
    '+',
    '\\u0069mport',
    'async ',
    'await '
  ]
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map(parts => parts.join(''))
  const around = fc.tuple(text, fc.constantFrom("import('x')", "import/**/('x')", "import\n('x')", ''), text)
  const property = fc.property(around, parts => {
    const code = parts.join('')
    let tree: string
    try {
      tree = JSON.stringify(parseAst(code, { sourceType: 'script' } as never))
    } catch {
      return true
    }
    return !/"type":"(?:ImportExpression|MetaProperty)"/.test(tree) || findImport(code) !== undefined
  })
  const { failed, seed, counterexample } = fc.check(property, { numRuns: 5000 })
  t.false(failed, `seed ${seed}: ${JSON.stringify(counterexample)}`)
  for (const code of [
    '//#region src/import/index.ts',
    '//#region import.ts\n',
    "'a re-import-all of import. Next'"
  ])
    t.is(findImport(code), undefined, code)
  for (const code of [
    'import.defer(x)',
    'import . source /**/ (x)',
    '5.\nimport(x)',
    '[...import(x)]',
    `\`$\{import(x)}\``
  ])
    t.not(findImport(code), undefined, code)
  t.is(findImport("wallet.import(x); 'we import the wallet'; const imported = 1"), undefined)
})

test('a server is reached by the scheme, name and port that were shown, and by no other', t => {
  const reach = allowList('p', [
    'a.example',
    'b.example:8443',
    'http://127.0.0.1:80',
    'tls://c.example:50002'
  ])
  for (const url of [
    'https://a.example/x',
    'https://A.example:443',
    'wss://a.example',
    'https://b.example:8443/',
    'http://127.0.0.1/',
    'tls://c.example:50002'
  ])
    t.notThrows(() => reach(url), url)
  for (const url of [
    'http://a.example',
    'https://a.example:444',
    'https://x.a.example',
    'https://a.example.evil',
    'https://b.example',
    'https://a.example@evil.example',
    'http://127.0.0.1:81',
    'tcp://c.example:50002',
    'file:///a.example',
    'a.example',
    ''
  ])
    t.throws(() => reach(url), { code: 'NETWORK' } as never, url)
})

test('a contained plugin sends and receives bytes', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const call = `const bodyBytes = new Uint8Array([0, 127, 255])
    const { bytes, text } = await io.fetch('https://a.example/', { method: 'POST', bodyBytes, replyAs: 'bytes' })
    if (text !== '' || !(bytes instanceof Uint8Array)) throw new Error('no bytes')
    offer(wanted[0], bytes.join())`
  const io = makeNodeIo()
  const taps = applied(stage, await stage.load(rateCode(call), { hosts: ['a.example'] }), {
    io: {
      ...io,
      fetch: async (_, { bodyBytes, replyAs } = {}) => ({
        ...{ status: 200, headers: {}, text: replyAs === 'bytes' ? '' : 'x' },
        bytes: Uint8Array.from([...(bodyBytes ?? [])].reverse())
      })
    }
  })
  t.deepEqual(await pricesOf(stage, taps), ['255,127,0'])
})

test('a contained plugin says whether a request may be sent again', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const call = `for (const options of [{}, { isRepeatable: true }, { isRepeatable: false }, { isRepeatable: 'x' }])
      await io.fetch('https://a.example/', options)
    offer(wanted[0], '1')`
  const said: unknown[] = []
  const taps = applied(stage, await stage.load(rateCode(call), { hosts: ['a.example'] }), {
    io: {
      ...makeNodeIo(),
      fetch: async (_, { isRepeatable } = {}) => {
        said.push(isRepeatable)
        return { status: 200, headers: {}, text: '' }
      }
    }
  })
  t.deepEqual(await pricesOf(stage, taps), ['1'])
  t.deepEqual(said, [undefined, true, false, undefined])
})

test('a process of cells that cannot be started leaves no folder and no open file', t => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-unstarted-'))
  const { execPath } = process
  const { TMPDIR } = process.env
  const start = () => new HostProcess(LIMITS, { onBegin() {}, onText() {}, onCellEnd() {}, onDeath() {} })
  try {
    process.env.TMPDIR = folder
    const open = openFiles()
    process.execPath = 'no\0program'
    t.throws(start, { code: 'ERR_INVALID_ARG_VALUE' })
    t.is(openFiles(), open)
    t.deepEqual(readdirSync(folder), [])
    process.env.TMPDIR = join(folder, 'gone')
    t.throws(start, { code: 'ENOENT' })
    t.is(openFiles(), open)
  } finally {
    process.execPath = execPath
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
})

test('a cell that a call waits for starts before those that nothing needs yet, and an end of one that waits is reported', async t => {
  const events: string[] = []
  const host = new HostProcess(
    { ...LIMITS, startAtOnce: 1 },
    {
      onBegin: id => events.push(`${id} begins`),
      onText: (id, text) => events.push(`${id} ${JSON.parse(text).type}`),
      onCellEnd: (id, reason) => events.push(`${id} ${reason}`),
      onDeath() {}
    }
  )
  t.teardown(() => host.close())
  const open = JSON.stringify({
    type: 'open',
    kind: 'rates',
    hooks: {},
    parts: [],
    options: {},
    now: 0,
    monotonic: 0
  })
  const limits = { loadMs: 5000, maxBusyMs: 5000, maxUnreadLength: 1e6, maxUnreadMessages: 100 }
  const code = "definePlugin({ kind: 'rates', id: 'x', apply() {} })"
  const ids = Array.from({ length: 6 }, () => host.start({ code, name: 'x.js', open, limits }))
  host.hold(6, true)
  host.end(4)
  await waitFor(() => events.length === 11)
  t.deepEqual(ids, [1, 2, 3, 4, 5, 6])
  const order = (what: string): readonly string[] => events.filter(event => event.endsWith(what))
  t.deepEqual(order('ready'), ['1 ready', '6 ready', '2 ready', '3 ready', '5 ready'])
  t.deepEqual(order('begins'), ['1 begins', '6 begins', '2 begins', '3 begins', '5 begins'])
  t.true(events.indexOf('4 killed') < events.indexOf('6 begins'), events.join(', '))
})

test('the time in which a plugin has to load counts from when its thread starts, not while it waits for others', async t => {
  const clock = makeFakeClock()
  const requests: ThreadRequest[] = []
  const kills: number[] = []
  const start = (request: ThreadRequest): CellThread => {
    const index = requests.push(request) - 1
    return { send() {}, hold() {}, kill: () => void kills.push(index) }
  }
  const cells = makeCells({
    ...{ log: openCellStage().log, onFault() {}, digest: () => ({ hex: '', base64: pinOf(code) }) },
    platform: { clock, start, close() {} }
  })
  const code = 'definePlugin({})'
  const ends: string[] = []
  for (const id of ['starts', 'waits', 'forgotten'])
    cells
      .plugin({ id, code, sha512: pinOf(code), asks: { kind: 'rates', hosts: [], keys: false } })
      .catch((error: Error) => ends.push(`${id}: ${error.message}`))
  requests[0]?.onBegin?.()
  await clock.advance(25_000)
  t.deepEqual([kills, ends.length], [[0], 1])
  t.regex(ends[0] ?? '', /^starts: .*it did not say in time what it is/)
  requests[1]?.onBegin?.()
  await clock.advance(15_000)
  t.is(ends.length, 1)
  await clock.advance(10_000)
  t.deepEqual(kills, [0, 1])
  // What holds the cells may hang itself.
  await clock.advance(120_000)
  t.deepEqual(kills, [0, 1, 2])
  t.is(clock.timerCount, 0)
})

const LIMITS = { memory: 2 ** 28, memoryPerCell: 2 ** 25, heapMb: 32 }

/** The number of open files; 0 where the system does not list them. */
const openFiles = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0)

test('a bundle is not inspected where the system starts no thread', async t => {
  const clock = { now: () => 0, monotonic: () => 0, after: () => () => {}, turn: async () => {} }
  const start = (): never => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
  }
  const cells = makeCells({
    ...{ log: openCellStage().log, onFault() {}, digest: code => ({ hex: pinOf(code), base64: '' }) },
    platform: { clock, start, close() {} }
  })
  await t.throwsAsync(cells.inspect('definePlugin({})'), {
    ...{ code: 'PLUGIN_FAILED', message: /does not start its thread \(EMFILE\)/ }
  })
})

test('a program that ends without closing its cells leaves no process and no folder', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-ends-'))
  const code = `import { openCells } from '${new URL('../../cells/node/open-cells.js', import.meta.url)}'
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const cells = openCells({ log, onFault() {} })
    const plugin = await cells.inspect('definePlugin({ kind: "rates", id: "x", apply() {} })')
    const asks = { kind: 'rates', hosts: [], keys: false }
    const code = 'definePlugin({ kind: "rates", id: "x", apply({ hooks }) {} })'
    const { createHash } = await import('node:crypto')
    await cells.plugin({ id: plugin.id, code, sha512: createHash('sha512').update(code).digest('hex'), asks })
    console.log(cells.processes[0].pid)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    env: { ...process.env, TMPDIR: folder }
  })
  t.deepEqual(readdirSync(folder), [])
  await waitFor(() => {
    try {
      return process.kill(Number(stdout), 0) && false
    } catch {
      return true
    }
  })
})
