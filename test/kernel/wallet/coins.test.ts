import type { ExecutionContext } from 'ava'
import test from 'ava'
import {
  type CurrencyWallet,
  coinLabel,
  importLabels,
  isWalletError,
  labelLine,
  nativeAmount,
  type SpendInfo,
  type Transaction
} from '../../../kernel/index.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import type { EngineCoin } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { waitFor } from '../../helpers/device.ts'
import { passWalletError } from '../../helpers/drawn-runs.ts'
import { makeKnownUser } from '../../helpers/known-user.ts'
import { makeToy, type ToyOptions, toyTransaction } from '../../helpers/toy-currency.ts'
import { nameOf } from '../../helpers/user-record.ts'

const io = makeNodeIo()
const COIN: EngineCoin = {
  ...{ txid: 'aa', vout: 1, publicAddress: 'mine', blockHeight: 7, state: 'spendable' },
  nativeAmount: nativeAmount('5')
}

const openToy = async (t: ExecutionContext, engine: ToyOptions['engine']): Promise<CurrencyWallet> => {
  const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: 'aa'.repeat(32) })
  const { account } = await makeKnownUser(t, { infos: [info] }).logIn({
    plugins: [makeToy(engine === undefined ? {} : { engine }).plugin]
  })
  return account.openWallet(info.id)
}

const pay = (coins: readonly string[]): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }],
  coins
})

test('coins are frozen and labelled once the engine has received it, and an engine that is made again gets them first', async t => {
  const frozenNow: (readonly string[])[] = []
  const wallet = await openToy(t, () => ({
    listCoins: async () => [COIN],
    freezeCoins: async outpoints => void frozenNow.push(outpoints)
  }))
  t.deepEqual(await wallet.listCoins(), [{ ...COIN, isFrozen: false }])
  await wallet.changeCoin('aa:1', { isFrozen: true, label: 'Rain' })
  await wallet.changeCoin('bb:0', { isFrozen: true })
  t.deepEqual(
    frozenNow.map(each => [...each].sort()),
    [[], ['aa:1'], ['aa:1', 'bb:0']]
  )
  t.deepEqual(await wallet.listCoins(), [{ ...COIN, isFrozen: true, label: 'Rain' }])
  await wallet.changeCoin('aa:1', { label: '' })
  t.deepEqual(await wallet.listCoins(), [{ ...COIN, isFrozen: true }])
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  t.deepEqual([...(frozenNow.at(-1) ?? [])].sort(), ['aa:1', 'bb:0'])
  const lines = (await wallet.coinNotes())
    .map(note => coinLabel(wallet.id, note))
    .map(row => row && labelLine(row))
  await wallet.changeCoin('aa:1', { isFrozen: false })
  const results = []
  for await (const { ref, status } of importLabels(
    lines.map(line => line ?? ''),
    { wallets: [wallet] }
  ))
    results.push(`${ref} ${status}`)
  t.deepEqual(results.sort(), ['aa:1 applied', 'bb:0 same'])
  t.true((await wallet.listCoins())[0]?.isFrozen)
})

test('what is no coin or no change of one is refused, and a currency without coins says so', async t => {
  const wallet = await openToy(t, () => ({ listCoins: async () => [], freezeCoins: async () => {} }))
  for (const outpoint of ['', 'aa', 'aa:', 'aa:x', 'a a:1', `${'a'.repeat(201)}:1`])
    await t.throwsAsync(wallet.changeCoin(outpoint, { isFrozen: true }), { code: 'OPTION_INVALID' })
  for (const change of [{ isFrozen: 1 }, { label: 7 }, { label: '\ud83d' }, { label: 'x'.repeat(100_001) }])
    await t.throwsAsync(wallet.changeCoin('aa:1', change as never), { code: 'OPTION_INVALID' })
  t.deepEqual(await wallet.coinNotes(), [])
  const plain = await openToy(t, undefined)
  for (const call of [
    () => plain.listCoins(),
    () => plain.changeCoin('aa:1', {}),
    () => plain.makeSpend(pay(['aa:1'])),
    () => plain.getMaxSpendable(pay(['aa:1']))
  ])
    await t.throwsAsync(call, { code: 'NOT_SUPPORTED' })
})

