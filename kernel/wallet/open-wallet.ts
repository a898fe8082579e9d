import { WalletError } from '../errors/wallet-error.ts'
import type { WalletSnapshot } from '../hooks/snapshots.ts'
import type { Scheduler } from '../io/scheduler.ts'
import { fileHashOf, localFolderOf } from '../keys/wallet-id.ts'
import { type LocalStore, openLocalStore } from '../repo/local-store.ts'
import type { Repo } from '../repo/repo.ts'
import { isRecord } from '../schema/fields.ts'
import { parseJson } from '../schema/parse.ts'
import type { Services } from '../services.ts'
import { Observable } from '../state/observable.ts'
import { Secret } from '../state/secret.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { CurrencyEngine, EngineStore } from '../types/engine.ts'
import type { JsonObject } from '../types/json.ts'
import type { PublicWalletInfo, SecretWalletInfo } from '../types/keys.ts'
import { readAddresses } from './address-file.ts'
import { CurrencyWallet, type WalletParts } from './currency-wallet.ts'
import { EngineInbox } from './engine-inbox.ts'
import { EngineRunner } from './engine-runner.ts'
import type { EventQueue } from './event-queue.ts'
import { resumeSpends, type SpendParts } from './spend.ts'
import { SpendJournal } from './spend-journal.ts'
import { TransactionThrottle } from './throttle.ts'
import { TransactionTable } from './transaction-table.ts'
import { readWalletSettings, WALLET_SETTINGS_PATHS } from './wallet-settings.ts'

/** What a wallet needs from its account to open. */
export interface WalletPlace {
  readonly services: Services
  readonly info: SecretWalletInfo
  readonly repo: Repo
  readonly scheduler: Scheduler
  readonly events: EventQueue
  readonly isPaused: boolean
  syncRepo(): Promise<void>
}

/** An open wallet and the way to close it. */
export interface OpenedWallet {
  readonly wallet: CurrencyWallet
  close(): Promise<void>
}

const PUBLIC_KEYS = 'public-keys'
const ENGINE = 'engine/'

/**
 * Opens a wallet: local store, files, public keys, engine; then finishes what a crash left of its spends.
 *
 * Resolves as soon as the wallet can be used; the engine starts in the background, and its failure shows in
 * the wallet's `engine` snapshot.
 *
 * @throws PLUGIN_FOR_TYPE, STORAGE_FAILED
 */
export const openWallet = async (place: WalletPlace): Promise<OpenedWallet> => {
  const { services, info, repo } = place
  const currency = services.plugins.infoOf(info.type)
  const report = (error: unknown): void => services.report(`wallet ${currency.pluginId}`, error)
  const hashOf = makeHash(services, info)
  const store = await openWalletStore(services, info, report)
  const settings = await readWalletSettings(repo, report)
  const state = new Observable<WalletSnapshot>(
    {
      walletId: info.id,
      pluginId: currency.pluginId,
      type: info.type,
      ...settings,
      enabledTokenIds: [],
      balances: {},
      isPaused: place.isPaused
    },
    snapshot => services.hooks.walletChanged.call(snapshot),
    report
  )
  const now = (): number => services.io.clock.now()
  const table = new TransactionTable({ walletId: info.id, info: currency, repo, hashOf, now, report })
  await table.readFileNames()
  const live = connectEngine(place, { currency, store, state, table, report })
  const unsubscribe = repo.onServerChange(paths => live.filesChanged(paths))
  const parts: WalletParts = {
    services,
    walletId: info.id,
    type: info.type,
    info: currency,
    keys: info.keys,
    repo,
    engine: live.engine,
    table,
    spends: live.spends,
    state,
    hashOf,
    syncRepo: place.syncRepo
  }
  services.inBackground(`engine ${currency.pluginId}`, live.engine.start())
  return {
    wallet: new CurrencyWallet(parts),
    async close() {
      unsubscribe()
      live.inbox.close()
      await live.engine.close()
      await live.inbox.settled()
      await store.close()
    }
  }
}

interface EngineParts {
  readonly currency: CurrencyInfo
  readonly store: LocalStore
  readonly state: Observable<WalletSnapshot>
  readonly table: TransactionTable
  report(error: unknown): void
}

interface LiveEngine {
  readonly engine: EngineRunner
  readonly inbox: EngineInbox
  readonly spends: SpendParts
  filesChanged(paths: readonly string[]): void
}

