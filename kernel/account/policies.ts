import { compare, isNativeAmount, type NativeAmount, nativeAmount } from '../base/amount.ts'
import { allowTexts, requireObject, requireObjects, requireTexts, requireTokenId } from '../base/arguments.ts'
import { copyData, FORBIDDEN_KEYS } from '../base/copy-data.ts'
import { WalletError } from '../base/errors.ts'
import { isSameJson } from '../base/json.ts'
import type { Services } from '../plugins/services.ts'
import type { TokenId, WalletId } from '../types/ids.ts'
import type {
  DamagedEntry,
  OtherKeyUse,
  PolicyExplanation,
  PolicyListing,
  SeenByRule,
  SpendRule
} from '../types/policy.ts'
import type { Transaction } from '../types/transaction.ts'
import type { Credentials } from './credentials.ts'
import { UNREADABLE_RULES } from './rule-explanation.ts'
import { KEY_USES, LOOSENING_DELAY, RULES_PATH } from './rule-file.ts'
import type { ApprovalQuestion, ApprovalRequest } from './second-device.ts'
import { hypotheticalPayment, type SpendRules } from './spend-rules.ts'

/** The parts of a login that its policies need. */
export interface PoliciesOptions {
  readonly services: Services
  readonly rules: SpendRules
  readonly credentials: Pick<Credentials, 'checkPassword' | 'checkPIN' | 'hasPassword'>
  /** @throws LOGGED_OUT */
  check(): void
}

/** The proof that a change of rules may loosen them. */
export interface RuleChangeOptions {
  /** The password of the account; needed unless the change can only refuse more. */
  readonly password?: string | undefined
}

/** A payment that has not been drafted. */
export interface HypotheticalPayment {
  readonly walletId: WalletId
  readonly tokenId: TokenId | null
  readonly nativeAmount: NativeAmount
  readonly payee: string
  readonly requestedBy?: string | undefined
}

/** Options of {@link Policies.requestApproval}. */
export interface ApprovalRequestOptions {
  readonly requestedBy?: string | undefined
  readonly timeoutSeconds?: number | undefined
}

/** The password or the PIN of the account, as the person types it now. */
export interface OwnerProof {
  readonly password?: string | undefined
  readonly pin?: string | undefined
}

/**
 * The payment of another device of the account, for a person to judge by its draft.
 *
 * @example
 * ```ts
 * const question = await account.policies.fetchApproval('5JEbCbVkVWHbXU')
 * console.log(question.tx.spendTargets, question.requestedBy ?? 'a person')
 * await question.approve({ pin: '2468' })
 * ```
 */
export interface PaymentQuestion extends Omit<ApprovalQuestion, 'reply'> {
  /** Approves exactly this draft. @throws PASSWORD for a wrong password or PIN; LOBBY_NOT_FOUND, NETWORK, LOGGED_OUT */
  approve(proof: OwnerProof): Promise<void>
  /** Refuses it. @throws LOBBY_NOT_FOUND, NETWORK, LOGGED_OUT */
  refuse(): Promise<void>
}

/**
 * The rules of an account about its payments. An account without rules pays as its user wants. With rules, every payment that
 * one concerns must be allowed by one and refused by none.
 *
 * A change that can only refuse more takes effect at once. Every other one needs the password, and waits as long as the rule of
 * kind `loosening-delay` says, if there is one; a new rule of that kind needs the password, and does not wait.
 *
 * @example
 * ```ts
 * const { policies } = account
 * await policies.add({ id: 'daily', kind: 'rolling', asset: 'bitcoin', max: '1000000', hours: 24 })
 * for (const { ruleId, reason, left } of (await policies.explain()).rules) console.log(ruleId, reason, left)
 * ```
 */
export class Policies {
  readonly #options: PoliciesOptions

  constructor(options: PoliciesOptions) {
    this.#options = options
  }

  /** Returns the rules in effect, and the changes that wait. */
  async list(): Promise<PolicyListing> {
    this.#options.check()
    return this.#options.rules.read()
  }

  /**
   * Calls a listener when a rule, a change that waits, or a payment that counts may have changed, here or by a sync; until the
   * returned function is called. That time passes is not reported.
   *
   * @example
   * ```ts
   * const stop = account.policies.onChange(async () => console.log((await account.policies.explain()).rules))
   * ```
   */
  onChange(listener: () => void): () => void {
    const { rules, check } = this.#options
    check()
    return rules.onChange(listener)
  }

