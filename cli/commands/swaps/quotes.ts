import { isWalletError, type SwapQuote, WalletError } from '../../../kernel/index.ts'
import { AdvisedError, CliError } from '../../errors/cli-error.ts'
import { commandHere } from '../../grammar/command-line.ts'
import { coinOf, findAsset } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import type { Session } from '../../session/session.ts'
import { findWallet } from '../../session/wallets.ts'
import { approveQuote, bestWithin, chooseAndApprove, quoteResult } from '../../swap/approve.ts'
import { askQuotes, rankedQuotes, settledQuotes, watchQuotes } from '../../swap/ask-quotes.ts'
import { type KeptQuote, openShelf, type QuoteShelf } from '../../swap/kept-quotes.ts'
import { checkFee, checkTerms, type KeptTerms } from '../../swap/kept-terms.ts'
import { type AskedSwap, limitsOf, readSwap, type SwapPlace, waitOf } from '../../swap/request.ts'
import { canAsk } from '../../terminal/terminal.ts'

/** Asks for quotes: in a terminal to choose one, elsewhere to see them ranked. */
export const swapQuote: CommandRun = async session => {
  const asked = await readSwap(session)
  if (session.isOn('watch')) return watchQuotes(session, asked)
  return isWatchedByPerson(session) ? chooseAndApprove(session, asked) : rankedQuotes(session, asked)
}

/** Somebody sees the quotes and can choose one. */
const isWatchedByPerson = ({ terminal, globals }: Session): boolean =>
  !globals.json &&
  !globals.dryRun &&
  globals.input &&
  terminal.stdout.isTTY === true &&
  terminal.environment.TERM !== 'dumb' &&
  canAsk(terminal)

/** Asks for quotes and approves the best one that is within `--min-receive` and `--max-fee`, after a review. */
export const swapRun: CommandRun = async session => {
  if (session.globals.yes && session.text('minReceive') === undefined) {
    throw new CliError('USAGE', 'Say what must arrive at least: --min-receive <amount>', {
      hint: 'Nobody reviews the quote with --yes, and prices move.'
    })
  }
  if (session.globals.yes && session.text('for') === 'to' && session.text('maxPay') === undefined) {
    throw new CliError('USAGE', 'Say what may be paid at most: --max-pay <amount>', {
      hint: 'With --for to the providers say what it costs, and nobody reviews it with --yes.'
    })
  }
  const asked = await readSwap(session)
  const asking = await askQuotes(session, asked)
  try {
    const quotes = await settledQuotes(session, asking, asked)
    const best = bestWithin(asked, quotes)
    if (session.globals.dryRun) return quoteResult(asked.places, best)
    return await approveQuote(session, asked, best)
  } finally {
    asking.close()
  }
}

/**
 * Approves a quote that an earlier command showed: its provider is asked again, what it says now is held against what was
 * shown, and then it is ordered, reviewed and paid as by `swap run`.
 */
export const swapApprove: CommandRun = async (session, text = '') => {
  const shelf = await openShelf(session)
  const kept = shelf.findOpen(text)
  const account = await session.account()
  if (account.id !== kept.loginId) {
    throw new CliError('NOT_FOUND', `The quote ${kept.quoteId} was given to another account`, {
      hint: 'Name the account that asked for it with --account, or ask for quotes with this one.'
    })
  }
  await checkProvider(session, kept)
  const asked = await askedAgain(session, kept)
  const terms: KeptTerms = { kept, places: asked.places, limits: asked.limits }
  const asking = await askQuotes(session, asked)
  try {
    const [fresh] = await settledQuotes(session, asking, asked)
    if (fresh === undefined) throw new WalletError('NO_SWAP_PROVIDERS', {})
    checkTerms(session, terms, fresh)
    checkFee(terms, fresh)
    if (session.globals.dryRun) return quoteResult(asked.places, fresh)
    return await pay(session, { shelf, terms, asked, fresh })
  } finally {
    asking.close()
  }
}

