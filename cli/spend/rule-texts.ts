import type { Account, JsonObject, PolicyExplanation, Transaction } from '../../kernel/index.ts'
import type { OutputView } from '../output/view.ts'
import { safeText } from '../terminal/safe-text.ts'
import { type SpendSummary, withWarnings } from './summary.ts'

/** Adds what the rules of the account say of a draft to its summary; an account without rules adds nothing. */
export const withRules = async (
  account: Account,
  draft: Transaction,
  summary: SpendSummary
): Promise<SpendSummary> => {
  const explanation = await account.policies.explain(draft)
  if (!explanation.isGoverned) return summary
  const { lines, json, ...rest } = summary
  const refusal = refusalLine(explanation)
  const said = explanation.rules.map(
    ({ ruleId, title, left }) =>
      [
        'rule',
        `${safeText(ruleId)}: ${safeText(title)}${left === undefined ? '' : `, ${left} left`}`
      ] as const
  )
  const withSaid = {
    ...rest,
    lines: [...lines, ...said],
    json: { ...json, rules: explanationJson(explanation) }
  }
  return refusal === undefined ? withSaid : withWarnings(withSaid, [refusal])
}

/** Returns the refusal as a sentence with the rule and the time; undefined if the rules allow it. */
export const refusalLine = ({
  isAllowed,
  refusedBy = '',
  reason = '',
  allowedAt,
  approvers
}: PolicyExplanation): string | undefined => {
  if (isAllowed) return undefined
  if (approvers !== undefined) return `the rule "${safeText(refusedBy)}": ${safeText(reason)}`
  const until = allowedAt === undefined ? '' : `; allowed from ${new Date(allowedAt).toISOString()} on`
  return `the rule "${safeText(refusedBy)}" refuses it: ${safeText(reason)}${until}`
}

/** An explanation as JSON, with times as ISO texts. */
export const explanationJson = ({
  rules,
  allowedAt,
  refusedBy,
  reason,
  approvers,
  clockLag = 0,
  ...flags
}: PolicyExplanation): JsonObject => ({
  ...flags,
  refusedBy: refusedBy ?? null,
  reason: reason ?? null,
  allowedAt: isoOrNull(allowedAt),
  clockLagSeconds: Math.round(clockLag / 1000),
  approvers: (approvers ?? []).map(device => ({ ...device })),
  rules: rules.map(({ allowedAt: ruleAllowedAt, limit, used, left, approvers: _, ...rule }) => ({
    ...rule,
    limit: limit ?? null,
    used: used ?? null,
    left: left ?? null,
    allowedAt: isoOrNull(ruleAllowedAt)
  }))
})

const isoOrNull = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString()

/** An explanation as a table. */
export const explanationView = ({ rules, isGoverned }: PolicyExplanation): OutputView => ({
  kind: 'table',
  columns: [
    { title: 'RULE' },
    { title: 'SAYS', canShrink: true },
    { title: 'USED' },
    { title: 'LEFT' },
    { title: 'MORE FROM' }
  ],
  rows: rules.map(({ ruleId, title, outcome, reason, used = '', left = '', allowedAt }) => [
    safeText(ruleId),
    safeText(outcome === 'refuses' || outcome === 'unreadable' ? `no: ${reason}` : title),
    used,
    left,
    isoOrNull(allowedAt) ?? ''
  ]),
  empty: isGoverned
    ? 'The rules judge nothing, and so nothing is paid.'
    : 'The account has no rules about payments: a person pays what they approve.'
})
