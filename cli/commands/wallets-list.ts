import { amountText, type CurrencyWallet, type JsonObject, type WalletListing } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { syncCell, walletJson } from '../output/facts.ts'
import type { CellLike } from '../output/view.ts'
import { failureWarnings } from '../session/find-wallet.ts'
import { type ShownWallet, showWallets } from '../session/shown-wallets.ts'
import { watchResult } from '../session/watch.ts'
import type { Session } from '../session.ts'

/** Lists the wallets of the account with their balances. */
export const walletsList: CommandRun = session =>
  session.isOn('watch')
    ? watchResult(session, 'wallets.list', () => listOf(session, { wantsSync: false }))
    : listOf(session, { wantsSync: true })

const listOf = async (session: Session, options: { readonly wantsSync: boolean }): Promise<CommandResult> => {
  const account = await session.account()
  const wallets = account.listWallets().filter(({ isWallet }) => isWallet)
  const listings = wallets.filter(choiceOf(session))
  const { shown, warnings } = await showWallets(session, listings, options)
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
          ? 'This account has no wallet yet. Make one with: holdfast wallets create bitcoin'
          : 'No wallet is like that. See all with: holdfast wallets list --all'
    }
  }
}

/** Each flag adds the wallets of its state; without any, those that an app shows: neither put away nor hidden. */
const choiceOf = (session: Session): ((listing: WalletListing) => boolean) => {
  if (session.isOn('all')) return () => true
  const flags = (['archived', 'deleted', 'hidden'] as const).filter(flag => session.isOn(flag))
  if (flags.length === 0) return ({ archived, deleted, hidden }) => !archived && !deleted && !hidden
  return listing => flags.some(flag => listing[flag])
}

const sortedBy = (order: string, shown: readonly ShownWallet[]): readonly ShownWallet[] => {
  if (order === 'index') return shown
  const nameOf = ({ wallet }: ShownWallet): string => wallet?.name ?? ''
  const byName = (a: ShownWallet, b: ShownWallet): number => nameOf(a).localeCompare(nameOf(b))
  if (order === 'name') return shown.toSorted(byName)
  const codeOf = ({ listing }: ShownWallet): string => listing.currencyInfo?.currencyCode ?? '\uffff'
  const amountOf = ({ wallet }: ShownWallet): bigint => BigInt(wallet?.balanceOf(null) ?? 0)
  return shown.toSorted(
    (a, b) => codeOf(a).localeCompare(codeOf(b)) || compare(amountOf(b), amountOf(a)) || byName(a, b)
  )
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

const jsonOf = ({ wallet, listing, assets }: ShownWallet): JsonObject => {
  if (wallet !== undefined) return walletJson(wallet, listing, assets)
  const { walletId, type, archived, deleted, hidden, sortIndex, currencyInfo, failure } = listing
  const error = currencyInfo === undefined ? 'PLUGIN_FOR_TYPE' : 'SYNC_FAILED'
  return {
    ...{ id: walletId, name: null, type, pluginId: currencyInfo?.pluginId ?? failure?.pluginId ?? null },
    ...{ archived, deleted, hidden, paused: false, sortIndex },
    engine:
      failure === undefined
        ? { state: 'created', error }
        : { state: 'failed', error, failure: failure.reason },
    balances: []
  }
}

const rowOf = ({ wallet, listing, assets }: ShownWallet): readonly CellLike[] => {
  const { archived, deleted, hidden, type, walletId } = listing
  const flags = [
    ...(archived ? ['archived'] : []),
    ...(deleted ? ['deleted'] : []),
    ...(hidden ? ['hidden'] : [])
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
