import type { ExecutionContext } from 'ava'
import test from 'ava'
import { makeFakeWorld } from '../../../../fake-server/fake-world.ts'
import {
  type CurrencyWallet,
  nativeAmount,
  type ObserverPlugin,
  type Plugin,
  type SpendInfo,
  WalletError
} from '../../../../kernel/index.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { memoryDisk } from '../../../../plugins/storage/memory.ts'
import { openDevice, waitFor } from '../../../helpers/device.ts'
import { quickCrypto } from '../../../helpers/quick-crypto.ts'
import { makeToy, type Toy, type ToyOptions, toyTransaction } from '../../../helpers/toy-currency.ts'

const pay = (more: Partial<SpendInfo> = {}): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }],
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

interface Home {
  readonly wallet: CurrencyWallet
  readonly toy: Toy
  /** What the engine was called with, and what the hooks reported, in order. */
  readonly steps: string[]
  readonly ids: Set<string>
  readonly changed: string[]
  readonly errors: string[]
  /** What happens before each write of the disk; undefined: nothing. */
  beforeWrite: (() => Promise<void>) | undefined
}

const NOTED = ['reservePayments', 'makeSpend', 'signTx', 'broadcastTx', 'saveTx']

const makeHome = async (t: ExecutionContext, options: ToyOptions = {}): Promise<Home> => {
  const steps: string[] = []
  const ids = new Set<string>()
  const changed: string[] = []
  const errors: string[] = []
  const home: { beforeWrite: Home['beforeWrite'] } = { beforeWrite: undefined }
  let count = 0
  const toy = makeToy({
    ...options,
    engine: (good, request) => ({
      syncNetwork: async () => {
        request.callbacks.onTokenBalanceChanged(null, '1000')
        return 100_000
      },
      async reservePayments() {},
      async signTx(tx) {
        count += 1
        return { ...tx, txid: `txid-${count}`, signedTx: `bytes-${count}` }
      },
      ...options.engine?.(good, request)
    }),
    onCall(method, args) {
      options.onCall?.(method, args)
      if (!NOTED.includes(method)) return
      const payments = method === 'reservePayments' ? (args[0] as readonly { txid: string }[]) : []
      steps.push([method, ...payments.map(({ txid }) => txid)].join(' '))
    }
  })
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply({ hooks }) {
      hooks.spendChanged.tap('watch', ({ stage, correlationId }) => {
        steps.push(`${stage}!`)
        ids.add(correlationId)
      })
      hooks.transactionsChanged.tap('watch', ({ changed: txids = [] }) => void changed.push(...txids))
    }
  }
  const disk = memoryDisk()
  const storage: Plugin = {
    kind: 'storage',
    id: 'held',
    apply: ({ hooks }) =>
      hooks.openDisk.tapPromise('held', async () => ({
        ...disk,
        async setText(path, text) {
          await home.beforeWrite?.()
          return disk.setText(path, text)
        }
      }))
  }
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world, {
    io: world.ioFor({ ...makeNodeIo(), crypto: quickCrypto }),
    plugins: [toy.plugin, watch],
    storage,
    onError: (source, error) => void errors.push(`${source}: ${error}`)
  })
  t.teardown(() => {
    home.beforeWrite = undefined
    return kernel.close()
  })
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.balanceOf(null) === '1000')
  steps.length = 0
  return Object.assign(home, { wallet, toy, steps, ids, changed, errors })
}

test('a spend reserves its coins before the draft, after the signature, and keeps what the engine dates', async t => {
  const { wallet, steps, changed } = await makeHome(t, {
    engine: ({ signTx }) => ({
      signTx: async (tx, keys, options) => ({
        ...(await signTx(tx, keys, options)),
        ...{ txid: 'dated', signedTx: 'bytes', date: 1_700_000_000 }
      })
    })
  })
  const { txid } = await wallet.spend(await wallet.makeSpend(pay()))
  t.deepEqual(steps, [
    ...['reservePayments', 'makeSpend', 'intended!', 'signTx'],
    ...['reservePayments dated', 'signed!', 'broadcastTx', 'broadcast!', 'saveTx', 'saved!'],
    'reservePayments dated'
  ])
  t.is((await wallet.getTransaction(txid)).date, 1_700_000_000)
  t.true(changed.includes(txid))
  await t.throwsAsync(wallet.makeSpend(pay({ replaces: 'unknown' })), { code: 'TX_NOT_FOUND' })
})

