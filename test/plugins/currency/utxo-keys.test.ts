import { isDeepStrictEqual } from 'node:util'
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import test from 'ava'
import fc from 'fast-check'
import { COIN_NETWORKS } from '../../../fake-server/chain/coin-networks.ts'
import { scriptOf } from '../../../fake-server/chain/script.ts'
import { isWalletError, nativeAmount, type WalletKeys } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { addressOf, parseAddress } from '../../../plugins/currency/utxo/chain/address.ts'
import { encodeUri, parseUri } from '../../../plugins/currency/utxo/chain/payment-link.ts'
import { parseRawTx } from '../../../plugins/currency/utxo/chain/transaction.ts'
import { childKeys, deriveChildKeys } from '../../../plugins/currency/utxo/keys/child-keys.ts'
import { derivePublicKeys, readPublicKeys } from '../../../plugins/currency/utxo/keys/keys.ts'
import { bitcoinRow, bitcoinTestnetRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { qtumRow } from '../../../plugins/currency/utxo/params/qtum.ts'
import { makeTools } from '../../../plugins/currency/utxo/tools.ts'
import { ScriptTable } from '../../../plugins/currency/utxo/wallet/scripts.ts'

const io = makeNodeIo()
const [mainnet, testnet, regtest] = bitcoinRow.networks
const ABANDON = `${'abandon '.repeat(11)}about`

const tableOf = (keys: WalletKeys): ScriptTable => {
  const accounts = readPublicKeys(mainnet, derivePublicKeys(bitcoinRow, mainnet, keys, io.crypto))
  if (accounts === undefined) throw new Error('no keys')
  return new ScriptTable(accounts, 25)
}

const addressesOf = async (keys: WalletKeys, branch: string, count: number): Promise<string[]> => {
  const table = tableOf(keys)
  const scripts = table.branchById(branch)
  if (scripts === undefined) throw new Error(`no branch ${branch}`)
  await table.extend(scripts, count, io.clock)
  return scripts.records.map(record => addressOf(mainnet, record.program))
}

test('addresses are those of the examples of BIP-44, BIP-49, BIP-84 and BIP-86', async t => {
  const of = async (format: string, branch: string): Promise<string[]> =>
    addressesOf({ bitcoinKey: ABANDON, format, coinType: 0 }, branch, 2)
  // BIP-84 and BIP-86 print these.
  t.deepEqual(await of('bip84', '84/0'), [
    'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g'
  ])
  t.is((await of('bip84', '84/1'))[0], 'bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el')
  t.deepEqual(await of('bip86', '86/0'), [
    'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr',
    'bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh'
  ])
  t.is((await of('bip86', '86/1'))[0], 'bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7')
  t.is((await of('bip44', '44/0'))[0], '1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA')
  t.is((await of('bip49', '49/0'))[0], '37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf')
  t.is((await of('bip49', '84/0'))[0], 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu')
})

test('a script is found by its bytes, and a foreign one of any length is not', async t => {
  for (const format of ['bip44', 'bip49', 'bip84', 'bip86']) {
    const table = tableOf({ bitcoinKey: ABANDON, format, coinType: 0 })
    for (const scripts of table.branches) await table.extend(scripts, 2, io.clock)
    for (const record of table.records()) {
      t.is(table.findScript(record.script), record, format)
      t.is(table.findHash(record.scripthash), record, format)
      t.is(table.findScript(Uint8Array.of(...record.script, 0)), undefined, format)
    }
    t.is(table.findScript(new Uint8Array()), undefined)
    t.is(table.findScript(new Uint8Array(1_000_000)), undefined)
  }
})

test('account keys are the extended keys that BIP-84 and BIP-49 wallets show', t => {
  const keys = derivePublicKeys(
    bitcoinRow,
    mainnet,
    { bitcoinKey: ABANDON, format: 'bip84', coinType: 0 },
    io.crypto
  )
  t.deepEqual(keys.xpubs, {
    49: 'ypub6Ww3ibxVfGzLrAH1PNcjyAWenMTbbAosGNB6VvmSEgytSER9azLDWCxoJwW7Ke7icmizBMXrzBx9979FfaHxHcrArf3zbeJJJUZPf663zsP',
    84: 'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs'
  })
})

test('an old wallet reads its base64 seed and derives m/0/0/i, checked against @scure/bip32', async t => {
  const seed = Uint8Array.from({ length: 32 }, (_, at) => at * 7)
  const keys = { bitcoinKey: io.crypto.toBase64(seed) }
  const node = HDKey.fromMasterSeed(seed).derive('m/0/0')
  const ours = await addressesOf({ ...keys, format: 'bip32' }, '32/0', 3)
  const identifiers = [0, 1, 2].map(at => node.deriveChild(at).identifier as Uint8Array)
  t.deepEqual(
    ours,
    identifiers.map(data => addressOf(mainnet, { type: 'p2pkh', data }))
  )
  t.deepEqual(await addressesOf(keys, '32/0', 3), ours)
})

test('batched child keys equal those of @scure/bip32 at any index', t => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 16, maxLength: 64 }),
      fc.integer({ min: 0, max: 0x7fffffff - 8 }),
      (seed, from) => {
        const node = HDKey.fromMasterSeed(seed).derive("m/84'/0'/0'/0")
        const { publicKey, chainCode } = node
        if (publicKey === null || chainCode === null) return false
        const keys = childKeys({ publicKey, chainCode }, from, 4)
        return keys.every((key, at) => {
          const other = node.deriveChild(from + at).publicKey
          return key !== undefined && other !== null && Buffer.from(key).equals(other)
        })
      }
    ),
    { numRuns: 15 }
  )
  t.pass()
})

