import { sha256 } from '@noble/hashes/sha2.js'
import test, { type ExecutionContext } from 'ava'
import { FAKE_ADDRESSES, type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type CurrencyWallet,
  type Disk,
  type Kernel,
  nativeAmount,
  type SpendInfo,
  type Transaction,
  WalletError
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { type Lies, refusal, withLies } from '../helpers/lying-server.ts'
import { quickCrypto } from '../helpers/quick-crypto.ts'

const SHOP = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const BROADCAST = 'blockchain.transaction.broadcast'

/** A wallet with three coins at a server that can be made to lie. */
interface Home {
  readonly world: FakeWorld
  readonly kernel: Kernel
  readonly wallet: CurrencyWallet
  readonly lies: Lies
  /** Full while a test says so: then nothing can be written. */
  readonly room: { isFull: boolean }
  /** The same device, started anew. */
  restart(): Promise<CurrencyWallet>
}

const makeHome = async (t: ExecutionContext): Promise<Home> => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const room = { isFull: false }
  const memory = memoryDisk()
  const disk: Disk = {
    ...memory,
    async setText(path, text) {
      if (room.isFull) throw new WalletError('STORAGE_FULL', { path })
      await memory.setText(path, text)
    }
  }
  const lies: Lies = {}
  const open = (): Promise<Kernel> =>
    openDevice(world, {
      io: withLies(world.ioFor({ ...makeNodeIo(), crypto: quickCrypto }), lies),
      storage: {
        kind: 'storage',
        id: 'kept',
        apply: ({ hooks }) => hooks.openDisk.tapPromise('kept', async () => disk)
      },
      // Over the connections that lie, and no other.
      pluginOptions: {
        bitcoin: {
          network: 'regtest',
          servers: FAKE_ADDRESSES.electrumServers.filter(url => url.startsWith('tcp:'))
        }
      }
    })
  let kernel = await open()
  t.teardown(async () => {
    await kernel.close()
    await world.close()
  })
  const account = await kernel.context.createAccount({ username: 'alice', password: 'Correct horse 1' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  for (const amount of ['10000000', '20000000', '30000000'])
    world.chain.fund((await wallet.getReceiveAddress()).publicAddress, amount)
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '60000000')
  await account.sync()
  return {
    ...{ world, kernel, wallet, lies, room },
    async restart() {
      await kernel.close()
      kernel = await open()
      const again = await kernel.context.loginWithPassword('alice', 'Correct horse 1')
      return again.openWallet(wallet.id)
    }
  }
}

const pay = (amount: string, more: Partial<SpendInfo> = {}): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: SHOP, nativeAmount: nativeAmount(amount) }],
  networkFeeOption: 'custom',
  customNetworkFee: { satPerByte: '5' },
  ...more
})

/** What the shop has got, confirmed. */
const paidTo = ({ world }: Home, address = SHOP): string => world.chain.balance(address).confirmed

const coinsOf = ({ spentCoins }: Pick<Transaction, 'spentCoins'>): Set<string> => {
  if (spentCoins === undefined || spentCoins.length === 0) throw new Error('It spends nothing')
  return new Set(spentCoins)
}

const isApart = (one: Transaction, other: Transaction): boolean =>
  [...coinsOf(one)].every(coin => !coinsOf(other).has(coin))

test('a payment that a server passes on and refuses is kept with its coins; its replacement and it are mined once', async t => {
  const home = await makeHome(t)
  const { wallet, lies, world } = home
  lies.answer = ({ method }, answer) =>
    method === BROADCAST && answer.id !== undefined
      ? { id: answer.id, ...refusal('min relay fee not met') }
      : answer
  lies.query = ({ method }) =>
    method === 'blockchain.transaction.get'
      ? { answer: { error: { code: 2, message: 'No such transaction' } } }
      : undefined
  const draft = await wallet.makeSpend(pay('5000000', { metadata: { notes: 'rent' } }))
  const error = await t.throwsAsync(wallet.spend(draft), { code: 'BROADCAST_REFUSED' })
  t.notRegex(JSON.stringify(error), /again|Nothing was spent/)
  const [open] = wallet.getSnapshot().openPayments
  t.like(open, { state: 'refused', reason: 'min relay fee not met' })
  const txid = open?.txid ?? ''

  const other = await wallet.makeSpend(pay('1000000'))
  t.true(isApart(other, draft))
  t.is(wallet.similarPayments(draft).length, 1)

  const replacement = await wallet.makeSpend(pay('5000000', { replaces: txid }))
  t.true([...coinsOf(draft)].every(coin => coinsOf(replacement).has(coin)))
  t.true(Number(replacement.networkFee) > Number(draft.networkFee))
  delete lies.answer
  delete lies.query
  const sent = await wallet.spend(replacement)
  world.chain.mine(1)
  await waitFor(() => wallet.getSnapshot().openPayments.length === 0)
  t.is(paidTo(home), '5000000')
  t.like(await wallet.getTransaction(sent.txid), { confirmations: 'confirmed', replaces: undefined })
})

