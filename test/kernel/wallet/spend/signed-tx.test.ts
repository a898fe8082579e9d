import test from 'ava'
import { readSignedTx } from '../../../../kernel/wallet/spend/signed-tx.ts'
import type { SpenderOptions } from '../../../../kernel/wallet/spend/spender.ts'

const NOW = 1_700_000_500_000

const read = (value: unknown, checkSignedTx?: (tx: object, targets: object) => void) => {
  const context = {
    info: { pluginId: 'toycoin' },
    walletId: 'wallet',
    history: {
      options: {
        info: { currencyCode: 'TOY' },
        config: { getSnapshot: () => ({ allTokens: { gold: { currencyCode: 'GOLD' } } }) }
      }
    },
    services: { io: { clock: { now: () => NOW } } },
    engine: { call: async (_: string, task: (engine: object) => unknown) => task({ checkSignedTx }) }
  }
  return readSignedTx(context as unknown as SpenderOptions, value)
}

const least = {
  walletId: 'wallet',
  txid: 'txid',
  tokenId: null,
  signedTx: 'bytes',
  nativeAmount: '-7',
  networkFee: '2',
  ourReceiveAddresses: [],
  spendTargets: []
}

const full = {
  ...least,
  tokenId: 'gold',
  parentNetworkFee: '3',
  ourReceiveAddresses: ['mine'],
  memos: [{ type: 'text', value: 'for you' }],
  feeRateUsed: { rate: '5' },
  otherParams: { nonce: 1 },
  spentCoins: ['a:0'],
  replaces: 'earlier',
  networkFeeOption: 'custom',
  requestedCustomFee: { rate: '5' },
  deviceDescription: 'A laptop',
  metadata: { name: 'Shop', notes: 'tea' },
  spendTargets: [
    { publicAddress: 'shop', nativeAmount: '5', memo: '12' },
    { publicAddress: 'tip', nativeAmount: '0' }
  ]
}

test('a signed transaction comes back from JSON with every field that it has, and no other', async t => {
  const always = {
    ...{ date: NOW / 1000, blockHeight: 0, confirmations: 'unconfirmed', isSend: true },
    networkFeeOption: 'standard'
  }
  t.deepEqual((await read({ ...least, extra: 1 })) as object, {
    ...least,
    ...always,
    currencyCode: 'TOY',
    memos: [],
    metadata: {}
  })
  const lies = { date: 5, blockHeight: 7, confirmations: 'confirmed', isSend: false, currencyCode: 'BTC' }
  const [first, second] = full.spendTargets
  t.deepEqual((await read({ ...full, ...lies })) as object, {
    ...always,
    ...full,
    currencyCode: 'GOLD',
    spendTargets: [
      { ...first, currencyCode: 'GOLD', uniqueIdentifier: '12' },
      { ...second, currencyCode: 'GOLD' }
    ]
  })
})

test('a signed transaction with a field of another kind is refused, and the field is named', async t => {
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    walletId: ['other', undefined, 7],
    txid: ['', 7],
    signedTx: ['', 7],
    networkFeeOption: ['dear', 7, null],
    requestedCustomFee: ['5', 7, null, []],
    deviceDescription: [7, null, 'x'.repeat(100_000)],
    replaces: [7, null, 'x'.repeat(100_000)],
    metadata: [7, [], 'Shop', { exchangeAmount: 7 }, { name: 7 }],
    spendTargets: [
      undefined,
      {},
      [7],
      [null],
      [{ publicAddress: 'shop' }],
      [{ nativeAmount: '5' }],
      [{ publicAddress: 'shop', nativeAmount: '-5' }],
      [{ publicAddress: 'shop', nativeAmount: '5', memo: 7 }],
      Array(1001).fill({ publicAddress: 'shop', nativeAmount: '5' })
    ]
  }
  for (const [field, values] of Object.entries(wrong)) {
    for (const value of values) {
      const error = await t.throwsAsync(read({ ...full, [field]: value }), { code: 'SIGNED_TX_INVALID' })
      const named = (error as { details?: { field?: string } }).details?.field ?? ''
      t.true(named.startsWith(field), `${field} ${JSON.stringify(value)?.slice(0, 60)}: ${named}`)
    }
  }
  for (const value of [undefined, 7, 'text', [], null]) {
    const error = await t.throwsAsync(read(value), { code: 'SIGNED_TX_INVALID' })
    t.like(error, { details: { field: 'the whole' } })
  }
  const failing = {
    get txid() {
      throw new Error('cannot be read')
    }
  }
  await t.throwsAsync(read({ ...full, failing }), { code: 'SIGNED_TX_INVALID' })
  const many = Array(1000).fill({ publicAddress: 'shop', nativeAmount: '5' })
  t.is((await read({ ...full, spendTargets: many })).spendTargets?.length, 1000)
})

test('the currency checks the transaction and its stated recipients, and a refused one is not read', async t => {
  const seen: unknown[] = []
  await read(full, (...reported) => void seen.push(reported))
  const [[tx, targets] = []] = seen as { txid: string }[][]
  t.is(tx?.txid, 'txid')
  t.like(targets, [{ publicAddress: 'shop', nativeAmount: '5' }, { publicAddress: 'tip' }])
  const refuse = (): never => {
    throw new Error('of another wallet')
  }
  await t.throwsAsync(read(full, refuse), { message: 'of another wallet' })
})
