import type { Memo } from '../../../../kernel/plugin-api.ts'
import type { ScriptRecord } from '../scan/script-record.ts'

/** An output of ours. */
export interface OwnOutput {
  readonly vout: number
  readonly value: bigint
  readonly record: ScriptRecord
}

/** A transaction of the wallet, reduced to what balances and history need. */
export interface LedgerTx {
  readonly txid: string
  /** The outputs it spends, as `txid:vout`. */
  readonly spends: readonly string[]
  readonly outputTotal: bigint
  readonly isCoinbase: boolean
  readonly isPegOut: boolean
  /** What it says to whoever reads the chain. */
  readonly memos: readonly Memo[]
  ours: readonly OwnOutput[]
  /** 0: unconfirmed; -1: dropped. */
  height: number
  /** Unix seconds. */
  date: number
  /** A server has shown it; before that only we know of it. */
  isSeen: boolean
  /** The number of the step in which it changed last; 0 if it was kept before steps were counted. */
  revision: number
}

/** An unspent output of ours. */
export interface Coin {
  readonly txid: string
  readonly vout: number
  readonly value: bigint
  readonly record: ScriptRecord
  readonly height: number
  readonly isCoinbase: boolean
  readonly isPegOut: boolean
  /** Made by a transaction of our own, so nobody else can take it back. */
  readonly isOwnChange: boolean
}

/** What a transaction did to the wallet. */
export interface LedgerEffect {
  /** Negative when it leaves. */
  readonly net: bigint
  /** Zero unless every input is ours. */
  readonly fee: bigint
  readonly isSend: boolean
}
