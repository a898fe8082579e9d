/// <reference lib="dom" />
// Runs in a browser: the devtools over a kernel of the page, and what that kernel says itself.

import type { ActionHandler } from '../../../app/actions/actions.ts'
import { amountIn } from '../../../app/format/amounts.ts'
import { makeKernelClient } from '../../../devtools/core/kernel-client.ts'
import { mountDevtools } from '../../../devtools/react/mount-devtools.tsx'
import { openStandalone } from '../../../devtools/standalone/open-standalone.ts'
import type { CurrencyWallet } from '../../../kernel/index.ts'
import { makeBrowserIo } from '../../../platform/browser/index.ts'

/** What the page offers, as `globalThis.truth`. */
export interface TruthPage {
  readonly runAction: ActionHandler
  /** What the rows of Engines are to say, by the ids of the wallets: asked of the kernel and not of the devtools. */
  engines(): Promise<Readonly<Record<string, readonly string[]>>>
  /** What the rows of Sync are to say, by the ids of the repos, and when each last met its server, in Unix seconds; 0: never. */
  repos(): Promise<Readonly<Record<string, { readonly cells: readonly string[]; readonly lastSync: number }>>>
  walletIds(): readonly string[]
  /** Renames a wallet, which another device gets to know by its repo. */
  rename(walletId: string, name: string): Promise<void>
  /** Pays an address from the faucet of Bitcoin's chain. */
  fund(publicAddress: string, nativeAmount: string): Promise<unknown>
  /** Makes an account of this device alone. */
  createLocal(username: string, password: string): Promise<string>
  /** Gives the open account a rule of payments. */
  addRule(): Promise<void>
  /** Forgets an account of this device, once it is logged out. */
  forget(username: string): Promise<void>
  /** The places that hold a text: the panel's state, its markup, the tables and events of the devtools, storage, address. */
  placesOf(text: string): readonly string[]
  /** Whether the world has a network: what is known of a chain without one is old. */
  isOnline(): boolean
}

const { kernel, world } = await openStandalone({
  io: makeBrowserIo(),
  name: 'truth',
  passwordSnrp: { cost: { n: 16, r: 1, p: 1 } }
})
const client = makeKernelClient(kernel, { world })
document.documentElement.lang = 'en'
document.body.style.margin = '0'
const place = document.body.appendChild(document.createElement('div'))
place.style.blockSize = '100vh'
mountDevtools(place, kernel, { world, ownsPage: true })

const wallets = async (): Promise<readonly CurrencyWallet[]> =>
  Promise.all(
    kernel.context.accounts.flatMap(account =>
      account.getSnapshot().walletIds.map(walletId => account.openWallet(walletId))
    )
  )

const halvesOf = (id: string): string => (id.length <= 14 ? id : `${id.slice(0, 6)}…${id.slice(-6)}`)

const threes = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f')

/** Returns true if a text can be reached from a value, without the elements of the page. */
const holds = (start: unknown, text: string): boolean => {
  const seen = new Set<unknown>()
  const waiting = [start]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value === 'string' && value.includes(text)) return true
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    if (value instanceof Node || value instanceof Window || ArrayBuffer.isView(value)) continue
    if (value instanceof Map || value instanceof Set) waiting.push(...value.entries())
    for (const key of Reflect.ownKeys(value)) waiting.push((value as never)[key])
  }
  return false
}

const truth: TruthPage = {
  runAction: (name, input) => client.runAction(name, input),
  async engines() {
    return Object.fromEntries(
      (await wallets()).map(wallet => {
        const { blockHeight, syncRatio, failure } = wallet.engine.getSnapshot()
        const { stage } = wallet.syncStatus
        const { currencyInfo } = wallet
        const per = syncRatio >= 1 ? 100 : Math.min(99, Math.floor(syncRatio * 100))
        const units = {
          currencyCode: currencyInfo.currencyCode,
          displayName: currencyInfo.displayName,
          denominations: currencyInfo.denominations
        }
        return [
          wallet.id,
          [
            wallet.name ?? wallet.type,
            currencyInfo.pluginId,
            stage,
            `${per}\u202f%`,
            // Of a chain that has just begun, 0 is a height, too.
            blockHeight === 0 && stage !== 'synced' ? '–' : threes(blockHeight),
            amountIn(wallet.balanceOf(null), units),
            failure ?? 'none'
          ]
        ]
      })
    )
  },
  async repos() {
    const nameOf = new Map((await wallets()).map(({ id, name, type }) => [id, name ?? type]))
    return Object.fromEntries(
      kernel.context.accounts.flatMap(account =>
        account.listRepos().map(repo => {
          const { repoId, ownerId, pendingCount, isSyncing, errorCode, lastHash, lastSync } = repo
          const name = nameOf.get(ownerId)
          const rest = pendingCount > 0 ? 'pending' : lastSync === 0 ? 'new' : 'synced'
          const cells = [
            name ?? account.username ?? 'Light account',
            name === undefined ? 'account' : 'wallet',
            isSyncing ? 'syncing' : (errorCode ?? rest),
            String(pendingCount),
            lastHash === undefined ? '–' : halvesOf(lastHash),
            halvesOf(repoId)
          ]
          return [repoId, { cells, lastSync }]
        })
      )
    )
  },
  async rename(walletId, name) {
    await (await wallets()).find(({ id }) => id === walletId)?.rename(name)
  },
  isOnline: () => world.state.getSnapshot()?.isOnline !== false,
  fund: (publicAddress, nativeAmount) => world.fund('bitcoin', publicAddress, nativeAmount),
  createLocal: async (username, password) =>
    (await kernel.context.createAccount({ username, password, isDeviceOnly: true })).id,
  async addRule() {
    for (const { policies } of kernel.context.accounts)
      await policies.add({ id: 'small', kind: 'per-payment', asset: 'bitcoin', max: '1000' })
  },
  async forget(username) {
    // A session ends after its mark is gone.
    for (let attempt = 0; kernel.context.localUsers.some(user => user.username === username); attempt += 1) {
      await kernel.context.forgetAccount({ username }, { losesAccount: true }).catch((error: unknown) => {
        if (attempt === 100) throw error
        return new Promise(resolve => setTimeout(resolve, 50))
      })
    }
  },
  placesOf: text => {
    const root = place.shadowRoot ?? place
    const containers = [root, ...root.querySelectorAll('*')].flatMap(element =>
      Object.keys(element)
        .filter(key => key.startsWith('__reactContainer$'))
        .map(key => (element as never)[key])
    )
    const places: Readonly<Record<string, unknown>> = {
      ...{ state: containers, markup: root.innerHTML, address: location.href },
      ...{ view: client.view.getSnapshot(), events: client.events.getSnapshot() },
      storage: [Object.entries(localStorage), Object.entries(sessionStorage)]
    }
    if (containers.length === 0) throw new Error('The state of the panel is not found')
    return Object.keys(places).filter(name => holds(places[name], text))
  },
  walletIds: () => kernel.context.accounts.flatMap(account => account.getSnapshot().walletIds)
}

Object.assign(globalThis, { truth })
