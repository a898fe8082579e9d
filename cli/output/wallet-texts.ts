import { type AmountJson, type Asset, amountJson } from '../../app/format/amounts.ts'
import {
  amountText,
  type CurrencyWallet,
  type EngineSnapshot,
  type JsonObject,
  type RepoStatus,
  type TokenId,
  type WalletListing,
  ZERO
} from '../../kernel/index.ts'
import { DEVICE_ONLY, localTime } from './texts.ts'
import type { Cell } from './view.ts'

/** A wallet as JSON (ecosystem 1.8), with the balances of its assets. */
export const walletJson = (
  wallet: CurrencyWallet,
  listing: WalletListing,
  assets: readonly Asset[]
): JsonObject => {
  const { archived, deleted, hidden, sortIndex, isWatchOnly = false } = listing
  const { fiatCurrencyCode, isPaused } = wallet.getSnapshot()
  const engine = wallet.engine.getSnapshot()
  return {
    id: wallet.id,
    name: wallet.name,
    type: wallet.type,
    pluginId: wallet.currencyInfo.pluginId,
    archived,
    deleted,
    hidden,
    paused: isPaused,
    watchOnly: isWatchOnly,
    sortIndex,
    fiatCode: fiatCurrencyCode,
    sync: syncJson(engine),
    engine: { state: engine.state, error: engine.errorCode ?? null },
    balances: assets.map(asset => balanceJson(wallet, asset))
  }
}

/** The balance of one asset as JSON. */
export const balanceJson = (wallet: CurrencyWallet, asset: Asset): BalanceJson => ({
  tokenId: asset.tokenId,
  ...amountJson(wallet.balanceOf(asset.tokenId), asset),
  ...Object.fromEntries(
    PARTS.map(part => [part, amountJson(wallet.balanceDetailsOf(asset.tokenId)[part] ?? ZERO, asset)])
  ),
  grade: wallet.balanceDetailsOf(asset.tokenId).grade ?? null,
  paymentsGrade: wallet.balanceDetailsOf(asset.tokenId).paymentsGrade ?? null
})

const PARTS = ['spendable', 'incoming', 'immature', 'reserved', 'frozen'] as const

/** Lists the parts of a balance that cannot be spent yet, and why; '' if there are none. */
export const heldBackText = (wallet: CurrencyWallet, asset: Asset): string => {
  const { incoming, immature, reserved, frozen = ZERO } = wallet.balanceDetailsOf(asset.tokenId)
  return Object.entries({ incoming, immature, reserved, frozen })
    .filter(([, amount]) => amount !== '0')
    .map(([part, amount]) => `${amountText(amount, asset)} ${part}`)
    .join(', ')
}

/** Formats a balance with the parts that cannot be spent yet. */
export const balanceText = (wallet: CurrencyWallet, asset: Asset): string => {
  const held = heldBackText(wallet, asset)
  return `${amountText(wallet.balanceOf(asset.tokenId), asset)}${held === '' ? '' : ` (${held})`}`
}

/** A balance as JSON. */
export type BalanceJson = AmountJson & { readonly tokenId: TokenId | null } & JsonObject

/**
 * The sync state of a wallet as JSON: a balance counts once `state` is `synced`. `behind` is the reason and time of
 * outdated data, or null.
 */
export const syncJson = (engine: EngineSnapshot): JsonObject => ({
  ratio: engine.syncRatio,
  state: syncWord(engine),
  height: engine.blockHeight,
  behind:
    engine.failure === undefined
      ? null
      : {
          reason: engine.failure,
          error: engine.errorCode ?? null,
          since: new Date(engine.since * 1000).toISOString()
        }
})

/** Returns the sync state in one word. */
const syncWord = ({ state, syncRatio, isPaused, failure }: EngineSnapshot): string => {
  if (state === 'failed') return 'failed'
  if (isPaused) return 'paused'
  // Without a connection the data is outdated, however complete.
  if (failure !== undefined) return 'behind'
  return syncRatio >= 1 ? 'synced' : 'syncing'
}

