import { failureLine, isWalletError } from '../base/errors.ts'
import type { Readable } from '../base/observable.ts'
import { type PauseSnapshot, PauseSwitch } from '../base/pause-switch.ts'
import { Poller } from '../base/poller.ts'
import { Scheduler } from '../base/scheduler.ts'
import type { Login } from '../login/login.ts'
import type { Services } from '../plugins/services.ts'
import { storeBelow } from '../repo/store/bulk.ts'
import { SwapOrders } from '../swap/orders.ts'
import type { SyncLoop } from '../sync/sync-loop.ts'
import { EventQueue } from '../wallet/events.ts'
import { type AccountOptions, accountIdOf, SharedAccount } from './account.ts'
import { UnfinishedWallets, WalletOpener } from './open-wallets.ts'
import { AccountRepos, OpenRepos } from './repos.ts'
import { AccountSettings } from './settings.ts'
import { SpendRules } from './spend-rules.ts'
import { WalletList } from './wallet-list.ts'

const REFRESH_MS = 30_000

/** The login whose account is opened, and what it shares with the other accounts of a context. */
export interface OpenAccountOptions {
  readonly services: Services
  readonly login: Login
  readonly syncLoop: SyncLoop
  /** It was just made, so that there is nothing to fetch first. */
  readonly isNew: boolean
  /** The pause of everything. */
  readonly paused: Readable<PauseSnapshot>
  readonly rates: AccountOptions['rates']
  onClosed(): void
}

/**
 * Opens an account: makes sure of its repo, opens it and those of older clients, syncs what this device has never seen,
 * and reads their files.
 *
 * @throws NETWORK, SYNC_FAILED if the repo was never synced here and no server answers; KEY_INTEGRITY, STORAGE_FAILED
 */
export const openAccount = async (options: OpenAccountOptions): Promise<SharedAccount> => {
  const { services, login, syncLoop, isNew, paused, rates, onClosed } = options
  const { clock } = services.io
  const repos = new OpenRepos(services, { syncLoop, accountId: accountIdOf(services, login) })
  repos.changeDeviceOnly(login.isDeviceOnly)
  try {
    const accountRepos = await AccountRepos.open({ services, login, repos, isNew })
    const { repo } = accountRepos.own
    const book = await WalletList.open({ services, login, accountRepos })
    const scheduler = new Scheduler(clock)
    const settings = await AccountSettings.open({ services, repo, scheduler, book })
    const events = new EventQueue(clock, error => services.report('account', error))
    const pause = new PauseSwitch({ scheduler, key: 'pause account', parent: paused })
    const unfinished = new UnfinishedWallets(storeBelow(repo.local, 'new/'))
    const rules = new SpendRules({ services, repo, book, settings, rates, login })
    const orders = new SwapOrders({
      ...{ services, pause },
      store: storeBelow(repo.local, 'swap/'),
      pluginIdOf: id => book.list().find(({ walletId }) => walletId === id)?.currencyInfo?.pluginId,
      userSettingsOf: pluginId => settings.swapConfig(pluginId).getSnapshot().userSettings
    })
    const shared = { services, repos, settings, scheduler, events, pause, unfinished, rules }
    const opener = new WalletOpener({
      ...shared,
      // Also of one that another device paid for.
      sawSwap: payment => services.inBackground('swap orders', orders.follow(payment))
    })
    const refresh = makeRefresh(services, login)
    return new SharedAccount({
      ...shared,
      orders,
      login,
      refresh,
      accountRepos,
      book,
      opener,
      rates,
      onClosed
    })
  } catch (error) {
    await repos.close()
    login.close()
    throw error
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
        logOf('login').warn(failureLine('Could not refresh the login', error))
    }
  })
