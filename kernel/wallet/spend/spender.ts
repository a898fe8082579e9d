import type { NativeAmount } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import { withDeadline } from '../../base/deadline.ts'
import { isWalletError, WalletError } from '../../base/errors.ts'
import { isShortText } from '../../base/json.ts'
import { Mutex } from '../../base/mutex.ts'
import type { AccountRules } from '../../keys/key-gate.ts'
import type { Services } from '../../plugins/services.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
import type { TokenId, Txid, WalletId } from '../../types/ids.ts'
import { checkNetworkFee, requireFeeLimit } from '../../types/network-fee.ts'
import type { Metadata, Transaction } from '../../types/transaction.ts'
import type { EngineSupervisor } from '../engine/supervisor.ts'
import type { FileChange } from '../history/changes.ts'
import { assetOf, newTransactionFile, type TransactionFile, withMetadata } from '../history/file-format.ts'
import type { EditOptions, History } from '../history/history.ts'
import { mergeMetadata } from '../history/metadata.ts'
import { assetNameOf } from '../history/view.ts'
import type { SpendIntent, SpendJournal, SpendStage } from './journal.ts'
import {
  checkKeptCoins,
  checkSimilar,
  checkSpentCoins,
  type FrozenCoinContext,
  type OpenPaymentContext,
  paymentsChanged
} from './open-payments.ts'
import { engineCopyOf, frozenTransaction, sentTransactionOf } from './reviewed-transaction.ts'
import { questionOf, type SignOptions, signDraft } from './sign.ts'

/** The options of {@link Spender}. */
export interface SpenderOptions extends OpenPaymentContext, FrozenCoinContext {
  readonly walletId: WalletId
  readonly history: History
  readonly rules: AccountRules
  balanceOf(tokenId: TokenId | null): NativeAmount
  /** Gives the engine the coins again that no draft may take. */
  freezeCoins(): Promise<void>
  /** Called with the txid of a spend that the history now has. */
  txChanged(txid: Txid): void
  /** Called for a payment that was left alone by a round of `watchPayments` and can be looked for now. */
  lookAgain(): void
}

/** Signs, sends and saves the spends of one wallet; each step is durable in the journal before the next begins. */
export class Spender implements SpenderOptions {
  readonly services: Services
  readonly walletId: WalletId
  readonly info: CurrencyInfo
  readonly engine: EngineSupervisor
  readonly history: History
  readonly rules: AccountRules
  readonly journal: SpendJournal
  readonly balanceOf: SpenderOptions['balanceOf']
  readonly freezeCoins: SpenderOptions['freezeCoins']
  readonly frozenAmong: SpenderOptions['frozenAmong']
  readonly txChanged: SpenderOptions['txChanged']
  readonly openPaymentsChanged: SpenderOptions['openPaymentsChanged']
  readonly lookAgain: SpenderOptions['lookAgain']
  /** The number of calls that work on a spend, by its id; a round of `watchPayments` leaves it alone meanwhile. */
  readonly inProgress: Map<string, number> = new Map()
  /** Those that were left alone; the network may show a payment before the call that sends it has its answer. */
  readonly leftAlone: Set<string> = new Set()
  /** The attempts to send bytes again since the wallet was opened: their count, and the last by the monotonic clock. */
  readonly attempts: Map<string, { readonly count: number; readonly at: number }> = new Map()
  /** Payments whose removal is on its way to the disk and may fail: one that is sent meanwhile keeps its entry. */
  readonly #leaving = new Map<string, SpendIntent>()
  /** The spends whose bytes are kept while the application is told of them; it may send them. */
  readonly #unsent = new Set<string>()
  readonly #mutex = new Mutex()

  constructor(options: SpenderOptions) {
    this.services = options.services
    this.walletId = options.walletId
    this.info = options.info
    this.engine = options.engine
    this.history = options.history
    this.rules = options.rules
    this.journal = options.journal
    this.balanceOf = options.balanceOf
    this.freezeCoins = options.freezeCoins
    this.frozenAmong = options.frozenAmong
    this.txChanged = options.txChanged
    this.openPaymentsChanged = options.openPaymentsChanged
    this.lookAgain = options.lookAgain
  }

