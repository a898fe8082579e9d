import test from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type CurrencyWallet,
  isWalletError,
  type Kernel,
  nativeAmount,
  type Transaction
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { makeToy } from '../helpers/toy-currency.ts'

const SHOP = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const THIEF = 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry'

let world: FakeWorld
let kernel: Kernel
let wallet: CurrencyWallet

test.before(async () => {
  world = makeFakeWorld({ io: makeNodeIo() })
  kernel = await openDevice(world)
  wallet = await (await kernel.context.createAccount({})).createCurrencyWallet('wallet:bitcoin')
  for (const amount of ['10000000', '20000000', '30000000'])
    world.chain.fund((await wallet.getReceiveAddress()).publicAddress, amount)
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '60000000')
})
test.after.always(async () => {
  await kernel.close()
  await world.close()
})

const sign = async (amount = '1000000', satPerByte = '5', replaces?: string): Promise<Transaction> =>
  wallet.signTx(
    await wallet.makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress: SHOP, nativeAmount: nativeAmount(amount) }],
      memos: [{ type: 'text', value: 'rent' }],
      networkFeeOption: 'custom',
      customNetworkFee: { satPerByte },
      ...(replaces === undefined ? {} : { replaces }),
      metadata: { name: 'Shop' }
    })
  )

/** What a read of it says is wrong; undefined if nothing is. */
const faultOf = async (value: unknown, reader = wallet): Promise<string | undefined> => {
  try {
    await reader.readSignedTx(value)
    return undefined
  } catch (error) {
    return isWalletError(error, 'SIGNED_TX_INVALID') ? error.details.field : String(error)
  }
}

test.serial(
  'a signed payment is read from JSON as it was signed, and unknown fields are left out',
  async t => {
    const tx = await sign()
    const { date: _date, usualNetworkFee: _usual, ...kept } = tx
    const read = await wallet.readSignedTx({ ...JSON.parse(JSON.stringify(tx)), txSecret: 'k', surprise: 1 })
    const { date, ...rest } = read
    t.deepEqual(rest, kept)
    t.true(date > 1_600_000_000)
    const again = await wallet.readSignedTx({ ...JSON.parse(JSON.stringify(tx)), replaces: 'ab'.repeat(32) })
    t.is(again.replaces, 'ab'.repeat(32))
    t.is(read.replaces, undefined)
  }
)

test.serial('a signed payment that does not say what its bytes do is refused with the field', async t => {
  const tx: Record<string, unknown> = JSON.parse(JSON.stringify(await sign()))
  const [target] = tx.spendTargets as Record<string, unknown>[]
  const bytes = tx.signedTx as string
  const dearer = bytes.replace('40420f0000000000', '41420f0000000000')
  t.not(dearer, bytes)
  const changes: readonly [string, Record<string, unknown>][] = [
    ['walletId', { walletId: 'other' }],
    ['txid', { txid: '00'.repeat(32) }],
    ['txid', { txid: (tx.txid as string).toUpperCase() }],
    ['txid', { txid: '' }],
    ['txid', { signedTx: dearer }],
    ['signedTx', { signedTx: '' }],
    ['signedTx', { signedTx: 'xyz' }],
    ['signedTx', { signedTx: bytes.slice(2) }],
    ['networkFee', { networkFee: '1' }],
    ['networkFee', { networkFee: 'none' }],
    ['nativeAmount', { nativeAmount: '-1000' }],
    ['spendTargets', { spendTargets: undefined }],
    ['spendTargets', { spendTargets: 'all' }],
    ['spendTargets', { spendTargets: [] }],
    ['spendTargets', { spendTargets: [null] }],
    ['spendTargets', { spendTargets: [target, target] }],
    ['spendTargets', { spendTargets: [{ ...target, nativeAmount: '1' }] }],
    ['spendTargets', { spendTargets: [{ ...target, nativeAmount: '-1000000' }] }],
    ['spendTargets', { spendTargets: [{ ...target, publicAddress: THIEF }] }],
    ['spendTargets', { spendTargets: [{ ...target, publicAddress: 'Joe' }] }],
    ['spendTargets', { spendTargets: [{ ...target, memo: 7 }] }],
    ['memos', { memos: [] }],
    ['memos', { memos: [{ type: 'text', value: 'gift' }] }],
    ['memos', { memos: [{ type: 'number', value: '7' }] }],
    ['memos', { memos: [{ type: 'picture', value: 'rent' }] }],
    ['metadata', { metadata: { notes: 7 } }],
    ['metadata', { metadata: { exchangeAmount: 'much' } }],
    ['metadata', { metadata: [] }],
    ['networkFeeOption', { networkFeeOption: 'free' }],
    ['requestedCustomFee', { requestedCustomFee: 'none' }],
    ['deviceDescription', { deviceDescription: 7 }],
    ['otherParams', { otherParams: 'none' }],
    ['tokenId', { tokenId: 7 }]
  ]
  for (const [field, change] of changes)
    t.is(await faultOf({ ...tx, ...change }), field, JSON.stringify(change))
  for (const whole of [undefined, null, 'tx', [tx]]) t.is(await faultOf(whole), 'the whole')
  t.is(
    await faultOf(JSON.parse(JSON.stringify(tx).replace('"metadata":{', '"metadata":{"__proto__":{},'))),
    'the whole'
  )
  t.is(await faultOf(tx), undefined)
})

test.serial(
  'a payment over coins that its replacement has spent is refused; one that is in the history itself is not',
  async t => {
    for (const { tx } of wallet.unfinishedSpends()) await wallet.discardTx(tx.txid)
    const first = await sign('55000000')
    await t.throwsAsync(sign('56000000'), { code: 'PENDING_FUNDS' })
    const second = await sign('56000000', '50', first.txid)
    await wallet.saveTx(await wallet.broadcastTx(await wallet.readSignedTx(second)))
    t.is(await faultOf(first), 'signedTx')
    t.is(await faultOf(second), undefined)
  }
)

test.serial('a currency without a check of signed bytes has only their form checked', async t => {
  const toy = makeToy()
  const device = await openDevice(world, { plugins: [toy.plugin] })
  t.teardown(() => device.close())
  const testWallet = await (await device.context.createAccount({})).createCurrencyWallet('wallet:toycoin')
  const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
  const tx = await testWallet.signTx(await testWallet.makeSpend({ tokenId: null, spendTargets }))
  t.is(await faultOf({ ...tx, networkFee: '99' }, testWallet), undefined)
  t.is(await faultOf({ ...tx, networkFee: 99 }, testWallet), 'networkFee')
  t.is(await faultOf({ ...tx, walletId: wallet.id }, testWallet), 'walletId')
})
