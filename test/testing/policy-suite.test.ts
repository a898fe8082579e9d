import test from 'ava'
import {
  compare,
  nativeAmount,
  type PolicyPlugin,
  type QuoteSnapshot,
  type RuleContext,
  type SpendSnapshot,
  WalletError
} from '../../kernel/plugin-api.ts'
import { pluginChecks } from '../../testing/plugin-checks.ts'
import { type PolicySuiteOptions, policyChecks, policySuite } from '../../testing/policy-suite.ts'
import { sampleEvents } from '../../testing/sample-events.ts'
import { runSuite } from '../../testing/suite.ts'

/** The parts of a policy that a mistake replaces. */
interface LimitParts {
  check(spend: SpendSnapshot): void
  judge(context: RuleContext): Promise<void> | void
  rank(quotes: readonly QuoteSnapshot[]): readonly QuoteSnapshot[]
  onApply(host: Parameters<PolicyPlugin['apply']>[0]): void
}

const stop = (pluginId: string): never => {
  throw new WalletError('SIGN_REFUSED', { pluginId, reason: 'too much' })
}

const sound: LimitParts = {
  check({ nativeAmount: amount, pluginId }) {
    if (pluginId === 'bitcoin' && compare(nativeAmount(amount), nativeAmount('1000000')) > 0) stop('limit')
  },
  judge({ rules, payment, judge }) {
    for (const { id, kind, max } of rules) {
      if (kind !== 'amounts') continue
      const title = `at most ${max} amounts`
      if (typeof max !== 'number' || max < 1)
        judge(id, { outcome: 'unreadable', title, reason: 'max is no number' })
      else if (payment === undefined) judge(id, { outcome: 'does not apply', title, reason: title })
      else if (payment.amounts.length <= max) judge(id, { outcome: 'allows', title, reason: 'it has few' })
      else judge(id, { outcome: 'refuses', title, reason: 'it has more' })
    }
  },
  rank: quotes => [...quotes].sort((one, other) => one.pluginId.localeCompare(other.pluginId)),
  onApply() {}
}

/** A policy that passes every check, but for what replaces a part of it. */
const limit = (parts: Partial<LimitParts> = {}, plugin: Partial<PolicyPlugin> = {}): PolicyPlugin => ({
  kind: 'policy',
  id: 'limit',
  apply(host) {
    const { check, judge, rank, onApply } = { ...sound, ...parts }
    onApply(host)
    host.hooks.beforeSign.tapPromise('limit', async spend => check(spend))
    host.hooks.judgeRules.tapPromise('limit', async context => judge(context))
    host.hooks.rankQuotes.tap('limit', quotes => rank(quotes))
  },
  ...plugin
})

const [quote] = sampleEvents.quoteChanged
const paid = { pluginId: 'bitcoin', tokenId: null, nativeAmount: nativeAmount('5') }
const payment = { walletId: 'w1', pluginId: 'bitcoin', amounts: [paid], payees: ['someone'] }
const rule = { id: 'few', kind: 'amounts', max: 1 }

const cases: PolicySuiteOptions = {
  options: { apiKey: 'a-key-of-the-policy' },
  valid: [
    { name: 'little', spend: { nativeAmount: '1000' } },
    { name: 'another currency', spend: { pluginId: 'litecoin' } }
  ],
  invalid: [{ name: 'too much', spend: {}, reason: 'too much' }],
  rules: [
    { name: 'one amount', rules: [rule], payment, verdicts: { few: 'allows' } },
    {
      name: 'two amounts',
      rules: [rule],
      payment: { ...payment, amounts: [paid, paid] },
      verdicts: { few: 'refuses' }
    },
    { name: 'the state', rules: [rule], verdicts: { few: 'does not apply' } }
  ],
  ranks:
    quote === undefined
      ? []
      : [
          {
            name: 'two quotes',
            quotes: [quote, { ...quote, pluginId: 'aaa' }],
            ranked: ['aaa', quote.pluginId]
          }
        ]
}

