import type { CommandRun } from '../command.ts'
import { amountText } from '../output/amounts.ts'
import { syncCell, walletJson } from '../output/facts.ts'
import { findWallet } from '../session/find-wallet.ts'

/** Shows everything public about one wallet. */
export const walletsShow: CommandRun = async (session, text = '') => {
  const account = await session.account()
  const wallet = await session.synced(await findWallet(session, text))
  const listing = account.listWallets().find(({ walletId }) => walletId === wallet.id)
  const engine = wallet.engine.getSnapshot()
  const { publicAddress } = await wallet.getReceiveAddress()
  const unfinished = wallet.unfinishedSpends().map(({ stage, tx }) => ({ stage, txid: tx.txid }))
  return {
    data: {
      ...(listing === undefined ? { id: wallet.id } : walletJson(wallet, listing)),
      address: publicAddress,
      unfinishedSpends: unfinished
    },
    warnings: unfinished.map(
      ({ txid, stage }) => `a payment is not finished (${stage}): ${txid || 'not signed'}`
    ),
    view: {
      kind: 'record',
      fields: [
        ['id', wallet.id],
        ['name', wallet.name ?? ''],
        ['type', wallet.type],
        ['balance', amountText(wallet.balanceOf(null), wallet.currencyInfo)],
        ['address', publicAddress],
        ['state', syncCell(engine)],
        ['height', String(engine.blockHeight)],
        ['fiat', wallet.getSnapshot().fiatCurrencyCode]
      ]
    }
  }
}