test('a payment without a date has that of the clock when it is sent', async t => {
  const { wallet } = await makeHome(t)
  const { txid } = await wallet.spend(await wallet.makeSpend(pay()))
  t.true(Math.abs((await wallet.getTransaction(txid)).date - Date.now() / 1000) < 3600)
})

test('the intent is durable before a key is read, and the bytes before and after they leave', async t => {
  const stages: string[] = []
  const home: Home = await makeHome(t, {
    engine: ({ signTx, broadcastTx }) => ({
      async signTx(tx, keys, options) {
        stages.push(...home.wallet.unfinishedSpends().map(({ stage }) => `signing ${stage}`))
        const txid = `txid-${stages.length}`
        return { ...(await signTx(tx, keys, options)), txid, signedTx: 'bytes' }
      },
      async broadcastTx(tx, keys) {
        stages.push(...home.wallet.unfinishedSpends().map(({ stage }) => `sending ${stage}`))
        return broadcastTx(tx, keys)
      },
      async saveTx() {
        stages.push(...home.wallet.unfinishedSpends().map(({ stage }) => `saving ${stage}`))
      }
    })
  })
  await home.wallet.spend(await home.wallet.makeSpend(pay()))
  t.deepEqual(stages, ['signing intended', 'sending sending', 'saving broadcast'])
  stages.splice(0, 3, '')
  const signed = await home.wallet.signTx(await home.wallet.makeSpend(pay()))
  t.deepEqual(
    home.wallet.unfinishedSpends().map(({ stage }) => stage),
    ['signed']
  )
  await home.wallet.broadcastTx(signed)
  t.deepEqual(stages, ['', 'signing intended', 'sending sending'])
})

test('bytes whose note cannot be written are not sent', async t => {
  const home = await makeHome(t)
  const signed = await home.wallet.signTx(await home.wallet.makeSpend(pay()))
  home.beforeWrite = async () => {
    throw new WalletError('STORAGE_FULL', { path: 'any' })
  }
  const error = await t.throwsAsync<WalletError<'STORAGE_FULL'>>(home.wallet.broadcastTx(signed), {
    code: 'STORAGE_FULL'
  })
  t.deepEqual(error?.details, { path: 'any' }, 'nothing says that the payment is sent later')
  t.false(home.steps.includes('broadcastTx'))
})

test('a payment whose coin was frozen while it was kept is refused, and may have left if it cannot be forgotten', async t => {
  const home = await makeHome(t, {
    engine: good => ({
      listCoins: async () => [],
      freezeCoins: async () => {},
      makeSpend: async (spend, keys) => ({ ...(await good.makeSpend(spend, keys)), spentCoins: ['aa:1'] })
    })
  })
  const { wallet } = home
  const freeze = (): Promise<void> => wallet.changeCoin('aa:1', { isFrozen: true })
  await t.throwsAsync(wallet.spend(await wallet.makeSpend(pay()), { onSigned: freeze }), {
    code: 'COIN_FROZEN'
  })
  t.is(home.steps.at(-1), 'refused!')
  t.is(wallet.unfinishedSpends().length, 0)
  await wallet.changeCoin('aa:1', { isFrozen: false })
  home.steps.length = 0
  const onSigned = async (): Promise<void> => {
    await freeze()
    home.beforeWrite = async () => {
      throw new WalletError('STORAGE_FULL', { path: 'any' })
    }
  }
  const error = await t.throwsAsync<WalletError<'BROADCAST_UNKNOWN'>>(
    wallet.spend(await wallet.makeSpend(pay()), { onSigned }),
    { code: 'BROADCAST_UNKNOWN' }
  )
  t.is(error?.details.txid, 'txid-2')
  t.false(home.steps.includes('refused!'))
  t.true(error?.cause instanceof WalletError && error.cause.code === 'COIN_FROZEN')
  t.true(home.errors.some(line => line.startsWith('spend journal')))
  t.false(home.steps.includes('broadcastTx'))
  t.is(wallet.unfinishedSpends()[0]?.tx.txid, 'txid-2')
})

