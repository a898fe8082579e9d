import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type Account,
  type CurrencyEngine,
  type CurrencyWallet,
  type EngineTransaction,
  type Kernel,
  nativeAmount,
  type SpendInfo,
  type StoragePlugin,
  type Transaction,
  WalletError
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { drawSeed, makeSeededRandom, runCount, type SeededRandom } from '../helpers/drawn-runs.ts'
import { makeToy, type Toy, toyTransaction } from '../helpers/toy-currency.ts'

const mutex = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await new Promise<void>(resolve => setImmediate(resolve))
}

/** What a run has seen, and whether its disk and network fail and take their time. */
class PaymentRecord {
  isWild = true
  /** Every payment whose bytes exist, by txid. */
  readonly made = new Set<string>()
  readonly signed: Transaction[] = []
  readonly forgotten = new Set<string>()
  /** Forgotten while another call was at work on it, or asked for since: either outcome is right. */
  readonly undecided = new Set<string>()
  readonly faults: string[] = []
  reserved: readonly EngineTransaction[] = []
  readonly #atWork = new Map<string, number>()
  readonly #requested = new Map<string, number>()
  readonly #seededRandom: SeededRandom

  constructor(seededRandom: SeededRandom) {
    this.#seededRandom = seededRandom
  }

  pause(most: number): Promise<void> {
    return this.isWild ? mutex(this.#seededRandom.below(most)) : Promise.resolve()
  }

  isUnlucky(oneIn: number): boolean {
    return this.isWild && this.#seededRandom.oneIn(oneIn)
  }

  add(tx: Transaction): void {
    this.made.add(tx.txid)
    this.signed.push(tx)
  }

  sent(txid: string): void {
    this.made.add(txid)
    if (this.forgotten.has(txid) && !this.undecided.has(txid) && !this.#isAtWork(txid))
      this.faults.push(`${txid} was sent after it was forgotten`)
  }

  /** A call that sends or records a payment. */
  async query({ txid }: Transaction, call: () => Promise<unknown>): Promise<void> {
    if (this.forgotten.delete(txid)) this.undecided.add(txid)
    this.#requested.set(txid, (this.#requested.get(txid) ?? 0) + 1)
    this.#atWork.set(txid, (this.#atWork.get(txid) ?? 0) + 1)
    try {
      await call()
    } finally {
      this.#atWork.set(txid, (this.#atWork.get(txid) ?? 0) - 1)
      if (this.forgotten.has(txid)) this.undecided.add(txid)
    }
  }

  async forget({ txid }: Transaction, call: () => Promise<void>): Promise<void> {
    const [isAtWork, requested] = [this.#isAtWork(txid), this.#requested.get(txid)]
    await call()
    if (isAtWork || this.#requested.get(txid) !== requested) this.undecided.add(txid)
    this.forgotten.add(txid)
  }

  check(when: string, txids: readonly string[]): void {
    for (const txid of this.made) {
      if (this.undecided.has(txid) || this.forgotten.has(txid) !== txids.includes(txid)) continue
      this.faults.push(`${when}: ${txid} is ${this.forgotten.has(txid) ? 'back' : 'lost'}`)
    }
  }

  #isAtWork(txid: string): boolean {
    return (this.#atWork.get(txid) ?? 0) > 0
  }
}

/** A disk that is slow and now and then full. */
const makeStorage = (record: PaymentRecord): StoragePlugin => {
  const disk = memoryDisk()
  return {
    kind: 'storage',
    id: 'wild',
    apply: ({ hooks }) =>
      hooks.openDisk.tapPromise('wild', async () => ({
        ...disk,
        async setText(path, text) {
          await record.pause(12)
          if (record.isUnlucky(5)) throw new WalletError('STORAGE_FULL', { path })
          await disk.setText(path, text)
        }
      }))
  }
}

const COINS = Array.from({ length: 12 }, (_, n) => `coin ${n}`)

/** A currency of twelve coins whose network refuses, answers nothing, and shows payments only sometimes. */
const makeCurrency = (record: PaymentRecord): Toy => {
  const accepted = new Set<string>()
  let count = 0
  const coinsOf = ({ spentCoins = [] }: EngineTransaction): readonly string[] => spentCoins
  const engine: Partial<CurrencyEngine> = {
    async makeSpend({ replaces }) {
      const replaced = record.reserved.find(({ txid }) => txid === replaces)
      const used = new Set(record.reserved.flatMap(coinsOf))
      const spentCoins = replaced?.spentCoins ?? COINS.filter(coin => !used.has(coin)).slice(0, 1)
      if (spentCoins.length === 0) throw new Error('There are no coins left')
      await record.pause(8)
      return toyTransaction('', { nativeAmount: nativeAmount('-5'), spentCoins })
    },
    async signTx(tx) {
      await record.pause(8)
      count += 1
      return { ...tx, txid: `txid ${count}`, signedTx: `bytes ${count}` }
    },
    async broadcastTx(tx) {
      record.sent(tx.txid)
      await record.pause(8)
      if (record.isUnlucky(4)) throw new WalletError('BROADCAST_REFUSED', { reason: 'no' } as never)
      if (record.isUnlucky(3)) throw new Error('The network is down')
      accepted.add(tx.txid)
      return tx
    },
    async saveTx() {
      await record.pause(8)
      if (record.isUnlucky(6)) throw new Error('The engine cannot save it')
    },
    async reservePayments(payments) {
      record.reserved = payments
    },
    async findPayment({ txid }) {
      await record.pause(8)
      if (record.isUnlucky(3)) return { state: 'notSeen' }
      return { state: accepted.has(txid) && !record.isUnlucky(3) ? 'seen' : 'notInMempool' }
    }
  }
  return makeToy({ engine: () => engine })
}

const request = (replaces?: string): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }],
  ...(replaces === undefined ? {} : { replaces })
})

