import { createHash } from 'node:crypto'
import { base58, bech32 } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import test from 'ava'
import fc from 'fast-check'
import { isWalletError, type WalletKeys } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { addressOf, parseAddress } from '../../../plugins/currency/utxo/chain/address.ts'
import { parseHeader } from '../../../plugins/currency/utxo/chain/header.ts'
import { encodeUri, parseUri } from '../../../plugins/currency/utxo/chain/payment-link.ts'
import { derivePublicKeys, readPublicKeys } from '../../../plugins/currency/utxo/keys/keys.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { makeTools } from '../../../plugins/currency/utxo/tools.ts'
import { ScriptTable } from '../../../plugins/currency/utxo/wallet/scripts.ts'

const io = makeNodeIo()
const [mainnet, testnet, regtest] = litecoinRow.networks
const ABANDON = `${'abandon '.repeat(11)}about`

const addressesOf = async (keys: WalletKeys, branch: string, count: number): Promise<string[]> => {
  const accounts = readPublicKeys(mainnet, derivePublicKeys(litecoinRow, mainnet, keys, io.crypto))
  if (accounts === undefined) throw new Error('no keys')
  const table = new ScriptTable(accounts, 10)
  const scripts = table.branchById(branch)
  if (scripts === undefined) throw new Error(`no branch ${branch}`)
  await table.extend(scripts, count, io.clock)
  return scripts.records.map(record => addressOf(mainnet, record.program))
}

test('addresses of each format are those that other Litecoin wallets show for the same words', async t => {
  const of = async (format: string, branch: string): Promise<string | undefined> =>
    (await addressesOf({ litecoinKey: ABANDON, format, coinType: 2 }, branch, 1))[0]
  t.is(await of('bip44', '44/0'), 'LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez')
  t.is(await of('bip49', '49/0'), 'M7wtsL7wSHDBJVMWWhtQfTMSYYkyooAAXM')
  t.is(await of('bip84', '84/0'), 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh')
  t.is(await of('bip49', '84/0'), 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh')
})

const sha256 = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest()
const hash160 = (data: Uint8Array): Buffer => createHash('ripemd160').update(sha256(data)).digest()
const checked = (version: number, hash: Uint8Array): string => {
  const data = Buffer.concat([Buffer.of(version), hash])
  return base58.encode(Buffer.concat([data, sha256(sha256(data)).subarray(0, 4)]))
}

test('addresses at any place are those of @scure/bip32 and the hashes of Node', async t => {
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON))
  const keyAt = (path: string): Uint8Array => root.derive(path).publicKey ?? new Uint8Array()
  for (const change of [0, 1]) {
    const [legacy, nested, native] = await Promise.all(
      [44, 49, 84].map(purpose => {
        const format = `bip${purpose}`
        return addressesOf({ litecoinKey: ABANDON, format, coinType: 2 }, `${purpose}/${change}`, 12)
      })
    )
    for (const at of [0, 1, 11]) {
      t.is(legacy?.[at], checked(0x30, hash160(keyAt(`m/44'/2'/0'/${change}/${at}`))))
      const program = Buffer.concat([Buffer.of(0, 20), hash160(keyAt(`m/49'/2'/0'/${change}/${at}`))])
      t.is(nested?.[at], checked(0x32, hash160(program)))
      const words = bech32.toWords(hash160(keyAt(`m/84'/2'/0'/${change}/${at}`)))
      t.is(native?.[at], bech32.encode('ltc', [0, ...words]))
    }
  }
})

test('an old Litecoin wallet reads its base64 seed and derives m/0/0/i', async t => {
  const seed = Uint8Array.from({ length: 32 }, (_, at) => at * 3)
  const node = HDKey.fromMasterSeed(seed).derive('m/0/0')
  const wanted = [0, 1, 2].map(at =>
    checked(0x30, hash160(node.deriveChild(at).publicKey ?? new Uint8Array()))
  )
  t.deepEqual(await addressesOf({ litecoinKey: io.crypto.toBase64(seed) }, '32/0', 3), wanted)
})

