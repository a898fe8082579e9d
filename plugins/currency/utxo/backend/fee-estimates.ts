import type { Json } from '../../../../kernel/plugin-api.ts'
import type { ElectrumCall } from './electrum-connection.ts'
import { readFeeRate } from './electrum-replies.ts'

/** Fee rates a server told, in native units per 1000 bytes; absent where it has none. */
export interface FeeEstimates {
  readonly relay?: bigint
  readonly high?: bigint
  readonly standard?: bigint
  readonly low?: bigint
}

/** Asks a server for its fee rates; those it cannot tell are left out. */
export const fetchFeeEstimates = async (
  callMany: (calls: readonly ElectrumCall[]) => readonly Promise<Json>[]
): Promise<FeeEstimates> => {
  const replies = callMany([
    { method: 'blockchain.relayfee', params: [] },
    ...FEE_TARGETS.map(([, blocks]) => ({ method: 'blockchain.estimatefee', params: [blocks] }))
  ])
  const rates = await Promise.all(replies.map(reply => reply.then(readFeeRate, () => undefined)))
  const names = ['relay', ...FEE_TARGETS.map(([name]) => name)]
  return Object.fromEntries(names.flatMap((name, at) => (rates[at] === undefined ? [] : [[name, rates[at]]])))
}

// Within how many blocks a payment of each level should confirm.
const FEE_TARGETS = [
  ['high', 2],
  ['standard', 6],
  ['low', 24]
] as const
