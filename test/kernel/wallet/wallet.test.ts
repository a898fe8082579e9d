import test, { type ExecutionContext } from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { sealText } from '../../../kernel/crypto/box.ts'
import {
  type Account,
  type CurrencyPlugin,
  type CurrencyWallet,
  type EngineTransaction,
  isWalletError,
  type Kernel,
  nativeAmount,
  type ObserverPlugin,
  type Plugin,
  type SpendInfo,
  WalletError
} from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { likeList } from '../../helpers/like-list.ts'
import { makeToy, type Toy, type ToyOptions, toyTransaction } from '../../helpers/toy-currency.ts'
import { openToyHome } from '../../helpers/toy-home.ts'

const io = makeNodeIo()

const pay = (nativeText: string, more: Partial<SpendInfo> = {}): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount(nativeText) }],
  ...more
})

interface Home {
  readonly world: FakeWorld
  readonly files: ReadonlyMap<string, string>
  readonly toy: Toy
  readonly kernel: Kernel
  readonly account: Account
  readonly wallet: CurrencyWallet
}

/** An account with one toy wallet, whose files can be taken as they are after a crash. */
const makeHome = async (
  t: ExecutionContext,
  options: ToyOptions = {},
  plugins: Plugin[] = []
): Promise<Home> => {
  const world = makeFakeWorld({ io })
  const files = new Map<string, string>()
  const storage = memoryStorage(files)
  const toy = makeToy(options)
  const kernel = await openDevice(world, { plugins: [toy.plugin, ...plugins], storage })
  const account = await kernel.context.createAccount({ username: 'alice', password: 'Correct horse 1' })
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { name: 'Toys' })
  await waitFor(() => wallet.engine.getSnapshot().state === 'started' || options.engine !== undefined)
  t.teardown(() => kernel.close())
  return { world, files, toy, kernel, account, wallet }
}

/** The same device started again with the files that there are now: as after a crash, of which the first kernel knows nothing. */
const restart = async (
  t: ExecutionContext,
  { world, files }: Home,
  options: ToyOptions = {},
  plugins: Plugin[] = []
) => {
  const toy = makeToy(options)
  const storage = memoryStorage(new Map(files))
  const kernel = await openDevice(world, { plugins: [toy.plugin, ...plugins], storage })
  t.teardown(() => kernel.close())
  const account = await kernel.context.loginWithPassword('alice', 'Correct horse 1')
  const [walletId = ''] = account.getSnapshot().walletIds
  return { toy, account, wallet: await account.openWallet(walletId) }
}

test('an unknown network fee option is refused, and does not count as the standard one', async t => {
  const { wallet } = await makeHome(t)
  for (const networkFeeOption of ['dear', 'Low', 7, null] as unknown as 'low'[]) {
    const refused = {
      code: 'OPTION_INVALID',
      message: /networkFeeOption must be low, standard, high or custom/
    }
    await t.throwsAsync(wallet.makeSpend(pay('50', { networkFeeOption })), refused)
    await t.throwsAsync(wallet.getMaxSpendable(pay('0', { networkFeeOption })), refused)
  }
})

test('a spend is drafted, signed, sent and saved with its payee, fee choice, note and device', async t => {
  const { wallet, account } = await makeHome(t)
  const draft = await wallet.makeSpend(
    pay('50', { metadata: { name: 'Shop', exchangeAmount: { 'iso:USD': 1.5 } }, networkFeeOption: 'high' })
  )
  t.like(draft, { isSend: true, confirmations: 'unconfirmed', currencyCode: 'TOY', networkFeeOption: 'high' })
  const sent = await wallet.spend(draft)
  const saved = await wallet.getTransaction(sent.txid)
  t.deepEqual(saved.spendTargets, [
    { currencyCode: 'TOY', nativeAmount: nativeAmount('50'), publicAddress: 'shop' }
  ])
  t.deepEqual(saved.metadata, { name: 'Shop', exchangeAmount: { 'iso:USD': 1.5 }, amountFiat: 1.5 })
  t.is(saved.networkFeeOption, 'high')
  t.deepEqual(wallet.unfinishedSpends(), [])
  await account.sync()
})

