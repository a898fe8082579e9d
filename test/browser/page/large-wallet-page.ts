/// <reference lib="dom" />
// Runs in a browser: a wallet of very many transactions, kept in IndexedDB, whose account is on this device alone.
import { type CurrencyWallet, createKernel, type Kernel } from '../../../kernel/index.ts'
import { makeBrowserIo } from '../../../platform/browser/index.ts'
import { browserStorage } from '../../../plugins/storage/browser/browser-storage.ts'
import { makeToy, toyTransaction } from '../../helpers/toy-currency.ts'

/** What the page offers, as `globalThis.large`. */
export interface LargeWalletPage {
  /** Opens the account and its wallet; makes them if they are not there. */
  open(): Promise<void>
  /** Makes the engine report transactions from `first` on, and waits until the history lists `total`. Gives the milliseconds. */
  arrive(first: number, count: number, total: number): Promise<number>
  /** Makes the engine report, and waits for nothing. */
  begin(first: number, count: number): void
  /** The txids at some places, newest first, and the milliseconds. */
  page(startIndex: number, limit: number): Promise<{ readonly txids: readonly string[]; readonly ms: number }>
  note(txid: string, notes: string): Promise<void>
  search(text: string): Promise<{ readonly txids: readonly string[]; readonly ms: number }>
  /** How many transactions the history lists. */
  count(): Promise<number>
  /** What was damaged or failed. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

const USER = { username: 'tess', password: 'Correct horse 1' }
const toy = makeToy()
const faults: string[] = []
let kernel: Kernel | undefined
let wallet: CurrencyWallet | undefined

const opened = (): CurrencyWallet => {
  if (wallet === undefined) throw new Error('It is not open')
  return wallet
}

const txidOf = (number: number): string => `${number}`.padStart(64, 'a')

const begin = (first: number, count: number): void => {
  const transactions = Array.from({ length: count }, (_, i) =>
    toyTransaction(txidOf(first + i), { date: 1_600_000_000 + (first + i) * 600, blockHeight: 1 })
  )
  toy.requests.at(-1)?.callbacks.onTransactionsChanged(transactions)
}

const count = async (): Promise<number> => {
  let found = 0
  for await (const batch of opened().streamTransactions()) found += batch.length
  return found
}

const timed = async <T>(run: () => Promise<T>): Promise<[result: T, ms: number]> => {
  const began = performance.now()
  const result = await run()
  return [result, performance.now() - began]
}

const large: LargeWalletPage = {
  faults,
  async open() {
    kernel = await createKernel({
      authServer: null,
      infoServers: [],
      syncServers: [],
      io: makeBrowserIo({ proxies: [] }),
      passwordSnrp: { cost: { n: 16, r: 1, p: 1 } },
      plugins: [browserStorage({ name: 'large' }), toy.plugin],
      onError: (source, error) => void faults.push(`${source}: ${String(error)}`)
    })
    const { context } = kernel
    const isKnown = context.localUsers.some(({ username }) => username === USER.username)
    const account = isKnown
      ? await context.loginWithPassword(USER.username, USER.password)
      : await context.createAccount(USER)
    const id = account.listWallets().find(({ isWallet }) => isWallet)?.walletId
    wallet =
      id === undefined ? await account.createCurrencyWallet('wallet:toycoin') : await account.openWallet(id)
    while (wallet.engine.getSnapshot().state !== 'started')
      await new Promise(resolve => setTimeout(resolve, 10))
  },
  begin,
  async arrive(first, amount, total) {
    const [, ms] = await timed(async () => {
      begin(first, amount)
      while ((await opened().getTransactions({ startIndex: total - 1, limit: 1 })).length === 0)
        await new Promise(resolve => setTimeout(resolve, 5))
    })
    return ms
  },
  async page(startIndex, limit) {
    const [found, ms] = await timed(() => opened().getTransactions({ startIndex, limit }))
    return { txids: found.map(({ txid }) => txid), ms }
  },
  async note(txid, notes) {
    await opened().saveTxMetadata(txid, { notes })
  },
  async search(searchString) {
    const [found, ms] = await timed(() => opened().getTransactions({ searchString }))
    return { txids: found.map(({ txid }) => txid), ms }
  },
  count,
  async close() {
    await kernel?.close()
  }
}

Object.assign(globalThis, { large })
