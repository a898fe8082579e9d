export {
  abs,
  add,
  compare,
  decimalsOf,
  divide,
  fromDenomination,
  isNativeAmount,
  multiply,
  type NativeAmount,
  nativeAmount,
  negate,
  subtract,
  sum,
  toDenomination,
  ZERO
} from './amount.ts'
export type { ErrorCode, ErrorDetails } from './errors/catalogue.ts'
export type { AddressFault } from './errors/spend-errors.ts'
export { isWalletError, WalletError } from './errors/wallet-error.ts'
export type { DiskRequest } from './hooks/kernel-hooks.ts'
export type * from './hooks/snapshots.ts'
export { type Abort, makeAbort } from './io/abort.ts'
export { type Deadline, withDeadline } from './io/deadline.ts'
export type {
  Channel,
  ChannelHandlers,
  Clock,
  CryptoPort,
  FetchOptions,
  FetchReply,
  Io,
  TcpAddress
} from './io/io.ts'
export type * from './plugins/plugin.ts'
export type { HashPort, RateIo, SwapIo } from './plugins/plugin-io.ts'
export { checkPath, type Disk } from './repo/disk.ts'
export type * from './types/abort-signal.ts'
export type * from './types/currency.ts'
export type * from './types/engine.ts'
export type { Json, JsonObject } from './types/json.ts'
export { checkJsonText, type JsonLimits, parseJsonText, tryJsonText } from './types/json-text.ts'
export type { PublicWalletInfo, WalletInfo, WalletKeys } from './types/keys.ts'
export type * from './types/rates.ts'
export type * from './types/swap.ts'
export type * from './types/transaction.ts'
