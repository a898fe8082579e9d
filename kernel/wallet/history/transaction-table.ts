import { makeSerialQueue } from '../../crypto/serial-queue.ts'
import { WalletError } from '../../errors/wallet-error.ts'
import type { Repo } from '../../repo/repo.ts'
import { parseJson } from '../../schema/parse.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
import type {
  Confirmations,
  EngineTransaction,
  Metadata,
  SpentTarget,
  Transaction
} from '../../types/transaction.ts'
import { confirmationsOf } from './confirmations.ts'
import {
  assetOf,
  newTransactionFile,
  parseTransactionFile,
  parseTransactionFilePath,
  type TransactionFile,
  transactionFileJson,
  transactionFilePath
} from './transaction-file.ts'

/** What the table needs of its wallet. */
export interface TableParts {
  readonly walletId: string
  readonly info: CurrencyInfo
  readonly repo: Repo
  /** The wallet's file-name hash. */
  hashOf(text: string): string
  /** Milliseconds since 1970. */
  now(): number
  /** A file that cannot be read; it is kept. */
  report(error: unknown): void
}

interface Row {
  tx: EngineTransaction
  confirmations: Confirmations
}

interface FileEntry {
  readonly path: string
  readonly creationDate: number
}

/**
 * The transactions of one wallet: what the engine says, joined with the synced files. Nothing is copied per event.
 */
export class TransactionTable {
  readonly #parts: TableParts
  readonly #rows = new Map<string, Row>()
  readonly #files = new Map<string, FileEntry>()
  readonly #hashes = new Map<string, string>()
  readonly #editInOrder = makeSerialQueue()
  #chainHeight = 0

  constructor(parts: TableParts) {
    this.#parts = parts
  }

  /** Learns which transaction files there are; of several for one transaction the oldest counts (protocol §3.5). */
  async readFileNames(): Promise<void> {
    for (const path of await this.#parts.repo.list('transaction')) this.#learn(path)
  }

  /** Takes in file paths that a sync brought. Returns the txids whose files changed, of those known. */
  fileChanged(paths: readonly string[]): string[] {
    const hashes = new Set<string>()
    for (const path of paths) {
      const name = this.#learn(path)
      if (name !== undefined) hashes.add(name)
    }
    return [...this.#rows.keys()].filter(txid => hashes.has(this.#hashOf(txid)))
  }

  /**
   * Takes in what the engine reports and writes a file for each incoming transaction seen for the first time.
   *
   * Files that cannot be written are reported, and written when the transaction is first seen by a later opening.
   *
   * @returns the txids that are new and that changed; unchanged ones are in neither
   */
  async take(transactions: readonly EngineTransaction[]): Promise<{ created: string[]; changed: string[] }> {
    const created: string[] = []
    const changed: string[] = []
    const files = new Map<string, string>()
    for (const tx of transactions) {
      const known = this.#rows.get(tx.txid)
      if (known !== undefined && isSame(known.tx, tx)) continue
      this.#rows.set(tx.txid, { tx, confirmations: this.#confirmationsOf(tx) })
      const isNew = known === undefined && !isSend(tx) && !this.#files.has(this.#hashOf(tx.txid))
      if (isNew) this.#addFile(files, tx)
      if (isNew) created.push(tx.txid)
      else changed.push(tx.txid)
    }
    if (files.size > 0) {
      await this.#parts.repo.setTexts(files).catch(error => {
        for (const txid of created) this.#files.delete(this.#hashOf(txid))
        this.#parts.report(error)
      })
    }
    return { created, changed }
  }

  /** Takes a new chain height; returns the txids whose depth changed. Confirmed and dropped ones stay as they are. */
  takeHeight(height: number): string[] {
    this.#chainHeight = height
    const changed: string[] = []
    for (const [txid, row] of this.#rows) {
      if (row.confirmations === 'confirmed' || row.confirmations === 'dropped') continue
      const confirmations = this.#confirmationsOf(row.tx)
      if (confirmations === row.confirmations) continue
      row.confirmations = confirmations
      changed.push(txid)
    }
    return changed
  }

