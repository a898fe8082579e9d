import {
  isWalletError,
  type JsonObject,
  type KeyUse,
  type PolicyPlugin,
  type QuoteSnapshot,
  type SpendRule
} from '../kernel/plugin-api.ts'
import { pluginChecks } from './plugin-checks.ts'
import { openPluginLab, type PluginLab, type PluginLabOptions } from './plugin-lab.ts'
import {
  type AllowedSpend,
  judgeRules,
  type PolicySubject,
  presentSpend,
  type RankCase,
  type RefusedSpend,
  type RuleCase
} from './policy-lab.ts'
import { type TestFunction, testSuite } from './run-with.ts'
import { readOnly, sampleEvents, sampleRequest } from './sample-events.ts'
import {
  type Check,
  type CheckInfo,
  checkDistinct,
  describeError,
  must,
  type PlannedCheck,
  planSuite,
  type Suite,
  type SuiteOptions,
  skip
} from './suite.ts'

/** What a suite has to know of a policy. */
export interface PolicySuiteOptions extends SuiteOptions {
  /** Uses of private keys that it lets pass. */
  readonly valid?: readonly AllowedSpend[]
  /** Uses that it stops. */
  readonly invalid?: readonly RefusedSpend[]
  /** Rules of accounts that it judges. */
  readonly rules?: readonly RuleCase[]
  /** Quotes that it puts into another order. */
  readonly ranks?: readonly RankCase[]
  readonly options?: JsonObject
}

/**
 * Plans the checks of a policy: one for each case, and those of every policy.
 *
 * @throws TypeError for no case, and for two cases of one name
 *
 * @example
 * ```ts
 * import { policySuite, runSuite } from 'holdfast/testing'
 * import type { PolicyPlugin } from 'holdfast/plugin'
 *
 * declare const spendLimit: PolicyPlugin
 * const suite = policySuite(spendLimit, {
 *   valid: [{ name: 'little', spend: { nativeAmount: '1000' } }],
 *   invalid: [{ name: 'too much', spend: { nativeAmount: '100000000' }, reason: 'more than 0.01' }]
 * })
 * const results = await runSuite(suite)
 * console.log(results.every(({ outcome }) => outcome !== 'failed'))
 * ```
 */
export const policySuite = (plugin: PolicyPlugin, given: PolicySuiteOptions): Suite => {
  const { valid = [], invalid = [], rules = [], ranks = [], options = {}, level = 'full' } = given
  const names = [...valid, ...invalid, ...rules, ...ranks].map(({ name }) => name)
  if (names.length === 0) throw new TypeError('A suite of a policy needs a case')
  checkDistinct(names)
  const open = (more: PluginLabOptions = {}): PluginLab => openPluginLab(plugin, { options, ...more })
  const subject: PolicySubject = {
    ...{ rules, allowed: valid, options, open },
    async use(lab) {
      const { error } = await presentSpend(lab, valid[0]?.spend ?? {})
      const verdicts = await Promise.all(rules.map(async each => [...(await judgeRules(lab, each)).verdicts]))
      return [verdicts, error === undefined ? 'passes' : 'refuses']
    }
  }
  const plan = <Case extends { readonly name: string }>(
    info: CheckInfo,
    cases: readonly Case[],
    run: (lab: PluginLab, each: Case) => Promise<void>
  ): readonly PlannedCheck[] =>
    cases.map(each => ({
      ...info,
      title: `${info.id} ${each.name}`,
      run: () => run(open(optionsOf(each)), each)
    }))
  const cases = [
    ...plan(ALLOWED, valid, checkAllowed),
    ...plan(REFUSED, invalid, (lab, each) => checkRefused(lab, each, plugin.id)),
    ...plan(RULES, rules, checkRules),
    ...plan(RANKS, ranks, checkRanks)
  ]
  const about = { pluginId: plugin.id, kind: 'policy', level }
  const common = planSuite(about, pluginChecks, subject).checks
  return planSuite(about, policyChecks, subject, [...common, ...cases])
}

const optionsOf = (each: object): PluginLabOptions => {
  const { options } = each as { readonly options?: JsonObject }
  return options === undefined ? {} : { options }
}

/**
 * Declares the tests of a policy: those of {@link policySuite}, with the `test` of node:test, AVA or Vitest.
 *
 * @example
 * ```ts
 * import test from 'node:test'
 * import { testPolicyPlugin } from 'holdfast/testing'
 * import type { PolicyPlugin } from 'holdfast/plugin'
 *
 * declare const spendLimit: PolicyPlugin
 * testPolicyPlugin(test, spendLimit, { invalid: [{ name: 'too much', spend: { nativeAmount: '100000000' } }] })
 * ```
 */
export const testPolicyPlugin = (
  test: TestFunction,
  plugin: PolicyPlugin,
  options: PolicySuiteOptions
): void => testSuite(test, policySuite(plugin, options))