  /**
   * Adds a rule, or replaces the rule of its id, on all devices.
   *
   * @returns when it takes effect, in milliseconds since 1970; undefined if it is in effect
   * @throws OPTION_INVALID for a rule that no policy plugin can read, or one too many; POLICY_PASSWORD, PASSWORD, CORRUPT_FILE, STORAGE_FULL, …
   *
   * @example
   * ```ts
   * const payees = ['bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080']
   * await account.policies.add({ id: 'shops', kind: 'allow-list', asset: 'bitcoin', payees }, { password: 'a password' })
   * ```
   */
  async add(given: SpendRule, options: RuleChangeOptions = {}): Promise<number | undefined> {
    const { rules, check } = this.#options
    check()
    const rule = checkRule(given)
    checkProof(options)
    const { fault } = await rules.read()
    if (fault !== undefined) throw new WalletError('CORRUPT_FILE', { path: RULES_PATH, rule: fault })
    await this.#requireReadable(rule)
    return rules.exclusively(async () => {
      const present = await rules.read()
      checkRoom(rule, present)
      return this.#change({ ruleId: rule.id, rule }, proofOf(rule, present), options)
    })
  }

  /** Removes a rule. @returns as {@link add} @throws OPTION_INVALID if there is none; as {@link add} */
  async remove(ruleId: string, options: RuleChangeOptions = {}): Promise<number | undefined> {
    const { rules, check } = this.#options
    check()
    requireTexts({ ruleId })
    checkProof(options)
    return rules.exclusively(async () => {
      const present = await rules.read()
      if (present.fault === undefined && !present.rules.some(({ id }) => id === ruleId))
        throw new WalletError('OPTION_INVALID', { option: 'ruleId', rule: 'is of no rule of the account' })
      return this.#change({ ruleId, rule: null }, 'password, and waits', options)
    })
  }

  /**
   * Begins anew without rules, if those that there are cannot be read: until then nothing is paid. Needs the password, and waits
   * for nothing, since nobody knows what the rules said. Sync first: the server may have them.
   *
   * @throws OPTION_INVALID if they can be read; PASSWORD, POLICY_PASSWORD, STORAGE_FULL, STORAGE_FAILED
   */
  async reset(options: RuleChangeOptions): Promise<void> {
    const { rules, check, services } = this.#options
    check()
    const password = checkProof(options)
    if (password === undefined) throw new WalletError('POLICY_PASSWORD', { rule: 'rules unreadable' })
    await this.#checkPassword(password)
    await rules.exclusively(async () => {
      if ((await rules.read()).fault === undefined)
        throw new WalletError('OPTION_INVALID', {
          option: 'rules',
          rule: 'can be read, so that each can be removed'
        })
      await rules.file.reset()
    })
    services.logOf('rules').warn('The rules could not be read, and were reset by password')
  }

  /**
   * Lists the entries of spend journals that cannot be read: until they are set aside, an account with rules pays nothing.
   *
   * @example
   * ```ts
   * for (const { walletId, noticedAt } of await account.policies.damaged()) console.log(walletId, new Date(noticedAt))
   * ```
   */
  async damaged(): Promise<readonly DamagedEntry[]> {
    const { rules, check } = this.#options
    check()
    return rules.exclusively(() => rules.payments.damaged())
  }

  /**
   * Sets damaged entries aside, so that the account can pay. Nobody knows what they paid: every limit over a window that may concern
   * them counts as used up until the window after `noticedAt` has passed. Look at the chain first: the payment may have left.
   *
   * @throws OPTION_INVALID for what is not among {@link damaged}; PASSWORD, POLICY_PASSWORD, STORAGE_FULL, STORAGE_FAILED
   *
   * @example
   * ```ts
   * const { policies } = account
   * await policies.setAside(await policies.damaged(), { password: 'a password' })
   * ```
   */
  async setAside(entries: readonly DamagedEntry[], options: RuleChangeOptions): Promise<void> {
    const { rules, check, services } = this.#options
    check()
    const password = checkProof(options)
    requireObjects('entries', entries)
    for (const { walletId, entry } of entries) requireTexts({ walletId, entry })
    if (password === undefined) throw new WalletError('POLICY_PASSWORD', { rule: UNREADABLE_RULES })
    await this.#checkPassword(password)
    await rules.exclusively(async () => {
      await rules.clock.keep()
      await rules.payments.setAside(entries)
    })
    rules.changed()
    services.logOf('rules').warn(`${entries.length} damaged payments were set aside by password`)
  }

  /** Drops a change that waits. @throws OPTION_INVALID if there is none */
  async cancel(id: string): Promise<void> {
    const { rules, check } = this.#options
    check()
    requireTexts({ id })
    await rules.exclusively(() => rules.file.cancel(id, () => rules.clock.now()))
  }

