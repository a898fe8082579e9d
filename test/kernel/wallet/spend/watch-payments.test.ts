import type { ExecutionContext } from 'ava'
import test from 'ava'
import { makeFakeWorld } from '../../../../fake-server/fake-world.ts'
import {
  type CurrencyWallet,
  nativeAmount,
  type SpendInfo,
  type Transaction,
  WalletError
} from '../../../../kernel/index.ts'
import type { EngineTransaction, PaymentSight } from '../../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { openDevice, waitFor } from '../../../helpers/device.ts'
import { quickCrypto } from '../../../helpers/quick-crypto.ts'
import { makeToy, type Toy, toyTransaction } from '../../../helpers/toy-currency.ts'

const DAY_MS = 24 * 3_600_000

/** A wallet whose engine keeps coins and finds payments, on a device whose time a test moves on. */
interface Home {
  readonly wallet: CurrencyWallet
  readonly toy: Toy
  /** The txids of the payments whose coins are kept from drafts, as the engine was told each time. */
  readonly reserved: (readonly string[])[]
  /** What the engine says of a payment that it is asked for. */
  sight: PaymentSight
  /** How many payments are looked for now, how many were at most, and how often any was. */
  readonly looks: { now: number; most: number; all: number }
  /** The txids of what was sent, in order. */
  readonly sent: string[]
  isOffline: boolean
  /** What happens before a node refuses what it is sent; undefined: it takes it. */
  refuse: (() => Promise<unknown>) | undefined
  /** What happens before a node answers to what it has taken. */
  accept: ((txid: string) => Promise<unknown>) | undefined
  /** What happens before the engine has saved a payment. */
  save: (() => Promise<unknown>) | undefined
  /** What drafts spend; undefined: they do not say. */
  coins: readonly string[] | undefined
  skip(milliseconds: number): void
}

const makeHome = async (t: ExecutionContext): Promise<Home> => {
  let skipped = 0
  let count = 0
  const home = {
    reserved: [] as (readonly string[])[],
    sight: { state: 'notSeen' } as PaymentSight,
    looks: { now: 0, most: 0, all: 0 },
    sent: [] as string[],
    isOffline: false,
    refuse: undefined as Home['refuse'],
    accept: undefined as Home['accept'],
    save: undefined as Home['save'],
    coins: undefined as readonly string[] | undefined
  }
  const toy = makeToy({
    engine: ({ makeSpend }) => ({
      syncNetwork: async () => DAY_MS,
      async makeSpend(spend, keys) {
        const draft = await makeSpend(spend, keys)
        return home.coins === undefined ? draft : { ...draft, spentCoins: home.coins }
      },
      async signTx(tx) {
        count += 1
        return { ...tx, txid: `txid-${count}`, signedTx: `bytes-${count}` }
      },
      async broadcastTx(tx) {
        if (home.isOffline) throw new Error('offline')
        if (home.refuse !== undefined) {
          await home.refuse()
          throw new WalletError('BROADCAST_REFUSED', { txid: tx.txid, reason: 'spent' })
        }
        home.sent.push(tx.txid)
        await home.accept?.(tx.txid)
        return tx
      },
      async reservePayments(payments: readonly EngineTransaction[]) {
        home.reserved.push(payments.map(({ txid }) => txid))
      },
      async saveTx() {
        await home.save?.()
      },
      async findPayment() {
        home.looks.now += 1
        home.looks.all += 1
        home.looks.most = Math.max(home.looks.most, home.looks.now)
        await new Promise(resolve => setImmediate(resolve))
        home.looks.now -= 1
        return home.sight
      }
    })
  })
  const world = makeFakeWorld({ io: makeNodeIo() })
  const io = world.ioFor({ ...makeNodeIo(), crypto: quickCrypto })
  const { clock } = io
  const kernel = await openDevice(world, {
    io: {
      ...io,
      clock: {
        now: () => clock.now() + skipped,
        monotonic: () => clock.monotonic() + skipped,
        after: (delayMs, task) => clock.after(delayMs, task),
        turn: () => clock.turn()
      }
    },
    plugins: [toy.plugin]
  })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  toy.requests[0]?.callbacks.onBlockHeightChanged(100)
  return Object.assign(home, {
    ...{ wallet, toy },
    skip(milliseconds: number) {
      skipped += milliseconds
    }
  })
}