test('a list of coins of another form, and a draft of other coins than the chosen ones, are refused', async t => {
  let listed: unknown
  let spentCoins: readonly string[] | undefined
  const wallet = await openToy(t, () => ({
    listCoins: async () => listed as never,
    freezeCoins: async () => {},
    makeSpend: async () => ({
      ...toyTransaction('', {}),
      ...(spentCoins === undefined ? {} : { spentCoins })
    })
  }))
  for (listed of [
    undefined,
    'x',
    [7],
    [{ ...COIN, txid: '' }],
    [{ ...COIN, vout: -1 }],
    [{ ...COIN, nativeAmount: '-5' }],
    [{ ...COIN, publicAddress: 7 }],
    [{ ...COIN, blockHeight: 0.5 }],
    [{ ...COIN, state: 'gone' }]
  ])
    await t.throwsAsync(wallet.listCoins(), { code: 'BOGUS_DATA' })
  for (spentCoins of [undefined, [], ['bb:0'], ['aa:1', 'bb:0']])
    await t.throwsAsync(wallet.makeSpend(pay(['aa:1'])), { code: 'BOGUS_TX' })
  spentCoins = ['aa:1']
  await t.notThrowsAsync(wallet.makeSpend(pay(['aa:1'])))
})

test('a note that cannot be read keeps its coin frozen, and one in the file of another coin freezes nothing', async t => {
  const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: 'aa'.repeat(32) })
  const user = makeKnownUser(t, { infos: [info] })
  let frozen: readonly string[] = []
  const engine: ToyOptions['engine'] = () => ({
    listCoins: async () => [COIN, { ...COIN, txid: 'bb' }],
    freezeCoins: async outpoints => {
      frozen = [...outpoints].sort()
    }
  })
  const { account, errors } = await user.logIn({ plugins: [makeToy({ engine }).plugin] })
  const wallet = await account.openWallet(info.id)
  await wallet.changeCoin('aa:1', { isFrozen: true })
  await wallet.changeCoin('bb:1', { isFrozen: false })
  await wallet.changeCoin('cc:1', { isFrozen: true })
  t.deepEqual(frozen, ['aa:1', 'cc:1'])
  await account.sync()
  const pathOf = (outpoint: string): string => `Coins/${nameOf(info, outpoint)}.json`
  t.like(user.read(info, pathOf('aa:1')), { outpoint: 'aa:1', isFrozen: true })
  user.put(info, {
    [pathOf('aa:1')]: { outpoint: 7, isFrozen: true },
    [pathOf('cc:1')]: { outpoint: 'bb:1', isFrozen: true }
  })
  await account.sync()
  await waitFor(() => !frozen.includes('cc:1'))
  t.deepEqual(frozen, ['aa:1'])
  t.true(errors.length > 0)
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  t.deepEqual(frozen, ['aa:1'])
  t.like((await wallet.listCoins())[0], { txid: 'aa', isFrozen: true })
  await wallet.changeCoin('aa:1', { label: 'rent' })
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  t.deepEqual(frozen, ['aa:1'], 'a label frees no coin')
  await wallet.changeCoin('aa:1', { isFrozen: false })
  t.deepEqual(frozen, [])
})

test('a coin that comes after its note, which cannot be read, is taken by no draft', async t => {
  const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: 'aa'.repeat(32) })
  const user = makeKnownUser(t, { infos: [info] })
  user.put(info, { [`Coins/${nameOf(info, 'aa:1')}.json`]: { outpoint: 7, isFrozen: true } })
  const coins: EngineCoin[] = []
  let frozen: readonly string[] = []
  const engine: ToyOptions['engine'] = good => ({
    listCoins: async () => coins,
    freezeCoins: async outpoints => {
      frozen = outpoints
    },
    async makeSpend(spend, keys) {
      const outpoints = coins.map(({ txid, vout }) => `${txid}:${vout}`)
      const free = outpoints.filter(outpoint => !frozen.includes(outpoint)).slice(0, 1)
      return { ...(await good.makeSpend(spend, keys)), spentCoins: free }
    }
  })
  const { account } = await user.logIn({ plugins: [makeToy({ engine }).plugin] })
  const wallet = await account.openWallet(info.id)
  await wallet.listCoins()
  coins.push(COIN, { ...COIN, txid: 'bb' })
  const { spentCoins } = await wallet.makeSpend({ tokenId: null, spendTargets: pay([]).spendTargets })
  t.deepEqual(spentCoins, ['bb:1'])
})

