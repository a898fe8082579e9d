import { type NativeAmount, negate, ZERO } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import { Mutex } from '../base/mutex.ts'
import { isoOf } from '../base/time.ts'
import type { AccountRules, KeyRequest, PaymentReservation, ReservationFacts } from '../keys/key-gate.ts'
import type { Login } from '../login/login.ts'
import { pluginStore } from '../plugins/plugin-store.ts'
import type { Services } from '../plugins/services.ts'
import type { RateService } from '../rates/service.ts'
import { type BulkStore, storeBelow } from '../repo/store/bulk.ts'
import type { Repo } from '../sync/repo.ts'
import type { KeptCoins } from '../types/engine.ts'
import type { PluginId, WalletId } from '../types/ids.ts'
import type {
  CountedPayment,
  JudgedPayment,
  OtherKeyUse,
  PaidAmount,
  PolicyExplanation,
  PolicyListing,
  RuleContext,
  RuleVerdict,
  SeenByRule,
  SpendRule
} from '../types/policy.ts'
import type { Transaction } from '../types/transaction.ts'
import { paidAmountsOf } from '../wallet/spend/counted-payments.ts'
import { callTools } from '../wallet/tools.ts'
import { AccountClock } from './account-clock.ts'
import { AccountPayments } from './account-payments.ts'
import { PaymentWorth } from './payment-worth.ts'
import { QuietWallets } from './quiet-wallets.ts'
import {
  ALLOWED_WITHOUT_RULES,
  concerns,
  explanationOf,
  NO_RULE,
  NOT_ALLOWED,
  refused,
  UNREADABLE_RULES,
  unnamed
} from './rule-explanation.ts'
import { KEY_USES, LOOSENING_DELAY, RuleFile } from './rule-file.ts'
import type { SecondDevice } from './second-device.ts'
import type { AccountSettings } from './settings.ts'
import type { WalletList } from './wallet-list.ts'

/** The parts of an account that its rules need. */
export interface SpendRulesOptions {
  readonly services: Services
  /** The account's own repo. */
  readonly repo: Repo
  readonly book: Pick<WalletList, 'list'>
  readonly settings: Pick<AccountSettings, 'currencyConfig'>
  readonly rates: Pick<RateService, 'findRoute' | 'refresh' | 'want'>
  readonly login: Pick<Login, 'checkServer' | 'openState'>
}

/**
 * Judges the payments of an account by its rules. A payment is reserved in the journal of its wallet before it is judged, one
 * after another for the whole account, so that payments that are made at once see each other, also after a crash.
 *
 * A rule that refuses wins. Where a rule concerns a payment, one must allow it, and a payment that a program asks for needs one
 * that names the program. A rule without a verdict refuses, and so does everything that cannot be read.
 */
export class SpendRules implements AccountRules {
  readonly file: RuleFile
  readonly quiet: QuietWallets
  readonly payments: AccountPayments
  readonly #options: SpendRulesOptions
  readonly #store: BulkStore
  readonly #worth: PaymentWorth
  readonly #mutex = new Mutex()
  /** The reservations that were allowed, by correlation id; each opens keys once. */
  readonly #allowed = new Set<string>()
  readonly #listeners = new Set<() => void>()
  /** The uses that the password has allowed, each once, with the end of that by the monotonic clock. */
  readonly #grants = new Map<OtherKeyUse, number>()
  /** Those that an operation holds until it is over, by its correlation id. */
  readonly #held = new Map<string, OtherKeyUse>()
  #clock: AccountClock | undefined
  #secondDevice: Promise<SecondDevice> | undefined
  #blockTime = 0

