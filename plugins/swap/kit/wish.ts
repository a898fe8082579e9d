import type { JsonObject, NativeAmount, QuoteContext, SpendInfo } from '../../../kernel/plugin-api.ts'

/** What is wanted, with `max` turned into an amount: so much is paid, or so much arrives. */
export interface Wish {
  readonly direction: 'from' | 'to'
  readonly nativeAmount: NativeAmount
}

/**
 * Reads the request of a desk, and asks for the most that can be paid where that is wanted.
 *
 * @param extras - what the payment carries besides its target, such as a memo, which costs
 */
export const wishOf = async (desk: QuoteContext, extras: Partial<SpendInfo> = {}): Promise<Wish> => {
  const { quoteFor, nativeAmount, from } = desk.request
  if (quoteFor !== 'max') return { direction: quoteFor, nativeAmount }
  return {
    direction: 'from',
    nativeAmount: await desk.maxFrom({ ...extras, tokenId: from.tokenId, spendTargets: [{}] })
  }
}

/** A payment to an address that is not known yet, to ask for its fee. */
export const payLater = ({ request }: QuoteContext, nativeAmount: NativeAmount): readonly SpendInfo[] => [
  { tokenId: request.from.tokenId, spendTargets: [{ nativeAmount }] }
]

// Anything but visible ASCII would be no header, or a second one.
const VISIBLE = /^[\x21-\x7e]{1,500}$/

/** A setting as text: the user's own goes before that of the application; undefined if there is none that fits. */
export const settingOf = (
  name: string,
  userSettings: JsonObject,
  options: JsonObject
): string | undefined => {
  for (const settings of [userSettings, options]) {
    const value = Object.hasOwn(settings, name) ? settings[name] : undefined
    if (typeof value === 'string' && VISIBLE.test(value)) return value
  }
  return undefined
}
