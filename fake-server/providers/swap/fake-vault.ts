import { utf8 } from '@scure/base'
import { WalletError } from '../../../kernel/base/errors.ts'
import { isRecord, type Json } from '../../../kernel/base/json.ts'
import type { Txid } from '../../../kernel/types/ids.ts'
import { type ChainId, chainIds } from '../../chain/open-chain.ts'
import { pushesOf, scriptHashOf, scriptOf } from '../../chain/script.ts'
import { type ChainCoin, outpointOf } from '../../chain/transaction.ts'
import type { ProviderMemory } from '../market/provider.ts'
import { type ExchangePorts, sinkAddress } from './fake-exchange.ts'

/** The behaviour of a fake vault network; a test may change it at any time. */
export interface VaultBehaviour {
  /** The loss of a swap to the pools, in hundredths of a percent. */
  slipBasisPoints: number
  /** Chains that are halted, by the network's name: `BTC`. */
  readonly halted: Set<string>
  /** The loss of quotes against prices, as after a move of the market, in hundredths of a percent. */
  driftBasisPoints: number
  /** Quotes name a vault on another chain. */
  isPayInWrong: boolean
  /** The validity of a quote. */
  quoteSeconds: number
  /** Payouts cost so much, in USD as decimal text. */
  outboundUsd: string
  /** The time between a payment's block and the payout, in milliseconds. */
  exchangeMs: number
}

/** The outcome of a payment to a vault. */
export interface VaultAction {
  readonly inTxid: Txid
  readonly outTxid: Txid
  readonly type: 'swap' | 'refund'
  readonly memo: string
}

/** A network's names of its assets, each with its coin on the market: `BTC.BTC` is `BTC`. */
export interface VaultAssets {
  /** The one that pools are priced in. */
  readonly native: string
  readonly nativeDecimals: number
  readonly codes: ReadonlyMap<string, string>
  readonly shortNames: ReadonlyMap<string, string>
}

/** Names of the world's chains. */
export const VAULT_CHAINS: Readonly<Record<ChainId, string>> = { bitcoin: 'BTC', litecoin: 'LTC' }

/** Amounts up to it are not seen, and lost to who pays them. */
export const VAULT_DUST = 10_000n

/** Vaults on the chains of the world, which swap what is paid to them by its memo. */
export class FakeVault {
  readonly behaviour: VaultBehaviour = {
    slipBasisPoints: 30,
    halted: new Set(),
    driftBasisPoints: 0,
    isPayInWrong: false,
    quoteSeconds: 900,
    outboundUsd: '1.5',
    exchangeMs: 0
  }
  readonly ports: ExchangePorts
  readonly assets: VaultAssets
  readonly #actions = new Map<string, VaultAction>()
  readonly #pending = new Set<string>()
  readonly #listeners = new Set<() => void>()
  readonly #seed: Uint8Array

  /** @param name - of the network; its vaults are the same in every world */
  constructor(name: string, ports: ExchangePorts, assets: VaultAssets) {
    this.ports = ports
    this.assets = assets
    this.#seed = utf8.decode(`vault of ${name}`)
    for (const id of chainIds) ports.chains[id].onChange(() => this.checkPayments(id))
  }