test('a refusal that cannot be saved does not end a payment: its outcome is unknown, and the same payment is made once', async t => {
  const home = await makeHome(t)
  const { wallet, lies, room, world } = home
  lies.query = ({ method }) => {
    if (method !== BROADCAST) return undefined
    room.isFull = true
    return { answer: refusal('busy') }
  }
  const draft = await wallet.makeSpend(pay('5000000'))
  const error = await t.throwsAsync<WalletError<'BROADCAST_UNKNOWN'>>(wallet.spend(draft), {
    code: 'BROADCAST_UNKNOWN'
  })
  const [open] = wallet.getSnapshot().openPayments
  t.is(open?.txid, error?.details.txid)
  t.not(open?.state, 'refused')

  room.isFull = false
  delete lies.query
  const again = await home.restart()
  await waitFor(() => world.chain.view.mempool.size === 1)
  world.chain.mine(1)
  await waitFor(() => again.getSnapshot().openPayments.length === 0)
  t.is(paidTo(home), '5000000')
})

test('after an unknown outcome no second payment takes other coins in its place, also after a restart', async t => {
  const home = await makeHome(t)
  const { wallet, lies } = home
  // The server takes the bytes, keeps them for later, and breaks the connection.
  const held: string[] = []
  lies.query = ({ method, params }) => {
    if (method !== BROADCAST) return undefined
    held.push(String(params[0]))
    return { answer: { error: { code: -32603, message: 'internal error' } } }
  }
  const draft = await wallet.makeSpend(pay('5000000'))
  await t.throwsAsync(wallet.spend(draft), { code: 'BROADCAST_UNKNOWN' })
  const again = await home.restart()
  await waitFor(() => again.balanceOf(null) === '60000000')
  const [open] = again.getSnapshot().openPayments
  const second = await again.makeSpend(pay('5000000'))
  t.true(isApart(second, draft))
  t.deepEqual(again.similarPayments(second), [open])
  const replacement = await again.makeSpend(pay('5000000', { replaces: open?.txid ?? '' }))
  await t.throwsAsync(again.spend(replacement), { code: 'BROADCAST_UNKNOWN' })
  // Now the server sends all that it ever got.
  delete lies.query
  for (const bytes of held) {
    try {
      home.world.chain.broadcast(bytes)
    } catch {
      // Of two that spend one coin the network takes one.
    }
  }
  home.world.chain.mine(1)
  await waitFor(() => again.getSnapshot().openPayments.length === 0)
  t.is(paidTo(home), '5000000')
})

test('a height that a server claims never becomes the lock time of a payment', async t => {
  const { wallet, lies } = await makeHome(t)
  lies.answer = ({ method }, answer) => {
    const tip = answer.result as { height?: number; hex?: string } | undefined
    return method === 'blockchain.headers.subscribe' && tip?.height !== undefined
      ? { ...answer, result: { ...tip, height: 4_000_000 } }
      : answer
  }
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
  const draft = await wallet.makeSpend(pay('5000000'))
  const signed = await wallet.signTx(draft)
  t.is(Buffer.from(signed.signedTx.slice(-8), 'hex').readUInt32LE(), 0)
})

test('the coins of a payment that is signed and not sent are reserved until it is forgotten', async t => {
  const { wallet } = await makeHome(t)
  const signed = await wallet.signTx(await wallet.makeSpend(pay('55000000')))
  t.like(wallet.getSnapshot().openPayments, [{ txid: signed.txid, state: 'signed' }])
  await t.throwsAsync(wallet.makeSpend(pay('1000000')), { code: 'PENDING_FUNDS' })
  await wallet.resyncBlockchain()
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
  await t.throwsAsync(wallet.makeSpend(pay('1000000')), { code: 'PENDING_FUNDS' })
  await wallet.forgetTx(signed.txid)
  t.deepEqual(wallet.getSnapshot().openPayments, [])
  t.truthy(await wallet.makeSpend(pay('1000000')))
})