test('a coin that comes after its note, which cannot be read, is frozen once its payment is reported', async t => {
  const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: 'aa'.repeat(32) })
  const user = makeKnownUser(t, { infos: [info] })
  const note = (outpoint: string) => ({ [`Coins/${nameOf(info, outpoint)}.json`]: { outpoint: 7 } })
  user.put(info, { ...note('aa:1'), ...note('bb:1') })
  const coins: EngineCoin[] = []
  let frozen: readonly string[] = []
  const toy = makeToy({
    engine: () => ({
      listCoins: async () => coins,
      freezeCoins: async outpoints => {
        frozen = [...outpoints].sort()
      }
    })
  })
  const { account } = await user.logIn({ plugins: [toy.plugin] })
  const wallet = await account.openWallet(info.id)
  await wallet.listCoins()
  t.deepEqual(frozen, [])
  const comes = (txid: string): void => {
    coins.push({ ...COIN, txid })
    toy.requests.at(-1)?.callbacks.onTransactionsChanged([toyTransaction(txid)])
  }
  comes('aa')
  await waitFor(() => frozen.length === 1)
  comes('cc')
  comes('bb')
  await waitFor(() => frozen.length === 2)
  t.deepEqual(frozen, ['aa:1', 'bb:1'])
})

test('a coin that is frozen after the signature keeps the payment from being sent, unless its bytes may have left', async t => {
  let isDown = true
  const sent: string[] = []
  const wallet = await openToy(t, good => ({
    listCoins: async () => [COIN],
    freezeCoins: async () => {},
    reservePayments: async () => {},
    makeSpend: async (spend, keys) => ({ ...(await good.makeSpend(spend, keys)), spentCoins: ['aa:1'] }),
    async broadcastTx(tx) {
      sent.push(tx.txid)
      if (isDown) throw new Error('no server')
      return tx
    }
  }))
  const bytes = await wallet.signTx(await wallet.makeSpend(pay(['aa:1'])))
  await wallet.changeCoin('aa:1', { isFrozen: true })
  for (const send of [() => wallet.broadcastTx(bytes), () => wallet.resendTx(bytes.txid)]) {
    const error = await t.throwsAsync(send(), { code: 'COIN_FROZEN' })
    t.true(
      isWalletError(error, 'COIN_FROZEN') && error.details.coin === 'aa:1' && error.details.isKept === true
    )
  }
  const ofAnother = await t.throwsAsync(
    wallet.broadcastTx({
      ...bytes,
      ...toyTransaction('another', { signedTx: 'another' }),
      spentCoins: ['aa:1']
    }),
    {
      code: 'COIN_FROZEN'
    }
  )
  t.true(isWalletError(ofAnother, 'COIN_FROZEN') && !ofAnother.details.isKept)
  t.deepEqual(sent, [])
  t.is(wallet.getSnapshot().openPayments[0]?.state, 'signed')
  await wallet.changeCoin('aa:1', { isFrozen: false })
  await t.throwsAsync(wallet.broadcastTx(bytes), { code: 'BROADCAST_UNKNOWN' })
  await wallet.changeCoin('aa:1', { isFrozen: true })
  isDown = false
  t.is((await wallet.resendTx(bytes.txid)).txid, bytes.txid)
  t.true(sent.length >= 2)
})