const DOCS = 'docs/write-a-plugin.md#a-policy'

const ALLOWED: CheckInfo = {
  id: 'policy.allows',
  level: 'quick',
  reason: 'A policy that stops too much keeps its owner from the money.',
  clause: DOCS,
  hint: 'Return for what the policy does not concern: another currency, token, wallet or use.'
}

const REFUSED: CheckInfo = {
  id: 'policy.refuses',
  level: 'quick',
  reason: 'The kernel uses the keys unless a policy throws.',
  clause: DOCS,
  hint: 'Throw SIGN_REFUSED with the id of the plugin and the reason, and throw it before the tap ends.'
}

const RULES: CheckInfo = {
  id: 'policy.rules',
  level: 'quick',
  reason: 'A rule gets the strictest of its verdicts, and a rule without one refuses.',
  clause: 'docs/policies.md#what-the-rules-mean',
  hint: 'Judge each rule whose kind is yours, and no other.'
}

const RANKS: CheckInfo = {
  id: 'policy.ranks',
  level: 'quick',
  reason: 'The first quote is the one that a user sees and takes.',
  clause: '9.18',
  hint: 'Return the same quotes in the order of the case.'
}

const USES: readonly KeyUse[] = [
  ...([
    'approve login',
    'backup',
    'broadcast',
    'draft',
    'login key',
    'message',
    'show',
    'spend',
    'sweep',
    'sync'
  ] as const)
]

/** Every check of a policy, but for its cases. */
export const policyChecks: readonly Check<PolicySubject>[] = [
  {
    id: 'policy.uses',
    level: 'quick',
    reason: 'A policy is given every use of keys, also those that move no money or concern no wallet.',
    clause: DOCS,
    hint: 'Expect amounts of 0, no targets, and empty ids; throw only errors of the catalogue.',
    async run({ open }) {
      const nothing = { nativeAmount: '0', networkFee: '0', targets: [] }
      const nowhere = { walletId: '', pluginId: '', currencyCode: '', ...nothing }
      for (const use of USES)
        for (const spend of [{ use }, { use, ...nothing }, { use, ...nowhere }]) {
          const { error, isLate } = await presentSpend(open(), spend)
          must(!isLate, () => `For the use ${use} it has not ended after 30 seconds`)
          must(
            error === undefined || isWalletError(error),
            () => `For the use ${use} it throws ${describeError(error)}`
          )
        }
    }
  },
  {
    id: 'policy.read-only',
    level: 'quick',
    reason: 'What a policy is given is what will be signed, and other policies are given the same.',
    clause: DOCS,
    hint: 'Copy what you want to change: { ...spend } and [...quotes].',
    async run({ open }) {
      const changes = new Set<string>()
      const onChange = (what: string): void => void changes.add(what)
      const lab = open()
      await presentSpend(lab, {}, spend => readOnly(spend, onChange))
      const quotes = readOnly(sampleEvents.quoteChanged, onChange)
      for (const { fn } of lab.hooks.rankQuotes.taps) attempt(() => (fn as RankTap)(quotes, sampleRequest))
      must(changes.size === 0, () => `It ${[...changes][0]} of what it is given`)
    }
  },
  {
    id: 'policy.quotes',
    level: 'full',
    reason: 'A policy may reorder quotes, but neither add nor drop one: each is an offer to the user.',
    clause: '9.18',
    hint: 'Sort a copy, and return quotes of every state.',
    async run({ open }) {
      const { hooks } = open()
      if (hooks.rankQuotes.taps.length === 0) return skip('It does not tap rankQuotes')
      for (const quotes of [[], sampleEvents.quoteChanged, [...sampleEvents.quoteChanged].reverse()])
        for (const { fn } of hooks.rankQuotes.taps) {
          const { answer, error } = attempt(() => (fn as RankTap)(Object.freeze([...quotes]), sampleRequest))
          must(error === undefined, () => `It throws ${describeError(error)} for ${quotes.length} quotes`)
          if (answer === undefined) continue
          const isSame =
            Array.isArray(answer) &&
            answer.length === quotes.length &&
            quotes.every(quote => answer.includes(quote))
          must(isSame, () => `Of ${quotes.length} quotes it returns others than those`)
        }
    }
  },
  {
    id: 'policy.foreign-rules',
    level: 'quick',
    reason: 'Rules of other plugins stand among its own.',
    clause: 'docs/policies.md#what-the-rules-mean',
    hint: 'Look at the kind of a rule first, and look kinds up in a Map.',
    async run({ open, rules }) {
      if (rules.length === 0) return skip('It has no case with rules')
      const foreign = ['of-nobody', '__proto__', 'constructor'].map(kind => ({ id: `foreign-${kind}`, kind }))
      for (const each of rules) {
        const { verdicts, error, isLate } = await judgeRules(open(), { ...each, rules: foreign })
        must(error === undefined && !isLate, () => `Among foreign rules it throws ${describeError(error)}`)
        must(verdicts.size === 0, () => `It judges the foreign rule ${[...verdicts.keys()][0]}`)
      }
    }
  },
  {
    id: 'policy.broken-rules',
    level: 'full',
    reason: 'A rule that cannot be read must never allow a payment.',
    clause: 'docs/policies.md#what-the-rules-mean',
    hint: 'Give the outcome unreadable for a field of the wrong type, and throw for none.',
    async run({ open, rules }) {
      if (rules.length === 0) return skip('It has no case with rules')
      for (const each of rules) {
        if (each.payment === undefined) continue
        for (const broken of each.rules.flatMap(brokenForms)) {
          const { verdicts, error } = await judgeRules(open(), { ...each, rules: [broken.rule] })
          must(error === undefined, () => `It throws ${describeError(error)} for a rule whose ${broken.what}`)
          const outcome = verdicts.get(broken.rule.id)?.outcome
          const isSafe = outcome !== 'allows' && outcome !== 'does not apply'
          must(isSafe, () => `The outcome is ${outcome} for a rule whose ${broken.what}`)
        }
      }
    }
  },
  {
    id: 'policy.trial',
    level: 'full',
    reason: 'Asking what a rule says must not change what it says.',
    clause: 'docs/policies.md#what-the-rules-mean',
    hint: 'Write to the store only if isTrial is false.',
    async run({ open, rules }) {
      if (rules.length === 0) return skip('It has no case with rules')
      for (const each of rules) {
        const lab = open()
        const { writeCount } = await judgeRules(lab, each, { isTrial: true })
        must(writeCount === 0, () => `In a trial of the case ${each.name} it writes to its store`)
      }
    }
  }
]

