import {
  type AmountUnits,
  type ApprovingDevice,
  add,
  amountText,
  compact,
  compare,
  fromDecimal,
  isDecimal,
  isNativeAmount,
  type LostPayment,
  type NativeAmount,
  nativeAmount,
  type PaidAmount,
  type PolicyPlugin,
  type RuleContext,
  type RuleVerdict,
  type SpendRule,
  subtract,
  toDenomination,
  ZERO
} from '../../kernel/plugin-api.ts'
import { type DayHours, isWithin, nextWithin, readHours } from './day-hours.ts'

/**
 * The shipped rules: limits for each payment and over a rolling window, lists of payees, a delay for new payees, and hours of
 * the day.
 *
 * @example
 * ```ts
 * import { createKernel } from 'holdfast'
 * import { makeNodeIo } from 'holdfast/node'
 * import { spendRules } from 'holdfast/plugins/policy/spend-rules'
 * import { memoryStorage } from 'holdfast/plugins/storage/memory'
 *
 * const kernel = await createKernel({ io: makeNodeIo(), apiKey: '', plugins: [memoryStorage(), spendRules] })
 * ```
 */
export const spendRules: PolicyPlugin = {
  kind: 'policy',
  id: 'spend-rules',
  apply({ hooks }) {
    hooks.judgeRules.tapPromise('spend-rules', async context => {
      for (const rule of context.rules) {
        const judge = JUDGES[rule.kind]
        if (judge === undefined) continue
        context.judge(rule.id, await judge(rule, context).catch(unreadable))
      }
    })
  }
}

type Judge = (rule: SpendRule, context: RuleContext) => Promise<RuleVerdict>

/** The fault of a rule, as a clause. */
class RuleFault extends Error {}

const unreadable = (error: unknown): RuleVerdict => ({
  outcome: 'unreadable',
  title: 'a rule that cannot be read',
  reason: error instanceof RuleFault ? error.message : 'the rule could not be judged'
})

/** A maximum in one asset, or of worth in one fiat currency. */
interface Limit {
  readonly max: NativeAmount
  /** The worth or amount of a payment that counts; undefined if a rate is missing. */
  amountOf(payment: Counted): Promise<NativeAmount | undefined>
  text(amount: NativeAmount): string
}

interface Counted {
  readonly amounts: readonly PaidAmount[]
  readonly values?: Readonly<Record<string, string>>
}

const judgePayment: Judge = async (rule, context) => {
  const limit = limitOf(rule, context)
  const title = `at most ${limit.text(limit.max)} in a payment`
  const { payment } = context
  if (payment === undefined) return { ...notConcerned(title), limit: limit.text(limit.max) }
  const amount = await limit.amountOf(payment)
  if (amount === undefined) return refusal(title, NO_RATE)
  const figures = { limit: limit.text(limit.max), used: limit.text(amount) }
  if (compare(amount, limit.max) <= 0)
    return { outcome: 'allows', title, reason: `it takes ${limit.text(amount)}, fees included`, ...figures }
  return { ...refusal(title, `it takes ${limit.text(amount)}, fees included; ${title}`), ...figures }
}

const judgeRolling: Judge = async (rule, context) => {
  const { windowHours } = rule
  if (typeof windowHours !== 'number' || !(windowHours > 0 && windowHours <= MAX_WINDOW_HOURS))
    throw new RuleFault(`windowHours must be a number up to ${MAX_WINDOW_HOURS}`)
  const limit = limitOf(rule, context)
  const windowMs = windowHours * HOUR_MS
  const title = `at most ${limit.text(limit.max)} in ${hoursText(windowHours)}`
  const { payment, payments, now } = context
  // Values the payment as a whole first, so that its reservation keeps what was used.
  if (payment !== undefined && (await limit.amountOf(payment)) === undefined) return refusal(title, NO_RATE)
  // Nobody knows what lost payments took: together the whole limit, at most.
  const lost = context.lostPayments.filter(each => each.at > now - windowMs && mayConcern(rule, each))
  const newest = Math.min(now, Math.max(...lost.map(({ at }) => at)))
  const counted = lost.length === 0 ? [] : [{ at: newest, amount: limit.max }]
  for (const each of payments) {
    if (!each.isOpen && each.at <= now - windowMs) continue
    if (rule.client !== undefined && !each.clients.includes(rule.client)) continue
    if (!each.amounts.some(amount => isAsset(rule, amount))) continue
    const amount = await limit.amountOf(each)
    if (amount === undefined) return refusal(title, NO_RATE)
    counted.push({ at: each.isOpen ? now : Math.min(each.at, now), amount })
  }
  const total = counted.reduce((sum, { amount }) => add(sum, amount), ZERO)
  const left = compare(total, limit.max) > 0 ? ZERO : subtract(limit.max, total)
  const figures = { limit: limit.text(limit.max), used: limit.text(total), left: limit.text(left) }
  const oldest = Math.min(...counted.map(({ at }) => at))
  if (payment === undefined) {
    const next = counted.length === 0 ? undefined : oldest + windowMs
    return { ...notConcerned(title), ...figures, ...compact({ allowedAt: next }) }
  }
  if (compare(total, limit.max) <= 0) {
    const reason = `${limit.text(total)} of ${limit.text(limit.max)} in ${hoursText(windowHours)} with it`
    return { outcome: 'allows', title, reason, ...figures }
  }
  const why = lost.length === 0 ? '' : ', as much as a payment that cannot be read may have taken included'
  const reason = `with it ${limit.text(total)} are paid in ${hoursText(windowHours)}${why}; ${title}`
  const allowedAt = freeFrom(counted, total, { max: limit.max, windowMs })
  return { ...refusal(title, reason), ...figures, ...compact({ allowedAt }) }
}

