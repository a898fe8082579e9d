import { nativeAmount } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { copyList } from '../base/copy-data.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { Mutex } from '../base/mutex.ts'
import type { Clock } from '../io/io.ts'
import { exemptPass } from '../keys/key-gate.ts'
import { isSegwitSplit, needsReplayProtection, splitWalletInfo } from '../keys/quirks.ts'
import { openWalletInfo } from '../keys/wallet-info.ts'
import type { Login } from '../login/login.ts'
import type { Services } from '../plugins/services.ts'
import type { EngineStore } from '../types/engine.ts'
import type { WalletId } from '../types/ids.ts'
import type { WalletInfo } from '../types/keys.ts'
import type { SpendInfo, SpendTarget, Transaction } from '../types/transaction.ts'
import { callTools } from '../wallet/tools.ts'
import type { CurrencyWallet } from '../wallet/wallet.ts'
import type { AccountWallets } from './activation.ts'
import { checkKeyType, type WalletCreator } from './create-wallets.ts'

/** The account whose wallets are split. */
export interface WalletSplitterOptions extends AccountWallets {
  readonly services: Services
  readonly login: Login
  readonly creator: Pick<WalletCreator, 'openNew'>
  /** Keeps, on this device alone, the splits that were not finished. */
  readonly unfinished: EngineStore
}

/**
 * Splits wallets: the same keys, used on another chain that shares the first one's past (protocol §5.3).
 *
 * Splits run one after another. A split that fails can be repeated: it goes on where it stopped, and never makes a
 * second wallet.
 */
export class WalletSplitter {
  readonly #options: WalletSplitterOptions
  readonly #mutex = new Mutex()
  /** Ids of wallets whose split has begun on this device and did not come to its end, in this session or another. */
  readonly #unfinished: EngineStore

  constructor(options: WalletSplitterOptions) {
    this.#options = options
    this.#unfinished = options.unfinished
  }

  /**
   * The types that a wallet can be split into and that are not in use.
   *
   * @throws WALLET_ID_INVALID, PLUGIN_FOR_TYPE, PLUGIN_FAILED, DEADLINE
   */
  async listTypes(walletId: WalletId): Promise<readonly string[]> {
    const { services, book } = this.#options
    const info = this.#info(walletId)
    const { pluginId } = services.plugins.infoOf(info.type)
    const types = await callTools(services, {
      pluginId,
      what: 'splitting keys',
      async call(tools) {
        const answer = copyList((await tools.getSplittableTypes?.(info)) ?? [], MAX_TYPES)
        if (isTextList(answer)) return answer
        throw new WalletError('BOGUS_DATA', { pluginId, what: 'wallet types', path: '' })
      }
    })
    return types.filter(type => {
      if (services.plugins.findByWalletType(type) === undefined || isSegwitSplit(info, type)) return false
      return !book.isActive(splitWalletInfo(services.io, info, type).id)
    })
  }

  /**
   * Makes the wallet that another type gives these keys, or takes it back where it was archived or deleted.
   *
   * A type without a plugin gives keys that other devices may use, under the default name and fiat code.
   *
   * @returns the id of the wallet of that type
   * @throws WALLET_ID_INVALID, WALLET_ALREADY_SPLIT, SPLIT_SEGWIT, WALLET_MISSING, NETWORK, … and what
   * a spend throws, where one is needed first
   */
  split(walletId: WalletId, type: string): Promise<WalletId> {
    return this.#mutex.run(() => this.#split(walletId, type))
  }

