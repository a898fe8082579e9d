import type { Asset } from '../../../app/format/amounts.ts'
import {
  amountText,
  type CurrencyInfo,
  type CurrencyWallet,
  type JsonObject,
  type WalletId,
  type WalletListing
} from '../../../kernel/index.ts'
import type { CellLike, CommandResult } from '../../output/view.ts'
import { syncCell, walletJson } from '../../output/wallet-texts.ts'
import { assetsUnlessPaused } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import {
  failureWarnings,
  findListing,
  openEach,
  openPaused,
  openWallet,
  syncWallets
} from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import { watchResult } from '../../session/watch.ts'

/** Lists the wallets of the account with their balances. */
export const walletsList: CommandRun = session =>
  session.isOn('watch')
    ? watchResult(session, 'wallets.list', () => listOf(session, { wantsSync: false }))
    : listOf(session, { wantsSync: true })

const listOf = async (session: Session, options: { readonly wantsSync: boolean }): Promise<CommandResult> => {
  const account = await session.account()
  const wallets = account.listWallets().filter(({ isWallet }) => isWallet)
  const listings = wallets.filter(choiceOf(session))
  const { shown, warnings } = await openListedWallets(session, listings, options)
  const sorted = sortedBy(session.text('sort') ?? 'index', shown)
  return {
    data: { wallets: sorted.map(jsonOf) },
    warnings: [...failureWarnings(listings), ...warnings],
    view: {
      kind: 'table',
      columns: [
        { title: 'NAME', canShrink: true },
        { title: 'BALANCE', align: 'right' },
        { title: 'STATE' },
        { title: 'FLAGS' },
        { title: 'TYPE', canShrink: true },
        { title: 'ID', canShrink: true }
      ],
      rows: sorted.map(rowOf),
      empty:
        wallets.length === 0
          ? 'This account has no wallet yet. Create one with: holdfast wallets create bitcoin'
          : 'No wallet matches. See all with: holdfast wallets list --all'
    }
  }
}

/**
 * Each flag adds the wallets of its state; without a flag only active ones are listed, neither archived, deleted nor
 * hidden.
 */
const choiceOf = (session: Session): ((listing: WalletListing) => boolean) => {
  if (session.isOn('all')) return () => true
  const flags = (['archived', 'deleted', 'hidden'] as const).filter(flag => session.isOn(flag))
  if (flags.length === 0) return ({ archived, deleted, hidden }) => !archived && !deleted && !hidden
  return listing => flags.some(flag => listing[flag])
}