test('a note that cannot be written after the bytes have left is reported, and the payment counts as sent', async t => {
  const home: Home = await makeHome(t, {
    engine: ({ broadcastTx }) => ({
      async broadcastTx(tx, keys) {
        home.beforeWrite = async () => {
          throw new WalletError('STORAGE_FULL', { path: 'any' })
        }
        return broadcastTx(tx, keys)
      }
    })
  })
  const { txid } = await home.wallet.spend(await home.wallet.makeSpend(pay()))
  t.true(home.errors.some(line => line.startsWith('spend journal')))
  t.is(home.wallet.unfinishedSpends()[0]?.tx.txid, txid)
})

test('a sent payment whose file cannot be written is reported, and saved after the next look', async t => {
  const isReported = (): boolean => home.errors.some(line => line.startsWith('saving a payment'))
  const home: Home = await makeHome(t, {
    engine: () => ({
      async saveTx() {
        home.beforeWrite = async () => {
          if (!isReported()) throw new WalletError('STORAGE_FULL', { path: 'any' })
        }
      }
    })
  })
  const { wallet } = home
  const { txid } = await wallet.spend(await wallet.makeSpend(pay()))
  t.true(isReported())
  t.is(wallet.unfinishedSpends()[0]?.tx.txid, txid)
  await wallet.sync()
  await waitFor(() => wallet.unfinishedSpends().length === 0)
  t.is((await wallet.getTransactions({})).filter(tx => tx.txid === txid).length, 1)
})

test('of a payment that neither its engine nor the disk takes both failures are reported', async t => {
  const home = await makeHome(t, {
    engine: () => ({
      async saveTx() {
        home.beforeWrite = async () => {
          throw new WalletError('STORAGE_FULL', { path: 'any' })
        }
        throw new Error('the engine lost its place')
      }
    })
  })
  const draft = await home.wallet.makeSpend(pay())
  await t.throwsAsync(home.wallet.saveTx({ ...draft, txid: 'elsewhere', signedTx: 'bytes' }), {
    code: 'STORAGE_FULL'
  })
  t.true(
    home.errors.some(error => error.includes('saving a payment') && error.includes('lost its place')),
    home.errors.join()
  )
})

test('a refused payment is reported as such, after its reason is durable', async t => {
  const { wallet, steps } = await makeHome(t, {
    engine: () => ({
      async broadcastTx({ txid }) {
        throw new WalletError('BROADCAST_REFUSED', { txid, reason: 'too cheap' })
      }
    })
  })
  await t.throwsAsync(wallet.spend(await wallet.makeSpend(pay())), { code: 'BROADCAST_REFUSED' })
  t.deepEqual(
    steps.filter(step => step.endsWith('!')),
    ['intended!', 'signed!', 'refused!']
  )
  t.like(wallet.getSnapshot().openPayments[0], { state: 'refused', reason: 'too cheap' })
})

test('a payment keeps its id and its time while it is signed, sent, and recorded; others get their own', async t => {
  const { wallet, steps, ids } = await makeHome(t)
  const signed = await wallet.signTx(await wallet.makeSpend(pay()))
  const [first] = wallet.getSnapshot().openPayments
  await new Promise(resolve => setTimeout(resolve, 5))
  await wallet.broadcastTx(signed)
  await wallet.saveTx(signed)
  t.is(ids.size, 1)
  t.is(wallet.getSnapshot().openPayments[0]?.at, first?.at)
  await wallet.forgetTx(signed.txid)
  t.deepEqual(wallet.getSnapshot().openPayments, [])
  steps.length = 0
  // Bytes that this wallet does not know any more are noted and reserved before they leave.
  await wallet.broadcastTx(signed)
  t.deepEqual(steps, ['reservePayments txid-1', 'broadcastTx', 'broadcast!'])
  t.is(ids.size, 2)
  t.is(wallet.getSnapshot().openPayments.length, 1)
})

