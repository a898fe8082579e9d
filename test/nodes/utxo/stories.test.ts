import { randomBytes } from 'node:crypto'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import { p2pkh, p2sh, p2tr, p2wpkh } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import test, { type ExecutionContext } from 'ava'
import { nativeAmount, type Transaction, type Txid } from '../../../kernel/index.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { waitFor } from '../../helpers/device.ts'
import { type LabWallet, type NodeLab, withNode, wordsOf } from './node-lab.ts'

// One after another: each has a node of its own, and all of them at once would only wait for each other.
const { serial } = test

const ONE = 100_000_000n
const base58check = createBase58check(sha256)
const regtest = litecoinRow.networks.find(({ name }) => name === 'regtest') ?? litecoinRow.networks[0]

/** Pays from a wallet of ours; gives the payment. */
const pay = async (
  { wallet }: LabWallet,
  payees: readonly (readonly [address: string, amount: bigint])[]
): Promise<Transaction> => {
  const spendTargets = payees.map(([publicAddress, amount]) => ({
    publicAddress,
    nativeAmount: nativeAmount(String(amount))
  }))
  return wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
}

/** Pays all that a wallet of ours has to one address; gives the payment and its amount. */
const payAll = async (owner: LabWallet, publicAddress: string): Promise<{ txid: Txid; most: bigint }> => {
  const spendTargets = [{ publicAddress }]
  const most = BigInt(await owner.wallet.getMaxSpendable({ tokenId: null, spendTargets }))
  const { txid } = await pay(owner, [[publicAddress, most]])
  return { txid, most }
}

/** Waits until a payment is in a state, or says in which it is. */
const becomes = async (
  t: ExecutionContext,
  { wallet }: LabWallet,
  txid: Txid,
  isSo: (tx: Transaction) => boolean
): Promise<void> => {
  await waitFor(async () => isSo(await wallet.getTransaction(txid))).catch(async () => {
    const { confirmations, blockHeight, sentState } = await wallet.getTransaction(txid)
    t.fail(`it is ${JSON.stringify({ confirmations, blockHeight, sentState })}`)
  })
}

const isConfirmed = ({ confirmations }: Transaction): boolean => confirmations === 'confirmed'

/** A wallet with coins that are confirmed, one of each of these amounts. */
const openRich = async (
  t: ExecutionContext,
  lab: NodeLab,
  amounts: readonly number[]
): Promise<LabWallet> => {
  const owner = await lab.open(wordsOf(t))
  for (const amount of amounts) await lab.pay(await owner.address(), amount)
  await lab.mine(1)
  await owner.agree(t, 'rich')
  return owner
}

/** A wallet of BIP-49 has the addresses of BIP-84, too. */
const KINDS = [
  ['bip44', 'electrum'],
  ['bip49', 'electrum'],
  ['bip84', 'electrum'],
  ['bip49', 'rpc'],
  ['bip84', 'esplora']
] as const

for (const [format, backend] of KINDS) {
  withNode(
    serial,
    `by ${backend} a ${format} wallet of restored words receives and pays, and its balances are those of the node in every step`,
    async (t, lab) => {
      const owner = await lab.open(wordsOf(t), { format })
      await owner.agree(t, 'empty')
      await lab.pay(await owner.address(), 3)
      await owner.agree(t, 'unconfirmed')
      t.is(owner.balances().untrusted_pending, String(3n * ONE))
      await lab.mine(1)
      await owner.agree(t, 'confirmed')
      t.is(owner.balances().trusted, String(3n * ONE))
      const payee = await lab.node.call('getnewaddress')
      const { txid } = await pay(owner, [[payee, ONE]])
      t.true((await lab.node.call('getrawmempool')).includes(txid))
      await owner.agree(t, 'paid')
      await lab.mine(1)
      await owner.agree(t, 'payment confirmed')
      await becomes(t, owner, txid, isConfirmed)
      t.is(await lab.node.call('getreceivedbyaddress', payee), 1)
    },
    { backend }
  )
}

