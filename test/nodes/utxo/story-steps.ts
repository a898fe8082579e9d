import type { ExecutionContext } from 'ava'
import { nativeAmount, type Transaction, type Txid } from '../../../kernel/index.ts'
import { eventually, type LabWallet, type NodeLab, wordsOf } from './node-lab.ts'

/** What happens between a wallet and a node, of whatever currency and however the wallet asks. */
export interface Story {
  /** A sentence of behaviour. */
  readonly title: string
  run(t: ExecutionContext, lab: NodeLab): Promise<void>
}

/** 1 of a main unit, in native ones. */
export const ONE = 100_000_000n

/** Pays from a wallet of ours; gives the payment. */
export const pay = async (
  { wallet }: LabWallet,
  payees: readonly (readonly [address: string, amount: bigint])[]
): Promise<Transaction> => {
  const spendTargets = payees.map(([publicAddress, amount]) => ({
    publicAddress,
    nativeAmount: nativeAmount(String(amount))
  }))
  return wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
}

/** Pays all that a wallet of ours has to one address; gives the payment and its amount. */
export const payAll = async (
  owner: LabWallet,
  publicAddress: string
): Promise<{ txid: Txid; most: bigint }> => {
  const spendTargets = [{ publicAddress }]
  const most = BigInt(await owner.wallet.getMaxSpendable({ tokenId: null, spendTargets }))
  const { txid } = await pay(owner, [[publicAddress, most]])
  return { txid, most }
}

/** Waits until a payment is in a state, or says in which it is. */
export const becomes = async (
  t: ExecutionContext,
  { wallet }: LabWallet,
  txid: Txid,
  isSo: (tx: Transaction) => boolean
): Promise<void> => {
  await eventually(async () => isSo(await wallet.getTransaction(txid))).catch(async () => {
    const { confirmations, blockHeight, sentState } = await wallet.getTransaction(txid)
    t.fail(`it is ${JSON.stringify({ confirmations, blockHeight, sentState })}`)
  })
}

export const isConfirmed = ({ confirmations }: Transaction): boolean => confirmations === 'confirmed'

/** A wallet with coins that are confirmed, one of each of these amounts. */
export const openRich = async (
  t: ExecutionContext,
  lab: NodeLab,
  amounts: readonly number[]
): Promise<LabWallet> => {
  const owner = await lab.open(wordsOf(t))
  for (const amount of amounts) await lab.pay(await owner.address(), amount)
  await lab.mine(1)
  await owner.agree(t, 'rich')
  return owner
}