const mayConcern = ({ asset }: SpendRule, { pluginId }: LostPayment): boolean =>
  asset === undefined || asset.split('/')[0] === pluginId

/** When enough has left the window; undefined if the newest payment alone is too much. */
const freeFrom = (
  counted: readonly { readonly at: number; readonly amount: NativeAmount }[],
  total: NativeAmount,
  { max, windowMs }: { readonly max: NativeAmount; readonly windowMs: number }
): number | undefined => {
  const byAge = [...counted].sort((left, right) => left.at - right.at).slice(0, -1)
  let rest = total
  for (const { at, amount } of byAge) {
    rest = subtract(rest, amount)
    if (compare(rest, max) <= 0) return at + windowMs
  }
  return undefined
}

const judgePayees: Judge = async (rule, context) => {
  const payees = textsOf(rule, 'payees')
  const title = `only to ${payees.length === 1 ? 'one payee' : `${payees.length} payees`}`
  const { payment } = context
  if (payment === undefined) return notConcerned(title)
  const known = await payeesOf(payees, context)
  const other = payment.payees.find(payee => payee === '' || !known.has(payee))
  if (other === undefined) return { outcome: 'allows', title, reason: 'each payee is on the list' }
  return refusal(title, `${other === '' ? 'a payee without an address' : other} is not on the list of payees`)
}

const judgeNewPayee: Judge = async (rule, context) => {
  const { delayHours } = rule
  if (typeof delayHours !== 'number' || !(delayHours > 0 && delayHours <= MAX_DELAY_HOURS))
    throw new RuleFault(`delayHours must be a number up to ${MAX_DELAY_HOURS}`)
  const title = `a new payee waits ${hoursText(delayHours)}`
  const known = rule.known === undefined ? [] : textsOf(rule, 'known')
  const { payment, now } = context
  if (payment === undefined) return notConcerned(title)
  const exempt = await payeesOf(known, context)
  let allowedAt = 0
  for (const payee of payment.payees) {
    if (payee === '') return refusal(title, 'a payee without an address cannot become known')
    if (exempt.has(payee)) continue
    const first = await context.firstSeen(rule.id, `${payment.pluginId}:${payee}`)
    if (first === undefined) return refusal(title, 'too many payees wait')
    allowedAt = Math.max(allowedAt, first + delayHours * HOUR_MS)
  }
  if (allowedAt <= now) return { outcome: 'allows', title, reason: 'each payee is known' }
  return { ...refusal(title, `a payee is new; ${title}`), allowedAt }
}

const judgeHours: Judge = async (rule, { payment, now, calendar }) => {
  const hours = hoursIn(rule)
  const title = `only ${hours.text}`
  if (payment === undefined) return notConcerned(title)
  // After a pause the time of the account stands still until a block comes, perhaps within the hours.
  const outside = [now, calendar].find(at => !isWithin(hours, at))
  if (outside === undefined) return { outcome: 'allows', title, reason: 'it is within the hours' }
  return {
    ...refusal(title, `it is outside the hours; ${title}`),
    ...compact({ allowedAt: nextWithin(hours, outside) })
  }
}

const judgeSecondDevice: Judge = async (rule, context) => {
  const devices = devicesOf(rule)
  const isLimited = rule.max !== undefined || rule.maxFiat !== undefined
  const limit = isLimited ? limitOf(rule, context) : undefined
  const title = `a second device approves ${limit === undefined ? 'it' : `more than ${limit.text(limit.max)}`}`
  const { payment, approvedBy } = context
  if (payment === undefined) return notConcerned(title)
  const amount = await limit?.amountOf(payment)
  if (limit !== undefined && amount !== undefined && compare(amount, limit.max) <= 0)
    return { outcome: 'allows', title, reason: `it takes ${limit.text(amount)}, fees included` }
  const approver = devices.find(({ key }) => key === approvedBy)
  if (approver !== undefined)
    return { outcome: 'allows', title, reason: `the device "${approver.name}" has approved it` }
  const names = devices.map(({ name }) => `"${name}"`).join(' or ')
  return { ...refusal(title, `it waits for the device ${names}`), approvers: devices }
}

