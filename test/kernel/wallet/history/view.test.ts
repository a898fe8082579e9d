import test from 'ava'
import { nativeAmount } from '../../../../kernel/base/amount.ts'
import type { EngineTransaction, Memo } from '../../../../kernel/types/transaction.ts'
import { newTransactionFile } from '../../../../kernel/wallet/history/file-format.ts'
import { listTransactions } from '../../../../kernel/wallet/history/list.ts'
import { incoming, openHistory, outgoing } from '../../../helpers/history-device.ts'
import { makeSyncStore } from '../../../helpers/sync-store.ts'

const SWAP = {
  isEstimate: false,
  plugin: { pluginId: 'sw', displayName: 'SW' },
  payoutAddress: 'p',
  payoutCurrencyCode: 'BTC',
  payoutNativeAmount: nativeAmount('1'),
  payoutWalletId: 'w'
}

const MEMOS: Memo[] = [
  { type: 'hex', value: 'abcd' },
  { type: 'number', value: '77' },
  { type: 'text', value: '0x is kept here' }
]

/** Everything that an engine may say of a transaction. */
const REPORT: EngineTransaction = outgoing('a', {
  date: 1_700_000_000,
  blockHeight: 95,
  nativeAmount: nativeAmount('-700'),
  networkFee: nativeAmount('7'),
  parentNetworkFee: nativeAmount('8'),
  ourReceiveAddresses: ['ours-1', 'ours-2'],
  signedTx: 'beef',
  memos: MEMOS,
  isSend: true,
  action: { actionType: 'swap' },
  feeRateUsed: { rate: 7 },
  txSecret: 'secret',
  otherParams: { nested: [1, null, { a: true }] }
})

test('an application sees every field of a transaction: of the engine, of the spend and of the file, also after a restart [3.22]', async t => {
  const device = await openHistory(makeSyncStore(), { info: { requiredConfirmations: 10 } })
  const { table } = device
  await table.applyHeight(100)
  await table.applyReports([REPORT])
  await table.editFile('a', () =>
    newTransactionFile(
      {
        ...REPORT,
        ...{ walletId: 'wallet', currencyCode: 'TOY', confirmations: 'unconfirmed', isSend: true, memos: [] },
        metadata: { name: 'Shop' },
        networkFeeOption: 'custom',
        requestedCustomFee: { satPerByte: '5' },
        spendTargets: [
          { currencyCode: 'TOY', nativeAmount: nativeAmount('700'), publicAddress: 'dest', memo: 'tag' }
        ],
        swapData: SWAP,
        deviceDescription: 'phone'
      },
      1_700_000_050
    )
  )
  for (const shown of [device, await device.again()]) {
    t.deepEqual(await shown.table.find('a'), {
      txid: 'a',
      tokenId: null,
      walletId: 'wallet',
      currencyCode: 'TOY',
      action: { actionType: 'swap' },
      blockHeight: 95,
      confirmations: 6,
      date: 1_700_000_000,
      isSend: true,
      memos: MEMOS,
      metadata: { name: 'Shop' },
      nativeAmount: nativeAmount('-700'),
      networkFee: nativeAmount('7'),
      parentNetworkFee: nativeAmount('8'),
      otherParams: { nested: [1, null, { a: true }] },
      ourReceiveAddresses: ['ours-1', 'ours-2'],
      signedTx: 'beef',
      networkFeeOption: 'custom',
      requestedCustomFee: { satPerByte: '5' },
      feeRateUsed: { rate: 7 },
      spendTargets: [
        {
          currencyCode: 'TOY',
          memo: 'tag',
          nativeAmount: nativeAmount('700'),
          publicAddress: 'dest',
          uniqueIdentifier: 'tag'
        }
      ],
      swapData: SWAP,
      txSecret: 'secret',
      deviceDescription: 'phone'
    })
  }
  for (const option of ['high', 'standard', 'low'] as const) {
    await table.editFile('a', file => ({ ...(file as NonNullable<typeof file>), feeRateRequested: option }))
    const tx = await table.find('a')
    t.deepEqual([tx?.networkFeeOption, tx?.requestedCustomFee], [option, undefined])
  }
})

