import type { PolicyPlugin, RuleContext, RuleVerdict, SpendRule } from 'holdfast/plugin'

const DAY_MS = 86_400_000

/** Judges one rule of this kind: `{ "id": "few", "kind": "payments-a-day", "most": 5 }`. */
const verdictOn = ({ most, client }: SpendRule, context: RuleContext): RuleVerdict => {
  if (typeof most !== 'number' || !Number.isInteger(most) || most < 1)
    return {
      outcome: 'unreadable',
      title: 'payments in 24 hours',
      reason: 'most must be a whole number from 1'
    }
  const title = `at most ${most} payments in 24 hours`
  const { payment, payments, lostPayments, now } = context
  // What damage has cost could be any number of payments.
  const lost = lostPayments.find(({ at }) => now - at < DAY_MS)
  if (lost !== undefined)
    return {
      outcome: 'refuses',
      title,
      reason: 'a payment of the last 24 hours cannot be read',
      allowedAt: lost.at + DAY_MS
    }
  const counted = payments
    .filter(({ isOpen, at }) => isOpen || now - at < DAY_MS)
    .filter(({ clients }) => client === undefined || clients.includes(client))
  const [limit, used] = [String(most), String(counted.length)]
  const figures = { title, limit, used, left: String(Math.max(0, most - counted.length)) }
  // Without a payment only the state of the rule is wanted. Otherwise the judged one is among those that are counted.
  if (payment === undefined) return { ...figures, outcome: 'does not apply', reason: `${used} were made` }
  if (counted.length <= most)
    return { ...figures, outcome: 'allows', reason: `it is the ${used}. of ${most}` }
  // It fits once enough of the confirmed ones are a day old; an open one has no such time.
  const old = counted.filter(({ isOpen }) => !isOpen).sort((one, other) => one.at - other.at)
  const last = old[counted.length - most - 1]
  const wait = last === undefined ? {} : { allowedAt: last.at + DAY_MS }
  return { ...figures, ...wait, outcome: 'refuses', reason: `${most} payments were made already` }
}

/** A policy for rules of an account that limit how many payments are made in 24 hours, whatever they are worth. */
const paymentsADay: PolicyPlugin = {
  kind: 'policy',
  id: 'payments-a-day',
  apply({ hooks }) {
    hooks.judgeRules.tapPromise('payments-a-day', async context => {
      for (const rule of context.rules)
        if (rule.kind === 'payments-a-day') context.judge(rule.id, verdictOn(rule, context))
    })
  }
}

export default paymentsADay
