import { sha256 } from '@noble/hashes/sha2.js'
import test from 'ava'
import { BITCOIN_REGTEST } from '../../fake-server/chain/chain-params.ts'
import { openFakeChain } from '../../fake-server/chain/open-chain.ts'
import { type EngineTransaction, type Json, nativeAmount } from '../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { targetOf } from '../../plugins/currency/utxo/chain/difficulty.ts'
import { bitcoinRow } from '../../plugins/currency/utxo/params/bitcoin.ts'
import type { BlockWork, CoinRow } from '../../plugins/currency/utxo/params/coin.ts'
import { utxoPlugin } from '../../plugins/currency/utxo/plugin.ts'
import { drawSeed, logCounts, makeSeededRandom, runCount, type SeededRandom } from '../helpers/drawn-runs.ts'
import { BAD, GOOD, line, makeHostileWorld, type Twist } from '../plugins/currency/hostile-world.ts'
import { makeTestStore, makeTestWorld, until } from '../plugins/currency/utxo-world.ts'

const { clock, random } = makeNodeIo()
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const WORK: BlockWork = { hash: 'sha256', easiest: targetOf(0x207fffff) }

/** Bitcoin on a chain whose blocks must have their work; the liars of this test have none. */
const worked = utxoPlugin({
  ...bitcoinRow,
  networks: bitcoinRow.networks.map(network =>
    network.name === 'regtest' && network.linking !== undefined
      ? { ...network, work: WORK, linking: { ...network.linking, isWorthless: false } }
      : network
  ) as unknown as CoinRow['networks']
})

interface Entry {
  readonly tx_hash: string
  readonly height: number
}
interface Proof {
  readonly merkle: readonly string[]
  readonly pos: number
  readonly block_height: number
}

const HISTORY = 'blockchain.scripthash.get_history'
const PROOF = 'blockchain.transaction.get_merkle'
const BYTES = 'blockchain.transaction.get'
const HEADER = 'blockchain.block.header'
const HEADERS = 'blockchain.block.headers'
const TIP = 'blockchain.headers.subscribe'

const hexOf = (drawn: SeededRandom, bytes: number): string =>
  Array.from({ length: bytes * 2 }, () => drawn.below(16).toString(16)).join('')

/** Alters a byte of a header, from `from` on, so that it lacks work: what a liar can do who has none. */
const alterHeader = (hex: string, drawn: SeededRandom, [from, length]: readonly [number, number]): string => {
  for (;;) {
    const at = (from + drawn.below(length)) * 2
    const altered = `${hex.slice(0, at)}${hexOf(drawn, 1)}${hex.slice(at + 2)}`
    // The target of regtest begins with a zero bit, and hashes are read from their end.
    if ((sha256(sha256(Buffer.from(altered, 'hex')))[31] ?? 0) > 0x7f) return altered
  }
}

/** Changes the results of some methods, each with its parameters. */
const changing =
  (changes: Readonly<Record<string, (result: Json, params: Json) => unknown>>): Twist =>
  (method, reply, params) => {
    const change = changes[method]
    if (change === undefined || reply.result === undefined) return line(reply)
    return line({ ...reply, result: change(reply.result, params ?? null) as Json })
  }

const eachEntry = (change: (entry: Entry, at: number) => Entry) => (result: Json) =>
  (result as unknown as Entry[]).map(change)
const eachHeader = (change: (headers: string[]) => string[]) => (result: Json) => {
  const { headers, ...rest } = result as { headers?: string[] }
  // To a client that agrees to an old version only, a server sends them as one text.
  return headers === undefined ? result : { ...rest, headers: change(headers) }
}

