import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { p2pk, p2pkh, p2sh, p2tr, p2wpkh } from '@scure/btc-signer'
import test, { type ExecutionContext } from 'ava'
import {
  isWalletError,
  type Json,
  type JsonObject,
  nativeAmount,
  type SpendInfo
} from '../../../kernel/plugin-api.ts'
import { addressOf, writeScript } from '../../../plugins/currency/utxo/chain/address.ts'
import { hash160, parseRawTx } from '../../../plugins/currency/utxo/chain/transaction.ts'
import type { WitnessLife } from '../../../plugins/currency/utxo/electrum/witness.ts'
import { readWif } from '../../../plugins/currency/utxo/keys/wif.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { bitcoinCashRow } from '../../../plugins/currency/utxo/params/bitcoin-cash.ts'
import type { CoinRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { dogecoinRow } from '../../../plugins/currency/utxo/params/dogecoin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { compareCoins } from '../../../plugins/currency/utxo/spend/foreign-coins.ts'
import { BAD, GOOD, line, makeHostileWorld, only, type Twist } from './hostile-world.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

const base58check = createBase58check(sha256)
const REGTEST = 239

/** A private key as text: of a number, for a network, whose public key is compressed or not. */
const wifOf = (key: number, { version = REGTEST, isCompressed = true } = {}): string => {
  const bytes = new Uint8Array(32)
  bytes[31] = key
  return base58check.encode(Uint8Array.of(version, ...bytes, ...(isCompressed ? [1] : [])))
}

const ruleOf = (text: string, coin: CoinRow = bitcoinRow): string => {
  try {
    readWif(coin, coin.networks[0], text)
    return 'read'
  } catch (error) {
    return isWalletError(error, 'KEY_INTEGRITY') ? error.details.rule : `untyped ${error}`
  }
}

test('a key in wallet import format has the addresses that others show', t => {
  // Private key 1: BIP-173, and the addresses that any explorer has of it; the second is that of the Bitcoin wiki.
  const one = readWif(
    bitcoinRow,
    bitcoinRow.networks[0],
    'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn'
  )
  t.deepEqual(one.scripts, ['p2pkh', 'p2pk', 'p2wpkh', 'p2sh-p2wpkh', 'p2tr'])
  const [network] = bitcoinRow.networks
  t.is(
    addressOf(network, { type: 'p2wpkh', data: hash160(one.publicKey) }),
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
  )
  const wiki = readWif(bitcoinRow, network, '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ')
  t.deepEqual(wiki.scripts, ['p2pkh', 'p2pk'])
  t.is(
    addressOf(network, { type: 'p2pkh', data: hash160(wiki.publicKey) }),
    '1GAehh7TsJAHuUAeKZcXf5CnwuGuGgyX2S'
  )
})

test('the first letters of keys are those of each currency, and a coin without segwit has no segwit scripts', t => {
  for (const [coin, isCompressed, letters] of [
    [bitcoinRow, true, /^[KL]/],
    [bitcoinRow, false, /^5/],
    [litecoinRow, true, /^T/],
    [litecoinRow, false, /^6/],
    [dogecoinRow, true, /^Q/],
    [bitcoinCashRow, true, /^[KL]/]
  ] as const) {
    const [network] = coin.networks
    const text = wifOf(7, { version: network.wif, isCompressed })
    t.regex(text, letters)
    const { scripts } = readWif(coin, network, ` ${text}\n`)
    t.is(scripts.includes('p2wpkh'), isCompressed && network.bech32 !== undefined)
    t.is(scripts.includes('p2tr'), isCompressed && coin.hasTaproot)
  }
})

test('the prefix of Electrum names the one script of a key', t => {
  const text = wifOf(7, { version: 128 })
  for (const [prefix, script] of [
    ['p2pkh', 'p2pkh'],
    ['p2wpkh', 'p2wpkh'],
    ['p2wpkh-p2sh', 'p2sh-p2wpkh']
  ])
    t.deepEqual(readWif(bitcoinRow, bitcoinRow.networks[0], `${prefix}:${text}`).scripts, [script as never])
  t.regex(ruleOf(`p2wsh:${text}`), /one of several/)
  t.regex(ruleOf(`p2wpkh:${wifOf(7, { version: 128, isCompressed: false })}`), /cannot have/)
  t.regex(ruleOf(`gold:${text}`), /cannot have/)
})

test('what is no key of this network is refused by name, and never quoted', t => {
  const good = wifOf(7, { version: 128 })
  const cases: readonly (readonly [string, RegExp, CoinRow?])[] = [
    [`6P${'R'.repeat(56)}`, /BIP-38/],
    [wifOf(7), /belongs to testnet, not to mainnet/],
    [wifOf(7, { version: 176 }), /belongs to Litecoin, not to Bitcoin/],
    [wifOf(7, { version: 158 }), /belongs to Dogecoin, not to Litecoin/, litecoinRow],
    [good, /belongs to Bitcoin, or one that spells its keys alike, not to Litecoin/, litecoinRow],
    [wifOf(7, { version: 77 }), /of no network of Bitcoin/],
    [`${good.slice(0, -1)}${good.endsWith('1') ? '2' : '1'}`, /checksum/],
    [wifOf(0, { version: 128 }), /no private key/],
    [base58check.encode(Uint8Array.of(128, ...new Uint8Array(32).fill(255), 1)), /no private key/],
    [base58check.encode(Uint8Array.of(128, ...new Uint8Array(32).fill(1), 2)), /no private key/],
    ['', /no private key/],
    ['x'.repeat(100_000), /no private key/]
  ]
  for (const [text, rule, coin] of cases) {
    const said = ruleOf(text, coin)
    t.regex(said, rule)
    if (text.length > 10) t.false(said.includes(text.slice(0, 10)))
  }
})

const opened = async (t: ExecutionContext): Promise<{ world: TestWorld; alice: TestWallet }> => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  return { world, alice: await world.openWallet() }
}