test('the stages of a spend are emitted under one correlation id, in order, and with its txid once it has one', async t => {
  const reported: string[] = []
  const ids = new Set<string>()
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply: ({ hooks }) =>
      hooks.spendChanged.tap('watch', ({ stage, correlationId, txid }) => {
        reported.push(`${stage} ${txid ?? ''}`)
        ids.add(correlationId)
      })
  }
  const { wallet } = await makeHome(t, {}, [watch])
  const sent = await wallet.spend(await wallet.makeSpend(pay('5')))
  await wallet.saveTx(sent)
  const { txid } = sent
  t.deepEqual(reported, ['intended ', `signed ${txid}`, `broadcast ${txid}`, `saved ${txid}`])
  t.is(ids.size, 1)
})

test('a payment with an unknown outcome is reported as signed, and not as refused', async t => {
  const reported: string[] = []
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply: ({ hooks }) => hooks.spendChanged.tap('watch', ({ stage }) => void reported.push(stage))
  }
  const broadcastTx = async (): Promise<never> => {
    throw new Error('offline')
  }
  const { wallet } = await makeHome(t, { engine: () => ({ broadcastTx }) }, [watch])
  await t.throwsAsync(wallet.spend(await wallet.makeSpend(pay('5'))), { code: 'BROADCAST_UNKNOWN' })
  t.deepEqual(reported, ['intended', 'signed'])
  const [open] = wallet.getSnapshot().openPayments
  t.like(open, { state: 'notSeen', nativeAmount: '-5' })
  t.is(open?.reason, undefined)
})

test('a policy that objects stops the spend before any key is read, and nothing is left of it', async t => {
  const calls: string[] = []
  const reported: string[] = []
  const watch: Plugin = {
    kind: 'observer',
    id: 'watch',
    apply: ({ hooks }) => hooks.spendChanged.tap('test', ({ stage }) => void reported.push(stage))
  }
  const policy: Plugin = {
    kind: 'policy',
    id: 'limit',
    apply: ({ hooks }) =>
      hooks.beforeSign.tapPromise('limit', async spend => {
        t.is(spend.nativeAmount, '5')
        throw new WalletError('SIGN_REFUSED', { pluginId: 'limit', reason: 'above the limit' })
      })
  }
  const { wallet } = await makeHome(t, { onCall: method => calls.push(method) }, [policy, watch])
  const draft = await wallet.makeSpend(pay('5'))
  await t.throwsAsync(wallet.spend(draft), {
    code: 'SIGN_REFUSED',
    message: 'The policy limit refused to sign: above the limit'
  })
  t.false(calls.includes('signTx'))
  t.deepEqual(wallet.unfinishedSpends(), [])
  t.deepEqual(reported, ['intended', 'refused'])
})

test('of two drafts that pay the same and are signed at once, each knowing of no other, the later is refused', async t => {
  for (const runAction of ['spend', 'signTx'] as const) {
    const { wallet } = await makeHome(t)
    const drafts = [await wallet.makeSpend(pay('5')), await wallet.makeSpend(pay('5'))]
    const [first, second] = await Promise.allSettled(
      drafts.map(draft =>
        wallet[runAction](draft, { knownSimilar: wallet.similarPayments(draft).map(({ txid }) => txid) })
      )
    )
    const txid = first?.status === 'fulfilled' ? first.value.txid : ''
    const message = `The wallet refused to sign: ${txid}, which is open, pays the same`
    t.like(second, { status: 'rejected', reason: { code: 'SIGN_REFUSED', message } })
    t.is(wallet.getSnapshot().openPayments.length, 1)
    await t.notThrowsAsync(wallet[runAction](await wallet.makeSpend(pay('5')), { knownSimilar: [txid] }))
    await t.notThrowsAsync(wallet[runAction](await wallet.makeSpend(pay('5'))), 'nothing is compared unasked')
  }
})

