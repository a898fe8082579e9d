import type { FakeWorld } from '../../fake-server/fake-world.ts'
import {
  type Account,
  amountText,
  type CurrencyWallet,
  compact,
  type Io,
  type JsonObject,
  type Kernel,
  nativeAmount,
  type Transaction,
  type Txid
} from '../../kernel/index.ts'
import { confirmationCell, txDetailsJson } from '../output/transaction-texts.ts'
import { summaryLines, summaryOf } from '../spend/summary.ts'
import {
  fakeTourChain,
  makeRunStep,
  type OnTourStep,
  openTourDevice,
  type RunStep,
  type TourChain,
  untilTrue
} from './tour-setup.ts'
import { runTourSwap, type TourSwap } from './tour-swap.ts'

/** Options of {@link runTour}. */
export interface TourOptions {
  readonly world: FakeWorld
  /** The chain of the first wallet; Bitcoin's of the world if left out. Only there is a swap: exchanges are fake. */
  readonly chain?: TourChain
  readonly io: Io
  /** Each device keeps its files in a folder of its own below this one. */
  readonly folder: string
  /** The folder's name of the first device. */
  readonly firstDevice: string
  readonly username: string
  readonly password: string
  readonly signal: AbortSignal
  readonly onStep: OnTourStep
  /** The pause after each step, in milliseconds. */
  readonly pauseMs: number
}

/** The results of the tour. */
export interface TourResult extends Comparison {
  readonly txid: Txid
  readonly confirmations: Transaction['confirmations']
  readonly note: string
  readonly swap?: TourSwap
  /** What a real node says of the payment. */
  readonly testimony?: string
  /** The id of the account that was made. */
  readonly loginId: string
}

const RECEIVED = nativeAmount('5000000')
const PAID = nativeAmount('1250000')
const NOTE = 'Rent for October, paid from the tour'

/**
 * Runs the whole path: account, wallet, coins, payment, confirmation, note, sync, and a second device that logs in with
 * the password alone; then a swap into another currency.
 *
 * The kernel and its plugins are the real ones; the servers run in this process, and so does the chain, unless it is that of a node.
 */
export const runTour = async (given: TourOptions): Promise<TourResult> => {
  const { world, chain = fakeTourChain(world), onStep, pauseMs, signal } = given
  const options = { ...given, chain }
  const step = makeRunStep(onStep, pauseMs)
  const open: Kernel[] = []
  const openDevice = async (name: string): Promise<Kernel> => {
    // What opens after a stop would make its folder anew.
    signal.throwIfAborted()
    const kernel = await openTourDevice(world, { ...options, name })
    open.push(kernel)
    return kernel
  }
  try {
    const kernel = await openDevice(options.firstDevice)
    const account = await createTourAccount(step, options, kernel)
    const wallet = await createWallet(step, account, chain)
    await receive(step, options, wallet)
    const sent = await pay(step, wallet, chain)
    const tx = await confirmPayment(step, options, { wallet, txid: sent.txid })
    const testimony = await testify(step, chain, tx.txid)
    await writeNote(step, wallet, tx.txid)
    await syncAll(step, world, account)
    const comparison = await secondDevice(step, options, {
      wallet,
      kernel: await openDevice('second-device')
    })
    const swap =
      given.chain === undefined
        ? await runTourSwap({ step, world, kernel, account, wallet, signal })
        : undefined
    return {
      ...comparison,
      ...compact({ swap, testimony }),
      txid: tx.txid,
      confirmations: tx.confirmations,
      note: NOTE,
      loginId: account.id
    }
  } finally {
    for (const kernel of open.reverse()) await kernel.close()
  }
}

const createTourAccount = (
  step: RunStep,
  { username, password }: TourOptions,
  kernel: Kernel
): Promise<Account> =>
  step('account', 'Make an account with a password', async () => {
    const account = await kernel.context.createAccount({ username, password })
    return { value: account, detail: `${username}, keys made and encrypted on this device` }
  })

type OnChain = TourOptions & { readonly chain: TourChain }

const createWallet = (
  step: RunStep,
  account: Account,
  { currency, walletType }: TourChain
): Promise<CurrencyWallet> =>
  step('wallet', `Make a ${currency} wallet in it`, async () => {
    const wallet = await account.createCurrencyWallet(walletType, { name: 'Savings' })
    const { publicAddress } = await wallet.getReceiveAddress()
    return { value: wallet, detail: publicAddress }
  })

const receive = (step: RunStep, { chain, signal }: OnChain, wallet: CurrencyWallet): Promise<void> =>
  step('receive', 'Receive coins', async () => {
    await untilTrue(wallet, signal, async () => true)
    const { publicAddress } = await wallet.getReceiveAddress()
    await chain.fund(publicAddress, RECEIVED)
    await chain.mine()
    await untilTrue(wallet, signal, async () => {
      const [tx] = await wallet.getTransactions({ limit: 1 })
      return wallet.balanceOf(null) === RECEIVED && tx?.confirmations === 'confirmed'
    })
    return { value: undefined, detail: `${amountText(RECEIVED, wallet.currencyInfo)}, confirmed` }
  })

