import { failureLine, isWalletError } from '../base/errors.ts'
import { allSettledOrThrow } from '../base/mutex.ts'
import type { Readable } from '../base/observable.ts'
import { type PauseSnapshot, PauseSwitch } from '../base/pause-switch.ts'
import { Poller } from '../base/poller.ts'
import { Scheduler } from '../base/scheduler.ts'
import { OLD_ACCOUNT_REPO_TYPES } from '../keys/quirks.ts'
import { fetchAppDisplay } from '../login/app-info.ts'
import type { Login } from '../login/login.ts'
import type { Services } from '../plugins/services.ts'
import { storeBelow } from '../repo/store/bulk.ts'
import { OrderIds } from '../swap/approval.ts'
import type { SyncLoop } from '../sync/sync-loop.ts'
import type { SecretWalletInfo } from '../types/keys.ts'
import { EventQueue } from '../wallet/events.ts'
import { openWallet } from '../wallet/open-wallet.ts'
import { type AccountParts, accountIdOf, SharedAccount } from './account.ts'
import { DataStore } from './data-store.ts'
import { type NewWalletSettings, newWalletFiles, UnfinishedWallets } from './new-wallet-files.ts'
import { type OpenRepo, OpenRepos } from './repos.ts'
import { type AccountSettings, openAccountSettings } from './settings.ts'
import { WalletBook, type WalletBookParts } from './wallet-list.ts'

const REFRESH_MS = 30_000

/** The parts that the context gives to an account. */
export interface AccountPlace {
  readonly services: Services
  readonly login: Login
  readonly syncLoop: SyncLoop
  /** It was just made, so that there is nothing to fetch first. */
  readonly isNew: boolean
  /** The pause of everything. */
  readonly paused: Readable<PauseSnapshot>
  readonly rates: AccountParts['rates']
  closed(): void
}

/**
 * Opens an account: makes sure of its repo, opens it and those of older clients, syncs what this device has never seen,
 * and reads their files.
 *
 * @throws NETWORK, SYNC_FAILED if the repo was never synced here and no server answers; KEY_INTEGRITY, STORAGE_FAILED
 */
