import type { Account } from '../../kernel/index.ts'
import { CUT_USER, type CutStart, makeCutDevice, openCutPlace, openSynced } from './cut-device.ts'
import { type Fact, keysOf, PromiseBook } from './cut-facts.ts'
import type { MemoryKind } from './fault-store.ts'

/** The account that every story begins with. */
export interface CutHome {
  readonly start: CutStart
  readonly book: PromiseBook
  /** Wallet ids. */
  readonly savings: string
  readonly spare: string
}

/** What a story works with. */
export interface CutStage extends Omit<CutHome, 'start'> {
  /** Lets a second pass. */
  pause(): Promise<void>
}

/** Something that may be cut off at any write. */
export interface CutStory {
  readonly name: string
  /** Begins on a device without files. */
  readonly isNewDevice?: boolean
  /** Others do this first. */
  readonly elsewhere?: (account: Account, stage: CutStage) => Promise<void>
  run(account: Account, stage: CutStage): Promise<void>
}

const TYPE = 'wallet:sourcecoin'
const DAYS_MS = 2 * 86_400_000

const tokenOf = (currencyCode: string, displayName: string) => ({
  currencyCode,
  displayName,
  denominations: [{ name: currencyCode, multiplier: '1000' }],
  networkLocation: { contractAddress: `0x${displayName}` }
})

/** Options of {@link makeCutHome}. */
export interface CutHomeOptions {
  /** With a PIN alone: nothing but this device leads to its keys. */
  readonly isLight?: boolean
  /** What the device has its files on; a disk if it is left out. */
  readonly medium?: MemoryKind
}

/** Makes an account with two wallets, a note, a token, settings and an item, all of it safe on the server. */
export const makeCutHome = async ({
  isLight = false,
  medium = 'disk'
}: CutHomeOptions = {}): Promise<CutHome> => {
  const place = openCutPlace()
  const files = new Map<string, string>()
  const device = makeCutDevice(place, files, { medium })
  const book = new PromiseBook()
  const account = await device.signUp(isLight ? { pin: '1234' } : CUT_USER)
  const loginKey = isLight ? { loginKey: await account.getLoginKey() } : {}
  const until = async (runAction: Promise<void>): Promise<void> => void (await device.until(runAction))
  const made = await device.until(
    account.createCurrencyWallets([
      { type: TYPE, name: 'Savings' },
      { type: TYPE, name: 'Spare' }
    ])
  )
  const [savings = '', spare = ''] = (made ?? []).map(result => (result.ok ? result.wallet.id : ''))
  await until(
    (async () => {
      await book.change(['wallet', 'Savings'], await keysOf(account, savings), async () => {})
      await book.change(['wallet', 'Spare'], await keysOf(account, spare), async () => {})
      const wallet = await openSynced(account, savings)
      await book.change(['name', spare], 'Spare', async () => {})
      await book.change(['fiat', savings], 'iso:USD', async () => {})
      await book.change(['note', savings, 'in-1'], 'salary', () =>
        wallet.saveTxMetadata('in-1', { notes: 'salary' })
      )
      await changeSettings(account, book, 'first')
      await account.sync()
    })()
  )
  // The next login writes down its day.
  place.world.clock.skip(DAYS_MS)
  await device.close()
  return { start: { world: place.world.toJson(), files, medium, ...loginKey }, book, savings, spare }
}

const changeSettings = async (account: Account, book: PromiseBook, value: string): Promise<void> => {
  const config = account.currencyConfig('sourcecoin')
  await book.change(['setting'], value, () => config.changeUserSettings({ server: value }))
  await book.change(['item', 'shop', 'basket'], value, () =>
    account.dataStore.setItem('shop', 'basket', value)
  )
  await book.change(['custom token', 'old'], value, () => config.addCustomToken(tokenOf('OLD', value)))
}

