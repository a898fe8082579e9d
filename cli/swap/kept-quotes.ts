import {
  isNativeAmount,
  type NativeAmount,
  nativeAmount,
  type QuoteSnapshot,
  type SwapRequest,
  WalletError
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { commandInProfile } from '../grammar/command-line.ts'
import { isRecord, readOrQuarantine, writeState } from '../profile/state-files.ts'
import type { Session } from '../session/session.ts'
import { isOpen } from './quotes.ts'
import type { SwapQuery } from './request.ts'

const MIN_PREFIX = 4

/** The quotes of earlier commands on this device. */
export interface QuoteCache {
  /** Adds the quotes of a round that can be approved, and gives their ids, the best first. */
  keep(loginId: string, query: SwapQuery, round: readonly QuoteSnapshot[]): readonly string[]
  /** The quote that a person means: its full id, or a unique beginning of it. @throws CliError USAGE if several match */
  find(text: string): KeptQuote | undefined
  /** The same, if it can be approved. @throws CliError NOT_FOUND; QUOTE_ENDED */
  findOpen(text: string): KeptQuote
  /** Takes it for a payment; nobody else can from here on. @throws QUOTE_ENDED */
  claim(kept: KeptQuote): void
  /** Gives up a claim: nothing was paid. */
  release(kept: KeptQuote): void
  forget(kept: KeptQuote): void
}

/**
 * Opens the quotes that this device keeps, by the time of the world. It holds the disk of the device until the session is
 * closed: whatever is read here, nobody else changes.
 *
 * @throws STORAGE_LOCKED
 */
export const openQuoteCache = async (session: Session): Promise<QuoteCache> => {
  const { paths, statusLine, globals } = session
  await session.context()
  const { clock } = (await session.world()).io
  const read = (): readonly KeptQuote[] =>
    readKeptQuotes(paths.session, path =>
      statusLine.warn(`the quotes of earlier commands could not be read; what was there is now in ${path}`)
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
      // Of a round that does not fit, the worst go first.
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
    next: [{ command: `${command} --from <asset> --to <asset> --amount <amount>`, why: 'ask for new quotes' }]
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
    ...(minReceiveAmount === undefined ? {} : { minReceiveAmount: nativeAmount(minReceiveAmount) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(promoCode === undefined ? {} : { promoCode }),
    isApproved: false
  }
}

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
const hasEnded = ({ expiresAt, askedAt }: KeptQuote, now: number): boolean =>
  (expiresAt ?? askedAt + UNDATED_MS) <= now

/**
 * The quotes that this device keeps, the oldest first. A file that is damaged is kept beside.
 *
 * @param tell - told where a damaged file was put
 */
const readKeptQuotes = (stateFolder: string, onDamaged: (path: string) => void): readonly KeptQuote[] =>
  readOrQuarantine(stateFolder, FILE, { parse: parseQuotes, onDamaged }) ?? []

/**
 * Keeps these quotes and no others, without those that have ended, and of too many the newest. Only who holds the disk of
 * the device may call it, so that no two processes change the file at once.
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
