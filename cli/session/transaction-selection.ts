import { compact } from '../../kernel/base/compact.ts'
import type { CurrencyWallet, Transaction, TransactionQuery } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseDate } from '../grammar/options.ts'
import { type Effect, stateOf } from '../output/transaction-texts.ts'
import { assetsOf, findAsset, matchAsset } from './assets.ts'
import type { Session } from './session.ts'

/** The transactions that a command selects. */
export interface TransactionSelection {
  readonly query: TransactionQuery
  /** The filters that the kernel's query does not have. */
  isWanted(tx: Transaction): boolean
  /** The size of a batch; {@link BATCH} if left out. */
  readonly batchSize?: number
  /** The size of the first batch; `batchSize` if left out. */
  readonly firstBatchSize?: number
}

/** Reads `--since`, `--until`, `--before`, `--state`, `--in` and `--out`. @throws CliError USAGE */
export const selectionOf = (session: Session, searchString?: string): TransactionSelection => {
  const [since, until, beforeTxid] = [session.text('since'), session.text('until'), session.text('before')]
  const state = session.text('state')
  const [isIn, isOut] = [session.isOn('in'), session.isOn('out')]
  if (isIn && isOut) throw new CliError('USAGE', 'Use either --in or --out; leave both out for all')
  return {
    query: compact({
      startDate: since === undefined ? undefined : parseDate(since, 'start'),
      endDate: until === undefined ? undefined : parseDate(until, 'end'),
      beforeTxid,
      searchString
    }),
    isWanted: tx =>
      (state === undefined || stateOf(tx.confirmations) === state) &&
      !(isIn && tx.isSend) &&
      !(isOut && !tx.isSend)
  }
}

/** Returns the assets that a command selects: those of `--token`, or all of each wallet. @throws CliError NOT_FOUND */
export const chosenAssets = async (
  session: Session,
  wallets: readonly CurrencyWallet[]
): Promise<readonly Omit<Effect, 'tx'>[]> => {
  const token = session.text('token')
  const chosen: Omit<Effect, 'tx'>[] = []
  for (const wallet of wallets) {
    const assets = await assetsOf(session, wallet)
    const one = token === undefined ? undefined : matchAsset(assets, token)
    if (token === undefined) chosen.push(...assets.map(asset => ({ wallet, asset })))
    else if (one !== undefined) chosen.push({ wallet, asset: one })
  }
  const [only] = wallets
  if (chosen.length === 0 && token !== undefined && only !== undefined) await findAsset(session, only, token)
  return chosen
}

/** Yields the selected transactions of one asset in batches, newest first, until the command is stopped. */
export async function* historyOf(
  session: Session,
  { wallet, asset }: Omit<Effect, 'tx'>,
  { query, isWanted, batchSize = BATCH, firstBatchSize = batchSize }: TransactionSelection
): AsyncGenerator<readonly Transaction[]> {
  const { tokenId } = asset
  for await (const batch of wallet.streamTransactions({ ...query, tokenId, batchSize, firstBatchSize })) {
    session.signal.throwIfAborted()
    const wanted = batch.filter(isWanted)
    if (wanted.length > 0) yield wanted
  }
}

const BATCH = 200