export const openAccount = async (place: AccountPlace): Promise<SharedAccount> => {
  const { services, login, syncLoop } = place
  const repos = new OpenRepos(services, { syncLoop, accountId: accountIdOf(services, login) })
  try {
    const accountRepos = await openAccountRepos(place, repos)
    const book = await WalletBook.open({ services, login, accountRepos: accountRepos.all })
    const scheduler = new Scheduler(services.io.clock)
    const settings = await openAccountSettings({
      services,
      repo: accountRepos.all[0].repo,
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

interface OpenParts {
  readonly accountRepos: AccountRepos
  readonly repos: OpenRepos
  readonly book: WalletBook
  readonly scheduler: Scheduler
  readonly settings: AccountSettings
}

const putTogether = (place: AccountPlace, parts: OpenParts): SharedAccount => {
  const { services, login } = place
  const { repos, accountRepos, book, scheduler } = parts
  const [{ repo, hashOf }] = accountRepos.all
  const events = new EventQueue(services.io.clock, error => services.report('account', error))
  const refresh = makeRefresh(services, login)
  const pause = new PauseSwitch({ scheduler, key: 'pause account', parent: place.paused })
  const appNames = new Map<string, Promise<string>>()
  // One app may have made hundreds of wallets.
  const nameOfApp = (appId: string): Promise<string> => {
    const known = appNames.get(appId) ?? fetchAppDisplay(services, appId).then(face => face.displayName)
    appNames.set(appId, known)
    return known
  }
  const unfinishedWallets = new UnfinishedWallets(storeBelow(repo.local, 'new/'))
  const account = new SharedAccount({
    services,
    login,
    scheduler,
    events,
    book,
    settings: parts.settings,
    makeDataStore: () => new DataStore({ services, repo, hashOf }),
    pause,
    rates: place.rates,
    unfinishedSplits: storeBelow(repo.local, 'split/'),
    orderIds: new OrderIds(storeBelow(repo.local, 'order/'), services.io.clock),
    unfinishedWallets,
    repos,
    async openWallet(info, { settings, isPaused = false }) {
      const { pluginId } = services.plugins.infoOf(info.type)
      const found = await repos.open(info, settings === undefined ? 'needed' : 'empty')
      try {
        await finishNewWallet(services, found, { unfinished: unfinishedWallets, walletId: info.id, settings })
        return await openWallet({
          ...{ services, walletInfo: info, scheduler, events, nameOfApp, paused: pause, isPaused },
          config: parts.settings.currencyConfig(pluginId),
          ...{ repo: found.repo, hashOf: found.hashOf, syncLoop: place.syncLoop }
        })
      } catch (error) {
        await found.close().catch(failure => services.report('closing a repo', failure))
        throw error
      }
    },
    listRepos: () => repos.list(),
    async syncRepos() {
      await allSettledOrThrow(accountRepos.all.map(opened => opened.sync()))
    },
    async closed() {
      ignoreNews()
      await refresh.stop()
      await repos.close()
      place.closed()
    }
  })
  // Another device may add one while this one is logged in.
  const ignoreNews = login.subscribe(() => {
    services.inBackground(
      'account',
      accountRepos.openNew().then(added => book.addRepos(added))
    )
  })
  const follow = (): void => {
    if (pause.getSnapshot().isPaused) services.inBackground('login', refresh.stop())
    else if (account.isOpen) refresh.start()
  }
  pause.subscribe(follow)
  follow()
  return account
}

/** The repos of the account itself. */
interface AccountRepos {
  /** Its own, and the older ones that may still hold wallets (protocol §3.4). */
  readonly all: WalletBookParts['accountRepos']
  /** Opens those that the login has got since, and gives them. What fails is reported, and tried with the next login. */
  openNew(): Promise<readonly OpenRepo[]>
}

const openAccountRepos = async (
  { services, login, isNew }: AccountPlace,
  repos: OpenRepos
): Promise<AccountRepos> => {
  const own = await login.ensureAccountRepo()
  const types = [own.type, ...(services.config.appId === '' ? OLD_ACCOUNT_REPO_TYPES : [])]
  const begun = new Set([own.id])
  const openOlder = async (info: SecretWalletInfo): Promise<OpenRepo | undefined> => {
    begun.add(info.id)
    try {
      return await repos.open(info, 'tried')
    } catch (error) {
      if (!isWalletError(error, 'LOGGED_OUT')) services.report('account', error)
      return undefined
    }
  }
  const openOthers = async (): Promise<readonly OpenRepo[]> => {
    const others = login.walletInfos.filter(({ id, type }) => !begun.has(id) && types.includes(type))
    const opened = await Promise.all(others.map(openOlder))
    return opened.filter(repo => repo !== undefined)
  }
  // A new account has nothing to fetch first.
  const [first, others] = await Promise.all([repos.open(own, isNew ? 'empty' : 'needed'), openOthers()])
  const all: [OpenRepo, ...OpenRepo[]] = [first, ...others]
  return {
    all,
    async openNew() {
      const added = await openOthers()
      all.push(...added)
      return added
    }
  }
}

interface NewWalletPlace {
  readonly unfinished: UnfinishedWallets
  readonly walletId: string
  /** Undefined for a wallet that is not made now; then an earlier attempt may have left some. */
  readonly settings: NewWalletSettings | undefined
}

/**
 * Writes the settings of a new wallet, also of one whose making was cut off: files that are there by now stay as they are.
 * A wallet whose settings cannot be written has the default ones until it is opened again.
 */
const finishNewWallet = async (
  { report }: Services,
  { repo }: OpenRepo,
  { unfinished, walletId, settings }: NewWalletPlace
): Promise<void> => {
  try {
    const wanted = settings ?? unfinished.find(walletId)
    if (wanted === undefined) return
    const missing = new Map<string, string>()
    for (const [path, text] of newWalletFiles(wanted)) if (!(await repo.has(path))) missing.set(path, text)
    if (missing.size > 0) await repo.write({ texts: missing })
    await unfinished.end(walletId)
  } catch (error) {
    report('account', error)
  }
}

// A login is refreshed every 30 s; only a refused one-time code is worth the user's attention (specification §9).
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
