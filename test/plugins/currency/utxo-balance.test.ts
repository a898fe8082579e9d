import test from 'ava'
import { nativeAmount } from '../../../kernel/plugin-api.ts'
import { Ledger } from '../../../plugins/currency/utxo/ledger/ledger.ts'
import type { ScriptRecord } from '../../../plugins/currency/utxo/scan/script-record.ts'
import type { RawTx } from '../../../plugins/currency/utxo/tx/raw-tx.ts'
import { makeTestWorld, until } from './utxo-world.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

test('a balance says what of it is spendable, incoming, immature and reserved, and the parts are the whole', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { engine, told, balance, privateKeys } = await world.openWallet()
  const parts = (): readonly string[] => {
    const { spendable, incoming, immature, reserved } = told.details.at(-1) ?? {}
    return [spendable, incoming, immature, reserved].map(String)
  }
  const { publicAddress } = await engine.getFreshAddress({ tokenId: null })
  world.chain.fund(publicAddress, '700000')
  await until('a receipt', () => parts()[1] === '700000')
  t.deepEqual(parts(), ['0', '700000', '0', '0'])
  world.chain.mine(1)
  await until('its block', () => parts()[0] === '700000')
  t.deepEqual(parts(), ['700000', '0', '0', '0'])
  const spendTargets = [{ publicAddress: PAYEE, nativeAmount: nativeAmount('100000') }]
  const signed = await engine.signTx(await engine.makeSpend({ tokenId: null, spendTargets }, {}), privateKeys)
  await engine.reservePayments?.([signed])
  t.deepEqual(parts(), ['0', '0', '0', '700000'])
  await engine.broadcastTx(signed, {})
  await engine.saveTx(signed)
  const left = String(600_000n - BigInt(signed.networkFee))
  await until('the change', () => balance() === left)
  t.deepEqual(parts(), [left, '0', '0', '0'])
})

test('change of what others have not confirmed is as unsure as that, however long the chain of forged payments', t => {
  const record = { txids: new Set() } as unknown as ScriptRecord
  const ledger = new Ledger(() => record)
  const txOf = (txid: string, spends: string): RawTx => ({
    txid,
    inputs: [{ txid: spends, vout: 0 }],
    outputs: [{ value: 5n, script: new Uint8Array(1) }],
    isCoinbase: false,
    isPegOut: false,
    weight: 1
  })
  const isOwn = (txid: string): boolean | undefined =>
    [...ledger.coins()].find(coin => coin.txid === txid)?.isOwnChange
  const seen = { height: 0, date: 1, isSeen: true }
  const receipt = ledger.put(txOf('a', 'foreign'), seen)
  ledger.put(txOf('b', 'a'), seen)
  t.false(isOwn('b'))
  ledger.put(txOf('c', 'b'), seen)
  t.false(isOwn('c'))
  ledger.place(receipt, { ...seen, height: 7 })
  t.true(isOwn('c'))
})