test('of two payments of the same coins that are signed at once, one is refused', async t => {
  const { wallet } = await makeHome(t)
  const [one, two] = [await wallet.makeSpend(pay('59000000')), await wallet.makeSpend(pay('58000000'))]
  t.false(isApart(one, two))
  for (const others of [() => wallet.signTx(two), () => wallet.spend(two)]) {
    const [first, second] = await Promise.allSettled([wallet.signTx(one), others()])
    t.like(second, { status: 'rejected', reason: { code: 'SIGN_REFUSED' } })
    if (first.status === 'fulfilled') await wallet.discardTx(first.value.txid)
  }
  t.deepEqual(wallet.getSnapshot().openPayments, [])
})

test('a payment that the network lost is shown as lost, is sent again, and keeps its row and note through a resync', async t => {
  const { wallet, lies, world } = await makeHome(t)
  const { txid } = await wallet.spend(
    await wallet.makeSpend(pay('5000000', { metadata: { name: 'Shop', notes: 'rent' } }))
  )
  let sends = 0
  lies.query = ({ method }) => {
    if (method !== BROADCAST) return undefined
    sends += 1
    return { answer: { error: { code: -32603, message: 'internal error' } } }
  }
  world.chain.drop(txid)
  await wallet.resyncBlockchain()
  await wallet.sync()
  await waitFor(async () => (await wallet.getTransaction(txid)).sentState === 'notInMempool')
  t.like(await wallet.getTransaction(txid), { metadata: { notes: 'rent' }, isSend: true })
  t.like(wallet.getSnapshot().openPayments, [{ txid, state: 'notInMempool' }])
  await waitFor(() => sends > 0)
  t.true(coinsOf(await wallet.makeSpend(pay('1000000'))).size > 0)
  delete lies.query
  await waitFor(async () => {
    await wallet.sync()
    return world.chain.view.mempool.has(txid)
  })
  world.chain.mine(1)
  await waitFor(async () => (await wallet.getTransaction(txid)).confirmations === 'confirmed')
  await waitFor(async () => (await wallet.getTransaction(txid)).sentState === undefined)
  await waitFor(() => wallet.getSnapshot().openPayments.length === 0)
})

test('a payment that was lost and is then refused is not reported as sent, and is sent again automatically', async t => {
  const { wallet, lies, world } = await makeHome(t)
  const { txid } = await wallet.spend(await wallet.makeSpend(pay('5000000')))
  lies.answer = ({ method }, answer) =>
    method === BROADCAST && answer.id !== undefined
      ? { id: answer.id, ...refusal('mempool min fee not met') }
      : answer
  lies.query = ({ method }) =>
    method === BROADCAST || method === 'blockchain.transaction.get'
      ? { answer: refusal('mempool min fee not met') }
      : undefined
  world.chain.drop(txid)
  await t.throwsAsync(wallet.resendTx(txid), { code: 'BROADCAST_REFUSED' })
  await waitFor(() => wallet.getSnapshot().openPayments[0]?.reason === 'mempool min fee not met')
  t.deepEqual(wallet.unfinishedSpends(), [])
  lies.answer = (_, answer) => answer
  lies.query = () => undefined
  await waitFor(async () => {
    await wallet.sync()
    return world.chain.view.mempool.has(txid)
  })
  await waitFor(() => wallet.getSnapshot().openPayments[0]?.reason === undefined)
})

/** Claims that a transaction lies in a block that the server has made up, ten linked blocks deep: on regtest they cost nothing. */
const forgeBlock = ({ world, lies }: Home, txid: string): void => {
  const { view } = world.chain
  const height = view.height + 1
  const made: string[] = []
  for (let previous = view.tip.hash; made.length < 10; ) {
    const header = Buffer.alloc(80)
    header.writeUInt32LE(0x20000000, 0)
    Buffer.from(previous, 'hex').reverse().copy(header, 4)
    Buffer.from(txid, 'hex').reverse().copy(header, 36)
    header.writeUInt32LE(view.tip.header.time + 1 + made.length, 68)
    header.writeUInt32LE(0x207fffff, 72)
    made.push(header.toString('hex'))
    previous = Buffer.from(sha256(sha256(header)))
      .reverse()
      .toString('hex')
  }
  const headerAt = (at: number): string => made[at - height] ?? view.blockAt(at)?.headerHex ?? ''
  const tip = height + made.length - 1
  lies.query = ({ method, params }) => {
    const [first, count] = params
    if (method === 'blockchain.headers.subscribe')
      return { answer: { result: { height: tip, hex: headerAt(tip) } } }
    if (method === 'blockchain.block.header') return { answer: { result: headerAt(Number(first)) } }
    if (method === 'blockchain.block.headers') {
      const headers = Array.from({ length: Number(count) }, (_, at) => headerAt(Number(first) + at))
      const found = headers.filter(hex => hex !== '')
      return { answer: { result: { hex: found.join(''), count: found.length, max: 2016 } } }
    }
    return method === 'blockchain.transaction.get_merkle' && first === txid
      ? { answer: { result: { block_height: height, merkle: [], pos: 0 } } }
      : undefined
  }
  lies.answer = ({ method }, answer) =>
    method === 'blockchain.scripthash.get_history' && Array.isArray(answer.result)
      ? {
          ...answer,
          result: answer.result.map(item =>
            (item as { tx_hash: string }).tx_hash === txid ? { ...(item as object), height } : item
          )
        }
      : answer
}