test('known similar payments are accepted only as a list of txids', async t => {
  const { wallet } = await makeHome(t)
  const { txid } = await wallet.spend(await wallet.makeSpend(pay('5')))
  const draft = await wallet.makeSpend(pay('5'))
  for (const wrong of [null, txid, { txid }, [{ txid }], 7]) {
    const options = { knownSimilar: wrong as unknown as string[] }
    await t.throwsAsync(wallet.spend(draft, options), { code: 'OPTION_INVALID' })
    await t.throwsAsync(wallet.signTx(draft, options), { code: 'OPTION_INVALID' })
  }
  t.is(wallet.getSnapshot().openPayments.length, 1)
})

test('amounts, memos and keys are checked before the engine sees a spend', async t => {
  const calls: string[] = []
  const { wallet } = await makeHome(t, { onCall: method => calls.push(method) })
  const bad: [SpendInfo, string][] = [
    [pay('5', { memos: [{ type: 'hex', value: 'xyz' }] }), 'MEMO_INVALID'],
    [{ ...pay('5'), spendTargets: [{ publicAddress: 'a', nativeAmount: '-5' as never }] }, 'AMOUNT_INVALID'],
    [{ ...pay('5'), spendTargets: [{ publicAddress: 'a', nativeAmount: '0.5' as never }] }, 'AMOUNT_INVALID'],
    [{ ...pay('5'), privateKeys: ['x'] } as SpendInfo, 'SPEND_WITH_KEYS']
  ]
  for (const [spend, code] of bad) await t.throwsAsync(async () => wallet.makeSpend(spend), { code }, code)
  t.false(calls.includes('makeSpend'))
  await t.throwsAsync(wallet.makeSpend(pay('5000')), {
    code: 'INSUFFICIENT_FUNDS',
    message: 'Insufficient TOY'
  })
})

test('memos that the chain does not carry are refused before the engine sees them', async t => {
  const calls: string[] = []
  const onCall = (method: string): void => void calls.push(method)
  const memoOptions = [{ type: 'text', minLength: 2, maxLength: 5 }, { type: 'number' }] as const
  const { wallet } = await makeHome(t, { info: { memoOptions, maxMemos: 1 }, onCall })
  const refused: [NonNullable<SpendInfo['memos']>, RegExp][] = [
    [[{ type: 'hex', value: 'abcd' }], /is of the kind hex, but TOY carries text or number$/],
    [[{ type: 'text', value: 'a' }], /is shorter than 2$/],
    [[{ type: 'text', value: 'abcdef' }], /is longer than 5$/],
    [
      [
        { type: 'text', value: 'ab' },
        { type: 'number', value: '7' }
      ],
      /is one of more than 1$/
    ]
  ]
  for (const [memos, message] of refused)
    await t.throwsAsync(wallet.makeSpend(pay('5', { memos })), { code: 'MEMO_INVALID', message })
  t.false(calls.includes('makeSpend'))
  const empty = { type: 'hex', value: '' } as const
  await wallet.makeSpend(pay('5', { memos: [{ type: 'text', value: 'ab' }, empty] }))
  t.true(calls.includes('makeSpend'))
  const none = await makeHome(t, { info: { maxMemos: 0 } })
  await none.wallet.makeSpend(pay('5'))
  await t.throwsAsync(none.wallet.makeSpend(pay('5', { memos: [{ type: 'text', value: 'ab' }] })), {
    ...{ code: 'MEMO_INVALID', message: /cannot be sent with TOY$/ }
  })
})

test('a draft or a signature that is not a transaction is refused as bogus [5.37]', async t => {
  const { wallet } = await makeHome(t, { engine: () => ({ makeSpend: async () => ({ txid: 5 }) as never }) })
  await t.throwsAsync(wallet.makeSpend(pay('5')), { code: 'BOGUS_TX', message: 'Plugin sent bogus tx' })
  const other = await makeHome(t, { engine: () => ({ signTx: async () => undefined as never }) })
  await t.throwsAsync(other.wallet.spend(await other.wallet.makeSpend(pay('5'))), { code: 'BOGUS_TX' })
  t.deepEqual(other.wallet.unfinishedSpends(), [])
})