const connectEngine = (place: WalletPlace, parts: EngineParts): LiveEngine => {
  const { services, info, repo, scheduler, events } = place
  const { currency, store, state, table, report } = parts
  const { hooks } = services
  const throttle = new TransactionThrottle(scheduler, info.id, changes =>
    hooks.transactionsChanged.call(Object.freeze({ walletId: info.id, ...changes }))
  )
  const balances = new Map<string, string>()
  const inbox = new EngineInbox(currency.pluginId, services.io.clock, {
    addressChanged: () => {},
    balanceChanged: (tokenId, balance) => {
      balances.set(tokenId ?? '', balance)
      events.push(`balance ${info.id}`, () => state.update({ balances: Object.fromEntries(balances) }))
    },
    heightChanged: height => {
      throttle.add({ created: [], changed: table.takeHeight(height) })
      const shown = services.config.skipBlockHeight ? {} : { blockHeight: height }
      events.push(`height ${info.id}`, () => engine.show(shown))
    },
    progressed: syncRatio => events.push(`progress ${info.id}`, () => engine.show({ syncRatio })),
    statusChanged: status => events.push(`status ${info.id}`, () => engine.show({ status })),
    transactionsChanged: async transactions => throttle.add(await table.take(transactions)),
    failed: error => reportFault(services, currency.pluginId, error)
  })
  const engine: EngineRunner = new EngineRunner(
    {
      services,
      scheduler,
      walletId: info.id,
      info: currency,
      keys: info.keys,
      make: () => makeEngine(place, { currency, store, inbox }),
      synced: () => services.inBackground('unfinished spends', resumeSpends(spends))
    },
    place.isPaused
  )
  const spends: SpendParts = {
    services,
    walletId: info.id,
    info: currency,
    engine,
    journal: new SpendJournal(store),
    table,
    keys: info.keys,
    balanceOf: tokenId => (balances.get(tokenId ?? '') ?? '0') as ReturnType<SpendParts['balanceOf']>,
    busy: new Set(),
    told: txid => throttle.add({ created: [], changed: [txid] })
  }
  const filesChanged = (paths: readonly string[]): void => {
    throttle.add({ created: [], changed: table.fileChanged(paths) })
    if (!paths.some(path => WALLET_SETTINGS_PATHS.includes(path))) return
    services.inBackground(
      'wallet settings',
      readWalletSettings(repo, report).then(next => state.update(next))
    )
  }
  return { engine, inbox, spends, filesChanged }
}

const makeEngine = async (
  { services, info, repo }: WalletPlace,
  { currency, store, inbox }: { currency: CurrencyInfo; store: LocalStore; inbox: EngineInbox }
): Promise<CurrencyEngine> => {
  const { pluginId } = currency
  const walletInfo = await publicInfoOf(services, { info, pluginId, store })
  const request = Object.freeze({
    walletInfo,
    callbacks: inbox.callbacks,
    store: prefixedStore(store, ENGINE),
    log: services.logOf(pluginId),
    enabledTokenIds: [],
    customTokens: {},
    userSettings: {}
  })
  const engine = await services.hooks.makeEngine.for(pluginId).promise(request)
  if (engine === undefined) {
    throw new WalletError('PLUGIN_FAILED', { pluginId, hook: 'makeEngine', reason: 'it made none' })
  }
  const report = (error: unknown): void => services.report(`wallet ${pluginId}`, error)
  const used = (await readAddresses(repo, report)).filter(
    ({ recycleable, address }) => !recycleable && address !== ''
  )
  await engine.addGapLimitAddresses(used.map(({ address }) => address))
  return engine
}

/** The identity and public keys of a wallet: made from named fields, kept for the next time, never the rest. */
const publicInfoOf = async (
  services: Services,
  { info, pluginId, store }: { info: SecretWalletInfo; pluginId: string; store: EngineStore }
): Promise<PublicWalletInfo> => {
  const { id, type } = info
  const tools = await services.plugins.toolsOf(pluginId)
  const kept = readKeys(store.get(PUBLIC_KEYS))
  if (kept !== undefined && (await (tools.checkPublicKey?.(kept) ?? true))) return { id, type, keys: kept }
  const keys = await info.keys.use(secret => tools.derivePublicKey({ id, type, keys: secret }))
  if (!isRecord(keys)) throw new WalletError('BOGUS_DATA', { pluginId, what: 'public keys', path: '' })
  await store.write(new Map([[PUBLIC_KEYS, JSON.stringify(keys)]]))
  return { id, type, keys }
}

const readKeys = (text: string | undefined): JsonObject | undefined => {
  if (text === undefined) return undefined
  const value = parseJson(text, 'public keys')
  return isRecord(value) && Object.keys(value).length > 0 ? (value as JsonObject) : undefined
}

const openWalletStore = (services: Services, info: SecretWalletInfo, report: (error: unknown) => void) => {
  const { io, disk } = services
  const key = new Secret(info.keys.use(({ dataKey }) => io.crypto.fromBase64(String(dataKey))))
  return openLocalStore({
    io,
    disk,
    folder: `wallets/${localFolderOf(io, info.id).slice('local/'.length)}`,
    key,
    report
  })
}

const makeHash = ({ io }: Services, info: SecretWalletInfo) => {
  const dataKey = new Secret(info.keys.use(keys => io.crypto.fromBase64(String(keys.dataKey))))
  return (text: string): string => dataKey.use(key => fileHashOf(io, key, text))
}

const prefixedStore = (store: EngineStore, prefix: string): EngineStore => ({
  get: key => store.get(prefix + key),
  *entries(inner) {
    for (const [key, text] of store.entries(prefix + inner)) yield [key.slice(prefix.length), text] as const
  },
  write: changes => store.write(new Map([...changes].map(([key, text]) => [prefix + key, text])))
})

const reportFault = (services: Services, pluginId: string, error: unknown): void => {
  services.report(`engine ${pluginId}`, error)
  const isKnown = error instanceof WalletError
  services.hooks.pluginFault.call(
    Object.freeze({
      pluginId,
      hook: 'makeEngine',
      errorName: error instanceof Error ? error.name : 'Error',
      ...(isKnown ? { errorCode: error.code } : {}),
      message: isKnown ? error.message : 'The engine sent something that could not be taken in'
    })
  )
}
