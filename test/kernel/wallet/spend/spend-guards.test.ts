import type { ExecutionContext } from 'ava'
import test from 'ava'
import { makeFakeWorld } from '../../../../fake-server/fake-world.ts'
import {
  type Account,
  type CurrencyWallet,
  nativeAmount,
  type Plugin,
  type SpendInfo,
  WalletError
} from '../../../../kernel/index.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { memoryDisk } from '../../../../plugins/storage/memory.ts'
import { openDevice, waitFor } from '../../../helpers/device.ts'
import { makeToy, type ToyOptions } from '../../../helpers/toy-currency.ts'

const pay = { tokenId: null, spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }] }

/** A promise that a test settles when it wants. */
const makeGate = () => {
  let open: () => void = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}

interface Home {
  readonly account: Account
  readonly wallet: CurrencyWallet
  /** Makes each write wait, and then fail. */
  holdWrites(until: Promise<void>, isFull?: boolean): void
}

const makeHome = async (t: ExecutionContext, options: ToyOptions = {}): Promise<Home> => {
  const disk = memoryDisk()
  let held: Promise<void> | undefined
  let isFull = true
  const storage: Plugin = {
    kind: 'storage',
    id: 'held',
    apply: ({ hooks }) =>
      hooks.openDisk.tapPromise('held', async () => ({
        ...disk,
        async setText(path, text) {
          const fails = isFull
          await held
          if (held === undefined || !fails) return disk.setText(path, text)
          throw new WalletError('STORAGE_FULL', { path })
        }
      }))
  }
  const kernel = await openDevice(makeFakeWorld({ io: makeNodeIo() }), {
    plugins: [makeToy(options).plugin],
    storage,
    onError: () => {}
  })
  t.teardown(() => {
    held = undefined
    return kernel.close()
  })
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.balanceOf(null) === '1000')
  return {
    account,
    wallet,
    holdWrites(until, fails = true) {
      held = until
      isFull = fails
    }
  }
}

test('a payment whose removal fails on a full disk is still known, also to calls in between', async t => {
  const { wallet, holdWrites } = await makeHome(t)
  const { txid } = await wallet.signTx(await wallet.makeSpend(pay))
  const gate = makeGate()
  holdWrites(gate.opened)
  const discarding = wallet.discardTx(txid)
  t.is(wallet.unfinishedSpends().length, 0)
  gate.open()
  await t.throwsAsync(discarding, { code: 'STORAGE_FULL' })
  t.deepEqual(
    wallet.unfinishedSpends().map(({ tx }) => tx.txid),
    [txid]
  )
})

test('a payment that is sent twice at once cannot be forgotten before the last of both is done', async t => {
  const gate = makeGate()
  let sends = 0
  const { wallet } = await makeHome(t, {
    engine: () => ({
      async broadcastTx(tx) {
        sends += 1
        if (sends === 2) await gate.opened
        return tx
      }
    })
  })
  const signed = await wallet.signTx(await wallet.makeSpend(pay))
  const first = wallet.broadcastTx(signed)
  const second = wallet.broadcastTx(signed)
  await first
  await waitFor(() => sends === 2)
  await t.throwsAsync(wallet.forgetTx(signed.txid), { code: 'BROADCAST_UNKNOWN' })
  gate.open()
  await second
})

test('options of a signature name neither another spend, nor another stage, nor other keys', async t => {
  const calls: string[] = []
  const keys: unknown[] = []
  const { wallet } = await makeHome(t, {
    onCall: method => void calls.push(method),
    engine: () => ({
      async signTx(tx, privateKeys) {
        keys.push(privateKeys)
        return { ...tx, txid: 'txid', signedTx: 'bytes' }
      }
    })
  })
  const options = { stage: 'sending', correlationId: 'another', privateKeys: { toycoinKey: 'foreign' } }
  await wallet.signTx(await wallet.makeSpend(pay), options as object)
  const [spend] = wallet.unfinishedSpends()
  t.is(spend?.stage, 'signed')
  t.not(spend?.correlationId, 'another')
  t.notDeepEqual(keys, [options.privateKeys])
  t.false(calls.includes('broadcastTx'))
})