  /**
   * Says what the rules say of a draft: each rule with the figures behind it. Without a draft: how each rule stands. Show it
   * before a person agrees; nothing is reserved.
   *
   * @example
   * ```ts
   * import type { Transaction } from 'holdfast'
   *
   * declare const draft: Transaction
   * const { isAllowed, refusedBy, reason } = await account.policies.explain(draft)
   * if (!isAllowed) console.log(`${refusedBy}: ${reason}`)
   * ```
   */
  async explain(
    draft?: Transaction,
    options: Pick<ApprovalRequestOptions, 'requestedBy'> = {}
  ): Promise<PolicyExplanation> {
    const { rules, check } = this.#options
    check()
    requireObject('options', options)
    const { requestedBy } = options
    allowTexts({ requestedBy })
    if (draft === undefined) return rules.explain()
    checkDraft(draft)
    return rules.explain({ walletId: draft.walletId, correlationId: 'trial', tx: draft, requestedBy })
  }

  /** Says what the rules would say of a payment that has not been drafted; its fee counts as 0. */
  async test(payment: HypotheticalPayment): Promise<PolicyExplanation> {
    const { rules, check } = this.#options
    check()
    requireObject('payment', payment)
    const { walletId, tokenId, nativeAmount: amount, payee, requestedBy } = payment
    requireTexts({ walletId, payee, nativeAmount: amount })
    requireTokenId(tokenId)
    allowTexts({ requestedBy })
    return rules.explain(hypotheticalPayment({ ...payment, nativeAmount: nativeAmount(amount) }))
  }

  /**
   * Allows one use of keys that no rule allows, such as showing them, if it begins within the next minute. A sweep may take longer.
   *
   * @throws PASSWORD; SIGN_REFUSED while a rule makes loosening wait: then only a rule can allow it
   */
  async allowOnce(use: OtherKeyUse, password: string): Promise<void> {
    const { rules, check } = this.#options
    check()
    await this.#checkPassword(password)
    const { rules: present, fault } = await rules.read()
    const delay = present.find(({ kind }) => kind === LOOSENING_DELAY)
    if (fault !== undefined || delay !== undefined)
      throw new WalletError('SIGN_REFUSED', {
        ...{ pluginId: 'account', refusedBy: 'account', rule: delay?.id ?? 'rules unreadable' },
        reason: fault ?? `rule "${delay?.id}": a loosening waits, so that only a rule can allow: ${use}`
      })
    rules.grant(use)
  }