  /** Payouts and refunds, by the coins that were paid. */
  get actions(): readonly VaultAction[] {
    return [...this.#actions.values()]
  }

  /** The txids of payments that have a block and are not settled yet. */
  get pending(): readonly Txid[] {
    return [...this.#pending].map(id => id.split(':')[0] ?? '')
  }

  /** The present address of the vault on a chain. */
  addressOn(chain: ChainId): string {
    return sinkAddress(this.#seed, this.ports.chains[chain].network)
  }

  /** The price of one unit of an asset in another's, less what is lost; amounts in units of the network. */
  swap(amount: bigint, from: string, to: string): bigint | undefined {
    const [a, b] = [this.assets.codes.get(from), this.assets.codes.get(to)]
    const price = a === undefined || b === undefined ? undefined : this.ports.market.ratioOf(a, b)
    if (price === undefined) return undefined
    const share = BigInt(10_000 - this.behaviour.slipBasisPoints - this.behaviour.driftBasisPoints)
    const above = amount * price.numerator * share * 10n ** BigInt(this.decimalsOf(to))
    const out = above / (price.denominator * 10_000n * 10n ** BigInt(this.decimalsOf(from)))
    const fee = this.outboundFee(to)
    return out > fee ? out - fee : 0n
  }

  /** The fee of a payout, in units of its asset. */
  outboundFee(asset: string): bigint {
    const price = this.ports.market.ratioOf('iso:USD', this.assets.codes.get(asset) ?? '')
    if (price === undefined) return 0n
    const cents = BigInt(Math.round(Number(this.behaviour.outboundUsd) * 100))
    return (cents * price.numerator * 10n ** BigInt(this.decimalsOf(asset))) / (price.denominator * 100n)
  }

  decimalsOf(asset: string): number {
    return asset === this.assets.native ? this.assets.nativeDecimals : 8
  }

  /** Looks for payments to the vault of a chain that have a block and were not seen yet. */
  checkPayments(chain: ChainId): void {
    for (const [id] of this.#paidOn(chain)) {
      if (this.#actions.has(id) || this.#pending.has(id)) continue
      this.#pending.add(id)
      this.ports.clock.after(this.behaviour.exchangeMs, () => {
        // A block that was undone meanwhile may have taken it away; it is seen again when it comes back.
        const coin = this.#paidOn(chain).get(id)
        // Paying back on the same chain looks again at once: the payment is still one that is being settled.
        if (coin !== undefined) this.#settle(chain, coin)
        this.#pending.delete(id)
      })
    }
  }

  /** The payments to the vault of a chain that have a block and are no dust. */
  #paidOn(chain: ChainId): ReadonlyMap<string, ChainCoin> {
    const { view, network } = this.ports.chains[chain]
    const hash = scriptHashOf(scriptOf(network, this.addressOn(chain)))
    const coins = view.scripts.utxosOf(hash).filter(({ height, amount }) => height > 0 && amount > VAULT_DUST)
    return new Map(coins.map(coin => [outpointOf(coin.txid, coin.index), coin]))
  }

  /** Keeps what was paid. */
  get memory(): ProviderMemory {
    return {
      save: () =>
        this.#actions.size === 0 ? undefined : [...this.#actions].map(([id, action]) => ({ id, ...action })),
      load: saved => this.#load(saved),
      onChange: listener => void this.#listeners.add(listener)
    }
  }

  #load(saved: Json): void {
    if (!Array.isArray(saved) || !saved.every(isAction)) {
      throw new WalletError('BAD_REPLY', { source: 'saved vault', path: '', rule: 'is no list of payments' })
    }
    for (const { id, ...action } of saved) this.#actions.set(id, action)
  }

  #settle(chain: ChainId, coin: ChainCoin): void {
    const memo = this.#memoOf(chain, coin)
    const outTxid = this.#payOut(chain, coin, memo)
    const type = outTxid === undefined ? 'refund' : 'swap'
    const action = { inTxid: coin.txid, memo, type, outTxid: outTxid ?? this.#payBack(chain, coin) } as const
    this.#actions.set(outpointOf(coin.txid, coin.index), action)
    for (const listener of [...this.#listeners]) listener()
  }

  #memoOf(chain: ChainId, { txid }: ChainCoin): string {
    const outputs = this.ports.chains[chain].view.find(txid)?.tx.outputs ?? []
    const data = outputs.find(({ script }) => script[0] === 0x6a)
    const [bytes] = data === undefined ? [] : (pushesOf(data.script.subarray(1)) ?? [])
    return bytes === undefined ? '' : utf8.encode(bytes)
  }

  /** Pays what the memo asks for; undefined if it cannot, or if less than the limit would arrive. */
  #payOut(chain: ChainId, { amount }: ChainCoin, memo: string): string | undefined {
    const [, name = '', address = '', limit = ''] = /^=:([^:]+):([^:]+):(\d+)/.exec(memo) ?? []
    const asset = this.assets.shortNames.get(name) ?? name
    const target = chainIds.find(id => `${VAULT_CHAINS[id]}.${VAULT_CHAINS[id]}` === asset)
    const from = `${VAULT_CHAINS[chain]}.${VAULT_CHAINS[chain]}`
    const out = this.swap(amount, from, asset)
    const isHalted = [from, asset].some(end => this.behaviour.halted.has(end.split('.')[0] ?? ''))
    if (target === undefined || isHalted || out === undefined || out < BigInt(limit)) return undefined
    try {
      return this.ports.chains[target].fund(address, String(out))
    } catch {
      return undefined
    }
  }

  /** Sends a payment back to where its first coin came from. */
  #payBack(chain: ChainId, { txid, amount }: ChainCoin): string {
    const { view } = this.ports.chains[chain]
    const [input] = view.find(txid)?.tx.inputs ?? []
    const origin = input === undefined ? undefined : view.find(input.txid)?.tx.outputs[input.index]
    try {
      return origin === undefined ? '' : this.ports.chains[chain].fund(origin.script, String(amount))
    } catch {
      return ''
    }
  }
}

const isAction = (value: unknown): value is VaultAction & { readonly id: string } =>
  isRecord(value) &&
  ['id', 'inTxid', 'outTxid', 'memo'].every(name => typeof value[name] === 'string') &&
  (value.type === 'swap' || value.type === 'refund')
