import type { ExecutionContext } from 'ava'
import test from 'ava'
import { makeFakeWorld } from '../../../../fake-server/fake-world.ts'
import {
  type CurrencyWallet,
  nativeAmount,
  type Plugin,
  type SpendInfo,
  type Transaction
} from '../../../../kernel/index.ts'
import type { EngineTransaction } from '../../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { openDevice, waitFor } from '../../../helpers/device.ts'
import { makeToy, type ToyOptions } from '../../../helpers/toy-currency.ts'

const PAY: SpendInfo = {
  tokenId: null,
  spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('10') }],
  memos: [{ type: 'text', value: 'order 7' }]
}

const openWallet = async (
  t: ExecutionContext,
  options: ToyOptions,
  plugins: readonly Plugin[] = []
): Promise<{ wallet: CurrencyWallet; faults: unknown[] }> => {
  const faults: unknown[] = []
  const toy = makeToy({
    ...options,
    info: { memoOptions: [{ type: 'text', maxLength: 100 }] }
  })
  const kernel = await openDevice(makeFakeWorld({ io: makeNodeIo() }), {
    plugins: [toy.plugin, ...plugins],
    onError: (_source, error) => void faults.push(error)
  })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.balanceOf(null) === '1000')
  return { wallet, faults }
}

const LIES: readonly [field: string, lie: object][] = [
  ['nativeAmount', { nativeAmount: '-999' }],
  ['networkFee', { networkFee: '400' }],
  ['parentNetworkFee', { parentNetworkFee: '7' }],
  ['tokenId', { tokenId: 'f00d' }],
  ['currencyCode', { currencyCode: 'BTC' }],
  ['memos', { memos: [{ type: 'text', value: 'order 8' }] }],
  ['ourReceiveAddresses', { ourReceiveAddresses: ['theirs'] }],
  ['isSend', { isSend: false }],
  ['walletId', { walletId: 'another' }],
  ['spendTargets', { spendTargets: [{ currencyCode: 'TOY', publicAddress: 'thief', nativeAmount: '10' }] }],
  ['swapData', { swapData: { payoutAddress: 'thief' } }]
]

for (const [field, lie] of LIES) {
  test(`an engine that signs another ${field} than the reviewed one is refused before anything is saved or sent`, async t => {
    const calls: string[] = []
    let isLying = true
    const { wallet } = await openWallet(t, {
      engine: good => ({
        signTx: async (tx, keys) => ({ ...(await good.signTx(tx, keys)), ...(isLying ? lie : {}) })
      }),
      onCall: method => void calls.push(method)
    })
    const draft = await wallet.makeSpend(PAY)
    for (const sign of [() => wallet.spend(draft), () => wallet.signTx(draft)]) {
      await t.throwsAsync(sign(), { code: 'SIGNED_OTHERWISE', message: new RegExp(field) })
    }
    t.false(calls.includes('broadcastTx'))
    t.deepEqual(wallet.unfinishedSpends(), [])
    t.deepEqual(await wallet.getTransactions(), [])
    isLying = false
    t.is((await wallet.spend(draft)).nativeAmount, nativeAmount('-10'))
  })
}

test('an engine that changes the draft it was given, or what it has handed out, changes nothing of what was reviewed', async t => {
  let handedOut: EngineTransaction | undefined
  const { wallet } = await openWallet(t, {
    engine: good => ({
      async makeSpend(spend, keys) {
        handedOut = { ...(await good.makeSpend(spend, keys)), otherParams: { to: ['shop'] } }
        return handedOut
      },
      async signTx(tx, keys) {
        const signed = await good.signTx(tx, keys)
        // As plugins of the deployed system do: into the very object that they were given.
        Object.assign(tx, { txid: signed.txid, signedTx: signed.signedTx, date: 1_700_000_001 })
        return tx
      }
    })
  })
  const draft = await wallet.makeSpend(PAY)
  Object.assign(handedOut?.otherParams?.to ?? [], ['thief'])
  Object.assign(handedOut ?? {}, { networkFee: '400' })
  t.deepEqual(draft.otherParams, { to: ['shop'] })
  t.throws(() => Object.assign(draft.otherParams?.to ?? [], ['thief']), { instanceOf: TypeError })
  const sent = await wallet.spend(draft)
  t.is(draft.txid, '')
  t.is(draft.networkFee, nativeAmount('1'))
  t.deepEqual([sent.networkFee, sent.date], [nativeAmount('1'), 1_700_000_001])
  t.deepEqual(sent.otherParams, { to: ['shop'] })
})