test('a signature without a txid is refused, and nothing is sent', async t => {
  for (const lost of ['txid']) {
    const calls: string[] = []
    const { wallet } = await makeHome(t, {
      engine: good => ({ signTx: async (tx, keys) => ({ ...(await good.signTx(tx, keys)), [lost]: '' }) }),
      onCall: method => calls.push(method)
    })
    const draft = await wallet.makeSpend(pay('5'))
    await t.throwsAsync(wallet.spend(draft), { code: 'BOGUS_TX' }, lost)
    t.deepEqual(wallet.unfinishedSpends(), [])
    t.false(calls.includes('broadcastTx'))
  }
})

test('an engine without a maximum of its own is searched by halving', async t => {
  const { wallet } = await makeHome(t, { balance: '777' })
  await waitFor(() => wallet.balanceOf(null) === '777')
  t.is(await wallet.getMaxSpendable(pay('0')), nativeAmount('777'))
})

test('a payment that is being sent is not forgotten', async t => {
  let answer: () => void = () => {}
  const isRequested = new Promise<void>(resolve => {
    answer = resolve
  })
  let goOn: () => void = () => {}
  const { wallet } = await makeHome(t, {
    engine: () => ({
      async broadcastTx(tx) {
        answer()
        await new Promise<void>(resolve => {
          goOn = resolve
        })
        return tx
      }
    })
  })
  const spending = wallet.spend(await wallet.makeSpend(pay('5')))
  await isRequested
  const [
    {
      tx: { txid }
    } = { tx: { txid: '' } }
  ] = wallet.unfinishedSpends()
  await t.throwsAsync(wallet.forgetTx(txid), { code: 'BROADCAST_UNKNOWN' })
  await t.throwsAsync(wallet.discardTx(txid), { code: 'BROADCAST_UNKNOWN' })
  goOn()
  t.is((await spending).txid, txid)
})

test('a refused payment, which may have been sent, is kept and shown with the reason, and only the user sends it again', async t => {
  let isRefused = true
  const sent: string[] = []
  const refuse = async (tx: EngineTransaction): Promise<EngineTransaction> => {
    sent.push(tx.txid)
    if (!isRefused) return tx
    throw new WalletError('BROADCAST_REFUSED', { txid: 'x', reason: 'dust' })
  }
  const { wallet, account } = await makeHome(t, { engine: () => ({ broadcastTx: refuse }) })
  await t.throwsAsync(wallet.spend(await wallet.makeSpend(pay('5'))), { code: 'BROADCAST_REFUSED' })
  const [{ txid = '' } = {}] = wallet.getSnapshot().openPayments
  t.like(wallet.getSnapshot().openPayments, [
    { state: 'refused', reason: 'dust', nativeAmount: '-5', targets: [{ publicAddress: 'shop' }] }
  ])
  t.is(wallet.similarPayments(await wallet.makeSpend(pay('5'))).length, 1)
  t.is(wallet.similarPayments(await wallet.makeSpend(pay('6'))).length, 0)
  await wallet.sync()
  await account.sync()
  t.deepEqual(sent, [txid])
  await t.throwsAsync(wallet.discardTx(txid), { code: 'BROADCAST_UNKNOWN' })
  isRefused = false
  t.is((await wallet.resendTx(txid)).txid, txid)
  t.deepEqual(sent, [txid, txid])
  t.deepEqual(wallet.unfinishedSpends(), [])
  t.is((await wallet.getTransaction(txid)).spendTargets?.[0]?.publicAddress, 'shop')
  t.like(wallet.getSnapshot().openPayments, [{ txid, state: 'notSeen' }])
})

test('a payment that may have been sent is sent again after a restart, with the same bytes, and saved with its note', async t => {
  const offline = async (): Promise<never> => {
    throw new Error('socket hang up')
  }
  const home = await makeHome(t, { engine: () => ({ broadcastTx: offline }) })
  const draft = await home.wallet.makeSpend(pay('5', { metadata: { notes: 'rent' } }))
  const error = await t.throwsAsync(home.wallet.spend(draft))
  t.true(isWalletError(error, 'BROADCAST_UNKNOWN'))
  const [unfinished] = home.wallet.unfinishedSpends()
  t.is(unfinished?.stage, 'sending')

  const resent: string[] = []
  const next = await restart(t, home, {
    onCall: (method, [tx]) => method === 'broadcastTx' && resent.push((tx as { signedTx: string }).signedTx)
  })
  await waitFor(() => next.wallet.unfinishedSpends().length === 0)
  t.deepEqual(resent, [unfinished?.tx.signedTx])
  const tx = await next.wallet.getTransaction(unfinished?.tx.txid ?? '')
  t.is(tx.metadata.notes, 'rent')
  t.is(tx.spendTargets?.[0]?.publicAddress, 'shop')
})

