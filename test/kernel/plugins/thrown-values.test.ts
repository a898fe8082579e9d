import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { describeError, errorOf, isWalletError, WalletError } from '../../../kernel/base/errors.ts'
import {
  nativeAmount,
  type ObserverPlugin,
  type Plugin,
  type PolicyPlugin,
  type RatePlugin
} from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice } from '../../helpers/device.ts'
import { makeToy } from '../../helpers/toy-currency.ts'
import { openToyHome } from '../../helpers/toy-home.ts'

const trap = (): never => {
  throw undefined
}

/** What a plugin may throw, each made anew. */
const THROWN: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  'a number': () => 7,
  'a symbol': () => Symbol('thrown'),
  'an empty object': () => Object.create(null),
  'a function': () => trap,
  'a proxy': () =>
    new Proxy(
      {},
      { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap, getOwnPropertyDescriptor: trap }
    ),
  'a proxy of an error': () => new Proxy(new Error('inside'), { get: trap, has: trap }),
  'a proxy of a catalogue error': () =>
    new Proxy(new WalletError('LOGGED_OUT', {}), {
      get: trap,
      has: trap,
      getPrototypeOf: () => WalletError.prototype
    }),
  'a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'an object with throwing getters': () => ({
    get name() {
      return trap()
    },
    get message() {
      return trap()
    },
    get code() {
      return trap()
    }
  }),
  'an error with throwing getters': () => {
    const error = new Error('inside')
    for (const field of ['stack', 'name', 'message', 'code', 'cause', 'details'])
      Object.defineProperty(error, field, { get: trap })
    return error
  },
  'a catalogue error with a throwing message': () =>
    Object.defineProperty(new WalletError('LOGGED_OUT', {}), 'message', { get: trap }),
  'an error with a code of the catalogue and no details': () =>
    Object.assign(new Error('inside'), { code: 'PLUGINS_MISSING' }),
  'an error without an end of causes': () => {
    const error = new Error('ring')
    error.cause = error
    return error
  }
}

test('whatever was thrown becomes an error that can be read, and a catalogue error stays the same object', t => {
  for (const [name, make] of Object.entries(THROWN)) {
    const error = errorOf(make())
    t.true(error instanceof Error, name)
    t.notThrows(() => [error.name, error.message, error.stack, error.cause, JSON.stringify(error)], name)
    t.is(typeof describeError(make()), 'string', name)
    t.is(typeof isWalletError(make()), 'boolean', name)
  }
  const known = new WalletError('MEMO_INVALID', { rule: 'is too long' })
  t.is(errorOf(known), known)
  t.is(errorOf('words').message, 'words')
})

test('an error of the deployed system keeps its name and its figures, each read once', t => {
  let count = 0
  const error = Object.assign(new Error('Amount is too low'), {
    name: 'SwapBelowLimitError',
    direction: 'from'
  })
  Object.defineProperty(error, 'nativeMin', {
    enumerable: true,
    get: () => {
      count += 1
      return count === 1 ? '100' : trap()
    }
  })
  const read = errorOf(error) as Error & { nativeMin?: unknown; direction?: unknown }
  t.deepEqual([read.name, read.message], ['SwapBelowLimitError', 'Amount is too low'])
  t.deepEqual([read.nativeMin, read.nativeMin, read.direction], ['100', '100', 'from'])
})

test('the details of an error cannot be changed after it was thrown', t => {
  const reasons = ['first']
  const error = new WalletError('PLUGINS_MISSING', { pluginIds: ['a'], reasons })
  reasons[0] = 'second'
  t.deepEqual(error.details.reasons, ['first'])
  t.throws(() => Object.assign(error.details, { pluginIds: [] }), { instanceOf: TypeError })
  t.throws(() => Object.assign(error, { code: 'LOGGED_OUT' }), { instanceOf: TypeError })
})

