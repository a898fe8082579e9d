import type { Section } from './section.ts'

/** A section of the benchmark by its name; its code is loaded when it runs. */
export interface NamedSection {
  readonly name: string
  readonly title: string
  readonly needsPeer: boolean
  load(): Promise<Section>
}

/** All sections, in the order in which they begin. */
export const sections: readonly NamedSection[] = [
  {
    name: 'idle-agent',
    title: 'An agent that does nothing',
    needsPeer: false,
    load: async () => (await import('./sections/agent.ts')).idleAgent
  },
  {
    name: 'password-login',
    title: 'Password login against bare scrypt',
    needsPeer: false,
    load: async () => (await import('./sections/password-login.ts')).passwordLogin
  },
  {
    name: 'quick-login',
    title: 'PIN login and key login',
    needsPeer: false,
    load: async () => (await import('./sections/quick-login.ts')).quickLogin
  },
  {
    name: 'item',
    title: 'One stored item, sealed and opened',
    needsPeer: true,
    load: async () => (await import('./sections/item.ts')).item
  },
  {
    name: 'spend',
    title: 'A spend of 1 to 1,000 inputs, and a choice among 10,000 coins',
    needsPeer: false,
    load: async () => (await import('./sections/spend.ts')).spend
  },
  {
    name: 'scan',
    title: 'Wallets with 200 and 1,000 used addresses, over Electrum on loopback TCP',
    needsPeer: false,
    load: async () => (await import('./sections/scan.ts')).scan
  },
  {
    name: 'many-wallets',
    title: 'Many wallets of a coin on one connection',
    needsPeer: false,
    load: async () => (await import('./sections/many-wallets.ts')).manyWallets
  },
  {
    name: 'child-keys',
    title: 'Public child keys',
    needsPeer: false,
    load: async () => (await import('./sections/child-keys.ts')).childKeySpeed
  },
  {
    name: 'store',
    title: '10,000 files on the file storage',
    needsPeer: false,
    load: async () => (await import('./sections/store.ts')).store
  },
  {
    name: 'startup',
    title: 'Accounts of 25 to 500 wallets',
    needsPeer: true,
    load: async () => (await import('./sections/startup.ts')).startup
  },
  {
    name: 'idle',
    title: 'Accounts that do nothing',
    needsPeer: true,
    load: async () => (await import('./sections/idle.ts')).idle
  },
  {
    name: 'agent',
    title: 'A command in the agent',
    needsPeer: false,
    load: async () => (await import('./sections/agent.ts')).agent
  },
  {
    name: 'discover',
    title: 'New transactions, until they are durable',
    needsPeer: true,
    load: async () => (await import('./sections/discover.ts')).discover
  },
  {
    name: 'first-view',
    title: 'The first view of a history',
    needsPeer: true,
    load: async () => (await import('./sections/first-view.ts')).firstView
  },
  {
    name: 'list',
    title: 'Pages and lists of a history',
    needsPeer: true,
    load: async () => (await import('./sections/list.ts')).list
  },
  {
    name: 'search',
    title: 'Searches of a history',
    needsPeer: true,
    load: async () => (await import('./sections/search.ts')).search
  },
  {
    name: 'change',
    title: 'Small changes of a large history',
    needsPeer: true,
    load: async () => (await import('./sections/change.ts')).change
  },
  {
    name: 'new-device',
    title: 'A new device and a large repo',
    needsPeer: true,
    load: async () => (await import('./sections/new-device.ts')).newDevice
  },
  {
    name: 'upload',
    title: 'Uploading many changed files',
    needsPeer: true,
    load: async () => (await import('./sections/upload.ts')).upload
  },
  {
    name: 'swaps',
    title: 'Quotes of 50 swap providers',
    needsPeer: true,
    load: async () => (await import('./sections/swaps.ts')).swaps
  },
  {
    name: 'rates',
    title: 'Exchange rates',
    needsPeer: true,
    load: async () => (await import('./sections/rates.ts')).rates
  },
  {
    name: 'cells',
    title: 'Plugins in cells',
    needsPeer: false,
    load: async () => (await import('./sections/cells.ts')).cells
  },
  {
    name: 'dev-loop',
    title: 'A change of a plugin in plugins dev',
    needsPeer: false,
    load: async () => (await import('./sections/dev-loop.ts')).devLoop
  },
  {
    name: 'load',
    title: 'Loading the library',
    needsPeer: true,
    load: async () => (await import('./sections/load.ts')).load
  }
]
