import { isOpen } from '../../app/format/quotes.ts'
import {
  compact,
  isNativeAmount,
  type NativeAmount,
  nativeAmount,
  type PluginId,
  type QuoteSnapshot,
  type SwapRequest,
  type TokenId,
  WalletError,
  type WalletId
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { commandInProfile } from '../grammar/command-line.ts'
import { isRecord, readOrQuarantine, writeState } from '../profile/state-files.ts'
import type { Session } from '../session/session.ts'
import type { SwapQuery } from './read-swap.ts'

const MIN_PREFIX = 4

/** The kept quotes of earlier commands on this device. */
export interface QuoteCache {
  /** Adds the quotes of a round that can be approved, and gives their ids, the best first. */
  keep(loginId: string, query: SwapQuery, round: readonly QuoteSnapshot[]): readonly string[]
  /** Finds a quote by its id, or by a unique prefix of it. @throws CliError USAGE if several match */
  find(text: string): KeptQuote | undefined
  /** The same, if it can be approved. @throws CliError NOT_FOUND; QUOTE_ENDED */
  findOpen(text: string): KeptQuote
  /** Reserves it for a payment; no other process can approve it then. @throws QUOTE_ENDED */
  claim(kept: KeptQuote): void
  /** Ends a reservation: nothing was paid. */
  release(kept: KeptQuote): void
  forget(kept: KeptQuote): void
}

/**
 * Opens the kept quotes of this device, with the clock of the world. The storage of the device is locked until the
 * session is closed, so that no other process changes them.
 *
 * @throws STORAGE_LOCKED
 */
export const openQuoteCache = async (session: Session): Promise<QuoteCache> => {
  const { paths, statusLine, globals } = session
  await session.context()
  const { clock } = (await session.world()).io
  const read = (): readonly KeptQuote[] =>
    readKeptQuotes(paths.session, path =>
      statusLine.warn(`the quotes of earlier commands could not be read; the old file is now ${path}`)
    )
  const others = ({ quoteId }: KeptQuote): readonly KeptQuote[] =>
    read().filter(quote => quote.quoteId !== quoteId)
  const write = (quotes: readonly KeptQuote[]): void => writeKeptQuotes(paths.session, quotes, clock.now())
  const find = (text: string): KeptQuote | undefined => matchIn(read(), text)
  return {
    find,
    keep(loginId, query, round) {
      const now = clock.now()
      const open = round.filter(quote => isOpen(quote, now))
      const fresh = open.map(quote => keptOf(loginId, query, quote, now))
      // If a round does not fit, its worst quotes are dropped first.
      write([...read(), ...fresh.toReversed()])
      return fresh.map(({ quoteId }) => quoteId)
    },
    findOpen(text) {
      const kept = find(text)
      if (kept === undefined) throw unknown(text, commandInProfile(globals, 'swap quote'))
      checkOpen(kept)
      if (hasEnded(kept, clock.now()))
        throw new WalletError('QUOTE_ENDED', { pluginId: kept.pluginId, reason: 'expired' })
      return kept
    },
    claim(kept) {
      const { quoteId, pluginId } = kept
      const now = read().find(quote => quote.quoteId === quoteId)
      if (now === undefined) throw new WalletError('QUOTE_ENDED', { pluginId, reason: 'closed' })
      checkOpen(now)
      write([...others(kept), { ...kept, isApproved: true }])
    },
    release: kept => write([...others(kept), kept]),
    forget: kept => write(others(kept))
  }
}

/** @throws QUOTE_ENDED */
const checkOpen = ({ pluginId, isApproved }: KeptQuote): void => {
  if (isApproved) throw new WalletError('QUOTE_ENDED', { pluginId, reason: 'approved' })
}

const matchIn = (quotes: readonly KeptQuote[], text: string): KeptQuote | undefined => {
  const same = quotes.find(({ quoteId }) => quoteId === text)
  if (same !== undefined || text.length < MIN_PREFIX) return same
  const [first, ...more] = quotes.filter(({ quoteId }) => quoteId.startsWith(text))
  if (more.length === 0) return first
  throw new CliError('USAGE', `Several quotes begin with "${text}"`, { hint: 'Write the whole id.' })
}

const unknown = (text: string, command: string): CliError =>
  new CliError('NOT_FOUND', `No quote "${text}" is kept on this device`, {
    hint: 'A quote is kept until it expires or is closed.',
    next: [{ command: `${command} --from <asset> --to <asset> --amount <amount>`, why: 'get new quotes' }]
  })

const keptOf = (
  loginId: string,
  { request, options }: SwapQuery,
  quote: QuoteSnapshot,
  askedAt: number
): KeptQuote => {
  const { pluginId, quoteId = '', isEstimate = true, minReceiveAmount, expiresAt } = quote
  const promoCode = options.promoCodes?.[pluginId]
  return {
    ...{ quoteId, loginId, pluginId, isEstimate, askedAt },
    fromWalletId: request.fromWallet.id,
    fromTokenId: request.fromTokenId ?? null,
    toWalletId: request.toWallet.id,
    toTokenId: request.toTokenId ?? null,
    quoteFor: request.quoteFor,
    nativeAmount: request.nativeAmount,
    fromNativeAmount: nativeAmount(quote.fromNativeAmount ?? '0'),
    toNativeAmount: nativeAmount(quote.toNativeAmount ?? '0'),
    ...compact({
      minReceiveAmount: minReceiveAmount === undefined ? undefined : nativeAmount(minReceiveAmount),
      expiresAt,
      promoCode
    }),
    isApproved: false
  }
}

const FILE = 'swap-quotes.json'
/** The lifetime of a quote without an expiration date, in milliseconds. */
const UNDATED_MS = 30 * 60_000
const MAX_QUOTES = 200

/** The terms of a quote that was shown, to be approved by a later command. Amounts are native; no secret is among them. */
export interface KeptQuote {
  readonly quoteId: string
  /** The id of its account. */
  readonly loginId: string
  readonly pluginId: PluginId
  readonly fromWalletId: WalletId
  readonly fromTokenId: TokenId | null
  readonly toWalletId: WalletId
  readonly toTokenId: TokenId | null
  readonly quoteFor: SwapRequest['quoteFor']
  /** The requested amount of the side that `quoteFor` names; unused for `max`. */
  readonly nativeAmount: NativeAmount
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  readonly minReceiveAmount?: NativeAmount
  readonly isEstimate: boolean
  /** Unix milliseconds, as are all times here. */
  readonly expiresAt?: number
  /** The promotion code of the request. */
  readonly promoCode?: string
  readonly askedAt: number
  /** True if it was paid, or may have been. */
  readonly isApproved: boolean
}

/** Returns true if a quote has expired at a time. */
const hasEnded = ({ expiresAt, askedAt }: KeptQuote, now: number): boolean =>
  (expiresAt ?? askedAt + UNDATED_MS) <= now

/**
 * Reads the kept quotes of this device, the oldest first. A damaged file is moved aside.
 *
 * @param onDamaged - called with the new path of a damaged file
 */
const readKeptQuotes = (stateFolder: string, onDamaged: (path: string) => void): readonly KeptQuote[] =>
  readOrQuarantine(stateFolder, FILE, { parse: parseQuotes, onDamaged }) ?? []

/**
 * Writes these quotes and no others, without expired ones, and the newest if there are too many. The caller holds the
 * lock of the device, so that no two processes change the file at once.
 */
const writeKeptQuotes = (stateFolder: string, quotes: readonly KeptQuote[], now: number): void =>
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
