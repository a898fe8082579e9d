import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createBase58check, hex } from '@scure/base'
import { p2wpkh } from '@scure/btc-signer'
import { pubECDSA, sha256 } from '@scure/btc-signer/utils.js'
import test from 'ava'
import { BITCOIN_REGTEST, LITECOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import { openFakeChain } from '../../../fake-server/chain/open-chain.ts'
import { FAKE_ADDRESSES, makeFakeWorld, openPersistentWorld } from '../../../fake-server/fake-world.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import type { JsonObject } from '../../../kernel/base/json.ts'
import { makeNobleCrypto } from '../../../kernel/crypto/noble-crypto.ts'
import type { Io } from '../../../kernel/io/io.ts'
import { openLogStore } from '../../../kernel/store/log-store.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'
import { doubleSha256, makeTestWallet, signSpend } from '../chain/chain-kit.ts'

const BITCOIN = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const LITECOIN = 'rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7k693xs3'

const base58check = createBase58check(sha256)

const makeIo = (seed = 7): Io => {
  const clock = makeFakeClock()
  return {
    clock,
    crypto: makeNobleCrypto(clock),
    random: makeSeededRandom(seed),
    fetch: () => Promise.reject(new Error('The real network was asked'))
  }
}

test('every chain begins with the first block of its network, which names its only transaction', t => {
  for (const { genesis } of [BITCOIN_REGTEST, LITECOIN_REGTEST]) {
    const header = Buffer.from(genesis.header, 'hex')
    t.is(hex.encode(doubleSha256(header).reverse()), genesis.hash)
    const txid = doubleSha256(Buffer.from(genesis.transaction ?? '', 'hex'))
    t.is(header.subarray(36, 68).toString('hex'), txid.toString('hex'))
  }
  t.is(LITECOIN_REGTEST.genesis.hash, '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9')
})

test('a world that was saved with one chain opens unchanged, and keeps the second that it begins', async t => {
  const saved = readFileSync(join(process.cwd(), 'test/fixtures/one-chain-world.json'), 'utf8')
  const files = new Map<string, string>(JSON.parse(saved))
  const world = await openPersistentWorld({ disk: memoryDisk(files), io: makeIo() })
  t.is(world.chain.view.tip.hash, '4cfbbc7da1d1389cce05b7dadccefb742c7e43c3a0187a7e11cd860e46b732ef')
  const { faucetKey } = world.chain.toJson() as JsonObject
  t.is(faucetKey, '7d752128164ee69a019523a4ff8263efd70de67afb2482787cd1522b0a0756db')
  const lines = (JSON.parse(saved) as [string, string][]).flatMap(([path, text]) =>
    path.startsWith('log/') ? text.split('\n').slice(1) : []
  )
  const [, newest = ''] = lines
  const [bitcoin] = (world.toJson() as { entries: readonly JsonObject[] }).entries
  t.is(JSON.stringify(bitcoin), newest)
  world.chains.litecoin.mine(3)
  await world.close()
  for (const path of files.keys()) t.true(path.startsWith('world/'), `${path} is of the old layout`)
  const again = await openPersistentWorld({ disk: memoryDisk(files), io: makeIo() })
  t.is(again.chains.litecoin.height, 3)
  t.deepEqual(again.toJson(), world.toJson())
})

test('the faucet of a new chain is kept although the chain is unused', async t => {
  const saved = readFileSync(join(process.cwd(), 'test/fixtures/one-chain-world.json'), 'utf8')
  for (const files of [new Map<string, string>(), new Map<string, string>(JSON.parse(saved))]) {
    const world = await openPersistentWorld({ disk: memoryDisk(files), io: makeIo(1) })
    await world.close()
    const again = await openPersistentWorld({ disk: memoryDisk(files), io: makeIo(2) })
    t.deepEqual(again.chains.litecoin.toJson(), world.chains.litecoin.toJson())
  }
})

test('both chains go through a disk change by change, each with its own blocks and payments', async t => {
  const files = new Map<string, string>()
  const open = () => openPersistentWorld({ disk: memoryDisk(files), io: makeIo() })
  const world = await open()
  t.is(world.chains.bitcoin, world.chain)
  world.chains.litecoin.fund(LITECOIN, '600000')
  await world.saved()
  world.chains.litecoin.mine()
  world.chains.bitcoin.fund(BITCOIN, '50000')
  await world.close()
  const again = await open()
  t.is(JSON.stringify(again.toJson()), JSON.stringify(world.toJson()))
  t.is(`${again.chains.litecoin.balance(LITECOIN).confirmed}`, '600000')
  t.is(`${again.chains.bitcoin.balance(BITCOIN).unconfirmed}`, '50000')
  const { entries } = world.toJson() as { entries: readonly JsonObject[] }
  t.deepEqual(
    entries.map(entry => entry.chain),
    [undefined, 'litecoin']
  )
  const strange = { ...(world.toJson() as JsonObject), entries: [{ ...entries[1], chain: 'dogecoin' }] }
  t.throws(() => makeFakeWorld({ io: makeIo(), saved: strange as never }), { code: 'CORRUPT_FILE' })
})

test('an error about a damaged chain says up to which entry', async t => {
  const files = new Map<string, string>()
  const world = await openPersistentWorld({ disk: memoryDisk(files), io: makeIo() })
  world.chains.litecoin.mine()
  await world.saved()
  world.chains.bitcoin.mine()
  await world.close()
  const { clock, crypto } = makeIo()
  const fail = (error: unknown): never => {
    throw error
  }
  const options = { disk: memoryDisk(files), folder: 'world', clock, crypto, onLoss: fail, report: fail }
  const store = await openLogStore(options)
  const [key = new Uint8Array()] = await store.keys({ limit: 1, reverse: true })
  const [value] = await store.getMany([key])
  const changed = new TextDecoder().decode(value).replace(/"tip":"./, '"tip":"x')
  await store.batch([{ key, value: new TextEncoder().encode(changed) }])
  await store.close()
  const error = await t.throwsAsync(openPersistentWorld({ disk: memoryDisk(files), io: makeIo() }))
  t.true(isWalletError(error, 'CORRUPT_FILE') && error.details.path.startsWith('world, '), error?.message)
})

test('devices reach each chain on its own ports, by TCP and by WebSocket', async t => {
  const world = makeFakeWorld({ io: makeIo() })
  t.is(FAKE_ADDRESSES.electrumServers, FAKE_ADDRESSES.chainServers.bitcoin)
  const io = world.ioFor(makeIo())
  const genesisAt = async (url: string): Promise<string> => {
    const received: string[] = []
    const handlers = { onText: (text: string) => received.push(text), onClose: () => {} }
    const { hostname, port, protocol } = new URL(url)
    const isTcp = protocol === 'tcp:'
    const channel = isTcp
      ? await io.connect?.({ host: hostname, port: Number(port), isTls: false }, handlers)
      : await io.webSocket?.(url, handlers)
    for (const [id, method] of ['server.version', 'server.features'].entries()) {
      const params = id === 0 ? ['test', '1.4'] : []
      channel?.send(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}${isTcp ? '\n' : ''}`)
    }
    while (received.length < 2) await setImmediate()
    return JSON.parse(received[1] ?? '').result.genesis_hash
  }
  for (const { pluginId, genesis } of [BITCOIN_REGTEST, LITECOIN_REGTEST]) {
    const urls = FAKE_ADDRESSES.chainServers[pluginId as 'bitcoin' | 'litecoin']
    t.is(urls.length, 2)
    for (const url of urls) t.is(await genesisAt(url), genesis.hash)
  }
  await t.throwsAsync(genesisAt('tcp://localhost:51003'), { message: 'Fake network error' })
  await t.throwsAsync(genesisAt('ws://localhost:51001'), { message: 'Fake network error' })
})

test('a chain takes the addresses of its own network only, script hashes of both kinds', t => {
  const [bitcoin, litecoin] = [BITCOIN_REGTEST, LITECOIN_REGTEST].map(network =>
    openFakeChain({ clock: makeFakeClock(), random: makeSeededRandom(1), network })
  )
  t.throws(() => litecoin?.fund(BITCOIN, '600000'), { code: 'ADDRESS_INVALID' })
  t.throws(() => bitcoin?.fund(LITECOIN, '600000'), { code: 'ADDRESS_INVALID' })
  const saved = litecoin?.toJson() ?? null
  t.throws(() => openFakeChain({ clock: makeFakeClock(), random: makeSeededRandom(1), saved }), {
    code: 'CORRUPT_FILE'
  })
  const hash = new Uint8Array(20).fill(7)
  const [newer, older] = [0x3a, 0xc4].map(version => base58check.encode(Uint8Array.of(version, ...hash)))
  litecoin?.fund(newer ?? '', '600000')
  t.is(`${litecoin?.balance(older ?? '').unconfirmed}`, '600000')
})

test('Litecoin nodes refuse dust ten times as large, and never replace a payment', t => {
  const chain = openFakeChain({
    clock: makeFakeClock(),
    random: makeSeededRandom(1),
    network: LITECOIN_REGTEST
  })
  const script = p2wpkh(pubECDSA(new Uint8Array(32).fill(10)), LITECOIN_REGTEST.prefixes).script
  const testWallet = { ...makeTestWallet('p2wpkh'), script }
  chain.fund(testWallet.script, '1000000')
  chain.mine()
  const reasonOf = (text: string): string => {
    const error = t.throws(() => chain.broadcast(text))
    return isWalletError(error, 'BROADCAST_REFUSED') ? error.details.reason : ''
  }
  const pay = (amount: bigint, fee: bigint): string =>
    signSpend(chain, testWallet, {
      outputs: [
        { script, amount },
        { script, amount: 1_000_000n - amount - fee }
      ],
      sequence: 0xfffffffd,
      coins: chain.view.scripts.utxosOf(testWallet.scriptHash).filter(coin => coin.amount === 1_000_000n)
    })
  t.is(reasonOf(pay(2939n, 1000n)), 'dust')
  const [first, second] = [pay(2940n, 1000n), pay(2940n, 9000n)]
  chain.broadcast(first)
  t.is(reasonOf(second), 'txn-mempool-conflict')
  t.is(chain.view.mempool.size, 1)
})
