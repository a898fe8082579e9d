import {
  compact,
  isWalletError,
  type SwapQuote,
  type TokenId,
  WalletError,
  type WalletId
} from '../../../kernel/index.ts'
import { AdvisedError, CliError } from '../../errors/cli-error.ts'
import { commandInProfile } from '../../grammar/command-line.ts'
import { coinOf, findAsset } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallet } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import { approveOnTerminal, bestWithin, chooseAndApprove, quoteResult } from '../../swap/approve-quote.ts'
import { rankedQuotes, requestQuotes, settledQuotes, watchQuotes } from '../../swap/collect-quotes.ts'
import { type KeptQuote, openQuoteCache, type QuoteCache } from '../../swap/kept-quotes.ts'
import { checkFee, checkTerms, type KeptTerms } from '../../swap/kept-terms.ts'
import { limitsOf, readSwap, type SwapQuery, type SwapSide, waitOf } from '../../swap/read-swap.ts'
import { canPrompt } from '../../terminal/terminal.ts'

/** Requests quotes: interactively on a terminal, else as a ranked list. */
export const swapQuote: CommandRun = async session => {
  const query = await readSwap(session)
  if (session.isOn('watch')) return watchQuotes(session, query)
  return isWatchedByPerson(session) ? chooseAndApprove(session, query) : rankedQuotes(session, query)
}

/** Returns true if a user can watch the quotes and choose one. */
const isWatchedByPerson = ({ terminal, globals }: Session): boolean =>
  !globals.json &&
  !globals.dryRun &&
  globals.input &&
  terminal.stdout.isTTY === true &&
  terminal.environment.TERM !== 'dumb' &&
  canPrompt(terminal)

/** Requests quotes and approves the best one within `--min-receive` and `--max-fee`, after a review. */
export const swapRun: CommandRun = async session => {
  if (session.globals.yes && session.text('minReceive') === undefined) {
    throw new CliError('USAGE', 'Give the least that must arrive: --min-receive <amount>', {
      hint: 'With --yes there is no review of the quote, and prices move.'
    })
  }
  if (session.globals.yes && session.text('for') === 'to' && session.text('maxPay') === undefined) {
    throw new CliError('USAGE', 'Give the most that may be paid: --max-pay <amount>', {
      hint: 'With --for to the providers set the price, and with --yes there is no review.'
    })
  }
  const query = await readSwap(session)
  const running = await requestQuotes(session, query)
  try {
    const quotes = await settledQuotes(session, running, query)
    const best = bestWithin(query, quotes)
    if (session.globals.dryRun) return quoteResult(query.sides, best)
    return await approveOnTerminal(session, query, best)
  } finally {
    running.close()
  }
}

/**
 * Approves a quote that an earlier command showed.
 *
 * Its provider is asked for a new quote, which is compared with the kept terms, and is then ordered, reviewed and paid
 * as by `swap run`.
 */
export const swapApprove: CommandRun = async (session, text = '') => {
  const cache = await openQuoteCache(session)
  const kept = cache.findOpen(text)
  const account = await session.account()
  if (account.id !== kept.loginId) {
    throw new CliError('NOT_FOUND', `The quote ${kept.quoteId} belongs to another account`, {
      hint: 'Name its account with --account, or get quotes with this account.'
    })
  }
  await checkProvider(session, kept)
  const query = await sameQuery(session, kept)
  const terms: KeptTerms = { kept, sides: query.sides, limits: query.limits }
  const running = await requestQuotes(session, query)
  try {
    const [fresh] = await settledQuotes(session, running, query)
    if (fresh === undefined) throw new WalletError('NO_SWAP_PROVIDERS', {})
    checkTerms(session, terms, fresh)
    checkFee(terms, fresh)
    if (session.globals.dryRun) return quoteResult(query.sides, fresh)
    return await pay(session, { cache, terms, query, fresh })
  } finally {
    running.close()
  }
}

