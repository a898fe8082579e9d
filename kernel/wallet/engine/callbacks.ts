import { compare, type NativeAmount, nativeAmount, sum } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import { copyList } from '../../base/copy-data.ts'
import { errorOf, scrub, WalletError } from '../../base/errors.ts'
import { isRecord } from '../../base/json.ts'
import type { Clock } from '../../io/io.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
import type {
  BalanceDetails,
  ChainRefusalReason,
  ConnectionLoss,
  EngineCallbacks,
  StakingStatus
} from '../../types/engine.ts'
import type { PluginId, TokenId } from '../../types/ids.ts'
import type { EngineTransaction } from '../../types/transaction.ts'
import {
  checkBalanceDetails,
  checkStakingStatus,
  checkTokenIds,
  isBalance,
  isTokenId,
  readEngineTransaction
} from './validate.ts'

const SLICE = 5000
const MAX_CHECKPOINT = 100_000
/** The number of transactions that one call may report. */
const MAX_REPORTED = 1_000_000

/** The transactions of one call of an engine, and the checkpoint that followed. */
interface Batch {
  readonly transactions: readonly unknown[]
  checkpoint: string | undefined
}

/** Receives the checked reports of an engine. */
export interface EngineListener {
  addressChanged(): void
  balanceChanged(tokenId: TokenId | null, balance: NativeAmount): void
  balanceDetailsChanged(tokenId: TokenId | null, details: BalanceDetails): void
  heightChanged(height: number, blockTime?: number): void
  progressChanged(ratio: number): void
  statusChanged(text: string): void
  /** With a loss: the engine no longer follows its chain. */
  connectionChanged(lost: ConnectionLoss | undefined): void
  stakingChanged(status: StakingStatus): void
  tokensFound(tokenIds: readonly TokenId[]): void
  unactivatedChanged(tokenIds: readonly TokenId[]): void
  /**
   * One slice of a batch; resolves when it is durable.
   *
   * @param checkpoint - covers all that was reported up to here, to be kept with it; then there may be no transactions
   */
  transactionsChanged(transactions: readonly EngineTransaction[], checkpoint?: string): Promise<void>
  /** A report that was refused, or could not be applied. */
  failed(error: unknown): void
}

/**
 * Handles the callbacks of an engine: checks its reports, queues them in order, and never throws back into the engine.
 *
 * A bad transaction is refused alone; the good ones of its batch count. After `close` calls are ignored.
 */
export class EngineCallbackHandler {
  readonly #pluginId: PluginId
  readonly #maxSupply: NativeAmount | undefined
  readonly #clock: Clock
  readonly #listener: EngineListener
  #queue: Promise<void> = Promise.resolve()
  /** The batch that was reported last, until its end is being applied: a checkpoint behind it is kept in the same write. */
  #lastBatch: Batch | undefined
  #isClosed = false
  /** Something that was reported could not be kept: no checkpoint may claim it. */
  #isBehind = false
  /** The last checkpoint while checkpoints are suspended; undefined while they count. */
  #suspended: { readonly checkpoint?: string } | undefined

  constructor(
    { pluginId, maxSupply }: Pick<CurrencyInfo, 'pluginId'> & { readonly maxSupply?: string | undefined },
    clock: Clock,
    listener: EngineListener
  ) {
    this.#pluginId = pluginId
    this.#maxSupply = maxSupply === undefined ? undefined : nativeAmount(maxSupply)
    this.#clock = clock
    this.#listener = listener
  }