  constructor(options: SpendRulesOptions) {
    const { services, repo } = options
    this.#options = options
    this.#worth = new PaymentWorth(options)
    this.#store = storeBelow(repo.local, 'policy/')
    this.file = new RuleFile(services, repo, this.#store, () => this.changed())
    this.quiet = new QuietWallets(storeBelow(this.#store, 'quiet/'), error =>
      services.report('account rules', error)
    )
    const store = storeBelow(this.#store, 'damage/')
    this.payments = new AccountPayments({ ...options, store, quiet: this.quiet, now: () => this.clock.now() })
  }

  /** The time of the account. */
  get clock(): AccountClock {
    if (this.#clock === undefined) {
      this.#clock = new AccountClock(this.#options.services.io.clock, storeBelow(this.#store, 'clock/'))
      this.#clock.sawBlockTime(this.#blockTime)
    }
    return this.#clock
  }

  now(): number {
    return this.clock.now()
  }

  sawBlockTime(at: number): void {
    this.#blockTime = Math.max(this.#blockTime, at)
    if (this.#clock === undefined) return
    const before = this.#clock.now()
    this.#clock.sawBlockTime(at)
    if (this.#clock.now() - before > NOTED_STEP_MS) this.changed()
  }

  /** Calls a listener when {@link read} or {@link explain} may say something else, until the returned function is called. */
  onChange(listener: () => void): () => void {
    // Of its own, so that one who listens twice may stop once.
    const own = (): void => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  changed(): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener()
      } catch (error) {
        this.#options.services.report('account rules', error)
      }
    }
  }

  /** Approvals by other devices; loaded when first needed, as most accounts have none. */
  secondDevice(): Promise<SecondDevice> {
    const { services, login } = this.#options
    const store = storeBelow(this.#store, 'device/')
    this.#secondDevice ??= import('./second-device.ts').then(
      module => new module.SecondDevice({ services, login, store, now: () => this.clock.now() })
    )
    return this.#secondDevice
  }

  /** Reads the rules. */
  async read(): Promise<PolicyListing> {
    return this.file.read(() => this.clock.now())
  }

  /** Returns true if the account has rules, or changes of them that wait, or some that cannot be read. */
  async hasAny(): Promise<boolean> {
    const { rules, pending, fault } = await this.read()
    return fault !== undefined || rules.length + pending.length > 0
  }

  /** Runs a task while no payment is judged. */
  exclusively<T>(task: () => Promise<T>): Promise<T> {
    return this.#mutex.run(task)
  }

  async reserve(
    payment: PaymentReservation,
    write: (facts: ReservationFacts) => Promise<void>
  ): Promise<void> {
    const { rules, fault } = await this.read()
    if (rules.length === 0 && fault === undefined && payment.requestedBy === undefined) return write({})
    await this.#mutex.run(async () => {
      const { startProblem: reason } = this.clock
      if (reason !== undefined)
        throw this.#refusal({ refusedBy: UNREADABLE_RULES, reason, rules: [] }, payment.correlationId)
      const countedAt = await this.clock.keep()
      await this.quiet.unmark(payment.walletId)
      await write({ countedAt })
      const { explanation, values } = await this.#explain({ payment, isTrial: false })
      if (!explanation.isAllowed) throw this.#refusal(explanation, payment.correlationId)
      if (Object.keys(values).length > 0) await write({ countedAt, values })
      if (payment.approval !== undefined) await (await this.secondDevice()).spend(payment)
      this.#allowed.add(payment.correlationId)
    })
  }

  keptCoins(pluginId: PluginId, outpoints: readonly string[]): Promise<KeptCoins> {
    return this.payments.keptCoins(pluginId, outpoints)
  }

  async check({ use, correlationId = '' }: KeyRequest): Promise<void> {
    if (use === 'sync' || use === 'draft' || use === 'broadcast') return
    if (use === 'spend' && this.#allowed.delete(correlationId)) return
    const { rules, fault } = await this.read()
    if (rules.length === 0 && fault === undefined) return
    if (fault === undefined && use !== 'spend') {
      if (rules.every(({ kind }) => kind === LOOSENING_DELAY)) return
      const isListed = rules.some(rule => rule.kind === KEY_USES && usesOf(rule)?.includes(use) === true)
      if (isListed || this.#takeHeld(use, correlationId) || this.#takeGrant(use)) return
    }
    const reason =
      fault ??
      (use === 'spend' ? 'the payment was not reserved' : `no rule allows the use of keys for: ${use}`)
    throw this.#refusal(
      { refusedBy: fault === undefined ? NO_RULE : UNREADABLE_RULES, reason, rules: [] },
      correlationId
    )
  }

  /** Allows one use of keys that begins within a minute, because the password was given. */
  grant(use: OtherKeyUse): void {
    this.#grants.set(use, this.#options.services.io.clock.monotonic() + GRANT_MS)
  }

  holdGrant(use: OtherKeyUse, correlationId: string): () => void {
    if (this.#takeGrant(use)) this.#held.set(correlationId, use)
    return () => void this.#held.delete(correlationId)
  }

  /** Says what the rules say of a payment, or without one how they stand; nothing is reserved or noted. */
  async explain(payment?: PaymentReservation, only?: readonly SpendRule[]): Promise<PolicyExplanation> {
    const { explanation } = await this.#mutex.run(() =>
      this.#explain({ payment, isTrial: true, ...compact({ only }) })
    )
    return explanation
  }

  async #explain({
    payment,
    isTrial,
    only
  }: {
    readonly payment?: PaymentReservation | undefined
    readonly isTrial: boolean
    readonly only?: readonly SpendRule[]
  }): Promise<{ readonly explanation: PolicyExplanation; readonly values: Record<string, string> }> {
    const values: Record<string, string> = {}
    const listing = await this.read()
    if (listing.fault !== undefined)
      return {
        values,
        explanation: refused({ refusedBy: UNREADABLE_RULES, reason: listing.fault, rules: [] })
      }
    const judged = payment === undefined ? undefined : await this.#judgedPayment(payment)
    const governing = (only ?? listing.rules).filter(
      ({ kind, client }) =>
        !OWN_KINDS.has(kind) && (judged === undefined || client === undefined || client === judged.client)
    )
    if (governing.length === 0)
      return {
        values,
        explanation: judged?.client === undefined ? ALLOWED_WITHOUT_RULES : refused(unnamed(judged.client))
      }
    const rules = governing.filter(rule => judged === undefined || concerns(rule, judged))
    if (rules.length === 0) return { values, explanation: refused(NOT_ALLOWED) }
    const unreadable = (reason: string) => ({
      ...{ values, explanation: refused({ refusedBy: UNREADABLE_RULES, reason, rules: [] }) }
    })
    let payments: readonly CountedPayment[] | undefined
    try {
      payments = await this.payments.count(isTrial ? payment : undefined)
    } catch (error) {
      this.#options.services.report('account rules', error)
      return unreadable((await this.payments.damageText(error)) ?? 'what the account has paid cannot be read')
    }
    if (payments === undefined)
      return unreadable('a wallet does not know yet what it has paid; it looks through its chain again')
    const approvedBy =
      payment?.approval === undefined ? undefined : (await this.secondDevice()).approverOf(payment)
    const verdicts = await this.#judge({ rules, payment: judged, approvedBy, payments, isTrial, values })
    const { lag } = this.clock
    const clockLag = lag < NOTED_LAG_MS ? undefined : lag
    return { values, explanation: { ...explanationOf(rules, verdicts, judged), ...compact({ clockLag }) } }
  }

