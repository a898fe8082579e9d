import type {
  Confirmations,
  CurrencyInfo,
  CurrencyWallet,
  EngineSnapshot,
  JsonObject,
  Transaction,
  WalletListing
} from '../../kernel/index.ts'
import { nativeAmount } from '../../kernel/index.ts'
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

/** A transaction for scripts. */
export const txJson = (tx: Transaction, info: CurrencyInfo): JsonObject => ({
  txid: tx.txid,
  walletId: tx.walletId,
  tokenId: tx.tokenId,
  date: new Date(tx.date * 1000).toISOString(),
  direction: tx.isSend ? 'out' : 'in',
  amount: amountJson(tx.nativeAmount, info),
  networkFee: amountJson(tx.networkFee, info),
  blockHeight: tx.blockHeight,
  confirmations: tx.confirmations,
  metadata: metadataJson(tx)
})

/** Everything there is on one transaction, for scripts. */
export const txDetailsJson = (tx: Transaction, info: CurrencyInfo): JsonObject => ({
  ...txJson(tx, info),
  feeOption: tx.networkFeeOption ?? null,
  feeRateUsed: tx.feeRateUsed ?? null,
  ourReceiveAddresses: [...tx.ourReceiveAddresses],
  spendTargets: (tx.spendTargets ?? []).map(({ publicAddress, nativeAmount: amount }) => ({
    publicAddress,
    amount: amountJson(nativeAmount(amount), info)
  })),
  device: tx.deviceDescription ?? null
})

/** What is noted on a transaction; null where nothing is. */
export const metadataJson = ({ metadata }: Pick<Transaction, 'metadata'>): JsonObject => ({
  name: metadata.name ?? null,
  category: metadata.category ?? null,
  notes: metadata.notes ?? null
})

/** How deep a transaction lies, for people. */
export const confirmationCell = (confirmations: Confirmations): Cell => {
  if (confirmations === 'confirmed') return { text: 'confirmed', tone: 'good' }
  if (confirmations === 'dropped') return { text: 'dropped', tone: 'bad' }
  if (typeof confirmations === 'number') return { text: `${confirmations} deep`, tone: 'warn' }
  return { text: confirmations, tone: 'warn' }
}