  /** The functions that the engine is given. */
  readonly callbacks: EngineCallbacks = Object.freeze({
    onAddressChanged: () => this.#guard(listener => listener.addressChanged()),
    onAddressesChecked: (ratio: number) =>
      this.#guard(listener => {
        if (typeof ratio !== 'number' || Number.isNaN(ratio)) throw this.#bogus('progress')
        const progress = (): void =>
          this.#guard(() => listener.progressChanged(Math.min(1, Math.max(0, ratio))))
        // Listeners look into the history as soon as the progress is complete.
        this.#queue = this.#queue.then(progress)
      }),
    onTokenBalanceChanged: (tokenId: TokenId | null, balance: string) =>
      this.#guard(listener => {
        if (!isBalance(balance) || !isTokenId(tokenId)) throw this.#bogusBalance()
        this.#checkSupply(tokenId, nativeAmount(balance))
        listener.balanceChanged(tokenId, nativeAmount(balance))
      }),
    onBalanceDetailsChanged: (tokenId: TokenId | null, details: BalanceDetails) =>
      this.#guard(listener => {
        const read = checkBalanceDetails(details)
        if (read === undefined || !isTokenId(tokenId)) throw this.#bogusBalance()
        const { grade: _, paymentsGrade: _payments, ...parts } = read
        this.#checkSupply(tokenId, sum(Object.values(parts)))
        listener.balanceDetailsChanged(tokenId, read)
      }),
    onBlockHeightChanged: (height: number, blockTime?: number) =>
      this.#guard(listener => {
        if (!Number.isSafeInteger(height) || height < 0) throw this.#bogus('block height')
        if (blockTime !== undefined && !(Number.isFinite(blockTime) && blockTime >= 0))
          throw this.#bogus('block time')
        listener.heightChanged(height, blockTime)
      }),
    onTransactionsChanged: (transactions: readonly EngineTransaction[]) =>
      this.#guard(() => {
        const copy = copyList(transactions, MAX_REPORTED)
        if (copy === undefined) throw this.#bogus('transactions')
        this.#enqueue({ transactions: copy, checkpoint: undefined })
      }),
    onStatus: (text: string) =>
      this.#guard(listener => {
        if (typeof text !== 'string') throw this.#bogus('status')
        listener.statusChanged(text.slice(0, 200))
      }),
    onConnectionChanged: (lost?: ConnectionLoss) =>
      this.#guard(listener => {
        if (lost === undefined) return listener.connectionChanged(undefined)
        const { server, reason, refused } = isRecord(lost) ? lost : {}
        if (typeof server !== 'string' || typeof reason !== 'string') throw this.#bogus('connection')
        if (refused !== undefined && !isRefusal(refused)) throw this.#bogus('connection')
        listener.connectionChanged({
          server: shortText(server),
          reason: shortText(reason),
          ...compact({ refused })
        })
      }),
    onStakingStatusChanged: (status: StakingStatus) =>
      this.#guard(listener => listener.stakingChanged(checkStakingStatus(this.#pluginId, status))),
    onNewTokens: (tokenIds: readonly TokenId[]) =>
      this.#guard(listener => listener.tokensFound(checkTokenIds(this.#pluginId, tokenIds))),
    onUnactivatedTokenIdsChanged: (tokenIds: readonly TokenId[]) =>
      this.#guard(listener => listener.unactivatedChanged(checkTokenIds(this.#pluginId, tokenIds))),
    onSeenTxCheckpoint: (checkpoint: string) =>
      this.#guard(() => {
        if (typeof checkpoint !== 'string' || checkpoint.length > MAX_CHECKPOINT)
          throw this.#bogus('checkpoint')
        if (this.#suspended !== undefined) this.#suspended = { checkpoint }
        else if (this.#lastBatch === undefined) this.#enqueue({ transactions: [], checkpoint })
        else this.#lastBatch.checkpoint = checkpoint
      })
  })

  /** Resolves when everything that was reported so far has been applied. */
  idle(): Promise<void> {
    return this.#queue
  }

  /** Keeps no checkpoint until {@link resumeCheckpoints}: the engine is to report everything again. */
  suspendCheckpoints(): void {
    this.#suspended = {}
  }

  /** Keeps checkpoints again, the last one reported meanwhile included: the engine has begun again. */
  resumeCheckpoints(): void {
    const { checkpoint } = this.#suspended ?? {}
    this.#suspended = undefined
    if (checkpoint !== undefined) this.callbacks.onSeenTxCheckpoint(checkpoint)
  }

  /** Ignores all further calls of the engine. */
  close(): void {
    this.#isClosed = true
  }

  #guard(take: (listener: EngineListener) => void): void {
    if (this.#isClosed) return
    try {
      take(this.#listener)
    } catch (thrown) {
      this.#listener.failed(errorOf(thrown))
    }
  }

  #enqueue(batch: Batch): void {
    this.#lastBatch = batch
    this.#queue = this.#queue.then(() => this.#ingest(batch))
  }

  async #ingest(batch: Batch): Promise<void> {
    const { transactions } = batch
    // Once closed, some of what was reported is dropped, and no checkpoint may claim it.
    for (let start = 0; !this.#isClosed; start += SLICE) {
      const good = this.#check(transactions.slice(start, start + SLICE))
      const isEnd = start + SLICE >= transactions.length
      if (isEnd && this.#lastBatch === batch) this.#lastBatch = undefined
      const checkpoint = isEnd && !this.#isBehind ? batch.checkpoint : undefined
      await this.#listener.transactionsChanged(good, checkpoint).catch(error => {
        this.#isBehind = true
        this.#listener.failed(error)
      })
      if (isEnd) return
      await this.#clock.turn()
    }
  }

  #check(transactions: readonly unknown[]): EngineTransaction[] {
    const good: EngineTransaction[] = []
    for (const value of transactions) {
      try {
        good.push(readEngineTransaction(this.#pluginId, value))
      } catch (error) {
        this.#listener.failed(error)
      }
    }
    return good
  }

  #bogusBalance(): WalletError {
    return new WalletError('BOGUS_BALANCE', { pluginId: this.#pluginId })
  }

  /** More coins than there can be are none: a server or a plugin has made them up. */
  #checkSupply(tokenId: TokenId | null, balance: NativeAmount): void {
    if (tokenId === null && this.#maxSupply !== undefined && compare(balance, this.#maxSupply) > 0)
      throw this.#bogusBalance()
  }

  #bogus(what: string): WalletError {
    return new WalletError('BOGUS_DATA', { pluginId: this.#pluginId, what, path: '' })
  }
}

const isRefusal = (value: unknown): value is ChainRefusalReason =>
  value === 'clock' || value === 'forged' || value === 'stale' || value === 'weaker'

/** Shortens a text about others to one line that may be shown. */
const shortText = (text: string): string =>
  scrub(
    text
      // Two fingerprints fit in.
      .slice(0, 500)
      .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
      .trim()
  )
