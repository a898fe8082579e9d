import test from 'ava'
import { type ObserverPlugin, observerHookNames } from '../../kernel/observer-api.ts'
import {
  type ObserverSuiteOptions,
  observerChecks,
  observerSuite,
  type TestedObserver
} from '../../testing/observer-suite.ts'
import { runSuite } from '../../testing/suite.ts'

type Apply = ObserverPlugin['apply']

/** An observer that notes spends and the names of wallets, with a mistake beside. */
const watcher = (mistake: Apply = () => {}, id = 'watch'): TestedObserver => {
  const lines: string[] = []
  return {
    seen: () => lines,
    plugin: {
      kind: 'observer',
      id,
      apply(host) {
        for (const name of observerHookNames) host.hooks[name].tap(id, () => {})
        host.hooks.spendChanged.tap(id, ({ stage }) => lines.push(`spend: ${stage}`))
        host.hooks.walletChanged.tap(id, ({ name }) => lines.push(`wallet: ${name ?? 'without a name'}`))
        mistake(host)
      }
    }
  }
}

const cases: ObserverSuiteOptions = {
  valid: [
    {
      name: 'a spend',
      events: [
        ['spendChanged', { correlationId: 's1', walletId: 'w1', stage: 'intended' }],
        ['spendChanged', { correlationId: 's1', walletId: 'w1', stage: 'signed' }]
      ],
      seen: ['spend: intended', 'spend: signed']
    }
  ]
}

test('a sound observer passes every check of the suite', async t => {
  const results = await runSuite(observerSuite(watcher, cases))
  t.deepEqual(
    results.filter(({ outcome }) => outcome !== 'passed').map(({ title, message }) => `${title}: ${message}`),
    []
  )
  t.is(results.length, observerChecks.length + 1)
})

const brokenObservers: readonly { readonly breaks: string; readonly make: () => TestedObserver }[] = [
  {
    breaks: 'observer.loads',
    make: () => watcher(({ hooks }) => void (hooks as unknown as { fetchRates: unknown }).fetchRates)
  },
  {
    breaks: 'observer.valid',
    make: () => ({ ...watcher(), seen: () => ['spend: signed'] })
  },
  {
    breaks: 'observer.quiet',
    // The order in which samples come hides it from nothing: it fails with any.
    make: () =>
      watcher(({ hooks }) => {
        hooks.pluginChanged.tap('watch', ({ currency, state }) => {
          if (state === 'applied') return
          if (currency?.displayName.length === undefined)
            throw new TypeError('Cannot read properties of undefined')
        })
      })
  },
  {
    breaks: 'observer.read-only',
    make: () =>
      watcher(({ hooks }) => {
        hooks.walletChanged.tap('watch', snapshot => void Reflect.set(snapshot, 'name', 'mine'))
      })
  },
  {
    breaks: 'observer.repeatable',
    make() {
      let count = 0
      return watcher(() => {
        count += 1
        if (count > 1) throw new TypeError('It is applied already')
      })
    }
  },
  {
    breaks: 'observer.order',
    make: () =>
      watcher(({ hooks }) => {
        const logins = new Set<string>()
        hooks.loginChanged.tap('watch', ({ attemptId }) => logins.add(attemptId))
        hooks.accountChanged.tap('watch', () => {
          if (logins.size === 0) throw new TypeError('An account without a login')
        })
      })
  },
  {
    breaks: 'observer.closing',
    make: () =>
      watcher(({ hooks }) => {
        let isClosed = false
        hooks.closing.tapPromise('watch', async () => {
          isClosed = true
        })
        hooks.walletChanged.tap('watch', () => {
          if (isClosed) throw new TypeError('The file is closed')
        })
      })
  }
]

for (const { breaks, make } of brokenObservers) {
  test(`an observer with a mistake for ${breaks} fails that check`, async t => {
    const results = await runSuite(observerSuite(make, cases))
    const failed = [...new Set(results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id))]
    t.true(failed.includes(breaks), failed.join())
    // One that does not load, or throws at a common event, fails other checks as well.
    if (!['observer.loads', 'observer.quiet'].includes(breaks)) t.deepEqual(failed, [breaks])
  })
}

test('every check of observers has a broken observer that it finds', t => {
  t.deepEqual(
    brokenObservers.map(({ breaks }) => breaks).sort(),
    [...observerChecks.map(({ id }) => id), 'observer.valid'].sort()
  )
})
