import { type NativeAmount, ZERO } from '../amount.ts'
import { makeSerialQueue } from '../crypto/serial-queue.ts'
import { WalletError } from '../errors/wallet-error.ts'
import type { EngineSnapshot, WalletSnapshot } from '../hooks/snapshots.ts'
import type { Repo } from '../repo/repo.ts'
import type { Services } from '../services.ts'
import type { Observable, Readable } from '../state/observable.ts'
import type { Secret } from '../state/secret.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { FreshAddress, ParsedUri, UriRequest } from '../types/engine.ts'
import type { WalletKeys } from '../types/keys.ts'
import type { MetadataChange, SpendInfo, Transaction } from '../types/transaction.ts'
import { type AddressRecord, readAddresses, writeAddress } from './address-file.ts'
import { callTools } from './call-tools.ts'
import { checkFreshAddress } from './engine/engine-data.ts'
import type { EngineRunner } from './engine/engine-runner.ts'
import { mergeMetadata } from './history/metadata.ts'
import { newTransactionFile, withMetadata } from './history/transaction-file.ts'
import { listTransactions, type TransactionQuery } from './history/transaction-list.ts'
import type { TransactionTable } from './history/transaction-table.ts'
import { broadcastTx, discardTx, type SpendParts, saveTx, signTx, spend } from './spend.ts'
import { getMaxSpendable, makeSpend } from './spend-draft.ts'
import type { SpendIntent } from './spend-journal.ts'
import { writeFiatCode, writeWalletName } from './wallet-settings.ts'

/** What a wallet is made of; `openWallet` puts it together. */
export interface WalletParts {
  readonly services: Services
  readonly walletId: string
  readonly type: string
  readonly info: CurrencyInfo
  readonly keys: Secret<WalletKeys>
  readonly repo: Repo
  readonly engine: EngineRunner
  readonly table: TransactionTable
  readonly spends: SpendParts
  readonly state: Observable<WalletSnapshot>
  /** The wallet's file-name hash. */
  hashOf(text: string): string
  /** Uploads and downloads the wallet's repo now. */
  syncRepo(): Promise<void>
}

/**
 * One wallet of one currency: its addresses, transactions, notes and spends (specification §3, §5).
 *
 * `subscribe` and `getSnapshot` tell its public facts; `engine` those of its engine. Amounts are native.
 */
export class CurrencyWallet implements Readable<WalletSnapshot> {
  readonly id: string
  readonly type: string
  readonly currencyInfo: CurrencyInfo
  readonly engine: Readable<EngineSnapshot>
  readonly subscribe: Readable<WalletSnapshot>['subscribe']
  readonly getSnapshot: Readable<WalletSnapshot>['getSnapshot']
  readonly #parts: WalletParts
  readonly #editAddresses = makeSerialQueue()

  constructor(parts: WalletParts) {
    this.#parts = parts
    this.id = parts.walletId
    this.type = parts.type
    this.currencyInfo = parts.info
    this.engine = { subscribe: parts.engine.subscribe, getSnapshot: parts.engine.getSnapshot }
    this.subscribe = parts.state.subscribe
    this.getSnapshot = parts.state.getSnapshot
  }

  get name(): string | null {
    return this.getSnapshot().name
  }

  /** The balance of an asset; zero before the engine has told. */
  balanceOf(tokenId: string | null): NativeAmount {
    const { balances } = this.getSnapshot()
    const key = tokenId ?? ''
    return Object.hasOwn(balances, key) ? (balances[key] as NativeAmount) : ZERO
  }

  /** Renames the wallet on all devices. */
  async rename(name: string): Promise<void> {
    this.#checkOpen()
    await writeWalletName(this.#parts.repo, name)
    this.#parts.state.update({ name })
  }

  /** Sets the fiat currency the wallet is shown in. @throws FIAT_CODE */
  async setFiatCurrencyCode(fiatCurrencyCode: string): Promise<void> {
    this.#checkOpen()
    await writeFiatCode(this.#parts.repo, fiatCurrencyCode)
    this.#parts.state.update({ fiatCurrencyCode })
  }

  /** An address to receive on; the same one until it is used or locked. @throws ENGINE_FAILED, BOGUS_DATA */
  async getReceiveAddress(
    options: { tokenId?: string | null; forceIndex?: number } = {}
  ): Promise<FreshAddress> {
    const request = {
      tokenId: options.tokenId ?? null,
      ...(options.forceIndex === undefined ? {} : { forceIndex: options.forceIndex })
    }
    const fresh = await this.#parts.engine.call('asking for an address', engine =>
      engine.getFreshAddress(request)
    )
    return checkFreshAddress(this.currencyInfo.pluginId, fresh)
  }

  /** Remembers an address with a note, on all devices; it stays the fresh one. */
  saveReceiveAddress(address: string, metadata: MetadataChange = {}): Promise<void> {
    return this.#writeAddress(address, { metadata, recycleable: true })
  }

  /** Gives an address out for good: the next fresh one is another. */
  async lockReceiveAddress(address: string, metadata: MetadataChange = {}): Promise<void> {
    await this.#writeAddress(address, { metadata, recycleable: false })
    await this.#parts.engine.call('locking an address', engine => engine.addGapLimitAddresses([address]))
  }

  /** The addresses that were saved or locked. */
  async savedAddresses(): Promise<AddressRecord[]> {
    this.#checkOpen()
    return readAddresses(this.#parts.repo, error => this.#report(error))
  }

  /** Reads an address or payment URI of this currency. @throws ADDRESS_INVALID */
  async parseUri(uri: string): Promise<ParsedUri> {
    const { pluginId } = this.currencyInfo
    return callTools(this.#parts.services, {
      pluginId,
      what: 'reading a URI',
      call: tools => tools.parseUri(uri)
    })
  }

  /** Writes a payment URI. */
  async encodeUri(request: UriRequest): Promise<string> {
    const { pluginId } = this.currencyInfo
    return callTools(this.#parts.services, {
      pluginId,
      what: 'writing a URI',
      call: tools => tools.encodeUri(request)
    })
  }

