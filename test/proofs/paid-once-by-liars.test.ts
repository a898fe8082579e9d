import type { ExecutionContext } from 'ava'
import test from 'ava'
import { FAKE_ADDRESSES, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { type CurrencyWallet, isWalletError, nativeAmount, type SpendInfo } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { addressOf } from '../../plugins/currency/utxo/chain/address.ts'
import { bitcoinRow } from '../../plugins/currency/utxo/params/bitcoin.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { drawSeed, logCounts, makeSeededRandom, runCount, type SeededRandom } from '../helpers/drawn-runs.ts'
import { type Lies, refusal, withLies } from '../helpers/lying-server.ts'
import { quickCrypto } from '../helpers/quick-crypto.ts'

/** Over the connections that lie, and no other; so many, because after each round of a list a wallet waits longer. */
const LIAR = FAKE_ADDRESSES.electrumServers.find(url => url.startsWith('tcp:')) ?? ''

const BROADCAST = 'blockchain.transaction.broadcast'
const GET = 'blockchain.transaction.get'
const HISTORY = 'blockchain.scripthash.get_history'
const BUSY = { error: { code: -32603, message: 'internal error' } }
const UNKNOWN = { error: { code: 2, message: 'No such mempool or blockchain transaction' } }

/** A way to lie about payments. `hold`: keeps bytes for later. */
type Liar = (hold: (bytes: string) => void) => Lies

const saysNo =
  (reason: string): Liar =>
  () => ({
    answer: ({ method }, { id = 0, ...answer }) =>
      method === BROADCAST ? { id, ...refusal(reason) } : { id, ...answer },
    query: ({ method }) => (method === GET ? { answer: UNKNOWN } : undefined)
  })

const keeps =
  (said: (bytes: string) => object): Liar =>
  hold => ({
    query: ({ method, params }) => {
      if (method !== BROADCAST) return method === GET ? { answer: UNKNOWN } : undefined
      const bytes = String(params[0])
      hold(bytes)
      return { answer: said(bytes) }
    }
  })

const liars: readonly (readonly [string, Liar])[] = [
  ['tells the truth', () => ({})],
  ['passes it on and says that the fee is too low', saysNo('min relay fee not met')],
  ['passes it on and says that its inputs are spent', saysNo('bad-txns-inputs-missingorspent')],
  ['passes it on and says that another waits', saysNo('txn-mempool-conflict')],
  ['passes it on and says that it is full', saysNo('mempool full')],
  ['keeps it for later and says no', keeps(() => refusal('min relay fee not met'))],
  ['keeps it for later and is busy', keeps(() => BUSY)],
  ['keeps it for later and says yes', keeps(() => ({ result: 'ab'.repeat(32) }))],
  ['keeps it for later and says nothing', keeps(() => ({ result: null }))],
  ['keeps it for later and says that it has it already', keeps(() => refusal('txn-already-in-mempool'))],
  [
    'keeps it for later and says that it is in a block',
    keeps(() => refusal('Transaction already in block chain'))
  ],
  [
    'passes it on and is busy',
    () => ({
      answer: ({ method }, { id = 0, ...answer }) =>
        method === BROADCAST ? { id, ...BUSY } : { id, ...answer }
    })
  ],
  [
    'passes it on, and hides it from every history',
    () => ({
      query: ({ method }) => (method === GET ? { answer: UNKNOWN } : undefined),
      answer({ method }, answer) {
        if (method !== HISTORY || !Array.isArray(answer.result)) return answer
        const result = answer.result.filter(item => (item as { height: number }).height > 0)
        // An empty one beside a status would be found out.
        return result.length === 0 ? answer : { ...answer, result }
      }
    })
  ],
  [
    'claims a tip far ahead',
    () => ({
      answer: ({ method }, answer) => {
        const tip = answer.result as { height?: number } | undefined
        return method === 'blockchain.headers.subscribe' && tip?.height !== undefined
          ? { ...answer, result: { ...tip, height: 9_000_000 } }
          : answer
      }
    })
  ]
]

// A hundred payments of one wallet each: what is open is looked at after every change, which takes its time.
for (let part = 1; part <= runCount(10); part++) {
  test.serial(
    `of a hundred payments with lying servers, none is paid twice by a user who follows the wallet, part ${part}`,
    async t => {
      await payByLiars(t, makeSeededRandom(drawSeed(t) + part))
    }
  )
}

const payByLiars = async (t: ExecutionContext, seededRandom: SeededRandom): Promise<void> => {
  // The timers of the io never keep a process alive, and here nothing else does.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const world = makeFakeWorld({ io: makeNodeIo() })
  const lies: { query?: Lies['query']; answer?: Lies['answer'] } = {}
  const sent = new Set<string>()
  const held: string[] = []
  const kernel = await openDevice(world, {
    io: withLies(world.ioFor({ ...makeNodeIo(), crypto: quickCrypto }), {
      query: requested => {
        if (requested.method === BROADCAST) sent.add(String(requested.params[0]))
        return lies.query?.(requested)
      },
      answer: (requested, answer) => (lies.answer === undefined ? answer : lies.answer(requested, answer))
    }),
    pluginOptions: {
      bitcoin: {
        network: 'regtest',
        servers: Array<string>(50).fill(LIAR)
      }
    }
  })
  t.teardown(async () => {
    await kernel.close()
    await world.close()
  })
  const account = await kernel.context.createAccount({ username: 'alice', password: 'Correct horse 1' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const { chain } = world
  const fund = async (): Promise<void> => {
    const { publicAddress } = await wallet.getReceiveAddress()
    const before = Number(wallet.balanceDetailsOf(null).spendable)
    chain.fundMany(Array.from({ length: 30 }, () => ({ to: publicAddress, amount: '300000' })))
    chain.mine(1)
    await waitFor(() => Number(wallet.balanceDetailsOf(null).spendable) > before)
  }
  await fund()

  const counts = new Map<string, number>()
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
  const lie = (): void => {
    const [name, liar] = seededRandom.pick(liars)
    count(name)
    const next = liar(bytes => held.push(bytes))
    lies.query = next.query
    lies.answer = next.answer
  }
  const release = (bytes: string): void => {
    try {
      chain.broadcast(bytes)
    } catch {
      // Of two that spend one coin the network takes one.
    }
  }
  const attempt = async (what: string, runAction: () => Promise<unknown>): Promise<void> => {
    try {
      await runAction()
      count(`= ${what}: done`)
    } catch (error) {
      if (!isWalletError(error)) throw error
      count(`= ${what}: ${error.code}`)
      if (error.code === 'PENDING_FUNDS' || error.code === 'INSUFFICIENT_FUNDS') {
        delete lies.query
        delete lies.answer
        await fund()
      }
    }
  }
  const payments: { readonly payee: string; readonly amount: string }[] = []
  const runs = 100
  for (let run = 0; run < runs; run++) {
    const bytes = Uint8Array.from({ length: 20 }, () => seededRandom.below(256))
    const payee = addressOf(bitcoinRow.networks[2] as (typeof bitcoinRow.networks)[number], {
      type: 'p2wpkh',
      data: bytes
    })
    const amount = String(10_000 + seededRandom.below(50_000))
    payments.push({ payee, amount })
    lie()
    await attempt('pay', async () => wallet.spend(await wallet.makeSpend(pay(payee, amount))))
    for (let step = seededRandom.below(4); step > 0; step--) {
      if (seededRandom.oneIn(2)) lie()
      const open = openTo(wallet, payee)
      const txid = open.at(-1)?.txid
      if (txid === undefined) break
      if (seededRandom.oneIn(3)) await attempt('resend', () => wallet.resendTx(txid))
      else if (seededRandom.oneIn(2))
        await attempt('replace', async () =>
          wallet.spend(await wallet.makeSpend(pay(payee, amount, { replaces: txid })))
        )
      if (seededRandom.oneIn(4))
        for (const waiting of held.splice(0, 1 + seededRandom.below(3))) release(waiting)
      if (seededRandom.oneIn(4)) {
        const waiting = [...chain.view.mempool.entries()].map(({ tx }) => tx.txid)
        if (waiting.length > 0) chain.drop(seededRandom.pick(waiting))
      }
      if (seededRandom.oneIn(4)) chain.mine(1)
      if (seededRandom.oneIn(20)) chain.reorg(1, { keepTransactions: seededRandom.oneIn(2) })
    }
    if (seededRandom.oneIn(5)) chain.mine(1)
    if (seededRandom.oneIn(40)) await wallet.resyncBlockchain().catch(() => count('= resync: failed'))
  }
  // Everything that ever left comes at once, in an order that nobody foresees, and again after each block.
  delete lies.query
  delete lies.answer
  for (let round = 0; round < 3; round++) {
    const left = [...sent]
    while (left.length > 0) release(left.splice(seededRandom.below(left.length), 1)[0] as string)
    chain.mine(1)
  }
  let paid = 0
  for (const { payee, amount } of payments) {
    const got = chain.balance(payee).confirmed
    t.true(got === '0' || got === amount, `${payee} has got ${got} for ${amount}`)
    if (got === amount) paid++
  }
  counts.set('= payees paid once', paid)
  counts.set('= payees paid twice', 0)
  t.true(paid > 0)
  logCounts(t, `${runs} payments by ${liars.length} kinds of liars`, counts)
}

const pay = (payee: string, amount: string, more: Partial<SpendInfo> = {}): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: payee, nativeAmount: nativeAmount(amount) }],
  ...more
})

const openTo = (wallet: CurrencyWallet, payee: string) =>
  wallet.getSnapshot().openPayments.filter(({ targets }) => targets[0]?.publicAddress === payee)
