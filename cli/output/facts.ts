import type { CurrencyWallet, EngineSnapshot, JsonObject, WalletListing } from '../../kernel/index.ts'
import { amountJson } from './amounts.ts'
import type { Cell } from './view.ts'

/** A wallet for scripts (ecosystem 1.8). */
export const walletJson = (wallet: CurrencyWallet, listing: WalletListing): JsonObject => {
  const { archived, deleted, hidden, sortIndex } = listing
  const { fiatCurrencyCode } = wallet.getSnapshot()
  const engine = wallet.engine.getSnapshot()
  return {
    id: wallet.id,
    name: wallet.name,
    type: wallet.type,
    pluginId: wallet.currencyInfo.pluginId,
    archived,
    deleted,
    hidden,
    sortIndex,
    fiatCode: fiatCurrencyCode,
    sync: { ratio: engine.syncRatio, state: syncWord(engine), height: engine.blockHeight },
    engine: { state: engine.state, error: engine.errorCode ?? null },
    balances: [balanceJson(wallet)]
  }
}

/** The balance of the chain's own coin, for scripts. */
export const balanceJson = (wallet: CurrencyWallet): JsonObject => ({
  tokenId: null,
  ...amountJson(wallet.balanceOf(null), wallet.currencyInfo)
})

/** How far a wallet has seen its chain, in a word. */
const syncWord = ({ state, syncRatio, isPaused }: EngineSnapshot): string => {
  if (state === 'failed') return 'failed'
  if (syncRatio >= 1) return 'synced'
  return isPaused ? 'paused' : 'syncing'
}

/** The same for people: never a colour alone. */
export const syncCell = (engine: EngineSnapshot): Cell => {
  const text = syncWord(engine)
  const tones: Readonly<Record<string, Cell['tone']>> = { synced: 'good', failed: 'bad' }
  return { text, tone: tones[text] ?? 'warn' }
}