test('a signed transaction without a broadcast call is shown after a restart, and never sent automatically', async t => {
  const home = await makeHome(t)
  const signed = await home.wallet.signTx(await home.wallet.makeSpend(pay('5')))
  const sends: string[] = []
  const next = await restart(t, home, { onCall: method => sends.push(method) })
  await waitFor(() => next.wallet.engine.getSnapshot().state === 'started')
  await io.clock.turn()
  t.deepEqual(
    next.wallet.unfinishedSpends().map(({ stage, tx }) => [stage, tx.txid]),
    [['signed', signed.txid]]
  )
  t.false(sends.includes('broadcastTx'))
  await next.wallet.saveTx(await next.wallet.broadcastTx(signed))
  t.deepEqual(next.wallet.unfinishedSpends(), [])
})

test('a signed transaction that was never sent can be discarded, one that may have been sent cannot', async t => {
  const { wallet } = await makeHome(t)
  const signed = await wallet.signTx(await wallet.makeSpend(pay('5')))
  await wallet.discardTx(signed.txid)
  t.deepEqual(wallet.unfinishedSpends(), [])
  await t.throwsAsync(wallet.discardTx(signed.txid), { code: 'TX_NOT_FOUND' })
  const offline = async (): Promise<never> => {
    throw new Error('socket hang up')
  }
  const other = await makeHome(t, { engine: () => ({ broadcastTx: offline }) })
  await t.throwsAsync(other.wallet.spend(await other.wallet.makeSpend(pay('5'))), {
    code: 'BROADCAST_UNKNOWN'
  })
  const [unfinished] = other.wallet.unfinishedSpends()
  await t.throwsAsync(other.wallet.discardTx(unfinished?.tx.txid ?? ''), { code: 'BROADCAST_UNKNOWN' })
  t.is(other.wallet.unfinishedSpends().length, 1)
})

test('subscribe and getSnapshot of an account and a wallet work detached, and stay the same functions', async t => {
  const { account, wallet } = await makeHome(t)
  for (const watched of [account, account.currencyConfig('toycoin'), wallet, wallet.engine]) {
    const { subscribe, getSnapshot } = watched
    t.is(watched.subscribe, subscribe)
    t.is(watched.getSnapshot, getSnapshot)
    t.is(getSnapshot(), watched.getSnapshot())
    t.notThrows(subscribe(() => {}))
  }
  t.is(wallet.engine, wallet.engine)
  const { subscribe, getSnapshot } = wallet
  let received = 0
  const unsubscribe = subscribe(() => (received += 1))
  await wallet.rename('Games')
  t.is(getSnapshot().name, 'Games')
  t.true(received > 0)
  unsubscribe()
  const before = received
  await wallet.rename('Toys')
  t.is(received, before)
})

test('a new wallet opens while the sync servers are down, and its name goes up when they are back', async t => {
  const home = await makeHome(t)
  const stop = home.world.server.use(async (request, next) =>
    request.path.includes('/store/') ? { status: 503, headers: {}, body: 'down' } : next()
  )
  const wallet = await home.account.createCurrencyWallet('wallet:toycoin', { name: 'Made in a storm' })
  t.is(home.account.getSnapshot().walletIds.length, 2)
  t.is(wallet.name, 'Made in a storm')
  stop()
  await home.account.sync()
  const second = await openDevice(home.world, { plugins: [makeToy().plugin] })
  t.teardown(() => second.close())
  const account = await second.context.loginWithPassword('alice', 'Correct horse 1')
  t.is((await account.openWallet(wallet.id)).name, 'Made in a storm')
})