test('a payment that is recorded while it is being forgotten stays, with its id, its time and its stage', async t => {
  for (const isSent of [false, true]) {
    let recorded = makeGate()
    const recording = makeGate()
    const home = await makeHome(t, {
      engine: () => ({
        async saveTx() {
          recording.open()
          await recorded.opened
        }
      })
    })
    const { wallet, ids } = home
    const signed = await wallet.signTx(await wallet.makeSpend(pay()))
    if (isSent) await wallet.broadcastTx(signed)
    const [before] = wallet.getSnapshot().openPayments
    await new Promise(resolve => setTimeout(resolve, 5))
    const saving = wallet.saveTx(signed)
    await recording.opened
    const removed = makeGate()
    home.beforeWrite = () => removed.opened
    const forgetting = wallet.forgetTx(signed.txid)
    recorded.open()
    await new Promise(resolve => setImmediate(resolve))
    removed.open()
    await forgetting
    await saving
    const [after] = wallet.getSnapshot().openPayments
    t.is(after?.at, before?.at)
    t.is(after?.state, isSent ? 'notSeen' : 'signed')
    t.is(ids.size, 1)
    // Once it is gone, the same bytes are another payment.
    await wallet.forgetTx(signed.txid)
    recorded = makeGate()
    recorded.open()
    await wallet.broadcastTx(signed)
    t.is(ids.size, 2)
    t.not(wallet.getSnapshot().openPayments[0]?.at, before?.at)
  }
})

test('a payment that is sent or recorded while its removal is on its way keeps its id and its time', async t => {
  for (const call of ['broadcastTx', 'saveTx'] as const) {
    const home = await makeHome(t)
    const { wallet, ids } = home
    const signed = await wallet.signTx(await wallet.makeSpend(pay()))
    const [before] = wallet.getSnapshot().openPayments
    await new Promise(resolve => setTimeout(resolve, 5))
    const removed = makeGate()
    home.beforeWrite = () => removed.opened
    const forgetting = wallet.forgetTx(signed.txid)
    const calling = wallet[call](signed)
    for (let n = 0; n < 50; n += 1) await new Promise(resolve => setImmediate(resolve))
    removed.open()
    await forgetting
    await calling
    t.is(wallet.getSnapshot().openPayments[0]?.at, before?.at, call)
    t.is(ids.size, 1, call)
  }
})

test('a payment that was sent elsewhere is watched as signed once it is recorded, and is no spend of this wallet', async t => {
  const { wallet, steps } = await makeHome(t)
  const signed = await wallet.signTx(await wallet.makeSpend(pay()))
  await wallet.discardTx(signed.txid)
  steps.length = 0
  await wallet.saveTx(signed)
  t.deepEqual(steps, ['saveTx', 'reservePayments txid-1'], 'nothing is reported of a spend')
  t.like(wallet.getSnapshot().openPayments[0], { txid: 'txid-1', state: 'signed' })
})

test('notes that were written before a payment is saved win, and its own stay beside them', async t => {
  let isOffline = true
  const { wallet, toy } = await makeHome(t, {
    engine: (_good, { callbacks }) => ({
      syncNetwork: async () => {
        callbacks.onTokenBalanceChanged(null, '1000')
        return 50
      },
      async broadcastTx(tx) {
        if (isOffline) throw new Error('offline')
        return tx
      }
    })
  })
  const draft = await wallet.makeSpend(pay({ metadata: { name: 'Shop', notes: 'rent' } }))
  await t.throwsAsync(wallet.spend(draft), { code: 'BROADCAST_UNKNOWN' })
  toy.requests[0]?.callbacks.onTransactionsChanged([
    toyTransaction('txid-1', { nativeAmount: nativeAmount('-5') })
  ])
  await waitFor(async () => (await wallet.getTransactions()).length === 1)
  await wallet.saveTxMetadata('txid-1', { name: 'Mine' })
  isOffline = false
  await waitFor(() => wallet.unfinishedSpends().length === 0)
  t.deepEqual((await wallet.getTransaction('txid-1')).metadata, { name: 'Mine', notes: 'rent' })
})