withNode(
  serial,
  'the node verifies what a wallet signs, and the wallet what the node signs',
  async (t, { node, open }) => {
    const text = 'I am Alice, grüße 🎩'
    const { wallet, kernel } = await open(wordsOf(t), { format: 'bip44' })
    const { publicAddress } = await wallet.getReceiveAddress()
    const signature = await wallet.signMessage(text)
    t.true(await node.call('verifymessage', publicAddress, signature, text))
    t.false(await node.call('verifymessage', publicAddress, signature, `${text}.`))
    const address = await node.call('getnewaddress', '', 'legacy')
    const signed = { address, message: text, signature: await node.call('signmessage', address, text) }
    t.is(await kernel.context.verifyMessage('litecoin', signed), 'valid')
    t.is(await kernel.context.verifyMessage('litecoin', { ...signed, message: 'I am Bob' }), 'invalid')
  }
)

withNode(
  serial,
  'one payment reaches an address of each kind and many payees, and the rest goes to the last coin',
  async (t, lab) => {
    const { node } = lab
    const owner = await openRich(t, lab, [2, 1])
    const payees: [string, bigint][] = []
    for (const type of ['legacy', 'p2sh-segwit', 'bech32'])
      for (let i = 0n; i < 7n; i += 1n)
        payees.push([await node.call('getnewaddress', '', type), 1_000_000n + i])
    const { txid } = await pay(owner, payees)
    await owner.agree(t, 'paid')
    await lab.mine(1)
    for (const [address, amount] of payees)
      t.is(Math.round((await node.call('getreceivedbyaddress', address)) * 1e8), Number(amount))
    await becomes(t, owner, txid, isConfirmed)
    const target = await node.call('getnewaddress')
    const { most } = await payAll(owner, target)
    await owner.agree(t, 'all of it')
    t.is(owner.balances().trusted, '0')
    await lab.mine(1)
    t.is(Math.round((await node.call('getreceivedbyaddress', target)) * 1e8), Number(most))
  }
)

withNode(
  serial,
  'the node refuses a second payment of the same coins, and the first stays what it was',
  async (t, lab) => {
    const owner = await openRich(t, lab, [1])
    const payee = await lab.node.call('getnewaddress')
    const first = await pay(owner, [[payee, ONE / 2n]])
    const spendTargets = [{ publicAddress: payee, nativeAmount: nativeAmount(String(ONE / 2n)) }]
    const payAgain = async (): Promise<unknown> =>
      owner.wallet.spend(await owner.wallet.makeSpend({ tokenId: null, spendTargets, replaces: first.txid }))
    const refusal = (await t.throwsAsync(payAgain())) as { code?: string } | undefined
    // Once the server has shown the first, the wallet does not even ask the node.
    t.regex(refusal?.code ?? '', /^(?:BROADCAST_REFUSED|NOT_SUPPORTED)$/)
    t.log(`refused with ${refusal?.code}`)
    t.deepEqual(await lab.node.call('getrawmempool'), [first.txid])
    await lab.mine(1)
    await becomes(t, owner, first.txid, isConfirmed)
    await owner.agree(t, 'the first is mined')
  }
)

for (const backend of ['electrum', 'rpc'] as const)
  withNode(
    serial,
    `by ${backend} a rival that a miner takes instead is followed, and its coins are not counted twice`,
    async (t, lab) => {
      const { node } = lab
      const owner = await openRich(t, lab, [1])
      const copy = node.wallet(owner.name)
      const [coin] = await copy('listunspent')
      const outputs = [{ [await node.call('getnewaddress')]: 0.4 }, { [await owner.address()]: 0.59 }]
      const raw = await node.call('createrawtransaction', [{ txid: coin.txid, vout: coin.vout }], outputs)
      const { hex } = await copy('signrawtransactionwithwallet', raw)
      const { txid } = await pay(owner, [[await node.call('getnewaddress'), ONE / 4n]])
      await node.call('generateblock', await node.call('getnewaddress'), [hex])
      await lab.chain.follow()
      await becomes(t, owner, txid, ({ sentState }) => sentState === 'replaced')
      await owner.agree(t, 'the rival is mined')
      t.is(owner.balances().trusted, '59000000')
    },
    { backend }
  )

