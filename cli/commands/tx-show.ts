import { nativeAmount } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { amountText } from '../output/amounts.ts'
import { confirmationCell, txDetailsJson } from '../output/facts.ts'
import { localTime } from '../output/times.ts'
import type { CellLike } from '../output/view.ts'
import { findWallet } from '../session/find-wallet.ts'

/** Shows everything about one transaction. */
export const txShow: CommandRun = async (session, text = '', txid = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  const tx = await wallet.getTransaction(txid)
  const info = wallet.currencyInfo
  const fields: (readonly [string, CellLike])[] = [
    ['txid', tx.txid],
    ['date', localTime(new Date(tx.date * 1000))],
    ['direction', tx.isSend ? 'out' : 'in'],
    ['amount', amountText(tx.nativeAmount, info)],
    ['network fee', amountText(tx.networkFee, info)],
    ['state', confirmationCell(tx.confirmations)],
    ['height', tx.blockHeight > 0 ? String(tx.blockHeight) : '']
  ]
  for (const { publicAddress, nativeAmount: amount } of tx.spendTargets ?? []) {
    fields.push(['to', `${publicAddress}  ${amountText(nativeAmount(amount), info)}`])
  }
  for (const address of tx.isSend ? [] : tx.ourReceiveAddresses) fields.push(['at', address])
  fields.push(['name', tx.metadata.name ?? ''])
  fields.push(['category', tx.metadata.category ?? ''])
  fields.push(['notes', tx.metadata.notes ?? ''])
  return { data: { tx: txDetailsJson(tx, info) }, view: { kind: 'record', fields } }
}