/** One call that an application can make, drawn. */
const call = async (
  wallet: CurrencyWallet,
  record: PaymentRecord,
  seededRandom: SeededRandom
): Promise<void> => {
  const { openPayments } = wallet.getSnapshot()
  const known = record.signed.length === 0 ? undefined : seededRandom.pick(record.signed)
  const spend = async (replaces?: string): Promise<void> =>
    record.add(await wallet.spend(await wallet.makeSpend(request(replaces))))
  const calls: readonly (() => Promise<unknown>)[] = [
    () => spend(),
    async () => record.add(await wallet.signTx(await wallet.makeSpend(request()))),
    () => wallet.lookAtOpenPayments(),
    async () => wallet.unfinishedSpends(),
    ...(openPayments.length === 0 ? [] : [() => spend(seededRandom.pick(openPayments).txid)]),
    ...(known === undefined
      ? []
      : [
          () => record.query(known, () => wallet.broadcastTx(known)),
          () => record.query(known, () => wallet.resendTx(known.txid)),
          () => record.query(known, () => wallet.saveTx(known)),
          () => record.forget(known, () => wallet.discardTx(known.txid)),
          () => record.forget(known, () => wallet.forgetTx(known.txid))
        ])
  ]
  await seededRandom.pick(calls)()
}

const CALLS = 60

/** Makes calls, some at once, on a wallet whose disk and network fail; then looks on sound ones, and after a new login. */
const run = async (seededRandom: SeededRandom): Promise<readonly string[]> => {
  const record = new PaymentRecord(seededRandom)
  record.isWild = false
  const kernel: Kernel = await openDevice(makeFakeWorld({ io: makeNodeIo() }), {
    plugins: [makeCurrency(record).plugin],
    storage: makeStorage(record),
    onError: () => {}
  })
  try {
    const account = await kernel.context.createAccount({ username: 'alice', password: 'password' })
    const wallet = await account.createCurrencyWallet('wallet:toycoin')
    await waitFor(() => wallet.balanceOf(null) === '1000')
    record.isWild = true
    const running: Promise<void>[] = []
    for (let n = 0; n < CALLS; n += 1) {
      running.push(call(wallet, record, seededRandom).catch(() => {}))
      await mutex(seededRandom.below(14))
      if (seededRandom.oneIn(4)) await seededRandom.pick(running)
    }
    await Promise.all(running)
    record.isWild = false
    await look(account, record, 'afterwards')
    await account.logout()
    await look(await kernel.context.loginWithPassword('alice', 'password'), record, 'after a new login')
  } finally {
    await kernel.close()
  }
  return record.faults
}

const look = async (account: Account, record: PaymentRecord, when: string): Promise<void> => {
  const [walletId = ''] = account.getSnapshot().activeWalletIds
  const wallet = await account.openWallet(walletId)
  await waitFor(() => wallet.balanceOf(null) === '1000')
  await wallet.lookAtOpenPayments()
  record.check(
    when,
    (await wallet.lookAtOpenPayments()).map(({ txid }) => txid)
  )
  await wallet.getMaxSpendable(request())
  record.check(
    `${when}, reserved`,
    record.reserved.map(({ txid }) => txid)
  )
}

test('whatever is called while disk and network fail, no payment is lost, and none that was forgotten is sent again', async t => {
  const seed = drawSeed(t)
  for (let n = 0; n < runCount(300); n += 1)
    t.deepEqual(await run(makeSeededRandom(seed + n)), [], `run ${n}`)
})
