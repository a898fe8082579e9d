import test from 'ava'
import { containedPlugin } from '../../cells/contained-plugin.ts'
import { hostFunctions } from '../../cells/host-functions.ts'
import { type AbortSignalLike, type Channel, makeAbort, Reply } from '../../kernel/plugin-api.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'

type Functions = ReturnType<typeof hostFunctions>

/** The host of a cell that is played by the test: what it gives for ids, and what the host then does. */
const openHost = () => {
  const clock = makeFakeClock()
  let life = makeAbort()
  const emitted: string[] = []
  const open: string[] = []
  const fetched: { readonly url: string; readonly signal: AbortSignalLike | undefined; answer(): void }[] = []
  const closers: (() => void)[] = []
  const cell = {
    pluginId: 'corner',
    clock,
    get life() {
      return life.signal
    },
    emit: (message: object) => void emitted.push(JSON.stringify(message))
  }
  const functions: Functions = hostFunctions(cell as never, {
    hosts: ['a.example'],
    log: { debug() {}, info() {}, warn() {}, error() {} },
    io: {
      clock,
      fetch: (url, { signal } = {}) =>
        new Promise(resolve =>
          fetched.push({ url, signal, answer: () => resolve({ status: 200, headers: {}, text: '' }) })
        ),
      async webSocket(url, { onClose }, { signal } = {}): Promise<Channel> {
        if (url.endsWith('/silent'))
          return new Promise((_resolve, reject) =>
            signal?.addEventListener('abort', () => reject(new Error('aborted')))
          )
        open.push(url)
        const close = (): void => {
          open.splice(open.indexOf(url), 1)
          onClose()
        }
        closers.push(close)
        return { send: text => void emitted.push(`sent ${text} to ${url}`), close }
      }
    }
  })
  const replies = (args: readonly unknown[]): Reply[] => args.map(arg => new Reply(arg, 'message'))
  return {
    ...{ clock, emitted, open, fetched, closers },
    note: (name: string, ...args: unknown[]): void => functions.notes[name]?.(...replies(args)),
    request: async (name: string, ...args: unknown[]) => functions.requests[name]?.(...replies(args)),
    restart: () => {
      life.abort()
      life = makeAbort()
    }
  }
}

test('a timer with a number that is in use is refused, and the bound of timers counts each', async t => {
  const { clock, note, emitted } = openHost()
  note('after', 1, 1000)
  for (let turn = 0; turn < 3; turn += 1)
    t.throws(() => note('after', 1, 1000), { message: 'the number 1 of timers is in use' })
  for (let id = 2; id <= 1000; id += 1) note('after', id, 1000)
  t.throws(() => note('after', 1001, 1000), { message: /1000 timers are already there/ })
  note('cancel', 7)
  note('cancel', 7)
  note('after', 1001, 1000)
  t.throws(() => note('after', 7, 1000))
  await clock.advance(1000)
  t.is(emitted.length, 1000)
  note('after', 1, 0)
})

test('a connection with a number that is in use is refused, and closes no other', async t => {
  const { request, note, open, emitted } = openHost()
  await request('webSocket', 1, 'wss://a.example/1')
  await t.throwsAsync(request('webSocket', 1, 'wss://a.example/2'), {
    message: /the number 1 of connections/
  })
  t.deepEqual(open, ['wss://a.example/1'])
  note('channel.send', 1, 'x')
  t.true(emitted.includes('sent x to wss://a.example/1'))
  for (let id = 2; id <= 16; id += 1) await request('webSocket', id, `wss://a.example/${id}`)
  await t.throwsAsync(request('webSocket', 17, 'wss://a.example/17'), {
    message: /16 connections are already/
  })
  note('channel.close', 16)
  note('channel.close', 16)
  await request('webSocket', 17, 'wss://a.example/17')
  await t.throwsAsync(request('webSocket', 18, 'wss://a.example/18'), { message: /16 connections/ })
})

test('a connection that is given up while it opens ends, and so does one of a cell that ends', async t => {
  const { request, note, restart } = openHost()
  for (const end of [() => note('channel.close', 1), restart]) {
    const opening = request('webSocket', 1, 'wss://a.example/silent')
    end()
    await t.throwsAsync(opening, { message: 'aborted' })
  }
})

test('a request with a number that is in use is refused, and only its own is aborted', async t => {
  const { request, note, fetched } = openHost()
  const first = request('fetch', 1, 'https://a.example/1', {})
  await t.throwsAsync(request('fetch', 1, 'https://a.example/2', {}), { message: /the number 1 of requests/ })
  t.is(fetched.length, 1)
  note('abort', 2)
  t.false(fetched[0]?.signal?.aborted)
  note('abort', 1)
  t.true(fetched[0]?.signal?.aborted)
  fetched[0]?.answer()
  await first
  void request('fetch', 1, 'https://a.example/3', {})
  t.is(fetched.length, 2)
})

test('what ends late of an earlier life of a cell touches nothing of the present one that has its number', async t => {
  const { request, restart, clock, note, open, fetched, emitted, closers } = openHost()
  await request('webSocket', 1, 'wss://a.example/old')
  void request('fetch', 1, 'https://a.example/old', {})
  note('after', 1, 1000)
  restart()
  t.deepEqual(open, [])
  t.true(fetched[0]?.signal?.aborted)
  await request('webSocket', 1, 'wss://a.example/new')
  void request('fetch', 1, 'https://a.example/new', {})
  note('after', 1, 2000)
  closers[0]?.()
  fetched[0]?.answer()
  await clock.advance(1000)
  t.deepEqual(emitted, [])
  note('channel.send', 1, 'x')
  note('abort', 1)
  t.deepEqual(emitted, ['sent x to wss://a.example/new'])
  t.true(fetched[1]?.signal?.aborted)
  await clock.advance(1000)
  t.is(emitted.length, 2)
})

test('an engine in a cell writes no more lines of the log than any cell may', async t => {
  const clock = makeFakeClock()
  const lines: string[] = []
  const line = (text: string): void => void lines.push(text)
  const log = { debug: line, info: line, warn: line, error: line }
  let notes: Readonly<Record<string, (text: Reply) => void>> = {}
  const cell = {
    ...{ pluginId: 'coin', clock, life: makeAbort().signal, attach() {}, forgetContext() {} },
    async call({ context }: { readonly context: { readonly notes: typeof notes } }) {
      notes = context.notes
      return new Reply({ object: 1, methods: [] }, 'answer')
    }
  }
  const plugin = containedPlugin({
    ...{ cell: cell as never, grants: { kind: 'currency', hosts: [], keys: true }, options: {}, log },
    head: {
      taps: [{ target: { hook: 'makeEngine', tap: 0 }, order: {} }],
      given: { kind: 'currency', id: 'coin', info: {} } as never,
      answers: new Reply({}, 'answers')
    }
  })
  let makeEngine: ((request: object) => Promise<unknown>) | undefined
  const hooks = { makeEngine: { tapPromise: (_id: string, fn: typeof makeEngine) => (makeEngine = fn) } }
  plugin.apply({ hooks, options: {}, log, io: { clock } } as never)
  await makeEngine?.({ walletInfo: {}, store: { entries: () => [] }, callbacks: {}, log })
  for (let turn = 0; turn < 300; turn += 1) notes['log.info']?.(new Reply('x', 'line'))
  t.is(lines.length, 100)
  t.throws(() => notes['log.info']?.(new Reply('x'.repeat(1001), 'line')))
})