for (const backend of ['electrum', 'rpc', 'esplora'] as const)
  withNode(
    serial,
    `by ${backend} blocks that are replaced, one to six deep, take confirmations back and give them again`,
    async (t, lab) => {
      const { node } = lab
      const owner = await openRich(t, lab, [1, 1, 1, 1, 1, 1])
      for (let depth = 1; depth <= 6; depth += 1) {
        const { txid } = await pay(owner, [[await node.call('getnewaddress'), ONE / 10n]])
        await lab.mine(depth)
        await becomes(t, owner, txid, isConfirmed)
        const height: number = await node.call('getblockcount')
        await node.call('invalidateblock', await node.call('getblockhash', height - depth + 1))
        await lab.chain.follow()
        await becomes(t, owner, txid, tx => !isConfirmed(tx))
        await owner.agree(t, `${depth} blocks gone`)
        // Empty blocks, so that the payment waits on the longer chain.
        for (let i = 0; i <= depth; i += 1)
          await node.call('generateblock', await node.call('getnewaddress'), [])
        await lab.chain.follow()
        await owner.agree(t, `${depth} blocks replaced`)
        t.false(isConfirmed(await owner.wallet.getTransaction(txid)))
        await lab.mine(1)
        await becomes(t, owner, txid, isConfirmed)
        await owner.agree(t, `${depth} deep, mined again`)
      }
    },
    { backend }
  )

for (const backend of ['electrum', 'rpc'] as const)
  withNode(
    serial,
    `by ${backend} a payment that the node forgets is sent again, and mined`,
    async (t, lab) => {
      const owner = await openRich(t, lab, [1])
      const { txid } = await pay(owner, [[await lab.node.call('getnewaddress'), ONE / 4n]])
      await becomes(t, owner, txid, ({ sentState }) => sentState === 'seen')
      let wasForgotten = false
      const stop = lab.chain.onChange(() => {
        wasForgotten ||= lab.chain.view.mempool.size === 0
      })
      await lab.node.restart()
      // By RPC the wallet itself is the first to see it, and sends it again at once.
      if (backend === 'electrum') await waitFor(() => wasForgotten)
      stop()
      await waitFor(async () => (await lab.node.call('getrawmempool')).includes(txid))
      await lab.mine(1)
      await becomes(t, owner, txid, isConfirmed)
      await owner.agree(t, 'mined at last')
    },
    { backend }
  )

withNode(
  serial,
  'a block’s own coins can be spent after a hundred blocks, and are told apart before',
  async (t, lab) => {
    const owner = await lab.open(wordsOf(t))
    await lab.mine(1, await owner.address())
    await owner.agree(t, 'mined')
    t.not(owner.balances().immature, '0')
    await lab.mine(98)
    await owner.agree(t, 'a block too early')
    t.not(owner.balances().immature, '0')
    // What the next block may spend, the node relays, and its own wallet calls immature for one block more.
    await lab.mine(1)
    await waitFor(() => owner.balances().immature === '0')
    t.not((await owner.nodeBalances()).immature, '0')
    const { txid } = await pay(owner, [[await lab.node.call('getnewaddress'), ONE]])
    t.true((await lab.node.call('getrawmempool')).includes(txid))
    await lab.mine(1)
    await owner.agree(t, 'spent')
    await becomes(t, owner, txid, isConfirmed)
  }
)

