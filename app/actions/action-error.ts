import { compact, isWalletError, type JsonObject, scrub, WalletError } from '../../kernel/index.ts'

/** Why an action failed. */
export interface ActionFailure {
  /** A code of the catalogue, or READ_ONLY, HIDDEN, BAD_MESSAGE, GONE for a draft or round, NO_WORLD, NO_DEVICE or UNKNOWN. */
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly details?: JsonObject
}

/**
 * Why an action failed, on the side of the panel, or before the kernel was asked. `code`: of the catalogue, or
 * READ_ONLY, HIDDEN (addresses are not shown), BAD_MESSAGE (`details.field` names what is wrong, never the value), GONE
 * (`details.what`: the draft, quote, round or repo is not there), NO_WORLD, NO_DEVICE (no other device can answer), DISCONNECTED (`details.outcome` is `unknown` if it
 * was on its way), UNKNOWN.
 */
export class ActionError extends Error {
  readonly code: string
  readonly hint?: string
  readonly details?: JsonObject

  constructor({ code, message, hint, details }: ActionFailure) {
    super(message)
    this.name = 'ActionError'
    this.code = code
    if (hint !== undefined) this.hint = hint
    if (details !== undefined) this.details = details
  }
}

/** A failure as a panel may see it; of an error that nobody knows not a word is passed on. Never throws (pure). */
export const actionFailureOf = (error: unknown): ActionFailure => {
  try {
    return readFailure(error)
  } catch {
    // What was thrown throws itself when it is looked at.
    return UNKNOWN
  }
}

const readFailure = (error: unknown): ActionFailure => {
  if (error instanceof ActionError) return failureFrom(error, error.hint, error.details)
  if (!isWalletError(error)) return UNKNOWN
  // A plugin can give its own error a code of the catalogue: then nobody has looked at its words.
  const wordsOf = (text: string): string => (error instanceof WalletError ? text : scrub(text))
  const { code, message, hint, details = {} }: Partial<WalletError> = error
  const shown = Object.entries(details).filter(([name, value]) => SHOWN_DETAILS.has(name) && isShort(value))
  return failureFrom(
    { code: code ?? UNKNOWN.code, message: wordsOf(message ?? '') },
    hint === undefined ? undefined : wordsOf(hint),
    shown.length === 0 ? undefined : Object.fromEntries(shown)
  )
}

const failureFrom = (
  { code, message }: { readonly code: string; readonly message: string },
  hint: string | undefined,
  details: JsonObject | undefined
): ActionFailure => ({
  code,
  message,
  ...compact({ hint, details })
})

const UNKNOWN: ActionFailure = {
  code: 'UNKNOWN',
  message: 'The action failed. Its error has no text that is safe to show.',
  hint: 'The log of the kernel may say more.'
}

/** Figures and names that a screen can use; tokens and ids of challenges are not among them. */
const SHOWN_DETAILS: ReadonlySet<string> = new Set([
  'available',
  'currencyCode',
  'direction',
  'from',
  'immature',
  'incoming',
  'maxFee',
  'minimum',
  'nativeMax',
  'nativeMin',
  'needed',
  'networkFee',
  'option',
  'pluginId',
  'reason',
  'reserved',
  'to',
  'txid',
  'usualNetworkFee',
  'waitSeconds',
  'walletId'
])

const isShort = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && value.length <= 200)
