import { Transaction } from '@scure/btc-signer'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import fc from 'fast-check'
import { type EngineTransaction, isWalletError, type Memo, nativeAmount } from '../../../kernel/plugin-api.ts'
import {
  memosOf,
  parseRawTx,
  type RawTx,
  readMemo
} from '../../../plugins/currency/utxo/chain/transaction.ts'
import { bitcoin, litecoin } from '../../../plugins/currency/utxo/plugin.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

const AMOUNT = nativeAmount('50000')
const RATE = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: '7' } } as const

const funded = async (t: ExecutionContext, plugin = bitcoin): Promise<[TestWorld, TestWallet]> => {
  const world = makeTestWorld({ plugin })
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  world.chain.fund(await addressOf(alice), '1000000')
  world.chain.mine()
  await until('funded', () => alice.balance() === '1000000')
  return [world, alice]
}

const addressOf = async ({ engine }: TestWallet): Promise<string> =>
  (await engine.getFreshAddress({ tokenId: null })).publicAddress

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))
const hexOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex')
const rawOf = ({ signedTx }: EngineTransaction): RawTx => parseRawTx(bytesOf(signedTx))
const reportedMemos = ({ reported }: TestWallet, { txid }: EngineTransaction): unknown =>
  reported.txs.get(txid)?.memos

for (const plugin of [bitcoin, litecoin]) {
  test(`${plugin.id}: recipients come first in their order, then the memo, then change; the fee is exact`, async t => {
    const [world, alice] = await funded(t, plugin)
    const [bob, carol] = [await world.openWallet(), await world.openWallet()]
    const payees = [await addressOf(carol), await addressOf(bob), await addressOf(carol)]
    const memo: Memo = { type: 'text', value: '=:BTC.BTC:bc1q…:1000' }
    const sent = await alice.send({
      spendTargets: payees.map(publicAddress => ({ publicAddress, nativeAmount: AMOUNT })),
      memos: [memo],
      ...RATE
    })
    const data = Buffer.from(memo.value, 'utf8')
    const { outputs, weight } = rawOf(sent)
    // Only Bitcoin's nodes take a dearer payment in place of one that waits (BIP-125).
    const sequence = Transaction.fromRaw(bytesOf(sent.signedTx), { allowUnknownOutputs: true }).getInput(
      0
    ).sequence
    t.is(sequence, plugin === bitcoin ? 0xfffffffd : 0xfffffffe)
    t.deepEqual(
      outputs.slice(0, 4).map(({ value, script }) => [value, hexOf(script)]),
      [
        ...payees.map((_, at) => [50_000n, hexOf(outputs[at]?.script)]),
        [0n, `6a${data.length.toString(16)}${data.toString('hex')}`]
      ]
    )
    t.is(outputs.length, 5)
    t.is(hexOf(outputs[0]?.script), hexOf(outputs[2]?.script))
    t.not(hexOf(outputs[0]?.script), hexOf(outputs[1]?.script))
    // A signature is at most one byte shorter than it is counted.
    const short = BigInt(sent.networkFee) - BigInt(Math.ceil(weight / 4)) * 7n
    t.true(short === 0n || short === 7n, `${short}`)
    const reported = [{ ...memo, memoName: 'OP_RETURN' }]
    t.deepEqual(sent.memos, reported)
    const readers = [alice, bob, carol]
    await until('all have seen it', () => readers.every(reader => reader.reported.txs.has(sent.txid)))
    for (const reader of readers) t.deepEqual(reportedMemos(reader, sent), reported)
    world.chain.mine()
    await until('it confirms', () => (alice.reported.txs.get(sent.txid)?.blockHeight ?? 0) > 0)
    t.deepEqual(reportedMemos(alice, sent), reported)
    const twin = await world.openWallet({ keys: alice.privateKeys })
    t.deepEqual(reportedMemos(twin, sent), reported)
    const restarted = await world.openWallet({ keys: alice.privateKeys, store: alice.store })
    t.deepEqual(reportedMemos(restarted, sent), reported)
  })
}