test('a live transaction of a plugin is taken with all it says, amounts and fees apart for each currency [3.23]', async t => {
  const tokens = { usd: 'USD', other: 'USD' }
  const device = await openHistory(makeSyncStore(), { tokens })
  const { table } = device
  const ofToken = (tokenId: string, changes: Partial<EngineTransaction> = {}): EngineTransaction =>
    incoming('a', { tokenId, nativeAmount: nativeAmount('30'), networkFee: nativeAmount('0'), ...changes })
  await table.applyReports([
    { ...REPORT, nativeAmount: nativeAmount('-700'), networkFee: nativeAmount('7') },
    ofToken('usd', { memos: MEMOS }),
    ofToken('other', {
      nativeAmount: nativeAmount('-40'),
      parentNetworkFee: nativeAmount('9'),
      currencyCode: 'USDX'
    })
  ])
  await table.applyReports([
    ofToken('usd', { memos: MEMOS, blockHeight: 12, date: 1_700_000_001, confirmations: 'confirmed' })
  ])
  const shown = async (tokenId: string | null) => (await device.again()).table.find('a', tokenId)
  const [ofCoin, ofUsd, ofOther] = await Promise.all([null, 'usd', 'other'].map(shown))
  t.like(ofCoin, {
    ...{
      txid: 'a',
      currencyCode: 'TOY',
      nativeAmount: '-700',
      networkFee: '7',
      isSend: true,
      signedTx: 'beef'
    },
    ...{ blockHeight: 12, date: 1_700_000_001 },
    confirmations: 'confirmed'
  })
  t.deepEqual(ofCoin?.ourReceiveAddresses, ['ours-1', 'ours-2'])
  t.deepEqual(
    [ofCoin, ofUsd, ofOther].map(tx => tx?.memos),
    [MEMOS, MEMOS, []]
  )
  t.like(ofUsd, {
    ...{ currencyCode: 'USD', nativeAmount: '30', networkFee: '0', parentNetworkFee: '7', isSend: false },
    ...{ blockHeight: 12, date: 1_700_000_001, confirmations: 'confirmed' }
  })
  t.like(ofOther, {
    ...{
      currencyCode: 'USDX',
      nativeAmount: '-40',
      parentNetworkFee: '9',
      isSend: true,
      blockHeight: 12
    }
  })
  t.is(await shown('unknown'), undefined)

  for (const confirmations of ['dropped', 'confirmed'] as const) {
    await table.applyReports([incoming(confirmations, { blockHeight: 50, confirmations })])
    t.is(
      (await table.find(confirmations))?.confirmations,
      confirmations,
      'an engine that knows it is believed'
    )
  }
  await table.applyReports([incoming('deep', { blockHeight: 50, confirmations: 12 })])
  t.is((await table.find('deep'))?.confirmations, 'syncing', 'a depth is counted here')
})

test('each token has a history of its own, and what it costs stands in that of the chain’s own coin', async t => {
  const { table } = await openHistory(makeSyncStore(), { tokens: { usd: 'USD', twin: 'USD' } })
  await table.applyReports([
    incoming('coin', { date: 1 }),
    outgoing('paid', { tokenId: 'usd', date: 2, parentNetworkFee: nativeAmount('21') }),
    incoming('got', { tokenId: 'usd', date: 3 }),
    incoming('twin', { tokenId: 'twin', date: 4 }),
    incoming('both', { date: 5 }),
    incoming('both', { tokenId: 'twin', date: 5 })
  ])
  const ids = async (tokenId?: string | null): Promise<string[]> =>
    (await listTransactions(table, tokenId === undefined ? {} : { tokenId })).map(({ txid }) => txid)
  t.deepEqual(await ids(), ['both', 'paid', 'coin'])
  t.deepEqual(await ids(null), await ids())
  t.deepEqual(await ids('usd'), ['got', 'paid'])
  t.deepEqual(await ids('twin'), ['both', 'twin'])
  t.like(await table.find('paid'), {
    nativeAmount: '0',
    networkFee: '21',
    currencyCode: 'TOY',
    tokenId: null
  })
  await table.applyReports([incoming('got', { tokenId: 'usd', date: 1 })])
  t.deepEqual(await ids('usd'), ['paid', 'got'], 'a date that changes moves it')
})

