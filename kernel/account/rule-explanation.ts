import { compact } from '../base/compact.ts'
import type {
  ApprovingDevice,
  JudgedPayment,
  JudgedRule,
  PaidAmount,
  PolicyExplanation,
  RuleVerdict,
  SpendRule
} from '../types/policy.ts'

/** Stands in a refusal for the rule: none allows the payment. */
export const NO_RULE = 'no rule'
/** Stands in a refusal for the rule: something that rules need cannot be read. */
export const UNREADABLE_RULES = 'rules unreadable'

/** Explains a person's payment that no rule concerns. */
export const ALLOWED_WITHOUT_RULES: PolicyExplanation = Object.freeze({
  isGoverned: false,
  isAllowed: true,
  isAllowedByName: false,
  rules: []
})

/** Explains a refusal. */
export const refused = (
  why: Pick<PolicyExplanation, 'reason' | 'refusedBy' | 'rules'>
): PolicyExplanation => ({
  ...{ isGoverned: true, isAllowed: false, isAllowedByName: false },
  ...why
})

/**
 * Combines the verdicts on the rules that concern a payment: one that refuses wins, and of several the one that refuses longest
 * is named. One must allow it and, if a program asks, one that names the program. A rule of another asset than the paid one, which
 * only the network fee concerns, cannot allow it. A rule without a verdict refuses.
 */
export const explanationOf = (
  rules: readonly SpendRule[],
  verdicts: ReadonlyMap<string, RuleVerdict>,
  payment: JudgedPayment | undefined
): PolicyExplanation => {
  const judged: JudgedRule[] = rules.map(({ id, kind, client }) => ({
    ruleId: id,
    kind,
    ...compact({ client }),
    ...(verdicts.get(id) ?? UNJUDGED)
  }))
  if (payment === undefined) {
    const broken = judged.find(({ outcome }) => outcome === 'unreadable')
    if (broken === undefined)
      return { isGoverned: true, isAllowed: true, isAllowedByName: false, rules: judged }
    return refused({ refusedBy: broken.ruleId, reason: broken.reason, rules: judged })
  }
  const refusals = judged.filter(({ outcome }) => outcome === 'refuses' || outcome === 'unreadable')
  // Those of which one must allow it.
  const allowing = rules.flatMap((rule, at) => (isOfPaidAsset(rule, payment) ? (judged[at] ?? []) : []))
  // The one that refuses longest says when it would be allowed; a device that could approve helps only without others.
  const final = refusals.filter(({ approvers = [] }) => approvers.length === 0)
  const last = (final.length === 0 ? refusals : final).reduce<JudgedRule | undefined>(
    (latest, rule) =>
      latest === undefined || (rule.allowedAt ?? Infinity) > (latest.allowedAt ?? Infinity) ? rule : latest,
    undefined
  )
  if (last !== undefined) {
    const approvers = approversOf(
      refusals,
      payment.client === undefined ? allowing : named(allowing, payment.client)
    )
    return {
      ...refused({ refusedBy: last.ruleId, reason: last.reason, rules: judged }),
      ...compact({ allowedAt: last.allowedAt, approvers })
    }
  }
  if (!allowing.some(isAllowing)) return refused({ ...NOT_ALLOWED, rules: judged })
  const { client: program } = payment
  if (program === undefined)
    return { isGoverned: true, isAllowed: true, isAllowedByName: false, rules: judged }
  if (!named(allowing, program).some(isAllowing)) return refused({ ...unnamed(program), rules: judged })
  return { isGoverned: true, isAllowed: true, isAllowedByName: true, rules: judged }
}

const isAllowing = ({ outcome }: JudgedRule): boolean => outcome === 'allows'

/** Returns true if a rule is about what a payment pays: an asset, or where only a fee leaves, that of the fee. */
const isOfPaidAsset = ({ asset }: SpendRule, { amounts: [paid] }: JudgedPayment): boolean =>
  asset === undefined || (paid !== undefined && asset === assetOf(paid))

/** Returns true if a rule is about an asset of a payment, its network fee included. */
export const concerns = ({ asset }: SpendRule, { amounts }: JudgedPayment): boolean =>
  asset === undefined || amounts.some(amount => assetOf(amount) === asset)

const assetOf = ({ pluginId, tokenId }: PaidAmount): string =>
  tokenId === null ? pluginId : `${pluginId}/${tokenId}`

/** The rules that name a program. */
const named = (rules: readonly JudgedRule[], program: string): readonly JudgedRule[] =>
  rules.filter(({ client }) => client === program)

/** The devices of which each could make the payment allowed; undefined if there is none. */
const approversOf = (
  refusals: readonly JudgedRule[],
  /** Those of which one must allow it. */
  needed: readonly JudgedRule[]
): readonly ApprovingDevice[] | undefined => {
  const [first, ...others] = refusals.map(({ approvers = [] }) => approvers)
  const common = (first ?? []).filter(({ key }) =>
    others.every(approvers => approvers.some(other => other.key === key))
  )
  const isAllowedThen = needed.some(({ outcome }) => outcome === 'allows' || outcome === 'refuses')
  return common.length > 0 && isAllowedThen ? common : undefined
}

/** The refusal of a payment that no rule allows. */
export const NOT_ALLOWED: Pick<PolicyExplanation, 'reason' | 'refusedBy' | 'rules'> = {
  refusedBy: NO_RULE,
  reason: 'no rule of the account allows it',
  rules: []
}

/** The refusal of what a program asks for without a rule of its own, also in an account without rules. */
export const unnamed = (program: string): typeof NOT_ALLOWED => ({
  ...NOT_ALLOWED,
  reason: `no rule of the account allows it to the program "${program}"`
})

const UNJUDGED: RuleVerdict = Object.freeze({
  outcome: 'unreadable',
  title: 'a rule of an unknown kind',
  reason: 'no policy of this program can read the rule'
})
