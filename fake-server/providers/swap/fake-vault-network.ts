import { compact } from '../../../kernel/base/compact.ts'
import { type FakeReply, jsonReply } from '../../base/replies.ts'
import { chainIds } from '../../chain/open-chain.ts'
import type { FakeProvider, ProviderRequest } from '../market/provider.ts'
import { type FakeVault, VAULT_CHAINS, VAULT_DUST, type VaultAssets } from './fake-vault.ts'

/** Which network a fake one is: its hosts, and the part of the node's path that names it. */
export interface VaultNetworkNames {
  readonly id: string
  readonly nodeHost: string
  readonly nodePath: string
  readonly midgardHost: string
}

const USDC = 'USDC-0XA0B86991C6218B36C1D19D4A2E9EB0CE3606EB48'

/** THORChain's assets. */
export const THORCHAIN_ASSETS: VaultAssets = {
  native: 'THOR.RUNE',
  nativeDecimals: 8,
  codes: new Map([
    ['THOR.RUNE', 'RUNE'],
    ['BTC.BTC', 'BTC'],
    ['LTC.LTC', 'LTC'],
    ['ETH.ETH', 'ETH'],
    [`ETH.${USDC}`, 'USDC']
  ]),
  shortNames: new Map([
    ['r', 'THOR.RUNE'],
    ['b', 'BTC.BTC'],
    ['l', 'LTC.LTC'],
    ['e', 'ETH.ETH']
  ])
}

/** Maya's assets. */
export const MAYA_ASSETS: VaultAssets = {
  native: 'MAYA.CACAO',
  nativeDecimals: 10,
  codes: new Map([
    ['MAYA.CACAO', 'CACAO'],
    ['BTC.BTC', 'BTC'],
    ['DASH.DASH', 'DASH'],
    ['ETH.ETH', 'ETH'],
    ['THOR.RUNE', 'RUNE']
  ]),
  shortNames: new Map()
}

/** An address of a chain that the world does not have. */
const ELSEWHERE = '0x7a2bcd4e1f2b0a3c4d5e6f708192a3b4c5d6e7f8'

/** A node and a Midgard of a vault network, as their documentation shows them. */
export const fakeVaultNetwork = (vault: FakeVault, names: VaultNetworkNames): FakeProvider => ({
  id: names.id,
  hosts: [names.nodeHost, names.midgardHost],
  memory: vault.memory,
  answer(request) {
    const { host, pathname, method } = request
    if (method !== 'GET') return NOT_FOUND
    if (host === names.midgardHost && pathname === '/v2/pools') return jsonReply(200, pools(vault))
    if (host === names.midgardHost && pathname === '/v2/actions')
      return jsonReply(200, actions(vault, request))
    if (host !== names.nodeHost) return NOT_FOUND
    if (pathname === `${names.nodePath}/inbound_addresses`) return jsonReply(200, inbound(vault))
    if (pathname === `${names.nodePath}/quote/swap`) return quote(vault, request)
    return NOT_FOUND
  }
})

const NOT_FOUND = jsonReply(404, { code: 5, message: 'Not Found', details: [] })

const pools = ({ assets, ports }: FakeVault): unknown => {
  const base = assets.codes.get(assets.native) ?? ''
  return [...assets.codes].flatMap(([asset, code]) => {
    const price = ports.market.rateOf(code, base)
    if (asset === assets.native || price === undefined) return []
    return [
      {
        asset,
        status: 'available',
        assetPrice: price,
        assetPriceUSD: ports.market.rateOf(code, 'iso:USD'),
        assetDepth: '100000000000',
        runeDepth: '100000000000000',
        volume24h: '0'
      }
    ]
  })
}

