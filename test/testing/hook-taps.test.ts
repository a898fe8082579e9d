import test from 'ava'
import * as taps from '../../examples/hook-taps.ts'
import { type ObserverHost, type ObserverPlugin, observerHookNames } from '../../kernel/observer-api.ts'
import { hookTable } from '../../kernel/plugins/hook-table.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'
import { observerSuite } from '../../testing/observer-suite.ts'
import { sampleEvents } from '../../testing/sample-events.ts'
import { runSuite } from '../../testing/suite.ts'

const examples: ReadonlyMap<string, unknown> = new Map(Object.entries(taps))

/** Runs a function while what the examples print is kept. */
const printedBy = async (run: () => unknown): Promise<readonly string[]> => {
  const printed: string[] = []
  const { log } = console
  console.log = text => void printed.push(String(text))
  try {
    await run()
  } finally {
    console.log = log
  }
  return printed
}

test.serial('an observer made of the examples of all its hooks passes the suite of observers', async t => {
  const plugin: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply(host: ObserverHost) {
      for (const name of observerHookNames) (examples.get(name) as (host: ObserverHost) => void)(host)
    }
  }
  await printedBy(async () => {
    const results = await runSuite(observerSuite(() => ({ plugin }), {}))
    t.deepEqual(
      results
        .filter(({ outcome }) => outcome === 'failed')
        .map(({ title, message }) => `${title}: ${message}`),
      []
    )
  })
})

for (const name of observerHookNames) {
  test.serial(`the example of ${name} says something of an event, and nothing that is undefined`, async t => {
    const taken: ((event: unknown) => void)[] = []
    const tap = (_id: string, fn: (event: unknown) => void): void => void taken.push(fn)
    const printed = await printedBy(() => {
      ;(examples.get(name) as (host: unknown) => void)({ hooks: { [name]: { tap } } })
      const slow = [{ hook: 'fetchRates', pluginId: 'coinbase', durationMs: 2_000, outcome: 'done' }]
      const found = [
        ...sampleEvents[name],
        ...(name === 'tapRan' ? slow : []),
        ...(name === 'lobbyChanged' ? [{ lobbyId: 'b1', state: 'started', username: 'alice' }] : []),
        ...(name === 'accountChanged' ? [{ accountId: 'a1', isLoggedIn: true, loginMethods: [] }] : []),
        ...(name === 'logged' ? [{ at: 'now', level: 'warn', source: 'sync', text: 'slow' }] : []),
        ...(name === 'orderChanged' ? [{ ...sampleEvents.orderChanged[0], state: 'paidOut' }] : [])
      ]
      for (const event of found) for (const fn of taken) fn(event)
    })
    t.is(taken.length, 1)
    t.true(printed.length > 0)
    for (const line of printed) t.notRegex(line, /undefined|\[object|NaN/)
  })
}

test('the examples of the life of a plugin and of built-in tokens answer as their hooks want', async t => {
  const calls = new Map<string, () => Promise<unknown>>()
  const hook = (name: string) => ({
    tapPromise: (_id: string, fn: () => Promise<unknown>) => void calls.set(name, fn)
  })
  const hooks = Object.fromEntries(['builtinTokens', 'ready', 'closing'].map(name => [name, hook(name)]))
  const said: string[] = []
  const host = {
    hooks,
    disk: memoryDisk(),
    io: { clock: makeFakeClock() },
    log: { info: (text: string) => void said.push(text) }
  }
  for (const tap of [taps.builtinTokens, taps.ready, taps.closing]) tap(host as never)
  await calls.get('ready')?.()
  await calls.get('closing')?.()
  await calls.get('ready')?.()
  t.deepEqual(said[0], 'runs for the first time')
  t.regex(said[1] ?? '', /^ran last on \d{4}-\d\d-\d\d$/)
  t.like(await calls.get('builtinTokens')?.(), {
    a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48: { currencyCode: 'USDC' }
  })
})

test('the examples are named after hooks', t => {
  for (const name of examples.keys()) t.true(name in hookTable, name)
})
