import type { ExecutionContext } from 'ava'
import test from 'ava'
import { makeFakeWorld } from '../../../../fake-server/fake-world.ts'
import {
  type CurrencyWallet,
  nativeAmount,
  type Plugin,
  type SpendInfo,
  WalletError
} from '../../../../kernel/index.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { memoryDisk } from '../../../../plugins/storage/memory.ts'
import { openDevice, waitFor } from '../../../helpers/device.ts'
import { likeList } from '../../../helpers/like-list.ts'
import { makeToy, type Toy, type ToyOptions, toyTransaction } from '../../../helpers/toy-currency.ts'

const pay = (nativeText: string, more: Partial<SpendInfo> = {}): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount(nativeText) }],
  ...more
})

/** A promise that a test settles when it wants. */
const makeGate = () => {
  let open: () => void = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}

const makeHome = async (
  t: ExecutionContext,
  options: ToyOptions = {}
): Promise<{ wallet: CurrencyWallet; toy: Toy; errors: string[] }> => {
  const toy = makeToy(options)
  const errors: string[] = []
  const kernel = await openDevice(makeFakeWorld({ io: makeNodeIo() }), {
    plugins: [toy.plugin],
    onError: (source, error) => void errors.push(`${source}: ${error}`)
  })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  return { wallet, toy, errors }
}

test('a payment that was sent counts as sent although saving it fails; it is saved at the next check', async t => {
  let saves = 0
  const { wallet, errors } = await makeHome(t, {
    engine: () => ({
      syncNetwork: async () => 100,
      async saveTx() {
        saves += 1
        if (saves === 1) throw new Error('cannot save')
      }
    })
  })
  const sent = await wallet.spend(await wallet.makeSpend(pay('5', { metadata: { notes: 'rent' } })))
  t.true(errors.some(line => line.includes('cannot save')))
  await waitFor(() => wallet.unfinishedSpends().length === 0)
  t.is(saves, 2)
  t.is((await wallet.getTransaction(sent.txid)).metadata.notes, 'rent')
  t.true(
    (await wallet.getTransaction(sent.txid)).date > 1,
    'an engine that gives no date leaves it to the clock'
  )
})

test('finishing an interrupted save keeps notes edited meanwhile, and the depth that the engine reported', async t => {
  let isFailing = true
  const { wallet, toy } = await makeHome(t, {
    engine: () => ({
      syncNetwork: async () => 100,
      async saveTx() {
        if (isFailing) throw new Error('cannot save')
      }
    })
  })
  const draft = await wallet.makeSpend(
    pay('5', { metadata: { name: 'Shop', notes: 'first', category: 'Expense:Rent' } })
  )
  const { txid } = await wallet.spend(draft)
  await wallet.saveTxMetadata(txid, { notes: 'edited', category: null })
  toy.requests[0]?.callbacks.onBlockHeightChanged(100)
  toy.requests[0]?.callbacks.onTransactionsChanged([
    toyTransaction(txid, { blockHeight: 100, nativeAmount: nativeAmount('-5') })
  ])
  await waitFor(async () => (await wallet.getTransaction(txid)).confirmations === 'confirmed')
  isFailing = false
  await waitFor(() => wallet.unfinishedSpends().length === 0)
  const saved = await wallet.getTransaction(txid)
  t.deepEqual(saved.metadata, { name: 'Shop', notes: 'edited' })
  t.is(saved.spendTargets?.[0]?.publicAddress, 'shop')
  t.is(saved.confirmations, 'confirmed')
})