test('metadata has a business, category, amounts by code and in the fiat of the wallet, name and notes; null deletes, absent keeps [3.25]', async t => {
  const device = await openHistory(makeSyncStore(), { tokens: { usd: 'USD' } })
  const { table, settings } = device
  await table.applyReports([incoming('a'), incoming('a', { tokenId: 'usd' })])
  const save = (change: object, tokenId: string | null = null): Promise<void> =>
    table.saveMetadata({ txid: 'a', tokenId }, change)
  const shown = async (tokenId: string | null = null) => (await table.find('a', tokenId))?.metadata
  await save({ bizId: 4, category: 'Income', name: 'Ann', notes: 'hi', amountFiat: 12.5 })
  await save({ exchangeAmount: { 'iso:EUR': 11 }, name: 'Bob' })
  const all = { bizId: 4, category: 'Income', name: 'Bob', notes: 'hi' }
  const amounts = { 'iso:USD': 12.5, 'iso:EUR': 11 }
  t.deepEqual(await shown(), { ...all, exchangeAmount: amounts, amountFiat: 12.5 })
  settings.fiatCode = 'iso:EUR'
  t.deepEqual(await shown(), { ...all, exchangeAmount: amounts, amountFiat: 11 })
  settings.fiatCode = 'iso:JPY'
  t.deepEqual(await shown(), { ...all, exchangeAmount: amounts })
  await save({ amountFiat: 900 })
  t.deepEqual(await shown(), { ...all, exchangeAmount: { ...amounts, 'iso:JPY': 900 }, amountFiat: 900 })
  await save({ name: 'Token', notes: undefined }, 'usd')
  t.like(await shown('usd'), { name: 'Token', notes: 'hi', bizId: 4 })
  t.like(await shown(), { name: 'Bob' })
  await save({ amountFiat: null, bizId: null, category: null, name: null, notes: null })
  t.deepEqual(await shown(), { exchangeAmount: amounts })
  await save({ exchangeAmount: { 'iso:USD': null, 'iso:EUR': null } })
  t.deepEqual(await shown(), {})
  const path = `transaction/${device.clock.now() / 1000}-${device.hashOf('a')}.json`
  t.false(JSON.stringify(await device.json(path)).includes('amountFiat'))
})

test('metadata from an engine goes into the file of a new incoming transaction, and never replaces a note', async t => {
  const { table } = await openHistory(makeSyncStore())
  const metadata = { name: 'Faucet', exchangeAmount: { 'iso:USD': 1 } }
  await table.applyReports([incoming('a', { metadata }), outgoing('b', { metadata })])
  t.like(await table.find('a'), { metadata })
  t.deepEqual((await table.find('b'))?.metadata, {})
  await table.saveMetadata({ txid: 'a', tokenId: null }, { name: null })
  await table.applyReports([incoming('a', { metadata, blockHeight: 7 })])
  t.deepEqual((await table.find('a'))?.metadata, { exchangeAmount: { 'iso:USD': 1 }, amountFiat: 1 })
})

test('a note that no file can hold is refused, and nothing is written', async t => {
  const device = await openHistory(makeSyncStore())
  await device.table.applyReports([outgoing('a')])
  const odd = [
    { amountFiat: Number.NaN },
    { exchangeAmount: { 'iso:USD': Number.POSITIVE_INFINITY } },
    { exchangeAmount: { 'iso:USD': '1' as never } },
    { bizId: '7' as never },
    { name: 7 as never },
    { notes: 'x'.repeat(100_001) }
  ]
  for (const change of odd) {
    const saving = device.table.saveMetadata({ txid: 'a', tokenId: null }, change)
    await t.throwsAsync(saving, { code: 'OPTION_INVALID' }, JSON.stringify(change).slice(0, 80))
  }
  t.deepEqual(await device.repo.list('transaction'), [])
})
