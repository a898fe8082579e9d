import { isWalletError } from '../errors/wallet-error.ts'
import type { LoginSnapshot } from '../hooks/snapshots.ts'
import { Poller } from '../io/poller.ts'
import { Scheduler } from '../io/scheduler.ts'
import { settleAll } from '../io/settle-all.ts'
import { fetchAppFace } from '../login/lobby/app-info.ts'
import type { Login } from '../login/login.ts'
import { storeBelow } from '../repo/store/bulk.ts'
import type { SyncLoop } from '../repo/sync-loop.ts'
import { failureLine, type Services } from '../services.ts'
import type { Readable } from '../state/observable.ts'
import type { SecretWalletInfo } from '../types/keys.ts'
import { EventQueue } from '../wallet/event-queue.ts'
import { openWallet } from '../wallet/open-wallet.ts'
import { type PauseSnapshot, PauseSwitch } from '../wallet/pause-switch.ts'
import { Account, type AccountParts } from './account.ts'
import { accountIdOf } from './account-id.ts'
import { DataStore } from './data-store.ts'
import { type NewWalletSettings, newWalletFiles } from './new-wallet-files.ts'
import { type OpenRepo, OpenRepos } from './open-repos.ts'
import { type AccountSettings, openAccountSettings } from './settings/account-settings.ts'
import { WalletBook, type WalletBookParts } from './wallet-book.ts'

const REFRESH_MS = 30_000

/** What the context gives an account. */
export interface AccountPlace {
  readonly services: Services
  readonly login: Login
  readonly syncLoop: SyncLoop
  readonly loginMethod: LoginSnapshot['method']
  /** The pause of everything. */
  readonly paused: Readable<PauseSnapshot>
  readonly rates: AccountParts['rates']
  closed(account: Account): void
}

/**
 * Opens an account: makes sure of its repo, opens it and those of older clients, syncs what this device has never seen,
 * and reads their files.
 *
 * @throws NETWORK, SYNC_FAILED if the repo was never synced here and no server answers; KEY_INTEGRITY, STORAGE_FAILED
 */
export const openAccount = async (place: AccountPlace): Promise<Account> => {
  const { services, login, syncLoop } = place
  const repos = new OpenRepos(services, { syncLoop, accountId: accountIdOf(services, login) })
  try {
    const accountRepos = await openAccountRepos(place, repos)
    const book = await WalletBook.open({ services, login, accountRepos })
    const scheduler = new Scheduler(services.io.clock)
    const settings = await openAccountSettings({
      services,
      repo: accountRepos[0].repo,
      scheduler,
      hasWallet: walletType => book.list().some(({ type, deleted }) => type === walletType && !deleted)
    })
    return putTogether(place, { repos, accountRepos, book, scheduler, settings })
  } catch (error) {
    await repos.close()
    login.close()
    throw error
  }
}

interface OpenParts extends Pick<WalletBookParts, 'accountRepos'> {
  readonly repos: OpenRepos
  readonly book: WalletBook
  readonly scheduler: Scheduler
  readonly settings: AccountSettings
}

const putTogether = (place: AccountPlace, parts: OpenParts): Account => {
  const { services, login, loginMethod } = place
  const { repos, accountRepos, book, scheduler, settings } = parts
  const [{ repo, hashOf }] = accountRepos
  const events = new EventQueue(services.io.clock, error => services.report('account', error))
  const refresh = makeRefresh(services, login)
  const pause = new PauseSwitch({ scheduler, key: 'pause account', parent: place.paused })
  const appNames = new Map<string, Promise<string>>()
  // One app may have made hundreds of wallets.
  const nameOfApp = (appId: string): Promise<string> => {
    const known = appNames.get(appId) ?? fetchAppFace(services, appId).then(face => face.displayName)
    appNames.set(appId, known)
    return known
  }
  const account: Account = new Account({
    services,
    login,
    loginMethod,
    scheduler,
    events,
    book,
    settings,
    dataStore: new DataStore({ services, repo, hashOf }),
    pause,
    rates: place.rates,
    unfinishedSplits: storeBelow(repo.local, 'split/'),
    async openWallet(info, { settings: wishes, isPaused = false }) {
      const { pluginId } = services.plugins.infoOf(info.type)
      const found = await repos.open(info, wishes === undefined ? 'needed' : 'empty')
      try {
        if (wishes !== undefined) await writeNewWallet(services, found, wishes)
        return await openWallet({
          ...{ services, walletInfo: info, scheduler, events, nameOfApp, paused: pause, isPaused },
          config: settings.currencyConfig(pluginId),
          ...{ repo: found.repo, hashOf: found.hashOf, syncLoop: place.syncLoop }
        })
      } catch (error) {
        await found.close().catch(failure => services.report('closing a repo', failure))
        throw error
      }
    },
    listRepos: () => repos.list(),
    async syncRepos() {
      await settleAll(accountRepos.map(opened => opened.sync()))
    },
    async closed() {
      await refresh.stop()
      await repos.close()
      place.closed(account)
    }
  })
  const follow = (): void => {
    if (pause.getSnapshot().isPaused) services.inBackground('login', refresh.stop())
    else if (account.isLoggedIn) refresh.start()
  }
  pause.subscribe(follow)
  follow()
  return account
}

/** The account's own repo, and the older ones that may still hold wallets (protocol §3.4). */
const openAccountRepos = async (
  { services, login, loginMethod }: AccountPlace,
  repos: OpenRepos
): Promise<WalletBookParts['accountRepos']> => {
  const own = await login.ensureAccountRepo()
  const types = [own.type, ...(services.config.appId === '' ? OLD_REPO_TYPES : [])]
  const older = login.walletInfos.filter(({ id, type }) => id !== own.id && types.includes(type))
  const openOlder = async (info: SecretWalletInfo): Promise<OpenRepo | undefined> => {
    try {
      return await repos.open(info, 'tried')
    } catch (error) {
      services.report('account', error)
      return undefined
    }
  }
  // A new account has nothing to fetch first.
  const [first, ...others] = await Promise.all([
    repos.open(own, loginMethod === 'create' ? 'empty' : 'needed'),
    ...older.map(openOlder)
  ])
  return [first, ...others.filter(repo => repo !== undefined)]
}

/** What the root app's repos were called once (protocol §8 row 30). */
const OLD_REPO_TYPES: readonly string[] = ['account:repo:co.airbitz.wallet', '']

/** A wallet whose settings cannot be written has the default ones. */
const writeNewWallet = async (
  { report }: Services,
  { repo }: OpenRepo,
  settings: NewWalletSettings
): Promise<void> => {
  try {
    await repo.setTexts(newWalletFiles(settings))
  } catch (error) {
    report('account', error)
  }
}

// A login is fetched anew every 30 s; only a refused one-time code is worth the user's attention (specification §9).
const makeRefresh = ({ io, logOf, report }: Services, login: Login): Poller =>
  new Poller({
    clock: io.clock,
    gapMs: REFRESH_MS,
    task: () => login.refresh(),
    onError: error => {
      if (isWalletError(error, 'OTP')) report('login', error)
      else if (!isWalletError(error, 'LOGGED_OUT'))
        logOf('login').warn(failureLine('The login could not be refreshed', error))
    }
  })