  /**
   * Signs a draft. The intent is durable before a key is read, and the signed bytes before they are handed out. One waits
   * for the other, as in {@link Spender.spend}: two that are signed at once would not see each other's coins.
   *
   * @throws MAX_FEE, FEE_UNUSUAL, SIGN_REFUSED, OPTION_INVALID for another wallet's draft, or the error of a policy; then
   *   nothing was signed
   */
  signTx(draft: Transaction, options: SignOptions = {}): Promise<Transaction> {
    return this.#mutex.run(() => {
      const correlationId = newCorrelationId(this.services)
      return this.whileInProgress(correlationId, async () => {
        const { tx } = await this.#sign(draft, { ...options, correlationId, stage: 'signed' })
        await this.#notifySigned(tx, options)
        return tx
      })
    })
  }

  /**
   * Sends signed bytes. Whatever comes back, they may have left: they are kept, and what they spend stays reserved. After
   * any failure but a refusal they are sent again by themselves; after a refusal that is for a person to say.
   *
   * Bytes that are sent for the first time must not spend a coin that was frozen meanwhile. Those that may have left are sent all the
   * same: others may have them, and a wallet that sends them no more would only know less of its own payment.
   *
   * @throws COIN_FROZEN, SIGN_REFUSED, BROADCAST_REFUSED, BROADCAST_UNKNOWN; OPTION_INVALID for a draft
   */
  async broadcastTx(given: Transaction): Promise<Transaction> {
    checkSigned(given)
    const known = this.#find(given.txid)
    const counted = this.#findCounted(given.txid)
    const tx = asSigned(given, counted)
    const correlationId = known?.correlationId ?? newCorrelationId(this.services)
    const at = known?.at ?? this.services.io.clock.now()
    const intent: SpendIntent = { correlationId, stage: 'sending', at, tx, ...keptOf(counted) }
    return this.whileInProgress(correlationId, async () => {
      if (known === undefined || known.stage === 'signed') await checkKeptCoins(this, tx, known !== undefined)
      await this.journal.put(intent).catch((error: unknown) => {
        throw namingPayment(error, tx.txid)
      })
      await paymentsChanged(this)
      return this.send(intent)
    })
  }

  /**
   * Writes the transaction's file and takes it into the wallet; the spend is then finished. What `tx` notes wins.
   *
   * @throws OPTION_INVALID for a draft
   */
  async saveTx(tx: Transaction): Promise<void> {
    checkSigned(tx)
    return this.#save(tx, (kept, noted) => mergeMetadata(kept, noted))
  }

  /**
   * Signs, sends and saves a draft that the user has approved, as one journalled action; one after another, so that
   * the engine knows which coins are gone.
   *
   * A sent payment counts as sent: if saving it fails, that is reported, and it is saved after the next look at the network.
   *
   * @throws MAX_FEE, FEE_UNUSUAL, SIGN_REFUSED, COIN_FROZEN, OPTION_INVALID for another wallet's draft, BROADCAST_REFUSED,
   *   BROADCAST_UNKNOWN, STORAGE_TIMEOUT or the error of a policy
   */
  spend(draft: Transaction, options: SignOptions = {}): Promise<Transaction> {
    return this.#mutex.run(() => {
      const correlationId = newCorrelationId(this.services)
      return this.whileInProgress(correlationId, async () => {
        const intent = await this.#sign(draft, { ...options, correlationId, stage: 'sending' })
        this.#unsent.add(correlationId)
        await this.#notifySigned(intent.tx, options)
        if (this.#unsent.delete(correlationId)) await this.#checkUnsent(intent)
        const tx = await this.send(intent)
        await this.finish(tx).catch(error => this.services.report('saving a payment', error))
        return tx
      })
    })
  }

  /**
   * Forgets a signed transaction whose sending was not requested. Once bytes may have left, only the network decides.
   *
   * @throws TX_NOT_FOUND, BROADCAST_UNKNOWN
   */
  async discardTx(txid: Txid): Promise<void> {
    if (this.journal.findByTxid(txid) === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
    await this.#forget(txid, ({ stage }) => stage === 'signed')
  }

  /**
   * Forgets signed bytes that may have left, and frees what they spend. Others who have them can still have them mined, then
   * also beside another payment: a person must have been asked before.
   *
   * @throws TX_NOT_FOUND; BROADCAST_UNKNOWN while they are being sent
   */
  async forgetTx(txid: Txid): Promise<void> {
    if (this.journal.findSigned(txid) === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
    await this.#forget(txid, () => true)
    this.txChanged(txid)
  }

  /** Saves a spend without the user, perhaps long after the approval: what was noted since then wins. */
  finish(tx: Transaction): Promise<void> {
    return this.#save(tx, (kept, noted, isSaved) => (isSaved ? kept : mergeMetadata(noted, kept)))
  }

  /** Runs a task of a spend; rounds of `watchPayments` leave the spend alone meanwhile. */
  async whileInProgress<T>(correlationId: string, task: () => Promise<T>): Promise<T> {
    const { inProgress } = this
    inProgress.set(correlationId, (inProgress.get(correlationId) ?? 0) + 1)
    try {
      return await task()
    } finally {
      const others = (inProgress.get(correlationId) ?? 0) - 1
      if (others > 0) inProgress.set(correlationId, others)
      else {
        inProgress.delete(correlationId)
        if (this.leftAlone.delete(correlationId)) this.lookAgain()
      }
    }
  }

  /**
   * Sends the bytes of an unfinished spend, and notes how that went. Of a refusal the words are kept: the server has the
   * bytes all the same.
   *
   * @throws BROADCAST_REFUSED; BROADCAST_UNKNOWN, also for a refusal that could not be noted
   */
  async send(intent: SpendIntent): Promise<Transaction> {
    const { journal, services } = this
    this.#unsent.delete(intent.correlationId)
    const isNoted = (writing: Promise<void>): Promise<boolean> =>
      writing.then(
        () => true,
        error => {
          services.report('spend journal', error)
          return false
        }
      )
    const tx = await this.sendBytes(intent.tx).catch(async (error: unknown) => {
      if (!isWalletError(error, 'BROADCAST_REFUSED')) throw error
      const refused = { ...intent, refusal: error.details.reason }
      const isSaved = journal.findSent(intent.correlationId) !== undefined
      // A payment that a server once accepted is sent again automatically, whatever another says now.
      const stands = await isNoted(
        isSaved ? journal.watch({ ...refused, stage: 'broadcast' }) : journal.put(refused)
      )
      // Without the note the bytes are sent again automatically, so that nobody may take the payment for ended.
      if (!stands && !isSaved) throw new WalletError('BROADCAST_UNKNOWN', { txid: intent.tx.txid }, error)
      this.openPaymentsChanged()
      this.#emit(intent, 'refused')
      throw error
    })
    // What has left has left: without this note the same bytes are only sent once more.
    const { refusal: _, ...rest } = intent
    await isNoted(journal.put({ ...rest, stage: 'broadcast', tx }))
    this.#emit({ ...intent, tx }, 'broadcast')
    return tx
  }

  /** Sends bytes to the network, and notes nothing. @throws BROADCAST_REFUSED, BROADCAST_UNKNOWN */
  async sendBytes(tx: Transaction): Promise<Transaction> {
    const { services, engine, info } = this
    const { txid } = tx
    try {
      const keys = await engine.keysFor(questionOf('broadcast', { tx }))
      const onDifference = (error: WalletError): void => services.report('sending a payment', error)
      return await engine.call('sending a payment', async live => {
        const answer: unknown = await live.broadcastTx(engineCopyOf(tx), keys)
        return sentTransactionOf(info.pluginId, tx, { answer, onDifference })
      })
    } catch (error) {
      if (!isWalletError(error, 'BROADCAST_REFUSED'))
        throw new WalletError('BROADCAST_UNKNOWN', { txid }, error)
      if (await this.#isTaken(tx)) return tx
      throw error
    }
  }

  /**
   * Removes a payment: every entry of it, since one that was sent while its removal failed has two. No round looks for it
   * meanwhile, which would keep it and could send it again.
   */
  async #forget(txid: Txid, mayForget: (intent: SpendIntent) => boolean): Promise<void> {
    const intents = this.journal.signed().filter(({ tx }) => tx.txid === txid)
    if (intents.some(intent => this.inProgress.has(intent.correlationId) || !mayForget(intent)))
      throw new WalletError('BROADCAST_UNKNOWN', { txid })
    const [first] = intents
    if (first !== undefined) this.#leaving.set(txid, first)
    try {
      await Promise.all(
        intents.map(intent => this.whileInProgress(intent.correlationId, () => this.journal.forget(intent)))
      )
    } finally {
      this.#leaving.delete(txid)
    }
    await paymentsChanged(this)
  }

  #find(txid: Txid): SpendIntent | undefined {
    return this.journal.findSigned(txid) ?? this.#leaving.get(txid)
  }

  /** One that was forgotten and comes back counts as before. */
  #findCounted(txid: Txid): SpendIntent | undefined {
    return this.#find(txid) ?? this.journal.findPast(txid)
  }

  /** Writes the file, the row and the engine's record of a payment, and watches it. */
  async #save(tx: Transaction, join: JoinNotes): Promise<void> {
    const { history, services } = this
    const seconds = services.io.clock.now() / 1000
    const signed = asSigned(tx, this.#findCounted(tx.txid))
    const sent: Transaction = { ...signed, date: tx.date === 0 ? seconds : tx.date }
    const fresh = newTransactionFile(sent, history.creationDateOf(sent.date))
    const change = (present: TransactionFile | undefined): TransactionFile => {
      if (present === undefined) return fresh
      const { unknown, creationDate, currencies, payees } = present
      const tokens = new Map([...fresh.tokens, ...present.tokens])
      const name = assetNameOf(history.options, tx.tokenId)
      const asset = assetOf(present, name)
      const joined = { ...present, ...fresh, unknown, creationDate, currencies, tokens }
      return withMetadata(joined, name, () => join(asset?.metadata ?? {}, tx.metadata, payees !== undefined))
    }
    const unfinished = this.journal.findByTxid(tx.txid)
    const intent = await this.#watchedOf(sent)
    await this.#write(intent, { sent, change })
    if (unfinished !== undefined) this.#emit({ ...unfinished, stage: 'broadcast', tx: sent }, 'saved')
    if (intent !== undefined) await paymentsChanged(this)
    this.txChanged(tx.txid)
  }

  /**
   * Writes the file and the row of a payment, after its engine has it. The end of the spend is in the same write, so that a crash
   * leaves all or nothing. If the engine fails, or takes long, the file is written alone and the spend ends later.
   */
  async #write(
    intent: SpendIntent | undefined,
    { sent, change }: { readonly sent: Transaction; readonly change: FileChange }
  ): Promise<void> {
    const { history, journal, engine, services } = this
    let saving: Promise<void> | undefined
    const first = async (): Promise<void> => {
      saving = engine.call('saving a payment', live => live.saveTx(engineCopyOf(sent)))
      // No report and no edit of the wallet gets in meanwhile.
      const deadline = { clock: services.io.clock, milliseconds: 1000, what: 'saving a payment' }
      await withDeadline(deadline, () => saving)
      saving = undefined
    }
    const write = (localChanges?: EditOptions['localChanges']): Promise<void> =>
      history.editFile(sent.txid, change, { sent, first, ...compact({ localChanges }) })
    try {
      await (intent === undefined ? write() : journal.watch(intent, write))
    } catch (error) {
      if (saving === undefined) throw error
      const filing = history.editFile(sent.txid, change, { sent })
      // Of two failures this one is thrown.
      filing.catch(() => saving?.catch(late => services.report('saving a payment', late)))
      await filing
      await saving
      if (intent !== undefined) await journal.watch(intent)
    }
  }

  /** What watches a payment from now on, also one that was sent elsewhere and is recorded here; undefined if it is over. */
  async #watchedOf(tx: Transaction): Promise<SpendIntent | undefined> {
    const { journal, services, history } = this
    const leaving = this.#leaving.get(tx.txid)
    const kept = journal.signed().filter(({ tx: { txid } }) => txid === tx.txid)
    const entries = kept.length > 0 || leaving === undefined ? kept : [leaving]
    const [known] = entries
    if (known === undefined) {
      const row = await history.find(tx.txid, tx.tokenId)
      const isOver = row?.confirmations === 'confirmed' || row?.confirmations === 'dropped'
      if (isOver || !tx.isSend || tx.signedTx === '') return undefined
    }
    const at = known?.at ?? services.io.clock.now()
    const correlationId = known?.correlationId ?? newCorrelationId(services)
    // Who records what was not sent from here has not asked for it to be sent.
    const stage = entries.some(entry => entry.stage !== 'signed') ? 'broadcast' : 'signed'
    return { correlationId, stage, at, tx, ...keptOf(this.#findCounted(tx.txid)) }
  }

  async #sign(
    reviewed: Transaction,
    {
      correlationId,
      stage,
      maxNetworkFee,
      knownSimilar,
      requestedBy,
      approval,
      ...following
    }: SignOptions & { correlationId: string; stage: 'signed' | 'sending' }
  ): Promise<SpendIntent> {
    const { services, journal, info } = this
    const draft = frozenTransaction(reviewed)
    // Its review has named another wallet as the one that pays.
    if (draft.walletId !== this.walletId)
      throw new WalletError('OPTION_INVALID', { option: 'draft', rule: 'is of another wallet' })
    requireFeeLimit(maxNetworkFee)
    requireRequester(requestedBy)
    checkNetworkFee(info, draft, maxNetworkFee)
    const at = services.io.clock.now()
    const intended: SpendIntent = {
      correlationId,
      stage: 'intended',
      at,
      tx: draft,
      ...compact({ requestedBy })
    }
    checkSpentCoins(this, draft)
    if (knownSimilar !== undefined) checkSimilar(this, draft, knownSimilar)
    let reserved = intended
    let signed: SpendIntent | undefined
    try {
      const { walletId } = this
      await this.rules.reserve({ walletId, correlationId, tx: draft, requestedBy, approval }, facts => {
        reserved = { ...intended, ...facts }
        return journal.put(reserved)
      })
      this.#emit(intended, 'intended')
      const privateKeys = await this.engine.privateKeys(questionOf('spend', intended))
      const tx = await signDraft(this, draft, { ...following, privateKeys })
      // A signature can take long.
      await checkKeptCoins(this, tx, false)
      signed = { ...reserved, stage, tx }
      await journal.put(signed)
      await paymentsChanged(this)
      this.#emit(signed, 'signed')
      return signed
    } catch (error) {
      // If this fails too, the next look drops the intent; the first failure is the one to throw.
      const isRemoved = await journal.remove(correlationId).then(
        () => true,
        () => false
      )
      this.#emit(intended, 'refused')
      throw isRemoved || signed?.stage !== 'sending' ? error : namingPayment(error, signed.tx.txid)
    }
  }

  /** The bytes are kept by now, so that no failure here may be taken for one of the payment. */
  async #notifySigned(tx: Transaction, { onSigned }: SignOptions): Promise<void> {
    try {
      await onSigned?.(tx)
    } catch (error) {
      this.services.report('a signed payment', error)
    }
  }

  /**
   * Forgets a payment with a coin that was frozen while the application was told of it, if no byte has left: one that another call has
   * begun to send by then is kept.
   *
   * @throws COIN_FROZEN, SIGN_REFUSED; BROADCAST_UNKNOWN for one that cannot be forgotten, which is sent later
   */
  async #checkUnsent(intent: SpendIntent): Promise<void> {
    const { correlationId, tx } = intent
    try {
      await checkKeptCoins(this, tx, false)
    } catch (error) {
      if ((this.inProgress.get(correlationId) ?? 0) > 1) return
      await this.journal.remove(correlationId).catch((failure: unknown) => {
        this.services.report('spend journal', failure)
        throw new WalletError('BROADCAST_UNKNOWN', { txid: tx.txid }, error)
      })
      await paymentsChanged(this)
      this.#emit(intent, 'refused')
      throw error
    }
  }

  /**
   * A node also refuses a payment that a block contains by now, or that it has already. Of a payment that was saved here a row
   * alone says neither.
   */
  async #isTaken({ txid, tokenId }: Pick<Transaction, 'tokenId' | 'txid'>): Promise<boolean> {
    const { history, journal } = this
    const row = await history.find(txid, tokenId)
    if (row !== undefined && row.blockHeight > 0) return true
    return journal.sightOf(txid) === undefined && history.has(txid)
  }

  #emit(intent: SpendIntent, stage: Exclude<SpendStage, 'sending'> | 'saved' | 'refused'): void {
    const { correlationId, tx } = intent
    this.services.hooks.spendChanged.call(
      Object.freeze({
        correlationId,
        walletId: this.walletId,
        stage,
        ...compact({ txid: tx.txid || undefined })
      })
    )
    this.rules.changed()
  }
}

