import type { Account, CurrencyWallet, WalletListing } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Session } from '../session.ts'
import { openEach, openResting, openWallet } from './open-wallet.ts'

const MIN_PREFIX = 4

/** The wallets in use, or also those that are archived, deleted or of no known currency. */
export type WalletScope = 'any' | 'in use'

/**
 * Opens the wallet that a person means: its full id, a unique beginning of it of at least 4 letters, or its name.
 *
 * @throws CliError NOT_FOUND, USAGE if several match
 */
export const findWallet = async (
  session: Session,
  text: string,
  scope: WalletScope = 'in use'
): Promise<CurrencyWallet> => openWallet(session, (await findListing(session, text, scope)).walletId)

/** Finds the wallet that a person means; names are read only where no id fits. @throws as {@link findWallet} */
export const findListing = async (
  session: Session,
  text: string,
  scope: WalletScope = 'any'
): Promise<WalletListing> => {
  const account = await session.account()
  const active = usableWallets(account)
  // Who names a wallet whose plugin failed is to hear why, and not that there is none.
  const isMeant = (listing: WalletListing): boolean => scope === 'any' || listing.failure !== undefined
  const others = account
    .listWallets()
    .filter(listing => listing.isWallet && !active.includes(listing) && isMeant(listing))
  const byId = idMatches([...active, ...others], text)
  if (byId.length === 1) return byId[0] as WalletListing
  // A name that is in use counts before one that was put away, which then need not be opened.
  for (const listings of [active, others]) {
    const named = await nameMatches(session, listings, text)
    if (named.length === 1) return named[0] as WalletListing
    if (named.length > 1) throw severalMatch(text)
  }
  throw byId.length > 1 ? severalMatch(text) : notFound(text, scope, failureWarnings(others))
}

/** One sentence for each plugin that failed and that some of these wallets need. */
export const failureWarnings = (listings: readonly WalletListing[]): readonly string[] => {
  const sentences = listings.flatMap(({ failure, deleted }) =>
    failure === undefined || deleted
      ? []
      : [`the plugin ${failure.pluginId} failed to load, so its wallets cannot be used: ${failure.reason}`]
  )
  return [...new Set(sentences)]
}

/** One sentence for each plugin whose wallets a command leaves out because it failed; none where wallets are named. */
export const leftOutWarnings = async (
  session: Session,
  texts: readonly (string | undefined)[]
): Promise<readonly string[]> =>
  texts.some(text => text !== undefined) ? [] : failureWarnings((await session.account()).listWallets())

/** Finds several, each once. @throws as {@link findWallet} */
export const findListings = async (
  session: Session,
  texts: readonly (string | undefined)[]
): Promise<readonly WalletListing[]> => {
  const found = new Map<string, WalletListing>()
  for (const text of texts) {
    if (text === undefined) continue
    const listing = await findListing(session, text)
    found.set(listing.walletId, listing)
  }
  return [...found.values()]
}

/** Opens the wallets that are named, or every wallet in use if none is. */
export const findWallets = async (
  session: Session,
  texts: readonly string[]
): Promise<readonly CurrencyWallet[]> => {
  if (texts.length > 0) {
    const found: CurrencyWallet[] = []
    for (const text of texts) found.push(await findWallet(session, text))
    return found
  }
  return openAll(session, usableWallets(await session.account()))
}

/**
 * The wallets that a command is about: those that are named, every one in use, or, with `--all`, the archived ones too.
 *
 * @throws CliError NOT_FOUND, USAGE
 */
export const chooseWallets = async (
  session: Session,
  texts: readonly (string | undefined)[]
): Promise<readonly CurrencyWallet[]> => {
  const named = texts.filter(text => text !== undefined)
  if (!session.isOn('all')) return findWallets(session, named)
  if (named.length > 0) throw new CliError('USAGE', '--all does not go with the name of a wallet')
  const account = await session.account()
  return openAll(
    session,
    account
      .listWallets()
      .filter(({ isWallet, deleted, currencyInfo }) => isWallet && !deleted && currencyInfo !== undefined)
  )
}

/** The wallets that are in use and whose currency there is a plugin for. */
const usableWallets = (account: Account): readonly WalletListing[] =>
  account
    .listWallets()
    .filter(
      ({ isWallet, deleted, archived, currencyInfo }) =>
        isWallet && !deleted && !archived && currencyInfo !== undefined
    )

const openAll = (session: Session, listings: readonly WalletListing[]): Promise<CurrencyWallet[]> =>
  Promise.all(listings.map(({ walletId }) => openWallet(session, walletId)))

/** The one with that id, or those that begin with it. */
const idMatches = (listings: readonly WalletListing[], text: string): readonly WalletListing[] => {
  const same = listings.filter(({ walletId }) => walletId === text)
  if (same.length > 0 || text.length < MIN_PREFIX) return same
  return listings.filter(({ walletId }) => walletId.startsWith(text))
}

/** Names are in the wallets' own files. Only the wallet that is meant will be woken. */
const nameMatches = async (
  session: Session,
  listings: readonly WalletListing[],
  text: string
): Promise<readonly WalletListing[]> => {
  const known = listings.filter(({ currencyInfo }) => currencyInfo !== undefined)
  const ids = known.map(({ walletId }) => walletId)
  const wallets = await openEach(ids, walletId => openResting(session, walletId))
  session.signal.throwIfAborted()
  return known.filter((_, at) => wallets[at]?.name?.toLowerCase() === text.toLowerCase())
}

const severalMatch = (text: string): CliError =>
  new CliError('USAGE', `Several wallets are called "${text}"`, {
    hint: 'Use the beginning of the id instead.',
    next: [{ command: 'holdfast wallets list --all', why: 'see the ids' }]
  })

const notFound = (text: string, scope: WalletScope, failures: readonly string[]): CliError =>
  new CliError(
    'NOT_FOUND',
    `There is no wallet "${text}" ${scope === 'any' ? 'in this account' : 'in use in this account'}`,
    {
      hint: [
        'Use the name of a wallet, its id, or the first letters of it.',
        ...failures.map(sentenceOf)
      ].join(' '),
      next: [
        { command: 'holdfast wallets list --all', why: 'see the wallets, archived and deleted ones too' }
      ]
    }
  )

const sentenceOf = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
