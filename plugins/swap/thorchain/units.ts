import { decimalsOf, type NativeAmount, nativeAmount } from '../../../kernel/plugin-api.ts'
import { type Rounding, rescale } from '../kit/decimal.ts'
import type { VaultNetwork } from './networks.ts'

/** Decimals of the amounts that the API of a network names for an asset. */
export const decimalsAt = (network: VaultNetwork, asset: string): number =>
  asset === network.native ? network.nativeDecimals : 8

/** Which amounts are meant: units of a network for an asset, and native units of its currency. */
export interface Units {
  readonly network: VaultNetwork
  readonly asset: string
  readonly multiplier: string
}

/** An amount of a network in native units. */
export const toNative = (
  amount: bigint,
  { network, asset, multiplier }: Units,
  rounding: Rounding
): NativeAmount =>
  nativeAmount(String(rescale(amount, decimalsAt(network, asset), decimalsOf(multiplier), rounding)))

/** An amount in native units as a network counts it. */
export const fromNative = (
  amount: NativeAmount,
  { network, asset, multiplier }: Units,
  rounding: Rounding
): bigint => rescale(BigInt(amount), decimalsOf(multiplier), decimalsAt(network, asset), rounding)