test('a spend that is signed and sent while earlier ones are being finished is not removed as unsigned', async t => {
  const signing = makeGate()
  const resending = makeGate()
  const signed = new Set<string>()
  let count = 0
  let isResending = false
  let attempts = 0
  const { wallet } = await makeHome(t, {
    engine: () => ({
      syncNetwork: async () => 100,
      async signTx(tx) {
        count += 1
        const txid = `txid-${count}`
        if (count === 2) await signing.opened
        signed.add(txid)
        return { ...tx, txid, signedTx: txid }
      },
      async broadcastTx(tx) {
        if (tx.txid === 'txid-1' && count === 2) {
          isResending = true
          await resending.opened
          return tx
        }
        attempts += 1
        throw new Error('offline')
      }
    })
  })
  await t.throwsAsync(wallet.spend(await wallet.makeSpend(pay('5'))), { code: 'BROADCAST_UNKNOWN' })
  const second = wallet.spend(await wallet.makeSpend(pay('6')))
  await waitFor(() => isResending)
  signing.open()
  await t.throwsAsync(second, { code: 'BROADCAST_UNKNOWN' })
  resending.open()
  await waitFor(() => wallet.unfinishedSpends().every(({ tx }) => tx.txid !== 'txid-1'))
  const before = attempts
  await waitFor(() => attempts > before + 1)
  t.deepEqual(
    wallet.unfinishedSpends().map(({ stage, tx }) => [stage, tx.txid]),
    [['sending', 'txid-2']]
  )
})

test('a refusal of bytes that the wallet already sees on the chain finishes the spend, with its note', async t => {
  let isOffline = true
  const { wallet, toy } = await makeHome(t, {
    engine: () => ({
      syncNetwork: async () => 100,
      async broadcastTx({ txid }) {
        if (isOffline) throw new Error('offline')
        throw new WalletError('BROADCAST_REFUSED', { txid, reason: 'bad-txns-inputs-missingorspent' })
      }
    })
  })
  const draft = await wallet.makeSpend(pay('5', { metadata: { notes: 'rent' } }))
  await t.throwsAsync(wallet.spend(draft), { code: 'BROADCAST_UNKNOWN' })
  const txid = wallet.unfinishedSpends()[0]?.tx.txid ?? ''
  toy.requests[0]?.callbacks.onTransactionsChanged([
    toyTransaction(txid, { blockHeight: 100, nativeAmount: nativeAmount('-5') })
  ])
  await waitFor(async () => (await wallet.getTransactions()).length === 1)
  isOffline = false
  await waitFor(() => wallet.unfinishedSpends().length === 0)
  t.is((await wallet.getTransaction(txid)).metadata.notes, 'rent')
})

test('of two spends at once the second is signed only when the first is known to the engine', async t => {
  const calls: string[] = []
  const { wallet } = await makeHome(t, {
    onCall: method => ['signTx', 'saveTx'].includes(method) && calls.push(method)
  })
  const drafts = [await wallet.makeSpend(pay('5')), await wallet.makeSpend(pay('6'))]
  await Promise.all(drafts.map(draft => wallet.spend(draft)))
  t.deepEqual(calls, ['signTx', 'saveTx', 'signTx', 'saveTx'])
})

test('changes of notes made at the same time are all kept', async t => {
  const { wallet, toy } = await makeHome(t)
  toy.requests[0]?.callbacks.onTransactionsChanged([toyTransaction('a')])
  await waitFor(async () => (await wallet.getTransactions()).length === 1)
  await Promise.all([
    wallet.saveTxMetadata('a', { name: 'Ann' }),
    wallet.saveTxMetadata('a', { notes: 'hi' }),
    wallet.saveTxMetadata('a', { category: 'Income' })
  ])
  t.deepEqual((await wallet.getTransaction('a')).metadata, { name: 'Ann', notes: 'hi', category: 'Income' })
  await Promise.all([
    wallet.lockReceiveAddress('toy-1', { name: 'Ann' }),
    wallet.saveReceiveAddress('toy-1', { notes: 'hi' })
  ])
  likeList(t, await wallet.savedAddresses(), [{ recycleable: false, metadata: { name: 'Ann', notes: 'hi' } }])
})

test('the search for the maximum does not take a closed wallet or a dead network for an empty wallet', async t => {
  const { wallet } = await makeHome(t, {
    engine: () => ({
      async makeSpend() {
        throw new WalletError('NETWORK', { path: 'electrum' })
      }
    })
  })
  await waitFor(() => wallet.balanceOf(null) === '1000')
  await t.throwsAsync(wallet.getMaxSpendable(pay('0')), { code: 'NETWORK' })
})