test('80 bytes are carried and relayed, 81 are refused with MEMO_INVALID, letters counted by their bytes', async t => {
  const [world, alice] = await funded(t)
  const target = await addressOf(await world.openWallet({ isStarted: false }))
  const draftOf = async (...memos: Memo[]): Promise<EngineTransaction> =>
    alice.engine.makeSpend(
      { tokenId: null, spendTargets: [{ publicAddress: target, nativeAmount: AMOUNT }], memos, ...RATE },
      {}
    )
  const fees: string[] = []
  for (const memo of [
    { type: 'text', value: 'a'.repeat(75) },
    { type: 'text', value: 'a'.repeat(76) },
    { type: 'text', value: 'é'.repeat(40) },
    { type: 'hex', value: 'FF'.repeat(80) }
  ] as const) {
    const signed = await alice.engine.signTx(await draftOf(memo), alice.privateKeys)
    fees.push(signed.networkFee)
    const script = hexOf(rawOf(signed).outputs[1]?.script)
    t.true(script.endsWith(hexOf(memo.type === 'hex' ? bytesOf(memo.value) : Buffer.from(memo.value))))
    t.is(world.chain.broadcast(signed.signedTx), signed.txid)
    world.chain.drop(signed.txid)
  }
  // A push of more than 75 bytes needs one byte more to say so.
  const plain = (await draftOf()).networkFee
  t.deepEqual(
    fees.map(fee => (BigInt(fee) - BigInt(plain)) / 7n),
    [9n + 77n, 9n + 79n, 9n + 83n, 9n + 83n]
  )
  const ruleOf = async (...memos: Memo[]): Promise<string> => {
    const error = await t.throwsAsync(draftOf(...memos))
    return isWalletError(error, 'MEMO_INVALID') ? error.details.rule : String(error)
  }
  t.regex(await ruleOf({ type: 'text', value: 'a'.repeat(81) }), /longer than 80 bytes/)
  t.regex(await ruleOf({ type: 'text', value: 'é'.repeat(41) }), /longer than 80 bytes/)
  t.regex(await ruleOf({ type: 'hex', value: 'ff'.repeat(81) }), /longer than 80 bytes/)
  t.regex(await ruleOf({ type: 'hex', value: 'fff' }), /hex/)
  t.regex(await ruleOf({ type: 'text', value: '\ud83d' }), /half of a letter/)
  t.regex(await ruleOf({ type: 'number', value: '7' }), /text or hex/)
  t.regex(await ruleOf({ type: 'text', value: 'a' }, { type: 'text', value: 'b' }), /one memo/)
  const empty = await draftOf({ type: 'text', value: '' })
  t.deepEqual(empty.memos, [])
  t.is(empty.networkFee, plain)
})

test('the maximum beside a memo can be sent and leaves exactly zero', async t => {
  const [world, alice] = await funded(t)
  const target = await addressOf(await world.openWallet({ isStarted: false }))
  const memos: readonly Memo[] = [{ type: 'hex', value: '00'.repeat(78) }]
  const spend = { spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('0') }], memos, ...RATE }
  const most = await alice.engine.getMaxSpendable?.({ tokenId: null, ...spend }, {})
  const without = await alice.engine.getMaxSpendable?.({ tokenId: null, ...spend, memos: [] }, {})
  t.is(BigInt(without ?? 0) - BigInt(most ?? 0), (9n + 81n) * 7n)
  const spendTargets = [{ publicAddress: target, nativeAmount: nativeAmount(most ?? '') }]
  const sent = await alice.send({ ...spend, spendTargets })
  t.is(rawOf(sent).outputs.length, 2)
  await until('nothing is left', () => alice.balance() === '0')
  const tooLong: readonly Memo[] = [{ type: 'hex', value: '00'.repeat(81) }]
  await t.throwsAsync(async () =>
    alice.engine.getMaxSpendable?.({ tokenId: null, ...spend, memos: tooLong }, {})
  )
})

