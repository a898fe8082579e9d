import type { Json, JsonObject } from '../../kernel/base/json.ts'
import type { ChainBlock } from './block.ts'
import type { ElectrumParams } from './electrum-params.ts'
import type { FakeChain } from './fake-chain.ts'

/** What a method may do with the session that called it. */
export interface ElectrumSessionState {
  readonly chain: FakeChain
  /** From now on the client is told of new tips. */
  watchTip(): void
  /** From now on the client is told of changes of a script. @throws RpcFault 1 beyond the limit */
  watchScript(scriptHash: string): string | null
  /** The inverse; false if it was not watched. */
  unwatchScript(scriptHash: string): boolean
  /** @throws RpcFault 1 if a history is longer than the server sends */
  checkHistoryLength(length: number): void
}

/** One method of the protocol: the names of its parameters (`?` marks optional ones) and what it does. */
export interface ElectrumMethod {
  readonly params: readonly string[]
  /** @throws RpcFault, or BROADCAST_REFUSED for a refused transaction */
  call(session: ElectrumSessionState, params: ElectrumParams): Json
}

/** The tip as `blockchain.headers.subscribe` tells it. */
export const headerResult = (block: ChainBlock): JsonObject => ({
  hex: block.headerHex,
  height: block.height
})
