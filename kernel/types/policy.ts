import type { AmountUnits, NativeAmount } from '../base/amount.ts'
import type { Json } from '../base/json.ts'
import type { EngineStore } from './engine.ts'
import type { PluginId, TokenId, Txid, WalletId } from './ids.ts'
import type { KeyUse } from './snapshots.ts'

/**
 * A rule about the payments of an account, as the account keeps it. The policy plugin that knows its `kind` judges it, and
 * reads its other fields; a rule that no plugin reads refuses every payment.
 *
 * @example
 * ```ts
 * import type { SpendRule } from 'holdfast'
 *
 * const daily: SpendRule = { id: 'daily', kind: 'rolling', asset: 'bitcoin', max: '1000000', hours: 24 }
 * ```
 */
export interface SpendRule {
  /** Letters, digits, `-` and `_`. */
  readonly id: string
  readonly kind: string
  /** The asset whose payments it is about: the id of a currency plugin, or that, `/` and a token id. Left out: every asset. */
  readonly asset?: string
  /** The program whose payments it is about. Left out: payments of everyone. */
  readonly client?: string
  readonly [field: string]: Json | undefined
}

/** An amount of one asset that leaves the account, fees included. */
export interface PaidAmount {
  readonly pluginId: PluginId
  /** null: the chain's own coin. */
  readonly tokenId: TokenId | null
  readonly nativeAmount: NativeAmount
}

/**
 * A payment that counts against budgets: reserved, open or confirmed. Payments of which at most one can be mined count
 * once, as the highest of them.
 */
export interface CountedPayment {
  readonly walletId: WalletId
  /** The txids of its forms; none before it is signed. */
  readonly txids: readonly Txid[]
  /**
   * True until it is confirmed: it counts in every window, since it can be mined at any time. Only the chain ends that.
   */
  readonly isOpen: boolean
  /** When it was reserved, or its block time if that is later; milliseconds since 1970. */
  readonly at: number
  /** The programs that asked for it. */
  readonly clients: readonly string[]
  readonly amounts: readonly PaidAmount[]
  /** Its worth when it was reserved, decimal text by fiat code; only of those that a rule needed. */
  readonly values: Readonly<Record<string, string>>
}

/** The payment that is judged. */
export interface JudgedPayment {
  readonly walletId: WalletId
  readonly pluginId: PluginId
  readonly amounts: readonly PaidAmount[]
  /** In the one form that the currency writes; '' stands for an output without an address. */
  readonly payees: readonly string[]
  /** The program that asks for it; absent if a person does. */
  readonly client?: string
}

/** A device that may approve payments. */
export interface ApprovingDevice {
  /** For people. */
  readonly name: string
  /** The public key that it approves with, in hex. */
  readonly key: string
}

/** The signed yes of a second device to one draft. Good once, until it ends. */
export interface PaymentApproval {
  readonly lobbyId: string
  /** The public key of the device that approves, in hex. */
  readonly key: string
  /** Milliseconds since 1970. */
  readonly endsAt: number
  /** BIP 340, in hex. */
  readonly signature: string
}

/** The verdict on one rule, with the figures behind it as texts for a person. */
export interface RuleVerdict {
  /** `unreadable` refuses too. Without a payment to judge: `does not apply`. */
  readonly outcome: 'allows' | 'does not apply' | 'refuses' | 'unreadable'
  /** The rule as a clause, such as `at most 0.01 BTC in 24 hours`. */
  readonly title: string
  /** The reason, as a clause. */
  readonly reason: string
  /** When the same payment would be allowed if nothing else is paid; milliseconds since 1970. */
  readonly allowedAt?: number
  /** Of a refusal: the devices of which any can make it allowed. */
  readonly approvers?: readonly ApprovingDevice[]
  readonly limit?: string
  readonly used?: string
  readonly left?: string
}

/**
 * Everything that a policy plugin needs to judge the rules of an account; made by the kernel for each plugin.
 *
 * @example
 * ```ts
 * import type { PolicyPlugin } from 'holdfast/plugin'
 *
 * export const notToday: PolicyPlugin = {
 *   kind: 'policy',
 *   id: 'not-today',
 *   apply: ({ hooks }) =>
 *     hooks.judgeRules.tapPromise('not-today', async ({ rules, judge }) => {
 *       for (const { id, kind } of rules)
 *         if (kind === 'not-today') judge(id, { outcome: 'refuses', title: 'not today', reason: 'it is today' })
 *     })
 * }
 * ```
 */