/** Has the wallet look at everything again, over a new connection. */
const lookAgain = async ({ wallet }: Home): Promise<void> => {
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  await wallet.resyncBlockchain()
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
}

test('a block that a server has forged frees no coins and forgets no bytes: once it is gone the same payment is made', async t => {
  const home = await makeHome(t)
  const { wallet, lies, world } = home
  const draft = await wallet.makeSpend(pay('5000000', { metadata: { notes: 'rent' } }))
  const { txid } = await wallet.spend(draft)
  forgeBlock(home, txid)
  await lookAgain(home)
  await waitFor(async () => (await wallet.getTransaction(txid)).confirmations === 'confirmed')
  await waitFor(() => wallet.getSnapshot().openPayments.length === 0)
  t.true(isApart(await wallet.makeSpend(pay('1000000')), draft))

  world.clock.skip(13 * 24 * 3_600_000)
  await lookAgain(home)
  await waitFor(async () => (await wallet.getTransaction(txid)).confirmations === 'confirmed')

  // The network has lost it by now, and the server tells the truth but for what it is sent.
  world.chain.drop(txid)
  delete lies.answer
  lies.query = ({ method }) =>
    method === BROADCAST ? { answer: { error: { code: -32603, message: 'internal error' } } } : undefined
  await lookAgain(home)
  await waitFor(() => wallet.getSnapshot().openPayments.length === 1)
  await waitFor(async () => (await wallet.getTransaction(txid)).sentState === 'notInMempool')
  t.like(wallet.getSnapshot().openPayments, [{ txid, state: 'notInMempool' }])
  t.like(await wallet.getTransaction(txid), { metadata: { notes: 'rent' } })
  t.true(isApart(await wallet.makeSpend(pay('1000000')), draft))
  delete lies.query
  await wallet.resendTx(txid)
  world.chain.mine(1)
  await waitFor(async () => (await wallet.getTransaction(txid)).confirmations === 'confirmed')
  t.is(paidTo(home), '5000000')
})

test('a payment that was beaten in a block that is gone again is open again, with its coins', async t => {
  const home = await makeHome(t)
  const { wallet, world } = home
  const draft = await wallet.makeSpend(pay('5000000'))
  const first = await wallet.spend(draft)
  const { txid, signedTx } = await wallet.spend(
    await wallet.makeSpend(pay('5000000', { replaces: first.txid }))
  )
  world.chain.drop(txid)
  world.chain.broadcast(first.signedTx)
  world.chain.mine(1)
  await waitFor(async () => (await wallet.getTransaction(first.txid)).confirmations === 'confirmed')
  await waitFor(() => wallet.getSnapshot().openPayments.length === 0)
  t.is((await wallet.getTransaction(txid)).replacedBy, first.txid)
  t.true(isApart(await wallet.makeSpend(pay('1000000')), draft))

  world.chain.reorg(1, { keepTransactions: false })
  world.chain.broadcast(signedTx)
  await waitFor(() =>
    wallet.getSnapshot().openPayments.some(open => open.txid === txid && open.state === 'seen')
  )
  t.true(isApart(await wallet.makeSpend(pay('1000000')), draft))
  world.chain.mine(1)
  await waitFor(() => wallet.getSnapshot().openPayments.length === 0)
  t.is(paidTo(home), '5000000')
})

test('a recorded signed payment is not sent automatically before the network has seen it', async t => {
  const { wallet, world } = await makeHome(t)
  const signed = await wallet.signTx(await wallet.makeSpend(pay('5000000')))
  const { txid } = signed
  await wallet.saveTx(signed)
  for (let look = 0; look < 3; look++) {
    await wallet.lookAtOpenPayments()
    await wallet.sync()
  }
  t.like(wallet.getSnapshot().openPayments, [{ txid, state: 'signed' }])
  t.false(world.chain.view.mempool.has(txid))

  world.chain.broadcast(signed.signedTx)
  await waitFor(() => wallet.getSnapshot().openPayments[0]?.state === 'seen')
  world.chain.drop(txid)
  await waitFor(async () => {
    await wallet.lookAtOpenPayments()
    return world.chain.view.mempool.has(txid)
  })
})
