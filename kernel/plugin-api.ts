export type { AmountUnits, Denomination } from './base/amount.ts'
export {
  abs,
  add,
  amountText,
  compare,
  decimalsOf,
  divide,
  divideRounded,
  fromDecimal,
  fromDenomination,
  isDecimal,
  isNativeAmount,
  multiply,
  type NativeAmount,
  nativeAmount,
  negate,
  type Rounding,
  rescale,
  subtract,
  sum,
  toDenomination,
  ZERO
} from './base/amount.ts'
export { compact } from './base/compact.ts'
export { type Abort, type Deadline, makeAbort, patienceOf, withDeadline } from './base/deadline.ts'
export { checkPath } from './base/disk-path.ts'
export type { AddressFault } from './base/errors/spend-errors.ts'
export type { ErrorCode, ErrorDetails } from './base/errors.ts'
export { isWalletError, WalletError } from './base/errors.ts'
export {
  HttpClient,
  type HttpClientOptions,
  type HttpReply,
  type HttpRequest,
  type RateLimit
} from './base/http-client.ts'
export type { Json, JsonObject } from './base/json.ts'
export { checkJsonText, type JsonLimits, parseJsonText, tryJsonText } from './base/json.ts'
export { Mutex } from './base/mutex.ts'
export { badReply, type ExactJson, parseExactJson, Reply } from './base/reply.ts'
export { makeYielder, type Yielder } from './base/yielder.ts'
export type { Disk } from './io/disk.ts'
export type {
  AbortSignalLike,
  Channel,
  ChannelHandlers,
  Clock,
  CryptoPort,
  FetchOptions,
  FetchReply,
  Io,
  TcpAddress,
  WebSocketOptions
} from './io/io.ts'
export type { KeyRange, Store, StoreChange } from './io/store.ts'
export type { DiskRequest, LifecycleHooks, PromiseTap, SyncTap, TapOrder } from './plugins/hook-types.ts'
export type {
  CurrencyHost,
  CurrencyPlugin,
  Host,
  ObserverHost,
  ObserverPlugin,
  Plugin,
  PluginSource,
  PolicyHost,
  PolicyPlugin,
  RateHost,
  RatePlugin,
  StorageHost,
  StoragePlugin,
  SwapHost,
  SwapPlugin
} from './plugins/plugin.ts'
export type { HashPort, RateIo, SwapIo } from './plugins/plugin-io.ts'
export { SortedMap, textOfKey } from './store/sorted-map.ts'
export { fileChange, storeDisk } from './store/store-disk.ts'
export type * from './types/currency.ts'
export type * from './types/engine.ts'
export type { PluginId, TokenId, Txid, WalletId } from './types/ids.ts'
export type { PublicWalletInfo, WalletInfo, WalletKeys } from './types/keys.ts'
export type * from './types/policy.ts'
export type * from './types/rates.ts'
export type * from './types/snapshots.ts'
export type * from './types/swap.ts'
export type * from './types/transaction.ts'