/** Every story of this account. */
export const CUT_STORIES: readonly CutStory[] = [
  {
    name: 'a known device opens the account and its wallets',
    async run(account) {
      await account.openAllWallets()
    }
  },
  {
    name: 'a new device opens the account, downloads its repos and opens its wallets',
    isNewDevice: true,
    async run(account, { savings }) {
      await account.openAllWallets()
      await openSynced(account, savings)
    }
  },
  {
    name: 'a wallet is made',
    async run(account, { book }) {
      const known = new Set(account.listWallets().map(({ walletId }) => walletId))
      await book.changeTo(['wallet', 'New'], async () => {
        await account.createCurrencyWallet(TYPE, { name: 'New', fiatCurrencyCode: 'iso:EUR' })
        const added = account.listWallets().find(({ walletId }) => !known.has(walletId))
        return keysOf(account, added?.walletId ?? '')
      })
    }
  },
  {
    name: 'five wallets are made at once',
    async run(account, { book }) {
      const names = ['a', 'b', 'c', 'd', 'e']
      const made = await account.createCurrencyWallets(names.map(name => ({ type: TYPE, name })))
      for (const [index, result] of made.entries()) {
        if (!result.ok) throw result.error
        await book.change(
          ['wallet', names[index] ?? ''],
          await keysOf(account, result.wallet.id),
          async () => {}
        )
      }
    }
  },
  {
    name: 'a wallet is split, archived, and comes back by a split',
    async run(account, { book, savings }) {
      const split = (): Promise<string> => account.splitWallet(savings, 'wallet:sidecoin')
      const type: Fact = ['type', 'wallet:sidecoin']
      await book.changeTo(type, async () => keysOf(account, await split()))
      const id = account.listWallets().find(wallet => wallet.type === 'wallet:sidecoin')?.walletId ?? ''
      book.forget(type)
      await account.changeWalletStates({ [id]: { archived: true } })
      await book.changeTo(type, async () => keysOf(account, await split()))
    }
  },
  {
    name: 'tokens are added, changed, enabled and removed',
    async run(account, { book, savings }) {
      const config = account.currencyConfig('sourcecoin')
      const wallet = await account.openWallet(savings)
      await book.change(['custom token', 'abc'], 'one', () => config.addCustomToken(tokenOf('ABC', 'one')))
      await book.change(['tokens', savings], 'abc,old', () => wallet.changeEnabledTokenIds(['old', 'abc']))
      await book.change(['tokens', savings], 'abc', () => wallet.changeEnabledTokenIds(['abc']))
      await book.change(['custom token', 'old'], 'nothing', () => config.removeCustomToken('old'))
    }
  },
  {
    name: 'metadata and names are edited while an engine tells of transactions',
    async run(account, { book, savings, spare }) {
      const wallet = await openSynced(account, savings)
      const note = (txid: string, notes: string): Promise<void> =>
        book.change(['note', savings, txid], notes, () => wallet.saveTxMetadata(txid, { notes }))
      await note('in-1', 'rent')
      await note('in-2', 'gift')
      await Promise.all([note('in-1', 'rent and heating'), note('in-2', 'present')])
      await book.change(['wallet', 'Spare'], 'nothing', () =>
        book.change(['name', spare], 'Old', async () => (await account.openWallet(spare)).rename('Old'))
      )
      await book.change(['fiat', savings], 'iso:EUR', () => wallet.setFiatCurrencyCode('iso:EUR'))
    }
  },
  {
    name: 'settings, states and items are changed, and go up',
    async run(account, { book, spare }) {
      await changeSettings(account, book, 'second')
      await book.change(['shop'], 'off', () => account.swapConfig('shop').changeEnabled(false))
      await book.change(['archived', spare], 'archived', () =>
        account.changeWalletStates({ [spare]: { archived: true } })
      )
      await account.sync()
      await book.change(['item', 'shop', 'basket'], 'nothing', () =>
        account.dataStore.deleteItem('shop', 'basket')
      )
      await book.change(['item', 'shop', 'other'], 'x', () => account.dataStore.setItem('shop', 'other', 'x'))
      await account.sync()
    }
  },
  {
    name: 'two devices have edited the same files, and one of them syncs',
    async elsewhere(account, { book, savings, spare }) {
      const wallet = await openSynced(account, savings)
      const said = (...change: Parameters<PromiseBook['change']>): Promise<void> =>
        book.change(change[0], change[1], change[2], true)
      await said(['note', savings, 'in-2'], 'theirs', () =>
        wallet.saveTxMetadata('in-2', { notes: 'theirs' })
      )
      book.forget(['wallet', 'Spare'])
      await said(['name', spare], 'Theirs', async () => (await account.openWallet(spare)).rename('Theirs'))
      const config = account.currencyConfig('sourcecoin')
      await said(['custom token', 'their'], 'their', () => config.addCustomToken(tokenOf('THEIR', 'their')))
      await said(['shop'], 'off', () => account.swapConfig('shop').changeEnabled(false))
      await account.sync()
    },
    async run(account, { pause, book, savings }) {
      await account.openAllWallets()
      const wallet = await openSynced(account, savings)
      await book.change(['note', savings, 'in-1'], 'ours', () =>
        wallet.saveTxMetadata('in-1', { notes: 'ours' })
      )
      await changeSettings(account, book, 'ours')
      await account.sync()
      await pause()
      book.knowsAll()
      await book.change(['note', savings, 'in-1'], 'ours again', () =>
        wallet.saveTxMetadata('in-1', { notes: 'ours again' })
      )
      await account.sync()
    }
  }
]
