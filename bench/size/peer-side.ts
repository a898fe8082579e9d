import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { momentNow } from '../measure.ts'
import { pause } from '../wait.ts'
import { coinTransaction } from './bench-coin.ts'
import type { FixtureUser } from './fixture.ts'
import { makePeerCoin, type PeerCoin } from './peer-coin.ts'
import { countServerFiles } from './server-files.ts'
import type { SideAccount, SideDevice, SideTransaction, SideWallet } from './side.ts'

/** Where the peer's device lives: in its own fake world in memory, unless it is given a server. */
export interface PeerPlace {
  readonly peerFolder: string
  readonly user: FixtureUser
  /** The file of the user in the wire format. */
  readonly dump: string
  /** The device has never seen the user. */
  readonly isNew: boolean
  /** How many transactions the chain has of the first wallet. */
  readonly chainCount: number
  /** A fake server of ours in another process, and an empty folder for the device. */
  readonly apart?: { readonly server: string; readonly folder: string }
}

/** Opens a device of the peer as its users do. */
export const openPeerDevice = async (place: PeerPlace): Promise<SideDevice> => {
  const load = createRequire(join(place.peerFolder, 'package.json'))
  const core = load('edge-core-js') as PeerCore
  const { username, password, loginKey, walletIds } = place.user
  const coin = makePeerCoin({ walletId: walletIds[0] ?? '', count: place.chainCount })
  core.addEdgeCorePlugins({ bench: coin.plugin })
  core.lockEdgeCorePlugins()
  const { context, world } = await (place.apart === undefined
    ? openInside(core, place)
    : openApart(core, place.apart))
  const accountOf = async (login: Promise<PeerAccount>): Promise<SideAccount> =>
    peerAccount({ coin, place }, await login)
  return {
    loginWithKey: () => accountOf(context.loginWithKey(username, loginKey)),
    loginWithPassword: () => accountOf(context.loginWithPassword(username, password)),
    goOffline: async () => world?.goOffline(true),
    goOnline: async () => world?.goOffline(false),
    close: async () => world?.close()
  }
}

interface PeerOpened {
  readonly context: PeerContext
  readonly world?: PeerWorld
}

const OPTIONS = { apiKey: 'bench', appId: '', plugins: { bench: true } }
const onLog = (): void => {}

const openInside = async (core: PeerCore, { dump, isNew }: PeerPlace): Promise<PeerOpened> => {
  const user = JSON.parse(await readFile(dump, 'utf8')) as { lastLogin?: string }
  const dated = { ...user, lastLogin: new Date(user.lastLogin ?? 0) }
  const world = await core.makeFakeEdgeWorld([dated], { onLog })
  return { world, context: await world.makeEdgeContext({ ...OPTIONS, cleanDevice: isNew }) }
}

const openApart = async (
  core: PeerCore,
  { server, folder }: NonNullable<PeerPlace['apart']>
): Promise<PeerOpened> => {
  const servers = { authServer: `${server}/api`, infoServer: [server], syncServer: [server] }
  return { context: await core.makeEdgeContext({ ...OPTIONS, ...servers, path: folder, onLog }) }
}

interface PeerCore {
  addEdgeCorePlugins(plugins: Record<string, unknown>): void
  lockEdgeCorePlugins(): void
  makeEdgeContext(options: object): Promise<PeerContext>
  makeFakeEdgeWorld(users: readonly unknown[], options: object): Promise<PeerWorld>
}

interface PeerWorld {
  makeEdgeContext(options: object): Promise<PeerContext>
  goOffline(isOffline: boolean): Promise<void>
  close(): Promise<void>
}

interface PeerContext {
  loginWithKey(username: string, loginKey: string): Promise<PeerAccount>
  loginWithPassword(username: string, password: string): Promise<PeerAccount>
}

interface PeerAccount {
  readonly activeWalletIds: readonly string[]
  waitForAllWallets(): Promise<void>
  waitForCurrencyWallet(walletId: string): Promise<PeerWallet>
}

interface PeerWallet {
  readonly id: string
  readonly disklet: {
    list(folder: string): Promise<Record<string, string>>
    setText(path: string, text: string): Promise<void>
  }
  getTransactions(query: object): Promise<readonly SideTransaction[]>
  saveTxMetadata(txid: string, currencyCode: string, metadata: object): Promise<void>
  sync(): Promise<void>
}

interface PeerParts {
  readonly coin: PeerCoin
  readonly place: PeerPlace
}

const peerAccount = (parts: PeerParts, account: PeerAccount): SideAccount => ({
  async openAllWallets() {
    await account.waitForAllWallets()
    while (parts.coin.startedCount < account.activeWalletIds.length) await pause(1)
    return account.activeWalletIds.length
  },
  async openFirstWallet() {
    const wallet = await account.waitForCurrencyWallet(parts.place.user.walletIds[0] ?? '')
    return peerWallet(parts, wallet)
  }
})

const LOOK_MS = 20
/** The peer uploads so many files in one sync. */
const BATCH = 100

const peerWallet = ({ coin, place }: PeerParts, wallet: PeerWallet): SideWallet => {
  const fileCount = async (): Promise<number> => Object.keys(await wallet.disklet.list('transaction')).length
  let changedCount = 0
  return {
    page: (startIndex, startEntries) => wallet.getTransactions({ startIndex, startEntries }),
    all: () => wallet.getTransactions({}),
    search: searchString => wallet.getTransactions({ searchString }),
    searchFirst: (searchString, startEntries) =>
      wallet.getTransactions({ searchString, startIndex: 0, startEntries }),
    setNote: (txid, notes) => wallet.saveTxMetadata(txid, 'BENCH', { notes }),
    discovery(from, to) {
      const report = coin.prepare(wallet.id, from, to)
      return async () => {
        report()
        while ((await fileCount()) < to) await pause(LOOK_MS)
        return momentNow()
      }
    },
    arrival(from, to) {
      const report = coin.prepare(wallet.id, from, to)
      return async () => {
        report()
        await pause(0)
        return momentNow()
      }
    },
    keptCount: fileCount,
    fetchedCount: fileCount,
    async changeFiles(count) {
      changedCount = count
      const numbers = Array.from({ length: count }, (_, i) => i)
      await Promise.all(
        numbers.map(i => {
          const { txid, date } = coinTransaction(i)
          return wallet.disklet.setText(`transaction/${date}-${txid}.json`, JSON.stringify({ txid, date, i }))
        })
      )
    },
    async upload() {
      for (let sent = 0; sent < changedCount; sent += BATCH) await wallet.sync()
    },
    async uploadedCount() {
      if (place.apart === undefined) throw new Error('Its own fake world takes only one upload of a repo')
      return countServerFiles(place.apart.server, place.user.syncKey)
    }
  }
}