const sortedBy = (order: string, shown: readonly ListedWallet[]): readonly ListedWallet[] => {
  if (order === 'index') return shown
  const nameOf = ({ wallet }: ListedWallet): string => wallet?.name ?? ''
  const byName = (a: ListedWallet, b: ListedWallet): number => nameOf(a).localeCompare(nameOf(b))
  if (order === 'name') return shown.toSorted(byName)
  const codeOf = ({ listing }: ListedWallet): string => listing.currencyInfo?.currencyCode ?? '\uffff'
  const amountOf = ({ wallet }: ListedWallet): bigint => BigInt(wallet?.balanceOf(null) ?? 0)
  return shown.toSorted(
    (a, b) => codeOf(a).localeCompare(codeOf(b)) || compare(amountOf(b), amountOf(a)) || byName(a, b)
  )
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

const jsonOf = ({ wallet, listing, assets }: ListedWallet): JsonObject => {
  if (wallet !== undefined) return walletJson(wallet, listing, assets)
  const { walletId, type, archived, deleted, hidden, sortIndex, currencyInfo, failure } = listing
  const { isWatchOnly = false } = listing
  const error = currencyInfo === undefined ? 'PLUGIN_FOR_TYPE' : 'SYNC_FAILED'
  return {
    ...{ id: walletId, name: null, type, pluginId: currencyInfo?.pluginId ?? failure?.pluginId ?? null },
    ...{ archived, deleted, hidden, paused: false, watchOnly: isWatchOnly, sortIndex },
    engine:
      failure === undefined
        ? { state: 'created', error }
        : { state: 'failed', error, failure: failure.reason },
    balances: []
  }
}

const rowOf = ({ wallet, listing, assets }: ListedWallet): readonly CellLike[] => {
  const { archived, deleted, hidden, isWatchOnly = false, type, walletId } = listing
  const flags = [
    ...(archived ? ['archived'] : []),
    ...(deleted ? ['deleted'] : []),
    ...(hidden ? ['hidden'] : []),
    ...(isWatchOnly ? ['watch-only'] : [])
  ]
  const [coin, ...tokens] = assets
  const held = tokens.filter(({ tokenId }) => wallet?.balanceOf(tokenId) !== '0').length
  const balance = wallet === undefined || coin === undefined ? '' : amountText(wallet.balanceOf(null), coin)
  return [
    wallet?.name ?? '',
    held === 0 ? balance : `${balance} + ${held} ${held === 1 ? 'token' : 'tokens'}`,
    stateOf(wallet, listing),
    flags.join(' '),
    type,
    walletId
  ]
}

const stateOf = (
  wallet: CurrencyWallet | undefined,
  { currencyInfo, failure, archived, deleted }: WalletListing
): CellLike => {
  if (failure !== undefined) return { text: 'plugin failed', tone: 'bad' }
  if (currencyInfo === undefined) return { text: 'no plugin', tone: 'warn' }
  if (wallet === undefined) return { text: 'not opened', tone: 'bad' }
  return archived || deleted ? '' : syncCell(wallet.engine.getSnapshot())
}

/** A wallet as a list shows it. */
interface ListedWallet {
  readonly listing: WalletListing
  /** Undefined if no plugin supports its type, or it cannot be opened. */
  readonly wallet: CurrencyWallet | undefined
  /** The assets whose balance is shown; none of a paused wallet. */
  readonly assets: readonly Asset[]
}

/** Wallets as a list shows them, and one warning for each that could not be synced. */
export interface ListedWallets {
  readonly shown: readonly ListedWallet[]
  readonly warnings: readonly string[]
}

/** Opens wallets to list them: active ones are synced, archived and deleted ones are opened for their names only. */
const openListedWallets = async (
  session: Session,
  listings: readonly WalletListing[],
  { wantsSync }: { readonly wantsSync: boolean }
): Promise<ListedWallets> => {
  const known = listings.filter(({ currencyInfo }) => currencyInfo !== undefined)
  const opened = await openListed(session, known)
  const isAwake = ({ archived, deleted }: WalletListing): boolean => !archived && !deleted
  const awake = known.flatMap(listing => {
    const wallet = opened.get(listing.walletId)
    return wallet !== undefined && isAwake(listing) ? [wallet] : []
  })
  const warnings = wantsSync ? await syncWallets(session, awake) : []
  const shown = listings.map(async (listing): Promise<ListedWallet> => {
    const wallet = opened.get(listing.walletId)
    return { listing, wallet, assets: wallet === undefined ? [] : await assetsUnlessPaused(session, wallet) }
  })
  return { shown: await Promise.all(shown), warnings }
}

const openListed = async (
  session: Session,
  listings: readonly WalletListing[]
): Promise<ReadonlyMap<WalletId, CurrencyWallet>> => {
  const putAway = new Set(
    listings.filter(({ archived, deleted }) => archived || deleted).map(({ walletId }) => walletId)
  )
  const wallets = await openEach(
    listings.map(({ walletId }) => walletId),
    walletId => (putAway.has(walletId) ? openPaused(session, walletId) : openWallet(session, walletId))
  )
  session.signal.throwIfAborted()
  return new Map(
    listings.flatMap(({ walletId }, at) => {
      const wallet = wallets[at]
      return wallet === undefined ? [] : [[walletId, wallet] as const]
    })
  )
}

/** Lists the types of wallets that can be created, or that a wallet can be split into. */
export const walletsTypes: CommandRun = async session => {
  const all = await session.currencies()
  const source = session.text('splittableFrom')
  const types = source === undefined ? all : await splittableFrom(source)
  return {
    data: { types: types.map(typeJson) },
    view: {
      kind: 'table',
      columns: [
        { title: 'TYPE' },
        { title: 'CURRENCY', canShrink: true },
        { title: 'CODE' },
        { title: 'IMPORT' },
        { title: 'UNITS', canShrink: true }
      ],
      rows: types.map(info => [
        info.walletType.replace(/^wallet:/, ''),
        info.displayName,
        info.currencyCode,
        info.canImportKeys === false ? 'no' : 'yes',
        info.denominations.map(({ name }) => name).join(', ')
      ]),
      empty: 'This wallet cannot be split into any other type.'
    }
  }

  async function splittableFrom(text: string): Promise<readonly CurrencyInfo[]> {
    const { walletId } = await findListing(session, text)
    const names = await (await session.account()).listSplittableWalletTypes(walletId)
    return all.filter(({ walletType }) => names.includes(walletType))
  }
}

const typeJson = (info: CurrencyInfo): JsonObject => ({
  type: info.walletType,
  pluginId: info.pluginId,
  name: info.displayName,
  code: info.currencyCode,
  canImport: info.canImportKeys !== false,
  denominations: info.denominations.map(({ name, multiplier }) => ({ name, multiplier }))
})