  /** Every txid with its date, newest first; ties in the order they came. Nothing is decrypted. */
  dates(): { readonly txid: string; readonly date: number }[] {
    return [...this.#rows.values()]
      .map(({ tx }) => ({ txid: tx.txid, date: this.#dateOf(tx) }))
      .sort((a, b) => b.date - a.date)
  }

  /** Tells whether the engine knows a transaction and the network has not dropped it. */
  has(txid: string): boolean {
    const row = this.#rows.get(txid)
    return row !== undefined && row.tx.blockHeight >= 0
  }

  /** The transaction as an application sees it, complete with its file. */
  async find(txid: string): Promise<Transaction | undefined> {
    const row = this.#rows.get(txid)
    return row === undefined ? undefined : this.#viewOf(row, await this.readFile(txid))
  }

  /** The file of a transaction, if there is one that can be read. */
  async readFile(txid: string): Promise<TransactionFile | undefined> {
    const entry = this.#files.get(this.#hashOf(txid))
    if (entry === undefined) return undefined
    try {
      return await this.#parse(entry.path)
    } catch (error) {
      this.#parts.report(error)
      return undefined
    }
  }

  /**
   * Changes the file of a transaction; it keeps the date under which it was first written.
   *
   * `change` gets the file as all earlier changes left it, or undefined if there is none.
   *
   * @throws CORRUPT_FILE if there is one that cannot be read; it is left as it is
   */
  editFile(txid: string, change: (file: TransactionFile | undefined) => TransactionFile): Promise<void> {
    return this.#editInOrder(async () => {
      const hash = this.#hashOf(txid)
      const known = this.#files.get(hash)?.path
      const file = change(known === undefined ? undefined : await this.#parse(known))
      const path = known ?? transactionFilePath(file.creationDate, hash)
      await this.#parts.repo.setText(path, JSON.stringify(transactionFileJson(file)))
      this.#learn(path)
    })
  }

  /** The date to give a file that is written now: never later than the chain's own. */
  creationDateOf(date: number): number {
    return Math.min(date, this.#parts.now() / 1000)
  }

  /** Forgets what the engine said, as before a resync; the files stay. */
  clear(): void {
    this.#rows.clear()
  }

  async #parse(path: string): Promise<TransactionFile | undefined> {
    const text = await this.#parts.repo.getText(path)
    if (text === undefined) return undefined
    try {
      return parseTransactionFile(parseJson(text, 'transaction file'))
    } catch (error) {
      throw new WalletError('CORRUPT_FILE', { path, rule: 'it is no transaction file' }, error)
    }
  }

  #addFile(files: Map<string, string>, tx: EngineTransaction): void {
    const file = newTransactionFile(
      this.#viewOf({ tx, confirmations: 'unconfirmed' }, undefined),
      this.#parts.now() / 1000
    )
    const path = transactionFilePath(file.creationDate, this.#hashOf(tx.txid))
    files.set(path, JSON.stringify(transactionFileJson(file)))
    this.#learn(path)
  }

  #learn(path: string): string | undefined {
    const name = parseTransactionFilePath(path)
    if (name === undefined) return undefined
    const known = this.#files.get(name.txidHash)
    if (known === undefined || name.creationDate < known.creationDate) {
      this.#files.set(name.txidHash, { path, creationDate: name.creationDate })
    }
    return name.txidHash
  }

  #hashOf(txid: string): string {
    const known = this.#hashes.get(txid)
    if (known !== undefined) return known
    const hash = this.#parts.hashOf(txid)
    this.#hashes.set(txid, hash)
    return hash
  }

  #dateOf(tx: EngineTransaction): number {
    const entry = this.#files.get(this.#hashOf(tx.txid))
    return entry === undefined ? tx.date : Math.min(tx.date, entry.creationDate)
  }

  #confirmationsOf({ blockHeight }: EngineTransaction): Confirmations {
    const required = this.#parts.info.requiredConfirmations ?? 1
    return confirmationsOf({ blockHeight, chainHeight: this.#chainHeight, required })
  }

  #viewOf({ tx, confirmations }: Row, file: TransactionFile | undefined): Transaction {
    const { walletId, info } = this.#parts
    const base: Transaction = {
      ...tx,
      walletId,
      currencyCode: info.currencyCode,
      confirmations,
      isSend: isSend(tx),
      memos: tx.memos ?? [],
      metadata: {},
      date: this.#dateOf(tx)
    }
    return file === undefined ? base : { ...base, ...fileView(file, tx, info.currencyCode) }
  }
}

const fileView = (
  file: TransactionFile,
  tx: EngineTransaction,
  currencyCode: string
): Partial<Transaction> => {
  const asset = assetOf(file, { tokenId: tx.tokenId, currencyCode })
  const requested = file.feeRateRequested
  return {
    metadata: withoutEmptyAmounts(asset?.metadata ?? {}),
    ...(file.deviceDescription === undefined ? {} : { deviceDescription: file.deviceDescription }),
    ...(requested === undefined
      ? {}
      : typeof requested === 'string'
        ? { networkFeeOption: requested }
        : { networkFeeOption: 'custom' as const, requestedCustomFee: requested }),
    ...(file.feeRateUsed === undefined ? {} : { feeRateUsed: file.feeRateUsed }),
    ...(file.payees === undefined ? {} : { spendTargets: file.payees.map(targetOf) }),
    ...(file.secret === undefined ? {} : { txSecret: file.secret }),
    ...(file.swap === undefined ? {} : { swapData: file.swap })
  }
}

const targetOf = (payee: NonNullable<TransactionFile['payees']>[number]): SpentTarget => ({
  currencyCode: payee.currency,
  nativeAmount: payee.amount as SpentTarget['nativeAmount'],
  publicAddress: payee.address,
  ...(payee.tag === undefined ? {} : { memo: payee.tag, uniqueIdentifier: payee.tag })
})

const withoutEmptyAmounts = (metadata: Metadata): Metadata => {
  const { exchangeAmount = {}, ...rest } = metadata
  return Object.keys(exchangeAmount).length === 0 ? rest : metadata
}

const isSend = (tx: EngineTransaction): boolean => tx.isSend ?? tx.nativeAmount.startsWith('-')

const isSame = (a: EngineTransaction, b: EngineTransaction): boolean =>
  a.blockHeight === b.blockHeight &&
  a.nativeAmount === b.nativeAmount &&
  a.networkFee === b.networkFee &&
  a.date === b.date &&
  a.signedTx === b.signedTx &&
  a.tokenId === b.tokenId &&
  (a.memos ?? []).length === (b.memos ?? []).length &&
  a.ourReceiveAddresses.join() === b.ourReceiveAddresses.join()
