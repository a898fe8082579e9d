import type { WorldSnapshot } from '../../../app/actions/world-control.ts'
import type {
  AccountSnapshot,
  EngineSnapshot,
  LobbySnapshot,
  LoginSnapshot,
  OrderSnapshot,
  PluginSnapshot,
  QuoteSnapshot,
  RateProviderSnapshot,
  RateSnapshot,
  RepoSnapshot,
  RouteSnapshot,
  SpendProgressSnapshot,
  UserSnapshot,
  WalletSnapshot
} from '../../../kernel/index.ts'

/**
 * The tables of a kernel that the panel sees: the newest snapshot of each thing by id. Everything is JSON without
 * secrets.
 *
 * Ids are those of the snapshots; of a quote `roundId pluginId`, of an order `order walletId paidAt`, without the txid, which may be hidden, of a pair `from to source`, of a route `from to`. The one row of the fake world is `world`.
 */
export interface Slices {
  readonly plugins: PluginSnapshot
  readonly users: UserSnapshot
  readonly logins: LoginSnapshot
  readonly accounts: AccountSnapshot
  readonly lobbies: LobbySnapshot
  readonly repos: RepoSnapshot
  readonly wallets: WalletSnapshot
  readonly engines: EngineSnapshot
  readonly spends: SpendProgressSnapshot
  readonly rateProviders: RateProviderSnapshot
  readonly pairs: RateSnapshot
  readonly routes: RouteSnapshot
  readonly quotes: QuoteSnapshot
  readonly orders: OrderSnapshot
  readonly world: WorldSnapshot
}

/** The name of a table. */
export type SliceName = keyof Slices

/** One table: snapshots by id, in the order in which the ids were first seen. */
export type Slice<K extends SliceName = SliceName> = ReadonlyMap<string, Slices[K]>

/** All tables. Each flush replaces the tables that changed, at most ten times a second; the others stay the same object. */
export type View = { readonly [K in SliceName]: Slice<K> }

/** The changes of one table in one flush. */
export interface SlicePatch {
  readonly slice: SliceName
  readonly changed: readonly (readonly [id: string, snapshot: Slices[SliceName]])[]
  readonly removed: readonly string[]
}