/** @throws CliError NOT_FOUND if the provider is gone; NO_SWAP_PROVIDERS if it may not be asked */
const checkProvider = async (session: Session, { pluginId }: KeptQuote): Promise<void> => {
  const plugins = await session.swapPlugins()
  if (plugins.every(({ id }) => id !== pluginId))
    throw new CliError(
      'NOT_FOUND',
      `The provider ${pluginId}, which gave this quote, is not installed any more`
    )
  const { isEnabled, needsActivation } = (await session.account()).swapConfig(pluginId).getSnapshot()
  if (isEnabled && !needsActivation) return
  const [does, words] = isEnabled ? ['needs settings', 'settings'] : ['is switched off', 'enable']
  throw new AdvisedError(new WalletError('NO_SWAP_PROVIDERS', {}), {
    details: { pluginId },
    hint: `The provider ${pluginId}, which gave this quote, ${does}.`,
    next: [{ command: commandHere(session.globals, `swap ${words} ${pluginId}`), why: 'let it be asked' }]
  })
}

/** The same question as before, to its provider alone; all there is stays what it was, so that no more is paid. */
const askedAgain = async (session: Session, kept: KeptQuote): Promise<AskedSwap> => {
  const { pluginId, quoteFor, promoCode } = kept
  const places = {
    from: await placeOf(session, kept.fromWalletId, kept.fromTokenId),
    to: await placeOf(session, kept.toWalletId, kept.toTokenId)
  }
  const limits = limitsOf(session, places)
  await Promise.all([session.synced(places.from.wallet), session.synced(places.to.wallet)])
  const others = (await session.swapPlugins()).map(({ id }) => id).filter(id => id !== pluginId)
  return {
    places,
    wish: {
      fromWallet: places.from.wallet,
      toWallet: places.to.wallet,
      fromTokenId: kept.fromTokenId,
      toTokenId: kept.toTokenId,
      ...(quoteFor === 'max'
        ? { quoteFor: 'from', nativeAmount: kept.fromNativeAmount }
        : { quoteFor, nativeAmount: kept.nativeAmount })
    },
    options: {
      disabled: others,
      ...(promoCode === undefined ? {} : { promoCodes: { [pluginId]: promoCode } }),
      waitMs: waitOf(session)
    },
    limits
  }
}

const placeOf = async (session: Session, walletId: string, tokenId: string | null): Promise<SwapPlace> => {
  const wallet = await findWallet(session, walletId)
  return { wallet, asset: tokenId === null ? coinOf(wallet) : await findAsset(session, wallet, tokenId) }
}

interface Payment {
  readonly shelf: QuoteShelf
  readonly terms: KeptTerms
  readonly asked: AskedSwap
  readonly fresh: SwapQuote
}

const pay = (session: Session, { shelf, terms, asked, fresh }: Payment) => {
  let isClaimed = false
  return approveQuote(session, asked, fresh, {
    checkOrder: review => checkTerms(session, terms, review),
    claim() {
      shelf.claim(terms.kept)
      isClaimed = true
    },
    failed(error) {
      // Whoever stopped it may have stopped it too late, and bytes that may have left are approved.
      const isSent = isWalletError(error, 'BROADCAST_UNKNOWN') || isWalletError(error, 'BROADCAST_REFUSED')
      const hasLeft = session.signal.aborted || isSent
      if (isClaimed && !hasLeft) shelf.giveBack(terms.kept)
    }
  })
}

/** Forgets a quote that an earlier command showed; one that is not there is forgotten already. */
export const swapClose: CommandRun = async (session, text = '') => {
  const shelf = await openShelf(session)
  const kept = shelf.find(text)
  const closed = kept !== undefined && !kept.isApproved
  const quoteId = kept?.quoteId ?? text
  const { dryRun } = session.globals
  if (closed && !dryRun) shelf.forget(kept)
  const done = closed
    ? `The quote ${quoteId} is closed`
    : `There was nothing to close: no open quote ${quoteId} is kept`
  return {
    data: { quoteId, closed: closed && !dryRun, ...(dryRun ? { dryRun } : {}) },
    view: {
      kind: 'text',
      lines: [closed && dryRun ? `Nothing was changed; without --dry-run: ${done}` : done]
    }
  }
}