const pay = async (step: RunStep, wallet: CurrencyWallet, { payee }: TourChain): Promise<Transaction> => {
  const draft = await step('review', 'Review a payment', async () => {
    const value = await wallet.makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress: payee, nativeAmount: PAID }],
      metadata: { name: 'Landlady', category: 'expense:Rent' }
    })
    const summary = summaryOf(wallet, value)
    const total = summary.lines.find(([label]) => label === 'total')?.[1] ?? ''
    return { value, detail: `${total} in all`, lines: summaryLines(summary) }
  })
  return step('send', 'Sign and broadcast it', async () => {
    const value = await wallet.spend(draft)
    return { value, detail: value.txid }
  })
}

const confirmPayment = (
  step: RunStep,
  { chain, signal }: OnChain,
  { wallet, txid }: { readonly wallet: CurrencyWallet; readonly txid: Txid }
): Promise<Transaction> =>
  step('confirm', 'Mine a block and see it confirmed', async () => {
    await chain.mine()
    await untilTrue(
      wallet,
      signal,
      async () => (await wallet.getTransaction(txid)).confirmations === 'confirmed'
    )
    const value = await wallet.getTransaction(txid)
    return { value, detail: `${confirmationCell(value.confirmations).text} in block ${value.blockHeight}` }
  })

const testify = async (
  step: RunStep,
  { testify: testimonyOf }: TourChain,
  txid: Txid
): Promise<string | undefined> =>
  testimonyOf &&
  step('node', 'Ask the node about it', async () => {
    const value = await testimonyOf(txid)
    return { value, detail: value }
  })

const writeNote = (step: RunStep, wallet: CurrencyWallet, txid: Txid): Promise<void> =>
  step('note', 'Write a note on it', async () => {
    await wallet.saveTxMetadata(txid, { notes: NOTE })
    return { value: undefined, detail: `"${NOTE}"` }
  })

const syncAll = (step: RunStep, world: FakeWorld, account: Account): Promise<void> =>
  step('sync', 'Sync everything, encrypted', async () => {
    await account.sync()
    const { files, repos } = countServerFiles(world)
    return { value: undefined, detail: `${files} encrypted files in ${repos} repos on the server` }
  })

const secondDevice = (
  step: RunStep,
  { username, password, signal }: TourOptions,
  { wallet, kernel }: { readonly wallet: CurrencyWallet; readonly kernel: Kernel }
): Promise<Comparison> =>
  step('second-device', 'Log in on a second device with the password', async () => {
    const account = await kernel.context.loginWithPassword(username, password)
    const theirs = await account.openWallet(wallet.id)
    await untilTrue(theirs, signal, async () => true)
    await account.sync()
    await untilTrue(theirs, signal, async () => (await theirs.getTransactions()).length >= 2)
    const value = await compareDevices(wallet, theirs)
    const count = (await theirs.getTransactions()).length
    return { value, detail: `wallet "${theirs.name ?? ''}" with ${count} transactions` }
  })

/** The comparison of two devices. */
interface Comparison {
  readonly sameWallet: boolean
  readonly sameHistory: boolean
  readonly sameNote: boolean
}

/** Compares the same wallet on two devices: what it is, every transaction in order, and the notes. */
export const compareDevices = async (first: CurrencyWallet, second: CurrencyWallet): Promise<Comparison> => {
  const [ours, theirs] = [await first.getTransactions(), await second.getTransactions()]
  return {
    sameWallet: isSame(walletFacts(first), walletFacts(second)),
    sameHistory: ours.length > 0 && isSame(ours.map(historyFacts(first)), theirs.map(historyFacts(second))),
    sameNote:
      ours.some(({ metadata }) => metadata.notes !== undefined) &&
      isSame(
        ours.map(({ metadata }) => metadata),
        theirs.map(({ metadata }) => metadata)
      )
  }
}

const walletFacts = (wallet: CurrencyWallet): JsonObject => ({
  id: wallet.id,
  name: wallet.name,
  type: wallet.type,
  balance: wallet.balanceOf(null)
})

const historyFacts =
  (wallet: CurrencyWallet) =>
  (tx: Transaction): JsonObject => {
    const { date: _date, metadata: _metadata, ...facts } = txDetailsJson(tx, wallet.currencyInfo)
    return facts
  }

const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b)

/** JSON with sorted keys: the order of fields does not count. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item
  )

/** The number of files on the sync server of a world. */
export interface ServerFiles {
  readonly repos: number
  readonly files: number
}

/** Counts the files on the sync server, and checks that each of them is an encrypted box. @throws Error if one is not */
export const countServerFiles = (world: FakeWorld): ServerFiles => {
  const { db } = world.server
  let files = 0
  for (const entry of db.entries()) {
    if (entry.kind !== 'files') continue
    for (const [path, , content] of entry.files) {
      // A file that was deleted.
      if (content === null) continue
      if (!isBox(content)) throw new Error(`The server holds ${path} in plain text`)
      files += 1
    }
  }
  return { files, repos: db.counts.repos }
}

/** A box of the deployed format: AES-256-CBC, encryption type 0 (protocol §1.2). */
const isBox = (content: unknown): boolean =>
  typeof content === 'object' &&
  content !== null &&
  'encryptionType' in content &&
  'iv_hex' in content &&
  'data_base64' in content
