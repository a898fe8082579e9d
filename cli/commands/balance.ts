import type { CommandRun } from '../command.ts'
import { amountText } from '../output/amounts.ts'
import { balanceJson } from '../output/facts.ts'
import { findWallets } from '../session/find-wallet.ts'

/** Shows the balance of some wallets, or of all. */
export const balance: CommandRun = async (session, ...texts) => {
  const wanted = texts.filter(text => text !== undefined)
  const wallets = await findWallets(session, wanted)
  await Promise.all(wallets.map(wallet => session.synced(wallet)))
  return {
    data: {
      balances: wallets.map(wallet => ({ walletId: wallet.id, name: wallet.name, ...balanceJson(wallet) }))
    },
    view: {
      kind: 'table',
      columns: [
        { title: 'NAME', canShrink: true },
        { title: 'BALANCE', align: 'right' },
        { title: 'ID', canShrink: true }
      ],
      rows: wallets.map(wallet => [
        wallet.name ?? '',
        amountText(wallet.balanceOf(null), wallet.currencyInfo),
        wallet.id
      ]),
      empty: 'This account has no wallet yet. Make one with: holdfast wallets create bitcoin'
    }
  }
}
