import type { JsonObject, WalletListing, WalletStatesChange } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CommandResult } from '../../output/view.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { findListing, findListings, openPaused } from '../../session/find-wallets.ts'
import { makeUploadedChange } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'

/** Renames a wallet, on all devices. */
export const walletsRename: CommandRun = async (session, text = '', name = '') => {
  if (name.trim() === '') throw new CliError('USAGE', 'The name of a wallet cannot be empty')
  const wallet = await openPaused(session, (await findListing(session, text)).walletId)
  const before = wallet.name
  return makeUploadedChange(
    session,
    {
      doing: 'Renaming the wallet',
      done: `${before ?? wallet.id} is now called ${name}`,
      data: { walletId: wallet.id, name, before },
      call: () => wallet.rename(name)
    },
    wallet
  )
}

/** Sets the fiat currency of a wallet, on all devices. */
export const walletsFiat: CommandRun = async (session, text = '', code = '') => {
  const wallet = await openPaused(session, (await findListing(session, text)).walletId)
  const before = wallet.getSnapshot().fiatCurrencyCode
  return makeUploadedChange(
    session,
    {
      doing: 'Changing the currency',
      done: `${wallet.name ?? wallet.id} now shows its values in ${code}`,
      data: { walletId: wallet.id, fiatCode: code, before },
      call: () => wallet.setFiatCurrencyCode(code)
    },
    wallet
  )
}

/** Changes the sort index of a wallet. */
export const walletsSort: CommandRun = async (session, text = '', place = '') => {
  const sortIndex = /^-?\d{1,9}$/.test(place) ? Number(place) : undefined
  if (sortIndex === undefined) throw new CliError('USAGE', 'The place must be a whole number, such as 3')
  const listing = await findListing(session, text)
  return changeStates(session, [listing], { change: { sortIndex }, done: `at place ${sortIndex}` })
}

/** Archives wallets: they are kept, but not synced. */
export const walletsArchive: CommandRun = (session, ...texts) =>
  changeAll(session, texts, { change: { archived: true }, done: 'archived' })

/** Takes wallets out of the archive. */
export const walletsUnarchive: CommandRun = (session, ...texts) =>
  changeAll(session, texts, { change: { archived: false }, done: 'in use again' })

/** Hides wallets from lists. */
export const walletsHide: CommandRun = (session, ...texts) =>
  changeAll(session, texts, { change: { hidden: true }, done: 'hidden' })

/** Shows hidden wallets again. */
export const walletsUnhide: CommandRun = (session, ...texts) =>
  changeAll(session, texts, { change: { hidden: false }, done: 'shown again' })

/** Marks wallets as deleted, after a question; their keys stay in the account. */
export const walletsDelete: CommandRun = async (session, ...texts) => {
  const listings = await findListings(session, texts)
  const ids = listings.map(({ walletId }) => walletId)
  if (!session.globals.dryRun) {
    const what = ids.length === 1 ? `the wallet ${texts[0]}` : `${ids.length} wallets`
    await confirm(session, {
      question: `Delete ${what}, on every device? "wallets undelete" brings it back.`,
      summary: { walletIds: ids }
    })
  }
  return changeStates(session, listings, { change: { deleted: true }, done: 'deleted' })
}

/** Restores deleted wallets. */
export const walletsUndelete: CommandRun = (session, ...texts) =>
  changeAll(session, texts, { change: { deleted: false }, done: 'there again' })

/** A change of wallet states, and its description. */
interface StatesChange {
  readonly change: WalletStatesChange
  readonly done: string
}

const changeAll = async (
  session: Session,
  texts: readonly (string | undefined)[],
  change: StatesChange
): Promise<CommandResult> => changeStates(session, await findListings(session, texts), change)

const changeStates = async (
  session: Session,
  listings: readonly WalletListing[],
  { change, done }: StatesChange
): Promise<CommandResult> => {
  const account = await session.account()
  const ids = listings.map(({ walletId }) => walletId)
  return makeUploadedChange(session, {
    doing: 'Changing the account',
    done: ids.length === 1 ? `The wallet is ${done}: ${ids[0]}` : `${ids.length} wallets are ${done}`,
    data: { walletIds: ids, ...(change as JsonObject) },
    call: () => account.changeWalletStates(Object.fromEntries(ids.map(id => [id, change])))
  })
}
