import { isNativeAmount, type NativeAmount, type SwapRequest } from '../../kernel/index.ts'
import { isRecord, readOrSetAside, writeState } from '../profile/state-file.ts'

const FILE = 'swap-quotes.json'
/** What names no end is offered no longer than this, in milliseconds. */
const UNDATED_MS = 30 * 60_000
const MAX_QUOTES = 200

/** The terms of a quote that was shown, to be approved by a later command. Amounts are native; no secret is among them. */
export interface KeptQuote {
  readonly quoteId: string
  /** Whose it is: the id of the account. */
  readonly loginId: string
  readonly pluginId: string
  readonly fromWalletId: string
  readonly fromTokenId: string | null
  readonly toWalletId: string
  readonly toTokenId: string | null
  readonly quoteFor: SwapRequest['quoteFor']
  /** What was asked, of the side that `quoteFor` names; nothing for `max`. */
  readonly nativeAmount: NativeAmount
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  readonly minReceiveAmount?: NativeAmount
  readonly isEstimate: boolean
  /** Unix milliseconds, as are all times here. */
  readonly expiresAt?: number
  /** What its provider was told. */
  readonly promoCode?: string
  readonly askedAt: number
  /** It was paid for, or may have been. */
  readonly isApproved: boolean
}

/** Whether a quote counts no longer at some time. */
export const hasEnded = ({ expiresAt, askedAt }: KeptQuote, now: number): boolean =>
  (expiresAt ?? askedAt + UNDATED_MS) <= now

/**
 * The quotes that this device keeps, the oldest first. A file that is damaged is kept beside.
 *
 * @param tell - told where a damaged file was put
 */
export const readKeptQuotes = (stateFolder: string, tell: (path: string) => void): readonly KeptQuote[] =>
  readOrSetAside(stateFolder, FILE, { parse: parseQuotes, tell }) ?? []

/**
 * Keeps these quotes and no others, without those that have ended, and of too many the newest. Only who holds the disk of
 * the device may call it, so that no two processes change the file at once.
 */
export const writeKeptQuotes = (stateFolder: string, quotes: readonly KeptQuote[], now: number): void =>
  writeState(stateFolder, FILE, {
    quotes: quotes.filter(quote => !hasEnded(quote, now)).slice(-MAX_QUOTES)
  })

const parseQuotes = (value: unknown): readonly KeptQuote[] | undefined => {
  if (!isRecord(value) || !Array.isArray(value.quotes)) return undefined
  return value.quotes.every(isKeptQuote) ? value.quotes : undefined
}

const isKeptQuote = (value: unknown): value is KeptQuote =>
  isRecord(value) && Object.entries(CHECKS).every(([name, check]) => check(value[name]))

const isText = (value: unknown): boolean => typeof value === 'string'

const isTokenId = (value: unknown): boolean => value === null || isText(value)

const isYesOrNo = (value: unknown): boolean => typeof value === 'boolean'

const isAmount = (value: unknown): boolean => isNativeAmount(value) && !value.startsWith('-')

const orAbsent =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || check(value)

const CHECKS: { readonly [Name in keyof Required<KeptQuote>]: (value: unknown) => boolean } = {
  quoteId: isText,
  loginId: isText,
  pluginId: isText,
  fromWalletId: isText,
  fromTokenId: isTokenId,
  toWalletId: isText,
  toTokenId: isTokenId,
  quoteFor: value => value === 'from' || value === 'max' || value === 'to',
  nativeAmount: isAmount,
  fromNativeAmount: isAmount,
  toNativeAmount: isAmount,
  minReceiveAmount: orAbsent(isAmount),
  isEstimate: isYesOrNo,
  expiresAt: orAbsent(Number.isFinite),
  promoCode: orAbsent(isText),
  askedAt: Number.isFinite,
  isApproved: isYesOrNo
}