test('a memo that was changed between its review and its signature is not signed', async t => {
  const [world, alice] = await funded(t)
  const target = await addressOf(await world.openWallet({ isStarted: false }))
  const draft = await alice.engine.makeSpend(
    {
      tokenId: null,
      spendTargets: [{ publicAddress: target, nativeAmount: AMOUNT }],
      memos: [{ type: 'text', value: 'to Bob' }]
    },
    {}
  )
  const swapped = JSON.stringify(draft.otherParams).replace(
    hexOf(Buffer.from('Bob')),
    hexOf(Buffer.from('Eve'))
  )
  const evil = `0014${'77'.repeat(20)}`
  const paying = JSON.stringify(draft.otherParams).replace(/"script":"[0-9a-f]+"/, `"script":"${evil}"`)
  const broken = JSON.stringify(draft.otherParams).replace(/"script":"/, '"script":"z')
  const plain = { ...draft, memos: [] }
  const twice = JSON.stringify(draft.otherParams).replace(/\{"script":"[0-9a-f]+"\}/, '$&,$&')
  const stripped = JSON.stringify(draft.otherParams).replace(/"script":"[0-9a-f]+"/, '"script":""')
  for (const changed of [
    { ...draft, otherParams: JSON.parse(twice) },
    { ...plain, otherParams: JSON.parse(stripped) },
    { ...draft, otherParams: JSON.parse(swapped) },
    { ...draft, otherParams: JSON.parse(paying) },
    { ...draft, otherParams: JSON.parse(broken) },
    plain,
    { ...draft, memos: [{ type: 'text', value: 'to Eve' }] as const }
  ]) {
    const error = await t.throwsAsync(async () => alice.engine.signTx(changed, alice.privateKeys))
    t.true(isWalletError(error, 'SIGN_REFUSED') && /memo/.test(error.details.reason), String(error))
  }
  await t.notThrowsAsync(async () => alice.engine.signTx(draft, alice.privateKeys))
})

const carrying = (...scripts: string[]): Pick<RawTx, 'isCoinbase' | 'outputs'> => ({
  isCoinbase: false,
  outputs: scripts.map(script => ({ value: 0n, script: bytesOf(script) }))
})

test('what the chain carries is read as text where it is text, as hex where it is not, and never from a miner', t => {
  const NAME = { memoName: 'OP_RETURN' }
  const hex = (value: string): Memo => ({ type: 'hex', value, ...NAME })
  t.deepEqual(memosOf(carrying('6a026869', '76a90088ac', '6a02ff00', '6a03610a62')), [
    { type: 'text', value: 'hi', ...NAME },
    hex('ff00'),
    hex('610a62')
  ])
  t.deepEqual(memosOf({ ...carrying('6a026869'), isCoinbase: true }), [])
  const odd = ['6a', '6a00', '6a0268', '6a0168ff', '6a4c0168', `6a4c51${'61'.repeat(81)}`, '6a4d0100ff', '51']
  t.deepEqual(memosOf(carrying(...odd)), [])
})

test('any text and any bytes up to the limit go onto the chain and are read back as the same bytes', t => {
  const memo = fc.oneof(
    fc
      .string({ minLength: 1, maxLength: 26, unit: 'grapheme' })
      .map((value): Memo => ({ type: 'text', value })),
    fc.uint8Array({ minLength: 1, maxLength: 80 }).map((data): Memo => ({ type: 'hex', value: hexOf(data) }))
  )
  const dataOf = ({ type, value }: Memo): string =>
    type === 'hex' ? value : Buffer.from(value, 'utf8').toString('hex')
  fc.assert(
    fc.property(memo, given => {
      if (dataOf(given).length > 160) return true
      const script = readMemo([given])?.script ?? new Uint8Array()
      const [read, ...others] = memosOf({ isCoinbase: false, outputs: [{ value: 0n, script }] })
      return others.length === 0 && read !== undefined && dataOf(read) === dataOf(given)
    })
  )
  t.pass()
})
