import test from 'ava'
import { BITCOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import {
  type ChainTip,
  HeaderCache,
  type LinkedHeaders
} from '../../../plugins/currency/utxo/electrum/headers.ts'
import { TipFollower } from '../../../plugins/currency/utxo/electrum/tip-follower.ts'

test('an old connection that is linked late lets the new one link each tip once', async t => {
  const io = makeNodeIo()
  const hex = BITCOIN_REGTEST.genesis.header
  const links: { readonly tip: ChainTip; readonly end: () => void }[] = []
  const linked = {
    isBegun: true,
    isLinking: true,
    link: (tip: ChainTip) => new Promise<void>(end => links.push({ tip, end }))
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
