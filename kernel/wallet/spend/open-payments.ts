import { requireTextList } from '../../base/arguments.ts'
import { compact } from '../../base/compact.ts'
import { looseCopy } from '../../base/copy-data.ts'
import { WalletError } from '../../base/errors.ts'
import type { AccountRules } from '../../keys/key-gate.ts'
import type { Services } from '../../plugins/services.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
import type { Txid } from '../../types/ids.ts'
import { coinFeeOf, networkFeesOf } from '../../types/network-fee.ts'
import type { OpenPaymentSnapshot } from '../../types/snapshots.ts'
import type { EngineTransaction, Transaction } from '../../types/transaction.ts'
import type { EngineSupervisor } from '../engine/supervisor.ts'
import type { SpendIntent, SpendJournal } from './journal.ts'

/** The wallet that open payments belong to. */
export interface OpenPaymentContext {
  readonly services: Services
  readonly info: CurrencyInfo
  readonly engine: EngineSupervisor
  readonly journal: SpendJournal
  /** Called when other payments are open, or their states have changed. */
  openPaymentsChanged(): void
}

/** The wallet whose payments spend no frozen coin. */
export interface FrozenCoinContext extends Pick<OpenPaymentContext, 'info' | 'journal'> {
  readonly rules: Pick<AccountRules, 'keptCoins'>
  /** Those of some coins that a person has frozen. */
  frozenAmong(outpoints: readonly string[]): Promise<readonly string[]>
}

/** Every signed payment that is neither confirmed nor beaten by one that is, oldest first. */
export const openPaymentsOf = (journal: SpendJournal): readonly OpenPaymentSnapshot[] =>
  Object.freeze(journal.signed().filter(isPaymentOpen).map(openPaymentOf))

/** The open payments that pay one of the payees of a draft the same amount: it may be the same payment again. */
export const similarPaymentsOf = (
  open: readonly OpenPaymentSnapshot[],
  { tokenId, spendTargets = [], replaces }: Pick<Transaction, 'replaces' | 'spendTargets' | 'tokenId'>
): readonly OpenPaymentSnapshot[] => {
  // It cannot be mined beside what it replaces, nor beside what that has replaced.
  const rivals = replacedBefore(replaces, txid => open.find(payment => payment.txid === txid))
  return open.filter(
    payment =>
      payment.tokenId === tokenId &&
      !rivals.has(payment.txid) &&
      payment.targets.some(({ publicAddress, nativeAmount }) =>
        spendTargets.some(
          target => target.publicAddress === publicAddress && target.nativeAmount === nativeAmount
        )
      )
  )
}

/** Returns true if a payment may still be mined and is not yet confirmed. */
export const isPaymentOpen = ({ confirmedAt, sight }: SpendIntent): boolean =>
  confirmedAt === undefined && sight?.isFinal !== true

/** Lists the payments whose coins the engine must keep from every other draft: signed ones that are not long confirmed. */
export const reservedPaymentsOf = (journal: SpendJournal): readonly EngineTransaction[] =>
  journal.signed().map(({ tx }) => looseCopy(tx))

/**
 * Has the engine reserve what the signed payments spend, as they are now, before it makes a draft.
 *
 * @param replaces - the payment whose place the draft takes
 * @throws TX_NOT_FOUND if that is none of them, NOT_SUPPORTED if it is over or the currency cannot replace
 */
export const reserveCoins = async (
  { engine, journal, info }: OpenPaymentContext,
  replaces?: Txid
): Promise<void> => {
  const replaced = replaces === undefined ? undefined : journal.findSigned(replaces)
  if (replaces !== undefined) {
    if (replaced === undefined) throw new WalletError('TX_NOT_FOUND', { txid: replaces })
    if (!isPaymentOpen(replaced))
      throw new WalletError('NOT_SUPPORTED', { what: 'replacing a payment that is over' })
  }
  await engine.call('reserving coins', async live => {
    if (live.reservePayments !== undefined) return live.reservePayments(reservedPaymentsOf(journal))
    if (replaces !== undefined)
      throw new WalletError('NOT_SUPPORTED', { what: `replacing a payment of ${info.displayName}` })
  })
}

/**
 * Updates the engine and the snapshot after a change of the open payments. A failed call to the engine is repeated
 * before the next draft.
 */
export const paymentsChanged = async (context: OpenPaymentContext): Promise<void> => {
  context.openPaymentsChanged()
  const { engine, journal, services } = context
  await engine
    .callIfMade('reserving coins', async live => live.reservePayments?.(reservedPaymentsOf(journal)))
    .catch(error => services.report('reserving coins', error))
}

/**
 * Checks, for currencies that name what a draft spends, that no other open payment spends the same, and that a
 * replacement cannot be mined beside what it replaces, nor beside what that has replaced.
 *
 * @throws SIGN_REFUSED, TX_NOT_FOUND if there is no such payment
 */
