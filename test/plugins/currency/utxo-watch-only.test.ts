import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import { p2sh, p2wpkh } from '@scure/btc-signer'
import test from 'ava'
import { isWalletError, type WalletKeys } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { addressOf } from '../../../plugins/currency/utxo/chain/address.ts'
import { importWalletKeys } from '../../../plugins/currency/utxo/keys/import-keys.ts'
import {
  derivePublicKeys,
  extendedPublicKeyOf,
  keyPathsOf,
  readPublicKeys
} from '../../../plugins/currency/utxo/keys/keys.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import type { CoinRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { ScriptTable } from '../../../plugins/currency/utxo/wallet/scripts.ts'

const io = makeNodeIo()
const ABANDON = `${'abandon '.repeat(11)}about`

const watched = (text: string, options: object = {}, coin: CoinRow = bitcoinRow): WalletKeys =>
  importWalletKeys(coin, coin.networks[0], text, { io, options: { watch: true, ...options } })

const ruleOf = (text: string, options: object = {}): string => {
  try {
    watched(text, options)
    return 'imported'
  } catch (error) {
    if (isWalletError(error, 'KEY_INTEGRITY')) return error.details.rule
    return isWalletError(error) ? error.code : `untyped ${error}`
  }
}

const firstOf = async (keys: WalletKeys, branch: string, coin: CoinRow = bitcoinRow): Promise<string> => {
  const [network] = coin.networks
  const accounts = readPublicKeys(network, derivePublicKeys(coin, network, keys, io.crypto))
  if (accounts === undefined) throw new Error('no keys')
  const table = new ScriptTable(accounts, 5)
  const scripts = table.branchById(branch)
  if (scripts === undefined) throw new Error(`no branch ${branch}`)
  await table.extend(scripts, 1, io.clock)
  const [record] = scripts.records
  if (record === undefined) throw new Error('no script')
  return addressOf(network, record.program)
}

// The account and its first addresses are vectors of BIP-84 itself.
const ZPUB =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs'
const RECEIVE = 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'
const CHANGE = 'bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el'

test('an extended public key makes a wallet that watches the addresses of its account', async t => {
  const keys = watched(ZPUB)
  t.deepEqual(keys, { format: 'bip84', coinType: 0, xpubs: { '84': ZPUB }, isWatchOnly: true })
  t.is(await firstOf(keys, '84/0'), RECEIVE)
  t.is(await firstOf(keys, '84/1'), CHANGE)
  const [network] = bitcoinRow.networks
  t.is(extendedPublicKeyOf(network, derivePublicKeys(bitcoinRow, network, keys, io.crypto)), ZPUB)
})

test('an xpub says nothing of its addresses, so that the format must be given', async t => {
  const xpub = new HDKey({
    ...accountAt("m/84'/0'/0'"),
    versions: bitcoinRow.networks[0].xkeys.bip44
  }).publicExtendedKey
  t.regex(xpub, /^xpub/)
  t.regex(ruleOf(xpub), /give the option format/)
  t.is(await firstOf(watched(xpub, { format: 'bip84' }), '84/0'), RECEIVE)
})

const accountAt = (path: string): ConstructorParameters<typeof HDKey>[0] => {
  const { depth, index, parentFingerprint, chainCode, publicKey } = HDKey.fromMasterSeed(
    mnemonicToSeedSync(ABANDON)
  ).derive(path)
  if (chainCode === null || publicKey === null) throw new Error('no key')
  return { depth, index, parentFingerprint, chainCode, publicKey }
}

const XPUB = new HDKey({
  ...accountAt("m/84'/0'/0'"),
  versions: bitcoinRow.networks[0].xkeys.bip44
}).publicExtendedKey

test('a descriptor says the kind of its addresses, whatever its key is', async t => {
  for (const path of ['/0/*', '/<0;1>/*']) {
    const keys = watched(`wpkh([73c5da0a/84h/0h/0h]${XPUB}${path})`)
    t.is(await firstOf(keys, '84/0'), RECEIVE)
  }
  const nested = new HDKey({ ...accountAt("m/49'/0'/0'"), versions: bitcoinRow.networks[0].xkeys.bip44 })
  // Another library is asked.
  const { publicKey } = nested.deriveChild(0).deriveChild(0)
  t.is(
    await firstOf(watched(`sh(wpkh(${nested.publicExtendedKey}/0/*))`), '49/0'),
    p2sh(p2wpkh(publicKey ?? new Uint8Array(33))).address
  )
  const taproot = new HDKey({ ...accountAt("m/86'/0'/0'"), versions: bitcoinRow.networks[0].xkeys.bip44 })
  // A vector of BIP-86.
  t.is(
    await firstOf(watched(`tr(${taproot.publicExtendedKey}/<0;1>/*)`), '86/0'),
    'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr'
  )
})

test('a descriptor with a private key, without the option to watch, makes a wallet that pays', t => {
  const account = HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON)).derive("m/84'/0'/0'").privateExtendedKey
  const keys = importWalletKeys(bitcoinRow, bitcoinRow.networks[0], `wpkh(${account}/<0;1>/*)`, {
    io,
    options: {}
  })
  t.regex(String(keys.bitcoinKey), /^zprv/)
  t.is(keys.isWatchOnly, undefined)
  t.regex(ruleOf(`wpkh(${account}/<0;1>/*)`), /private one, which can spend/)
})