/** The scripts of a key, as @scure/btc-signer writes them. */
const scriptsOf = (key: number): Record<string, Uint8Array> => {
  const secret = new Uint8Array(32)
  secret[31] = key
  const [short, long] = [secp256k1.getPublicKey(secret, true), secp256k1.getPublicKey(secret, false)]
  return {
    p2pk: p2pk(short).script,
    p2pkh: p2pkh(short).script,
    p2wpkh: p2wpkh(short).script,
    nested: p2sh(p2wpkh(short)).script,
    p2tr: p2tr(short.slice(1)).script,
    longP2pk: p2pk(long).script,
    longP2pkh: p2pkh(long).script
  }
}

const SPEND: SpendInfo = { tokenId: null, spendTargets: [] }
const RATE = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: '7' } } as const

test('a sweep moves the coins of every script of a key into the wallet, in one transaction that the chain accepts', async t => {
  const { world, alice } = await opened(t)
  const { longP2pk, longP2pkh, ...short } = scriptsOf(9)
  for (const script of Object.values(short)) world.chain.fund(script, '100000')
  world.chain.fund(short.p2wpkh as Uint8Array, '50000')
  for (const script of [longP2pk, longP2pkh]) world.chain.fund(script as Uint8Array, '30000')
  world.chain.mine()
  for (const [text, held, count] of [
    [wifOf(9), 550_000, 6],
    [wifOf(9, { isCompressed: false }), 60_000, 2]
  ] as const) {
    const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
    const swept = await alice.sweep({ ...SPEND, ...RATE }, [text])
    const { inputs, outputs, weight } = parseRawTx(Buffer.from(swept.signedTx, 'hex'))
    t.is(inputs.length, count)
    t.is(outputs.length, 1)
    t.is(Number(swept.nativeAmount), held - Number(swept.networkFee))
    t.like(swept, {
      isSend: false,
      otherParams: { servers: { word: 'alone' } },
      ourReceiveAddresses: [publicAddress]
    })
    // A signature is at most one byte shorter than it is counted, and a count of inputs two.
    const short = Number(swept.networkFee) - Math.ceil(weight / 4) * 7
    t.true(short >= 0 && short <= 7 * (count + 4), `${short}`)
    t.is(world.chain.broadcast(swept.signedTx), swept.txid)
    world.chain.mine()
    await until('it arrives', () => alice.reported.txs.get(swept.txid)?.blockHeight === world.chain.height)
    t.is(alice.reported.txs.get(swept.txid)?.nativeAmount, swept.nativeAmount)
    await t.throwsAsync(async () => alice.sweep(SPEND, [text]), {
      code: 'NOTHING_TO_SWEEP'
    })
  }
})