test('account keys are written as xpub, Mtub and zpub; Ltpv, Mtpv and xprv are read', async t => {
  const tools = makeTools(litecoinRow, mainnet, io)
  const derive = (format: string): unknown =>
    derivePublicKeys(litecoinRow, mainnet, { litecoinKey: ABANDON, format, coinType: 2 }, io.crypto).xpubs
  const prefixes = (xpubs: unknown): unknown =>
    Object.entries(xpubs as Record<string, string>).map(([purpose, text]) => [purpose, text.slice(0, 4)])
  t.deepEqual(prefixes(derive('bip44')), [['44', 'xpub']])
  t.deepEqual(prefixes(derive('bip84')), [
    ['49', 'Mtub'],
    ['84', 'zpub']
  ])
  const keyOf = (path: string, versions: { public: number; private: number }): string =>
    HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON), versions).derive(path).privateExtendedKey
  const ltub = { public: 0x019da462, private: 0x019d9cfe }
  for (const versions of [ltub, mainnet.xkeys.bip44]) {
    const keys = await tools.importPrivateKey?.(keyOf("m/44'/2'/0'", versions), { format: 'bip44' })
    t.deepEqual(await addressesOf(keys ?? {}, '44/0', 1), ['LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez'])
  }
  const mtpv = keyOf("m/49'/2'/0'", mainnet.xkeys.bip49)
  t.is(mtpv.slice(0, 4), 'Mtpv')
  const nested = await tools.importPrivateKey?.(mtpv, { format: 'bip49' })
  t.deepEqual(await addressesOf(nested ?? {}, '49/0', 1), ['M7wtsL7wSHDBJVMWWhtQfTMSYYkyooAAXM'])
})

const TAPROOT = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr'

const ruleOf = (text: string, network = mainnet): string => {
  try {
    parseAddress(litecoinRow, network, text)
  } catch (error) {
    if (isWalletError(error, 'ADDRESS_INVALID')) return error.details.rule
  }
  return 'no ADDRESS_INVALID'
}

test('an MWEB address is refused by its name on every network, whatever its length and case', t => {
  const mweb =
    'ltcmweb1qqvqsk6jqgc5ygrsg9wxqmpkzq0d9mxgf7n5zmq5ywd8h2y0l3k2ncqaczfg44r8e9qunhh0kvn5mqk5lvh6q7uk9jvdr2fkvkyf4s9q9cmavxd'
  for (const text of [mweb, mweb.toUpperCase(), `t${mweb.slice(3)}`, 'ltcmweb1', 'tmweb1qq']) {
    for (const network of [mainnet, testnet, regtest]) t.regex(ruleOf(text, network), /MimbleWimble/)
  }
  const error = t.throws(() => parseUri(litecoinRow, mainnet, `litecoin:${mweb}?amount=1`))
  t.true(isWalletError(error, 'ADDRESS_INVALID') && /MWEB/.test(error.message))
  t.notRegex(ruleOf('ltcmwe1qq'), /MimbleWimble/)
})

test('addresses of other networks and currencies are refused, script hashes of both kinds are read', t => {
  const hash = new Uint8Array(20).fill(9)
  for (const [network, old, written] of [
    [mainnet, 0x05, 0x32],
    [testnet, 0xc4, 0x3a],
    [regtest, 0xc4, 0x3a]
  ] as const) {
    const { address } = parseAddress(litecoinRow, network as typeof mainnet, checked(old, hash))
    t.is(address, checked(written, hash))
  }
  t.regex(ruleOf(bech32.encode('tltc', [0, ...bech32.toWords(hash)])), /belongs to testnet/)
  t.regex(ruleOf(bech32.encode('rltc', [0, ...bech32.toWords(hash)])), /belongs to regtest/)
  t.regex(ruleOf(checked(0x3a, hash)), /belongs to testnet/)
  t.regex(ruleOf('1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA'), /another currency/)
  for (const text of ['bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', TAPROOT, TAPROOT.toUpperCase()])
    t.regex(ruleOf(text), /another currency/)
  t.regex(ruleOf(TAPROOT.replace('z', 'q')), /wrong checksum|no such address/)
  const [bitcoin] = bitcoinRow.networks
  for (const text of [
    'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh',
    checked(0x30, hash),
    checked(0x32, hash)
  ]) {
    const error = t.throws(() => parseAddress(bitcoinRow, bitcoin, text))
    t.true(isWalletError(error, 'ADDRESS_INVALID') && /another currency/.test(error.details.rule), text)
  }
})