test('an account is made while the sync servers are down; nothing of it is lost', async t => {
  const world = makeFakeWorld({ io })
  const stop = world.server.use(async (request, next) =>
    request.path.includes('/store/') ? { status: 503, headers: {}, body: 'down' } : next()
  )
  const kernel = await openDevice(world, { plugins: [makeToy().plugin] })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({ username: 'stormy', password: 'Correct horse 1' })
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { name: 'Kept' })
  stop()
  await account.sync()
  const second = await openDevice(world, { plugins: [makeToy().plugin] })
  t.teardown(() => second.close())
  const again = await second.context.loginWithPassword('stormy', 'Correct horse 1')
  t.is((await again.openWallet(wallet.id)).name, 'Kept')
})

test('a transaction file that cannot be read is kept as it is: its note cannot be edited, and the listing goes on', async t => {
  const errors: string[] = []
  const home = await makeHome(t)
  home.toy.requests[0]?.callbacks.onTransactionsChanged([toyTransaction('a')])
  await waitFor(async () => (await home.wallet.getTransactions()).length === 1)
  await home.account.sync()
  const { dataKey, syncKey } = await home.account.walletKeys.getRawPrivateKey(home.wallet.id)
  const bytesOf = (key: unknown): Uint8Array => io.crypto.fromBase64(String(key))
  const store = `/api/v2/store/${io.crypto.toHex(bytesOf(syncKey))}/`
  const query = (method: string, body?: object) =>
    home.world.server
      .handle({ method, path: store, headers: {}, body: body === undefined ? '' : JSON.stringify(body) })
      .then(reply => JSON.parse(reply.body) as { changes: Record<string, object> })
  const [path = ''] = Object.keys((await query('GET')).changes).filter(name =>
    name.startsWith('transaction/')
  )
  const odd = sealText(io, bytesOf(dataKey), '{"txid":"a","form":"of another age"}')
  await query('POST', { changes: { [path]: odd } })

  const other = await openDevice(home.world, {
    plugins: [makeToy().plugin],
    onError: (source, error) => errors.push(`${source} ${(error as Error).message}`)
  })
  t.teardown(() => other.close())
  const account = await other.context.loginWithPassword('alice', 'Correct horse 1')
  const wallet = await account.openWallet(home.wallet.id)
  await home.account.sync()
  t.is((await home.wallet.getTransactions()).length, 1)
  await t.throwsAsync(home.wallet.saveTxMetadata('a', { notes: 'x' }), { code: 'CORRUPT_FILE' })
  t.deepEqual((await query('GET')).changes[path], { ...odd })
  t.truthy(wallet)
})

test('an engine that cannot be created fails alone: its wallet shows the error, others work, and a later start succeeds [4.20]', async t => {
  let isBroken = true
  const engines = makeToy({ id: 'other' })
  const broken = makeToy({ id: 'broken' })
  const plugin: CurrencyPlugin = {
    ...broken.plugin,
    apply(host) {
      broken.plugin.apply({
        ...host,
        hooks: {
          ...host.hooks,
          makeEngine: {
            tapPromise: (name, fn) =>
              host.hooks.makeEngine.tapPromise(name, async request => {
                if (isBroken) throw new Error('cannot')
                return fn(request)
              })
          }
        }
      })
    }
  }
  const { account } = await makeHome(t, {}, [engines.plugin, plugin])
  const bad = await account.createCurrencyWallet('wallet:broken')
  const good = await account.createCurrencyWallet('wallet:other')
  await waitFor(() => bad.engine.getSnapshot().state === 'failed')
  t.is(bad.engine.getSnapshot().errorCode, 'PLUGIN_FAILED')
  await t.throwsAsync(bad.getReceiveAddress(), { code: 'ENGINE_FAILED' })
  t.truthy((await good.getReceiveAddress()).publicAddress)
  isBroken = false
  await bad.changePaused(false)
  t.is(bad.engine.getSnapshot().state, 'started')
  t.truthy((await bad.getReceiveAddress()).publicAddress)
})

