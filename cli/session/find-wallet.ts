import type { Account, CurrencyWallet, WalletListing } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Session } from '../session.ts'

const MIN_PREFIX = 4

/**
 * Opens the wallet that a person means: its full id, a unique beginning of it of at least 4 letters, or its name.
 *
 * @throws CliError NOT_FOUND, USAGE if several match
 */
export const findWallet = async (session: Session, text: string): Promise<CurrencyWallet> => {
  const account = await session.account()
  const listings = usableWallets(account)
  const byId = listings.filter(({ walletId }) => walletId === text)
  const byPrefix =
    text.length < MIN_PREFIX ? [] : listings.filter(({ walletId }) => walletId.startsWith(text))
  const [found, ...others] = byId.length > 0 ? byId : byPrefix
  if (found !== undefined && others.length === 0) return account.openWallet(found.walletId)
  const wallets = await openAll(account, listings)
  const named = wallets.filter(({ name }) => name?.toLowerCase() === text.toLowerCase())
  const [one, ...more] = named
  if (one !== undefined && more.length === 0) return one
  if (one === undefined && found === undefined) throw notFound(text)
  throw new CliError('USAGE', `Several wallets are called "${text}"`, {
    hint: 'Use the beginning of the id instead.',
    next: [{ command: 'holdfast wallets list', why: 'see the ids' }]
  })
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
  const account = await session.account()
  return openAll(account, usableWallets(account))
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
    account,
    account.listWallets().filter(({ deleted, currencyInfo }) => !deleted && currencyInfo !== undefined)
  )
}

/** The wallets that are in use and whose currency there is a plugin for. */
export const usableWallets = (account: Account): readonly WalletListing[] =>
  account
    .listWallets()
    .filter(({ deleted, archived, currencyInfo }) => !deleted && !archived && currencyInfo !== undefined)

const openAll = (account: Account, listings: readonly WalletListing[]): Promise<CurrencyWallet[]> =>
  Promise.all(listings.map(({ walletId }) => account.openWallet(walletId)))

const notFound = (text: string): CliError =>
  new CliError('NOT_FOUND', `There is no wallet "${text}" in this account`, {
    hint: 'Use the name of a wallet, its id, or the first letters of it.',
    next: [{ command: 'holdfast wallets list', why: 'see the wallets' }]
  })
