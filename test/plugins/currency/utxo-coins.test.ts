import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { isWalletError, nativeAmount, type WalletKeys } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { utxoCurrencies } from '../../../plugins/currency/utxo/all-coins.ts'
import { addressOf, parseAddress } from '../../../plugins/currency/utxo/chain/address.ts'
import { parseHeader } from '../../../plugins/currency/utxo/chain/header.ts'
import { encodeUri, parseUri } from '../../../plugins/currency/utxo/chain/payment-link.ts'
import { parseRawTx } from '../../../plugins/currency/utxo/chain/transaction.ts'
import { derivePublicKeys, readPublicKeys } from '../../../plugins/currency/utxo/keys/keys.ts'
import { bitcoinRow, bitcoinTestnetRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { bitcoinCashRow, bitcoinCashTestnetRow } from '../../../plugins/currency/utxo/params/bitcoin-cash.ts'
import type { CoinRow, NetworkRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { dashRow } from '../../../plugins/currency/utxo/params/dash.ts'
import { dogecoinRow } from '../../../plugins/currency/utxo/params/dogecoin.ts'
import { feathercoinRow } from '../../../plugins/currency/utxo/params/feathercoin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { qtumRow } from '../../../plugins/currency/utxo/params/qtum.ts'
import { ufoRow } from '../../../plugins/currency/utxo/params/ufo.ts'
import { zcoinRow } from '../../../plugins/currency/utxo/params/zcoin.ts'
import { writeDraft } from '../../../plugins/currency/utxo/spend/draft.ts'
import { signUtxoDraft } from '../../../plugins/currency/utxo/spend/sign.ts'
import { makeTools } from '../../../plugins/currency/utxo/tools.ts'
import { ScriptTable } from '../../../plugins/currency/utxo/wallet/scripts.ts'
import { freshAddressOf, WalletState } from '../../../plugins/currency/utxo/wallet/wallet-state.ts'
import { makeTestStore } from './utxo-world.ts'

/** One file of `test/fixtures/coins`. */
interface CoinVectors {
  source: string
  words: string
  seed: string
  /** By format and branch, at the indexes 0, 1 and 5. */
  addresses: Record<string, Record<string, string[]>>
  accountKeys: Record<string, Record<string, string>>
  privateKeys: Record<string, string>
  link: { uri: string; address: string; nativeAmount: string }
  messageMagic: string
  scriptHash: { hash: string; address: string }
}

/** Bitcoin Cash has two ways to write an address, and signatures of its own. */
interface CashVectors extends CoinVectors {
  spellings: [text: string, address: string][]
  legacyAddress: string
  refused: [text: string, fault: string, rule: string][]
  signed: {
    funding: string
    fundingTxid: string
    payee: string
    change: string
    hex: string
    txid: string
  }
}

const ROWS: readonly CoinRow[] = [
  bitcoinRow,
  bitcoinTestnetRow,
  bitcoinCashRow,
  litecoinRow,
  dogecoinRow,
  dashRow,
  feathercoinRow,
  qtumRow,
  ufoRow,
  zcoinRow
]
/** Networks of these coins whose vectors have files of their own. */
const NETWORKS = [
  ...['testnet4', 'signet', 'regtest'].map(name => [bitcoinRow, name] as const),
  [bitcoinCashTestnetRow, 'testnet'] as const
].map(([row, name]) => {
  const network = row.networks.find(one => one.name === name)
  if (network === undefined) throw new Error(`no network ${name}`)
  return { file: row.networks[0] === network ? row.pluginId : `${row.pluginId}-${name}`, row, network }
})
const INDEXES = [0, 1, 5]

/** A row of `test/fixtures/coins.json`. */
interface CoinFigures {
  pluginId: string
  walletType: string
  keyName: string
  code: string
  coinType: number
  p2pkh: number
  p2shRead: number[]
  wif: number
  bech32: string | null
  cashaddr: { prefix: string; testnetPrefix: string; regtestPrefix: string } | null
  sighash: { forkId: number | null }
  messageMagic: string
  blockSeconds: number
  taprootOnChain: boolean
  genesis: string
  mwebHrp?: string
  xkeysReadAlso?: Record<string, string>
  rbf: string
  regtest?: {
    p2pkh: number
    p2sh: number[]
    wif: number
    bech32: string
    mwebHrp: string
    genesis: string
  }
  gapLimitEdge: number
  coinbaseMaturity: number
  minRelayPerKvB: number
  recommendedPerKvB?: number
  defaultFees: { lowSatVb: number; standardLowSatVb: number; highSatVb: number }
  maxMoneyAbove2p53: boolean
  xkeys: Record<string, { pub: string; prv: string }>
  dust: Partial<Record<'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr', number>>
  uriSchemes: string[]
  formats: string[]
}

const { coins: FIGURES } = JSON.parse(readFileSync('test/fixtures/coins.json', 'utf8')) as {
  coins: CoinFigures[]
}

/** Nodes of these replace what says that it may be replaced. */
const REPLACES = ['bitcoin', 'bitcointestnet', 'feathercoin', 'qtum', 'zcoin']

const io = makeNodeIo()

const vectorsOf = (file: string): CoinVectors =>
  JSON.parse(readFileSync(`test/fixtures/coins/${file}.json`, 'utf8')) as CoinVectors

const cash = vectorsOf('bitcoincash') as CashVectors

/** A coin on one of its networks. */
type CoinNetwork = readonly [coin: CoinRow, network: NetworkRow]

const addressesOf = async (
  [coin, network]: CoinNetwork,
  keys: WalletKeys,
  branch: string
): Promise<string[]> => {
  const accounts = readPublicKeys(network, derivePublicKeys(coin, network, keys, io.crypto))
  if (accounts === undefined) throw new Error('no keys')
  const table = new ScriptTable(accounts, 10)
  const scripts = table.branchById(branch)
  if (scripts === undefined) throw new Error(`no branch ${branch}`)
  await table.extend(scripts, 6, io.clock)
  return INDEXES.map(at => addressOf(network, (scripts.records[at] as (typeof scripts.records)[0]).program))
}

test('every currency of the family has its plugin, under its own id, wallet type and code', t => {
  const infos = utxoCurrencies.map(({ info }) => info)
  for (const { pluginId, walletType, code } of [...ROWS, bitcoinCashTestnetRow])
    t.truthy(
      infos.find(info => info.pluginId === pluginId && info.walletType === walletType),
      code
    )
  t.is(new Set(infos.map(({ walletType }) => walletType)).size, infos.length)
  t.is(new Set(infos.map(({ currencyCode }) => currencyCode)).size, infos.length)
})

test('the shared table of figures has no coin that is missing here', t => {
  t.deepEqual(FIGURES.map(({ pluginId }) => pluginId).sort(), ROWS.map(({ pluginId }) => pluginId).sort())
})

for (const row of ROWS) {
  const { pluginId } = row
  const [network] = row.networks

  test(`${pluginId}: the row has the figures of the shared table`, t => {
    const figures = FIGURES.find(coin => coin.pluginId === pluginId) as CoinFigures
    t.like(row, {
      walletType: figures.walletType,
      keyName: figures.keyName,
      code: figures.code,
      messageMagic: figures.messageMagic,
      blockSeconds: figures.blockSeconds,
      hasTaproot: figures.taprootOnChain,
      gapLimit: figures.gapLimitEdge,
      coinbaseMaturity: figures.coinbaseMaturity,
      isReplaceable: REPLACES.includes(pluginId)
    })
    const { coinType, p2pkh, wif, genesis } = figures
    t.like(network, { coinType, p2pkh, wif, genesis })
    t.deepEqual(network.p2sh, figures.p2shRead)
    t.is(network.bech32 ?? null, figures.bech32)
    t.is(network.cashaddr ?? null, figures.cashaddr?.prefix ?? null)
    t.is(row.usesForkId === true, figures.sighash.forkId === 0)
    t.is(network.mwebPrefix, figures.mwebHrp)
    const also = Object.values(figures.xkeysReadAlso ?? {}).map(Number)
    t.deepEqual(Object.values(network.xkeysReadAlso ?? {}), also)
    const { minRelay, low, standard, high, cap } = network.defaultFees
    t.is(Number(minRelay), figures.minRelayPerKvB)
    const { lowSatVb, standardLowSatVb, highSatVb } = figures.defaultFees
    if (figures.recommendedPerKvB === undefined)
      t.deepEqual(
        [low, standard, high].map(Number),
        [lowSatVb, standardLowSatVb, highSatVb].map(rate => rate * 1000)
      )
    // The table says of Dogecoin that its deployed figures are 526 times what its nodes recommend.
    else t.deepEqual([low, standard].map(Number), [figures.recommendedPerKvB, figures.recommendedPerKvB])
    t.true(minRelay <= low && high <= cap)
    t.is(row.maxSupply > 2n ** 53n, figures.maxMoneyAbove2p53)
    for (const [format, { pub, prv }] of Object.entries(figures.xkeys)) {
      const versions = network.xkeys[format as keyof typeof network.xkeys]
      t.deepEqual(versions, { public: Number(pub), private: Number(prv) }, format)
    }
    for (const type of ['p2pkh', 'p2sh', 'p2wpkh', 'p2wsh', 'p2tr'] as const) {
      const dust = row.dust[type]
      t.is(dust === undefined ? undefined : Number(dust), figures.dust[type], type)
    }
    // A link of bch-wif has a private key in it.
    const schemes = figures.uriSchemes.filter(scheme => scheme !== 'bch-wif')
    for (const scheme of schemes) t.true(network.uriSchemes.includes(scheme))
    for (const format of figures.formats) t.true((row.formats as string[]).includes(format))
    const regtest = row.networks.find(({ name }) => name === 'regtest')
    if (figures.regtest !== undefined) {
      const { regtest: wanted } = figures
      t.like(regtest, { wif: wanted.wif, bech32: wanted.bech32, genesis: wanted.genesis })
      t.like(regtest, { p2pkh: wanted.p2pkh, mwebPrefix: wanted.mwebHrp })
      t.deepEqual(regtest?.p2sh, wanted.p2sh)
    }
    if (figures.cashaddr !== null) t.is(regtest?.cashaddr, figures.cashaddr.regtestPrefix)
  })
}

test('each network of each coin on which people are paid has its vectors, which say where they are from', t => {
  const files = [...ROWS.map(({ pluginId }) => pluginId), ...NETWORKS.map(({ file }) => file)]
  t.deepEqual(readdirSync('test/fixtures/coins').sort(), files.map(file => `${file}.json`).sort())
  for (const file of files) t.regex(vectorsOf(file).source, /by two independent libraries/, file)
})

for (const { file, row, network } of [
  ...ROWS.map(one => ({ file: one.pluginId, row: one, network: one.networks[0] })),
  ...NETWORKS
]) {
  const vectors = vectorsOf(file)

  test(`${file}: each key format gives the addresses and account keys of its vectors`, async t => {
    for (const [format, branches] of Object.entries(vectors.addresses)) {
      const secret = format === 'bip32' ? vectors.seed : vectors.words
      const keys = { [row.keyName]: secret, format, coinType: network.coinType }
      for (const [branch, addresses] of Object.entries(branches)) {
        t.deepEqual(await addressesOf([row, network], keys, branch), addresses, `${format} ${branch}`)
        for (const address of addresses) t.is(parseAddress(row, network, address).address, address)
      }
      const { xpubs } = derivePublicKeys(row, network, keys, io.crypto)
      if (format !== 'bip32') t.deepEqual(xpubs, vectors.accountKeys[format] as never)
    }
    // A wallet of the first clients names no format.
    const [old] = Object.values(vectors.addresses.bip32 ?? {})
    t.deepEqual(await addressesOf([row, network], { [row.keyName]: vectors.seed }, '32/0'), old)
  })

  test(`${file}: an account key is imported in the form that its wallets write`, async t => {
    const tools = makeTools(row, network, io)
    for (const [format, text] of Object.entries(vectors.privateKeys)) {
      const keys = await tools.importPrivateKey?.(text, { format })
      const branch = `${format.slice(3)}/0`
      t.deepEqual(await addressesOf([row, network], keys ?? {}, branch), vectors.addresses[format]?.[branch])
    }
  })

  test(`${file}: a payment link keeps its amount to the last unit, and the sample address can be paid`, async t => {
    const { uri, address, nativeAmount: amount } = vectors.link
    t.deepEqual(parseUri(row, network, uri), {
      publicAddress: address,
      nativeAmount: nativeAmount(amount),
      currencyCode: row.code
    })
    t.is(encodeUri(row, network, { publicAddress: address, nativeAmount: nativeAmount(amount) }), uri)
    const sample = (await makeTools(row, network, io).sampleAddress?.()) ?? ''
    t.is(parseAddress(row, network, sample).address, sample)
    t.is(row.messageMagic, vectors.messageMagic)
    const { hash, address: script } = vectors.scriptHash
    t.deepEqual(parseAddress(row, network, script).program, { type: 'p2sh', data: io.crypto.fromHex(hash) })
  })

  test(`${file}: an amount beyond what floating point can hold is read exactly`, t => {
    const { script } = parseAddress(row, network, vectors.link.address)
    const value = Buffer.alloc(8)
    value.writeBigUInt64LE(2n ** 53n + 1n)
    const bytes = Buffer.concat([
      Buffer.from(`02000000${'01'}${'ab'.repeat(32)}0000000000ffffffff01`, 'hex'),
      value,
      Buffer.of(script.length),
      script,
      Buffer.alloc(4)
    ])
    t.is(parseRawTx(bytes).outputs[0]?.value, 9_007_199_254_740_993n)
  })
}

test('an address of Bitcoin Cash is read in each spelling and written in one; the older form is named', async t => {
  const [network] = bitcoinCashRow.networks
  for (const [text, address] of cash.spellings)
    t.is(parseAddress(bitcoinCashRow, network, text).address, address)
  const address = cash.spellings[0]?.[1] ?? ''
  t.deepEqual(parseUri(bitcoinCashRow, network, cash.legacyAddress), {
    publicAddress: address,
    legacyAddress: cash.legacyAddress
  })
  t.deepEqual(parseUri(bitcoinCashRow, network, address.toUpperCase()), { publicAddress: address })
  for (const [text, fault, rule] of cash.refused) {
    const error = t.throws(() => parseAddress(bitcoinCashRow, network, text), undefined, text)
    if (!isWalletError(error, 'ADDRESS_INVALID')) return t.fail(text)
    t.is(error.details.fault, fault as never, `${text}: ${error.message}`)
    t.true(error.details.rule.includes(rule), error.details.rule)
  }
  const error = t.throws(() => parseUri(bitcoinRow, bitcoinRow.networks[0], address.slice(12)))
  t.true(isWalletError(error, 'ADDRESS_INVALID') && /Bitcoin Cash/.test(error.details.rule))
})

const openCashWallet = async (): Promise<WalletState> => {
  const [network] = bitcoinCashRow.networks
  const keys = { bitcoincashKey: cash.words, format: 'bip44', coinType: 145 }
  const accounts = readPublicKeys(network, derivePublicKeys(bitcoinCashRow, network, keys, io.crypto))
  if (accounts === undefined) throw new Error('no keys')
  const state = new WalletState({ coin: bitcoinCashRow, network, io }, accounts, makeTestStore())
  await state.load()
  return state
}

test('a wallet of Bitcoin Cash shows its address in both forms', async t => {
  const { publicAddress, legacyAddress } = await freshAddressOf(await openCashWallet(), undefined)
  t.is(cash.addresses.bip44?.['44/0']?.[0], publicAddress)
  t.is(legacyAddress, '1mW6fDEMjKrDHvLvoEsaeLxSCzZBf3Bfg')
})

test('a payment of Bitcoin Cash has the signatures that its nodes want, byte for byte', async t => {
  const { funding, fundingTxid, payee, change, hex, txid } = cash.signed
  const state = await openCashWallet()
  state.ledger.put(parseRawTx(io.crypto.fromHex(funding)), { height: 1, date: 1, isSeen: true })
  const draft = {
    lockTime: 0,
    inputs: [
      { txid: fundingTxid, vout: 0, value: 150_000n, branch: '44/0', index: 0 },
      { txid: fundingTxid, vout: 1, value: 250_000n, branch: '44/1', index: 1 }
    ],
    outputs: [
      { address: payee, value: 300_000n, isChange: false },
      { address: change, value: 99_000n, isChange: true }
    ]
  }
  const transaction = {
    ...{ tokenId: null, txid: '', date: 0, blockHeight: 0, signedTx: '', isSend: true, memos: [] },
    ...{ nativeAmount: nativeAmount('-301000'), networkFee: nativeAmount('1000'), ourReceiveAddresses: [] },
    otherParams: { draft: writeDraft(draft) }
  }
  const signed = await signUtxoDraft(state, transaction, {
    privateKeys: { bitcoincashKey: cash.words, format: 'bip44', coinType: 145 }
  })
  t.is(signed.signedTx, hex)
  t.is(signed.txid, txid)
})

/** Header of a first block. */
const genesisOf = (version: number, merkleRoot: string, [time, bits, nonce]: number[], more = ''): Buffer => {
  const header = Buffer.alloc(80)
  header.writeUInt32LE(version)
  Buffer.from(merkleRoot, 'hex').reverse().copy(header, 36)
  header.writeUInt32LE(time as number, 68)
  header.writeUInt32LE(bits as number, 72)
  header.writeUInt32LE(nonce as number, 76)
  return Buffer.concat([header, Buffer.from(more, 'hex')])
}

test('the first block of each form of header has the hash by which its network is known', t => {
  // From chainparams.cpp of each node.
  const doge = '5b2a3f53f605d62c53e62932dac6925e3d74afa5a4b459745c36d42d0ed26a69'
  const dash = 'e0028eb9648db56b1ac77cf090b99048a8007e2bb64b68f092c03c7f56a662c7'
  const qtum = 'ed34050eb5909ee535fcb07af292ea55f3d2f291187617b44d3282231405b96d'
  const firo = '365d2aa75d061370c9aefdabac3985716b1e3b4bb7c4af4ed54f25e5aaa42783'
  const [stateRoot, utxoRoot] = [
    'e965ffd002cd6ad0e2dc402b8044de833e06b23127ea8c3d80aec91410771495',
    '56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
  ]
  const stake = `${stateRoot}${utxoRoot}${'00'.repeat(32)}ffffffff00`
  const bitcoin = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b'
  const testnet4 = '7aa0a7ae1e223414cb807e40cd57e667b718e42aaf9306db9102fe28912b7b4e'
  const of = ({ networks }: CoinRow, name = networks[0].name): NetworkRow =>
    networks.find(network => network.name === name) as NetworkRow
  const cases: readonly (readonly [network: NetworkRow, header: Buffer])[] = [
    [of(dogecoinRow), genesisOf(1, doge, [1386325540, 0x1e0ffff0, 99943])],
    [of(dashRow), genesisOf(1, dash, [1390095618, 0x1e0ffff0, 28917698])],
    [of(qtumRow), genesisOf(1, qtum, [1504695029, 0x1f00ffff, 8026361], stake)],
    [of(zcoinRow), genesisOf(2, firo, [1414776286, 0x1e0ffff0, 142392])],
    [of(bitcoinRow, 'testnet4'), genesisOf(1, testnet4, [1714777860, 0x1d00ffff, 393743547])],
    [of(bitcoinRow, 'signet'), genesisOf(1, bitcoin, [1598918400, 0x1e0377ae, 52613770])],
    [of(bitcoinRow, 'regtest'), genesisOf(1, bitcoin, [1296688602, 0x207fffff, 2])],
    [of(bitcoinCashTestnetRow), genesisOf(1, bitcoin, [1296688602, 0x1d00ffff, 414098458])]
  ]
  for (const [network, header] of cases)
    t.is(parseHeader(header, network).hash, network.genesisDigest ?? network.genesis, network.genesis)
  for (const [network, header] of cases.slice(1))
    for (const bytes of [header.subarray(1), Buffer.concat([header, Buffer.of(0)])])
      t.throws(() => parseHeader(bytes, network), { message: /another length/ }, network.genesis)
})

const hexBytes = (...parts: string[]): Uint8Array => io.crypto.fromHex(parts.join(''))
const PAYS = `0100e1f505000000001976a914${'07'.repeat(20)}88ac00000000`

test('a special transaction of Dash is read with what stands behind its lock time, and no other bytes are', t => {
  // Version 3 and type 1 (DIP-3), one input, one output, and a payload of four bytes.
  const special = ['03000100', '01', 'ab'.repeat(32), '00000000', '00', 'ffffffff', PAYS, '04', '01020304']
  const { outputs, inputs } = parseRawTx(hexBytes(...special))
  t.is(outputs[0]?.value, 100_000_000n)
  t.is(inputs[0]?.txid, 'ab'.repeat(32))
  t.throws(() => parseRawTx(hexBytes(...special, '00')))
  t.throws(() => parseRawTx(hexBytes(...special.slice(0, -1), '010203')))
  t.throws(() => parseRawTx(hexBytes('02000000', ...special.slice(1))))
})

test('two payouts of private coins of Firo do not contradict each other, and are no rewards of blocks', async t => {
  const state = await openCashWallet()
  const { script } = parseAddress(bitcoinCashRow, state.network, cash.addresses.bip44?.['44/0']?.[0] ?? '')
  const payout = (value: string): Uint8Array => {
    const output = `01${value}0000000019${io.crypto.toHex(script)}00000000`
    return hexBytes('03000900', '01', '00'.repeat(32), 'ffffffff', '01d3', 'ffffffff', output, '00')
  }
  for (const value of ['00000001', '00000002']) {
    const raw = parseRawTx(payout(value))
    t.false(raw.isCoinbase)
    state.ledger.put(raw, { height: 0, date: 1, isSeen: true })
  }
  t.is([...state.ledger.coins()].length, 2)
  for (const { isOwnChange } of state.ledger.coins()) t.false(isOwnChange)
})

test('an output of Bitcoin Cash with tokens on it is known as the wallet’s and never spent', async t => {
  const state = await openCashWallet()
  const [record] = [...state.table.records()]
  if (record === undefined) return t.fail()
  const script = io.crypto.toHex(record.script)
  // A category, the flags, a commitment of two bytes and an amount.
  const token = `ef${'cd'.repeat(32)}7102beeffd2c01${script}`
  const output = `01e803000000000000${(token.length / 2).toString(16)}${token}00000000`
  const holds = parseRawTx(hexBytes('02000000', '01', 'ab'.repeat(32), '00000000', '00', 'ffffffff', output))
  state.ledger.put(holds, { height: 1, date: 1, isSeen: true })
  t.true(record.txids.has(holds.txid))
  t.is(state.ledger.balance(), 0n)
  t.deepEqual([...state.ledger.coins()], [])
  const id = io.crypto.toHex(io.crypto.fromHex(holds.txid).reverse())
  const spends = parseRawTx(hexBytes('02000000', '01', id, '00000000', '00', 'ffffffff', PAYS))
  state.ledger.put(spends, { height: 2, date: 2, isSeen: true })
  t.true(record.txids.has(spends.txid))
})
