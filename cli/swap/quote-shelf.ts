import { nativeAmount, type QuoteSnapshot, WalletError } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { commandHere } from '../grammar/command-line.ts'
import type { Session } from '../session.ts'
import { hasEnded, type KeptQuote, readKeptQuotes, writeKeptQuotes } from './kept-quotes.ts'
import { isOpen } from './quote-facts.ts'
import type { AskedSwap } from './swap-wish.ts'

const MIN_PREFIX = 4

/** The quotes of earlier commands on this device. */
export interface QuoteShelf {
  /** Adds the quotes of a round that can be approved, and gives their ids, the best first. */
  keep(loginId: string, asked: AskedSwap, round: readonly QuoteSnapshot[]): readonly string[]
  /** The quote that a person means: its full id, or a unique beginning of it. @throws CliError USAGE if several match */
  find(text: string): KeptQuote | undefined
  /** The same, if it can be approved. @throws CliError NOT_FOUND; QUOTE_ENDED */
  findOpen(text: string): KeptQuote
  /** Takes it for a payment; nobody else can from here on. @throws QUOTE_ENDED */
  claim(kept: KeptQuote): void
  /** Gives up a claim: nothing was paid. */
  giveBack(kept: KeptQuote): void
  forget(kept: KeptQuote): void
}

/**
 * Opens the quotes that this device keeps, by the time of the world. It holds the disk of the device until the session is
 * closed: whatever is read here, nobody else changes.
 *
 * @throws STORAGE_LOCKED
 */
export const openShelf = async (session: Session): Promise<QuoteShelf> => {
  const { paths, talk, globals } = session
  await session.context()
  const { clock } = (await session.world()).io
  const read = (): readonly KeptQuote[] =>
    readKeptQuotes(paths.session, path =>
      talk.warn(`the quotes of earlier commands could not be read; what was there is now in ${path}`)
    )
  const others = ({ quoteId }: KeptQuote): readonly KeptQuote[] =>
    read().filter(quote => quote.quoteId !== quoteId)
  const write = (quotes: readonly KeptQuote[]): void => writeKeptQuotes(paths.session, quotes, clock.now())
  const find = (text: string): KeptQuote | undefined => matchIn(read(), text)
  return {
    find,
    keep(loginId, asked, round) {
      const now = clock.now()
      const open = round.filter(quote => isOpen(quote, now))
      const fresh = open.map(quote => keptOf(loginId, asked, quote, now))
      // Of a round that does not fit, the worst go first.
      write([...read(), ...fresh.toReversed()])
      return fresh.map(({ quoteId }) => quoteId)
    },
    findOpen(text) {
      const kept = find(text)
      if (kept === undefined) throw unknown(text, commandHere(globals, 'swap quote'))
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
    giveBack: kept => write([...others(kept), kept]),
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
  { wish, options }: AskedSwap,
  quote: QuoteSnapshot,
  askedAt: number
): KeptQuote => {
  const { pluginId, quoteId = '', isEstimate = true, minReceiveAmount, expiresAt } = quote
  const promoCode = options.promoCodes?.[pluginId]
  return {
    ...{ quoteId, loginId, pluginId, isEstimate, askedAt },
    fromWalletId: wish.fromWallet.id,
    fromTokenId: wish.fromTokenId ?? null,
    toWalletId: wish.toWallet.id,
    toTokenId: wish.toTokenId ?? null,
    quoteFor: wish.quoteFor,
    nativeAmount: wish.nativeAmount,
    fromNativeAmount: nativeAmount(quote.fromNativeAmount ?? '0'),
    toNativeAmount: nativeAmount(quote.toNativeAmount ?? '0'),
    ...(minReceiveAmount === undefined ? {} : { minReceiveAmount: nativeAmount(minReceiveAmount) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(promoCode === undefined ? {} : { promoCode }),
    isApproved: false
  }
}