const inbound = (vault: FakeVault): unknown => {
  const { assets, behaviour } = vault
  const chains = new Set([...assets.codes.keys()].map(asset => asset.split('.')[0] ?? ''))
  chains.delete(assets.native.split('.')[0] ?? '')
  return [...chains].map(chain => {
    const id = chainIds.find(each => VAULT_CHAINS[each] === chain)
    const gas = `${chain}.${chain === 'THOR' ? 'RUNE' : chain}`
    return {
      chain,
      pub_key: 'fakepub',
      address: id === undefined ? ELSEWHERE : vault.addressOn(id),
      ...compact({ router: chain === 'ETH' ? ELSEWHERE : undefined }),
      halted: behaviour.halted.has(chain),
      global_trading_paused: false,
      chain_trading_paused: false,
      chain_lp_actions_paused: false,
      gas_rate: '12',
      gas_rate_units: chain === 'ETH' ? 'gwei' : 'satsperbyte',
      outbound_tx_size: '1000',
      outbound_fee: String(vault.outboundFee(gas)),
      dust_threshold: id === undefined ? '0' : String(VAULT_DUST)
    }
  })
}

const refuse = (message: string): FakeReply =>
  jsonReply(400, { code: 3, message: `failed to simulate swap: ${message}: invalid request`, details: [] })

const quote = (vault: FakeVault, { query }: ProviderRequest): FakeReply => {
  const { behaviour, ports } = vault
  const [from, to] = [query.get('from_asset') ?? '', query.get('to_asset') ?? '']
  const text = query.get('amount') ?? ''
  if (!/^[1-9]\d{0,30}$/.test(text)) return refuse('bad amount')
  const amount = BigInt(text)
  const out = vault.swap(amount, from, to)
  if (out === undefined) return refuse('pool does not exist')
  if ([from, to].some(asset => behaviour.halted.has(asset.split('.')[0] ?? '')))
    return refuse('trading is halted')
  if (amount <= VAULT_DUST) return refuse('amount less than dust threshold')
  if (out === 0n) return refuse('not enough asset to pay for fees')
  const fee = vault.outboundFee(to)
  const least = (4n * fee * amount) / (out + fee)
  const chain = chainIds.find(id => from === `${VAULT_CHAINS[id]}.${VAULT_CHAINS[id]}`)
  const wrong = chain === 'bitcoin' ? 'litecoin' : 'bitcoin'
  return jsonReply(200, {
    inbound_address:
      chain === undefined ? ELSEWHERE : vault.addressOn(behaviour.isPayInWrong ? wrong : chain),
    inbound_confirmation_blocks: 1,
    inbound_confirmation_seconds: 600,
    outbound_delay_blocks: 0,
    outbound_delay_seconds: 0,
    fees: {
      asset: to,
      affiliate: '0',
      outbound: String(fee),
      liquidity: '0',
      total: String(fee),
      slippage_bps: 30
    },
    expiry: Math.floor(ports.clock.now() / 1000) + behaviour.quoteSeconds,
    warning: 'Do not cache this response. Do not send funds after the expiry.',
    notes:
      'First output should be to inbound_address, second output should be change back to self, OP_RETURN limited to 80 bytes.',
    dust_threshold: String(VAULT_DUST),
    recommended_min_amount_in: String(least),
    recommended_gas_rate: '15',
    gas_rate_units: 'satsperbyte',
    expected_amount_out: String(out),
    max_streaming_quantity: 1,
    streaming_swap_blocks: 1,
    total_swap_seconds: 612
  })
}

const actions = (vault: FakeVault, { query }: ProviderRequest): unknown => {
  const txid = (query.get('txid') ?? '').toLowerCase()
  const found = vault.actions.filter(({ inTxid }) => inTxid === txid)
  const done = found.map(({ inTxid, outTxid, type, memo }) => ({
    type,
    status: 'success',
    in: [{ txID: inTxid.toUpperCase() }],
    out: outTxid === '' ? [] : [{ txID: outTxid.toUpperCase() }],
    metadata: { [type]: { memo } }
  }))
  const isPending = found.length === 0 && vault.pending.includes(txid)
  const pending = { type: 'swap', status: 'pending', in: [{ txID: txid.toUpperCase() }], out: [] }
  const shown = isPending ? [pending] : done
  return { actions: shown, count: String(shown.length) }
}
