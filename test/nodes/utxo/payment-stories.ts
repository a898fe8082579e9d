import { randomBytes } from 'node:crypto'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import { p2pkh, p2sh, p2tr, p2wpkh, Transaction as SignedTransaction } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { nativeAmount, type Transaction, type Txid } from '../../../kernel/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { eventually, type LabWallet, wordsOf } from './node-lab.ts'
import { becomes, isConfirmed, ONE, openRich, pay, payAll, type Story } from './story-steps.ts'

type SpendInput = Parameters<LabWallet['wallet']['makeSpend']>[0]

const base58check = createBase58check(sha256)

/** See its title. */
export const receivesAndPays: Story = {
  title: 'a wallet of restored words receives and pays, and its balances are those of the node in every step',
  run: async (t, lab) => {
    const owner = await lab.open(wordsOf(t))
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
  }
}

/** See its title. */
export const paysMany: Story = {
  title: 'one payment reaches an address of each kind and many payees, and the rest goes to the last coin',
  run: async (t, lab) => {
    const { node } = lab
    const owner = await openRich(t, lab, [2, 1])
    const payees: [string, bigint][] = []
    for (const type of lab.coin.addressTypes)
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
}

/** See its title. */
export const cannotPayTwice: Story = {
  title: 'the node refuses a second payment of the same coins, and the first stays what it was',
  run: async (t, lab) => {
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
}

/** See its title. */
export const followsRival: Story = {
  title: 'a rival that a miner takes instead is followed, and its coins are not counted twice',
  run: async (t, lab) => {
    const { node } = lab
    const owner = await openRich(t, lab, [1])
    const [coin] = await node.wallet(owner.name)('listunspent')
    const outputs = [{ [await node.call('getnewaddress')]: 0.4 }, { [await owner.address()]: 0.59 }]
    const hex = await node.signPayment(owner.name, coin, outputs)
    const { txid } = await pay(owner, [[await node.call('getnewaddress'), ONE / 4n]])
    await node.call('generateblock', await node.call('getnewaddress'), [hex])
    await lab.chain.follow()
    await becomes(t, owner, txid, ({ sentState }) => sentState === 'replaced')
    await owner.agree(t, 'the rival is mined')
    t.is(owner.balances().trusted, '59000000')
  }
}

/** See its title. */
export const signsMessages: Story = {
  title: 'the node verifies what a wallet signs, and the wallet what the node signs',
  run: async (t, { node, open }) => {
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
}

/** See its title. */
export const sweeps: Story = {
  title: 'the coins of each script of a key that the node shows are swept, and the node counts what arrives',
  run: async (t, lab) => {
    const { node } = lab
    const owner = await lab.open(wordsOf(t))
    const secret = Uint8Array.from(randomBytes(32))
    const { bech32, p2pkh: pubKeyHash, p2sh: scripts, wif } = lab.coin.regtest
    const network = { bech32: String(bech32), pubKeyHash, scriptHash: scripts[0] ?? 0, wif }
    const [short, long] = [pubECDSA(secret), pubECDSA(secret, false).slice()]
    const paid = [p2pkh(short, network).address]
    if (bech32 !== undefined)
      paid.push(p2wpkh(short, network).address, p2sh(p2wpkh(short, network), network).address)
    if (lab.coin.hasTaproot) paid.push(p2tr(short.slice(1), undefined, network).address)
    for (const address of paid) await lab.pay(String(address), 0.5)
    await lab.pay(String(p2pkh(long, network).address), 0.25)
    for (const key of [short, long])
      await node.payScript(`${bytesToHex(Uint8Array.of(key.length, ...key))}ac`)
    await lab.mine(100)
    // One of them is of a coinbase.
    await owner.agree(t, 'ripe')
    let arrived = 0n
    const sweeps = [{ end: [1], count: paid.length + 1 }]
    if (lab.coin.takesLongKeys) sweeps.push({ end: [], count: 2 })
    for (const { end, count } of sweeps) {
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
}

/** See its title. */
export const freezesCoins: Story = {
  title:
    'coins that are frozen are those that the node has locked, stay when all is paid, and are frozen on another device',
  run: async (t, lab) => {
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
    await eventually(() => other.balances().trusted === owner.balances().trusted)
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
}

/** See its title. */
export const hastens: Story = {
  title: 'a stuck payment, incoming or own, is hastened by a child at whose rate the node would mine both',
  run: async (t, lab) => {
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
    await eventually(async () => (await owner.wallet.listCoins()).some(({ txid }) => txid === incoming))
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
}

/** See its title. */
export const carriesMemos: Story = {
  title: 'a memo goes with a payment as data that the node takes, and is read again from the words alone',
  run: async (t, lab) => {
    const words = wordsOf(t)
    const owner = await lab.open(words)
    await lab.pay(await owner.address(), 1)
    await lab.mine(1)
    await owner.agree(t, 'rich')
    const memo = { type: 'text', value: `=:BTC.BTC:${'x'.repeat(70)}` } as const
    const spendTargets = [
      { publicAddress: await lab.node.call('getnewaddress'), nativeAmount: nativeAmount('5000000') }
    ]
    const { txid } = await owner.wallet.spend(
      await owner.wallet.makeSpend({ tokenId: null, spendTargets, memos: [memo] })
    )
    const { vout } = await lab.node.call('getrawtransaction', txid, true)
    const scripts: readonly string[] = vout.map(
      ({ scriptPubKey: { hex } }: { readonly scriptPubKey: { readonly hex: string } }) => hex
    )
    const text = Buffer.from(memo.value)
    t.true(scripts.includes(`6a4c${Buffer.of(text.length).toString('hex')}${text.toString('hex')}`))
    await lab.mine(1)
    await becomes(t, owner, txid, isConfirmed)
    await owner.agree(t, 'mined')
    const other = await lab.open(words)
    await eventually(async () => (await other.wallet.getTransactions()).some(tx => tx.txid === txid))
    t.deepEqual((await other.wallet.getTransaction(txid)).memos, [{ ...memo, memoName: 'OP_RETURN' }])
  }
}

/** See its title. */
export const replacesOrCancels: Story = {
  title:
    'a payment is replaced for a higher fee, or cancelled into the own wallet, and the node keeps the last',
  run: async (t, lab) => {
    const { node } = lab
    const owner = await openRich(t, lab, [1, 1])
    const { wallet } = owner
    const replaceBy = async (
      spend: Pick<SpendInput, 'replaces' | 'spendTargets'>,
      rate: string
    ): Promise<Transaction> => {
      const custom = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: rate } } as const
      return wallet.spend(await wallet.makeSpend({ tokenId: null, ...spend, ...custom }))
    }
    const payee = await node.call('getnewaddress')
    const spendTargets = [{ publicAddress: payee, nativeAmount: nativeAmount(String(ONE / 4n)) }]
    let last = await replaceBy({ spendTargets }, '3')
    await becomes(t, owner, last.txid, ({ sentState }) => sentState === 'seen')
    const own = [{ publicAddress: await owner.address(), nativeAmount: nativeAmount(String(ONE / 8n)) }]
    for (const [targets, rate] of [
      [spendTargets, '20'],
      [own, '60']
    ] as const) {
      const next = await replaceBy({ spendTargets: targets, replaces: last.txid }, rate)
      t.deepEqual(await node.call('getrawmempool'), [next.txid])
      await becomes(t, owner, last.txid, ({ sentState }) => sentState === 'replaced')
      await owner.agree(t, `replaced for ${rate}`)
      last = next
    }
    await lab.mine(1)
    await becomes(t, owner, last.txid, isConfirmed)
    await owner.agree(t, 'cancelled')
    t.is(await node.call('getreceivedbyaddress', payee), 0)
    t.is(owner.balances().trusted, String(2n * ONE - BigInt(last.networkFee)))
  }
}

/** See its title. */
export const refusesForeign: Story = {
  title: 'a Bitcoin Cash node refuses a signature as Bitcoin has them, and takes ours for the same coin',
  run: async (t, lab) => {
    const { node } = lab
    const words = wordsOf(t)
    const owner = await lab.open(words)
    const txid = await lab.pay(await owner.address(), 1)
    const { privateKey, publicKey } = HDKey.fromMasterSeed(mnemonicToSeedSync(words)).derive(
      "m/44'/1'/0'/0/0"
    )
    if (privateKey === null || publicKey === null) return t.fail('no key')
    const { script } = p2pkh(publicKey)
    const { vout } = await node.call('getrawtransaction', txid, true)
    const index = vout.findIndex(
      ({ scriptPubKey }: { readonly scriptPubKey: { readonly hex: string } }) =>
        scriptPubKey.hex === Buffer.from(script).toString('hex')
    )
    const nonWitnessUtxo = await node.call('getrawtransaction', txid)
    const foreign = new SignedTransaction()
    foreign.addInput({ txid, index, nonWitnessUtxo })
    foreign.addOutput({ script, amount: ONE - 10_000n })
    foreign.sign(privateKey)
    foreign.finalize()
    const refused = await t.throwsAsync(node.call('sendrawtransaction', foreign.hex))
    t.regex(refused?.message ?? '', /script-verify-flag/)
    await lab.mine(1)
    await owner.agree(t, 'confirmed')
    const own = await pay(owner, [[await node.call('getnewaddress'), ONE / 2n]])
    const { vin } = await node.call('getrawtransaction', own.txid, true)
    t.is(vin[0].txid, txid)
    // The signature is pushed first: its last byte has the fork's bit.
    const input: string = vin[0].scriptSig.hex
    t.is(input.slice(0, 2 + 2 * Number.parseInt(input.slice(0, 2), 16)).slice(-2), '41')
    await lab.mine(1)
    await becomes(t, owner, own.txid, isConfirmed)
    await owner.agree(t, 'paid')
  }
}