export const checkSpentCoins = ({ journal, info }: OpenPaymentContext, draft: Transaction): void => {
  const { replaces, spentCoins } = draft
  if (replaces !== undefined && journal.findSigned(replaces) === undefined)
    throw new WalletError('TX_NOT_FOUND', { txid: replaces })
  if (spentCoins === undefined) return
  const replaced = replacedBefore(replaces, txid => journal.findSigned(txid)?.tx)
  const refuse = (reason: string): WalletError =>
    new WalletError('SIGN_REFUSED', { pluginId: info.pluginId, reason, refusedBy: 'wallet' })
  const open = journal.signed().filter(isPaymentOpen)
  const freed = new Set(open.flatMap(({ tx }) => (replaced.has(tx.txid) ? (tx.spentCoins ?? []) : [])))
  for (const { tx } of open) {
    const { txid, spentCoins: coins } = tx
    if (coins === undefined) continue
    const isShared = coins.some(coin => spentCoins.includes(coin))
    if (replaced.has(txid)) {
      if (!isShared) throw refuse(`it could be mined beside ${txid}, which it is to replace`)
      continue
    }
    // A payment that shares a coin with one that is replaced is an earlier or a later form of it.
    const isForm = coins.some(coin => freed.has(coin))
    if (isShared && !isForm) throw refuse(`it spends a coin that is reserved for ${txid}`)
  }
}

/**
 * Checks that a payment whose bytes have not left spends no coin that was frozen since its draft was made; a replacement may spend what
 * the payment has that it replaces. That a person has chosen the coin for it changes nothing: freezing it came later. A sweep spends none
 * either that another wallet of the account has paid with meanwhile.
 *
 * @param isKept - the signed bytes are kept as an open payment
 * @throws COIN_FROZEN, SIGN_REFUSED
 */
export const checkKeptCoins = async (
  context: FrozenCoinContext,
  tx: Transaction,
  isKept: boolean
): Promise<void> => {
  const { info, rules } = context
  const [coin] = await frozenCoinsIn(context, tx)
  if (coin !== undefined) throw new WalletError('COIN_FROZEN', { txid: tx.txid, coin, isKept })
  if (tx.isSend) return
  const { reserved } = await rules.keptCoins(info.pluginId, tx.spentCoins ?? [])
  const reason = 'it spends a coin that is reserved for an open payment of the account'
  if (reserved.length > 0)
    throw new WalletError('SIGN_REFUSED', { pluginId: info.pluginId, reason, refusedBy: 'wallet' })
}

/** The frozen coins that a payment must not spend: those that the payment has which it replaces, it may. */
export const frozenCoinsIn = async (
  { frozenAmong, journal, rules, info }: FrozenCoinContext,
  { isSend, replaces, spentCoins = [] }: Pick<Transaction, 'isSend' | 'replaces' | 'spentCoins'>
): Promise<readonly string[]> => {
  const replaced = replaces === undefined ? [] : (journal.findSigned(replaces)?.tx.spentCoins ?? [])
  const fresh = spentCoins.filter(coin => !replaced.includes(coin))
  // The coins of a sweep are of foreign keys, perhaps those of another wallet.
  return isSend ? frozenAmong(fresh) : (await rules.keptCoins(info.pluginId, fresh)).frozen
}

/**
 * Checks that every open payment which pays the same as a draft is one of those that are known.
 *
 * @throws SIGN_REFUSED; OPTION_INVALID for what is no list of txids
 */
export const checkSimilar = (
  { journal, info }: Pick<OpenPaymentContext, 'journal' | 'info'>,
  draft: Transaction,
  known: readonly string[]
): void => {
  requireTextList('knownSimilar', known)
  const similar = similarPaymentsOf(openPaymentsOf(journal), draft)
  const other = similar.find(({ txid }) => !known.includes(txid))
  if (other === undefined) return
  throw new WalletError('SIGN_REFUSED', {
    ...{ pluginId: info.pluginId, refusedBy: 'wallet' },
    reason: `${other.txid}, which is open, pays the same`
  })
}

/** Returns the payment that a draft replaces, and all that this one has replaced. */
const replacedBefore = (
  replaces: Txid | undefined,
  find: (txid: Txid) => { readonly replaces?: Txid | undefined } | undefined
): ReadonlySet<Txid> => {
  const replaced = new Set<Txid>()
  for (let txid = replaces; txid !== undefined && !replaced.has(txid); txid = find(txid)?.replaces)
    replaced.add(txid)
  return replaced
}

const feesWithTokens = (tx: Transaction): OpenPaymentSnapshot['networkFees'] => {
  const fees = networkFeesOf(tx)
  if (fees.every(({ tokenId }) => tokenId === null)) return undefined
  return Object.freeze(fees.map(({ tokenId, nativeAmount }) => Object.freeze({ tokenId, nativeAmount })))
}

const openPaymentOf = ({ tx, at, stage, refusal, sight }: SpendIntent): OpenPaymentSnapshot => {
  const isRefused = refusal !== undefined && stage === 'sending'
  const unseen = stage === 'signed' ? 'signed' : isRefused ? 'refused' : 'notSeen'
  const { state = 'notSeen', replacedBy: rival } = sight ?? {}
  return Object.freeze({
    txid: tx.txid,
    tokenId: tx.tokenId,
    currencyCode: tx.currencyCode,
    nativeAmount: tx.nativeAmount,
    networkFee: coinFeeOf(tx),
    ...compact({ networkFees: feesWithTokens(tx) }),
    targets: Object.freeze(
      (tx.spendTargets ?? []).map(({ publicAddress, nativeAmount }) =>
        Object.freeze({ publicAddress, nativeAmount })
      )
    ),
    at,
    state: state === 'notSeen' || (stage !== 'broadcast' && state === 'notInMempool') ? unseen : state,
    ...compact({ reason: refusal, replaces: tx.replaces, replacedBy: rival })
  })
}