test('incoming coins, young rewards and those that cost more than they bring stay on a key, and are named', async t => {
  const { world, alice } = await opened(t)
  const { p2wpkh: segwit = new Uint8Array(), p2pkh: legacy = new Uint8Array() } = scriptsOf(11)
  const sweep = async (spend: Partial<SpendInfo> = {}) =>
    alice.sweep({ ...SPEND, ...RATE, ...spend }, [wifOf(11)])
  world.chain.fund(segwit, '40000')
  await t.throwsAsync(sweep(), { code: 'PENDING_FUNDS' })
  t.like(await sweep({ noUnconfirmed: false }), { spentCoins: { length: 1 } })
  world.chain.mine()
  world.chain.fund(legacy, '900')
  world.chain.mine()
  world.chain.fund(segwit, '70000')
  const swept = await sweep()
  t.is(swept?.spentCoins?.length, 1)
  t.deepEqual(swept?.otherParams?.leftOut, { incoming: '70000', costly: '900' })
  world.chain.mine(1, legacy)
  const young = await sweep()
  t.is(young?.spentCoins?.length, 2)
  t.like(young?.otherParams?.leftOut, { costly: '900' })
  t.regex(JSON.stringify(young?.otherParams), /"immature":"[1-9]/)
  const tiny = await t.throwsAsync(
    sweep({ networkFeeOption: 'custom', customNetworkFee: { satPerByte: '1999' } })
  )
  t.true(isWalletError(tiny, 'PENDING_FUNDS'))
})

test('keys of the wallet itself, other payees and no keys at all are refused', async t => {
  const { alice } = await opened(t)
  const publicAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  const target = { publicAddress, nativeAmount: nativeAmount('1000') }
  for (const [spend, keys] of [
    [{ ...SPEND, spendTargets: [target] }, [wifOf(9)]],
    [{ ...SPEND, memos: [{ type: 'text', value: 'a' }] }, [wifOf(9)]],
    [{ ...SPEND, tokenId: 'usdx' }, [wifOf(9)]],
    [SPEND, []],
    [SPEND, Array.from({ length: 101 }, () => wifOf(9))]
  ] as const)
    await t.throwsAsync(async () => alice.sweep(spend, keys), { code: 'NOT_SUPPORTED' })
  await t.throwsAsync(async () => alice.sweep(SPEND, ['nonsense']), {
    code: 'KEY_INTEGRITY'
  })
})

test('a server that names coins of others, other bytes or nonsense is given up, and nothing is signed', async t => {
  const { p2wpkh: segwit = new Uint8Array() } = scriptsOf(13)
  let other = ''
  for (const [method, change] of [
    [
      'listunspent',
      (coins: Json) => (coins as JsonObject[]).map(coin => ({ ...coin, tx_pos: Number(coin.tx_pos) + 1 }))
    ],
    ['listunspent', (coins: Json) => (coins as JsonObject[]).map(coin => ({ ...coin, tx_hash: 'ff' }))],
    ['listunspent', (coins: Json) => (coins as JsonObject[]).map(coin => ({ ...coin, tx_pos: -1 }))],
    ['listunspent', () => 'none'],
    ['get', () => other],
    ['get', () => 'ff'],
    ['get', () => null]
  ] as const) {
    const name = method === 'get' ? 'blockchain.transaction.get' : `blockchain.scripthash.${method}`
    const world = makeHostileWorld(only(name, change as (result: Json) => Json), { servers: [BAD] })
    t.teardown(() => world.close())
    other =
      world.chain.view.find(
        world.chain.fund(writeScript({ type: 'p2pkh', data: new Uint8Array(20) }), '90000')
      )?.tx.hex ?? ''
    world.chain.fund(segwit, '40000')
    world.chain.mine()
    const alice = await world.openWallet()
    await t.throwsAsync(async () => alice.sweep(SPEND, [wifOf(13)]), {
      code: 'NETWORK'
    })
  }
})

test('a block that a server makes up for a coin is no confirmation: nothing is swept with it', async t => {
  const { p2wpkh: segwit = new Uint8Array() } = scriptsOf(17)
  const world = makeHostileWorld(
    only('blockchain.scripthash.listunspent', coins =>
      (coins as JsonObject[]).map(coin => ({ ...coin, height: 1 }))
    ),
    { servers: [BAD] }
  )
  t.teardown(() => world.close())
  world.chain.mine(3)
  world.chain.fund(segwit, '40000')
  const alice = await world.openWallet()
  await t.throwsAsync(async () => alice.sweep(SPEND, [wifOf(17)]), { code: 'NETWORK' })
})

test('two servers are asked which coins there are: the review says where they differ, and none calls keys empty alone', async t => {
  const { p2wpkh: segwit = new Uint8Array(), p2pkh: legacy = new Uint8Array() } = scriptsOf(23)
  let hides: 'all' | 'nothing' | 'one' = 'nothing'
  const twist: Twist = (method, reply) => {
    if (method !== 'blockchain.scripthash.listunspent') return line(reply)
    const coins = (reply.result as JsonObject[]).filter(
      ({ value }) => hides === 'nothing' || (hides === 'one' && value !== 40_000)
    )
    return line({ ...reply, result: coins })
  }
  // The first server is the bad one, then the second.
  for (const [servers, isFirst] of [
    [[BAD, GOOD], true],
    [[GOOD, BAD], false]
  ] as const) {
    const world = makeHostileWorld(twist, { servers: [...servers] })
    t.teardown(() => world.close())
    const alice = await world.openWallet()
    hides = 'nothing'
    await t.throwsAsync(alice.sweep(SPEND, [wifOf(23)]), { code: 'NOTHING_TO_SWEEP' })
    world.chain.fund(segwit, '40000')
    world.chain.fund(legacy, '70000')
    world.chain.mine()
    const wordOf = async (): Promise<unknown> =>
      (await alice.sweep({ ...SPEND, ...RATE }, [wifOf(23)])).otherParams?.servers
    t.like(await wordOf(), { word: 'agrees', onlyHere: 0, onlyThere: 0 })
    hides = 'one'
    t.like(await wordOf(), {
      word: 'differs',
      ...(isFirst ? { onlyHere: 0, onlyThere: 1 } : { onlyHere: 1, onlyThere: 0 })
    })
    hides = 'all'
    if (isFirst) await t.throwsAsync(wordOf(), { code: 'COINS_DISPUTED' })
    else t.like(await wordOf(), { word: 'differs', onlyHere: 2, onlyThere: 0 })
  }
})

test('keys are not called empty while no second server answers that is named', async t => {
  const world = makeHostileWorld(() => 'nonsense\n', { servers: [GOOD, BAD] })
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  await t.throwsAsync(alice.sweep(SPEND, [wifOf(29)]), { code: 'NETWORK' })
})

test('a first server that hides coins cannot call the others incoming: the word of the second comes first', async t => {
  const { p2wpkh: segwit = new Uint8Array(), p2pkh: legacy = new Uint8Array() } = scriptsOf(31)
  let change = (coins: JsonObject[]): JsonObject[] => coins
  const world = makeHostileWorld(
    only('blockchain.scripthash.listunspent', coins => change(coins as JsonObject[]))
  )
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  world.chain.fund(legacy, '200000000')
  world.chain.mine()
  world.chain.fund(segwit, '1000')
  const disputed = { code: 'COINS_DISPUTED' }
  change = coins => coins.filter(({ height }) => Number(height) <= 0)
  await t.throwsAsync(alice.sweep(SPEND, [wifOf(31)]), disputed)
  change = coins => coins.map(coin => ({ ...coin, height: 0 }))
  await t.throwsAsync(alice.sweep(SPEND, [wifOf(31)]), disputed)
})

test('keys are not called empty by a first server whose newest block is an old one', async t => {
  const { p2wpkh: segwit = new Uint8Array() } = scriptsOf(37)
  const world = makeHostileWorld((method, reply) => {
    if (reply.method === 'blockchain.headers.subscribe') return undefined
    return line(method === 'blockchain.scripthash.listunspent' ? { ...reply, result: [] } : reply)
  })
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  world.chain.fund(segwit, '40000')
  world.chain.mine(3)
  await t.throwsAsync(alice.sweep(SPEND, [wifOf(37)]), { code: 'COINS_DISPUTED' })
})

test('two servers agree about an incoming coin that is swept only if both show it', async t => {
  const { p2wpkh: segwit = new Uint8Array(), p2pkh: legacy = new Uint8Array() } = scriptsOf(41)
  let hides = true
  const world = makeHostileWorld(
    only('blockchain.scripthash.listunspent', coins =>
      (coins as JsonObject[]).filter(({ height }) => !hides || Number(height) > 0)
    ),
    { servers: [GOOD, BAD] }
  )
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  world.chain.fund(segwit, '40000')
  world.chain.mine()
  world.chain.fund(legacy, '70000')
  const wordOf = async (noUnconfirmed: boolean): Promise<unknown> =>
    (await alice.sweep({ ...SPEND, ...RATE, noUnconfirmed }, [wifOf(41)])).otherParams?.servers
  t.like(await wordOf(false), { word: 'differs', onlyHere: 1, onlyThere: 0 })
  t.like(await wordOf(true), { word: 'agrees', onlyHere: 0 })
  hides = false
  t.like(await wordOf(false), { word: 'agrees', onlyHere: 0 })
})

test('a second server that knows no coins of strange scripts is named as such, and another one is advised', async t => {
  const { p2wpkh: segwit = new Uint8Array() } = scriptsOf(43)
  let error: object = { code: -32601, message: 'unknown method' }
  const world = makeHostileWorld(
    (method, reply) =>
      method === 'blockchain.scripthash.listunspent'
        ? `${JSON.stringify({ jsonrpc: '2.0', id: reply.id, error })}\n`
        : line(reply),
    { servers: [GOOD, BAD] }
  )
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  const empty = await t.throwsAsync(alice.sweep(SPEND, [wifOf(43)]))
  t.true(isWalletError(empty, 'NOT_SUPPORTED'))
  t.regex(empty?.message ?? '', /bad\.test.*name another server of Electrum or Esplora/)
  world.chain.fund(segwit, '40000')
  world.chain.mine()
  for (error of [
    error,
    { code: 1, message: 'unsupported request' },
    { code: 2, message: 'Unknown method' },
    { code: -32600, message: 'no such method' },
    { code: -32603, message: 'internal error: unsupported method' },
    { message: 'not for you' }
  ]) {
    const swept = await alice.sweep({ ...SPEND, ...RATE }, [wifOf(43)])
    t.like(swept.otherParams?.servers, { word: 'unable', server: BAD })
  }
  for (error of [
    { code: -101, message: 'excessive resource usage' },
    { code: -102, message: 'server busy' }
  ]) {
    const swept = await alice.sweep({ ...SPEND, ...RATE }, [wifOf(43)])
    t.like(swept.otherParams?.servers, { word: 'silent' }, 'a busy one has not been asked')
  }
})

test('a second server that answers without end is silent after a while, and its connection is closed', async t => {
  const waits: number[] = []
  const ends: string[] = []
  let life: WitnessLife | undefined
  const clock = {
    ...{ now: () => 0, monotonic: () => 0 },
    after(delayMs: number, task: () => void) {
      waits.push(delayMs)
      setImmediate(task)
      return () => {}
    }
  }
  const source = {
    ...{ io: { clock }, pool: { serverUrl: GOOD } },
    ...{ life: { isEnded: false, onOpen() {} } },
    witness: (_url: string, query: { readonly life: WitnessLife }) => {
      life = query.life
      life.onOpen({ close: ({ message }) => ends.push(message) })
      return new Promise(() => {})
    }
  }
  const word = await compareCoins(source as never, [], { found: [], takesIncoming: false })
  t.deepEqual(word, { word: 'silent' })
  t.deepEqual([waits, ends], [[20_000], ['The second server was too slow']])
  t.true(life?.isEnded)
})

test('a sweep whose fee is more than half of what it moves needs a limit that allows it', async t => {
  const { world, alice } = await opened(t)
  const { p2wpkh: segwit = new Uint8Array() } = scriptsOf(19)
  world.chain.fund(segwit, '1300')
  world.chain.mine()
  const sweep = (spend: Partial<SpendInfo> = {}) => alice.sweep({ ...SPEND, ...RATE, ...spend }, [wifOf(19)])
  const error = await t.throwsAsync(async () => sweep())
  t.true(isWalletError(error, 'FEE_UNUSUAL'))
  const swept = await sweep({ maxNetworkFee: nativeAmount('1000') })
  t.true(Number(swept?.networkFee) > 650)
})