  async #split(walletId: WalletId, type: string): Promise<WalletId> {
    const { services, login, book } = this.#options
    const source = this.#info(walletId)
    checkKeyType(type)
    if (isSegwitSplit(source, type)) throw new WalletError('SPLIT_SEGWIT', {})
    const { id, ...target } = splitWalletInfo(services.io, source, type)
    const isReplayable = needsReplayProtection(source.type, type)
    if (isReplayable) await protectFromReplay(await this.#openSource(walletId), services.io.clock)
    if (book.isActive(id) && this.#unfinished.get(id) === undefined) {
      if (isReplayable) return id
      throw new WalletError('WALLET_ALREADY_SPLIT', {})
    }
    if (book.find(id) === undefined) {
      // Whatever its answer is, the request may make the wallet. Without a plugin it has no settings to copy.
      const isUsable = services.plugins.findByWalletType(type) !== undefined
      if (isUsable) await this.#unfinished.write(new Map([[id, walletId]]))
      await login.addWalletInfos([{ id, ...target }])
    }
    await book.changeStates({ [id]: RESTORED })
    if (this.#unfinished.get(id) !== undefined) await this.#copySettings(walletId, id)
    return id
  }

  #info(walletId: WalletId): WalletInfo {
    const info = this.#options.book.find(walletId)
    if (info === undefined) throw new WalletError('WALLET_ID_INVALID', { walletId })
    return openWalletInfo(info, exemptPass('split'))
  }

  async #openSource(walletId: WalletId): Promise<CurrencyWallet> {
    try {
      return await this.#options.wallets.get(walletId)
    } catch (error) {
      if (isWalletError(error, 'LOGGED_OUT')) throw error
      throw new WalletError('WALLET_MISSING', {}, error)
    }
  }

  /** The split is done without them, and has its end with them. */
  async #copySettings(fromId: WalletId, walletId: WalletId): Promise<void> {
    try {
      const { name, type, fiatCurrencyCode } = (await this.#options.wallets.get(fromId)).getSnapshot()
      const request = { type, fiatCurrencyCode, ...compact({ name: name ?? undefined }) }
      await this.#options.creator.openNew({ walletId, request, isKnown: false })
      await this.#unfinished.write(new Map([[walletId, null]]))
    } catch (error) {
      this.#options.services.report('splitting a wallet', error)
    }
  }
}

/** The states of a wallet that is split into again; the wallet that had taken its place is forgotten. */
const RESTORED = { archived: false, deleted: false, migratedFromWalletId: null }

const MAX_TYPES = 1000

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string')

/**
 * Moves all coins of a Bitcoin Cash wallet in a way that Bitcoin SV does not know, so that no payment on one chain can
 * be repeated on the other (specification §9; protocol §5.3).
 *
 * Two payments at a high fee: a little to an output with a script of Bitcoin Cash alone, then everything to an own
 * address. What an earlier try has sent within a day is not sent again; while it is not known whether it has left, no
 * other payment may use its coins.
 *
 * @throws BROADCAST_UNKNOWN, INSUFFICIENT_FUNDS and the other spend errors
 */
const protectFromReplay = async (wallet: CurrencyWallet, clock: Pick<Clock, 'now'>): Promise<void> => {
  const open = wallet.unfinishedSpends().find(({ stage, tx }) => stage !== 'intended' && isOurs(tx))
  if (open !== undefined) throw new WalletError('BROADCAST_UNKNOWN', { txid: open.tx.txid })
  const startDate = new Date(clock.now() - RETRY_MS)
  const recent = await wallet.getTransactions({ startDate })
  const sent = recent.filter(tx => isOurs(tx) && tx.confirmations !== 'dropped')
  if (sent.length < 1) await send(wallet, MARKED)
  if (sent.length < 2) {
    const { publicAddress } = await wallet.getReceiveAddress()
    const amount = await wallet.getMaxSpendable(spendTo({ publicAddress }))
    await send(wallet, { publicAddress, nativeAmount: amount })
  }
}

const NAME = 'Replay Protection Tx'
const isOurs = ({ metadata }: Pick<Transaction, 'metadata'>): boolean => metadata.name === NAME
const RETRY_MS = 24 * 60 * 60 * 1000

/** The plugin makes the output from the script; there is no address. */
const MARKED: SpendTarget = {
  publicAddress: '',
  nativeAmount: nativeAmount('10000'),
  otherParams: { script: { type: 'replayProtection' } }
}

const spendTo = (target: SpendTarget): SpendInfo => ({
  tokenId: null,
  spendTargets: [target],
  networkFeeOption: 'high',
  metadata: { name: NAME }
})

const send = async (wallet: CurrencyWallet, target: SpendTarget): Promise<void> => {
  await wallet.spend(await wallet.makeSpend(spendTo(target)))
}
