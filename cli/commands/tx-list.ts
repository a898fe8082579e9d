import type { CommandRun } from '../command.ts'
import { parseCount, parseWhen } from '../grammar/values.ts'
import { amountText } from '../output/amounts.ts'
import { confirmationCell, txJson } from '../output/facts.ts'
import { localTime } from '../output/times.ts'
import { findWallets } from '../session/find-wallet.ts'

/** Lists the transactions of one wallet, or of all, newest first. */
export const txList: CommandRun = async (session, text) => {
  const wallets = await findWallets(session, text === undefined ? [] : [text])
  await Promise.all(wallets.map(wallet => session.synced(wallet)))
  const [since, until] = [session.text('since'), session.text('until')]
  const limit = session.text('limit')
  const count = limit === undefined ? undefined : parseCount(limit, 'limit', [1, 1_000_000])
  const query = {
    ...(since === undefined ? {} : { startDate: parseWhen(since, 'start') }),
    ...(until === undefined ? {} : { endDate: parseWhen(until, 'end') }),
    ...(count === undefined ? {} : { limit: count })
  }
  const found = await Promise.all(
    wallets.map(async wallet => (await wallet.getTransactions(query)).map(tx => ({ wallet, tx })))
  )
  const rows = found
    .flat()
    .sort((a, b) => b.tx.date - a.tx.date)
    .slice(0, count)
  return {
    data: { transactions: rows.map(({ wallet, tx }) => txJson(tx, wallet.currencyInfo)) },
    view: {
      kind: 'table',
      columns: [
        { title: 'DATE' },
        { title: 'AMOUNT', align: 'right' },
        { title: 'STATE' },
        { title: 'NAME', canShrink: true },
        { title: 'NOTES', canShrink: true },
        { title: 'TXID', canShrink: true }
      ],
      rows: rows.map(({ wallet, tx }) => [
        localTime(new Date(tx.date * 1000)),
        amountText(tx.nativeAmount, wallet.currencyInfo),
        confirmationCell(tx.confirmations),
        tx.metadata.name ?? '',
        tx.metadata.notes ?? '',
        tx.txid
      ]),
      empty: 'There is no transaction yet.'
    }
  }
}
