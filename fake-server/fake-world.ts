import { WalletError } from '../kernel/base/errors.ts'
import { isRecord, type Json, type JsonObject } from '../kernel/base/json.ts'
import type { Disk } from '../kernel/index.ts'
import { compact } from '../kernel/index.ts'
import type { Io } from '../kernel/io/io.ts'
import type { Store } from '../kernel/io/store.ts'
import { openLogStore } from '../kernel/store/log-store.ts'
import { storeDisk } from '../kernel/store/store-disk.ts'
import { makeRandom } from './base/faults.ts'
import {
  applyConditions,
  GOOD_NETWORK,
  makeWorldConditions,
  type NetworkConditions,
  type WorldConditions
} from './base/network-conditions.ts'
import type { FakeChain } from './chain/fake-chain.ts'
import type { FakeChains } from './chain/open-chain.ts'
import { type FakeProviders, type OpenedProviders, openFakeProviders } from './providers/fake-providers.ts'
import type { FakeSwaps } from './providers/swap/fake-swaps.ts'
import { FAKE_SERVER_LISTS, FakeServer } from './routes/fake-server.ts'
import { makeWorldClock, makeWorldIo, type WorldClock, type WorldIoOptions } from './world/io.ts'
import { type JournalLimits, readJournal, WorldJournal } from './world/journal.ts'
import { type EntrySource, namingCorruptFile, replay, type WorldState } from './world/state.ts'
import {
  CHAIN_SERVERS,
  type ChainServers,
  entriesOfChains,
  journalChains,
  openChains,
  serveChains
} from './world/world-chains.ts'

/** The addresses that a kernel is configured with to live in a fake world inside its process. */
export const FAKE_ADDRESSES: {
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  /** Bitcoin's. */
  readonly electrumServers: readonly string[]
  /** Those of every chain, by plugin id. */
  readonly chainServers: ChainServers
} = {
  authServer: 'http://localhost/api',
  ...FAKE_SERVER_LISTS,
  electrumServers: CHAIN_SERVERS.bitcoin,
  chainServers: CHAIN_SERVERS
}

/** Options of {@link makeFakeWorld}. */
export interface FakeWorldOptions {
  readonly io: Pick<Io, 'clock' | 'crypto' | 'random'>
  /** The result of an earlier `toJson`; a new world when left out. */
  readonly saved?: Json
  /** The only API keys that the login server lets in; any when left out. */
  readonly apiKeys?: readonly string[]
}

/** Options of {@link openStoredWorld}. */
export interface StoredWorldOptions extends Omit<FakeWorldOptions, 'saved'> {
  /** A store of the world's own. The world closes it. */
  readonly store: Store
  /** The disk that version 0.1 has saved the world on; that of the store if left out. */
  readonly disk?: Disk
  readonly limits?: JournalLimits
}

/** Options of {@link openPersistentWorld}. */
export interface PersistentWorldOptions extends Omit<StoredWorldOptions, 'disk' | 'store'> {
  /** A disk of the world's own. */
  readonly disk: Disk
}

/**
 * Login, info and sync servers, rate and swap providers, a Bitcoin chain, a Litecoin chain and a clock: everything
 * outside that a wallet needs.
 *
 * Several kernels with the io of one world are several devices. Every reply is durable before a device gets
 * it; after a direct change of `chains`, `clock` or the market of `providers`, wait for `saved`.
 */
export interface FakeWorld {
  readonly server: FakeServer
  /** Bitcoin's chain. */
  readonly chain: FakeChain
  /** Every chain by plugin id, Bitcoin's among them. */
  readonly chains: FakeChains
  /** Rate and swap providers, with their prices and faults. */
  readonly providers: FakeProviders
  /** The exchanges and vaults behind the swap providers: their behaviour, orders and payouts. */
  readonly swaps: FakeSwaps
  readonly clock: WorldClock
  /** Makes the io of one device: the host's crypto and random bytes, this world's time and network, and nothing else. */
  ioFor(base: Io, options?: WorldIoOptions): Io
  /** The quality of the network of all devices; open connections are lost when it goes offline. */
  readonly network: WorldConditions
  /** Cuts or restores the network of all devices. */
  setOnline(isOnline: boolean): void
  /**
   * Resolves when all changes so far are durable; at once for a world without a disk.
   *
   * @throws STORAGE_FULL, STORAGE_FAILED; nothing is lost, a later call tries again
   */
  saved(): Promise<void>
  /** Everything there is, the faucet's key included. */
  toJson(): Json
  /** Ends all connections and saves. */
  close(): Promise<void>
}

/**
 * Makes a fake world in memory.
 *
 * @throws CORRUPT_FILE if `saved` is damaged
 */
export const makeFakeWorld = ({ saved, ...options }: FakeWorldOptions): FakeWorld => {
  const source = saved === undefined ? [] : [{ path: 'world', entries: entriesOfJson(saved) }]
  return buildWorld(options, restore(source, options), () => undefined)
}

/**
 * Opens the world on a disk, or makes a new one there.
 *
 * @throws CORRUPT_FILE naming what is damaged or missing, and then changes nothing; STORAGE_FULL, STORAGE_FAILED
 */
