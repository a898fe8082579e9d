import type { Account } from '../../kernel/index.ts'
import { openSynced } from './cut-device.ts'
import { listedWallets } from './listed-wallets.ts'

/** Something that an account shows as text, and which one: wallets by their ids. */
export type Fact =
  /** The keys of the wallet with a name. */
  | readonly ['wallet', name: string]
  /** The keys of the active wallet of a type. */
  | readonly ['type', type: string]
  | readonly ['name' | 'fiat' | 'tokens' | 'archived', walletId: string]
  | readonly ['note', walletId: string, txid: string]
  | readonly ['custom token', tokenId: string]
  | readonly ['setting' | 'shop']
  | readonly ['item', storeId: string, itemId: string]

/** What is right to read of a fact. */
export interface Expected {
  readonly fact: Fact
  /** More than one while nobody has said that the change is safe. */
  readonly values: readonly string[]
  /** Said on another device; here only after a sync. */
  readonly isElsewhere: boolean
}

/** What an account has promised: what each change was answered with is true from then on. */
export class PromiseBook {
  readonly #expected = new Map<string, Expected>()
  /** Nobody hears what a device without power answers. */
  hasPower: () => boolean = () => true
  /** How many values were looked at. */
  lookCount = 0

  /** Hears of each promise, for who must not forget it with this process. */
  onPromise: (expected: Expected) => void = () => {}

  /** All promises. */
  get promises(): readonly Expected[] {
    return [...this.#expected.values()]
  }

  /** A book with the same promises. */
  copy(): PromiseBook {
    const book = new PromiseBook()
    for (const [name, expected] of this.#expected) book.#expected.set(name, expected)
    return book
  }

  /** Notes what is right from now on; without values, anything is. */
  expect(expected: Expected): void {
    if (expected.values.length === 0) this.#expected.delete(expected.fact.join())
    else this.#expected.set(expected.fact.join(), expected)
    this.onPromise(expected)
  }

  /** Makes a change; until it is answered, the old and the new value are right. */
  async change(
    fact: Fact,
    value: string,
    runAction: () => Promise<unknown>,
    isElsewhere = false
  ): Promise<void> {
    if (!this.hasPower()) return
    const { values } = this.#expected.get(fact.join()) ?? { values: [NOTHING] }
    const expected: Expected = { fact, values: [...values, value], isElsewhere }
    this.expect(expected)
    await runAction()
    if (!isElsewhere && this.hasPower()) this.expect({ ...expected, values: [value] })
  }

  /** {@link change} to a value that only the answer tells; until then, anything is right. */
  async changeTo(fact: Fact, runAction: () => Promise<string>): Promise<void> {
    if (!this.hasPower()) return
    this.forget(fact)
    const value = await runAction()
    if (!this.hasPower()) return
    this.expect({ fact, values: [value], isElsewhere: false })
  }

  /** From now on nothing is said of it. */
  forget(fact: Fact): void {
    if (this.hasPower()) this.expect({ fact, values: [], isElsewhere: false })
  }

  /** After a sync, what was said elsewhere is true here. */
  knowsAll(): void {
    if (!this.hasPower()) return
    for (const expected of this.#expected.values()) {
      if (expected.isElsewhere) this.expect({ ...expected, values: expected.values.slice(-1) })
    }
  }

  /** The promises that an account does not keep. */
  async broken(account: Account): Promise<string[]> {
    const broken: string[] = []
    for (const { fact, values } of this.#expected.values()) {
      this.lookCount += 1
      const value = await readFact(account, fact).catch((error: unknown) => `failed: ${error}`)
      if (!values.includes(value)) broken.push(`${fact.join(' ')} is ${value}, not ${values.join(' or ')}`)
    }
    return broken
  }
}

/** The value of what is not there. */
const NOTHING = 'nothing'

/** Private keys, as a test may see them. */
export const keysOf = async (account: Account, walletId: string): Promise<string> =>
  JSON.stringify(await account.walletKeys.getRawPrivateKey(walletId))

const readFact = async (account: Account, [kind, first = '', second = '']: Fact): Promise<string> =>
  (await READERS[kind](account, first, second)) ?? NOTHING

type Reader = (account: Account, first: string, second: string) => Promise<string | undefined | null>

const READERS: Readonly<Record<Fact[0], Reader>> = {
  async wallet(account, name) {
    for (const { walletId, deleted } of listedWallets(account)) {
      if (deleted) continue
      if ((await account.openWallet(walletId)).name === name) return keysOf(account, walletId)
    }
    return undefined
  },
  async type(account, type) {
    const { activeWalletIds } = account.getSnapshot()
    const isShown = (id: string): boolean => activeWalletIds.includes(id)
    const found = account.listWallets().find(wallet => wallet.type === type && isShown(wallet.walletId))
    return found === undefined ? undefined : keysOf(account, found.walletId)
  },
  name: async (account, walletId) => (await account.openWallet(walletId)).name,
  fiat: async (account, walletId) => (await account.openWallet(walletId)).getSnapshot().fiatCurrencyCode,
  tokens: async (account, walletId) =>
    (await account.openWallet(walletId)).getSnapshot().enabledTokenIds.join() || undefined,
  async archived(account, walletId) {
    const listing = account.listWallets().find(wallet => wallet.walletId === walletId)
    return listing?.archived === true ? 'archived' : undefined
  },
  async note(account, walletId, txid) {
    const wallet = await openSynced(account, walletId)
    return (await wallet.getTransaction(txid)).metadata.notes
  },
  'custom token': async (account, tokenId) =>
    account.currencyConfig('sourcecoin').getSnapshot().customTokens[tokenId]?.displayName,
  setting: async account => {
    const { server } = account.currencyConfig('sourcecoin').getSnapshot().userSettings
    return typeof server === 'string' ? server : undefined
  },
  shop: async account => (account.swapConfig('shop').getSnapshot().isEnabled ? undefined : 'off'),
  async item({ dataStore }, storeId, itemId) {
    const hasStore = (await dataStore.listStoreIds()).includes(storeId)
    const hasItem = hasStore && (await dataStore.listItemIds(storeId)).includes(itemId)
    return hasItem ? dataStore.getItem(storeId, itemId) : undefined
  }
}