test('a sweep is not sent once a wallet of the account pays with a coin of it', async t => {
  const wallet = await openToy(t, good => ({
    listCoins: async () => [COIN],
    freezeCoins: async () => {},
    reservePayments: async () => {},
    makeSpend: async (spend, keys) => ({ ...(await good.makeSpend(spend, keys)), spentCoins: ['aa:1'] }),
    sweepPrivateKeys: async () =>
      toyTransaction('swept', { signedTx: 'swept', ourReceiveAddresses: ['mine'], spentCoins: ['aa:1'] })
  }))
  const swept = await wallet.sweepPrivateKeys({ tokenId: null, spendTargets: [], privateKeys: ['k'] })
  await wallet.signTx(await wallet.makeSpend(pay(['aa:1'])))
  await t.throwsAsync(wallet.broadcastTx(swept), { code: 'SIGN_REFUSED', message: /reserved/ })
  t.false(wallet.getSnapshot().openPayments.some(({ txid }) => txid === 'swept'))
})

test('a coin that is frozen while a payment is signed keeps it from being signed', async t => {
  const wallet: CurrencyWallet = await openToy(t, good => ({
    listCoins: async () => [COIN],
    freezeCoins: async () => {},
    makeSpend: async (spend, keys) => ({ ...(await good.makeSpend(spend, keys)), spentCoins: ['aa:1'] }),
    async signTx(tx, keys) {
      await wallet.changeCoin('aa:1', { isFrozen: true })
      return good.signTx(tx, keys)
    }
  }))
  for (const sign of [
    (draft: Transaction) => wallet.signTx(draft),
    (draft: Transaction) => wallet.spend(draft)
  ]) {
    await wallet.changeCoin('aa:1', { isFrozen: false })
    const error = await t.throwsAsync(sign(await wallet.makeSpend(pay(['aa:1']))), { code: 'COIN_FROZEN' })
    t.true(isWalletError(error, 'COIN_FROZEN') && !error.details.isKept)
    t.deepEqual(wallet.getSnapshot().openPayments, [])
  }
})

test('a coin that is frozen while the application keeps the signed payment is not sent, and what it reserved is free', async t => {
  const sent: string[] = []
  let reserved: readonly string[] = []
  const wallet = await openToy(t, good => ({
    listCoins: async () => [COIN],
    freezeCoins: async () => {},
    reservePayments: async payments => {
      reserved = payments.map(({ txid }) => txid)
    },
    makeSpend: async (spend, keys) => ({ ...(await good.makeSpend(spend, keys)), spentCoins: ['aa:1'] }),
    async broadcastTx(tx) {
      sent.push(tx.txid)
      throw new Error('no server')
    }
  }))
  const draft = await wallet.makeSpend(pay(['aa:1']))
  const spending = wallet.spend(draft, { onSigned: () => wallet.changeCoin('aa:1', { isFrozen: true }) })
  const error = await t.throwsAsync(spending, { code: 'COIN_FROZEN' })
  t.true(isWalletError(error, 'COIN_FROZEN') && !error.details.isKept)
  t.deepEqual(sent, [])
  t.deepEqual(wallet.getSnapshot().openPayments, [])
  t.deepEqual(reserved, [])
  await wallet.changeCoin('aa:1', { isFrozen: false })
  const onSigned = async (signed: Transaction): Promise<void> => {
    await t.throwsAsync(wallet.broadcastTx(signed), { code: 'BROADCAST_UNKNOWN' })
    await wallet.changeCoin('aa:1', { isFrozen: true })
  }
  await t.throwsAsync(wallet.spend(draft, { onSigned }), { code: 'BROADCAST_UNKNOWN' })
  t.is(sent.length, 2, 'what the application has sent itself is not taken back')
  t.is(reserved.length, 1)
})

for (const call of ['broadcastTx', 'resendTx'] as const) {
  test(`a payment whose coin is frozen while ${call} begins to send it is kept`, async t => {
    let sent = 0
    const wallet = await openToy(t, good => ({
      listCoins: async () => [COIN],
      freezeCoins: async () => {},
      makeSpend: async (spend, keys) => ({ ...(await good.makeSpend(spend, keys)), spentCoins: ['aa:1'] }),
      async broadcastTx() {
        sent += 1
        throw new Error('the answer is lost')
      }
    }))
    let sending: Promise<unknown> | undefined
    const onSigned = async (signed: Transaction): Promise<void> => {
      await wallet.changeCoin('aa:1', { isFrozen: true })
      const begun = call === 'resendTx' ? wallet.resendTx(signed.txid) : wallet.broadcastTx(signed)
      sending = begun.catch(passWalletError)
    }
    const draft = await wallet.makeSpend(pay(['aa:1']))
    await t.throwsAsync(wallet.spend(draft, { onSigned }), { code: 'BROADCAST_UNKNOWN' })
    await sending
    t.true(sent > 0)
    t.is(wallet.getSnapshot().openPayments.length, 1)
  })
}