test('an address with the same form on Bitcoin is accepted, and reported as an old form', t => {
  const hash = new Uint8Array(20).fill(9)
  const [old, usual] = [checked(0x05, hash), checked(0x32, hash)]
  const both = { publicAddress: usual, legacyAddress: old }
  t.deepEqual(parseUri(litecoinRow, mainnet, old), both)
  t.deepEqual(parseUri(litecoinRow, mainnet, `litecoin:${old}?label=x`), { ...both, label: 'x' })
  t.deepEqual(parseUri(litecoinRow, mainnet, usual), { publicAddress: usual })
  const segwit = 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh'
  t.deepEqual(parseUri(litecoinRow, mainnet, segwit.toUpperCase()), { publicAddress: segwit })
  t.deepEqual(parseUri(bitcoinRow, bitcoinRow.networks[0], old), { publicAddress: old })
})

test('payment links have the scheme litecoin and keep exact amounts', t => {
  const publicAddress = 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh'
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 8_400_000_000_000_000n }), units => {
      const uri = encodeUri(litecoinRow, mainnet, { publicAddress, nativeAmount: `${units}` as never })
      return uri.startsWith('litecoin:') && parseUri(litecoinRow, mainnet, uri).nativeAmount === `${units}`
    })
  )
  const error = t.throws(() => parseUri(litecoinRow, mainnet, `bitcoin:${publicAddress}`))
  t.true(isWalletError(error, 'ADDRESS_INVALID'))
})

// The first blocks: time, nonce and target of chainparams.cpp; the coinbase is the same on all three networks.
const genesisHeader = (time: number, nonce: number, bits: number): Uint8Array => {
  const header = Buffer.alloc(80)
  header.writeUInt32LE(1)
  header.set(
    Buffer.from('97ddfbbae6be97fd6cdf3e7ca13232a3afff2353e29badfab7f73011edd4ced9', 'hex').reverse(),
    36
  )
  header.writeUInt32LE(time, 68)
  header.writeUInt32LE(bits, 72)
  header.writeUInt32LE(nonce, 76)
  return header
}

test('the first block of each network has its hash and, where it counts, its work by scrypt', t => {
  const main = genesisHeader(1317972665, 2084524493, 0x1e0ffff0)
  t.is(parseHeader(main, mainnet).hash, mainnet.genesis)
  t.is(
    parseHeader(genesisHeader(1486949366, 293345, 0x1e0ffff0), testnet ?? mainnet).hash,
    testnet?.genesis ?? ''
  )
  t.is(parseHeader(genesisHeader(1296688602, 0, 0x207fffff), regtest ?? mainnet).hash, regtest?.genesis ?? '')
  const lacking = { message: 'A block header has not the work it claims' }
  t.throws(() => parseHeader(genesisHeader(1317972665, 2084524494, 0x1e0ffff0), mainnet), lacking)
  t.throws(() => parseHeader(genesisHeader(1296688602, 0, 0x207fffff), mainnet), lacking)
  const { work } = mainnet
  if (typeof work !== 'object') return t.fail()
  t.throws(() => parseHeader(main, { work: { ...work, hash: 'sha256' } }), lacking)
})