withNode(
  serial,
  'the coins of each script of a key that the node shows are swept, and the node counts what arrives',
  async (t, lab) => {
    const { node } = lab
    const owner = await lab.open(wordsOf(t))
    const secret = Uint8Array.from(randomBytes(32))
    const {
      bech32,
      p2pkh: pubKeyHash,
      p2sh: [scriptHash = 0],
      wif
    } = regtest
    const network = { bech32: String(bech32), pubKeyHash, scriptHash, wif }
    const [short, long] = [pubECDSA(secret), pubECDSA(secret, false).slice()]
    const paid = [p2pkh(short, network), p2wpkh(short, network), p2sh(p2wpkh(short, network), network)]
    paid.push(p2tr(short.slice(1), undefined, network) as never)
    for (const { address } of paid) await lab.pay(String(address), 0.5)
    await lab.pay(String(p2pkh(long, network).address), 0.25)
    for (const key of [short, long]) {
      const { descriptor } = await node.call('getdescriptorinfo', `pk(${bytesToHex(key)})`)
      await node.call('generatetodescriptor', 1, descriptor)
    }
    await lab.mine(100)
    let arrived = 0n
    for (const [end, count] of [
      [[1], 5],
      [[], 2]
    ] as const) {
      const privateKeys = [base58check.encode(Uint8Array.of(wif, ...secret, ...end))]
      const swept = await owner.wallet.sweepPrivateKeys({ tokenId: null, spendTargets: [], privateKeys })
      t.is(swept.spentCoins?.length, count)
      await owner.wallet.saveTx(await owner.wallet.broadcastTx(swept))
      t.true((await node.call('getrawmempool')).includes(swept.txid))
      await lab.mine(1)
      await becomes(t, owner, swept.txid, isConfirmed)
      arrived += BigInt(swept.nativeAmount)
    }
    await owner.agree(t, 'swept')
    t.is(owner.balances().trusted, String(arrived))
  }
)

withNode(
  serial,
  'coins that are frozen are those that the node has locked, stay when all is paid, and are frozen on another device',
  async (t, lab) => {
    const { node } = lab
    const owner = await openRich(t, lab, [1, 2, 3, 4])
    const copy = node.wallet(owner.name)
    const nodeCoins = async (): Promise<string[]> =>
      (await copy('listunspent'))
        .map(({ txid, vout }: { txid: string; vout: number }) => `${txid}:${vout}`)
        .sort()
    const freeCoins = async ({ wallet }: LabWallet): Promise<string[]> =>
      (await wallet.listCoins())
        .filter(({ state }) => state === 'spendable')
        .map(({ txid, vout }) => `${txid}:${vout}`)
        .sort()
    t.deepEqual(await freeCoins(owner), await nodeCoins())
    const frozen = (await nodeCoins()).slice(0, 2)
    for (const coin of frozen) {
      const [txid = '', vout] = coin.split(':')
      await copy('lockunspent', false, [{ txid, vout: Number(vout) }])
      await owner.wallet.changeCoin(coin, { isFrozen: true, label: `kept ${vout}` })
    }
    await owner.agree(t, 'frozen')
    t.deepEqual(await freeCoins(owner), await nodeCoins())
    t.is((await nodeCoins()).length, 2)
    const { txid } = await payAll(owner, await node.call('getnewaddress'))
    const { vin } = await node.call('getrawtransaction', txid, true)
    t.is(vin.length, 2)
    await lab.mine(1)
    await owner.agree(t, 'all of the rest is paid')
    t.deepEqual(await freeCoins(owner), [])
    t.is(
      owner.balances().trusted,
      String((await owner.wallet.listCoins()).reduce((sum, coin) => sum + BigInt(coin.nativeAmount), 0n))
    )
    await owner.wallet.sync()
    const other = await lab.reopen(owner, { storage: memoryStorage(new Map()), isOffline: false })
    await waitFor(() => other.balances().trusted === owner.balances().trusted)
    t.deepEqual(
      (await other.wallet.listCoins()).map(({ state, label = '' }) => [state, label.startsWith('kept')]),
      [
        ['frozen', true],
        ['frozen', true]
      ]
    )
    await other.wallet.changeCoin(frozen[0] ?? '', { isFrozen: false })
    await payAll(other, await node.call('getnewaddress'))
    t.is((await other.wallet.listCoins()).length, 1)
  }
)

