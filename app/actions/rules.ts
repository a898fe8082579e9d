import { compact, type JudgedRule, type PendingRuleChange, type SpendRule } from '../../kernel/index.ts'
import { type AccountRef, accountRef } from './account.ts'
import type { DeclarationsOf } from './declaration.ts'
import {
  about,
  flag,
  id,
  list,
  nullable,
  object,
  oneOf,
  optional,
  time,
  untrusted,
  untrustedMessage
} from './schema.ts'
import { accountOf } from './services.ts'

/** A rule and how it stands. Its texts are those of whoever wrote it, and of the plugin that judges it. */
interface RuleRow {
  readonly outcome: 'allows' | 'does not apply' | 'refuses' | 'unreadable'
  /** When more is free. */
  readonly allowedAt?: number
  readonly untrusted: {
    readonly ruleId: string
    readonly kind: string
    readonly title: string
    readonly reason: string
    readonly client?: string
    readonly limit?: string
    readonly used?: string
    readonly left?: string
  }
}

/** A change that waits. */
interface WaitingChange {
  readonly id: string
  readonly effectiveAt: number
  readonly isRemoval: boolean
  readonly untrusted: { readonly ruleId: string; readonly kind?: string }
}

interface RulePage {
  readonly isGoverned: boolean
  readonly rules: readonly RuleRow[]
  readonly pending: readonly WaitingChange[]
  /** By how much the calendar is ahead of the time that counts, in milliseconds. */
  readonly clockLag?: number
  /** Why the rules cannot be read: then nothing is paid. */
  readonly untrusted: { readonly fault: string | null }
}

/** Actions about the rules of an account. */
export interface RuleActions {
  readonly 'policy.list': { readonly in: AccountRef; readonly out: RulePage }
}

const ruleRow = object<RuleRow>({
  outcome: oneOf('allows', 'does not apply', 'refuses', 'unreadable'),
  allowedAt: optional(about(time, 'When more is free')),
  untrusted: object<RuleRow['untrusted']>({
    ruleId: untrusted(),
    kind: untrusted(),
    title: untrusted(),
    reason: untrustedMessage,
    client: optional(untrusted()),
    limit: optional(untrusted()),
    used: optional(untrusted()),
    left: optional(untrusted())
  })
})

const ruleRowOf = ({ outcome, allowedAt, ...texts }: JudgedRule): RuleRow => ({
  outcome,
  ...compact({ allowedAt }),
  untrusted: texts
})

const otherRowOf = ({ id: ruleId, kind }: SpendRule): RuleRow => ({
  outcome: 'does not apply',
  untrusted: { ruleId, kind, title: `a rule of the kind ${kind}`, reason: 'it judges no payment' }
})

const waitingChange = object<WaitingChange>({
  id: about(id, 'Names the change, to cancel it'),
  effectiveAt: time,
  isRemoval: flag,
  untrusted: object<WaitingChange['untrusted']>({ ruleId: untrusted(), kind: optional(untrusted()) })
})

const waitingChangeOf = ({ id: changeId, ruleId, rule, effectiveAt }: PendingRuleChange): WaitingChange => ({
  ...{ id: changeId, effectiveAt, isRemoval: rule === null },
  untrusted: { ruleId, ...compact({ kind: rule?.kind }) }
})

/** The rules of an account about its payments. Changing them is left to the command line, which asks for the password. */
export const ruleActions: DeclarationsOf<RuleActions> = {
  'policy.list': {
    title: 'List the rules',
    summary:
      'Shows the rules of an account about its payments: what is used, what is left and when more is free, and the changes that wait.',
    effect: 'reads',
    input: accountRef,
    output: object<RulePage>({
      isGoverned: about(flag, 'False for an account without rules: it pays what its owner approves'),
      rules: list(ruleRow, 200),
      pending: list(waitingChange, 200),
      clockLag: optional(
        about(time, 'By how many milliseconds the calendar is ahead of the time that counts')
      ),
      untrusted: object<RulePage['untrusted']>({ fault: nullable(untrustedMessage) })
    }),
    async run(services, { accountId }) {
      const { policies } = accountOf(services, accountId)
      const { rules: all, pending, fault } = await policies.list()
      const { isGoverned, isAllowed, rules, clockLag, reason } = await policies.explain()
      // Without a verdict on any rule, as while a payment cannot be read, nothing is paid.
      const problem = fault ?? (isAllowed || rules.length > 0 ? null : (reason ?? null))
      // What judges no payment, such as a delay of changes, is a rule all the same.
      const others = all.filter(({ id: ruleId }) => !rules.some(each => each.ruleId === ruleId))
      return {
        isGoverned,
        rules: [...rules.map(ruleRowOf), ...others.map(otherRowOf)],
        pending: pending.map(waitingChangeOf),
        ...compact({ clockLag }),
        untrusted: { fault: problem }
      }
    },
    watch: (services, { accountId }, onChange) => accountOf(services, accountId).policies.onChange(onChange),
    changesAt: ({ rules, pending, clockLag = 0 }) => {
      const times = [
        ...rules.flatMap(({ allowedAt }) => allowedAt ?? []),
        ...pending.map(({ effectiveAt }) => effectiveAt)
      ]
      return times.length === 0 ? undefined : Math.min(...times) + clockLag
    },
    commandLine: ({ accountId }, names) => ({
      words: ['policy', 'explain'],
      flags: { account: names.accountFlagOf(accountId) }
    }),
    faces: {
      cli: { command: 'policy explain', own: 'it prints what the kernel says, with times as ISO texts' },
      panel: 'rules-panel',
      mcp: { none: 'the answer to a proposal names the rule, and when it would be allowed' }
    }
  }
}