  /**
   * Returns the public key with which this device approves payments of other devices, for a rule of kind `second-device`. Its
   * private key stays on this device.
   */
  async device(): Promise<string> {
    this.#options.check()
    return (await this.#options.rules.secondDevice()).ensureKey()
  }

  /**
   * Asks another device of the account to approve a draft that only that keeps from being paid: see `approvers` of
   * {@link explain}. Show the id of its lobby to the person, and pay with the answer.
   *
   * @param options.timeoutSeconds - up to a day; 600 if left out
   * @throws OPTION_INVALID if no device can make it allowed, or the draft is too long; NETWORK, LOGGED_OUT, STORAGE_FULL
   *
   * @example
   * ```ts
   * import type { Transaction } from 'holdfast'
   *
   * declare const draft: Transaction
   * const request = await account.policies.requestApproval(draft)
   * console.log(`holdfast policy approve ${request.lobbyId}`)
   * await wallet.spend(draft, { approval: await request.answer })
   * ```
   */
  async requestApproval(draft: Transaction, options: ApprovalRequestOptions = {}): Promise<ApprovalRequest> {
    const { rules, check } = this.#options
    check()
    checkDraft(draft)
    requireObject('options', options)
    const { requestedBy, timeoutSeconds } = options
    if (timeoutSeconds !== undefined && !Number.isFinite(timeoutSeconds))
      throw new WalletError('OPTION_INVALID', { option: 'timeoutSeconds', rule: 'must be a number' })
    const { approvers, refusedBy = '' } = await this.explain(draft, { requestedBy })
    if (approvers === undefined)
      throw new WalletError('OPTION_INVALID', { option: 'draft', rule: 'waits for no other device' })
    const payment = { walletId: draft.walletId, tx: draft, requestedBy }
    return (await rules.secondDevice()).request(payment, { approvers, rule: refusedBy, timeoutSeconds })
  }

  /** Reads the payment that another device of the account asks about. @throws LOBBY_NOT_FOUND, LOBBY_INTEGRITY, BOGUS_TX, NETWORK */
  async fetchApproval(lobbyId: string): Promise<PaymentQuestion> {
    const { rules, check } = this.#options
    check()
    requireTexts({ lobbyId })
    const { reply, ...question } = await (await rules.secondDevice()).fetch(lobbyId)
    return Object.freeze({
      ...question,
      approve: async ({ password, pin }: OwnerProof) => {
        if (password !== undefined) await this.#checkPassword(password)
        else if (pin === undefined || !(await this.#options.credentials.checkPIN(pin)))
          throw new WalletError('PASSWORD', {})
        await reply(true)
      },
      refuse: () => reply(false)
    })
  }

  /** Lists what rules have seen on this device, such as new payees: those that wait, and those that are known by now. */
  seen(): readonly SeenByRule[] {
    this.#options.check()
    return this.#options.rules.seen()
  }

  /** Makes a rule forget a payee that it has seen: a payment to it waits again. */
  async forgetSeen(seen: Pick<SeenByRule, 'ruleId' | 'what'>): Promise<void> {
    const { rules, check } = this.#options
    check()
    requireObject('seen', seen)
    const { ruleId, what } = seen
    requireTexts({ ruleId, what })
    await rules.exclusively(() => rules.forgetSeen({ ruleId, what }))
  }

  async #change(
    change: { readonly ruleId: string; readonly rule: SpendRule | null },
    proof: ChangeProof,
    { password }: RuleChangeOptions
  ): Promise<number | undefined> {
    const { rules, services } = this.#options
    const now = (): number => rules.clock.now()
    const { startProblem } = rules.clock
    if (startProblem !== undefined && change.rule !== null)
      throw new WalletError('OPTION_INVALID', { option: 'rule', rule: `cannot begin: ${startProblem}` })
    if (startProblem === undefined) await rules.clock.keep()
    const log = services.logOf('rules')
    const what = `${change.rule === null ? 'Removal' : 'Change'} of the rule "${change.ruleId}"`
    if (proof === 'none') {
      await rules.file.apply(change, now)
      log.info(`${what}: in effect`)
      return undefined
    }
    if (password === undefined) throw new WalletError('POLICY_PASSWORD', { rule: change.ruleId })
    await this.#checkPassword(password)
    const delayMs = Math.max(0, ...(await rules.read()).rules.map(delayOf))
    if (delayMs === 0 || proof === 'password') {
      await rules.file.apply(change, now)
      log.info(`${what}: in effect, by password`)
      return undefined
    }
    const effectiveAt = rules.clock.latest + delayMs
    const id = services.io.crypto.toHex(services.io.random(4))
    await rules.file.defer({ id, ...change, effectiveAt }, now)
    log.info(`${what}: waits`)
    return effectiveAt
  }

  async #checkPassword(password: string): Promise<void> {
    requireTexts({ password })
    const { credentials } = this.#options
    if (await credentials.checkPassword(password)) return
    throw credentials.hasPassword
      ? new WalletError('PASSWORD', {})
      : new WalletError('POLICY_PASSWORD', { rule: '' })
  }

  /** Makes sure that a policy plugin can read a rule. */
  async #requireReadable(rule: SpendRule): Promise<void> {
    const refuse = (reason: string): WalletError =>
      new WalletError('OPTION_INVALID', { option: 'rule', rule: reason })
    if (!this.#options.credentials.hasPassword)
      throw refuse('needs an account with a password, which later changes need')
    if (rule.kind === LOOSENING_DELAY) {
      if (delayOf(rule) > 0) return
      throw refuse('has no hours')
    }
    if (rule.kind === KEY_USES) {
      const { uses } = rule
      if (Array.isArray(uses) && uses.length > 0 && uses.every(use => USES.has(String(use)))) return
      throw refuse(`has uses that are none of: ${[...USES].join(', ')}`)
    }
    const { rules: judged } = await this.#options.rules.explain(undefined, [rule])
    const own = judged.find(({ ruleId }) => ruleId === rule.id)
    if (own === undefined || own.outcome === 'unreadable')
      throw refuse(own?.reason ?? 'cannot be read by any policy')
  }
}

const USES: ReadonlySet<string> = new Set([
  'approve login',
  'backup',
  'login key',
  'message',
  'show',
  'sweep'
] satisfies OtherKeyUse[])

const HOUR_MS = 60 * 60_000

/** The wait that a rule of kind `loosening-delay` wants; one that cannot be read wants a week. */
const delayOf = ({ kind, hours }: SpendRule): number => {
  if (kind !== LOOSENING_DELAY) return 0
  return typeof hours === 'number' && hours > 0 && hours <= MAX_DELAY_HOURS ? hours * HOUR_MS : WEEK_MS
}

const WEEK_MS = 7 * 24 * HOUR_MS
const MAX_DELAY_HOURS = 24 * 365

/** Each payment is judged by all rules, and their file must stay small enough to sync. */
const MAX_RULES = 100
const MAX_RULES_LENGTH = 300_000

/** @throws OPTION_INVALID if there is no room for a rule */
const checkRoom = (rule: SpendRule, { rules, pending }: PolicyListing): void => {
  const others = rules.filter(({ id }) => id !== rule.id)
  const isFull =
    others.length + pending.length >= MAX_RULES ||
    JSON.stringify([...others, ...pending, rule]).length > MAX_RULES_LENGTH
  if (isFull)
    throw new WalletError('OPTION_INVALID', { option: 'rule', rule: 'is one too many for an account' })
}

/** @returns the password, if there is one @throws OPTION_INVALID */
const checkProof = (options: RuleChangeOptions): string | undefined => {
  requireObject('options', options)
  const { password } = options
  allowTexts({ password })
  return password
}

/** Checks the parts of a draft that rules read. @throws OPTION_INVALID, AMOUNT_INVALID */
const checkDraft = (draft: Transaction): void => {
  requireObject('draft', draft)
  const { walletId, tokenId, nativeAmount: amount, networkFee, spendTargets = [] } = draft
  requireTexts({ walletId, nativeAmount: amount, networkFee })
  requireTokenId(tokenId)
  for (const text of [amount, networkFee]) nativeAmount(text)
  requireObjects('spendTargets', spendTargets)
  for (const { publicAddress, nativeAmount: part } of spendTargets) {
    requireTexts({ publicAddress, nativeAmount: part })
    nativeAmount(part)
  }
}

/** Checks what every rule has, and copies it. @throws OPTION_INVALID */
const checkRule = (given: SpendRule): SpendRule => {
  requireObject('rule', given)
  const refuse = (rule: string): WalletError => new WalletError('OPTION_INVALID', { option: 'rule', rule })
  const copy = copyData(given, { maxLength: 100_000, isFrozen: true, refuse }) as SpendRule
  const { id, kind, asset, client } = copy
  if (typeof id !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(id))
    throw refuse('has no id of letters, digits, - and _')
  if (FORBIDDEN_KEYS.has(id)) throw refuse('has an id that cannot be kept')
  for (const text of [kind, asset, client])
    if (text !== undefined && (typeof text !== 'string' || text === '' || text.length > 200))
      throw refuse('has a kind, asset or client that is no short text')
  if (kind === undefined) throw refuse('has no kind')
  return copy
}

type ChangeProof = 'none' | 'password' | 'password, and waits'

/** What the change to a rule needs. A further delay loosens nothing, but without the password nobody could end it soon. */
const proofOf = (rule: SpendRule, present: PolicyListing): ChangeProof => {
  const isNew = !present.rules.some(({ id }) => id === rule.id)
  if (rule.kind === LOOSENING_DELAY && isNew) return 'password'
  return isTighter(rule, present) ? 'none' : 'password, and waits'
}

/**
 * Returns true if a rule beside the present ones, or in the place of one, can only refuse more.
 *
 * The first rule of an account does, unless it gives a program a budget. A further one does if a rule of the account concerns
 * all that it concerns. One that takes the place of another must be the same but for a lower maximum.
 */
const isTighter = (rule: SpendRule, { rules, fault }: PolicyListing): boolean => {
  if (fault !== undefined) return false
  const before = rules.find(({ id }) => id === rule.id)
  if (before !== undefined) return isLower(rule, before)
  const others = rules.filter(({ kind }) => kind !== LOOSENING_DELAY)
  const judging = others.filter(({ kind }) => kind !== KEY_USES)
  if (rule.kind === KEY_USES) return others.length === 0
  if (rule.client !== undefined && !judging.some(({ client }) => client === rule.client)) return false
  if (judging.length === 0) return true
  return judging.some(
    ({ client, asset }) => client === rule.client && (asset === undefined || asset === rule.asset)
  )
}

const isLower = ({ max, ...rule }: SpendRule, { max: maxBefore, ...before }: SpendRule): boolean =>
  isSameJson(rule, before) &&
  isNativeAmount(max) &&
  isNativeAmount(maxBefore) &&
  compare(nativeAmount(max), nativeAmount(maxBefore)) <= 0