test('kept child keys are the derived ones, in whatever pieces and order they are asked for', t => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 6 })), { maxLength: 4 }),
      (seed, pieces) => {
        const { publicKey, chainCode } = HDKey.fromMasterSeed(seed)
        if (publicKey === null || chainCode === null) return false
        const node = { publicKey, chainCode }
        return [[0, 6] as const, ...pieces, [4, 6] as const].every(([from, count]) =>
          isDeepStrictEqual(childKeys(node, from, count), deriveChildKeys(node, from, count))
        )
      }
    ),
    { numRuns: 6 }
  )
  t.pass()
})

test('new keys are 24 words, import refuses a bad checksum without quoting it, and public keys hold no secret', async t => {
  const tools = makeTools(bitcoinRow, mainnet, io)
  const keys = await tools.createPrivateKey('wallet:bitcoin')
  t.is(String(keys.bitcoinKey).split(' ').length, 24)
  t.is(keys.format, 'bip84')
  t.is(keys.coinType, 0)
  await t.throwsAsync(tools.createPrivateKey('wallet:litecoin'))
  await t.throwsAsync(tools.createPrivateKey('wallet:bitcoin', { format: 'bip999' }))
  const publicKeys = await tools.derivePublicKey({ id: 'a', type: 'wallet:bitcoin', keys })
  const text = JSON.stringify(publicKeys)
  t.false(text.includes(String(keys.bitcoinKey)))
  t.false(/[a-zA-Z]prv/.test(text))
  t.true(await tools.checkPublicKey?.(publicKeys))
  t.false(await tools.checkPublicKey?.({ ...publicKeys, version: 0 }))
  t.false(await tools.checkPublicKey?.({ ...publicKeys, network: 'testnet' }))

  const imported = await tools.importPrivateKey?.(`  ${ABANDON.toUpperCase()} \n`)
  t.is(imported?.bitcoinKey, ABANDON)
  const wrong = ABANDON.replace('about', 'abandon')
  const error = await t.throwsAsync(Promise.resolve(tools.importPrivateKey?.(wrong)))
  t.true(isWalletError(error, 'KEY_INTEGRITY'))
  t.false(String(error?.message).includes('abandon'))
  const account = HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON), mainnet.xkeys.bip84).derive("m/84'/0'/0'")
  const fromXprv = await tools.importPrivateKey?.(account.privateExtendedKey, { format: 'bip84' })
  t.deepEqual((await addressesOf(fromXprv ?? {}, '84/0', 1))[0], 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu')
})

const SEGWIT = 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'

test('an address of another network, a mistyped one and a mixed-case one are refused with the reason', t => {
  const ruleOf = (text: string): string => {
    const error = t.throws(() => parseAddress(bitcoinRow, mainnet, text))
    return isWalletError(error, 'ADDRESS_INVALID') ? error.details.rule : 'not ADDRESS_INVALID'
  }
  t.regex(ruleOf('tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'), /belongs to testnet/)
  t.regex(ruleOf('mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'), /belongs to testnet/)
  t.regex(ruleOf(SEGWIT.replace('bc1qcr', 'bc1qcR')), /mixes/)
  t.regex(ruleOf(SEGWIT.replace('fyu', 'fyv')), /checksum/)
  t.regex(ruleOf('1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabB'), /mistyped/)
  t.regex(ruleOf(''), /empty/)
  t.regex(ruleOf('1'.repeat(200)), /longer/)
  // BIP-350: version 1 with the old checksum, and a future version.
  t.regex(ruleOf('bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4'), /“o” in it/)
  t.regex(ruleOf('BC1SW50QGDZ25J'), /cannot be paid yet/)
  t.is(parseAddress(bitcoinRow, mainnet, SEGWIT.toUpperCase()).address, SEGWIT)
  const testError = t.throws(() => parseAddress(bitcoinTestnetRow, bitcoinTestnetRow.networks[0], SEGWIT))
  t.true(isWalletError(testError, 'ADDRESS_INVALID') && /mainnet/.test(testError.details.rule))
  t.is(testnet?.name, 'testnet')
  t.is(regtest?.name, 'regtest')
})