test('notes of a payment and of its token that are written while it is sent win, and its own stay beside them', async t => {
  const gold = { currencyCode: 'GLD', displayName: 'Gold', denominations: [{ name: 'GLD', multiplier: '1' }] }
  const home: Home = await makeHome(t, {
    tokens: { gold: { ...gold, networkLocation: { contractAddress: 'gold' } } },
    engine: (_good, { callbacks }) => ({
      async broadcastTx(tx) {
        const nativeAmount = '-5' as never
        callbacks.onTransactionsChanged([
          toyTransaction('txid-1', { nativeAmount }),
          toyTransaction('txid-1', { nativeAmount, tokenId: 'gold' })
        ])
        const { wallet } = home
        await waitFor(async () => (await wallet.getTransactions({ tokenId: 'gold' })).length === 1)
        await wallet.saveTxMetadata('txid-1', { name: 'Mine' })
        await wallet.saveTxMetadata('txid-1', { notes: 'in gold' }, 'gold')
        return tx
      }
    })
  })
  const { wallet } = home
  await wallet.changeEnabledTokenIds(['gold'])
  await wallet.spend(await wallet.makeSpend(pay({ metadata: { name: 'Shop', notes: 'rent' } })))
  t.deepEqual((await wallet.getTransaction('txid-1')).metadata, { name: 'Mine', notes: 'rent' })
  const [inGold] = await wallet.getTransactions({ tokenId: 'gold' })
  t.like(inGold?.metadata, { notes: 'in gold' })
})

test('what a payment may cost is checked when it is drafted and again when it is signed, and an odd limit is none', async t => {
  const { wallet, steps } = await makeHome(t, {
    engine: ({ makeSpend }) => ({
      makeSpend: async (spend, keys) => ({
        ...(await makeSpend(spend, keys)),
        ...{ networkFee: nativeAmount('7'), nativeAmount: nativeAmount('-12') }
      })
    })
  })
  const limited = (limit: string) => pay({ maxNetworkFee: limit as never })
  await t.throwsAsync(wallet.makeSpend(limited('6')), { code: 'MAX_FEE' })
  const draft = await wallet.makeSpend(limited('7'))
  steps.length = 0
  for (const [maxNetworkFee, code] of [
    ['6', 'MAX_FEE'],
    ['-1', 'OPTION_INVALID'],
    ['6.5', 'OPTION_INVALID']
  ] as const) {
    await t.throwsAsync(
      wallet.signTx(draft, { maxNetworkFee: maxNetworkFee as never }),
      { code },
      maxNetworkFee
    )
    await t.throwsAsync(
      wallet.spend(draft, { maxNetworkFee: maxNetworkFee as never }),
      { code },
      maxNetworkFee
    )
  }
  t.deepEqual(steps, [])
  await t.notThrowsAsync(wallet.signTx(draft, { maxNetworkFee: '7' as never }))
})

test('an unusual fee is shown in the draft, and refused when it is signed without a limit that allows it', async t => {
  const { wallet, steps } = await makeHome(t, {
    engine: ({ makeSpend }) => ({
      makeSpend: async (spend, keys) => ({
        ...(await makeSpend(spend, keys)),
        ...{
          networkFee: nativeAmount('700'),
          nativeAmount: nativeAmount('-705'),
          usualNetworkFee: '1' as never
        }
      })
    })
  })
  const draft = await wallet.makeSpend(pay())
  steps.length = 0
  await t.throwsAsync(wallet.signTx(draft), { code: 'FEE_UNUSUAL' })
  t.deepEqual(steps, [])
  await t.notThrowsAsync(wallet.signTx(draft, { maxNetworkFee: '700' as never }))
})