  async #judgedPayment({ walletId, tx, requestedBy }: PaymentReservation): Promise<JudgedPayment> {
    const pluginId = this.#pluginOf(walletId)
    const targets = tx.spendTargets ?? []
    const payees = await Promise.all(
      targets.map(({ publicAddress }) =>
        publicAddress === '' ? '' : this.#payeeOf(pluginId, publicAddress).catch(() => '')
      )
    )
    return {
      walletId,
      pluginId,
      amounts: paidAmountsOf(pluginId, tx),
      payees: payees.length === 0 ? [''] : payees,
      ...compact({ client: requestedBy })
    }
  }

  #pluginOf(walletId: WalletId): PluginId {
    const found = this.#options.book.list().find(listing => listing.walletId === walletId)
    return found?.currencyInfo?.pluginId ?? ''
  }

  #payeeOf(pluginId: PluginId, address: string): Promise<string> {
    return callTools(this.#options.services, {
      pluginId,
      what: 'reading a payee',
      call: async tools => String((await tools.parseUri(address)).publicAddress)
    })
  }

  async #judge({
    rules,
    payment,
    approvedBy,
    payments,
    isTrial,
    values
  }: {
    readonly rules: readonly SpendRule[]
    readonly payment: JudgedPayment | undefined
    readonly approvedBy: string | undefined
    readonly payments: readonly CountedPayment[]
    readonly isTrial: boolean
    /** Receives what the payment is worth, where a rule needs it. */
    readonly values: Record<string, string>
  }): Promise<ReadonlyMap<string, RuleVerdict>> {
    const verdicts = new Map<string, RuleVerdict>()
    const known = new Set(rules.map(({ id }) => id))
    const facts = {
      rules: Object.freeze([...rules]),
      ...compact({ payment, approvedBy }),
      payments: Object.freeze([...payments]),
      lostPayments: Object.freeze([...this.payments.lost()]),
      now: this.clock.now(),
      calendar: this.#options.services.io.clock.now(),
      isTrial,
      unitsOf: (asset: Pick<PaidAmount, 'pluginId' | 'tokenId'>) => this.#worth.unitsOf(asset),
      valueOf: async (amounts: readonly PaidAmount[], fiatCode: string) => {
        const value = await this.#worth.valueOf(amounts, fiatCode)
        if (value !== undefined && amounts === payment?.amounts) values[fiatCode] = value
        return value
      },
      firstSeen: (ruleId: string, what: string) => this.#firstSeen(ruleId, what, isTrial),
      payeeOf: (pluginId: PluginId, address: string) => this.#payeeOf(pluginId, address),
      judge: (ruleId: string, given: RuleVerdict) => {
        const { outcome, ...rest } = given
        // What is no verdict refuses: it must not keep a stricter one away.
        const verdict: RuleVerdict = {
          ...rest,
          outcome: Object.hasOwn(RANK, outcome) ? outcome : 'unreadable'
        }
        if (known.has(ruleId) && isStricter(verdict, verdicts.get(ruleId)))
          verdicts.set(ruleId, Object.freeze(verdict))
      }
    }
    await this.#options.services.hooks.judgeRules.promise({
      contextFor: (pluginId): RuleContext =>
        Object.freeze({
          ...facts,
          store: pluginStore(storeBelow(this.#store, `plugin/${pluginId}/`), pluginId)
        })
    })
    // A device does not approve its own payments.
    for (const [ruleId, { approvers, ...verdict }] of verdicts) {
      if (approvers === undefined) continue
      const { key: own } = await this.secondDevice()
      verdicts.set(ruleId, { ...verdict, approvers: approvers.filter(({ key }) => key !== own) })
    }
    return verdicts
  }

  /** Notes what a rule has not seen yet, and returns when it first saw it. */
  async #firstSeen(ruleId: string, what: string, isTrial: boolean): Promise<number | undefined> {
    const key = `seen/${ruleId}/${what}`
    const known = this.#store.get(key)
    const now = this.clock.now()
    if (known !== undefined) return Number(known)
    if (isTrial) return now
    if ([...this.#store.entries(`seen/${ruleId}/`)].length >= MAX_SEEN) return undefined
    await this.#store.write(new Map([[key, String(now)]]))
    return now
  }

  /** Lists what rules have seen on this device, such as payees that wait or are known. */
  seen(): readonly SeenByRule[] {
    return [...this.#store.entries('seen/')].map(([key, text]) => {
      const [, ruleId = '', ...what] = key.split('/')
      return { ruleId, what: what.join('/'), at: Number(text) }
    })
  }

  /** Makes a rule forget what it has seen: it is new again. */
  async forgetSeen({ ruleId, what }: Pick<SeenByRule, 'ruleId' | 'what'>): Promise<void> {
    await this.#store.write(new Map([[`seen/${ruleId}/${what}`, null]]))
  }

  #takeHeld(use: OtherKeyUse, correlationId: string): boolean {
    return this.#held.get(correlationId) === use && this.#held.delete(correlationId)
  }

  #takeGrant(use: OtherKeyUse): boolean {
    const until = this.#grants.get(use)
    this.#grants.delete(use)
    return until !== undefined && until >= this.#options.services.io.clock.monotonic()
  }

  #refusal(
    {
      refusedBy = NO_RULE,
      reason = 'no rule of the account allows it',
      allowedAt
    }: Pick<PolicyExplanation, 'allowedAt' | 'reason' | 'refusedBy' | 'rules'>,
    correlationId: string
  ): WalletError {
    const { services } = this.#options
    const until = allowedAt === undefined ? undefined : isoOf(allowedAt)
    const hint = until === undefined ? '' : `; allowed from ${until} on`
    services.logOf('rules').warn(`Refused ${correlationId}: rule "${refusedBy}", ${reason}${hint}`)
    return new WalletError('SIGN_REFUSED', {
      ...{ pluginId: 'account', reason: `rule "${refusedBy}": ${reason}`, refusedBy: 'account' },
      ...{ rule: refusedBy, ...compact({ allowedAt: until }) }
    })
  }
}

