import test from 'ava'
import { BITCOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import type { Io, Json } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { targetOf } from '../../../plugins/currency/utxo/chain/difficulty.ts'
import { parseHeader } from '../../../plugins/currency/utxo/chain/header.ts'
import type { ElectrumCall } from '../../../plugins/currency/utxo/electrum/connection.ts'
import { type ChainTip, HeaderCache, LinkedHeaders } from '../../../plugins/currency/utxo/electrum/headers.ts'
import { TipFollower } from '../../../plugins/currency/utxo/electrum/tip-follower.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import type { NetworkRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { type MinedHeader, mineHeaders } from './mined-headers.ts'

test('an old connection that is linked late lets the new one link each tip once', async t => {
  const io = makeNodeIo()
  const hex = BITCOIN_REGTEST.genesis.header
  const links: { readonly tip: ChainTip; readonly end: () => void }[] = []
  const linked = {
    isBegun: true,
    isLinking: true,
    link: (tip: ChainTip) => new Promise<ChainTip>(end => links.push({ tip, end: () => end(tip) }))
  } as unknown as LinkedHeaders
  const announced: number[] = []
  const followerOf = (): TipFollower =>
    new TipFollower(
      io,
      { isOpen: true, url: 'tcp://a.test:1', callMany: () => [], close: () => {} },
      {
        ...{ headers: new HeaderCache(io, {}), linked, before: undefined },
        onTip: ({ height }) => announced.push(height),
        onLinked: () => {}
      }
    )
  const [old, next] = [followerOf(), followerOf()]
  const ended = old.take({ height: 0, hex })
  const first = next.take({ height: 1, hex })
  links[0]?.end()
  await ended
  const second = next.take({ height: 2, hex })
  t.is(links.length, 2, 'the second tip waits for the first')
  links[1]?.end()
  await io.clock.turn()
  links[2]?.end()
  await Promise.all([first, second])
  t.deepEqual(announced, [0, 1, 2])
})

/** A network whose blocks a test can mine. */
const easyNetwork = (genesis: MinedHeader, isWorthless = false): NetworkRow => {
  const { checkpoint: _, ...row } = bitcoinRow.networks[0] as NetworkRow
  return {
    ...row,
    genesis: genesis.hash,
    work: { hash: 'sha256', easiest: targetOf(0x207fffff) },
    linking: {
      ...{ difficulty: { kind: 'fixed' }, spacing: 600, easiestBits: 0x207fffff },
      ...(isWorthless ? { isWorthless } : {})
    }
  }
}

/** A server that shows one chain and says another's newest block, until it is asked for it again. */
const movingServer = (
  io: Io,
  { said, shown, later }: Readonly<Record<'said' | 'shown' | 'later', readonly MinedHeader[]>>
) => {
  const newestOf = (chain: readonly MinedHeader[]): { readonly height: number; readonly hex: string } => ({
    height: chain.length - 1,
    hex: io.crypto.toHex(chain.at(-1)?.bytes ?? new Uint8Array())
  })
  let chain = shown
  const answer = ({ method, params }: ElectrumCall): Json => {
    if (method === 'blockchain.headers.subscribe') {
      chain = later
      return newestOf(chain) as Json
    }
    const [start, count] = params as [number, number]
    const found = chain.slice(start, start + count).map(({ bytes }) => io.crypto.toHex(bytes))
    return { count: found.length, hex: found.join(''), max: 2016 }
  }
  return {
    newest: newestOf(said),
    connection: {
      ...{ isOpen: true, url: 'tcp://a.test:1' },
      callMany: (calls: readonly ElectrumCall[]) => calls.map(async call => answer(call)),
      close(this: { isOpen: boolean }) {
        this.isOpen = false
      }
    }
  }
}

for (const isHonest of [true, false]) {
  test(`a server whose chain ${isHonest ? 'changes while it is linked is asked again' : 'never holds its newest block is left'}`, async t => {
    const io = makeNodeIo()
    const common = mineHeaders({ hash: 'sha256', count: 20, time: Math.floor(Date.now() / 1000) - 40 * 600 })
    const [after, base] = [common.at(-1), common[0]]
    if (after === undefined || base === undefined) return t.fail()
    const branch = (seed: number, count: number): readonly MinedHeader[] => [
      ...common,
      ...mineHeaders({ hash: 'sha256', count, time: after.time + 600, after, seed })
    ]
    const [replaced, chain] = [branch(1, 2), branch(2, 3)]
    const linked = new LinkedHeaders(io, easyNetwork(base), memoryDisk())
    const { newest, connection } = movingServer(
      io,
      isHonest
        ? { said: replaced, shown: chain, later: chain }
        : { said: replaced, shown: chain, later: replaced }
    )
    const announced: number[] = []
    const follower = new TipFollower(io, connection, {
      ...{ headers: new HeaderCache(io, {}), linked, before: undefined, onLinked: () => {} },
      onTip: ({ height }) => announced.push(height)
    })
    await linked.link({ height: 19, header: parseHeader(after.bytes, {}) }, async (start, count) =>
      common.slice(start, start + count).map(({ bytes }) => bytes)
    )
    const linking = follower.take(newest)
    if (isHonest) {
      await linking
      t.deepEqual(announced, [22])
      t.true(connection.isOpen)
      t.is(linked.standingOf(22, chain[22]?.hash ?? ''), 'checkpoint')
    } else {
      await t.throwsAsync(linking, { message: /not in the chain that it shows/ })
      t.false(connection.isOpen)
    }
  })
}

test('a server with a weaker chain that goes on naming newer blocks replaces no chain that is known', async t => {
  const io = makeNodeIo()
  const time = Math.floor(Date.now() / 1000) - 60 * 600
  const honest = mineHeaders({ hash: 'sha256', count: 42, time })
  const [base, after] = honest
  if (base === undefined || after === undefined) return t.fail()
  const lie = (count: number): readonly MinedHeader[] => [
    base,
    after,
    ...mineHeaders({ hash: 'sha256', count, time: after.time + 600, after, seed: 3 })
  ]
  // Of a network without a checkpoint, whose chain is what one server has claimed.
  const linked = new LinkedHeaders(io, easyNetwork(base, true), memoryDisk())
  const newest = honest.at(-1) as MinedHeader
  await linked.link({ height: 41, header: parseHeader(newest.bytes, {}) }, async (start, count) =>
    honest.slice(start, start + count).map(({ bytes }) => bytes)
  )
  const liar = movingServer(io, { said: lie(20), shown: lie(20), later: lie(21) })
  const announced: number[] = []
  const follower = new TipFollower(io, liar.connection, {
    ...{ headers: new HeaderCache(io, {}), linked, before: undefined, onLinked: () => {} },
    onTip: ({ height }) => announced.push(height)
  })
  await t.throwsAsync(follower.take(liar.newest), { message: /less work/ })
  t.deepEqual(announced, [])
  t.false(liar.connection.isOpen)
})
