import type { CurrencyWallet } from '../../kernel/index.ts'
import { waitFor } from '../helpers/device.ts'
import type { WalletCalls } from './device.ts'
import { type OwnSession, ownAccountOf } from './own-session.ts'

/** Wallets of Holdfast, with keys of their own and a real engine. */
export const ownWalletCalls = (session: OwnSession): WalletCalls => {
  const mine = () => ownAccountOf(session)
  const walletOf = (walletId: string): Promise<CurrencyWallet> => mine().openWallet(walletId)
  return {
    async createWallet({ format, ...options }) {
      return (await mine().createCurrencyWallet('wallet:bitcoin', { ...options, keyOptions: { format } })).id
    },
    wallets: () =>
      Promise.all(
        mine()
          .getSnapshot()
          .walletIds.map(async walletId => {
            const { type, name, fiatCurrencyCode } = (await walletOf(walletId)).getSnapshot()
            return { id: walletId, type, name, fiatCurrencyCode }
          })
      ),
    rawPrivateKey: async walletId => mine().walletKeys.getRawPrivateKey(walletId),
    renameWallet: async (walletId, name) => (await walletOf(walletId)).rename(name),
    receiveAddress: async walletId => (await (await walletOf(walletId)).getReceiveAddress()).publicAddress,
    async showTransactions(walletId, transactions) {
      const wallet = await walletOf(walletId)
      session.lab.show(walletId, transactions)
      for (const { txid, tokenId = null } of transactions) {
        await waitFor(async () => (await wallet.getTransactions({ tokenId })).some(tx => tx.txid === txid))
      }
    },
    noteOf: async (walletId, txid) => (await (await walletOf(walletId)).getTransaction(txid)).metadata,
    writeNote: async (walletId, txid, note) => (await walletOf(walletId)).saveTxMetadata(txid, note),
    sync: () => mine().sync()
  }
}
