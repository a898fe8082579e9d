import test from 'ava'
import { makeNobleCrypto } from '../../../kernel/crypto/noble-crypto.ts'
import {
  type BlockDifficulty,
  compactOf,
  requiredBits,
  targetOf
} from '../../../plugins/currency/utxo/chain/difficulty.ts'
import { parseHeader } from '../../../plugins/currency/utxo/chain/header.ts'
import { type ChainRefusal, HeaderChain } from '../../../plugins/currency/utxo/chain/header-chain.ts'
import { readHeaders } from '../../../plugins/currency/utxo/electrum/replies.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import type { LinkRules, NetworkRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { dogecoinRow } from '../../../plugins/currency/utxo/params/dogecoin.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { type MergedFaults, type MinedHeader, mineHeaders, mineMergedHeaders } from './mined-headers.ts'

const [network] = dogecoinRow.networks
const clock = makeFakeClock()
const io = { clock, crypto: makeNobleCrypto(clock) }
const NOW = Math.floor(clock.now() / 1000)

// Block 5,050,000 of Dogecoin's mainnet with the work of a block of Litecoin, as its nodes show it.
const REAL =
  '04016200c4554161067da8781dea838444895b681cc5e6b31f0a9ae61a4d10c88f18dcdf603f781b32b6ed90fa9c3ebca7a3e94f45192094fc2165d436d3cee45e9e46e7c015a6654195011a0000000001000000010000000000000000000000000000000000000000000000000000000000000000ffffffff5603cfea2702002f42696e616e63652f343032fabe6d6de7d4577405223918491477db725a393bcfc349d8ee63b0a4fde23cbfbfd81dea0100000000000000fc7ce3c41bdf3e1074221e7bc5fdfd370200920e22000000ffffffff02088a4125000000001976a91499ce4c0a552c646353cc9e0df4c824ba2d978de588ac0000000000000000266a24aa21a9edaaecbf83657eaa3aa1d21756bff9a3ab27fd2efc00e7474348a5d6b898b74996000000004d1171f4f76689e0cb8e75db3b2339239a168bb047396adb465662bc783f43fc051dc092ee378742ffd407c416cea5e253e4c82f6da8c540c71fd9c2926ad48e7517dbc2900e8ffd7a6e4e34698cf20760e0175a2f30f1bb4a8941df988611f477b7d8cf14f437b7fd2b55f10f6ecf34331a51607719f9304bbe5a80e14b48896867baea51b2512f4af86db0a473619b4aa4a0e4e24fb551c95cdfe6aa226b5d797ed359ed1202edb80f0b2ee15e29a1a8c981328d805932c58f9285d2d2f7885e0000000000000000000000002053e7f451130dfdb5f2a8f01755312e796ae2af09b067135e331cbab36ea846ae41da1a341f4c355d82e9ef0d99a2f50052c38bcab349cf4a8dbb45d33e402c74c115a6659387001a4a962d82'

test('a real header of Dogecoin has the work of the block of Litecoin that names it', t => {
  const { hash, time, bits } = parseHeader(io.crypto.fromHex(REAL), network)
  t.is(hash, 'e7d4577405223918491477db725a393bcfc349d8ee63b0a4fde23cbfbfd81dea')
  t.is(hash, network.checkpoint?.hash ?? '')
  t.is(new Date(time * 1000).getUTCFullYear(), 2024)
  t.true(targetOf(bits) > 0n)
})

test('a real header of Dogecoin in which any byte is changed is no header of this block', t => {
  const bytes = io.crypto.fromHex(REAL)
  // The name of the parent, which nobody reads, stands behind the coinbase.
  const unread = REAL.indexOf('4d1171f4f76689e0cb8e75db3b2339239a168bb047396adb465662bc783f43fc') / 2
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Uint8Array.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    const isUnread = at >= unread && at < unread + 32
    const read = (): unknown => parseHeader(changed, network)
    if (isUnread) t.is(parseHeader(changed, network).hash, network.checkpoint?.hash ?? '')
    else t.throws(read, { instanceOf: TypeError }, String(at))
  }
  t.throws(() => parseHeader(bytes.slice(0, 80), network), { message: /cut off/ })
  t.throws(() => parseHeader(bytes.slice(0, -1), network), { message: /cut off/ })
  t.throws(() => parseHeader(Uint8Array.from([...bytes, 0]), network), { message: /something behind/ })
})

const EASY = 0x207fffff

/** A network of easy work, so that a test can mine it. */
const easyNetwork = (linking: Partial<LinkRules>, genesis: MinedHeader): NetworkRow => ({
  ...bitcoinRow.networks[0],
  genesis: genesis.hash,
  headerForm: 'auxpow',
  work: { hash: 'scrypt', mergedChainId: 98, easiest: targetOf(EASY) },
  linking: { difficulty: { kind: 'fixed' }, spacing: 60, easiestBits: EASY, ...linking }
})

const bytesOf = (headers: readonly MinedHeader[]): Uint8Array[] => headers.map(({ bytes }) => bytes)

const refusalOf = async (work: Promise<void>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error: ChainRefusal) => `${error.reason}: ${error.message}`
  )

const openChain = (genesis: MinedHeader, linking: Partial<LinkRules> = {}): HeaderChain => {
  const { checkpoint: _, ...begun } = easyNetwork(linking, genesis)
  return new HeaderChain(io, begun, { base: 0, origin: 'checkpoint' })
}

