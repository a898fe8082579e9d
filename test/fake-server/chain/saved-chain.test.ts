import test from 'ava'
import fc from 'fast-check'
import { openFakeChain } from '../../../fake-server/chain/open-chain.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import type { Json } from '../../../kernel/base/json.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'
import { makeFundedChain, makeTestWallet, reopen, signAll } from './chain-kit.ts'

const testWallet = makeTestWallet('p2wpkh')
const other = makeTestWallet('p2tr', 2)

test('a saved chain opens exactly as it was and goes on the same way', t => {
  const chain = makeFundedChain(testWallet, ['1000000', '500000'])
  chain.broadcast(signAll(chain, testWallet, { to: other.script, fee: 1000n }))
  chain.broadcast(signAll(chain, other, { to: testWallet.script, fee: 1000n }))
  chain.setFees({ 3: 7 })
  const twin = reopen(chain)
  t.is(JSON.stringify(twin.toJson()), JSON.stringify(chain.toJson()))
  for (const script of [testWallet.scriptHash, other.scriptHash]) {
    t.is(twin.view.scripts.statusOf(script), chain.view.scripts.statusOf(script))
    t.deepEqual(twin.view.scripts.utxosOf(script), chain.view.scripts.utxosOf(script))
  }
  t.is(twin.feeRate(3), 7)
  t.is(twin.fund(testWallet.address, '777'), chain.fund(testWallet.address, '777'))
  twin.mine()
  twin.reorg(2)
  t.is(twin.view.mempool.size, 5)
})

test('a saved chain that was damaged anywhere is refused as a corrupt file', t => {
  const chain = makeFundedChain(testWallet)
  chain.broadcast(signAll(chain, testWallet, { to: other.script, fee: 1000n }))
  const text = JSON.stringify(chain.toJson())
  const opens = (saved: Json): unknown =>
    openFakeChain({ clock: makeFakeClock(), random: makeSeededRandom(), saved })
  const whole = JSON.parse(text) as Record<string, Json> & { blocks: Json[][] }
  const damaged: Json[] = [
    null,
    [],
    'text',
    { ...whole, version: 2 },
    { ...whole, blocks: whole.blocks.slice(0, -1) },
    { ...whole, blocks: whole.blocks.slice(1) },
    { ...whole, blocks: [...whole.blocks, whole.blocks.at(-1) ?? []] },
    { ...whole, blocks: whole.blocks.map(block => block.slice(0, 1)) },
    { ...whole, mempool: [] },
    { ...whole, faucetKey: '00'.repeat(32) },
    { ...whole, feeRates: { 1: 1 } },
    ...Object.keys(whole).map(key => ({ ...whole, [key]: null }))
  ]
  for (const saved of damaged)
    t.true(
      isWalletError(
        t.throws(() => opens(saved)),
        'CORRUPT_FILE'
      )
    )
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.constantFrom(...'0123456789abcdef'), (at, letter) => {
      const changed = `${text.slice(0, at)}${letter}${text.slice(at + 1)}`
      if (changed === text) return true
      let saved: Json
      try {
        saved = JSON.parse(changed)
      } catch {
        return true
      }
      return isWalletError(
        t.throws(() => opens(saved)),
        'CORRUPT_FILE'
      )
    }),
    { numRuns: 60 }
  )
})