const devicesOf = ({ devices }: SpendRule): readonly ApprovingDevice[] => {
  const isDevice = (value: unknown): boolean => {
    const { name, key } = (value ?? {}) as Record<string, unknown>
    const isNamed = typeof name === 'string' && name !== '' && name.length <= 64
    return isNamed && typeof key === 'string' && /^[0-9a-f]{64}$/.test(key)
  }
  if (!Array.isArray(devices) || devices.length === 0 || !devices.every(isDevice))
    throw new RuleFault('devices must be a list of devices with a name and a key')
  return devices as unknown as readonly ApprovingDevice[]
}

const hoursIn = (rule: SpendRule): DayHours => {
  try {
    return readHours(rule)
  } catch (error) {
    throw new RuleFault(error instanceof TypeError ? error.message : 'its hours cannot be read')
  }
}

const JUDGES: Readonly<Record<string, Judge | undefined>> = Object.assign(Object.create(null), {
  'per-payment': judgePayment,
  rolling: judgeRolling,
  'allow-list': judgePayees,
  'new-payee-delay': judgeNewPayee,
  hours: judgeHours,
  'second-device': judgeSecondDevice
})

/** Reads the maximum of a rule: `max` in native units of its asset, or `maxFiat` in the currency `fiat`. */
const limitOf = (rule: SpendRule, context: RuleContext): Limit => {
  const { max, maxFiat, fiat } = rule
  if (maxFiat === undefined) return assetLimit(rule, context, max)
  if (typeof maxFiat !== 'string' || !isDecimal(maxFiat))
    throw new RuleFault('maxFiat must be a decimal text')
  if (typeof fiat !== 'string' || !/^iso:[A-Z]{3}$/.test(fiat))
    throw new RuleFault('fiat must be like iso:EUR')
  if (max !== undefined) throw new RuleFault('a rule has max or maxFiat, and not both')
  const code = fiat.slice('iso:'.length)
  return {
    max: fromDecimal(maxFiat, FIAT_UNITS, 'down'),
    async amountOf({ amounts, values }) {
      const value = values?.[fiat] ?? (await context.valueOf(amounts, fiat))
      return value === undefined ? undefined : fromDecimal(value, FIAT_UNITS, 'up')
    },
    text: amount => `${toDenomination(cents(amount), '100')} ${code}`
  }
}

const assetLimit = (rule: SpendRule, context: RuleContext, max: unknown): Limit => {
  if (rule.asset === undefined) throw new RuleFault('a rule without fiat needs an asset')
  if (!isNativeAmount(max) || compare(nativeAmount(max), ZERO) < 0)
    throw new RuleFault('max must be a native amount of the asset')
  const [pluginId = '', tokenId = null] = rule.asset.split('/')
  const units: AmountUnits | undefined = context.unitsOf({ pluginId, tokenId })
  if (units === undefined) throw new RuleFault(`its asset ${rule.asset} is not known here`)
  return {
    max: nativeAmount(max),
    async amountOf({ amounts }) {
      const own = amounts.filter(amount => isAsset(rule, amount))
      return own.reduce((sum, amount) => add(sum, amount.nativeAmount), ZERO)
    },
    text: amount => amountText(amount, units)
  }
}

const isAsset = ({ asset }: SpendRule, { pluginId, tokenId }: PaidAmount): boolean =>
  asset === undefined || asset === (tokenId === null ? pluginId : `${pluginId}/${tokenId}`)

const textsOf = (rule: SpendRule, field: string): readonly string[] => {
  const texts = rule[field]
  if (!Array.isArray(texts) || !texts.every(text => typeof text === 'string' && text !== ''))
    throw new RuleFault(`${field} must be a list of addresses`)
  return texts as readonly string[]
}

/** The payees of a list that the currency of the payment can read, in its one form. */
const payeesOf = async (payees: readonly string[], context: RuleContext): Promise<ReadonlySet<string>> => {
  const { payment } = context
  if (payment === undefined) return new Set()
  const read = await Promise.all(
    payees.map(payee => context.payeeOf(payment.pluginId, payee).catch(() => undefined))
  )
  return new Set(read.filter(payee => payee !== undefined))
}

const refusal = (title: string, reason: string): RuleVerdict => ({ outcome: 'refuses', title, reason })

const notConcerned = (title: string): RuleVerdict => ({ outcome: 'does not apply', title, reason: title })

/** Rounds up to hundredths. */
const cents = (amount: NativeAmount): NativeAmount =>
  fromDecimal(toDenomination(amount, FIAT_UNITS), '100', 'up')

const hoursText = (hours: number): string =>
  hours >= 48 && hours % 24 === 0 ? `${hours / 24} days` : `${hours} ${hours === 1 ? 'hour' : 'hours'}`

const NO_RATE = 'its worth is not known: there is no fresh rate'
const FIAT_UNITS = '1000000000'
const HOUR_MS = 60 * 60_000
const MAX_WINDOW_HOURS = 168
const MAX_DELAY_HOURS = 24 * 365