export const openPersistentWorld = async (options: PersistentWorldOptions): Promise<FakeWorld> => {
  const { disk, io } = options
  const { clock, crypto } = io
  let loss: unknown
  const onLoss = (error: unknown): void => {
    loss ??= error
  }
  // What failed beside a batch is tried again with a later one.
  const store = await openLogStore({ disk, clock, crypto, folder: 'world', onLoss, report: () => {} })
  try {
    if (loss !== undefined) throw loss
    return await openStoredWorld({ ...options, store })
  } catch (error) {
    await store.close()
    // The file says more than the entry that is missing.
    throw loss ?? error
  }
}

/**
 * Opens the world in a store, or makes a new one there.
 *
 * @throws CORRUPT_FILE, and then changes nothing; STORAGE_FULL, STORAGE_FAILED
 */
export const openStoredWorld = async ({
  store,
  disk = storeDisk(store),
  limits,
  ...options
}: StoredWorldOptions): Promise<FakeWorld> => {
  const ports = { store, disk, crypto: options.io.crypto }
  const journal = await readJournal(ports)
  const world = buildWorld(options, restore(journal.files, options), snapshot => {
    return new WorldJournal(ports, journal, { snapshot, ...compact({ limits }) })
  })
  await world.saved()
  return world
}

const WORLD_FORMAT = 'holdfast-fake-world'

const entriesOfJson = (saved: Json): readonly Json[] => {
  if (
    isRecord(saved) &&
    saved.format === WORLD_FORMAT &&
    saved.version === 1 &&
    Array.isArray(saved.entries)
  ) {
    return saved.entries as readonly Json[]
  }
  throw new WalletError('CORRUPT_FILE', { path: 'world', rule: 'it is no saved world' })
}

interface Restored extends WorldState {
  readonly clock: WorldClock
  readonly openedChains: FakeChains
  readonly onSkip: { listener: (offset: number) => void }
  readonly openedProviders: OpenedProviders
  readonly durable: { wait: () => Promise<void> }
}

const restore = (source: EntrySource, { io }: Pick<FakeWorldOptions, 'io'>): Restored => {
  const state = replay(source, io.crypto)
  const onSkip = { listener: (_offset: number): void => {} }
  const clock = makeWorldClock(io.clock, {
    offset: state.clockOffset,
    onSkip: offset => onSkip.listener(offset)
  })
  const random = (count: number): Uint8Array => io.random(count)
  const openedChains = openChains(source, state.chains, { clock, random })
  const durable = { wait: async (): Promise<void> => {} }
  const openedProviders = namingCorruptFile(source, { kind: 'provider' }, () =>
    openFakeProviders({
      clock,
      random,
      chains: openedChains,
      saved: () => durable.wait(),
      remembered: state.providers.values()
    })
  )
  return { ...state, clock, onSkip, openedChains, openedProviders, durable }
}

type MakeJournal = (snapshot: () => Iterable<Json>) => WorldJournal | undefined

const buildWorld = (
  { io, apiKeys }: Omit<FakeWorldOptions, 'saved'>,
  restored: Restored,
  makeJournal: MakeJournal
): FakeWorld => {
  const { db, clock, openedChains: chains } = restored
  const { providers, swaps } = restored.openedProviders
  const network = makeWorldConditions(restored.network)
  function* entries(): Generator<Json> {
    if (clock.offset > 0) yield clockEntry(clock.offset)
    if (network.current !== GOOD_NETWORK) yield networkEntry(network.current)
    yield* entriesOfChains(chains)
    yield* providers.entries()
    for (const entry of db.entries()) yield entry as unknown as JsonObject
  }
  const journal = makeJournal(entries)
  const saved = async (): Promise<void> => journal?.saved()
  if (journal !== undefined) {
    journalChanges(journal, restored, network)
    journalChains(journal, chains, restored.chains)
  }
  restored.durable.wait = saved
  const server = new FakeServer(
    {
      crypto: io.crypto,
      clock,
      saved,
      ...compact({ apiKeys })
    },
    db
  )
  const chainServers = serveChains(chains)
  const devices = makeWorldIo({ server, providers, chains: chainServers, clock, saved })
  const applyOnline = ({ isOnline }: NetworkConditions): void => devices.setOnline(isOnline)
  applyOnline(network.current)
  network.onChange(applyOnline)
  const conditions = applyConditions({ clock, random: makeRandom(seedOf(io.random(4))) }, network)
  server.use(conditions)
  providers.use(conditions)
  return {
    server,
    chain: chains.bitcoin,
    chains,
    providers,
    swaps,
    clock,
    network,
    ioFor: devices.ioFor,
    setOnline: isOnline => network.change({ isOnline }),
    saved,
    toJson: () => ({ format: WORLD_FORMAT, version: 1, entries: [...entries()] }),
    async close() {
      for (const { electrum } of chainServers) electrum.close()
      await journal?.close()
    }
  }
}

/** Adds every later change to a journal, besides those of the chains. */
const journalChanges = (
  journal: WorldJournal,
  { db, onSkip, openedProviders }: Restored,
  network: WorldConditions
): void => {
  db.onChange(entry => journal.add(entry as unknown as JsonObject))
  onSkip.listener = offset => journal.add(clockEntry(offset))
  network.onChange(conditions => journal.add(networkEntry(conditions)))
  openedProviders.providers.onChange(entry => journal.add(entry))
}

const seedOf = (bytes: Uint8Array): number => bytes.reduce((seed, byte) => seed * 256 + byte, 0)

const networkEntry = (conditions: NetworkConditions): JsonObject => ({
  kind: 'network',
  conditions: { ...conditions }
})

const clockEntry = (offset: number): JsonObject => ({ kind: 'clock', offset })