/** The sync state as a cell: never a colour alone. */
export const syncCell = (engine: EngineSnapshot): Cell => {
  const text = syncWord(engine)
  const tones: Readonly<Record<string, Cell['tone']>> = { synced: 'good', failed: 'bad' }
  return { text, tone: tones[text] ?? 'warn' }
}

/** Names the owner of a repo: its wallet, or the account. */
export const ownerNameOf = (
  { ownerId, type }: Pick<RepoStatus, 'ownerId' | 'type'>,
  wallets: readonly Pick<CurrencyWallet, 'id' | 'name'>[]
): string => {
  const wallet = wallets.find(({ id }) => id === ownerId)
  if (wallet !== undefined) return wallet.name ?? wallet.id
  return type.startsWith('wallet:') ? ownerId : 'account'
}

/** A repo as JSON. */
export const repoJson = (repo: RepoStatus): JsonObject => ({
  repoId: repo.repoId,
  ownerId: repo.ownerId,
  type: repo.type,
  hashBefore: repo.openingHash ?? null,
  hash: repo.lastHash ?? null,
  sent: repo.sent,
  received: repo.received,
  pending: repo.pendingCount,
  merged: repo.mergedCount ?? 0,
  doubtful: repo.doubtfulCount ?? 0,
  lastSync: repo.lastSync > 0 ? new Date(repo.lastSync * 1000).toISOString() : null,
  deviceOnly: repo.isDeviceOnly ?? false,
  syncing: repo.isSyncing,
  error: repo.errorCode ?? null,
  kept: repo.keptCount ?? 0,
  rolledBackAt: repo.rolledBackAt === undefined ? null : new Date(repo.rolledBackAt * 1000).toISOString(),
  rolledBackFiles: repo.rolledBackFiles ?? 0
})

/** Returns advice on repos: a server that showed an older state, and files that can be restored. */
export const repoAdvice = (repos: readonly RepoStatus[]): { readonly advice?: readonly string[] } => {
  const kept = repos.reduce((sum, { keptCount = 0 }) => sum + keptCount, 0)
  const old = repos.filter(({ rolledBackAt }) => rolledBackAt !== undefined)
  const files = old.reduce((sum, { rolledBackFiles = 0 }) => sum + rolledBackFiles, 0)
  const at = Math.max(...old.map(({ rolledBackAt = 0 }) => rolledBackAt))
  const lines = [
    ...(old.length === 0
      ? []
      : [
          `A sync server showed an older state, last at ${localTime(new Date(at * 1000))} (${counted(files, 'file')} of ${counted(old.length, 'repo')}); this device kept its newer files and uploaded them again.`
        ]),
    ...(kept === 0
      ? []
      : [
          `${kept} deleted or replaced ${kept === 1 ? 'file is' : 'files are'} kept for 30 days: holdfast data recover lists them.`
        ])
  ]
  return lines.length === 0 ? {} : { advice: lines }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** The state of a repo in one word. */
export const repoCell = ({
  errorCode,
  isSyncing,
  pendingCount,
  lastSync,
  isDeviceOnly
}: RepoStatus): Cell => {
  if (isDeviceOnly === true) return { text: DEVICE_ONLY, tone: 'warn' }
  if (errorCode !== undefined) return { text: errorCode, tone: 'bad' }
  if (isSyncing) return { text: 'syncing', tone: 'warn' }
  if (pendingCount > 0) return { text: 'to upload', tone: 'warn' }
  return lastSync > 0 ? { text: 'synced', tone: 'good' } : { text: 'never synced', tone: 'warn' }
}

/** Formats the time of the last sync of a repo. */
export const lastSyncText = ({ lastSync }: RepoStatus): string =>
  lastSync > 0 ? localTime(new Date(lastSync * 1000)) : ''

/** Shortens a hash of the server so that it can be compared by eye. */
export const shortHash = (hash: string | undefined): string => hash?.slice(0, 8) ?? ''
