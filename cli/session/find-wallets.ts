import type { Account, CurrencyWallet, WalletId, WalletListing } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { failureOf } from '../errors/failure.ts'
import { readPausedWallets } from '../profile/state-files.ts'
import type { Session } from './session.ts'
import { behindText } from './until-synced.ts'

const MIN_PREFIX = 4

/** The active wallets only, or also those that are archived, deleted or of an unknown currency. */
export type WalletScope = 'any' | 'in use'

/**
 * Opens a wallet by its id, a unique prefix of it of at least 4 characters, or its name.
 *
 * @throws CliError NOT_FOUND, USAGE if several match
 */
export const findWallet = async (
  session: Session,
  text: string,
  scope: WalletScope = 'in use'
): Promise<CurrencyWallet> => openWallet(session, (await findListing(session, text, scope)).walletId)

/** Finds a wallet; names are read only if no id matches. @throws as {@link findWallet} */
export const findListing = async (
  session: Session,
  text: string,
  scope: WalletScope = 'any'
): Promise<WalletListing> => {
  const account = await session.account()
  const active = usableWallets(account)
  // A named wallet whose plugin failed is found, so that the error gives the reason.
  const isMeant = (listing: WalletListing): boolean => scope === 'any' || listing.failure !== undefined
  const others = account
    .listWallets()
    .filter(listing => listing.isWallet && !active.includes(listing) && isMeant(listing))
  const byId = idMatches([...active, ...others], text)
  if (byId.length === 1) return byId[0] as WalletListing
  // The name of an active wallet wins over one of an archived or deleted wallet, which then need not be opened.
  for (const listings of [active, others]) {
    const named = await nameMatches(session, listings, text)
    if (named.length === 1) return named[0] as WalletListing
    if (named.length > 1) throw severalMatch(text)
  }
  throw byId.length > 1 ? severalMatch(text) : notFound(text, scope, failureWarnings(others))
}

/** Returns a warning for each failed plugin that some of these wallets need. */
export const failureWarnings = (listings: readonly WalletListing[]): readonly string[] => {
  const sentences = listings.flatMap(({ failure, deleted }) =>
    failure === undefined || deleted
      ? []
      : [`the plugin ${failure.pluginId} failed to load, so its wallets do not open: ${failure.reason}`]
  )
  return [...new Set(sentences)]
}

/** Returns a warning for each failed plugin whose wallets a command leaves out; none if wallets are named. */
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
  const found = new Map<WalletId, WalletListing>()
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
 * Returns the wallets that a command selects: the named ones, all active ones, or with `--all` the archived ones too.
 *
 * @throws CliError NOT_FOUND, USAGE
 */
export const chooseWallets = async (
  session: Session,
  texts: readonly (string | undefined)[]
): Promise<readonly CurrencyWallet[]> => {
  const named = texts.filter(text => text !== undefined)
  if (!session.isOn('all')) return findWallets(session, named)
  if (named.length > 0) throw new CliError('USAGE', 'Use either --all or the name of a wallet')
  const account = await session.account()
  return openAll(
    session,
    account
      .listWallets()
      .filter(({ isWallet, deleted, currencyInfo }) => isWallet && !deleted && currencyInfo !== undefined)
  )
}

/** Returns the active wallets of known currencies. */
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

/** Names are in the wallets' own files, so the wallets are opened with paused engines. */
const nameMatches = async (
  session: Session,
  listings: readonly WalletListing[],
  text: string
): Promise<readonly WalletListing[]> => {
  const known = listings.filter(({ currencyInfo }) => currencyInfo !== undefined)
  const ids = known.map(({ walletId }) => walletId)
  const wallets = await openEach(ids, walletId => openPaused(session, walletId))
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
        'Use the name of a wallet, its id, or the first letters of its id.',
        ...failures.map(sentenceOf)
      ].join(' '),
      next: [
        { command: 'holdfast wallets list --all', why: 'see the wallets, archived and deleted ones too' }
      ]
    }
  )

const sentenceOf = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** Opens a wallet to use it; its engine is paused only if the user has paused it on this device. */
export const openWallet = (session: Session, walletId: WalletId): Promise<CurrencyWallet> =>
  openWith(session, walletId, readPausedWallets(session.paths.session).has(walletId))

/** Opens a wallet with a paused engine, for facts of its files such as its name. */
export const openPaused = (session: Session, walletId: WalletId): Promise<CurrencyWallet> =>
  openWith(session, walletId, true)

/** Opens many wallets, a few at a time; gives undefined for each that cannot be opened. */
export const openEach = async (
  walletIds: readonly WalletId[],
  open: (walletId: WalletId) => Promise<CurrencyWallet>
): Promise<readonly (CurrencyWallet | undefined)[]> => {
  const opened: (CurrencyWallet | undefined)[] = []
  const waiting = [...walletIds.entries()].reverse()
  const workOff = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [at, walletId] = next
      opened[at] = await open(walletId).catch(() => undefined)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, workOff))
  return opened
}

const AT_ONCE = 8

const openWith = async (session: Session, walletId: WalletId, isPaused: boolean): Promise<CurrencyWallet> => {
  const wallet = await (await session.account()).openWallet(walletId, { isPaused })
  // It may be paused because only its name was needed so far. Its engine is not waited for, and its failure shows in
  // the wallet. A running wallet is not paused by another lookup of its name.
  if (!isPaused && wallet.getSnapshot().isPaused) wallet.changePaused(false).catch(() => {})
  return wallet
}

/** Syncs wallets with their chains, and returns a warning for each that could not be synced. */
export const syncWallets = async (
  session: Session,
  wallets: readonly CurrencyWallet[]
): Promise<readonly string[]> => {
  const warnings: string[] = []
  await Promise.all(
    wallets.map(wallet =>
      session.synced(wallet).catch((error: unknown) => {
        if (session.signal.aborted) throw error
        warnings.push(warningOf(wallet, error))
      })
    )
  )
  return warnings
}

const warningOf = (wallet: CurrencyWallet, error: unknown): string => {
  const { code, message } = failureOf(error)
  if (code === 'WALLET_BEHIND') return `${message}; these are the last values that this device knew`
  if (code === 'DEADLINE') return `${behindText(wallet)}; these are the last values that this device knew`
  return `${wallet.name ?? wallet.id}: ${message}`
}

/** The targets of a sync. */
export interface SyncTargets {
  readonly wallets: readonly CurrencyWallet[]
  /** True if the account's own files are included: by the word `account`, or without any name. */
  readonly hasAccount: boolean
}

/** Reads names of wallets and the word `account`; none means all. @throws as `findWallets` */
export const syncTargetsOf = async (
  session: Session,
  texts: readonly (string | undefined)[]
): Promise<SyncTargets> => {
  const named = texts.filter(text => text !== undefined)
  const names = named.filter(text => text !== ACCOUNT)
  const hasAccount = named.length === 0 || names.length < named.length
  return {
    hasAccount,
    wallets: named.length > 0 && names.length === 0 ? [] : await findWallets(session, names)
  }
}

/** A wallet with this name can be selected by its id only. */
const ACCOUNT = 'account'
