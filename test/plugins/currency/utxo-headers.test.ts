import test from 'ava'
import { makeNobleCrypto } from '../../../kernel/crypto/noble-crypto.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import {
  type BlockDifficulty,
  compactOf,
  requiredBits,
  targetOf
} from '../../../plugins/currency/utxo/chain/difficulty.ts'
import { parseHeader } from '../../../plugins/currency/utxo/chain/header.ts'
import {
  type ChainOrigin,
  type ChainRefusal,
  HeaderChain
} from '../../../plugins/currency/utxo/chain/header-chain.ts'
import { type ChainTip, LinkedHeaders } from '../../../plugins/currency/utxo/electrum/headers.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { bitcoinCashRow } from '../../../plugins/currency/utxo/params/bitcoin-cash.ts'
import type { BlockWork, LinkRules, NetworkRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { type MinedHeader, mineHeaders } from './mined-headers.ts'

const EASY = 0x207fffff
const HARDER = 0x201fffff

/** A network of easy work, so that a test can mine it. */
const networkOf = (
  hash: BlockWork['hash'],
  linking: Partial<LinkRules>,
  genesis: MinedHeader
): NetworkRow => ({
  ...bitcoinRow.networks[0],
  genesis: genesis.hash,
  work: { hash, easiest: targetOf(EASY) },
  linking: { difficulty: { kind: 'fixed' }, spacing: 600, easiestBits: EASY, ...linking }
})

const clock = makeFakeClock()
const io = { clock, crypto: makeNobleCrypto(clock) }
const NOW = Math.floor(clock.now() / 1000)

const chainOf = (network: NetworkRow, origin: ChainOrigin = 'checkpoint'): HeaderChain => {
  const { checkpoint: _, ...begun } = network
  return new HeaderChain(io, begun, { base: 0, origin })
}

const bytesOf = (headers: readonly MinedHeader[]): Uint8Array[] => headers.map(({ bytes }) => bytes)

const refusalOf = async (work: Promise<unknown>): Promise<[string, string]> => {
  const refusal = (await work.then(
    () => undefined,
    (error: unknown) => error
  )) as ChainRefusal | undefined
  return [refusal?.reason ?? 'accepted', refusal?.message ?? '']
}

for (const hash of ['sha256', 'scrypt'] as const) {
  test(`a chain of ${hash} is linked block by block, and the one with more work wins, not the higher one`, async t => {
    const [genesis, ...blocks] = mineHeaders({ hash, count: 6, time: NOW - 90_000 })
    if (genesis === undefined) return t.fail()
    const network = networkOf(hash, { difficulty: { kind: 'period' } }, genesis)
    const chain = chainOf(network)
    await chain.take(0, bytesOf([genesis, ...blocks]))
    t.deepEqual([chain.tip, chain.hashAt(3)], [5, blocks[2]?.hash])

    const fork = blocks.slice(0, 2)
    const longer = mineHeaders({ hash, count: 5, time: NOW - 80_000, after: fork.at(-1), seed: 1 })
    t.deepEqual(await refusalOf(chain.take(3, bytesOf(longer.slice(0, 2)))), [
      'weaker',
      'Another chain from block 3 on has less work than the known one'
    ])
    t.is(chain.hashAt(5), blocks[4]?.hash)
    await chain.take(3, bytesOf(longer))
    t.deepEqual([chain.tip, chain.hashAt(7), chain.hashAt(2)], [7, longer[4]?.hash, blocks[1]?.hash])
  })

  test(`a header of ${hash} without its work, of another parent, time or difficulty is refused`, async t => {
    const headers = mineHeaders({ hash, count: 12, time: NOW - 90_000 })
    const [genesis] = headers
    const last = headers.at(-1)
    if (genesis === undefined || last === undefined) return t.fail()
    const chain = chainOf(networkOf(hash, { difficulty: { kind: 'period' } }, genesis))
    await chain.take(0, bytesOf(headers))
    const forge = async (wanted: string, next: Partial<Parameters<typeof mineHeaders>[0]>): Promise<void> => {
      const forged = mineHeaders({ hash, count: 1, time: last.time + 600, after: last, ...next })
      t.deepEqual(await refusalOf(chain.take(12, bytesOf(forged))), ['forged', wanted])
      t.is(chain.tip, 11)
    }
    await forge('Block 12 has not the work that it claims', { isLazy: true })
    await forge('Block 12 does not follow the one before it', { after: headers[9] })
    await forge('Block 12 is older than the blocks before it', { time: headers[6]?.time ?? 0 })
    await forge('Block 12 has not the work that it claims', { time: NOW + 7300, isLazy: true })
    const early = mineHeaders({ hash, count: 1, time: NOW + 18_000, after: last })
    t.deepEqual(
      await refusalOf(chain.take(12, bytesOf(early))),
      ['clock', 'Block 12 has its work, and is 5 hours ahead of the clock of this device'],
      'nobody works for a block that is refused'
    )
    await forge('Block 12 has not the difficulty that it must have', { bits: HARDER })
    await chain.take(12, bytesOf(mineHeaders({ hash, count: 1, time: last.time + 600, after: last })))
    t.is(chain.tip, 12)
  })
}

test('a higher chain of easy blocks is refused if it has less work', async t => {
  const hash = 'sha256'
  const [genesis, ...blocks] = mineHeaders({ hash, count: 4, time: NOW - 90_000, bits: HARDER })
  if (genesis === undefined) return t.fail()
  const chain = chainOf(networkOf(hash, { difficulty: { kind: 'period' }, hasLateBlocks: true }, genesis))
  await chain.take(0, bytesOf([genesis, ...blocks]))
  // Of a test network: blocks that come late may be easy, four of them for one of the others.
  const late = { hash, time: NOW - 80_000, spacing: 1201, after: blocks[0], seed: 1 } as const
  t.is((await refusalOf(chain.take(2, bytesOf(mineHeaders({ ...late, count: 7 })))))[0], 'weaker')
  t.is(chain.hashAt(3), blocks[2]?.hash)
  await chain.take(2, bytesOf(mineHeaders({ ...late, count: 9 })))
  t.is(chain.tip, 10)
})

test('after a period of quick blocks the next one must be harder', async t => {
  const common = mineHeaders({ hash: 'sha256', count: 2016, time: NOW - 600_000, spacing: 100 })
  const [genesis] = common
  const after = common.at(-1)
  if (genesis === undefined || after === undefined) return t.fail()
  const chain = chainOf(networkOf('sha256', { difficulty: { kind: 'period' } }, genesis))
  await chain.take(0, bytesOf(common))
  const next = { hash: 'sha256', count: 2, time: after.time + 100, after } as const
  t.is(
    (await refusalOf(chain.take(2016, bytesOf(mineHeaders(next)))))[1],
    'Block 2016 has not the difficulty that it must have'
  )
  await chain.take(2016, bytesOf(mineHeaders({ ...next, bits: 0x201fffff })))
  t.is(chain.tip, 2017)
})

test('a window cannot open a period with any difficulty it likes, nor begin with a header without work', async t => {
  const [before] = mineHeaders({ hash: 'sha256', count: 1, time: NOW - 90_000, bits: 0x2007ffff })
  const [lazy] = mineHeaders({ hash: 'sha256', count: 1, time: NOW - 90_000, bits: 0x2007ffff, isLazy: true })
  if (before === undefined || lazy === undefined) return t.fail()
  const difficulty = { kind: 'period', isFromBefore: true } as const
  const network = networkOf('sha256', { difficulty }, before)
  const window = (): HeaderChain => new HeaderChain(io, network, { base: 4031, origin: 'claimed' })
  t.deepEqual(await refusalOf(window().take(4031, bytesOf([lazy]))), [
    'forged',
    'Block 4031 has not the work that it claims'
  ])
  const openWith = async (bits: number): Promise<string> => {
    const next = mineHeaders({ hash: 'sha256', count: 2, time: before.time + 600, after: before, bits })
    return (await refusalOf(window().take(4031, bytesOf([before, ...next]))))[1]
  }
  const wrong = 'Block 4032 has not the difficulty that it must have'
  t.deepEqual([await openWith(EASY), await openWith(0x20007fff)], [wrong, wrong], 'sixteen times')
  t.deepEqual([await openWith(0x201ffffc), await openWith(0x2001ffff)], ['', ''], 'four times')
})

test('a chain that goes around the checkpoint is refused, and so is one that ends below it', async t => {
  const headers = mineHeaders({ hash: 'sha256', count: 8, time: NOW - 90_000 })
  const [genesis] = headers
  if (genesis === undefined) return t.fail()
  const checkpoint = { height: 5, hash: headers[5]?.hash ?? '' }
  const network = { ...networkOf('sha256', { difficulty: { kind: 'period' } }, genesis), checkpoint }
  const chain = new HeaderChain(io, network, { base: 1, origin: 'checkpoint' })
  t.is((await refusalOf(chain.take(1, bytesOf(headers.slice(1, 4)))))[0], 'forged')
  const others = mineHeaders({ hash: 'sha256', count: 9, time: NOW - 90_000, after: headers[2], seed: 3 })
  t.deepEqual(await refusalOf(chain.take(1, bytesOf([...headers.slice(1, 3), ...others]))), [
    'forged',
    'Block 5 is not the one of the network'
  ])
  await chain.take(1, bytesOf(headers.slice(1)))
  // Below the checkpoint nothing is weighed, so that made-up difficulties there must not outweigh the chain.
  const heavy = mineHeaders({
    ...{ hash: 'sha256', count: 2, time: NOW - 80_000, after: headers[3], isLazy: true },
    bits: 0x1700ffff
  })
  t.is((await refusalOf(chain.take(4, bytesOf(heavy))))[0], 'forged')
  t.is(chain.hashAt(7), headers[7]?.hash)
})

const linkingOf = ({ networks }: { networks: readonly NetworkRow[] }, name: string): LinkRules => {
  const { linking } = networks.find(network => network.name === name) ?? {}
  if (linking === undefined) throw new Error(`${name} is not linked`)
  return linking
}

/** Blocks of equal spacing and target below a height. */
const evenly =
  (spacing: number, bits: number, changed: ReadonlyMap<number, Partial<BlockDifficulty>> = new Map()) =>
  (height: number): BlockDifficulty | undefined =>
    height < 0 ? undefined : { time: 1_000_000 + height * spacing, bits, ...changed.get(height) }

test('Bitcoin changes its difficulty by the time of 2,015 intervals, and Litecoin by that of 2,016', t => {
  const [bitcoin, litecoin] = [linkingOf(bitcoinRow, 'mainnet'), linkingOf(litecoinRow, 'mainnet')]
  // Blocks 30,240 to 32,256 of Bitcoin, the first change of its difficulty: 1d00ffff, then 1d00d86a.
  const first = new Map([
    [30_240, { time: 1_261_130_161 }],
    [32_255, { time: 1_262_152_739 }]
  ])
  const of2009 = evenly(600, 0x1d00ffff, first)
  t.is(requiredBits(bitcoin, of2009, { height: 32_256, time: 1_262_153_464 }), 0x1d00d86a)
  t.is(requiredBits(bitcoin, of2009, { height: 32_257, time: 1_262_153_465 }), 0x1d00ffff)
  const quick = { height: 4032, time: 0 }
  t.is(requiredBits(litecoin, evenly(150, 0x1c00ffff), quick), 0x1c00ffff, '2,016 intervals are exact')
  t.is(
    requiredBits(bitcoin, evenly(600, 0x1c00ffff), quick),
    compactOf((targetOf(0x1c00ffff) * 2015n) / 2016n)
  )
  t.is(requiredBits(litecoin, evenly(1, 0x1d00fffc), quick), 0x1c3fff00, 'at most four times')
  t.is(requiredBits(litecoin, evenly(9999, 0x1e0fffff), quick), 0x1e0fffff, 'never easier than the easiest')
  t.is(
    requiredBits(litecoin, h => (h < 3000 ? undefined : evenly(1, 0x1d00ffff)(h)), quick),
    undefined
  )
})

test('on test networks a late block may be the easiest, does not change the others, and BIP-94 ignores it', t => {
  const [testnet, testnet4] = [linkingOf(bitcoinRow, 'testnet'), linkingOf(bitcoinRow, 'testnet4')]
  const easiest = new Map([
    [4030, { bits: 0x1d00ffff }],
    [4031, { bits: 0x1d00ffff }]
  ])
  const below = evenly(600, 0x1c00ffff, easiest)
  const { time = 0 } = below(4031) ?? {}
  t.is(requiredBits(testnet, evenly(600, 0x1c00ffff), { height: 4031, time: time + 601 }), 0x1d00ffff)
  t.is(requiredBits(testnet, evenly(600, 0x1c00ffff), { height: 4031, time: time + 600 }), 0x1c00ffff)
  const scaled = (bits: number): number => compactOf((targetOf(bits) * 2015n) / 2016n)
  t.is(requiredBits(testnet, below, { height: 4032, time: time + 9999 }), scaled(0x1d00ffff))
  t.is(requiredBits(testnet4, below, { height: 4032, time: time + 9999 }), scaled(0x1c00ffff))
  const after = new Map([...easiest, [4032, { bits: 0x1c00eeee }], [4033, { bits: 0x1d00ffff }]])
  const later = evenly(600, 0x1c00ffff, after)
  t.is(requiredBits(testnet, later, { height: 4034, time: later(4033)?.time ?? 0 }), 0x1c00eeee)
})

test('Bitcoin Cash has the targets of aserti3-2d at its anchor, and one half life before and after', t => {
  const linking = linkingOf(bitcoinCashRow, 'mainnet')
  const anchor = 1_605_447_844
  for (const [ahead, bits] of [
    [600, 0x1804dafe],
    [173_400, 0x1809b5fc],
    [-172_200, 0x18026d7f]
  ] as const) {
    const below = (): BlockDifficulty => ({ time: anchor + ahead, bits: 0x1804dafe })
    t.is(requiredBits(linking, below, { height: 661_648, time: 0 }), bits)
  }
  const far = (): BlockDifficulty => ({ time: anchor + 1_000_000_000, bits: 0x1804dafe })
  t.is(requiredBits(linking, far, { height: 661_648, time: 0 }), 0x1d00ffff)
})

test('compact targets are written as nodes write them, and negative or oversized ones are met by nothing', t => {
  for (const bits of [0x1d00ffff, 0x1804dafe, 0x1e0fffff, 0x207fffff, 0x1c00ffff, 0x03123456, 0x02008000])
    t.is(compactOf(targetOf(bits)), bits, bits.toString(16))
  for (const bits of [0x1d80ffff, 0x2200ffff, 0xff7fffff, 0x03000000]) t.is(targetOf(bits), 0n)
})

/** An honest server of headers from block 0 on. */
const serverOf = (
  headers: readonly MinedHeader[]
): { tip: ChainTip; query: (start: number, count: number) => Promise<Uint8Array[]> } => {
  const last = headers.at(-1)
  if (last === undefined) throw new TypeError('no headers')
  return {
    tip: { height: headers.length - 1, header: parseHeader(last.bytes, {}) },
    query: async (start, count) => bytesOf(headers.slice(start, start + count))
  }
}

for (const isFirst of [true, false]) {
  test(`a server that claims a far tip keeps no honest one out, ${isFirst ? 'also as the first' : 'and what is linked stays'}`, async t => {
    const headers = mineHeaders({ hash: 'sha256', count: 40, time: NOW - 40 * 600 })
    const [genesis] = headers
    if (genesis === undefined) return t.fail()
    const { checkpoint: _, ...network } = networkOf('sha256', {}, genesis)
    const linked = new LinkedHeaders({ ...makeNodeIo(), ...io }, network, memoryDisk())
    if (!isFirst) {
      const honest = serverOf(headers.slice(0, 30))
      await linked.link(honest.tip, honest.query)
    }
    const far = serverOf(headers)
    for (const height of [200_000, 4_000_000_000]) {
      await t.throwsAsync(linked.link({ ...far.tip, height }, async () => []))
      await t.throwsAsync(linked.link({ ...far.tip, height }, async () => bytesOf(headers.slice(0, 9))))
    }
    if (!isFirst) t.is(linked.standingOf(20, headers[20]?.hash ?? ''), 'checkpoint')
    const honest = serverOf(headers)
    await linked.link(honest.tip, honest.query)
    t.is(linked.standingOf(39, headers[39]?.hash ?? ''), 'checkpoint')
  })
}

test('two servers agree on a chain only if both have its first block and one of its newest', async t => {
  const headers = mineHeaders({ hash: 'sha256', count: 40, time: NOW - 40 * 600 })
  const [genesis] = headers
  if (genesis === undefined) return t.fail()
  const { checkpoint: _, ...network } = networkOf('sha256', { isWorthless: true }, genesis)
  const disk = memoryDisk()
  const linked = new LinkedHeaders({ ...makeNodeIo(), ...io }, network, disk)
  let notified = 0
  linked.listen(() => notified++)
  const { tip, query } = serverOf(headers)
  await linked.link(tip, query, { host: 'first.example' })
  const standing = (): string | undefined => linked.standingOf(20, headers[20]?.hash ?? '')
  const whole = new Map([0, 33].map(height => [height, headers[height]?.hash ?? '']))
  for (const [others, seen, server = 'tls://other.example:50002'] of [
    // A wallet of another server may ask the one that has shown the chain.
    [whole, 'claimed', 'tcp://first.example:50001'],
    [new Map([[0, genesis.hash]]), 'claimed'],
    [
      new Map([
        [0, genesis.hash],
        [33, 'ab'.repeat(32)]
      ]),
      'claimed'
    ],
    [whole, 'agreed']
  ] as const) {
    const life = { isEnded: false, onOpen: () => {} }
    await linked.witness({ scripthashes: [], heights: [], skip: 0, life }, async ({ heights }) => {
      t.deepEqual(heights, [0, 33])
      return { server, height: 39, ...{ histories: [], unspent: [] }, hashes: others }
    })
    t.is(standing(), seen)
  }
  t.is(notified, 1)
  t.regex((await disk.getText(`headers-${network.name}/tip`)) ?? '', / agreed$/)
})

test('a server that sends one header at a time is left, instead of keeping the others waiting', async t => {
  const headers = mineHeaders({ hash: 'sha256', count: 40, time: NOW - 40 * 600 })
  const [genesis] = headers
  if (genesis === undefined) return t.fail()
  const { checkpoint: _, ...network } = networkOf('sha256', {}, genesis)
  const linked = new LinkedHeaders({ ...makeNodeIo(), ...io }, network, memoryDisk())
  const { tip, query } = serverOf(headers)
  await t.throwsAsync(
    linked.link(tip, start => query(start, 1)),
    { message: /fewer blocks than it says/ }
  )
  await linked.link(tip, query)
  t.is(linked.standingOf(39, headers[39]?.hash ?? ''), 'checkpoint')
})

test('a newest block that is old is the fault of one server, and of the clock where two hosts have it', async t => {
  const headers = mineHeaders({ hash: 'sha256', count: 4, time: NOW - 3 * 86_400 })
  const [genesis] = headers
  if (genesis === undefined) return t.fail()
  const { checkpoint: _, ...network } = networkOf('sha256', {}, genesis)
  const linked = new LinkedHeaders({ ...makeNodeIo(), ...io }, network, memoryDisk())
  const { tip, query } = serverOf(headers)
  const reasonFrom = async (host: string): Promise<string> =>
    (await refusalOf(linked.link(tip, query, { host })))[0]
  t.deepEqual(
    [await reasonFrom('a'), await reasonFrom('a'), await reasonFrom('b'), await reasonFrom('a')],
    ['stale', 'stale', 'clock', 'clock']
  )
  const [, , , last] = headers
  const later = serverOf([
    ...headers,
    ...mineHeaders({ hash: 'sha256', count: 1, time: NOW - 60, after: last })
  ])
  await linked.link(later.tip, later.query, { host: 'c' })
  t.is(await reasonFrom('a'), 'stale', 'a server with news has cleared the clock')
})
