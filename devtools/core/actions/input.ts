import { isNativeAmount } from '../../../kernel/index.ts'
import { ActionError } from '../model/action-error.ts'
import type { ActionName, Actions, SpendRequest } from '../model/actions.ts'

/** The rule for one field of an input. */
interface Field<T> {
  /** Ends the sentence "The field … of … ". */
  readonly rule: string
  readonly accepts: (value: unknown) => value is T
}

interface MaybeField<T> extends Field<T> {
  readonly isOptional: true
}

type InputFields<Input> = {
  readonly [F in keyof Input]-?: undefined extends Input[F]
    ? MaybeField<Exclude<Input[F], undefined>>
    : Field<Input[F]>
}

/**
 * Checks the input of an action: from a socket it may be anything. Fields that the action does not know are left out,
 * and so are those that are undefined.
 *
 * @throws ActionError BAD_MESSAGE, naming the field
 */
export const readInput = <K extends ActionName>(name: K, input: unknown): Actions[K]['in'] => {
  // From JavaScript or a socket it may be no text at all.
  if (typeof name !== 'string' || !Object.hasOwn(actionFields, name))
    throw inputError('name', 'Unknown action')
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw inputError('input', `The input of ${name} must be an object`)
  const read: Record<string, unknown> = {}
  for (const [field, { rule, accepts, isOptional }] of fieldsOf(name)) {
    const value = Object.hasOwn(input, field) ? (input as Record<string, unknown>)[field] : undefined
    if (value === undefined && isOptional === true) continue
    if (!accepts(value)) throw inputError(field, `The field ${field} of ${name} ${rule}`)
    read[field] = value
  }
  return read as Actions[K]['in']
}

/** The refusal of an input, with nothing of it in it. */
export const inputError = (field: string, message: string): ActionError =>
  new ActionError({ code: 'BAD_MESSAGE', message, details: { field } })

const fieldsOf = (name: ActionName): [string, Field<unknown> & Partial<MaybeField<unknown>>][] =>
  Object.entries(actionFields[name])

const optional = <T>(field: Field<T>): MaybeField<T> => ({ ...field, isOptional: true })

/** Text that is not empty, without lone surrogates, which no encoding could carry. */
const text = (most: number): Field<string> => ({
  rule: `must be a text of 1 to ${most} characters`,
  accepts: (value): value is string =>
    typeof value === 'string' && value !== '' && value.length <= most && !/\p{Cs}/u.test(value)
})

/** As {@link text}; a password may be anything that can be typed. */
const secret: Field<string> = text(1000)

const id: Field<string> = {
  rule: 'must be an id',
  accepts: (value): value is string => typeof value === 'string' && /^[\w+/=.-]{1,200}$/.test(value)
}

const nativeOf = (least: bigint): Field<string> => ({
  rule: `must be native units as decimal text, at least ${least}`,
  accepts: (value): value is string => isNativeAmount(value) && BigInt(value) >= least
})

const positive = nativeOf(1n)

const oneOf = <T extends string>(...words: readonly T[]): Field<T> => ({
  rule: `must be one of ${words.join(', ')}`,
  accepts: (value): value is T => words.includes(value as T)
})

const flag: Field<boolean> = {
  rule: 'must be true or false',
  accepts: (value): value is boolean => typeof value === 'boolean'
}

const count = (least: number, most: number): Field<number> => ({
  rule: `must be a whole number from ${least} to ${most}`,
  accepts: (value): value is number =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
})

/** The bounds are those of `--bias`, so that every action has its command. */
const biases: Field<Readonly<Record<string, number>>> = {
  rule: 'must be numbers above -1 and up to 100, by plugin',
  accepts: (value): value is Readonly<Record<string, number>> =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length <= 100 &&
    Object.entries(value).every(
      ([pluginId, bias]) => PLUGIN_ID.test(pluginId) && typeof bias === 'number' && bias > -1 && bias <= 100
    )
}

const PLUGIN_ID = /^[a-zA-Z][\w-]{0,99}$/

const pluginId: Field<string> = {
  rule: 'must be the id of a plugin',
  accepts: (value): value is string => typeof value === 'string' && PLUGIN_ID.test(value)
}

const walletType: Field<string> = {
  rule: 'must be the type of a wallet, such as wallet:bitcoin',
  accepts: (value): value is string => typeof value === 'string' && /^wallet:[\w-]{1,100}$/.test(value)
}

const draft = { draftId: id }

const txids: Field<readonly string[]> = {
  rule: 'must be a list of transaction ids',
  accepts: (value): value is readonly string[] =>
    Array.isArray(value) && value.length <= 10_000 && value.every(id.accepts)
}

const approved = { draftId: id, maxNetworkFee: optional(nativeOf(0n)), again: optional(txids) }
const wallet = { walletId: id }

const openPayment = { walletId: id, txid: id }
const fee = optional(oneOf('low', 'standard', 'high'))

const spendRequest: InputFields<SpendRequest> = {
  walletId: id,
  tokenId: optional(text(200)),
  publicAddress: text(1000),
  fee
}

const actionFields: { readonly [K in ActionName]: InputFields<Actions[K]['in']> } = {
  'account.create': { username: optional(text(100)), password: optional(secret), pin: optional(secret) },
  'account.login': {
    username: optional(text(100)),
    loginId: optional(id),
    password: optional(secret),
    pin: optional(secret)
  },
  'account.logout': { accountId: id },
  'wallet.create': { accountId: id, walletType, name: optional(text(200)) },
  'wallet.receive': wallet,
  'engine.pause': wallet,
  'engine.resume': wallet,
  'engine.resync': wallet,
  'repo.sync': { repoId: id },
  'spend.draft': { ...spendRequest, nativeAmount: positive },
  'spend.max': spendRequest,
  'spend.approve': approved,
  'spend.discard': draft,
  'spend.resend': openPayment,
  'spend.replace': { ...openPayment, fee },
  'spend.forget': { ...openPayment, confirm: text(200) },
  'swap.ask': {
    fromWalletId: id,
    toWalletId: id,
    nativeAmount: nativeOf(0n),
    quoteFor: oneOf('from', 'to', 'max')
  },
  'swap.close': { roundId: id },
  'swap.review': { quoteId: id },
  'swap.approve': approved,
  'swap.discard': draft,
  'swap.enable': { accountId: id, pluginId, isEnabled: flag },
  'rates.route': {
    from: text(100),
    to: text(100),
    biases: optional(biases),
    alternatives: optional(count(0, 20))
  },
  'rates.refresh': {},
  'world.fund': { walletId: id, nativeAmount: positive },
  'world.mine': { pluginId, count: count(1, 10_000) },
  'world.network': { isOnline: flag }
}