const checkSigned = ({ txid }: Transaction): void => {
  if (txid === '') throw new WalletError('OPTION_INVALID', { option: 'transaction', rule: 'is not signed' })
}

/** A transaction with what the journal knows of the same bytes, whatever is said of them: that is what budgets have counted. */
const asSigned = (given: Transaction, known: SpendIntent | undefined): Transaction => {
  if (known === undefined) return given
  const { replaces: _r, spentCoins: _s, parentNetworkFee: _p, networkFees: _f, ...said } = given
  const { walletId, tokenId, nativeAmount: amount, networkFee, ...facts } = known.tx
  const { spendTargets, replaces, spentCoins, parentNetworkFee, networkFees } = facts
  return {
    ...{ ...said, walletId, tokenId, nativeAmount: amount, networkFee },
    ...compact({ spendTargets, replaces, spentCoins, parentNetworkFee, networkFees })
  }
}

const requireRequester = (requestedBy: string | undefined): void => {
  if (requestedBy === undefined || (isShortText(requestedBy) && requestedBy !== '')) return
  throw new WalletError('OPTION_INVALID', { option: 'requestedBy', rule: 'is no name' })
}

type JoinNotes = (kept: Metadata, noted: Metadata, isSaved: boolean) => Metadata

/** The facts of a payment that stay if it is sent or recorded again, such as the time from which its retention counts. */
const keptOf = ({
  confirmedAt,
  requestedBy,
  countedAt,
  values
}: Partial<SpendIntent> = {}): Pick<SpendIntent, 'confirmedAt' | 'countedAt' | 'requestedBy' | 'values'> =>
  compact({ confirmedAt, requestedBy, countedAt, values })

/** Makes the id under which hooks and the log name a spend. */
export const newCorrelationId = ({ io }: Services): string => io.crypto.toHex(io.random(8))

/**
 * The error of a note that bytes may leave, which failed and may be on the disk all the same: nothing was sent, but who opens
 * the wallet then sends what the error names.
 */
const namingPayment = (error: unknown, txid: Txid): unknown => {
  const isLate = isWalletError(error, 'STORAGE_TIMEOUT') && error.details.what === 'write'
  const isUnclear = isWalletError(error, 'STORAGE_FAILED') && error.details.mayBeSaved === true
  return isLate || isUnclear ? new WalletError(error.code, { ...error.details, txid }, error) : error
}
