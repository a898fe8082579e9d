import {
  type CurrencyWallet,
  isWalletError,
  type Transaction,
  type TransactionsSnapshot
} from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { openEventStream } from '../output/event-stream.ts'
import { txJson } from '../output/tx-facts.ts'
import { txLine } from '../output/tx-table.ts'
import { chooseWallets } from '../session/find-wallet.ts'
import type { Effect } from '../session/history.ts'
import { openMailbox } from '../session/mailbox.ts'
import { syncWallets } from '../session/sync-wallets.ts'
import { assetsOf } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'

/** Tells of each transaction that comes, changes or is dropped, until it is stopped. */
export const txWatch: CommandRun = async (session, ...texts) => {
  const news = openMailbox<TransactionsSnapshot>(session.signal)
  session.observe(({ hooks }) => hooks.transactionsChanged.tap('watch', news.post))
  const wallets = new Map((await chooseWallets(session, texts)).map(wallet => [wallet.id, wallet]))
  for (const warning of await syncWallets(session, [...wallets.values()])) session.talk.warn(warning)
  const stream = openEventStream(session)
  await stream.emit('tx.watching', { walletIds: [...wallets.keys()] })
  session.talk.say(`Watching ${wallets.size} ${wallets.size === 1 ? 'wallet' : 'wallets'}; Ctrl-C ends it`)
  for await (const { walletId, created, changed } of news) {
    const wallet = wallets.get(walletId)
    if (wallet === undefined) continue
    const isNew = new Set(created)
    for (const txid of [...created, ...changed]) {
      for (const effect of await effectsOf(session, wallet, txid)) {
        const event = eventOf(effect.tx, isNew.has(txid))
        await stream.emit(`tx.${event}`, txJson(effect.tx, effect.asset))
        if (!session.globals.json) await session.print(txLine(event, effect))
      }
    }
  }
  await stream.end('stopped')
  return undefined
}

const eventOf = ({ confirmations }: Transaction, isNew: boolean): string =>
  confirmations === 'dropped' ? 'dropped' : isNew ? 'new' : 'changed'

/** What a transaction did to each asset of the wallet; one that is gone again did nothing. */
const effectsOf = async (
  session: Session,
  wallet: CurrencyWallet,
  txid: string
): Promise<readonly Effect[]> => {
  const effects: Effect[] = []
  for (const asset of await assetsOf(session, wallet)) {
    try {
      effects.push({ wallet, asset, tx: await wallet.getTransaction(txid, asset.tokenId) })
    } catch (error) {
      if (!isWalletError(error, 'TX_NOT_FOUND')) throw error
    }
  }
  return effects
}