/** @throws CliError NOT_FOUND if the provider is not installed; NO_SWAP_PROVIDERS if it is disabled or needs settings */
const checkProvider = async (session: Session, { pluginId }: KeptQuote): Promise<void> => {
  const plugins = await session.swapPlugins()
  if (plugins.every(({ id }) => id !== pluginId))
    throw new CliError('NOT_FOUND', `The provider ${pluginId} of this quote is no longer installed`)
  const { isEnabled, needsActivation } = (await session.account()).swapConfig(pluginId).getSnapshot()
  if (isEnabled && !needsActivation) return
  const [does, words] = isEnabled ? ['needs settings', 'settings'] : ['is switched off', 'enable']
  throw new AdvisedError(new WalletError('NO_SWAP_PROVIDERS', {}), {
    details: { pluginId },
    hint: `The provider ${pluginId} of this quote ${does}.`,
    next: [{ command: commandInProfile(session.globals, `swap ${words} ${pluginId}`), why: 'enable it' }]
  })
}

/**
 * Builds the query of the kept quote, for its provider alone. Of `max` the kept amount is used, so that no more is paid
 * than was shown.
 */
const sameQuery = async (session: Session, kept: KeptQuote): Promise<SwapQuery> => {
  const { pluginId, quoteFor, promoCode } = kept
  const sides = {
    from: await sideIn(session, kept.fromWalletId, kept.fromTokenId),
    to: await sideIn(session, kept.toWalletId, kept.toTokenId)
  }
  const limits = limitsOf(session, sides)
  await Promise.all([session.synced(sides.from.wallet), session.synced(sides.to.wallet)])
  const others = (await session.swapPlugins()).map(({ id }) => id).filter(id => id !== pluginId)
  return {
    sides,
    request: {
      fromWallet: sides.from.wallet,
      toWallet: sides.to.wallet,
      fromTokenId: kept.fromTokenId,
      toTokenId: kept.toTokenId,
      ...(quoteFor === 'max'
        ? { quoteFor: 'from', nativeAmount: kept.fromNativeAmount }
        : { quoteFor, nativeAmount: kept.nativeAmount })
    },
    options: {
      disabled: others,
      ...compact({ promoCodes: promoCode === undefined ? undefined : { [pluginId]: promoCode } }),
      waitMs: waitOf(session)
    },
    limits
  }
}

const sideIn = async (session: Session, walletId: WalletId, tokenId: TokenId | null): Promise<SwapSide> => {
  const wallet = await findWallet(session, walletId)
  return { wallet, asset: tokenId === null ? coinOf(wallet) : await findAsset(session, wallet, tokenId) }
}

interface Payment {
  readonly cache: QuoteCache
  readonly terms: KeptTerms
  readonly query: SwapQuery
  readonly fresh: SwapQuote
}

const pay = (session: Session, { cache, terms, query, fresh }: Payment) => {
  let isClaimed = false
  return approveOnTerminal(session, query, fresh, {
    checkOrder: review => checkTerms(session, terms, review),
    claim() {
      cache.claim(terms.kept)
      isClaimed = true
    },
    failed(error) {
      // A stop may come too late, and a payment that may have left counts as approved.
      const isSent = isWalletError(error, 'BROADCAST_UNKNOWN') || isWalletError(error, 'BROADCAST_REFUSED')
      const hasLeft = session.signal.aborted || isSent
      if (isClaimed && !hasLeft) cache.release(terms.kept)
    }
  })
}

/** Closes a kept quote; without effect if there is none. */
export const swapClose: CommandRun = async (session, text = '') => {
  const cache = await openQuoteCache(session)
  const kept = cache.find(text)
  const closed = kept !== undefined && !kept.isApproved
  const quoteId = kept?.quoteId ?? text
  const { dryRun } = session.globals
  if (closed && !dryRun) cache.forget(kept)
  const done = closed ? `The quote ${quoteId} is closed` : `There is no open quote ${quoteId} to close`
  return {
    data: { quoteId, closed: closed && !dryRun, ...compact({ dryRun: dryRun || undefined }) },
    view: {
      kind: 'text',
      lines: [closed && dryRun ? `Nothing was changed; without --dry-run: ${done}` : done]
    }
  }
}