test('no lie of a server is proven, spent from, waited for without end or kept without bound', async t => {
  const drawn = makeSeededRandom(drawSeed(t))
  // The timers of the io never keep a process alive, and here nothing else does.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const chain = openFakeChain({ clock, random, network: BITCOIN_REGTEST })
  chain.mine(3)
  const honest = makeTestWorld({ chain, plugin: worked })
  const store = makeTestStore()
  const { privateKeys: keys, engine, tools, walletInfo } = await honest.openWallet({ store })
  const publicKeys = await tools.derivePublicKey(walletInfo)
  const address = (await engine.getFreshAddress({ tokenId: null })).publicAddress
  await honest.close()
  const empty = new Map(store.map)
  const truth = new Set([chain.fund(address, '70000')])
  chain.mine(2)
  truth.add(chain.fund(address, '30000'))
  chain.mine(3)
  // A payment that no block of the chain has, and one that some other chain has.
  const elsewhere = openFakeChain({ clock, random, network: BITCOIN_REGTEST })
  elsewhere.mine(5)
  const invented = elsewhere.fund(address, '5000000')
  const inventedHex = elsewhere.view.find(invented)?.tx.hex ?? ''
  elsewhere.mine(3)
  const heightOf = (drawnNow: SeededRandom): number => 1 + drawnNow.below(chain.height)
  const serving = (changes: Parameters<typeof changing>[0]): Twist => {
    const twist = changing(changes)
    return (method, reply, params) =>
      method === BYTES && (params as Json[])[0] === invented
        ? line({ id: reply.id ?? 0, result: inventedHex })
        : twist(method, reply, params)
  }
  const added = (entries: readonly Entry[]) => (result: Json) => {
    const known = result as unknown as Entry[]
    return known.length === 0 ? known : [...known, ...entries]
  }
  const made = (count: number, height: (at: number) => number, seeded: SeededRandom): readonly Entry[] =>
    Array.from({ length: count }, (_, at) => ({ tx_hash: hexOf(seeded, 32), height: height(at) }))

  /** Answers in the place of an error, which an invented transaction gets. */
  const proving =
    (proof: (params: Json) => unknown, twist: Twist): Twist =>
    (method, reply, params) =>
      method === PROOF && (params as Json[])[0] === invented
        ? line({ id: reply.id ?? 0, result: proof(params ?? null) as Json })
        : twist(method, reply, params)

  const lies: readonly (readonly [string, (seeded: SeededRandom) => Twist])[] = [
    [
      'an invented payment with the proof of another',
      seeded => {
        const height = heightOf(seeded)
        return proving(
          () => ({ merkle: [], pos: 0, block_height: height }),
          serving({ [HISTORY]: added([{ tx_hash: invented, height }]) })
        )
      }
    ],
    [
      'an invented payment with a made-up proof',
      seeded => {
        const height = heightOf(seeded)
        const merkle = Array.from({ length: 1 + seeded.below(12) }, () => hexOf(seeded, 32))
        return proving(
          () => ({ merkle, pos: seeded.below(4096), block_height: height }),
          serving({ [HISTORY]: added([{ tx_hash: invented, height }]) })
        )
      }
    ],
    [
      'an invented payment with a header of its own',
      seeded => {
        const height = heightOf(seeded)
        const root = Buffer.from(invented, 'hex').reverse().toString('hex')
        const header = (hex: string): string => `${hex.slice(0, 72)}${root}${hex.slice(136)}`
        return proving(
          () => ({ merkle: [], pos: 0, block_height: height }),
          serving({
            [HISTORY]: added([{ tx_hash: invented, height }]),
            [HEADER]: (hex, params) =>
              (params as Json[])[0] === height ? alterHeader(header(String(hex)), seeded, [76, 4]) : hex
          })
        )
      }
    ],
    [
      'a payment of another chain, with its headers',
      seeded => {
        const height = 6 + seeded.below(2)
        const of = (at: number): string => elsewhere.view.blockAt(at)?.headerHex ?? ''
        return proving(
          () => ({ merkle: [hexOf(seeded, 32)], pos: 1, block_height: height }),
          serving({
            [HISTORY]: added([{ tx_hash: invented, height }]),
            [HEADER]: (hex, params) => of(Number((params as Json[])[0])) || hex
          })
        )
      }
    ],
    ['no history', () => changing({ [HISTORY]: () => [], 'blockchain.scripthash.subscribe': () => null })],
    [
      'a history without its last payment',
      () => changing({ [HISTORY]: result => (result as Json[]).slice(0, -1) })
    ],
    [
      'altered bytes',
      seeded =>
        changing({
          [BYTES]: hex => {
            const at = seeded.below(String(hex).length)
            return `${String(hex).slice(0, at)}${seeded.below(16).toString(16)}${String(hex).slice(at + 1)}`
          }
        })
    ],
    ['the bytes of another payment', () => changing({ [BYTES]: () => inventedHex })],
    [
      'headers in another order',
      seeded =>
        changing({
          [HEADERS]: eachHeader(headers => {
            const [a, b] = [seeded.below(headers.length), seeded.below(headers.length)]
            const swapped = [...headers]
            ;[swapped[a], swapped[b]] = [headers[b] ?? '', headers[a] ?? '']
            return swapped
          })
        })
    ],
    [
      'headers with a gap',
      seeded =>
        changing({
          [HEADERS]: eachHeader(headers =>
            headers.filter((_, at) => at === 0 || at !== seeded.below(headers.length))
          )
        })
    ],
    [
      'a forged header among true ones',
      seeded =>
        changing({
          [HEADERS]: eachHeader(headers => {
            const at = seeded.below(headers.length)
            return headers.map((hex, place) => (place === at ? alterHeader(hex, seeded, [0, 80]) : hex))
          })
        })
    ],
    [
      'a forged newest block',
      seeded =>
        changing({
          [TIP]: tip => ({
            ...(tip as object),
            hex: alterHeader((tip as { hex: string }).hex, seeded, [4, 76])
          })
        })
    ],
    [
      'an old newest block',
      seeded => {
        const height = seeded.below(chain.height)
        return changing({ [TIP]: () => ({ height, hex: chain.view.blockAt(height)?.headerHex ?? '' }) })
      }
    ],
    [
      'a newest block far above',
      seeded =>
        changing({
          [TIP]: tip => ({ ...(tip as object), height: chain.height + 1 + seeded.below(5_000_000) })
        })
    ],
    ['silence about proofs', () => (method, reply) => (method === PROOF ? undefined : line(reply))],
    [
      'a slow word',
      seeded => {
        let replies = 0
        const silentFrom = 1 + seeded.below(60)
        return (_method, reply) => (++replies > silentFrom && replies % 3 === 0 ? undefined : line(reply))
      }
    ],
    [
      'ten thousand payments in blocks',
      seeded => changing({ [HISTORY]: added(made(10_000, () => heightOf(seeded), seeded)) })
    ],
    [
      'ten thousand payments that no block has',
      seeded => changing({ [HISTORY]: added(made(10_000, () => -seeded.below(2), seeded)) })
    ],
    [
      'other heights',
      seeded => changing({ [HISTORY]: eachEntry(entry => ({ ...entry, height: heightOf(seeded) })) })
    ],
    [
      'heights that there are not',
      seeded =>
        changing({
          [HISTORY]: eachEntry(entry => ({ ...entry, height: chain.height + 1 + seeded.below(1e6) }))
        })
    ],
    [
      'payments that are unconfirmed again',
      () => changing({ [HISTORY]: eachEntry(entry => ({ ...entry, height: 0 })) })
    ],
    [
      'fees of nowhere',
      seeded =>
        changing({
          'blockchain.estimatefee': () => seeded.pick<Json>([99, -1, 1e-12, 'much']),
          'mempool.get_info': () => ({ mempoolminfee: seeded.pick<Json>([1e6, -3, null]) })
        })
    ],
    [
      'the first block of another chain',
      seeded =>
        changing({
          [HEADER]: (hex, params) =>
            (params as Json[])[0] === 0 ? alterHeader(String(hex), seeded, [0, 80]) : hex
        })
    ],
    [
      'the proof of another block',
      seeded =>
        changing({
          [PROOF]: proof => {
            const height = heightOf(seeded)
            return {
              ...(proof as unknown as Proof),
              merkle: [chain.view.blockAt(height)?.hash ?? ''],
              block_height: height
            }
          }
        })
    ],
    [
      'a proof at another place',
      seeded =>
        changing({ [PROOF]: proof => ({ ...(proof as unknown as Proof), pos: 2 + seeded.below(1000) }) })
    ]
  ]

  const isTrue = ({ txid, blockHeight }: EngineTransaction): boolean =>
    truth.has(txid) && chain.view.blockAt(blockHeight)?.transactions.some(tx => tx.txid === txid) === true
  const counts = new Map<string, number>()
  const drafts = { made: 0 }

  const lieOnce = async (name: string, twist: Twist, seeded: SeededRandom): Promise<void> => {
    // Alone, before an honest server, or as the second opinion of one.
    const servers = seeded.pick([[BAD], [BAD, GOOD], [GOOD, BAD]])
    const lying: Twist = (method, reply, params) => {
      counts.set(name, (counts.get(name) ?? 0) + 1)
      return twist(method, reply, params)
    }
    const world = makeHostileWorld(lying, { servers, speed: 20, chain, plugin: worked })
    try {
      const wallet = await world.openWallet({
        keys,
        publicKeys,
        store: makeTestStore(new Map(empty)),
        isStarted: false
      })
      await wallet.engine.startEngine()
      await wallet.engine.syncNetwork({}).catch(() => undefined)
      // All payments are shown; a second server that denies their blocks can keep them waiting for as long as it does.
      const isMet = (): boolean => [...truth].every(txid => wallet.reported.txs.has(txid))
      // On a busy machine the honest server can be too late, and the wallet moves on to the other one.
      const isLost = (): boolean => wallet.reported.connections.includes(GOOD)
      if (servers[0] === GOOD) await until(`the truth after ${name}`, () => isMet() || isLost())
      const what = `${name}, with ${servers.join()}`
      for (const report of wallet.reported.reports.flat())
        if (report.grade === 'proven' && report.blockHeight > 0)
          t.true(isTrue(report), `${what}: proven ${report.txid}`)
      if (servers.length > 1) {
        const made = wallet.reported.reports
          .flat()
          .find(({ txid, blockHeight }) => blockHeight > 0 && !truth.has(txid))
        t.is(made, undefined, `${what}: a payment counts that only a liar has`)
        const spendable = Math.max(0, ...wallet.reported.details.map(details => Number(details.spendable)))
        t.true(spendable <= 100_000, `${what}: ${spendable} spendable`)
      }
      t.true(wallet.reported.txs.size <= 2002, `${what}: ${wallet.reported.txs.size} transactions`)
      t.true(wallet.store.map.size <= 2500, `${what}: ${wallet.store.map.size} records`)
      const spendTargets = [{ publicAddress: PAYEE, nativeAmount: nativeAmount('20000') }]
      const draft = await wallet.engine.makeSpend({ tokenId: null, spendTargets }, {}).catch(() => undefined)
      const { inputs = [] } = (draft?.otherParams?.draft ?? {}) as { inputs?: { txid: string }[] }
      drafts.made += inputs.length
      for (const { txid } of inputs) t.true(truth.has(txid), `${what}: pays from ${txid}`)
    } finally {
      await world.close()
    }
  }

  t.true(lies.length >= 20)
  const runs = runCount(1000, 50)
  t.timeout(60_000 + runs * 4000)
  // Most of the time is waiting for answers that never come.
  const seeds = lies.map(() => drawn.below(2 ** 31))
  await Promise.all(
    lies.map(async ([name, lie], at) => {
      const seeded = makeSeededRandom(seeds[at] ?? 0)
      for (let run = 0; run < runs; run++) await lieOnce(name, lie(seeded), seeded)
    })
  )
  t.true(drafts.made > 0, 'an honest server leaves coins to pay from')
  logCounts(t, `${runs} runs of each lie; replies of liars`, counts)
})