test('headers with the work of another chain are linked, and beside them those with work of their own', async t => {
  const headers = mineMergedHeaders({ count: 6, time: NOW - 6000 })
  const [genesis] = headers
  if (genesis === undefined) return t.fail()
  const chain = openChain(genesis)
  await chain.take(0, bytesOf(headers))
  t.is(chain.tip, 5)
  const own = mineHeaders({ hash: 'scrypt', count: 2, time: NOW - 5000, spacing: 60, after: headers.at(-1) })
  await chain.take(6, bytesOf(own))
  t.is(chain.hashAt(7), own[1]?.hash)
})

test('a header whose block of another chain does not stand for it is refused', async t => {
  const headers = mineMergedHeaders({ count: 3, time: NOW - 6000 })
  const [genesis] = headers
  if (genesis === undefined) return t.fail()
  const faults: readonly (readonly [string, MergedFaults])[] = [
    ['another chain id', { chainId: 99 }],
    ['a parent of the same chain', { parentChainId: 98 }],
    ['not in the coinbase', { branchIndex: 1 }],
    ['another place in the tree', { chainIndex: 0, levels: 3 }],
    ['another size of the tree', { size: 8 }],
    ['another block', { named: '00'.repeat(32) }],
    ['two marks', { marks: 2 }],
    ['a coinbase with the marker of witnesses', { hasMarker: true }],
    ['too many chains', { levels: 31, chainIndex: 0 }],
    ['a coinbase of another block', { root: Buffer.alloc(32) }],
    ['no work', { isLazy: true }]
  ]
  for (const [name, fault] of faults) {
    const chain = openChain(genesis)
    await chain.take(0, bytesOf(headers))
    const forged = mineMergedHeaders({ count: 1, time: NOW - 5000, after: headers.at(-1) }, fault)
    const refusal = await refusalOf(chain.take(3, bytesOf(forged)))
    t.regex(refusal, /^forged: Block 3 /, name)
    t.is(chain.tip, 2, name)
  }
  const chain = openChain(genesis)
  await chain.take(0, bytesOf(headers))
  await chain.take(
    3,
    bytesOf(mineMergedHeaders({ count: 1, time: NOW - 5000, after: headers.at(-1) }, { marks: 0 }))
  )
  t.is(chain.tip, 3, 'without a mark the root stands near the beginning')
})

// With an easy target one of two changed headers would pass by luck; so the difficulty is that of the test.
test('the target of a block of Dogecoin follows from the time between the two before it', t => {
  const { linking } = network
  if (linking === undefined) return t.fail()
  const bits = 0x1a01954b
  const nextAfter = (seconds: number): bigint => {
    const blocks = new Map<number, BlockDifficulty>([
      [998, { time: 1_000_000, bits: 0 }],
      [999, { time: 1_000_000 + seconds, bits }]
    ])
    const next = requiredBits(linking, height => blocks.get(height), { height: 1000, time: 2_000_000 })
    return targetOf(next ?? 0)
  }
  const scaled = (span: bigint): bigint => targetOf(compactOf((targetOf(bits) * span) / 60n))
  t.is(nextAfter(60), scaled(60n))
  t.is(nextAfter(0), scaled(53n), 'an eighth of the deviation, towards zero')
  t.is(nextAfter(100), scaled(65n))
  t.is(nextAfter(100_000), scaled(90n), 'three halves at most')
  t.is(nextAfter(-100_000), scaled(45n), 'three quarters at least')
  t.is(
    requiredBits(linking, height => (height === 999 ? { time: 1, bits } : undefined), {
      height: 1000,
      time: 9
    }),
    undefined
  )
  const easiest = new Map([
    [998, { time: 0, bits: 0x1e0fffff }],
    [999, { time: 10_000, bits: 0x1e0fffff }]
  ])
  t.is(
    requiredBits(linking, height => easiest.get(height), { height: 1000, time: 9 }),
    0x1e0fffff
  )
})

test('a chain of Dogecoin whose difficulty jumps is refused, also where the blocks before are not known', async t => {
  const HARDER = 0x203fffff
  const headers = mineMergedHeaders({ count: 1, time: NOW - 6000, bits: HARDER })
  const [first] = headers
  if (first === undefined) return t.fail()
  const next = (bits: number): Uint8Array[] =>
    bytesOf(mineMergedHeaders({ count: 1, time: NOW - 5940, bits, after: first }))
  const rules = { difficulty: { kind: 'digishield' } } as const
  for (const [bits, wanted] of [
    [EASY, 'forged: Block 1 has not the difficulty that it must have'],
    [0x201fffff, 'forged: Block 1 has not the difficulty that it must have'],
    [0x205ffffe, 'accepted'],
    [0x202fffff, 'accepted']
  ] as const) {
    const chain = openChain(first, rules)
    await chain.take(0, bytesOf(headers))
    t.is(await refusalOf(chain.take(1, next(bits))), wanted, bits.toString(16))
  }
})

test('headers of several lengths in one reply are told apart, and a reply that ends in one is refused', t => {
  const merged = mineMergedHeaders({ count: 3, time: NOW })
  const own = mineHeaders({ hash: 'scrypt', count: 1, time: NOW })
  const all = [...merged, ...own]
  const hex = bytesOf(all).map(bytes => io.crypto.toHex(bytes))
  const read = (reply: object): readonly Uint8Array[] =>
    readHeaders(io.crypto, reply as never, { most: 10, headerForm: 'auxpow' })
  t.deepEqual(read({ count: 4, hex: hex.join(''), max: 2016 }), bytesOf(all))
  t.deepEqual(read({ count: 4, headers: hex, max: 2016 }), bytesOf(all))
  for (const end of [2, 100, 162, 200, 600])
    t.throws(
      () => read({ hex: hex.join('').slice(0, -end) }),
      { message: /bad list of block headers/ },
      String(end)
    )
})