export interface RuleContext {
  /** The rules in effect that concern the payment or, without one, all. */
  readonly rules: readonly SpendRule[]
  /** Absent if only the state of the rules is wanted. */
  readonly payment?: JudgedPayment
  /** The public key of the other device that has approved the payment, in hex, if one has. */
  readonly approvedBy?: string
  /** The payments of the last eight days and the judged one, of every wallet of the account. */
  readonly payments: readonly CountedPayment[]
  /**
   * Payments that `payments` may lack, because damage has cost them and a person has set them aside. Nobody knows what they paid: in
   * the window after each of them a limit counts as used up.
   */
  readonly lostPayments: readonly LostPayment[]
  /**
   * The time of the account, in milliseconds since 1970: it never goes back, also across restarts, and a clock that was set
   * forward does not move it.
   */
  readonly now: number
  /** The calendar of the device, in milliseconds since 1970, which can be wrong: a time of day must fit it as well. */
  readonly calendar: number
  /** True if nothing is about to be paid, so that nothing may be noted. */
  readonly isTrial: boolean
  /** The plugin's own durable texts for this account, encrypted, on this device only. */
  readonly store: EngineStore
  /** Returns the names and units of an asset. */
  unitsOf(asset: Pick<PaidAmount, 'pluginId' | 'tokenId'>): AmountUnits | undefined
  /** Returns the worth of amounts at the highest fresh rate, as decimal text; undefined if one has no fresh rate. */
  valueOf(amounts: readonly PaidAmount[], fiatCode: string): Promise<string | undefined>
  /** Writes an address in the one form of its currency. @throws ADDRESS_INVALID */
  payeeOf(pluginId: PluginId, address: string): Promise<string>
  /**
   * Returns when something was first presented to a rule, such as a payee, in milliseconds since 1970: now, if it never was. That
   * is noted on this device unless the judgement is a trial. Undefined if too much is noted already.
   */
  firstSeen(ruleId: string, what: string): Promise<number | undefined>
  /** Gives the verdict on a rule. A rule gets the strictest of its verdicts. */
  judge(ruleId: string, verdict: RuleVerdict): void
}

/** A payment that cannot be read any more. It was reserved at this time or before. */
export interface LostPayment {
  readonly walletId: WalletId
  readonly pluginId: PluginId
  /** Milliseconds since 1970, by the time of the account. */
  readonly at: number
}

/** An entry of the spend journal of a wallet that cannot be read: until it is set aside, an account with rules pays nothing. */
export interface DamagedEntry {
  readonly walletId: WalletId
  readonly entry: string
  /** When the rules first met it, in milliseconds since 1970, by the time of the account. */
  readonly noticedAt: number
}

/** A rule with its verdict. */
export interface JudgedRule extends RuleVerdict {
  readonly ruleId: string
  readonly kind: string
  readonly client?: string
}

/** What the rules of an account say, of a payment or of their state. */
export interface PolicyExplanation {
  /** False if no rule concerns the payment: then it needs none. */
  readonly isGoverned: boolean
  readonly isAllowed: boolean
  /** True if it is allowed and a rule that names the requesting program allows it. */
  readonly isAllowedByName: boolean
  /** Of a refusal: the rule, `no rule` if none allows it, or `rules unreadable`. */
  readonly refusedBy?: string
  readonly reason?: string
  /** When it would be allowed, in milliseconds since 1970, if waiting helps. */
  readonly allowedAt?: number
  /** The other devices of which any could make it allowed, if one could: see `requestApproval`. */
  readonly approvers?: readonly ApprovingDevice[]
  readonly rules: readonly JudgedRule[]
  /**
   * By how much the calendar of the device is ahead of the time that counts, in milliseconds: windows and hours wait for a block
   * that confirms the later time. Absent below ten minutes.
   */
  readonly clockLag?: number
}

/** A change of the rules that waits. */
export interface PendingRuleChange {
  readonly id: string
  readonly ruleId: string
  /** null removes the rule. */
  readonly rule: SpendRule | null
  /** Milliseconds since 1970. */
  readonly effectiveAt: number
}

/** Something that was presented to a rule, such as a new payee, and may wait. */
export interface SeenByRule {
  readonly ruleId: string
  /** Such as `bitcoin:bc1q…`. */
  readonly what: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The rules of an account. */
export interface PolicyListing {
  readonly rules: readonly SpendRule[]
  readonly pending: readonly PendingRuleChange[]
  /** Why they cannot be read; then nothing is paid. */
  readonly fault?: string
}

/** The uses of keys, besides payments, that a rule can allow. */
export type OtherKeyUse = Exclude<KeyUse, 'broadcast' | 'draft' | 'spend' | 'sync'>
