import { amountText, nativeAmount } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { decimalText } from '../output/decimals.ts'
import { localTime } from '../output/times.ts'
import { confirmationCell, txDetailsJson } from '../output/tx-facts.ts'
import type { CellLike } from '../output/view.ts'
import { findWallet } from '../session/find-wallet.ts'
import type { Effect } from '../session/history.ts'
import { chosenAsset, coinOf } from '../session/wallet-assets.ts'
import { sentStateText } from '../spend/open-payments.ts'

type Fields = readonly (readonly [string, CellLike])[]

/** Shows everything about one transaction. */
export const txShow: CommandRun = async (session, text = '', txid = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  const asset = await chosenAsset(session, wallet)
  await wallet.lookAtOpenPayments()
  const tx = await wallet.getTransaction(txid, asset.tokenId)
  const raw = session.isOn('raw')
  return {
    data: { tx: { ...txDetailsJson(tx, asset), ...(raw ? { signedTx: tx.signedTx } : {}) } },
    view: {
      kind: 'record',
      fields: [
        ...chainFields({ wallet, asset, tx }),
        ...swapFields({ wallet, asset, tx }),
        ...noteFields({ wallet, asset, tx }),
        ...(raw ? ([['signed', tx.signedTx]] as const) : [])
      ]
    }
  }
}

const chainFields = ({ wallet, asset, tx }: Effect): Fields => [
  ['txid', tx.txid],
  ['date', localTime(new Date(tx.date * 1000))],
  ['direction', tx.isSend ? 'out' : 'in'],
  ['amount', amountText(tx.nativeAmount, asset)],
  tx.parentNetworkFee === undefined
    ? ['network fee', amountText(tx.networkFee, asset)]
    : ['network fee', amountText(tx.parentNetworkFee, coinOf(wallet))],
  ...pairsOf('fee rate', tx.feeRateUsed ?? {}),
  ['state', confirmationCell(tx.confirmations)],
  ['network', tx.sentState === undefined ? '' : sentStateText(tx.sentState, tx)],
  ['height', tx.blockHeight > 0 ? String(tx.blockHeight) : ''],
  ...(tx.spendTargets ?? []).map(
    ({ publicAddress, nativeAmount: amount }) =>
      ['to', `${publicAddress}  ${amountText(nativeAmount(amount), asset)}`] as const
  ),
  ...(tx.isSend ? [] : tx.ourReceiveAddresses).map(address => ['at', address] as const),
  ...tx.memos.map(({ value }) => ['memo', value] as const)
]

const swapFields = ({ tx: { swapData } }: Effect): Fields =>
  swapData === undefined
    ? []
    : [
        ['swap', `${swapData.plugin.displayName}${swapData.isEstimate ? ', estimated' : ''}`],
        ['swap order', swapData.orderId ?? ''],
        ['swap page', swapData.orderUri ?? ''],
        ['paid out', `${swapData.payoutNativeAmount} native units of ${swapData.payoutCurrencyCode}`],
        ['paid out to', swapData.payoutAddress]
      ]

const noteFields = ({ tx: { metadata, deviceDescription = '' } }: Effect): Fields => [
  ['name', metadata.name ?? ''],
  ['category', metadata.category ?? ''],
  ['notes', metadata.notes ?? ''],
  ...Object.entries(metadata.exchangeAmount ?? {}).map(
    ([code, value]) => ['worth then', `${decimalText(value)} ${code.replace('iso:', '')}`] as const
  ),
  ['made on', deviceDescription]
]

const pairsOf = (label: string, values: object): Fields =>
  Object.entries(values).map(([key, value]) => [label, `${String(value)} ${key}`] as const)
