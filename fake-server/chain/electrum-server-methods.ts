import type { Json } from '../../kernel/base/json.ts'
import type { ElectrumMethod } from './electrum-method.ts'
import { RPC, RpcFault } from './json-rpc.ts'

/** What the server calls itself. */
export const SERVER_SOFTWARE = 'Holdfast fake chain 1.0'

/** The methods of Electrum protocol 1.4 that are about the server and its network. */
export const serverMethods: readonly (readonly [string, ElectrumMethod])[] = [
  ['server.banner', { params: [], call: () => 'This is a fake network. Its coins are worth nothing.' }],
  ['server.donation_address', { params: [], call: () => '' }],
  ['server.peers.subscribe', { params: [], call: () => [] }],
  ['server.ping', { params: [], call: () => null }],
  [
    'server.features',
    {
      params: [],
      call: ({ chain }) => ({
        hosts: {},
        pruning: null,
        server_version: SERVER_SOFTWARE,
        protocol_min: LOWEST.join('.'),
        protocol_max: HIGHEST.join('.'),
        genesis_hash: chain.network.genesis.hash,
        hash_function: 'sha256'
      })
    }
  ],
  [
    'blockchain.estimatefee',
    {
      params: ['number', 'mode?'],
      call: ({ chain }, params) => {
        const rate = chain.feeRate(Math.max(1, params.count32(0)))
        return rate === undefined ? -1 : Math.round(rate * 1000) / 1e8
      }
    }
  ],
  ['blockchain.relayfee', { params: [], call: ({ chain }) => chain.relayFee / 1e8 }],
  [
    'mempool.get_fee_histogram',
    {
      params: [],
      call: ({ chain }) => {
        const sizes = new Map<number, number>()
        for (const { tx, fee } of chain.view.mempool.entries()) {
          const rate = Math.floor(Number(fee) / tx.vsize)
          sizes.set(rate, (sizes.get(rate) ?? 0) + tx.vsize)
        }
        return [...sizes].sort(([a], [b]) => b - a)
      }
    }
  ]
]

/**
 * Agrees on a version of the protocol.
 *
 * @param wanted - one version, or the lowest and the highest that the client knows
 * @throws RpcFault 1 if there is none that both know
 */
export const negotiateVersion = (wanted: Json | undefined): string => {
  const range = Array.isArray(wanted) ? (wanted as readonly Json[]) : [wanted ?? '1.4', wanted ?? '1.4']
  const [low, high] = range.map(parseVersion)
  if (range.length !== 2 || low === undefined || high === undefined) {
    throw new RpcFault(
      RPC.refused,
      `unsupported protocol version: ${JSON.stringify(wanted ?? null).slice(0, 80)}`
    )
  }
  const agreed = compare(high, HIGHEST) < 0 ? high : HIGHEST
  if (compare(agreed, LOWEST) < 0 || compare(agreed, low) < 0) {
    throw new RpcFault(
      RPC.refused,
      `unsupported protocol version: ${JSON.stringify(wanted ?? null).slice(0, 80)}`
    )
  }
  return agreed.join('.')
}

const LOWEST: readonly number[] = [1, 4]
const HIGHEST: readonly number[] = [1, 4, 2]

const parseVersion = (value: Json | undefined): readonly number[] | undefined =>
  typeof value === 'string' && /^\d{1,4}(\.\d{1,4}){0,3}$/.test(value)
    ? value.split('.').map(Number)
    : undefined

const compare = (a: readonly number[], b: readonly number[]): number => {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
