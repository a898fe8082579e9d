import {
  amountText,
  type CurrencyWallet,
  type EngineSnapshot,
  type JsonObject,
  type NativeAmount,
  type WalletListing
} from '../../kernel/index.ts'
import { type AmountJson, amountJson } from './amounts.ts'
import type { Asset } from './assets.ts'
import type { Cell } from './view.ts'

/** A wallet for scripts (ecosystem 1.8), with the balances of its assets. */
export const walletJson = (
  wallet: CurrencyWallet,
  listing: WalletListing,
  assets: readonly Asset[]
): JsonObject => {
  const { archived, deleted, hidden, sortIndex } = listing
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
    sortIndex,
    fiatCode: fiatCurrencyCode,
    sync: syncJson(engine),
    engine: { state: engine.state, error: engine.errorCode ?? null },
    balances: assets.map(asset => balanceJson(wallet, asset))
  }
}

/** The balance of one asset, for scripts. */
export const balanceJson = (wallet: CurrencyWallet, asset: Asset): BalanceJson => ({
  tokenId: asset.tokenId,
  ...amountJson(wallet.balanceOf(asset.tokenId), asset),
  ...Object.fromEntries(
    Object.entries(wallet.balanceDetailsOf(asset.tokenId)).map(([part, amount]) => [
      part,
      amountJson(amount as NativeAmount, asset)
    ])
  )
})

/** What of a balance cannot be spent yet, and why; '' if all can. */
export const heldBackText = (wallet: CurrencyWallet, asset: Asset): string => {
  const { incoming, immature, reserved } = wallet.balanceDetailsOf(asset.tokenId)
  return Object.entries({ incoming, immature, reserved })
    .filter(([, amount]) => amount !== '0')
    .map(([part, amount]) => `${amountText(amount, asset)} ${part}`)
    .join(', ')
}

/** A balance, with what of it cannot be spent yet. */
export const balanceText = (wallet: CurrencyWallet, asset: Asset): string => {
  const held = heldBackText(wallet, asset)
  return `${amountText(wallet.balanceOf(asset.tokenId), asset)}${held === '' ? '' : ` (${held})`}`
}

/** A balance as JSON carries it. */
export type BalanceJson = AmountJson & { readonly tokenId: string | null } & JsonObject

/**
 * How far a wallet has seen its chain, for scripts: a balance counts once its `state` is `synced`. `behind`: why what is shown is
 * old, and since when; null unless it is.
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

/** How far a wallet has seen its chain, in a word. */
const syncWord = ({ state, syncRatio, isPaused, failure }: EngineSnapshot): string => {
  if (state === 'failed') return 'failed'
  if (isPaused) return 'paused'
  // Whatever it has seen before is old by now.
  if (failure !== undefined) return 'behind'
  return syncRatio >= 1 ? 'synced' : 'syncing'
}

/** The same for people: never a colour alone. */
export const syncCell = (engine: EngineSnapshot): Cell => {
  const text = syncWord(engine)
  const tones: Readonly<Record<string, Cell['tone']>> = { synced: 'good', failed: 'bad' }
  return { text, tone: tones[text] ?? 'warn' }
}
