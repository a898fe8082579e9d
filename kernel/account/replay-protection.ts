import { nativeAmount } from '../base/amount.ts'
import { WalletError } from '../base/errors.ts'
import type { Clock } from '../io/io.ts'
import type { SpendInfo, SpendTarget, Transaction } from '../types/transaction.ts'
import type { CurrencyWallet } from '../wallet/wallet.ts'

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
export const protectFromReplay = async (wallet: CurrencyWallet, clock: Pick<Clock, 'now'>): Promise<void> => {
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
