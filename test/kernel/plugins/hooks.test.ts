import test from 'ava'
import { WalletError } from '../../../kernel/base/errors.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import { hookTable } from '../../../kernel/plugins/hook-table.ts'
import type { KernelHooks } from '../../../kernel/plugins/hook-types.ts'
import { makeKernelHooks } from '../../../kernel/plugins/hooks.ts'
import {
  currencyHost,
  observerHost,
  policyHost,
  rateHost,
  storageHost,
  swapHost
} from '../../../kernel/plugins/plugin.ts'
import { PluginSet } from '../../../kernel/plugins/plugin-set.ts'
import type { RateContext } from '../../../kernel/types/rates.ts'
import type { SpendSnapshot, TapSnapshot } from '../../../kernel/types/snapshots.ts'
import type { QuoteContext } from '../../../kernel/types/swap.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { likeList } from '../../helpers/like-list.ts'

const io = makeNodeIo()
const log = { debug() {}, info() {}, warn() {}, error() {} }
const disk = {} as Disk

interface Fault {
  pluginId: string
  hook: string
  error: unknown
}

const setUp = (): { hooks: KernelHooks; faults: Fault[] } => {
  const faults: Fault[] = []
  return { hooks: makeKernelHooks({ clock: io.clock, onFault: fault => faults.push(fault) }), faults }
}

const spend: SpendSnapshot = {
  use: 'spend',
  correlationId: 'c1',
  walletId: 'w',
  pluginId: 'p',
  currencyCode: 'BTC',
  tokenId: null,
  nativeAmount: '1',
  networkFee: '1',
  targets: []
}

test('the suite runs where code cannot be made from text, as a page with a strict policy does', t => {
  t.throws(() => new Function('return 1'), { instanceOf: EvalError })
})

test('asked: the first defined answer wins, in the order of the taps', async t => {
  const { hooks } = setUp()
  const requested: string[] = []
  const tools = hooks.makeTools.for('coin')
  tools.tapPromise('late', async () => void requested.push('late'))
  tools.tapPromise({ name: 'early', stage: -1 }, async () => void requested.push('early'))
  tools.tapPromise('answers', async () => ({ marker: 1 }) as never)
  tools.tapPromise('never', async () => void requested.push('never'))
  t.deepEqual(await tools.promise(), { marker: 1 } as never)
  t.deepEqual(requested, ['early', 'late'])
  t.is(await hooks.makeTools.for('other').promise(), undefined)
})

test('asked: a tap that throws reaches the caller as PLUGIN_FAILED with the plugin and the hook', async t => {
  const { hooks } = setUp()
  hooks.openDisk.tapPromise('broken', () => {
    throw new Error(`no server takes ${'5eC7'.repeat(8)}`)
  })
  const error = await t.throwsAsync(hooks.openDisk.promise({ purpose: 'everything' }), {
    code: 'PLUGIN_FAILED'
  })
  t.is(error?.message, 'The plugin broken failed in openDisk: it threw Error: no server takes […]')
})

test("asked: a plugin's own catalogue error reaches the caller unchanged", async t => {
  const { hooks } = setUp()
  hooks.openDisk.tapPromise('locked', async () => {
    throw new WalletError('STORAGE_LOCKED', { holder: 'another' })
  })
  await t.throwsAsync(hooks.openDisk.promise({ purpose: 'everything' }), { code: 'STORAGE_LOCKED' })
})

test('gathered: each plugin has its own context, and one that fails does not stop the others', async t => {
  const { hooks, faults } = setUp()
  const offers: string[] = []
  const contexts = {
    contextFor: (pluginId: string): RateContext => ({
      wanted: [],
      signal: new AbortController().signal,
      offer: pair => void offers.push(`${pluginId} ${pair.fromCurrency}`)
    })
  }
  const offer = async (tapContext: RateContext, code: string): Promise<void> =>
    tapContext.offer({ fromCurrency: code, toCurrency: 'iso:USD' }, 1)
  // The kernel's type speaks of all desks; a host hands each plugin its own.
  const tap = (id: string, fn: (tapContext: RateContext) => Promise<void>): void =>
    rateHost(id, { hooks, io, disk, log, options: {}, onFault() {} }).hooks.fetchRates.tapPromise(
      'another name',
      fn
    )
  tap('a', tapContext => offer(tapContext, 'BTC'))
  tap('bad', () => {
    throw new Error('no')
  })
  tap('rejects', async () => {
    throw new Error('no')
  })
  tap('b', tapContext => offer(tapContext, 'ETH'))
  await hooks.fetchRates.promise(contexts)
  t.deepEqual(offers, ['a BTC', 'b ETH'])
  t.deepEqual(
    faults.map(({ pluginId, hook }) => `${pluginId} ${hook}`),
    ['bad fetchRates', 'rejects fetchRates']
  )
})

