import type { Json } from '../../kernel/base/json.ts'
import type { ElectrumMethod } from './electrum-method.ts'
import type { HistoryItem } from './script-index.ts'

/** The methods of Electrum protocol 1.4.2 that are about one script. */
export const scriptMethods: readonly (readonly [string, ElectrumMethod])[] = [
  [
    'blockchain.scripthash.subscribe',
    { params: ['scripthash'], call: (session, params) => session.watchScript(params.scriptHash(0)) }
  ],
  [
    'blockchain.scripthash.unsubscribe',
    { params: ['scripthash'], call: (session, params) => session.unwatchScript(params.scriptHash(0)) }
  ],
  [
    'blockchain.scripthash.get_history',
    {
      params: ['scripthash'],
      call: (session, params) => {
        const history = session.chain.view.scripts.historyOf(params.scriptHash(0))
        session.checkHistoryLength(history.length)
        return history.map(historyResult)
      }
    }
  ],
  [
    'blockchain.scripthash.get_mempool',
    {
      params: ['scripthash'],
      call: ({ chain }, params) => chain.view.scripts.waitingOf(params.scriptHash(0)).map(historyResult)
    }
  ],
  [
    'blockchain.scripthash.get_balance',
    {
      params: ['scripthash'],
      call: ({ chain }, params) => {
        const { confirmed, unconfirmed } = chain.view.scripts.balanceOf(params.scriptHash(0))
        return { confirmed: Number(confirmed), unconfirmed: Number(unconfirmed) }
      }
    }
  ],
  [
    'blockchain.scripthash.listunspent',
    {
      params: ['scripthash'],
      call: (session, params) => {
        const coins = session.chain.view.scripts.utxosOf(params.scriptHash(0))
        session.checkHistoryLength(coins.length)
        return coins.map(({ txid, index, height, amount }) => ({
          tx_hash: txid,
          tx_pos: index,
          height,
          value: Number(amount)
        }))
      }
    }
  ]
]

const historyResult = ({ txid, height, fee }: HistoryItem): Json => ({
  tx_hash: txid,
  height,
  ...(fee === undefined ? {} : { fee: Number(fee) })
})
