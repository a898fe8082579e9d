import { isWalletError } from '../errors/wallet-error.ts'
import type { LoginSnapshot } from '../hooks/snapshots.ts'
import { Poller } from '../io/poller.ts'
import { Scheduler } from '../io/scheduler.ts'
import { repoIdOf } from '../keys/wallet-id.ts'
import type { Login } from '../login/login.ts'
import { openRepo } from '../repo/open-repo.ts'
import type { Repo } from '../repo/repo.ts'
import type { SyncLoop } from '../repo/sync-loop.ts'
import { failureLine, type Services } from '../services.ts'
import { Secret } from '../state/secret.ts'
import type { SecretWalletInfo } from '../types/keys.ts'
import { EventQueue } from '../wallet/event-queue.ts'
import { openWallet } from '../wallet/open-wallet.ts'
import { Account } from './account.ts'
import { readWalletStates } from './wallet-states.ts'

const REFRESH_MS = 30_000

/** What the context gives an account. */
export interface AccountPlace {
  readonly services: Services
  readonly login: Login
  readonly syncLoop: SyncLoop
  readonly loginMethod: LoginSnapshot['method']
  closed(account: Account): void
}

/**
 * Opens an account: makes sure of its repo, syncs it if this device has never seen it, and reads its files.
 *
 * @throws NETWORK, SYNC_FAILED if the repo was never synced here and no server answers
 */
export const openAccount = async ({
  services,
  login,
  syncLoop,
  loginMethod,
  closed
}: AccountPlace): Promise<Account> => {
  const opened = new Set<OpenRepo>()
  const report = (error: unknown): void => services.report('account', error)
  const open = async (info: SecretWalletInfo, isNew: boolean): Promise<OpenRepo> => {
    const found = await openSyncedRepo(services, info, { syncLoop, isNew })
    opened.add(found)
    return found
  }
  const closeRepos = async (): Promise<void> => {
    await Promise.all([...opened].map(({ close }) => close()))
  }
  try {
    // A new account has nothing to fetch first.
    const { repo } = await open(await login.ensureAccountRepo(), loginMethod === 'create')
    const states = await readWalletStates(repo, report)
    const scheduler = new Scheduler(services.io.clock)
    const refresh = makeRefresh(services, login)
    const events = new EventQueue(services.io.clock, report)
    const account: Account = new Account({
      services,
      login,
      loginMethod,
      repo,
      scheduler,
      events,
      states,
      async openWallet(info, isNew) {
        services.plugins.infoOf(info.type)
        const found = await open(info, isNew)
        const syncRepo = async (): Promise<void> => void (await syncLoop.syncNow(found.repo))
        const { isPaused } = account.getSnapshot()
        try {
          return await openWallet({
            services,
            info,
            repo: found.repo,
            scheduler,
            events,
            isPaused,
            syncRepo
          })
        } catch (error) {
          // A second repo over the same files would overwrite what this one writes.
          opened.delete(found)
          await found.close()
          throw error
        }
      },
      syncRepo: async () => void (await syncLoop.syncNow(repo)),
      async closed() {
        await refresh.stop()
        await closeRepos()
        closed(account)
      }
    })
    refresh.start()
    return account
  } catch (error) {
    await closeRepos()
    login.close()
    throw error
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

/** A repo in the sync loop, and the way to end both and forget its keys. */
interface OpenRepo {
  readonly repo: Repo
  close(): Promise<void>
}

const openSyncedRepo = async (
  services: Services,
  info: SecretWalletInfo,
  { syncLoop, isNew }: { readonly syncLoop: SyncLoop; readonly isNew: boolean }
): Promise<OpenRepo> => {
  const { io, disk, hooks } = services
  const secretOf = (name: 'dataKey' | 'syncKey'): Secret<Uint8Array> =>
    new Secret(info.keys.use(keys => io.crypto.fromBase64(String(keys[name]))))
  const [syncKey, dataKey] = [secretOf('syncKey'), secretOf('dataKey')]
  const closers: (() => void | Promise<void>)[] = [() => dataKey.destroy(), () => syncKey.destroy()]
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    const repoId = syncKey.use(key => repoIdOf(io, key))
    const repo = await openRepo({
      io,
      disk,
      repoId,
      syncKey,
      dataKey,
      report: error => services.report(`repo ${repoId.slice(0, 8)}`, error),
      announce: snapshot => hooks.repoChanged.call(snapshot)
    })
    closers.push(() => repo.close())
    if (repo.state.getSnapshot().lastSync === 0) await (isNew ? repo.beginEmpty() : syncLoop.syncNow(repo))
    closers.push(syncLoop.add(repo))
    return { repo, close }
  } catch (error) {
    await close()
    throw error
  }
}
