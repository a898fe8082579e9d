import type { JsonObject } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { amountText } from '../output/amounts.ts'
import { syncCell, walletJson } from '../output/facts.ts'
import type { CellLike } from '../output/view.ts'
import { openUsable } from '../session/open-usable.ts'

/** Lists the wallets of the account with their balances. */
export const walletsList: CommandRun = async session => {
  const { wallets, warnings, unusable } = await openUsable(session)
  const rows = wallets.map(({ wallet }): readonly CellLike[] => [
    wallet.name ?? '',
    amountText(wallet.balanceOf(null), wallet.currencyInfo),
    syncCell(wallet.engine.getSnapshot()),
    wallet.type,
    wallet.id
  ])
  const others = unusable.map(({ walletId, type }): readonly CellLike[] => [
    '',
    '',
    { text: 'no plugin', tone: 'warn' },
    type,
    walletId
  ])
  return {
    data: {
      wallets: [
        ...wallets.map(({ wallet, listing }) => walletJson(wallet, listing)),
        ...unusable.map(
          ({ walletId, type, archived, deleted, hidden, sortIndex }): JsonObject => ({
            ...{ id: walletId, name: null, type, pluginId: null, archived, deleted, hidden, sortIndex },
            ...{ engine: { state: 'created', error: 'PLUGIN_FOR_TYPE' }, balances: [] }
          })
        )
      ]
    },
    warnings,
    view: {
      kind: 'table',
      columns: [
        { title: 'NAME', canShrink: true },
        { title: 'BALANCE', align: 'right' },
        { title: 'STATE' },
        { title: 'TYPE', canShrink: true },
        { title: 'ID', canShrink: true }
      ],
      rows: [...rows, ...others],
      empty: 'This account has no wallet yet. Make one with: holdfast wallets create bitcoin'
    }
  }
}