  /** Makes the draft of a spend; nothing is signed. @throws the spend errors of the catalogue */
  makeSpend(request: SpendInfo): Promise<Transaction> {
    return makeSpend(this.#parts.spends, request)
  }

  /** The largest amount that the first target can get. */
  getMaxSpendable(request: SpendInfo): Promise<NativeAmount> {
    return getMaxSpendable(this.#parts.spends, request)
  }

  /** Signs, sends and saves an approved draft; a crash anywhere in between is finished at the next opening. */
  spend(draft: Transaction): Promise<Transaction> {
    return spend(this.#parts.spends, draft)
  }

  /** Signs a draft; the bytes are kept until they are saved. @throws SIGN_REFUSED */
  signTx(draft: Transaction): Promise<Transaction> {
    return signTx(this.#parts.spends, draft)
  }

  /** Sends a signed transaction. @throws BROADCAST_REFUSED, BROADCAST_UNKNOWN */
  broadcastTx(tx: Transaction): Promise<Transaction> {
    return broadcastTx(this.#parts.spends, tx)
  }

  /** Forgets a signed transaction that was never sent. @throws TX_NOT_FOUND, BROADCAST_UNKNOWN if it may have left */
  discardTx(txid: string): Promise<void> {
    return discardTx(this.#parts.spends, txid)
  }

  /** Records a sent transaction with its payees, fees and notes. */
  saveTx(tx: Transaction): Promise<void> {
    return saveTx(this.#parts.spends, tx)
  }

  /** Spends that were begun and are not finished, oldest first. */
  unfinishedSpends(): readonly SpendIntent[] {
    return this.#parts.spends.journal.list(error => this.#report(error))
  }

  /** The wallet's transactions, newest first, complete with their notes. */
  async getTransactions(query: TransactionQuery = {}): Promise<Transaction[]> {
    this.#checkOpen()
    return listTransactions(this.#parts.table, query)
  }

  /** One transaction. @throws TX_NOT_FOUND */
  async getTransaction(txid: string): Promise<Transaction> {
    this.#checkOpen()
    const tx = await this.#parts.table.find(txid)
    if (tx === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
    return tx
  }

  /** Changes the notes of a transaction on all devices; null deletes, absent keeps. @throws TX_NOT_FOUND */
  async saveTxMetadata(txid: string, change: MetadataChange, tokenId: string | null = null): Promise<void> {
    const { table, spends, info } = this.#parts
    const tx = await this.getTransaction(txid)
    await table.editFile(txid, present => {
      const file = present ?? newTransactionFile(tx, table.creationDateOf(tx.date))
      const { currencyCode } = info
      return withMetadata(file, { tokenId, currencyCode }, metadata => mergeMetadata(metadata, change))
    })
    spends.told(txid)
  }

  /** Uploads and downloads the wallet's files, and looks at the chain, now. */
  async sync(): Promise<void> {
    this.#checkOpen()
    await Promise.all([this.#parts.syncRepo(), this.#parts.engine.syncNow()])
  }

  /** Forgets what is cached of the chain and looks again. */
  async resyncBlockchain(): Promise<void> {
    this.#parts.table.clear()
    this.#parts.engine.show({ syncRatio: 0 })
    await this.#parts.engine.call('looking at the chain again', engine => engine.resyncBlockchain())
  }

  /** Stops or starts the engine. */
  async changePaused(isPaused: boolean): Promise<void> {
    this.#checkOpen()
    this.#parts.state.update({ isPaused })
    await (isPaused ? this.#parts.engine.pause() : this.#parts.engine.resume())
  }

  #checkOpen(): void {
    if (this.#parts.engine.isClosed) throw new WalletError('LOGGED_OUT', {})
  }

  async #writeAddress(
    address: string,
    { metadata, recycleable }: { metadata: MetadataChange; recycleable: boolean }
  ): Promise<void> {
    const { repo, services, hashOf } = this.#parts
    await this.#editAddresses(async () => {
      const known = (await this.savedAddresses()).find(record => record.address === address)
      const record: AddressRecord = {
        seq: known?.seq ?? 0,
        address,
        recycleable: recycleable && (known?.recycleable ?? true),
        creationDate: known?.creationDate ?? services.io.clock.now() / 1000,
        metadata: mergeMetadata(known?.metadata ?? {}, metadata)
      }
      await writeAddress(repo, record, hashOf(address))
    })
  }

  #report(error: unknown): void {
    this.#parts.services.report(`wallet ${this.currencyInfo.pluginId}`, error)
  }
}