test('an engine is created, started, stopped while paused, and stopped for good at logout [4.19]', async t => {
  const states: string[] = []
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply: ({ hooks }) =>
      hooks.engineChanged.tap('watch', ({ state, isPaused }) => {
        const line = `${state}${isPaused ? ' paused' : ''}`
        if (states.at(-1) !== line) states.push(line)
      })
  }
  const calls: string[] = []
  const { wallet, account } = await makeHome(t, { onCall: method => calls.push(method) }, [watch])
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  await account.logout()
  t.deepEqual(
    states.filter(state => state !== 'created'),
    ['started', 'started paused', 'stopped paused', 'stopped', 'started', 'stopped']
  )
  t.deepEqual(
    calls.filter(method => ['startEngine', 'killEngine'].includes(method)),
    ['startEngine', 'killEngine', 'startEngine', 'killEngine']
  )
})

test('new incoming transactions get a file each, on this device once, with one event', async t => {
  const events: string[][] = []
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply: ({ hooks }) =>
      hooks.transactionsChanged.tap('watch', ({ created }) => void events.push([...created]))
  }
  const home = await makeHome(t, {}, [watch])
  const [request] = home.toy.requests
  request?.callbacks.onTransactionsChanged([toyTransaction('in-1'), toyTransaction('in-2')])
  await waitFor(() => events.length === 1)
  t.deepEqual(events, [['in-1', 'in-2']])
  const seen = await home.wallet.getTransaction('in-1')
  t.is(seen.confirmations, 'unconfirmed')
  await home.account.sync()

  const later: string[][] = []
  const again: ObserverPlugin = {
    ...watch,
    apply: ({ hooks }) =>
      hooks.transactionsChanged.tap('watch', ({ created }) => void later.push([...created]))
  }
  const next = await restart(t, home, {}, [again])
  await waitFor(() => next.toy.requests.length === 1)
  next.toy.requests[0]?.callbacks.onTransactionsChanged([toyTransaction('in-1'), toyTransaction('in-3')])
  await waitFor(() => later.length > 0)
  t.deepEqual(later, [['in-3']])
})

test('a transaction named like a prototype key is a transaction like any other', async t => {
  const { wallet, toy } = await makeHome(t)
  toy.requests[0]?.callbacks.onTransactionsChanged([
    toyTransaction('__proto__'),
    toyTransaction('constructor')
  ])
  await waitFor(async () => (await wallet.getTransactions()).length === 2)
  await wallet.saveTxMetadata('__proto__', { notes: 'odd' })
  t.is((await wallet.getTransaction('__proto__')).metadata.notes, 'odd')
  t.is(({} as { notes?: string }).notes, undefined)
})

test('a new height confirms transactions with the new height, not one block late', async t => {
  const { wallet, toy } = await makeHome(t, { info: { requiredConfirmations: 3 } })
  const [request] = toy.requests
  request?.callbacks.onTransactionsChanged([toyTransaction('a', { blockHeight: 100 })])
  await waitFor(async () => (await wallet.getTransactions()).length === 1)
  const depthAt = async (height: number) => {
    request?.callbacks.onBlockHeightChanged(height)
    return (await wallet.getTransaction('a')).confirmations
  }
  t.deepEqual([await depthAt(100), await depthAt(101), await depthAt(102)], [1, 2, 'confirmed'])
  t.is(await depthAt(99), 'confirmed')
})

test('a note is changed, kept where absent, deleted by null, and refused for an unknown transaction', async t => {
  const { wallet, toy } = await makeHome(t)
  toy.requests[0]?.callbacks.onTransactionsChanged([toyTransaction('a')])
  await waitFor(async () => (await wallet.getTransactions()).length === 1)
  await wallet.saveTxMetadata('a', { name: 'Ann', notes: 'hi', exchangeAmount: { 'iso:USD': 2 } })
  await wallet.saveTxMetadata('a', { name: null, category: 'Income', exchangeAmount: { 'iso:EUR': 1 } })
  t.deepEqual((await wallet.getTransaction('a')).metadata, {
    notes: 'hi',
    category: 'Income',
    exchangeAmount: { 'iso:USD': 2, 'iso:EUR': 1 },
    amountFiat: 2
  })
  await t.throwsAsync(wallet.saveTxMetadata('nope', { name: 'x' }), { code: 'TX_NOT_FOUND' })
})

