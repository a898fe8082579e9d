import { cpSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Account, CurrencyWallet } from '../../kernel/index.ts'
import { pause } from '../wait.ts'
import { noteOf } from './bench-coin.ts'
import { type OwnKernel, type OwnPlace, openOwnKernel } from './own-kernel.ts'
import { countServerFiles } from './server-files.ts'
import type { SideAccount, SideDevice, SideWallet } from './side.ts'

/** Our side, with what is beneath it. */
export interface OwnDevice extends SideDevice {
  readonly core: OwnKernel
}

/** Opens a device of ours on a real folder. */
export const openOwnDevice = async (place: OwnPlace): Promise<OwnDevice> => {
  const core = await openOwnKernel(place)
  const { user } = place
  const { context } = core.kernel
  const accountOf = async (login: Promise<Account>): Promise<SideAccount> =>
    ownAccount({ core, place }, await login)
  return {
    core,
    network: core.network,
    loginWithKey: () => accountOf(context.loginWithKey(user, user.loginKey)),
    loginWithPassword: () => accountOf(context.loginWithPassword(user.username, user.password)),
    async goOffline() {
      core.network.isOnline = false
    },
    async goOnline() {
      core.network.isOnline = true
    },
    close: () => core.close()
  }
}

interface OwnParts {
  readonly core: OwnKernel
  readonly place: OwnPlace
}

const ownAccount = (parts: OwnParts, account: Account): SideAccount => ({
  async openAllWallets() {
    const results = await account.openAllWallets()
    const usable = results.filter(({ ok }) => ok).length
    while (parts.core.coin.startedCount < usable) await pause(1)
    return usable
  },
  openFirstWallet: async () => ownWallet(parts, await account.openWallet(parts.place.user.walletIds[0] ?? ''))
})

const ownWallet = ({ core, place }: OwnParts, wallet: CurrencyWallet): SideWallet => {
  const { coin, disk, network } = core
  const discovery: SideWallet['discovery'] = (from, to) => {
    const report = coin.prepare(wallet.id, from, to)
    return () => {
      const wanted = core.pendingCount + to - from
      const durable = disk.untilDurable(() => core.pendingCount >= wanted)
      report()
      return durable
    }
  }
  return {
    page: (startIndex, startEntries) => wallet.getTransactions({ startIndex, startEntries }),
    all: () => wallet.getTransactions(),
    search: searchString => wallet.getTransactions({ searchString }),
    searchFirst: (searchString, startEntries) =>
      wallet.getTransactions({ searchString, startIndex: 0, startEntries }),
    setNote: (txid, notes) => wallet.saveTxMetadata(txid, { notes }),
    discovery,
    arrival: discovery,
    keptCount: () => keptCount(place),
    async fetchedCount() {
      network.isOnline = false
      while (coin.startedCount === 0) await pause(1)
      const { transactionCount: count } = place.user
      coin.prepare(wallet.id, 0, count)()
      while ((await wallet.getTransactions({ startIndex: count - 1, startEntries: 1 })).length === 0)
        await pause(20)
      const notes = new Set((await wallet.getTransactions()).map(({ metadata }) => metadata.notes))
      return Array.from({ length: count }, (_, i) => noteOf(i)).filter(note => notes.has(note)).length
    },
    async changeFiles(count) {
      await discovery(0, count)()
    },
    upload: () => wallet.sync(),
    async uploadedCount() {
      if (!('servers' in place.world)) throw new Error('This job needs a server in another process')
      return countServerFiles(place.world.servers.syncServers[0] ?? '', place.user.syncKey)
    }
  }
}

/** Opens a copy of the folder as it is at this moment, without a network and without anything new on the chain. */
const keptCount = async (place: OwnPlace): Promise<number> => {
  const folder = `${place.folder} copy`
  cpSync(place.folder, folder, { recursive: true, filter: path => basename(path) !== 'lock' })
  const device = await openOwnDevice({ ...place, folder, chainCount: 0 })
  try {
    await device.goOffline()
    const account = await device.loginWithKey()
    const wallet = await account.openFirstWallet()
    const listed = (await wallet.all()).length
    // A repo tells of itself with its first try to sync.
    for (let i = 0; i < 100 && device.core.pendingCount === 0; i++) await pause(20)
    return Math.min(listed, device.core.pendingCount)
  } finally {
    await device.close()
    await rm(folder, { recursive: true, force: true })
  }
}