test('a wrong address says which: a typo, a checksum, another network or another coin, and what to do', t => {
  const legacy = '1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA'
  const cases: readonly (readonly [text: string, fault: string, rule: RegExp])[] = [
    [SEGWIT.replace('fyu', 'fyv'), 'checksum', /^has a wrong checksum/],
    [SEGWIT.replace('kr6', 'rk6'), 'checksum', /^has a wrong checksum/],
    [SEGWIT.replace('kr6', 'kb6'), 'typo', /“b”/],
    [SEGWIT.replace('kr6', 'k16'), 'typo', /“1”/],
    [legacy.replace('Uo', 'U0'), 'typo', /“0”/],
    [legacy.replace('eabA', 'eabB'), 'checksum', /^has a wrong checksum/],
    [legacy.slice(0, 12), 'typo', /^is too short/],
    ['alice@example.com', 'typo', /“l”/],
    ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'network', /^belongs to testnet, not to mainnet$/],
    ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'network', /^belongs to testnet, not to mainnet$/],
    ['LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9', 'currency', /Litecoin$/],
    ['ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh', 'currency', /Litecoin$/],
    ['D7Y55r6Yoc1G8EECxkQ6SuSjTgGJJ7M6yD', 'currency', /Dogecoin$/],
    ['0xde0B295669a9FD93d5F28D9Ec85E40f4cb697BAe', 'currency', /Ethereum/],
    ['BC1SW50QGDZ25J', 'kind', /cannot be paid yet/],
    ['', 'form', /empty/]
  ]
  for (const [text, fault, rule] of cases) {
    const error = t.throws(() => parseAddress(bitcoinRow, mainnet, text), undefined, text)
    if (!isWalletError(error, 'ADDRESS_INVALID')) return t.fail(text)
    t.is(error.details.fault, fault as never, `${text}: ${error.message}`)
    t.regex(error.details.rule, rule)
    t.true((error.hint ?? '').length > 20)
  }
})

test('payment links keep exact amounts both ways, and refuse what they must not ignore', t => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2_100_000_000_000_000n }),
      fc.string({ maxLength: 30 }),
      (units, label) => {
        const amount = nativeAmount(String(units))
        const uri = encodeUri(bitcoinRow, mainnet, {
          publicAddress: SEGWIT,
          nativeAmount: amount,
          label: label
        })
        const parsed = parseUri(bitcoinRow, mainnet, uri)
        return parsed.nativeAmount === amount && parsed.label === label && parsed.publicAddress === SEGWIT
      }
    ),
    { numRuns: 100 }
  )
  t.deepEqual(
    parseUri(bitcoinRow, mainnet, `BITCOIN:${SEGWIT.toUpperCase()}?amount=0.00000001&label=a%20b&x=1`),
    {
      publicAddress: SEGWIT,
      nativeAmount: nativeAmount('1'),
      currencyCode: 'BTC',
      label: 'a b'
    }
  )
  const codeOf = (text: string): unknown => {
    const error = t.throws(() => parseUri(bitcoinRow, mainnet, text))
    return isWalletError(error) ? error.code : error
  }
  t.is(codeOf(`litecoin:${SEGWIT}`), 'ADDRESS_INVALID')
  t.is(codeOf(`bitcoin:${SEGWIT}?req-thing=1`), 'ADDRESS_INVALID')
  t.is(codeOf(`bitcoin:${SEGWIT}?amount=1&amount=2`), 'ADDRESS_INVALID')
  t.is(codeOf(`bitcoin:${SEGWIT}?label=%ZZ`), 'ADDRESS_INVALID')
  t.is(codeOf(`bitcoin:${SEGWIT}?amount=0.000000001`), 'AMOUNT_INVALID')
  t.is(codeOf(`bitcoin:${SEGWIT}?amount=1e3`), 'AMOUNT_INVALID')
  t.is(codeOf(`bitcoin:${SEGWIT}?amount=-1`), 'AMOUNT_INVALID')
})

test('no bytes make the transaction parser do anything but answer or throw a TypeError', t => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), bytes => {
      try {
        parseRawTx(bytes)
      } catch (error) {
        return error instanceof TypeError
      }
      return true
    }),
    { numRuns: 300 }
  )
  t.pass()
})

test('an old address that begins as those of segwit do is paid as what it is', t => {
  const base58 = createBase58check(sha256)
  const [network] = qtumRow.networks
  let found = 0
  // One in 1,700 begins with `Qc1` or `QC1`.
  for (let n = 0; found < 3 && n < 100_000; n += 1) {
    const hash = sha256(Uint8Array.of(n & 0xff, n >> 8, n >> 16)).slice(0, 20)
    const address = base58.encode(Uint8Array.of(0x3a, ...hash))
    if (!/^qc1/i.test(address)) continue
    found += 1
    t.like(parseAddress(qtumRow, network, address), { address, program: { type: 'p2pkh' } })
    t.deepEqual(
      Buffer.from(scriptOf(COIN_NETWORKS.qtum, address)).toString('hex'),
      `76a914${Buffer.from(hash).toString('hex')}88ac`
    )
  }
  t.is(found, 3)
})