test('what a policy saw is what is signed, although the caller changes the draft meanwhile', async t => {
  const seen: string[] = []
  const signed: unknown[] = []
  const draftOf: { current?: { nativeAmount: string } } = {}
  const policy: Plugin = {
    kind: 'policy',
    id: 'watch',
    apply: ({ hooks }) =>
      hooks.beforeSign.tapPromise('watch', async spend => {
        seen.push(spend.nativeAmount)
        if (draftOf.current !== undefined) draftOf.current.nativeAmount = '-999'
      })
  }
  const { wallet } = await openWallet(
    t,
    { onCall: (method, [tx]) => method === 'signTx' && signed.push((tx as EngineTransaction).nativeAmount) },
    [policy]
  )
  const draft = { ...(await wallet.makeSpend(PAY)) }
  draftOf.current = draft as { nativeAmount: string }
  const sent = await wallet.spend(draft)
  t.deepEqual([seen, signed, sent.nativeAmount], [['10'], ['-10'], nativeAmount('-10')])
})

test('the result of a broadcast changes no fact of the payment', async t => {
  const { wallet, faults } = await openWallet(t, {
    engine: () => ({
      broadcastTx: async tx => ({
        ...tx,
        date: 1_700_000_002,
        nativeAmount: nativeAmount('-999'),
        networkFee: nativeAmount('400')
      })
    })
  })
  const sent = await wallet.spend(await wallet.makeSpend(PAY))
  t.is(sent.date, 1_700_000_002)
  t.deepEqual([sent.nativeAmount, sent.networkFee], [nativeAmount('-10'), nativeAmount('1')])
  const [kept] = await wallet.getTransactions()
  t.deepEqual([kept?.nativeAmount, kept?.networkFee], [nativeAmount('-10'), nativeAmount('1')])
  t.true(faults.some(fault => (fault as { code?: string }).code === 'SIGNED_OTHERWISE'))
})

test('a payment that the engine sends as it was signed reports nothing', async t => {
  const { wallet, faults } = await openWallet(t, {})
  const [sent] = [await wallet.spend(await wallet.makeSpend(PAY))]
  t.is((await wallet.getTransactions())[0]?.txid, sent.txid)
  t.deepEqual(faults, [])
})

test('an engine that names another txid when it has sent a payment is reported, and the signed one stays', async t => {
  const { wallet, faults } = await openWallet(t, {
    engine: () => ({ broadcastTx: async tx => ({ ...tx, txid: 'another' }) })
  })
  const sent = await wallet.spend(await wallet.makeSpend(PAY))
  t.not(sent.txid, 'another')
  t.deepEqual(
    (await wallet.getTransactions()).map(({ txid }) => txid),
    [sent.txid]
  )
  t.like(
    faults.find(fault => (fault as { code?: string }).code === 'SIGNED_OTHERWISE'),
    { details: { field: 'txid' } }
  )
})

test('bytes that do something else than the draft says are refused where the engine can tell', async t => {
  const { wallet } = await openWallet(t, {
    engine: () => ({
      async checkSignedTx(_tx, targets) {
        t.is(targets[0]?.publicAddress, 'shop')
        throw new Error('spendTargets are not what the bytes pay')
      }
    })
  })
  await t.throwsAsync(wallet.spend(await wallet.makeSpend(PAY)), { code: 'SIGNED_OTHERWISE' })
  t.deepEqual(wallet.unfinishedSpends(), [])
})

test('an engine that changes the signed payment that it checks changes nothing of what is then shown and sent', async t => {
  const { wallet } = await openWallet(t, {
    engine: () => ({
      async checkSignedTx(tx, targets) {
        Object.assign(tx, { nativeAmount: '-999', signedTx: 'other bytes' })
        // What is signed is frozen.
        Reflect.set(targets[0] ?? {}, 'publicAddress', 'thief')
      }
    })
  })
  const signed = await wallet.signTx(await wallet.makeSpend(PAY))
  const read = await wallet.readSignedTx(JSON.parse(JSON.stringify(signed)))
  t.deepEqual([read.nativeAmount, read.signedTx], [signed.nativeAmount, signed.signedTx])
  t.deepEqual(read.spendTargets, signed.spendTargets)
})

test('an engine that keeps its bytes elsewhere pays with an empty signedTx, also after its sending broke off', async t => {
  const sent: EngineTransaction[] = []
  let isBroken = true
  const { wallet } = await openWallet(t, {
    engine: good => ({
      signTx: async (tx, keys) => ({
        ...(await good.signTx(tx, keys)),
        signedTx: '',
        otherParams: { bytesAt: 'the chain of this engine' }
      }),
      async broadcastTx(tx) {
        sent.push(tx)
        if (isBroken) throw new Error('The line broke')
        return tx
      }
    })
  })
  const failure = await t.throwsAsync(wallet.spend(await wallet.makeSpend(PAY)))
  t.like(failure, { code: 'BROADCAST_UNKNOWN' })
  isBroken = false
  const [unfinished] = wallet.unfinishedSpends()
  const done = await wallet.broadcastTx(unfinished?.tx as Transaction)
  t.like(done, { signedTx: '', txid: unfinished?.tx.txid })
  t.true(sent.length >= 2)
  t.true(sent.every(({ otherParams }) => otherParams?.bytesAt === 'the chain of this engine'))
})