test('the largest amount is searched below what an engine refuses, and not beyond an engine that fails', async t => {
  let code: 'INSUFFICIENT_FUNDS' | 'NETWORK' = 'INSUFFICIENT_FUNDS'
  const { wallet } = await makeHome(t, {
    engine: ({ makeSpend }) => ({
      async makeSpend(spend, keys) {
        const [target] = spend.spendTargets
        if (BigInt(target?.nativeAmount ?? 0) <= 321n) return makeSpend(spend, keys)
        if (code === 'NETWORK') throw new WalletError('NETWORK', { path: 'x' })
        throw new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'TOY', tokenId: null })
      }
    })
  })
  t.is(await wallet.getMaxSpendable(pay()), nativeAmount('321'))
  code = 'NETWORK'
  await t.throwsAsync(wallet.getMaxSpendable(pay()), { code: 'NETWORK' })
})

test('a draft that may be a second payment is refused unless the first is known', async t => {
  const { wallet } = await makeHome(t)
  const { txid } = await wallet.spend(await wallet.makeSpend(pay()))
  const draft = await wallet.makeSpend(pay())
  t.deepEqual(
    wallet.similarPayments(draft).map(payment => payment.txid),
    [txid]
  )
  await t.throwsAsync(wallet.spend(draft, { knownSimilar: [] }), { code: 'SIGN_REFUSED' })
  await t.notThrowsAsync(wallet.spend(draft, { knownSimilar: [txid] }))
})

test('the largest amount is searched with drafts to all payees, of which only the first is paid', async t => {
  const requested: unknown[] = []
  const { wallet } = await makeHome(t, {
    onCall(method, [spend]) {
      if (method !== 'makeSpend') return
      requested.push(
        (spend as SpendInfo).spendTargets.map(target => [target.publicAddress, target.nativeAmount])
      )
    }
  })
  const shop = { publicAddress: 'shop', nativeAmount: nativeAmount('5') }
  const spendTargets = [shop, { ...shop, publicAddress: 'other' }]
  t.is(await wallet.getMaxSpendable(pay({ spendTargets })), nativeAmount('1000'))
  t.deepEqual(requested[0], [
    ['shop', '500'],
    ['other', '0']
  ])
})

test('notes and fee limits that are not valid are refused before a draft or a sweep is made', async t => {
  const calls: string[] = []
  const { wallet } = await makeHome(t, {
    onCall: method => void calls.push(method),
    engine: () => ({ sweepPrivateKeys: async () => toyTransaction('swept', { signedTx: 'bytes' }) })
  })
  calls.length = 0
  const bad: readonly Partial<SpendInfo>[] = [
    { metadata: { name: 5 as never } },
    { maxNetworkFee: '-1' as never }
  ]
  for (const more of bad) {
    await t.throwsAsync(wallet.makeSpend(pay(more)), { instanceOf: WalletError })
    await t.throwsAsync(wallet.sweepPrivateKeys({ ...pay(more), privateKeys: ['key'] }), {
      instanceOf: WalletError
    })
  }
  t.deepEqual(
    calls.filter(call => call === 'makeSpend' || call === 'sweepPrivateKeys'),
    []
  )
})

test('a payment is signed for nobody or for a short name, and for what is no name nothing is signed', async t => {
  const { wallet, steps } = await makeHome(t)
  const draft = await wallet.makeSpend(pay())
  steps.length = 0
  for (const requestedBy of ['', 5 as never, null as never, 'x'.repeat(100_000)]) {
    await t.throwsAsync(wallet.spend(draft, { requestedBy }), { code: 'OPTION_INVALID', message: /no name/ })
    await t.throwsAsync(wallet.signTx(draft, { requestedBy }), { code: 'OPTION_INVALID' })
  }
  t.deepEqual(steps, [])
  await t.notThrowsAsync(wallet.signTx(draft, { requestedBy: undefined }))
  // A program with a name is for the rules of the account to judge.
  await t.throwsAsync(wallet.signTx(draft, { requestedBy: 'x'.repeat(1000) }), {
    message: /rules of the account/
  })
})

test('a draft is neither sent nor recorded', async t => {
  const { wallet, steps } = await makeHome(t)
  const draft = await wallet.makeSpend(pay())
  steps.length = 0
  for (const call of [() => wallet.broadcastTx(draft), () => wallet.saveTx(draft)])
    await t.throwsAsync(call, { code: 'OPTION_INVALID', message: /not signed/ })
  t.deepEqual(steps, [])
  t.deepEqual(wallet.unfinishedSpends(), [])
})