test('a signature that is stopped leaves nothing behind, also if it comes later; a signed payment is not stopped', async t => {
  const gate = makeGate()
  const started = makeGate()
  let broadcasts = 0
  const ratios: number[] = []
  let isSlow = true
  const { wallet } = await makeHome(t, {
    engine: good => ({
      async signTx(tx, keys, options) {
        for (const ratio of [0.5, 2, Number.NaN]) options?.onProgress?.(ratio)
        started.open()
        if (isSlow) await gate.opened
        return good.signTx(tx, keys)
      },
      async broadcastTx(tx, keys) {
        broadcasts += 1
        return good.broadcastTx(tx, keys)
      }
    })
  })
  const controller = new AbortController()
  const { signal } = controller
  const spending = wallet.spend(await wallet.makeSpend(pay('5')), {
    signal,
    onProgress(ratio) {
      ratios.push(ratio)
      throw new Error('the screen is gone')
    }
  })
  await started.opened
  controller.abort()
  await t.throwsAsync(spending, { code: 'SIGN_STOPPED' })
  gate.open()
  t.deepEqual(ratios, [0.5])
  t.deepEqual(wallet.unfinishedSpends(), [])
  t.deepEqual(wallet.getSnapshot().openPayments, [])

  isSlow = false
  await t.throwsAsync(wallet.spend(await wallet.makeSpend(pay('5')), { signal }), { code: 'SIGN_STOPPED' })
  t.is(broadcasts, 0)

  const late = new AbortController()
  const sent = await wallet.spend(await wallet.makeSpend(pay('5')), {
    signal: late.signal,
    onProgress: () => setImmediate(() => late.abort())
  })
  t.is(broadcasts, 1)
  t.is((await wallet.getTransaction(sent.txid)).txid, sent.txid)
})

test('a payment that a node refuses because its network has it already counts as sent', async t => {
  for (const isThere of [true, false]) {
    const { wallet, toy } = await makeHome(t, {
      engine: () => ({
        syncNetwork: async () => 100,
        async broadcastTx({ txid }) {
          if (isThere)
            toy.requests[0]?.callbacks.onTransactionsChanged([
              toyTransaction(txid, { nativeAmount: nativeAmount('-5'), isSend: true })
            ])
          await waitFor(async () => !isThere || (await wallet.getTransactions()).length > 0)
          throw new WalletError('BROADCAST_REFUSED', { txid, reason: 'txn-already-in-mempool' })
        }
      })
    })
    const sending = wallet.spend(await wallet.makeSpend(pay('5')))
    if (isThere) t.truthy((await sending).txid)
    else await t.throwsAsync(sending, { code: 'BROADCAST_REFUSED' })
  }
})

test('a payment that a full disk cannot note is not sent, and the disk is named as the reason', async t => {
  const disk = memoryDisk()
  let isFull = false
  const storage: Plugin = {
    kind: 'storage',
    id: 'small',
    apply: ({ hooks }) =>
      hooks.openDisk.tapPromise('small', async () => ({
        ...disk,
        async setText(path, text) {
          if (isFull) throw new WalletError('STORAGE_FULL', { path })
          await disk.setText(path, text)
        }
      }))
  }
  const calls: string[] = []
  const toy = makeToy({
    onCall(method) {
      calls.push(method)
      if (method === 'signTx') isFull = true
    }
  })
  const kernel = await openDevice(makeFakeWorld({ io: makeNodeIo() }), {
    plugins: [toy.plugin],
    storage,
    onError: () => {}
  })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.balanceOf(null) === '1000')
  const draft = await wallet.makeSpend(pay('5'))
  await t.throwsAsync(wallet.spend(draft), { code: 'STORAGE_FULL' })
  isFull = false
  t.false(calls.includes('broadcastTx'))
})
