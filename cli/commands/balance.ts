import { type CurrencyWallet, type JsonObject, type NativeAmount, sum } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { amountJson, amountText } from '../output/amounts.ts'
import type { Asset } from '../output/assets.ts'
import { balanceJson, syncCell, syncJson } from '../output/facts.ts'
import { findWallets } from '../session/find-wallet.ts'
import { chosenAssets } from '../session/history.ts'
import { syncWallets } from '../session/sync-wallets.ts'
import { watchResult } from '../session/watch.ts'
import type { Session } from '../session.ts'

/** Shows the balances of some wallets, or of all. */
export const balance: CommandRun = (session, ...texts) => {
  const wanted = texts.filter(text => text !== undefined)
  if (session.isOn('watch')) return watchResult(session, 'balance', () => look(session, wanted, false))
  return look(session, wanted, true)
}

interface Holding {
  readonly wallet: CurrencyWallet
  readonly asset: Asset
  readonly amount: NativeAmount
}

const look = async (
  session: Session,
  wanted: readonly string[],
  wantsSync: boolean
): Promise<CommandResult> => {
  const found = await findWallets(session, wanted)
  const wallets = found.filter(wallet => !wallet.getSnapshot().isPaused)
  const warnings = [
    ...found.filter(wallet => !wallets.includes(wallet)).map(pausedSentence),
    ...(wantsSync ? await syncWallets(session, wallets) : [])
  ]
  const all = (await chosenAssets(session, wallets)).map(({ wallet, asset }) => ({
    wallet,
    asset,
    amount: wallet.balanceOf(asset.tokenId)
  }))
  // The coin of a wallet is always shown; of its tokens those that it holds, unless somebody asks.
  const isShown = ({ asset, amount }: Holding): boolean =>
    asset.tokenId === null || amount !== '0' || session.isOn('zero') || session.text('token') !== undefined
  const holdings = all.filter(isShown)
  const totals = session.isOn('total') ? totalsOf(holdings) : []
  return {
    data: {
      balances: holdings.map(
        ({ wallet, asset }): JsonObject => ({
          ...{ walletId: wallet.id, name: wallet.name, pluginId: wallet.currencyInfo.pluginId },
          ...balanceJson(wallet, asset),
          sync: syncJson(wallet.engine.getSnapshot())
        })
      ),
      ...(session.isOn('total') ? { totals: totals.map(totalJson) } : {})
    },
    warnings,
    view: {
      kind: 'table',
      columns: [
        { title: 'NAME', canShrink: true },
        { title: 'BALANCE', align: 'right' },
        { title: 'STATE' },
        { title: 'ID', canShrink: true }
      ],
      rows: [
        ...holdings.map(({ wallet, asset, amount }) => [
          wallet.name ?? '',
          amountText(amount, asset),
          syncCell(wallet.engine.getSnapshot()),
          wallet.id
        ]),
        ...totals.map(({ asset, amount }) => [
          { text: 'in all', tone: 'strong' as const },
          { text: amountText(amount, asset), tone: 'strong' as const },
          '',
          ''
        ])
      ],
      empty: 'This account has no wallet yet. Make one with: holdfast wallets create bitcoin'
    }
  }
}

const pausedSentence = ({ id, name }: CurrencyWallet): string =>
  `${name ?? id} is paused on this device, and its balance is not looked up`

/** One sum for each asset; amounts of different ones are never added. */
const totalsOf = (holdings: readonly Holding[]): readonly Holding[] => {
  const byAsset = new Map<string, Holding[]>()
  for (const holding of holdings) {
    const key = `${holding.wallet.currencyInfo.pluginId} ${holding.asset.tokenId ?? ''}`
    byAsset.set(key, [...(byAsset.get(key) ?? []), holding])
  }
  return [...byAsset.values()].flatMap(same => {
    const [first] = same
    return first === undefined ? [] : [{ ...first, amount: sum(same.map(({ amount }) => amount)) }]
  })
}

const totalJson = ({ wallet, asset, amount }: Holding): JsonObject => ({
  pluginId: wallet.currencyInfo.pluginId,
  tokenId: asset.tokenId,
  ...amountJson(amount, asset)
})