test('gathered: a plugin without a context is not called, and the caller learns how each plugin ended', async t => {
  const { hooks, faults } = setUp()
  const requested: string[] = []
  const ended: string[] = []
  for (const id of ['busy', 'good', 'known', 'bad']) {
    hooks.fetchQuotes.tapPromise(id, async () => {
      requested.push(id)
      if (id !== 'good') throw new Error(`no ${id}`)
    })
  }
  await hooks.fetchQuotes.promise({
    contextFor: id => (id === 'busy' ? undefined : ({} as QuoteContext)),
    ended(id, error) {
      ended.push(error instanceof Error ? `${id}: ${error.message}` : id)
      return id === 'known'
    }
  })
  t.deepEqual(requested, ['good', 'known', 'bad'])
  t.deepEqual(ended.sort(), ['bad: no bad', 'good', 'known: no known'])
  t.deepEqual(
    faults.map(({ pluginId }) => pluginId),
    ['bad']
  )
})

test('gated: an error of the catalogue rejects the call unchanged, and later policies are not called', async t => {
  const { hooks, faults } = setUp()
  const verdict = new WalletError('SIGN_REFUSED', { pluginId: 'limit', reason: 'too much' })
  let requested = 0
  hooks.beforeSign.tapPromise('allows', async () => void requested++)
  hooks.beforeSign.tapPromise('limit', async () => {
    throw verdict
  })
  hooks.beforeSign.tapPromise('later', async () => void requested++)
  t.is(await t.throwsAsync(hooks.beforeSign.promise(spend)), verdict)
  t.is(requested, 1)
  t.deepEqual(faults, [])
})

test('gated: any other error, and the answer false, are a refusal of the policy with its reason', async t => {
  const thrown = new Error('Too much for today')
  const cases = [
    [async () => Promise.reject(thrown), 'Too much for today', 'Too much for today'],
    [async () => Promise.reject(new RangeError('odd')), 'RangeError: odd', 'odd'],
    [async () => false, 'it answered false: throw an error to refuse', undefined]
  ] as const
  for (const [answer, reason, cause] of cases) {
    const { hooks } = setUp()
    hooks.beforeSign.tapPromise('limit', answer as () => Promise<void>)
    hooks.beforeSign.tapPromise('later', async () => t.fail())
    const error = await t.throwsAsync(hooks.beforeSign.promise(spend))
    t.like(error, { code: 'SIGN_REFUSED', details: { pluginId: 'limit', reason } })
    t.is((error?.cause as Error | undefined)?.message, cause)
  }
})

test('piped: a value goes through every tap, and past one that fails', t => {
  const { hooks, faults } = setUp()
  const about = { roundId: 'r', request: {} as never, pluginId: 'a', displayName: 'A' }
  const quote = { ...about, isDex: false, state: 'resolved', quoteId: '1' } as const
  const other = { ...quote, quoteId: '2' }
  hooks.rankQuotes.tap('turns', quotes => quotes.toReversed())
  hooks.rankQuotes.tap('broken', () => {
    throw new Error('no')
  })
  hooks.rankQuotes.tap('looks', () => undefined as never)
  t.deepEqual(hooks.rankQuotes.call([quote, other], {} as never), [other, quote])
  t.is(faults.length, 1)
})

test('piped: an answer that the hook refuses is blamed on its own tap, and those of others count', t => {
  const { hooks, faults } = setUp()
  const quote = { roundId: 'r', request: {} as never, pluginId: 'a', displayName: 'A', isDex: false } as const
  const quotes = [1, 2].map(id => ({ ...quote, state: 'resolved', quoteId: String(id) }) as const)
  hooks.rankQuotes.tap('turns', given => given.toReversed())
  hooks.rankQuotes.tap('doubles', given => [...given, ...given])
  hooks.rankQuotes.tap('repeats', given => given.flatMap(() => given.slice(0, 1)))
  hooks.rankQuotes.tap('promises', (async () => quotes) as never)
  t.deepEqual(hooks.rankQuotes.call(quotes, {} as never), quotes.toReversed())
  t.deepEqual(
    faults.map(({ pluginId }) => pluginId),
    ['doubles', 'repeats', 'promises']
  )
})

test('observed: every tap is called, also after one that throws', t => {
  const { hooks, faults } = setUp()
  const received: string[] = []
  hooks.transactionsChanged.tap('a', () => {
    throw new Error('no')
  })
  hooks.transactionsChanged.tap('b', ({ walletId }) => void received.push(walletId))
  hooks.transactionsChanged.call({ walletId: 'w', created: [], changed: [] })
  t.deepEqual(received, ['w'])
  t.deepEqual(
    faults.map(({ pluginId }) => pluginId),
    ['a']
  )
})

test('a tap that never answers is abandoned after its deadline', async t => {
  const timers: (() => void)[] = []
  const after = (_ms: number, task: () => void) => {
    timers.push(task)
    return () => {}
  }
  const clock = { ...io.clock, after }
  const hooks = makeKernelHooks({ clock, onFault: () => {} })
  hooks.openDisk.tapPromise('hangs', () => new Promise(() => {}))
  const answer = hooks.openDisk.promise({ purpose: 'everything' })
  await Promise.resolve()
  for (const fire of timers) fire()
  await t.throwsAsync(answer, { code: 'PLUGIN_FAILED', message: /took longer than 300 seconds/ })
})