const pay = (nativeText: string): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount(nativeText) }]
})

/** Has the engine say how deep a payment lies, and waits until the wallet has looked at it. */
const place = async ({ wallet, toy }: Home, txid: string, blockHeight: number): Promise<void> => {
  toy.requests[0]?.callbacks.onTransactionsChanged([
    toyTransaction(txid, { blockHeight, nativeAmount: nativeAmount('-5'), isSend: true })
  ])
  await waitFor(() => wallet.getSnapshot().openPayments.length === (blockHeight > 0 ? 0 : 1))
}

/** What is kept from a draft that is made now. */
const reservedNow = async ({ wallet, reserved }: Home): Promise<readonly string[] | undefined> => {
  await wallet.lookAtOpenPayments()
  await wallet.makeSpend(pay('1'))
  return reserved.at(-1)
}

test('a payment that the network shows before the node has answered counts as seen once it has', async t => {
  const home = await makeHome(t)
  const { wallet, toy } = home
  home.sight = { state: 'seen' }
  home.accept = async txid => {
    const row = { nativeAmount: nativeAmount('-5'), isSend: true }
    toy.requests[0]?.callbacks.onTransactionsChanged([toyTransaction(txid, row)])
    await waitFor(async () => (await wallet.getTransactions()).length === 1)
    await wallet.lookAtOpenPayments()
  }
  await wallet.spend(await wallet.makeSpend(pay('5')))
  await waitFor(() => wallet.getSnapshot().openPayments[0]?.state === 'seen')
  t.is(home.sent.length, 1)
})

test('the bytes and the coins of a payment are kept for 14 days after it was confirmed, and then forgotten', async t => {
  const home = await makeHome(t)
  const { wallet } = home
  const { txid } = await wallet.spend(await wallet.makeSpend(pay('5')))
  t.deepEqual(await reservedNow(home), [txid])
  await place(home, txid, 100)
  home.skip(14 * DAY_MS - 60_000)
  t.deepEqual(await reservedNow(home), [txid])
  // Confirmed ones are looked at once an hour.
  home.skip(3_600_000)
  t.deepEqual(await reservedNow(home), [])
  await t.throwsAsync(wallet.resendTx(txid), { code: 'TX_NOT_FOUND' })
  t.is((await wallet.getTransaction(txid)).confirmations, 'confirmed')
})

for (const state of ['expired', 'dropped'] as const) {
  test(`a payment that is ${state} is open until that is final, is sent no more, and its row stays`, async t => {
    const home = await makeHome(t)
    const { wallet } = home
    home.coins = ['aa:1']
    const { txid } = await wallet.spend(await wallet.makeSpend(pay('5')))
    await wallet.saveTxMetadata(txid, { notes: 'Rent' })
    home.sight = { state }
    t.deepEqual(await reservedNow(home), [txid])
    t.like(wallet.getSnapshot().openPayments, [{ txid, state }])
    home.skip(3_600_000)
    await t.throwsAsync(wallet.signTx(await wallet.makeSpend(pay('5'))), { code: 'SIGN_REFUSED' })
    home.sight = { state, isFinal: true }
    t.deepEqual(await reservedNow(home), [txid], 'the engine knows which coins are free again')
    t.deepEqual(wallet.getSnapshot().openPayments, [])
    home.skip(3_600_000)
    await wallet.lookAtOpenPayments()
    t.deepEqual(home.sent, [txid])
    await wallet.resyncBlockchain()
    const { confirmations, metadata } = await wallet.getTransaction(txid)
    t.is(confirmations, 'dropped')
    t.is(metadata.notes, 'Rent')
    t.truthy(await wallet.signTx(await wallet.makeSpend(pay('5'))), 'its coin is free')
  })
}

