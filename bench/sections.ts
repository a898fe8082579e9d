import type { Section } from './section.ts'

/** A section of the benchmark by its name; its code is loaded when it runs. */
export interface NamedSection {
  readonly name: string
  readonly title: string
  readonly needsPeer: boolean
  load(): Promise<Section>
}

/** All sections, in the order in which they run. */
export const sections: readonly NamedSection[] = [
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
    title: 'A spend of 1, 10 and 100 inputs',
    needsPeer: false,
    load: async () => (await import('./sections/spend.ts')).spend
  },
  {
    name: 'scan',
    title: 'A wallet with 200 used addresses, over Electrum on loopback TCP',
    needsPeer: false,
    load: async () => (await import('./sections/scan.ts')).scan
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
    name: 'load',
    title: 'Loading the library',
    needsPeer: true,
    load: async () => (await import('./sections/load.ts')).load
  }
]
