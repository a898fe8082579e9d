import { Transaction } from '@scure/btc-signer'
import test from 'ava'
import { type Io, isWalletError, nativeAmount } from '../../../kernel/plugin-api.ts'
import { parseRawTx } from '../../../plugins/currency/utxo/chain/transaction.ts'
import { litecoin } from '../../../plugins/currency/utxo/plugin.ts'
import { makeTestWorld, type TestWorld, until } from './utxo-world.ts'

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))

// Litecoin Core 0.21.2.1 on regtest: a payment out of the extension block, and one into it once it is in a block.
const PEG_OUT = {
  txid: '303108ebf41fbb750bd1a7abf70537ec08700753020a6c35de11cc06e3acc8c3',
  hex:
    '020000000008010345dde62fcf161fc43e84490a7d434abbdac07ef2cabd9f654208968ab94ab70000000000ffffffff02a8288b44' +
    '00000000225820f8d5ae47048bf7f2b2f9e6ab7033ee978ed4fc3bf2c7903a2c2844ac59c86d2c00e1f5050000000016001410d7' +
    '51524c5a5dc7614abec5601af9b3d04d44790000000000'
}
const PEG_IN = {
  txid: '0e4cc46e8346b615b92a5fe47da0022edbf099eb1740a28330be810076b4cb22',
  hex:
    '020000000001015fdd871612c951ed72e79786220c42d24919d902c5eb0791a2ff4a2c5e71008f0000000000feffffff01d43c814a' +
    '0000000022592081aa9c2bb6b0400ff82d9d1e257c22be9ff20f83cd1f7a96fad0519ab026593602473044022014948bc6662142' +
    '48f602d0581c22747d0a39bc41b236269bb9a1396cb29a0a9902203de96d8d66d0d877132fd2fde6b4e0a1a44a231323b1238e93' +
    '39805609e2fbde012102df518ab44f995cc0225ba51020401c67b7c90d7c98f31d874e433afcf96cd3f3af010000'
}

test('a payment out of the extension block is read to its last byte, and its id leaves the marks of MWEB out', t => {
  const { txid, outputs, isPegOut, isCoinbase } = parseRawTx(bytesOf(PEG_OUT.hex))
  t.is(txid, PEG_OUT.txid)
  t.true(isPegOut)
  t.false(isCoinbase)
  t.deepEqual(
    outputs.map(({ value }) => value),
    [1_149_970_600n, 100_000_000n]
  )
  for (const hex of [`${PEG_OUT.hex}00`, PEG_OUT.hex.slice(0, -2), PEG_OUT.hex.slice(0, -10)])
    t.throws(() => parseRawTx(bytesOf(hex)), { instanceOf: TypeError })
})

test('a payment into the extension block has one id before it is in a block, with all that MWEB adds, and after', t => {
  const { hex } = PEG_IN
  t.is(parseRawTx(bytesOf(hex)).txid, PEG_IN.txid)
  const waiting = `${hex.slice(0, 8)}0009${hex.slice(12, -8)}01${'5c'.repeat(2000)}${hex.slice(-8)}`
  const { txid, isPegOut, outputs } = parseRawTx(bytesOf(waiting))
  t.is(txid, PEG_IN.txid)
  t.false(isPegOut)
  t.is(outputs.length, 1)
  const unknown = `${hex.slice(0, 8)}0003${hex.slice(12)}`
  t.throws(() => parseRawTx(bytesOf(unknown)), { message: 'A transaction has unknown parts' })
})

/** The same transaction as the one that pays out of an extension block; the id stays. */
const asPegOut = (hex: string): string => {
  const plain = Buffer.from(
    Transaction.fromRaw(bytesOf(hex), { allowUnknownOutputs: true }).toBytes(true, false)
  ).toString('hex')
  return `${plain.slice(0, 8)}0008${plain.slice(8, -8)}00${plain.slice(-8)}`
}

test('a wallet that is paid out of the extension block syncs, and waits until such a coin may be spent', async t => {
  let paid: string | undefined
  const connect: NonNullable<Io['connect']> = (address, handlers) =>
    (world as TestWorld).electrum.connect(address, {
      onText: text => handlers.onText(paid === undefined ? text : text.replaceAll(paid, asPegOut(paid))),
      onClose: error => handlers.onClose(error)
    })
  const world = makeTestWorld({ plugin: litecoin, io: { connect } })
  t.teardown(() => world.close())
  const alice = await world.openWallet({ isStarted: false })
  const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
  const txid = world.chain.fund(publicAddress, '5000000')
  paid = world.chain.view.find(txid)?.tx.hex
  world.chain.mine()
  await alice.engine.startEngine()
  await until('it has synced', () => alice.reported.ratios.at(-1) === 1)
  t.deepEqual(alice.reported.statuses, [])
  t.is(alice.balance(), '5000000')
  const spendTargets = [
    {
      publicAddress: (await alice.tools.sampleAddress?.()) ?? '',
      nativeAmount: nativeAmount('1000000')
    }
  ]
  const isWaiting = async (): Promise<boolean> => {
    try {
      await alice.engine.makeSpend({ tokenId: null, spendTargets }, {})
      return false
    } catch (error) {
      if (isWalletError(error, 'PENDING_FUNDS')) return true
      throw error
    }
  }
  const { height } = world.chain
  // Litecoin Core: "bad-txns-premature-spend-of-pegout" until the block that spends it is the sixth after its own.
  for (let more = 0; more < 5; more += 1) {
    t.true(await isWaiting(), `${more}`)
    world.chain.mine()
    await until('the tip', () => alice.reported.heights.at(-1) === height + more + 1)
  }
  t.false(await isWaiting())
  const again = await world.openWallet({ keys: alice.privateKeys, store: alice.store })
  t.is(again.balance(), '5000000')
})