test('a disk that opens after its deadline is closed, so that the next kernel finds it free', async t => {
  const clock = makeFakeClock()
  const hooks = makeKernelHooks({ clock, onFault: () => {} })
  let open: (disk: Disk) => void = () => {}
  hooks.openDisk.tapPromise('slow', () => new Promise(resolve => (open = resolve)))
  const answer = t.throwsAsync(hooks.openDisk.promise({ purpose: 'everything' }), { code: 'PLUGIN_FAILED' })
  await clock.advance(300_000)
  await answer
  await new Promise<void>(resolve => open({ ...memoryDisk(), close: async () => resolve() }))
  t.pass()
})

test('tapRan reports hook, plugin, duration and outcome of each tap, and the correlation id of a spend', async t => {
  const { hooks } = setUp()
  hooks.beforeSign.tapPromise('policy', async () => {})
  await hooks.beforeSign.promise(spend)
  const ran: TapSnapshot[] = []
  hooks.tapRan.tap('watch', snapshot => void ran.push(snapshot))
  await hooks.beforeSign.promise(spend)
  likeList(t, ran, [{ hook: 'beforeSign', pluginId: 'policy', correlationId: 'c1', outcome: 'done' }])
  t.is(ran.length, 1)
  t.true((ran[0]?.durationMs ?? -1) >= 0)
})

test('a host is frozen, can only be tapped, and reaches nothing of another kind', t => {
  const { hooks } = setUp()
  const parts = { hooks, io, disk, log, options: {}, onFault() {} }
  const hosts = {
    currency: currencyHost('p', parts),
    rates: rateHost('p', parts),
    swap: swapHost('p', parts),
    storage: storageHost('p', parts),
    policy: policyHost('p', { ...parts, fail() {} }),
    observer: observerHost('p', hooks)
  }
  const reach = {
    currency: ['ready', 'closing', 'makeTools', 'makeEngine', 'builtinTokens'],
    rates: ['ready', 'closing', 'fetchRates', 'fetchHistoricRates'],
    swap: ['ready', 'closing', 'fetchQuotes', 'watchOrder'],
    storage: ['ready', 'closing', 'openDisk', 'openStore'],
    policy: ['ready', 'closing', 'judgeRules', 'beforeSign', 'rankQuotes']
  }
  for (const [kind, names] of Object.entries(reach)) {
    t.deepEqual(Object.keys(hosts[kind as keyof typeof reach].hooks), names, kind)
  }
  t.deepEqual(Object.keys(hosts.observer), ['hooks'])
  t.deepEqual(Object.keys(hosts.storage).sort(), ['hooks', 'log', 'options'])
  t.deepEqual(Object.keys(hosts.policy).sort(), ['clock', 'disk', 'fail', 'hooks', 'log', 'options'])
  for (const host of Object.values(hosts)) {
    t.true(Object.isFrozen(host) && Object.isFrozen(host.hooks))
    for (const hook of Object.values(host.hooks)) {
      t.true(Object.isFrozen(hook))
      t.deepEqual(
        Object.keys(hook).filter(key => !['tap', 'tapPromise'].includes(key)),
        []
      )
    }
  }
  const reported = Object.entries(hookTable).filter(([, { tappedBy }]) => tappedBy === 'observer')
  t.deepEqual(
    Object.keys(hosts.observer.hooks).sort(),
    ['closing', 'ready', ...reported.map(([name]) => name)].sort()
  )
})

test('a login waits for the lock, and its error names the missing and failed plugins [8.55]', async t => {
  const { hooks } = setUp()
  const plugins = new PluginSet(hooks, { later: ['later', 'never'], required: ['bad', 'never'] })
  const policy = (id: string) => ({ kind: 'policy', id, apply() {} }) as const
  plugins.add(policy('good'), () => {})
  plugins.add(policy('bad'), () => {
    throw new Error('apply')
  })
  let isReady = false
  const ready = plugins.ready().finally(() => {
    isReady = true
  })
  ready.catch(() => {})
  await io.clock.turn()
  t.false(isReady)
  plugins.add(policy('later'), () => {})
  plugins.lock()
  await t.throwsAsync(ready, {
    code: 'PLUGINS_MISSING',
    message: 'The following plugins are missing or failed to load: bad, never'
  })
  t.throws(() => plugins.add(policy('x'), () => {}), { code: 'PLUGINS_LOCKED' })
})

test('a second plugin of an id, and one with an invalid id, fail under an id of their own', t => {
  const { hooks } = setUp()
  const plugins = new PluginSet(hooks)
  const policy = (id: string) => ({ kind: 'policy', id, apply() {} }) as const
  plugins.add(policy('a'), () => {})
  const failed = { state: 'failed', errorCode: 'PLUGIN_INVALID' } as const
  t.like(
    plugins.add(policy('a'), () => t.fail()),
    { ...failed, pluginId: 'a-2' }
  )
  t.like(
    plugins.add(policy('a'), () => t.fail()),
    { ...failed, pluginId: 'a-3' }
  )
  t.like(
    plugins.add(policy('../a'), () => t.fail()),
    { ...failed, pluginId: 'plugin-4' }
  )
  t.is(plugins.snapshots[0]?.state, 'applied')
})
