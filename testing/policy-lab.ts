import {
  type AmountUnits,
  type CountedPayment,
  compact,
  type EngineStore,
  type JsonObject,
  type JudgedPayment,
  type LostPayment,
  type QuoteSnapshot,
  type RuleContext,
  type RuleVerdict,
  type SpendRule,
  type SpendSnapshot
} from '../kernel/plugin-api.ts'
import { callTaps, type PluginLab, type PluginLabOptions } from './plugin-lab.ts'
import { sampleSpend } from './sample-events.ts'

/** A use of private keys that a policy lets pass; fields that are left out are those of a spend of 0.01 BTC. */
export interface AllowedSpend {
  readonly name: string
  readonly spend: Partial<SpendSnapshot>
  /** As an application gives them in `pluginOptions`; those of the suite if left out. */
  readonly options?: JsonObject
}

/** A use of private keys that it stops. */
export interface RefusedSpend extends AllowedSpend {
  /** The reason in the error; any if left out. */
  readonly reason?: string
}

/** Rules of an account, and the verdicts on them. */
export interface RuleCase {
  readonly name: string
  readonly rules: readonly SpendRule[]
  /** Left out: only the state of the rules is wanted. */
  readonly payment?: JudgedPayment
  readonly payments?: readonly CountedPayment[]
  /** Those that damage has cost; none if left out. */
  readonly lostPayments?: readonly LostPayment[]
  /** The time of the account and of the calendar, in milliseconds since 1970; 1 January 2026 if left out. */
  readonly now?: number
  readonly calendar?: number
  readonly approvedBy?: string
  /** What every amount is worth, as decimal text; without it there is no rate. */
  readonly value?: string
  /** When a payee was first seen, in milliseconds since 1970; now, for others. */
  readonly firstSeen?: Readonly<Record<string, number>>
  /** The outcome for each rule by its id; null for a rule that this policy leaves to others. */
  readonly verdicts: Readonly<Record<string, RuleVerdict['outcome'] | null>>
}

/** A list of quotes, and the order in which a policy puts them. */
export interface RankCase {
  readonly name: string
  readonly quotes: readonly QuoteSnapshot[]
  /** The plugin ids of the quotes, best first. */
  readonly ranked: readonly string[]
}

/** A policy with its cases, for the checks. */
export interface PolicySubject {
  readonly rules: readonly RuleCase[]
  readonly allowed: readonly AllowedSpend[]
  readonly options: JsonObject
  open(more?: PluginLabOptions): PluginLab
  use(lab: PluginLab): Promise<unknown>
}

/** The time that the kernel gives a policy. */
const POLICY_MS = 30_000

/** Presents a use of private keys to a policy, as the kernel does. @returns what it throws */
export const presentSpend = async (
  lab: PluginLab,
  change: Partial<SpendSnapshot>,
  wrap: (spend: SpendSnapshot) => SpendSnapshot = Object.freeze
): Promise<{ readonly error: unknown; readonly isLate: boolean }> => {
  const spend = wrap({ ...sampleSpend, ...change })
  const { error, isLate } = await lab.wait(callTaps(lab, lab.hooks.beforeSign, [spend]), POLICY_MS)
  return { error, isLate }
}

/** What a policy has said of some rules. */
export interface JudgedRules {
  readonly verdicts: ReadonlyMap<string, RuleVerdict>
  readonly error: unknown
  readonly isLate: boolean
  /** How often it wrote to its store. */
  readonly writeCount: number
}

/** Lets a policy judge the rules of a case, as the kernel does. */
export const judgeRules = async (
  lab: PluginLab,
  { rules, payment, payments, ...about }: RuleCase,
  { isTrial = payment === undefined }: { readonly isTrial?: boolean } = {}
): Promise<JudgedRules> => {
  const now = about.now ?? Date.UTC(2026, 0, 1)
  const verdicts = new Map<string, RuleVerdict>()
  const { store, writeCount } = countingStore()
  const context: RuleContext = {
    rules,
    ...compact({ payment, approvedBy: about.approvedBy }),
    payments: payments ?? (payment === undefined ? [] : [judgedItself(payment, now)]),
    lostPayments: about.lostPayments ?? [],
    now,
    calendar: about.calendar ?? now,
    isTrial,
    store,
    unitsOf: ({ pluginId, tokenId }) => (tokenId === null ? UNITS[pluginId] : undefined),
    valueOf: async () => about.value,
    payeeOf: async (_pluginId, address) => address,
    firstSeen: async (_ruleId, what) => {
      const [, payee = what] = what.split(/:(.*)/s)
      return about.firstSeen?.[payee] ?? now
    },
    judge: (ruleId, verdict) => void verdicts.set(ruleId, verdict)
  }
  const { error, isLate } = await lab.wait(callTaps(lab, lab.hooks.judgeRules, [context]), POLICY_MS)
  return { verdicts, error, isLate, writeCount: writeCount() }
}

/** The judged payment is counted among the others. */
const judgedItself = ({ walletId, amounts, client }: JudgedPayment, at: number): CountedPayment => ({
  ...{ walletId, txids: [], isOpen: true, at, amounts, values: {} },
  clients: client === undefined ? [] : [client]
})

const countingStore = (): { readonly store: EngineStore; writeCount(): number } => {
  const texts = new Map<string, string>()
  let count = 0
  return {
    writeCount: () => count,
    store: {
      get: key => texts.get(key),
      entries: prefix => [...texts].filter(([key]) => key.startsWith(prefix)),
      async write(changes) {
        count += 1
        for (const [key, text] of changes) {
          if (text === null) texts.delete(key)
          else texts.set(key, text)
        }
      }
    }
  }
}

const UNITS: Readonly<Record<string, AmountUnits>> = {
  bitcoin: {
    ...{ currencyCode: 'BTC', displayName: 'Bitcoin' },
    denominations: [{ name: 'BTC', multiplier: '100000000' }]
  },
  litecoin: {
    ...{ currencyCode: 'LTC', displayName: 'Litecoin' },
    denominations: [{ name: 'LTC', multiplier: '100000000' }]
  }
}
