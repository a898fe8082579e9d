import {
  type Confirmations,
  type CurrencyWallet,
  compact,
  isWalletError,
  type TokenId,
  type Transaction,
  type Txid,
  WalletError
} from '../../kernel/index.ts'

/** The state of a transaction; one that is not deep enough yet is unconfirmed. */
export type TxState = Exclude<Confirmations, number>

/** Returns the state of a depth (pure). */
export const stateOf = (confirmations: Confirmations): TxState =>
  typeof confirmations === 'number' ? 'unconfirmed' : confirmations

/** Which transactions are wanted; all that is left out matches. */
export interface TransactionFilter {
  readonly since?: Date
  readonly until?: Date
  /** Only those that follow this one in the list. */
  readonly before?: Txid
  /** Only those with this in a text, an amount or an address. */
  readonly search?: string
  readonly state?: TxState
  readonly direction?: 'in' | 'out'
}

/** An asset of a wallet, whose history is read. */
export interface WalletAsset {
  readonly wallet: CurrencyWallet
  /** null: the coin of the chain. */
  readonly asset: { readonly tokenId: TokenId | null }
}

/** One effect of a transaction on one asset of a wallet. */
export type EffectIn<Holding extends WalletAsset> = Holding & { readonly tx: Transaction }

/** How a history is read. */
export interface HistoryReading {
  /** Called with each batch; what it throws ends the reading. */
  onBatch?(): void
  /** {@link BATCH} if left out. */
  readonly batchSize?: number
  /** `batchSize` if left out. */
  readonly firstBatchSize?: number
}

/**
 * Finds the first transactions in one order over several wallets and assets: newest first, then by txid, so that a position
 * is the same in every asset. A page of one wallet ends with the last effect of a transaction, so that `before` can continue
 * behind it: it may be longer than `limit`.
 *
 * @throws TX_NOT_FOUND if `before` is in none of them
 */
export const findTransactions = async <Holding extends WalletAsset>(
  places: readonly Holding[],
  filter: TransactionFilter,
  { limit, ...reading }: Pick<HistoryReading, 'onBatch'> & { readonly limit: number }
): Promise<{ readonly effects: readonly EffectIn<Holding>[]; readonly hasMore: boolean }> => {
  const { before, ...rest } = filter
  const start = before === undefined ? undefined : await positionOf(places, before)
  // The kernel filters by whole milliseconds, and dates may have fractions.
  const end = start === undefined ? Number.POSITIVE_INFINITY : Math.floor(start.date * 1000) + 1
  const until = Math.min(end, rest.until?.getTime() ?? end)
  const following = { ...rest, ...compact({ until: Number.isFinite(until) ? new Date(until) : undefined }) }
  const found: EffectIn<Holding>[] = []
  for (const place of places) {
    const own: EffectIn<Holding>[] = []
    for await (const batch of historyOf(place, following, reading)) {
      const after = batch.filter(tx => start === undefined || inOrder(start, tx) < 0)
      own.push(...after.map(tx => ({ ...place, tx })))
      // All effects of the last date belong to the page, whatever their order in the store.
      const [edge, last] = [own[limit], own.at(-1)]
      if (edge !== undefined && last !== undefined && last.tx.date < edge.tx.date) break
    }
    found.push(...own)
  }
  found.sort((a, b) => inOrder(a.tx, b.tx))
  const isOfOne = new Set(places.map(({ wallet }) => wallet)).size === 1
  const lastTxid = isOfOne ? found[limit - 1]?.tx.txid : undefined
  const size = Math.max(limit, found.findLastIndex(({ tx }) => tx.txid === lastTxid) + 1)
  return { effects: found.slice(0, size), hasMore: found.length > size }
}

type TxPosition = Pick<Transaction, 'date' | 'txid'>

const inOrder = (a: TxPosition, b: TxPosition): number =>
  b.date - a.date || Number(a.txid > b.txid) - Number(a.txid < b.txid)

const positionOf = async (places: readonly WalletAsset[], txid: Txid): Promise<TxPosition> => {
  for (const { wallet, asset } of places) {
    try {
      return { date: (await wallet.getTransaction(txid, asset.tokenId)).date, txid }
    } catch (error) {
      if (!isWalletError(error, 'TX_NOT_FOUND')) throw error
    }
  }
  throw new WalletError('TX_NOT_FOUND', { txid })
}

/**
 * Yields the transactions of one asset that match, in batches, newest first. `before` counts within this asset alone.
 *
 * @throws TX_NOT_FOUND, what `onBatch` throws
 */
export async function* historyOf(
  { wallet, asset: { tokenId } }: WalletAsset,
  { since, until, before, search, state, direction }: TransactionFilter,
  { onBatch, batchSize = BATCH, firstBatchSize = batchSize }: HistoryReading = {}
): AsyncGenerator<readonly Transaction[]> {
  const query = compact({ startDate: since, endDate: until, beforeTxid: before, searchString: search })
  const isWanted = (tx: Transaction): boolean =>
    (state === undefined || stateOf(tx.confirmations) === state) &&
    (direction === undefined || tx.isSend === (direction === 'out'))
  for await (const batch of wallet.streamTransactions({ ...query, tokenId, batchSize, firstBatchSize })) {
    onBatch?.()
    const wanted = batch.filter(isWanted)
    if (wanted.length > 0) yield wanted
  }
}

const BATCH = 200
