import { makeSerialQueue } from '../crypto/serial-queue.ts'
import { WalletError } from '../errors/wallet-error.ts'
import type { WalletSnapshot } from '../hooks/snapshots.ts'
import type { Scheduler } from '../io/scheduler.ts'
import { fileHashOf, localFolderOf } from '../keys/wallet-id.ts'
import type { Repo } from '../repo/repo.ts'
import { type LocalStore, openLocalStore } from '../repo/store/local-store.ts'
import type { Services } from '../services.ts'
import { Observable } from '../state/observable.ts'
import { Secret } from '../state/secret.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { SecretWalletInfo } from '../types/keys.ts'
import { CurrencyWallet, type WalletParts } from './currency-wallet.ts'
import { EngineInbox } from './engine/engine-inbox.ts'
import { EngineRunner } from './engine/engine-runner.ts'
import { makeWalletEngine } from './engine/make-engine.ts'
import type { EventQueue } from './event-queue.ts'
import { TransactionThrottle } from './history/throttle.ts'
import { TransactionTable } from './history/transaction-table.ts'
import { resumeSpends, type SpendParts } from './spend.ts'
import { SpendJournal } from './spend-journal.ts'
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

/**
 * Opens a wallet: local store, files, public keys, engine; then finishes what a crash left of its spends.
 *
 * Resolves as soon as the wallet can be used; the engine starts in the background, and its failure shows in
 * the wallet's `engine` snapshot.
 *
 * @throws PLUGIN_FOR_TYPE, STORAGE_FAILED
 */
export const openWallet = async (place: WalletPlace): Promise<OpenedWallet> => {
  const { services, info } = place
  const currency = services.plugins.infoOf(info.type)
  const report = (error: unknown): void => services.report(`wallet ${currency.pluginId}`, error)
  const dataKey = new Secret(info.keys.use(keys => services.io.crypto.fromBase64(String(keys.dataKey))))
  let store: LocalStore | undefined
  try {
    store = await openWalletStore(services, { walletId: info.id, key: dataKey, report })
    return await openOn(place, { currency, store, dataKey, report })
  } catch (error) {
    await store?.close()
    dataKey.destroy()
    throw error
  }
}

const openOn = async (place: WalletPlace, files: WalletFiles): Promise<OpenedWallet> => {
  const { services, info, repo } = place
  const { currency, store, dataKey, report } = files
  const hashOf = makeHash(services, dataKey)
  const settings = await readWalletSettings(repo, report)
  const state = new Observable<WalletSnapshot>(
    {
      walletId: info.id,
      pluginId: currency.pluginId,
      type: info.type,
      ...settings,
      enabledTokenIds: Object.freeze([]),
      detectedTokenIds: Object.freeze([]),
      unactivatedTokenIds: Object.freeze([]),
      stakingStatus: Object.freeze({ stakedAmounts: Object.freeze([]) }),
      balances: Object.freeze({}),
      isPaused: place.isPaused
    },
    snapshot => services.hooks.walletChanged.call(snapshot),
    report
  )
  services.hooks.walletChanged.call(state.getSnapshot())
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
      dataKey.destroy()
    }
  }
}

/** What is open before the wallet is; all of it must be let go of if the wallet cannot be opened. */
interface WalletFiles {
  readonly currency: CurrencyInfo
  readonly store: LocalStore
  readonly dataKey: Secret<Uint8Array>
  report(error: unknown): void
}

interface EngineParts extends Omit<WalletFiles, 'dataKey'> {
  readonly state: Observable<WalletSnapshot>
  readonly table: TransactionTable
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
  const throttle = new TransactionThrottle(scheduler, info.id, ({ created, changed }) =>
    hooks.transactionsChanged.call(
      Object.freeze({ walletId: info.id, created: Object.freeze(created), changed: Object.freeze(changed) })
    )
  )
  const balances = new Map<string, string>()
  const inbox = new EngineInbox(currency.pluginId, services.io.clock, {
    addressChanged: () => {},
    balanceChanged: (tokenId, balance) => {
      balances.set(tokenId ?? '', balance)
      events.push(`balance ${info.id}`, () =>
        state.update({ balances: Object.freeze(Object.fromEntries(balances)) })
      )
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
      make: () => makeWalletEngine({ services, info, repo, currency, store, callbacks: inbox.callbacks }),
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
    inOrder: makeSerialQueue(),
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

const openWalletStore = (
  { io, disk }: Services,
  { walletId, key, report }: { walletId: string; key: Secret<Uint8Array>; report(error: unknown): void }
): Promise<LocalStore> => {
  const folder = `wallets/${localFolderOf(io, walletId).slice('local/'.length)}`
  return openLocalStore({ io, disk, folder, key, report })
}

const makeHash =
  ({ io }: Services, dataKey: Secret<Uint8Array>) =>
  (text: string): string => {
    if (!dataKey.isAlive) throw new WalletError('LOGGED_OUT', {})
    return dataKey.use(key => fileHashOf(io, key, text))
  }

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