test('a payment that is looked for while it is being forgotten is neither kept nor sent again', async t => {
  let state: 'notInMempool' | 'seen' = 'seen'
  let sends = 0
  const { wallet, holdWrites } = await makeHome(t, {
    engine: () => ({
      findPayment: async () => ({ state }),
      async broadcastTx(tx) {
        sends += 1
        return tx
      }
    })
  })
  const { txid } = await wallet.spend(await wallet.makeSpend(pay))
  t.is((await wallet.lookAtOpenPayments())[0]?.state, 'seen')
  state = 'notInMempool'
  const gate = makeGate()
  holdWrites(gate.opened, false)
  const forgetting = wallet.forgetTx(txid)
  const looking = wallet.lookAtOpenPayments()
  for (let n = 0; n < 50; n += 1) await new Promise(resolve => setImmediate(resolve))
  gate.open()
  await Promise.all([forgetting, looking])
  t.deepEqual(wallet.getSnapshot().openPayments, [])
  t.is(sends, 1)
})

test('a draft is neither signed nor sent by another wallet than the one that made it', async t => {
  const calls: string[] = []
  const { account, wallet } = await makeHome(t, { onCall: method => void calls.push(method) })
  const other = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => other.balanceOf(null) === '1000')
  const draft = await other.makeSpend(pay)
  const refused = { code: 'OPTION_INVALID', message: /another wallet/ }
  await t.throwsAsync(wallet.spend(draft), refused)
  await t.throwsAsync(wallet.signTx(draft), refused)
  t.false(calls.includes('signTx'))
  t.deepEqual(wallet.unfinishedSpends(), [])
})

test('a draft that is not signed is neither sent nor recorded as a payment', async t => {
  const { wallet } = await makeHome(t)
  const draft = await wallet.makeSpend(pay)
  const refused = { code: 'OPTION_INVALID', message: /not signed/ }
  await t.throwsAsync(wallet.broadcastTx(draft), refused)
  await t.throwsAsync(wallet.saveTx(draft), refused)
  t.deepEqual(wallet.unfinishedSpends(), [])
})

test('a payment that is sent while its removal fails is forgotten as a whole', async t => {
  const { wallet, holdWrites } = await makeHome(t)
  const signed = await wallet.signTx(await wallet.makeSpend(pay))
  const gate = makeGate()
  holdWrites(gate.opened)
  const discarding = wallet.discardTx(signed.txid)
  for (let n = 0; n < 50; n += 1) await new Promise(resolve => setImmediate(resolve))
  holdWrites(Promise.resolve(), false)
  const sending = wallet.broadcastTx(signed)
  gate.open()
  await t.throwsAsync(discarding, { code: 'STORAGE_FULL' })
  await sending
  await t.throwsAsync(wallet.discardTx(signed.txid), { code: 'BROADCAST_UNKNOWN' })
  await wallet.forgetTx(signed.txid)
  t.deepEqual(wallet.getSnapshot().openPayments, [])
})

test('a payment that is sent again cannot be forgotten before it is saved, which would bring it back', async t => {
  const gate = makeGate()
  let isHeld = false
  let isSaving = false
  const { wallet } = await makeHome(t, {
    engine: () => ({
      async saveTx() {
        if (!isHeld) return
        isSaving = true
        await gate.opened
      }
    })
  })
  const { txid } = await wallet.spend(await wallet.makeSpend(pay))
  isHeld = true
  const resending = wallet.resendTx(txid)
  await waitFor(() => isSaving)
  await t.throwsAsync(wallet.forgetTx(txid), { code: 'BROADCAST_UNKNOWN' })
  gate.open()
  await resending
  await wallet.forgetTx(txid)
  t.deepEqual(wallet.getSnapshot().openPayments, [])
})

test('an engine is asked for the targets that can be paid, those without an address only if they say what to pay', async t => {
  const requested: unknown[] = []
  const { wallet } = await makeHome(t, {
    onCall: (method, [spend]) => method === 'makeSpend' && requested.push((spend as SpendInfo).spendTargets)
  })
  const script = { otherParams: { script: '6a' } }
  await wallet.makeSpend({
    tokenId: null,
    spendTargets: [
      { nativeAmount: nativeAmount('1') },
      { publicAddress: '', nativeAmount: nativeAmount('2') },
      { nativeAmount: nativeAmount('3'), ...script },
      { publicAddress: '', nativeAmount: nativeAmount('4'), ...script },
      { publicAddress: 'shop' }
    ]
  })
  t.deepEqual(requested, [
    [
      { publicAddress: '', nativeAmount: '4', ...script },
      { publicAddress: 'shop', nativeAmount: '0' }
    ]
  ])
})
