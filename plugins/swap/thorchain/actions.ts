import type { OrderReport, Reply, Txid, WatchedOrder } from '../../../kernel/plugin-api.ts'
import type { ProviderClient } from '../kit/provider-client.ts'

/**
 * Asks the Midgard of a network what became of a payment: the network has no orders, it goes by the payment alone.
 *
 * A payment that was swapped in part has an action of each kind: then what was paid out counts.
 *
 * @throws BAD_REPLY and what {@link ProviderClient} throws
 */
export const watchPayment = async (
  midgard: ProviderClient,
  { txid, payoutAddress, refundAddress, signal }: WatchedOrder
): Promise<OrderReport> => {
  const query = { txid: txid.toUpperCase().replace(/^0X/, '') }
  const { reply } = await midgard.request({ path: '/v2/actions', query, signal })
  const actions = reply.field('actions').list(MAX_ACTIONS).map(readAction)
  const find = (type: string): Action | undefined => actions.find(action => action.type === type)
  const [swap, refund] = [find('swap'), find('refund')]
  if (swap?.isDone) return { state: 'paidOut', payoutTxid: outgoing(swap, payoutAddress) }
  if (swap !== undefined) return { state: 'exchanging' }
  if (refund?.isDone) return { state: 'refunded', refundTxid: outgoing(refund, refundAddress) }
  return { state: refund === undefined ? 'waiting' : 'failed' }
}

/** One thing that a network did with a payment. */
interface Action {
  readonly type: string
  readonly isDone: boolean
  readonly out: readonly Outgoing[]
}

/** A payment of the network. */
interface Outgoing {
  readonly txid: Txid
  readonly address: string | undefined
}

const readAction = (action: Reply): Action => ({
  type: action.field('type').text(),
  isDone: action.field('status').text() === 'success',
  out: action
    .field('out')
    .list(MAX_ACTIONS)
    .flatMap(out => {
      const txid = out.field('txID').optionalText()
      const [coin] = out.field('coins').isThere ? out.field('coins').list(MAX_ACTIONS) : []
      const chain = coin?.field('asset').optionalText()?.split('.')[0] ?? ''
      return txid === undefined
        ? []
        : [{ txid: asChainWrites(txid, chain), address: out.field('address').optionalText() }]
    })
})

/** The payment to an address; of several, an affiliate gets one. */
const outgoing = ({ out }: Action, address: string | undefined): Txid | undefined =>
  (out.find(each => each.address !== undefined && each.address === address) ?? out[0])?.txid

/** The network writes every txid in capital letters. */
const asChainWrites = (txid: string, chain: string): Txid => {
  if (CAPITAL.has(chain)) return txid
  return EVM.has(chain) ? `0x${txid.toLowerCase().replace(/^0x/, '')}` : txid.toLowerCase()
}

const CAPITAL: ReadonlySet<string> = new Set(['GAIA', 'KUJI', 'MAYA', 'THOR', 'XRP'])
const EVM: ReadonlySet<string> = new Set(['ARB', 'AVAX', 'BASE', 'BSC', 'ETH'])
const MAX_ACTIONS = 100