/** Counts the rounds of the event loop until a promise is settled, up to a limit. */
const roundsOf = async (promise: Promise<unknown>, most = Number.POSITIVE_INFINITY): Promise<number> => {
  let isOver = false
  const over = (): void => {
    isOver = true
  }
  promise.then(over, over)
  let rounds = 0
  for (; rounds < most && !isOver; rounds += 1) await new Promise(resolve => setImmediate(resolve))
  return rounds
}

test('a reading of notes that began before a coin was frozen does not free it', async t => {
  const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: 'aa'.repeat(32) })
  const user = makeKnownUser(t, { infos: [info] })
  const calls: (readonly string[])[] = []
  let hold: Promise<void> | undefined
  const engine: ToyOptions['engine'] = () => ({
    listCoins: async () => [COIN],
    freezeCoins: async outpoints => {
      const held = hold
      hold = undefined
      await held
      calls.push([...outpoints].sort())
    }
  })
  const { account } = await user.logIn({ plugins: [makeToy({ engine }).plugin] })
  const wallet = await account.openWallet(info.id)
  await wallet.listCoins()
  const usual = await roundsOf(wallet.changeCoin('aa:1', { label: 'Rain' }))
  let go = (): void => {}
  hold = new Promise(resolve => {
    go = resolve
  })
  const pathOf = (outpoint: string): string => `Coins/${nameOf(info, outpoint)}.json`
  user.put(info, { [pathOf('dd:1')]: { outpoint: 'dd:1', isFrozen: true } })
  await account.sync()
  await waitFor(() => hold === undefined)
  const freezing = wallet.changeCoin('aa:1', { isFrozen: true })
  // It must not overtake the reading that is under way.
  t.is(await roundsOf(freezing, 20 * usual), 20 * usual)
  go()
  await freezing
  await waitFor(() => calls.some(call => call.join() === 'dd:1'))
  t.deepEqual(calls.at(-1), ['aa:1', 'dd:1'])
})

test('an output row with a label that no coin can have is invalid, and the rows behind it are imported', async t => {
  const wallet = await openToy(t, () => ({ listCoins: async () => [COIN], freezeCoins: async () => {} }))
  const lines = [
    JSON.stringify({ type: 'output', ref: 'aa:1', holdfast: { name: 'x'.repeat(100_001) } }),
    JSON.stringify({ type: 'output', ref: 'aa:1', label: 'Rain', spendable: false })
  ]
  const statuses: string[] = []
  for await (const { status } of importLabels(lines, { wallets: [wallet] })) statuses.push(status)
  t.deepEqual(statuses, ['invalid', 'applied'])
  t.like((await wallet.listCoins())[0], { isFrozen: true, label: 'Rain' })
})

test('a wallet that only watches drafts no payment, and one with keys does', async t => {
  for (const isWatchOnly of [true, false]) {
    const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: 'aa'.repeat(32), isWatchOnly })
    const calls: string[] = []
    const { plugin } = makeToy({ onCall: method => void calls.push(method) })
    const { account } = await makeKnownUser(t, { infos: [info] }).logIn({ plugins: [plugin] })
    const wallet = await account.openWallet(info.id)
    const draft = wallet.makeSpend({ tokenId: null, spendTargets: pay([]).spendTargets })
    const error = await draft.then(
      () => undefined,
      (reason: unknown) => reason
    )
    t.is(isWalletError(error, 'WATCH_ONLY'), isWatchOnly)
    t.is(calls.includes('makeSpend'), !isWatchOnly)
  }
})
