import type { Account, CurrencyWallet } from '../../kernel/index.ts'
import { openSynced } from './cut-device.ts'

/** Something that an account shows, as text. */
export interface Fact {
  readonly name: string
  read(account: Account): Promise<string>
}

interface Expected {
  readonly fact: Fact
  /** More than one while nobody has said that the change is safe. */
  values: readonly string[]
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

  /** A book with the same promises. */
  copy(): PromiseBook {
    const book = new PromiseBook()
    for (const [name, expected] of this.#expected) book.#expected.set(name, { ...expected })
    return book
  }

  /** Makes a change; until it is answered, the old and the new value are right. */
  async change(fact: Fact, value: string, act: () => Promise<unknown>, isElsewhere = false): Promise<void> {
    if (!this.hasPower()) return
    const { values } = this.#expected.get(fact.name) ?? { values: [NOTHING] }
    const expected: Expected = { fact, values: [...values, value], isElsewhere }
    this.#expected.set(fact.name, expected)
    await act()
    if (!isElsewhere && this.hasPower()) expected.values = [value]
  }

  /** {@link change} to a value that only the answer tells; until then, anything is right. */
  async changeTo(fact: Fact, act: () => Promise<string>): Promise<void> {
    if (!this.hasPower()) return
    this.forget(fact)
    const value = await act()
    if (!this.hasPower()) return
    this.#expected.set(fact.name, { fact, values: [value], isElsewhere: false })
  }

  /** From now on nothing is said of it. */
  forget(fact: Fact): void {
    if (this.hasPower()) this.#expected.delete(fact.name)
  }

  /** After a sync, what was said elsewhere is true here. */
  heardOfAll(): void {
    if (!this.hasPower()) return
    for (const expected of this.#expected.values()) {
      if (expected.isElsewhere) expected.values = expected.values.slice(-1)
    }
  }

  /** The promises that an account does not keep. */
  async broken(account: Account): Promise<string[]> {
    const broken: string[] = []
    for (const { fact, values } of this.#expected.values()) {
      this.lookCount += 1
      const value = await fact.read(account).catch((error: unknown) => `failed: ${error}`)
      if (!values.includes(value)) broken.push(`${fact.name} is ${value}, not ${values.join(' or ')}`)
    }
    return broken
  }
}

/** The value of what is not there. */
const NOTHING = 'nothing'

const walletNamed = async (account: Account, name: string): Promise<CurrencyWallet | undefined> => {
  for (const { walletId, deleted } of account.listWallets()) {
    if (deleted) continue
    const wallet = await account.openWallet(walletId)
    if (wallet.name === name) return wallet
  }
  return undefined
}

/** The keys of the wallet with a name. */
export const walletFact = (name: string): Fact => ({
  name: `wallet ${name}`,
  async read(account) {
    const wallet = await walletNamed(account, name)
    return wallet === undefined ? NOTHING : keysOf(account, wallet.id)
  }
})

/** Private keys, as a test may see them. */
export const keysOf = (account: Account, walletId: string): string =>
  JSON.stringify(account.walletKeys.getRawPrivateKey(walletId))

/** Whether a type of wallets is among the active ones, and with which keys. */
export const typeFact = (type: string): Fact => ({
  name: `type ${type}`,
  async read(account) {
    const { activeWalletIds } = account.getSnapshot()
    const found = account
      .listWallets()
      .find(wallet => wallet.type === type && activeWalletIds.includes(wallet.walletId))
    return found === undefined ? NOTHING : keysOf(account, found.walletId)
  }
})

export const nameFact = (walletId: string): Fact => ({
  name: `name of ${walletId}`,
  read: async account => (await account.openWallet(walletId)).name ?? NOTHING
})

export const fiatFact = (walletId: string): Fact => ({
  name: `fiat of ${walletId}`,
  read: async account => (await account.openWallet(walletId)).getSnapshot().fiatCurrencyCode
})

export const noteFact = (walletId: string, txid: string): Fact => ({
  name: `note of ${txid} in ${walletId}`,
  async read(account) {
    const wallet = await openSynced(account, walletId)
    return (await wallet.getTransaction(txid)).metadata.notes ?? NOTHING
  }
})

export const tokensFact = (walletId: string): Fact => ({
  name: `tokens of ${walletId}`,
  read: async account => (await account.openWallet(walletId)).getSnapshot().enabledTokenIds.join() || NOTHING
})

export const customTokenFact = (tokenId: string): Fact => ({
  name: `custom token ${tokenId}`,
  read: async account =>
    account.currencyConfig('sourcecoin').getSnapshot().customTokens[tokenId]?.displayName ?? NOTHING
})

export const settingFact: Fact = {
  name: 'settings of sourcecoin',
  read: async account =>
    String(account.currencyConfig('sourcecoin').getSnapshot().userSettings.server ?? NOTHING)
}

export const swapFact: Fact = {
  name: 'shop',
  read: async account => (account.swapConfig('shop').getSnapshot().isEnabled ? NOTHING : 'off')
}

export const itemFact = (storeId: string, itemId: string): Fact => ({
  name: `item ${storeId} ${itemId}`,
  async read(account) {
    const hasStore = (await account.dataStore.listStoreIds()).includes(storeId)
    if (!hasStore || !(await account.dataStore.listItemIds(storeId)).includes(itemId)) return NOTHING
    return account.dataStore.getItem(storeId, itemId)
  }
})

export const archivedFact = (walletId: string): Fact => ({
  name: `${walletId} archived`,
  read: async account =>
    account.listWallets().find(wallet => wallet.walletId === walletId)?.archived === true
      ? 'archived'
      : NOTHING
})