for (const [name, make] of Object.entries(THROWN)) {
  const fail = (): never => {
    throw make()
  }
  const failLater = async (): Promise<never> => fail()

  test(`a tap that throws ${name} does not stop the start, and fails sync and spend with an error`, async t => {
    const observer: ObserverPlugin = {
      kind: 'observer',
      id: 'observer',
      apply({ hooks }) {
        for (const hook of Object.values(hooks)) {
          if ('tap' in hook) hook.tap('observer', fail)
          else hook.tapPromise('observer', failLater)
        }
      }
    }
    const rates: RatePlugin = {
      ...{ kind: 'rates', id: 'rates', displayName: 'Rates' },
      apply: ({ hooks }) => hooks.fetchRates.tapPromise('rates', failLater)
    }
    const policy: PolicyPlugin = {
      ...{ kind: 'policy', id: 'policy' },
      apply: ({ hooks }) => hooks.beforeSign.tapPromise('policy', failLater)
    }
    const lazy: Plugin = { kind: 'policy', id: 'lazy', apply: fail }
    let isBad = false
    const { account, kernel, clock } = await openToyHome(t, {
      device: { plugins: [observer, rates, policy, lazy] },
      engine: good => ({ syncNetwork: keys => (isBad ? failLater() : good.syncNetwork(keys)) })
    })
    const wallet = await account.createCurrencyWallet('wallet:toycoin')
    await kernel.context.rates.refresh()
    await clock.advance(1000)
    isBad = true
    const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
    const draft = await wallet.makeSpend({ tokenId: null, spendTargets })
    for (const call of [() => wallet.spend(draft), () => wallet.sync(), () => account.sync()]) {
      const error = await call().then(
        () => t.fail('It succeeded'),
        (thrown: unknown) => thrown
      )
      t.is(Object.getPrototypeOf(Object.getPrototypeOf(error as object)) === null, false)
      t.true(error instanceof Error)
      t.is(typeof (error as Error).message, 'string')
    }
    t.deepEqual(wallet.unfinishedSpends(), [])
  })
}

test('calls that ignore their deadline are counted: no more than five of a kind are open after an hour', async t => {
  let rateCalls = 0
  let syncCalls = 0
  const faults: string[] = []
  const never = (): Promise<never> => new Promise(() => {})
  const rates: RatePlugin = {
    ...{ kind: 'rates', id: 'rates', displayName: 'Rates' },
    apply: ({ hooks }) =>
      hooks.fetchRates.tapPromise('rates', () => {
        rateCalls += 1
        return never()
      })
  }
  const observer: ObserverPlugin = {
    ...{ kind: 'observer', id: 'observer' },
    apply: ({ hooks }) =>
      hooks.pluginFault.tap('observer', ({ pluginId, hook, message }) => {
        if (message.includes('earlier calls')) faults.push(`${pluginId} ${hook}`)
      })
  }
  const { account, kernel, clock } = await openToyHome(t, {
    device: { plugins: [observer, rates] },
    engine: () => ({
      syncNetwork() {
        syncCalls += 1
        return never()
      }
    })
  })
  t.teardown(kernel.context.rates.want())
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  for (let minute = 0; minute < 60; minute++) await clock.advance(60_000)
  t.deepEqual([rateCalls, syncCalls], [5, 5])
  t.deepEqual(faults.sort(), ['rates fetchRates', 'toycoin syncing'])
  t.regex(wallet.engine.getSnapshot().failure ?? '', /5 earlier calls have not ended yet/)
})

test('a plugin whose late calls have ended is called again', async t => {
  const waiting: (() => void)[] = []
  let calls = 0
  const { account, clock } = await openToyHome(t, {
    engine: () => ({
      syncNetwork() {
        calls += 1
        return new Promise(resolve => waiting.push(() => resolve(10_000)))
      }
    })
  })
  await account.createCurrencyWallet('wallet:toycoin')
  for (let minute = 0; minute < 20; minute++) await clock.advance(60_000)
  t.is(calls, 5)
  for (const answer of waiting.splice(0)) answer()
  await clock.advance(60_000)
  t.true(calls > 5)
})

test('a plugin that cannot even be read fails alone, with its reason', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const unreadable: Plugin = {
    ...makeToy({ id: 'unreadable' }).plugin,
    get info() {
      return trap()
    }
  }
  const changing = makeToy({ id: 'changing' })
  let reads = 0
  const twoFaced: Plugin = {
    ...changing.plugin,
    get info() {
      reads += 1
      return reads === 1 ? changing.plugin.info : (undefined as never)
    }
  }
  const bare = { ...makeToy({ id: 'bare' }).plugin, info: { pluginId: 'bare' } } as unknown as Plugin
  const kernel = await openDevice(world, { plugins: [unreadable, twoFaced, bare] })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  for (const id of ['unreadable', 'bare'])
    await t.throwsAsync(account.createCurrencyWallet(`wallet:${id}`), { code: 'PLUGIN_FOR_TYPE' })
  const wallet = await account.createCurrencyWallet('wallet:changing')
  t.is(wallet.currencyInfo.displayName, 'Toy Coin')
  t.is(reads, 1)
  t.throws(() => kernel.addPlugin({ kind: 'policy', id: '../a', apply() {} }))
})