test('the progress of a signature is a share from 0 to 1, and a listener that fails is reported', async t => {
  const shares: number[] = []
  const { wallet, errors } = await makeHome(t, {
    engine: () => ({
      async signTx(tx, _keys, { onProgress } = {}) {
        for (const ratio of [-0.1, 0, 0.5, 1, 1.1, Number.NaN, '0.7' as never]) onProgress?.(ratio)
        return { ...tx, txid: 'txid', signedTx: 'bytes' }
      }
    })
  })
  await wallet.signTx(await wallet.makeSpend(pay()), { onProgress: ratio => void shares.push(ratio) })
  t.deepEqual(shares, [0, 0.5, 1])
  const onProgress = (): never => {
    throw new Error('cannot draw')
  }
  await wallet.signTx(await wallet.makeSpend(pay()), { onProgress })
  t.true(errors.some(line => line.includes('progress of a signature') && line.includes('cannot draw')))
})

test('who signs receives the signed payment, before it is sent, and a listener that fails stops nothing', async t => {
  const sent: string[] = []
  const signedFirst: boolean[] = []
  const home = await makeHome(t, {
    engine: ({ broadcastTx }) => ({
      async broadcastTx(tx, keys) {
        sent.push(tx.txid)
        return broadcastTx(tx, keys)
      }
    })
  })
  const { wallet, errors } = home
  const received: string[] = []
  const onSigned = async ({ txid }: { readonly txid: string }): Promise<void> => {
    received.push(txid)
    signedFirst.push(!sent.includes(txid))
  }
  const { txid } = await wallet.signTx(await wallet.makeSpend(pay()), { onSigned })
  t.deepEqual(received, [txid])
  const draft = await wallet.makeSpend(pay())
  const failing = (): never => {
    throw new Error('cannot note')
  }
  await wallet.signTx(draft, { onSigned: failing })
  t.true(errors.some(line => line.includes('cannot note')))
  const spent = await wallet.spend(await wallet.makeSpend(pay()), { onSigned })
  t.deepEqual(received, [txid, spent.txid])
  t.deepEqual(signedFirst, [true, true])
})

test('a signature that pays otherwise is refused with the field that its check names', async t => {
  let error: Error = new WalletError('SIGNED_TX_INVALID', { field: 'networkFee', rule: 'is another' })
  const { wallet } = await makeHome(t, {
    engine: () => ({
      async checkSignedTx() {
        throw error
      }
    })
  })
  const fieldOf = async (): Promise<unknown> => {
    const thrown = await t.throwsAsync<WalletError<'SIGNED_OTHERWISE'>>(
      wallet.signTx(await wallet.makeSpend(pay())),
      { code: 'SIGNED_OTHERWISE' }
    )
    return thrown?.details.field
  }
  t.is(await fieldOf(), 'networkFee')
  error = new Error('cannot parse')
  t.is(await fieldOf(), 'signedTx')
})

test('signed bytes that could not be noted are named by the error if they may be on the disk, and not once they are gone', async t => {
  for (const [failures, txid] of [
    [1, undefined],
    [Number.POSITIVE_INFINITY, 'txid-1']
  ] as const) {
    const home: Home = await makeHome(t, {
      engine: () => ({
        async signTx(tx) {
          let left = failures
          home.beforeWrite = async () => {
            left -= 1
            if (left >= 0)
              throw new WalletError('STORAGE_FAILED', { path: 'any', reason: 'io', mayBeSaved: true })
          }
          return { ...tx, txid: 'txid-1', signedTx: 'bytes' }
        }
      })
    })
    const draft = await home.wallet.makeSpend(pay())
    const error = await t.throwsAsync<WalletError<'STORAGE_FAILED'>>(home.wallet.spend(draft), {
      code: 'STORAGE_FAILED'
    })
    t.is(error?.details.txid, txid)
    t.false(home.steps.includes('broadcastTx'))
  }
})