test('where an engine looks for no payments, one whose row it calls dropped is dropped, and open', async t => {
  const home = await makeHome(t)
  const { wallet } = home
  home.sight = undefined as unknown as PaymentSight
  const { txid } = await wallet.spend(await wallet.makeSpend(pay('5')))
  await place(home, txid, -1)
  await waitFor(() => wallet.getSnapshot().openPayments[0]?.state === 'dropped')
  t.deepEqual(await reservedNow(home), [txid])
  t.deepEqual(home.sent, [txid])
})

test('the 14 days start over when the block of a payment is undone', async t => {
  const home = await makeHome(t)
  const { wallet } = home
  const { txid } = await wallet.spend(await wallet.makeSpend(pay('5')))
  await place(home, txid, 100)
  home.skip(13 * DAY_MS)
  await place(home, txid, 0)
  t.is((await wallet.resendTx(txid)).signedTx, 'bytes-1')
  t.like(wallet.getSnapshot().openPayments, [{ txid }])
  home.skip(2 * DAY_MS)
  t.deepEqual(await reservedNow(home), [txid])
  await place(home, txid, 100)
  home.skip(13 * DAY_MS)
  t.deepEqual(await reservedNow(home), [txid])
  home.skip(2 * DAY_MS)
  t.deepEqual(await reservedNow(home), [])
})

test('the maximum excludes the coins of an open payment as a draft does, whatever the engine knew before', async t => {
  const home = await makeHome(t)
  const { wallet, reserved } = home
  const { txid } = await wallet.spend(await wallet.makeSpend(pay('5')))
  const before = reserved.length
  await wallet.getMaxSpendable(pay('0'))
  t.true(reserved.length > before)
  t.deepEqual(reserved[before], [txid])
})

test('a payment that was sent elsewhere and is recorded here is open, and its coins are kept', async t => {
  const home = await makeHome(t)
  const { wallet } = home
  const draft = await wallet.makeSpend(pay('5'))
  await wallet.saveTx({ ...draft, txid: 'elsewhere', signedTx: 'bytes' })
  const { networkFee } = draft
  const targets = [{ publicAddress: 'shop', nativeAmount: '5' }]
  t.like(wallet.getSnapshot().openPayments, [{ txid: 'elsewhere', networkFee, targets }])
  t.deepEqual(await reservedNow(home), ['elsewhere'])
  await wallet.saveTx({ ...draft, txid: 'unsigned', signedTx: '' })
  t.is(wallet.getSnapshot().openPayments.length, 1)
})

test('of what is recorded here only a signed payment that is not over keeps its coins', async t => {
  const home = await makeHome(t)
  const { wallet, toy } = home
  const draft = await wallet.makeSpend(pay('5'))
  const rows = ['confirmed', 'open', 'received'] as const
  const blockHeights = { confirmed: 90, open: 0, received: 0 }
  toy.requests[0]?.callbacks.onTransactionsChanged(
    rows.map(txid => {
      const fields = { blockHeight: blockHeights[txid], nativeAmount: nativeAmount('-5'), isSend: true }
      return toyTransaction(txid, fields)
    })
  )
  await waitFor(async () => (await wallet.getTransactions({})).length === rows.length)
  for (const txid of rows)
    await wallet.saveTx({ ...draft, txid, signedTx: 'bytes', isSend: txid !== 'received' })
  await wallet.saveTx({ ...draft, txid: 'unsigned', signedTx: '' })
  t.deepEqual(await reservedNow(home), ['open'])
})

test('a confirmed payment that is sent again, or recorded again, is kept no longer for that', async t => {
  const home = await makeHome(t)
  const { wallet } = home
  const { txid } = await wallet.spend(await wallet.makeSpend(pay('5')))
  await place(home, txid, 100)
  home.skip(10 * DAY_MS)
  await wallet.resendTx(txid)
  t.deepEqual(wallet.getSnapshot().openPayments, [])
  await wallet.saveTx(await wallet.getTransaction(txid))
  home.skip(4 * DAY_MS + 3_600_000)
  t.deepEqual(await reservedNow(home), [])
})