test('a sound policy passes every check of the suite', async t => {
  const results = await runSuite(policySuite(limit(), cases))
  t.deepEqual(
    results.filter(({ outcome }) => outcome !== 'passed').map(({ title, message }) => `${title}: ${message}`),
    []
  )
})

const brokenPolicies: readonly { readonly breaks: string; make(): PolicyPlugin }[] = [
  { breaks: 'plugin.loads', make: () => limit({}, { id: 'a limit' }) },
  { breaks: 'plugin.globals', make: () => limit({ check: spend => Date.now() > 0 && sound.check(spend) }) },
  {
    breaks: 'plugin.repeatable',
    make() {
      let count = 0
      return limit({
        onApply() {
          count += 1
        },
        judge: context =>
          sound.judge({
            ...context,
            // The outcome stays the same; only the words differ.
            judge: (id, verdict) => context.judge(id, { ...verdict, reason: `${verdict.reason} ${count++}` })
          })
      })
    }
  },
  {
    breaks: 'plugin.closing',
    make: () =>
      limit({
        onApply: ({ hooks }) =>
          hooks.closing.tapPromise('limit', async () => {
            throw new TypeError('It is closed already')
          })
      })
  },
  {
    breaks: 'plugin.secrets',
    make: () => limit({ onApply: ({ log, options }) => log.info(`started with ${options.apiKey}`) })
  },
  {
    breaks: 'policy.allows',
    make: () => limit({ check: spend => sound.check({ ...spend, pluginId: 'bitcoin' }) })
  },
  { breaks: 'policy.refuses', make: () => limit({ check: () => {} }) },
  {
    breaks: 'policy.rules',
    make: () =>
      limit({
        judge: context =>
          sound.judge({
            ...context,
            rules: context.rules.map(each => ({ ...each, ...(each.max === 1 ? { max: 2 } : {}) }))
          })
      })
  },
  { breaks: 'policy.ranks', make: () => limit({ rank: quotes => quotes }) },
  {
    breaks: 'policy.uses',
    make: () =>
      limit({
        check(spend) {
          if (spend.targets[0]?.publicAddress === undefined)
            throw new TypeError('Cannot read properties of undefined')
          sound.check(spend)
        }
      })
  },
  {
    breaks: 'policy.read-only',
    make: () =>
      limit({
        check(spend) {
          Reflect.set(spend, 'nativeAmount', '0')
          sound.check(spend)
        }
      })
  },
  {
    breaks: 'policy.quotes',
    make: () => limit({ rank: quotes => sound.rank(quotes).filter(({ state }) => state !== 'failed') })
  },
  {
    breaks: 'policy.foreign-rules',
    make: () =>
      limit({
        judge(context) {
          sound.judge(context)
          for (const { id, kind } of context.rules)
            if (kind in {}) context.judge(id, { outcome: 'unreadable', title: 'odd', reason: 'odd' })
        }
      })
  },
  {
    breaks: 'policy.broken-rules',
    make: () =>
      limit({
        judge: context =>
          sound.judge({
            ...context,
            rules: context.rules.map(each => (typeof each.max === 'number' ? each : { ...each, max: 5 }))
          })
      })
  },
  {
    breaks: 'policy.trial',
    make: () =>
      limit({
        async judge(context) {
          await context.store.write(new Map([['seen', 'yes']]))
          await sound.judge(context)
        }
      })
  }
]

for (const { breaks, make } of brokenPolicies) {
  test(`a policy with a mistake for ${breaks} fails that check`, async t => {
    const results = await runSuite(policySuite(make(), cases))
    const failed = [...new Set(results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id))]
    t.true(failed.includes(breaks), failed.join())
    // A plugin that does not load fails whatever is tried.
    if (breaks !== 'plugin.loads') t.deepEqual(failed, [breaks])
  })
}

test('every check of policies has a broken policy that it finds', t => {
  const cases = ['policy.allows', 'policy.refuses', 'policy.rules', 'policy.ranks']
  const ids = [...pluginChecks, ...policyChecks].map(({ id }) => id)
  t.deepEqual(brokenPolicies.map(({ breaks }) => breaks).sort(), [...ids, ...cases].sort())
})