test('receive addresses: fresh, saved with a label, and locked so that the engine counts them as used', async t => {
  const locked: unknown[] = []
  const home = await makeHome(t, {
    onCall: (method, args) => method === 'addGapLimitAddresses' && locked.push(args[0])
  })
  const { publicAddress } = await home.wallet.getReceiveAddress()
  await home.wallet.saveReceiveAddress(publicAddress, { name: 'Invoice 7' })
  likeList(t, await home.wallet.savedAddresses(), [{ address: publicAddress, recycleable: true }])
  await home.wallet.lockReceiveAddress(publicAddress, { notes: 'given to Bob' })
  const [record] = await home.wallet.savedAddresses()
  t.like(record, { recycleable: false, metadata: { name: 'Invoice 7', notes: 'given to Bob' } })
  t.deepEqual(locked, [[], [publicAddress]])

  const after: unknown[] = []
  await restart(t, home, {
    onCall: (method, args) => method === 'addGapLimitAddresses' && after.push(args[0])
  })
  await waitFor(() => after.length > 0)
  t.deepEqual(after, [[publicAddress]])
})

test('a name or fiat code that another device wrote is shown after a sync; the default is iso:USD [9.15] [5.19]', async t => {
  const home = await makeHome(t)
  const second = await openDevice(home.world, { plugins: [makeToy().plugin] })
  t.teardown(() => second.close())
  const account = await second.context.loginWithPassword('alice', 'Correct horse 1')
  await home.account.sync()
  const wallet = await account.openWallet(home.wallet.id)
  t.is(wallet.getSnapshot().fiatCurrencyCode, 'iso:USD')
  await home.wallet.rename('Renamed')
  await home.wallet.setFiatCurrencyCode('iso:EUR')
  await t.throwsAsync(home.wallet.setFiatCurrencyCode('EUR'), { code: 'FIAT_CODE' })
  await home.account.sync()
  await account.sync()
  await waitFor(() => wallet.name === 'Renamed' && wallet.getSnapshot().fiatCurrencyCode === 'iso:EUR')
  t.pass()
})

test('a transaction event names the assets that the engine reported, and none where others may have changed', async t => {
  const events: (readonly string[] | undefined)[] = []
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply: ({ hooks }) => hooks.transactionsChanged.tap('watch', ({ tokenIds }) => void events.push(tokenIds))
  }
  const { account, toy, clock } = await openToyHome(t, { device: { plugins: [watch] } })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  const eventCount = (count: number): Promise<void> =>
    waitFor(async () => {
      // Events of one wallet come seconds apart.
      await clock.advance(1000)
      return events.length === count
    })
  const report = toy.requests[0]?.callbacks.onTransactionsChanged
  report?.([
    toyTransaction('in-1', { tokenId: 'gold' }),
    toyTransaction('in-2'),
    toyTransaction('in-3', { tokenId: 'gold' })
  ])
  await eventCount(1)
  t.deepEqual(events, [['', 'gold']])
  // What is known already is no change, and adds no asset.
  report?.([toyTransaction('in-2'), toyTransaction('in-4', { tokenId: 'silver' })])
  await eventCount(2)
  t.deepEqual(events[1], ['silver'])
  const { txid } = await wallet.signTx(await wallet.makeSpend(pay('5')))
  await wallet.forgetTx(txid)
  await eventCount(3)
  t.is(events[2], undefined)
})

test('observers get a transaction event when its payment is forgotten', async t => {
  const events: string[][] = []
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply: ({ hooks }) =>
      hooks.transactionsChanged.tap('watch', ({ changed }) => void events.push([...changed]))
  }
  const { wallet } = await makeHome(t, {}, [watch])
  const { txid } = await wallet.signTx(await wallet.makeSpend(pay('5')))
  await wallet.forgetTx(txid)
  await waitFor(() => events.length > 0)
  t.deepEqual(events, [[txid]])
})

test('a maximum that is no amount is refused', async t => {
  for (const maximum of ['lots', '-1', '1.5', 5, null]) {
    const { wallet } = await makeHome(t, {
      engine: () => ({ getMaxSpendable: async () => maximum as never })
    })
    await t.throwsAsync(wallet.getMaxSpendable(pay('0')), { code: 'BOGUS_DATA' }, `${maximum}`)
  }
})