/** The pseudo transaction of a payment that nobody has drafted. */
export const hypotheticalPayment = ({
  walletId,
  tokenId,
  nativeAmount: amount,
  payee,
  requestedBy
}: {
  readonly walletId: WalletId
  readonly tokenId: string | null
  readonly nativeAmount: NativeAmount
  readonly payee: string
  readonly requestedBy?: string | undefined
}): PaymentReservation => {
  const tx = {
    ...{ walletId, tokenId, txid: '', nativeAmount: negate(amount), networkFee: ZERO },
    spendTargets: [{ currencyCode: '', publicAddress: payee, nativeAmount: amount }]
  }
  return { walletId, correlationId: TRIAL, tx: tx as unknown as Transaction, requestedBy }
}

const TRIAL = 'trial'
const OWN_KINDS: ReadonlySet<string> = new Set([KEY_USES, LOOSENING_DELAY])
/** A further policy can only make a rule stricter: what one says does not apply, no other makes allow. */
const RANK = { allows: 0, 'does not apply': 1, refuses: 2, unreadable: 3 } as const

/** A refusal that no device can lift is stricter than one that a second device can. */
const isStricter = (verdict: RuleVerdict, before: RuleVerdict | undefined): boolean => {
  if (before === undefined || RANK[verdict.outcome] > RANK[before.outcome]) return true
  if (RANK[verdict.outcome] < RANK[before.outcome]) return false
  return before.approvers !== undefined && verdict.approvers === undefined
}
const MAX_SEEN = 1000
/** The time moved by a block, which no timer foresaw. */
const NOTED_STEP_MS = 1000
const NOTED_LAG_MS = 10 * 60_000
const GRANT_MS = 60_000

/** The uses that a rule allows; undefined for a rule that cannot be read. */
const usesOf = ({ uses }: SpendRule): readonly unknown[] | undefined =>
  Array.isArray(uses) ? uses : undefined