withNode(
  serial,
  'a stuck payment, incoming or own, is hastened by a child at whose rate the node would mine both',
  async (t, lab) => {
    const { node } = lab
    const owner = await openRich(t, lab, [1])
    const RATE = 40
    const hasten = async (txid: Txid): Promise<void> => {
      const request = { tokenId: null, spendTargets: [], bumps: txid }
      const custom = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: String(RATE) } } as const
      const child = await owner.wallet.spend(await owner.wallet.makeSpend({ ...request, ...custom }))
      const { ancestorcount, ancestorsize, fees } = await node.call('getmempoolentry', child.txid)
      t.is(ancestorcount, 2)
      const fee = Math.round(fees.ancestor * 1e8)
      t.true(fee >= RATE * ancestorsize && fee < (RATE + 1) * ancestorsize, `${fee / ancestorsize}`)
      await owner.agree(t, 'hastened')
      await lab.mine(1)
      await becomes(t, owner, child.txid, isConfirmed)
      await owner.agree(t, 'mined')
    }
    const incoming = await lab.pay(await owner.address(), 0.5)
    await waitFor(async () => (await owner.wallet.listCoins()).some(({ txid }) => txid === incoming))
    await hasten(incoming)
    const low = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: '1' } } as const
    const spendTargets = [
      { publicAddress: await node.call('getnewaddress'), nativeAmount: nativeAmount(String(ONE / 4n)) }
    ]
    const own = await owner.wallet.spend(
      await owner.wallet.makeSpend({ tokenId: null, spendTargets, ...low })
    )
    await hasten(own.txid)
  }
)

withNode(serial, 'a restart without the server shows the same money and history', async (t, lab) => {
  const storage = memoryStorage(new Map())
  const words = wordsOf(t)
  const owner = await lab.open(words, { storage })
  await lab.pay(await owner.address(), 2)
  await lab.mine(1)
  await owner.agree(t, 'rich')
  const { txid } = await pay(owner, [[await lab.node.call('getnewaddress'), ONE]])
  await owner.agree(t, 'paid')
  const [balances, count] = [owner.balances(), (await owner.wallet.getTransactions()).length]
  await owner.kernel.close()
  const again = await lab.reopen(owner, { storage, isOffline: true })
  await waitFor(() => again.balances().trusted === balances.trusted)
  t.deepEqual(again.balances(), balances)
  t.is((await again.wallet.getTransactions()).length, count)
  t.is((await again.wallet.getTransaction(txid)).txid, txid)
})

withNode(
  serial,
  'a thousand used addresses with a thousand coins are found, and spent in one payment',
  async (t, lab) => {
    const { node } = lab
    const words = wordsOf(t)
    const first = await lab.open(words)
    const addresses = await lab.addressesOf(words, 1000)
    t.is(addresses[0], await first.address())
    for (let at = 0; at < 1000; at += 100) {
      const amounts = Object.fromEntries(addresses.slice(at, at + 100).map(address => [address, 0.01]))
      const txid = await node.call('sendmany', '', amounts)
      await node.call('sendrawtransaction', (await node.call('gettransaction', txid)).hex)
      await lab.mine(1)
    }
    await first.agree(t, 'found while they came')
    t.is(first.balances().trusted, String(10n * ONE))
    const payee = await node.call('getnewaddress')
    const { txid, most } = await payAll(first, payee)
    const { vin } = await node.call('getrawtransaction', txid, true)
    t.is(vin.length, 1000)
    await first.agree(t, 'spent')
    await lab.mine(1)
    t.is(Math.round((await node.call('getreceivedbyaddress', payee)) * 1e8), Number(most))
  }
)

withNode(
  serial,
  'behind a server that answers a second late, in pieces, the same is received, paid and confirmed',
  async (t, lab) => {
    const owner = await openRich(t, lab, [1])
    const { txid } = await pay(owner, [[await lab.node.call('getnewaddress'), ONE / 2n]])
    await owner.agree(t, 'paid')
    await lab.mine(1)
    await becomes(t, owner, txid, isConfirmed)
    await owner.agree(t, 'confirmed')
  },
  { delayMs: 1000 }
)