test('no draft is signed that takes a coin of another open payment, or can be mined beside what it replaces', async t => {
  const home = await makeHome(t)
  const { wallet } = home
  const draft = (coins: readonly string[], replaces?: string): Promise<Transaction> => {
    home.coins = coins
    return wallet.makeSpend({ ...pay('5'), ...(replaces === undefined ? {} : { replaces }) })
  }
  const refuses = async (reason: RegExp, coins: readonly string[], replaces?: string): Promise<void> => {
    const made = await draft(coins, replaces)
    const error = await t.throwsAsync(wallet.spend(made), { code: 'SIGN_REFUSED' }, coins.join())
    t.regex(error?.message ?? '', reason)
  }
  const first = await wallet.spend(await draft(['a:0', 'a:1']))
  const other = await wallet.spend(await draft(['b:0']))
  await refuses(/reserved for txid-1/, ['a:1', 'c:0'])
  await refuses(/could be mined beside txid-1/, ['c:0'], first.txid)
  await refuses(/reserved for txid-2/, ['a:0', 'b:0'], first.txid)
  const second = await wallet.spend(await draft(['a:0', 'c:0'], first.txid))
  await refuses(/could be mined beside txid-1/, ['c:0'], second.txid)
  await refuses(/reserved for txid-3/, ['b:0', 'c:0'], other.txid)
  const third = await wallet.spend(await draft(['a:1', 'c:0', 'd:0'], second.txid))
  t.deepEqual(home.sent, [first.txid, other.txid, second.txid, third.txid])
})

test('many open payments are looked up in groups, and the engine is notified once for each group with changes', async t => {
  const home = await makeHome(t)
  const { wallet, reserved, looks } = home
  for (let count = 0; count < 45; count += 1) await wallet.signTx(await wallet.makeSpend(pay('1')))
  await wallet.lookAtOpenPayments()
  const before = reserved.length
  home.sight = { state: 'notInMempool' }
  const open = await wallet.lookAtOpenPayments()
  t.is(open.length, 45)
  t.is(looks.most, 20)
  t.is(reserved.length - before, 3)
  await wallet.lookAtOpenPayments()
  t.is(reserved.length - before, 3)
})

test('a payment that is looked for while its end is written is looked for once', async t => {
  const home = await makeHome(t)
  const { wallet, looks } = home
  const signed = await wallet.signTx(await wallet.makeSpend(pay('5')))
  await wallet.lookAtOpenPayments()
  const before = looks.all
  home.save = async () => {
    await wallet.lookAtOpenPayments()
    t.is(looks.all - before, 1)
  }
  await wallet.saveTx(signed)
  t.true(looks.all > before)
})

test('payments are sent again in the order in which they were made', async t => {
  const home = await makeHome(t)
  const { wallet, sent } = home
  home.isOffline = true
  for (let count = 0; count < 5; count += 1)
    await t.throwsAsync(wallet.spend(await wallet.makeSpend(pay('1'))), { code: 'BROADCAST_UNKNOWN' })
  home.isOffline = false
  await wallet.lookAtOpenPayments()
  t.deepEqual(sent, ['txid-1', 'txid-2', 'txid-3', 'txid-4', 'txid-5'])
})

test('a node that refuses a saved payment again refuses it only while it is in no block', async t => {
  const home = await makeHome(t)
  const { wallet } = home
  const { txid } = await wallet.spend(await wallet.makeSpend(pay('5')))
  await waitFor(async () => (await wallet.getTransactions({})).length === 1)
  home.refuse = async () => {}
  await t.throwsAsync(wallet.resendTx(txid), { code: 'BROADCAST_REFUSED' })
  // The block comes before the wallet has looked at the payment.
  home.refuse = async () => {
    home.toy.requests[0]?.callbacks.onTransactionsChanged([
      toyTransaction(txid, { blockHeight: 100, nativeAmount: nativeAmount('-5'), isSend: true })
    ])
    await waitFor(async () => (await wallet.getTransaction(txid)).blockHeight === 100)
  }
  await t.notThrowsAsync(wallet.resendTx(txid))
})
