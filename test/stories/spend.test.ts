import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { openDevice, waitFor } from '../helpers/device.ts'

test('one spend, end to end: account, wallet, coins, payment, note, and a second device that sees it all', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const first = await openDevice(world, { deviceDescription: 'first device' })
  const account = await first.context.createAccount({
    username: 'Alice  B',
    password: 'correct horse battery'
  })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
  const { publicAddress } = await wallet.getReceiveAddress()
  t.regex(publicAddress, /^bcrt1q/)

  world.chain.fund(publicAddress, '150000000')
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '150000000')

  const shop = (await (await openDevice(world)).context.createAccount({})).createCurrencyWallet(
    'wallet:bitcoin'
  )
  const { publicAddress: shopAddress } = await (await shop).getReceiveAddress()
  const draft = await wallet.makeSpend({
    tokenId: null,
    spendTargets: [{ publicAddress: shopAddress, nativeAmount: nativeAmount('50000000') }],
    metadata: { name: 'Shop' }
  })
  t.is(draft.txid, '')
  const sent = await wallet.spend(draft)
  t.regex(sent.txid, /^[0-9a-f]{64}$/)
  t.deepEqual(wallet.unfinishedSpends(), [])
  world.chain.mine(1)
  await waitFor(async () => (await wallet.getTransaction(sent.txid)).confirmations === 'confirmed')
  await wallet.saveTxMetadata(sent.txid, { notes: 'A bicycle', category: 'Expense:Sport' })
  await account.sync()
  const history = await wallet.getTransactions()
  t.is(history.length, 2)

  const second = await openDevice(world)
  const again = await second.context.loginWithPassword('alice b', 'correct horse battery')
  t.deepEqual(again.getSnapshot().walletIds, [wallet.id])
  const same = await again.openWallet(wallet.id)
  t.is(same.name, 'Savings')
  await waitFor(async () => (await same.getTransactions()).length === 2)
  await waitFor(async () => (await same.getTransaction(sent.txid)).confirmations === 'confirmed')
  const seen = await same.getTransaction(sent.txid)
  t.deepEqual(seen.metadata, { name: 'Shop', notes: 'A bicycle', category: 'Expense:Sport' })
  t.is(seen.nativeAmount, sent.nativeAmount)
  t.is(seen.networkFee, sent.networkFee)
  t.is(seen.deviceDescription, 'first device')
  t.deepEqual(
    (await same.getTransactions()).map(({ txid }) => txid),
    history.map(({ txid }) => txid)
  )
  await waitFor(() => same.balanceOf(null) === wallet.balanceOf(null))
  await first.close()
  await second.close()
  await world.close()
})

test('a restarted device shows its whole history at once, however old, also while the network is down', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const files = new Map<string, string>()
  const first = await openDevice(world, { storage: memoryStorage(files) })
  const account = await first.context.createAccount({ username: 'alice', password: 'correct horse battery' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  world.chain.fund((await wallet.getReceiveAddress()).publicAddress, '150000')
  world.chain.mine(300)
  await waitFor(async () => (await wallet.getTransactions())[0]?.confirmations === 'confirmed')
  const [tx] = await wallet.getTransactions()
  await wallet.saveTxMetadata(tx?.txid ?? '', { notes: 'old' })
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  t.is((await wallet.getTransactions()).length, 1)
  await first.close()

  world.setOnline(false)
  const again = await openDevice(world, { storage: memoryStorage(files) })
  const same = await (await again.context.loginWithPassword('alice', 'correct horse battery')).openWallet(
    wallet.id
  )
  await waitFor(async () => (await same.getTransactions()).length === 1)
  t.like(await same.getTransaction(tx?.txid ?? ''), {
    confirmations: 'confirmed',
    metadata: { notes: 'old' }
  })
  await waitFor(() => same.balanceOf(null) === '150000')
  await again.close()
  await world.close()
})

test('an account and wallet made a moment before the network went away open again without it', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const files = new Map<string, string>()
  const first = await openDevice(world, { storage: memoryStorage(files) })
  const account = await first.context.createAccount({ username: 'alice', password: 'correct horse battery' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
  world.setOnline(false)
  await first.close()

  const again = await openDevice(world, { storage: memoryStorage(files) })
  const opened = await again.context.loginWithPassword('alice', 'correct horse battery')
  t.is((await opened.openWallet(wallet.id)).name, 'Savings')
  await again.close()
  await world.close()
})