test('the checksum of a descriptor is compared where there is one', t => {
  // The example of BIP-380.
  t.regex(ruleOf('raw(deadbeef)#89f8spxm'), /single script/)
  for (const wrong of [
    'raw(deadbeef)#89f8spxn',
    'raw(deedbeef)#89f8spxm',
    'raw(deadbeef)#',
    'raw(Ü)#89f8spxm'
  ])
    t.regex(ruleOf(wrong), /its checksum is wrong/, wrong)
})

test('what cannot be watched is refused with a reason that quotes none of it', t => {
  const account = HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON)).derive("m/84'/0'/0'")
  const cases: readonly (readonly [string, RegExp])[] = [
    [ABANDON, /takes an extended public key/],
    ['', /takes an extended public key/],
    [account.privateExtendedKey, /private one, which can spend/],
    [`${ZPUB.slice(0, -1)}t`, /checksum is wrong/],
    [`wsh(multi(1,${XPUB}/0/*))`, /of a script/],
    [`multi(1,${XPUB}/0/*)`, /several keys/],
    [`combo(${XPUB}/0/*)`, /several kinds/],
    [`musig(${XPUB}/0/*)`, /form musig/],
    [`addr(${RECEIVE})`, /single address/],
    [`wpkh(${XPUB})`, /path must be/],
    [`wpkh(${XPUB}/*)`, /path must be/],
    [`wpkh(${XPUB}/0/*h)`, /path must be/],
    [`wpkh(${XPUB}/0/*`, /not of one extended key/],
    [`wpkh( ${XPUB}/0/*)`, /has no spaces/],
    ['wpkh(02e7ab2537b5d49e970309aae06e9e49f36ce1c9febbd44ec8e0d1cca0b4f9c319)', /not of one extended key/]
  ]
  for (const [text, rule] of cases) {
    const found = ruleOf(text)
    t.regex(found, rule, text)
    if (text.length > 40) t.false(found.includes(text.slice(5, 40)))
  }
  t.regex(ruleOf(ZPUB, { watch: 'yes' }), /watch must be true or false/)
  t.regex(ruleOf(`wpkh(${XPUB}/0/*)`, { format: 'bip44' }), /one of bip84, not of bip44/)
  const testnet = new HDKey({
    ...accountAt("m/84'/1'/0'"),
    versions: { public: 0x043587cf, private: 0x04358394 }
  }).publicExtendedKey
  t.regex(ruleOf(`wpkh(${testnet}/0/*)`), /belongs to testnet/)
})

test('a wallet of another coin watches by the version bytes of its own', async t => {
  const { xkeys } = litecoinRow.networks[0]
  const keys = watched(
    new HDKey({ ...accountAt("m/84'/2'/0'"), versions: xkeys.bip84 }).publicExtendedKey,
    {},
    litecoinRow
  )
  t.is(keys.litecoinKey, undefined)
  t.regex(await firstOf(keys, '84/0', litecoinRow), /^ltc1q/)
})

test('the paths of a wallet say where its addresses are, also those of a wallet of BIP-49, which gives out others', t => {
  const [network] = bitcoinRow.networks
  const pathsOf = (text: string, options: object): readonly string[] => {
    const keys = importWalletKeys(bitcoinRow, network, text, { io, options: { ...options } })
    const { givenOut, watched } = keyPathsOf(network, derivePublicKeys(bitcoinRow, network, keys, io.crypto))
    return [givenOut.join(' '), watched.join(' ')]
  }
  const both = "m/49'/0'/0'/0/* m/49'/0'/0'/1/* m/84'/0'/0'/0/* m/84'/0'/0'/1/*"
  t.deepEqual(pathsOf(ABANDON, { format: 'bip49' }), ["m/84'/0'/0'/0/*", both])
  t.deepEqual(pathsOf(ABANDON, { format: 'bip84' }), ["m/84'/0'/0'/0/*", both])
  t.deepEqual(pathsOf(ABANDON, { format: 'bip44' }), ["m/44'/0'/0'/0/*", "m/44'/0'/0'/0/* m/44'/0'/0'/1/*"])
  t.deepEqual(pathsOf(ABANDON, { format: 'bip44', coinType: 7 })[0], "m/44'/7'/0'/0/*")
  t.deepEqual(pathsOf(ABANDON, { format: 'bip86' }), ["m/86'/0'/0'/0/*", "m/86'/0'/0'/0/* m/86'/0'/0'/1/*"])
  t.deepEqual(pathsOf(ABANDON, { format: 'bip32' }), ['m/0/0/*', 'm/0/0/*'])
  const third = new HDKey({ ...accountAt("m/84'/0'/2'"), versions: network.xkeys.bip84 }).publicExtendedKey
  t.deepEqual(pathsOf(third, { watch: true }), ["m/84'/0'/2'/0/*", "m/84'/0'/2'/0/* m/84'/0'/2'/1/*"])
  const seed = 'wild father tree among universe such mobile favorite target dynamic credit identify'
  t.deepEqual(pathsOf(seed, { form: 'electrum' }), ['account key/0/*', 'account key/0/* account key/1/*'])
})