type RankTap = (quotes: readonly QuoteSnapshot[], request: typeof sampleRequest) => unknown

const attempt = (run: () => unknown): { readonly answer?: unknown; readonly error?: unknown } => {
  try {
    return { answer: run() }
  } catch (error) {
    return { error }
  }
}

const GARBAGE = [{}, -1, 'odd', null, true]

/** A rule with each of its own fields replaced by each kind of garbage. */
const brokenForms = (rule: SpendRule): readonly { readonly rule: SpendRule; readonly what: string }[] =>
  Object.keys(rule)
    .filter(field => !['id', 'kind', 'asset', 'client'].includes(field))
    .flatMap(field =>
      GARBAGE.map(value => ({
        rule: { ...rule, [field]: value },
        what: `${field} is ${JSON.stringify(value)}`
      }))
    )

const checkAllowed = async (lab: PluginLab, { spend }: AllowedSpend): Promise<void> => {
  const { error, isLate } = await presentSpend(lab, spend)
  must(!isLate, () => 'It has not ended after 30 seconds')
  must(error === undefined, () => `It throws ${describeError(error)}`)
}

const checkRefused = async (
  lab: PluginLab,
  { spend, reason }: RefusedSpend,
  pluginId: string
): Promise<void> => {
  const { error, isLate } = await presentSpend(lab, spend)
  must(!isLate, () => 'It has not ended after 30 seconds')
  must(error !== undefined, () => 'It lets the use pass')
  must(isWalletError(error, 'SIGN_REFUSED'), () => `It throws ${describeError(error)}, not SIGN_REFUSED`)
  must(
    error.details.pluginId === pluginId,
    () => `SIGN_REFUSED names the plugin ${String(error.details.pluginId)}`
  )
  const found = String(error.details.reason)
  must(
    reason === undefined || found === reason,
    () => `Its reason is "${found}", and the case says "${reason}"`
  )
}

const checkRules = async (lab: PluginLab, each: RuleCase): Promise<void> => {
  const { verdicts, error, isLate } = await judgeRules(lab, each)
  must(!isLate, () => 'It has not ended after 30 seconds')
  must(error === undefined, () => `It throws ${describeError(error)}`)
  for (const [ruleId, expected] of Object.entries(each.verdicts)) {
    const { outcome, title, reason } = verdicts.get(ruleId) ?? {}
    const isMeant = (outcome ?? null) === expected
    must(isMeant, () => `The verdict on ${ruleId} is ${outcome} (${reason}), and the case says ${expected}`)
    const isWorded = outcome === undefined || (Boolean(title) && Boolean(reason))
    must(isWorded, () => `The verdict on ${ruleId} has no title or no reason for a person`)
  }
}

const checkRanks = async ({ hooks }: PluginLab, { quotes, ranked }: RankCase): Promise<void> => {
  let order: readonly QuoteSnapshot[] = Object.freeze([...quotes])
  for (const { fn } of hooks.rankQuotes.taps)
    order = ((fn as RankTap)(order, sampleRequest) as readonly QuoteSnapshot[] | undefined) ?? order
  const found = order.map(({ pluginId }) => pluginId).join()
  must(found === ranked.join(), () => `It ranks ${found}, and the case says ${ranked.join()}`)
}
