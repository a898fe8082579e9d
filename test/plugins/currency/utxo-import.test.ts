import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { entropyToMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import test from 'ava'
import fc from 'fast-check'
import { isWalletError, type WalletKeys } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { addressOf } from '../../../plugins/currency/utxo/chain/address.ts'
import { importWalletKeys } from '../../../plugins/currency/utxo/keys/import-keys.ts'
import { derivePublicKeys, readPublicKeys } from '../../../plugins/currency/utxo/keys/keys.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import type { CoinRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { dogecoinRow } from '../../../plugins/currency/utxo/params/dogecoin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { ScriptTable } from '../../../plugins/currency/utxo/wallet/scripts.ts'

const io = makeNodeIo()
const base58check = createBase58check(sha256)
const ABANDON = `${'abandon '.repeat(11)}about`

const imported = (text: string, options: object = {}, coin: CoinRow = bitcoinRow): WalletKeys =>
  importWalletKeys(coin, coin.networks[0], text, { io, options: { ...options } })

const ELECTRUM = { form: 'electrum' }

const ruleOf = (text: string, options: object = {}, coin: CoinRow = bitcoinRow): string => {
  try {
    imported(text, options, coin)
    return 'imported'
  } catch (error) {
    if (isWalletError(error, 'KEY_INTEGRITY')) return error.details.rule
    return isWalletError(error) ? error.code : `untyped ${error}`
  }
}

const addressesOf = async (
  keys: WalletKeys,
  branch: string,
  { count, coin = bitcoinRow }: { readonly count: number; readonly coin?: CoinRow }
): Promise<readonly string[]> => {
  const [network] = coin.networks
  const accounts = readPublicKeys(network, derivePublicKeys(coin, network, keys, io.crypto))
  if (accounts === undefined) throw new Error('no keys')
  const table = new ScriptTable(accounts, 25)
  const scripts = table.branchById(branch)
  if (scripts === undefined) throw new Error(`no branch ${branch}`)
  await table.extend(scripts, count, io.clock)
  return scripts.records.slice(0, count).map(record => addressOf(network, record.program))
}

// Seeds from the tests of Electrum (MIT); the addresses are those that Electrum 4.3.4 of Debian shows.
const SEGWIT = 'wild father tree among universe such mobile favorite target dynamic credit identify'
const STANDARD = 'cram swing cover prefer miss modify ritual silly deliver chunk behind inform able'

test('the addresses of an Electrum seed are those that Electrum shows, with its passphrase too', async t => {
  const segwit = imported(SEGWIT, ELECTRUM)
  t.is(segwit.format, 'bip84')
  t.regex(String(segwit.bitcoinKey), /^zprv/)
  t.deepEqual(await addressesOf(segwit, '84/0', { count: 3 }), [
    'bc1q4794m2uuw9jmjszmplfj4wvvr5j272fpnx2cse',
    'bc1qha2jlcpgy2gylsdlkpjx67vmj8vswkq9qdptfa',
    'bc1q7a629a885h9dkjda88t0nj5ej93kq8shj6gecx'
  ])
  t.deepEqual(await addressesOf(segwit, '84/1', { count: 2 }), [
    'bc1qdv80tpukzcz05aqj8jj3g9v3gct32an090sjmd',
    'bc1q0fgjf5gxhmfj0uea8a9wql398lxr2gdj54mfez'
  ])
  const standard = imported(STANDARD, ELECTRUM)
  t.deepEqual(await addressesOf(standard, '44/0', { count: 3 }), [
    '15LbmqfK953XRFukmCmd9kqTsa2KGs6BAt',
    '1HSnGWesTjrgha3iPvf9pqvhA8MLwy6BNc',
    '1Gt7QafgoyG4mnq3uJz6zPpXxK66BdTfME'
  ])
  t.deepEqual(await addressesOf(standard, '44/1', { count: 2 }), [
    '1AthBDwytk2F8BCsAjBJR8D15SpEg9XZBE',
    '15zSRVXMVfttAFSTsMgYepf7NsexikZDEU'
  ])
  const unicorn = imported(STANDARD, { ...ELECTRUM, passphrase: 'UNICORN' })
  t.deepEqual(await addressesOf(unicorn, '44/0', { count: 1 }), ['1E9KEGWoLRLcP8bgeBMiN2FjJZU4oTQJaU'])
  t.deepEqual(await addressesOf(unicorn, '44/1', { count: 1 }), ['1PjK5K5vUzQH27MegoFx8JpbGtgMahJHaZ'])
})

/** The account that Electrum derives from a seed of BIP-32. */
const accountOf = (seed: string, format: 'bip44' | 'bip84'): string => {
  const master = HDKey.fromMasterSeed(Buffer.from(seed, 'hex'), bitcoinRow.networks[0].xkeys[format])
  return (format === 'bip84' ? master.derive("m/0'") : master).privateExtendedKey
}

test('an Electrum seed is read in any script, with any spaces, accents and case, as Electrum does', t => {
  // From the tests of Electrum (`SEED_TEST_CASES` and `Test_seeds` in test_mnemonic.py).
  const cases = [
    [
      SEGWIT,
      'bip84',
      'aac2a6302e48577ab4b46f23dbae0774e2e62c796f797d0a1b5faeb528301e3064342dafb79069e7c4c6b8c38ae11d7a973bec0d4f70626f8cc5184a8d0b0756'
    ],
    [
      STANDARD,
      'bip44',
      '5ff8f39dda1b2f7ee8bc90334049f3072ade52165248aab1257c6febd4212eecec55e49c5059ae3386a2e2906cafb987129544bdc398f641536864f9d172b452'
    ],
    [
      '眼 悲 叛 改 节 跃 衡 响 疆 股 遂 冬',
      'bip84',
      '0b9077db7b5a50dbb6f61821e2d35e255068a5847e221138048a20e12d80b673ce306b6fe7ac174ebc6751e11b7037be6ee9f17db8040bb44f8466d519ce2abf'
    ],
    [
      'almíbar tibio superar vencer hacha peatón príncipe matar consejo polen vehículo odisea',
      'bip44',
      '18bffd573a960cc775bbd80ed60b7dc00bc8796a186edebe7fc7cf1f316da0fe937852a969c5c79ded8255cdf54409537a16339fbe33fb9161af793ea47faa7a'
    ]
  ] as const
  for (const [text, format, seed] of cases) {
    const { bitcoinKey } = imported(text, ELECTRUM)
    t.is(bitcoinKey, accountOf(seed, format), text)
    t.is(
      imported(text.normalize('NFD').toUpperCase().replaceAll(' ', ' \n '), ELECTRUM).bitcoinKey,
      bitcoinKey,
      text
    )
  }
  t.is(
    imported(SEGWIT, { ...ELECTRUM, passphrase: 'Did you ever hear the tragedy of Darth Plagueis the Wise?' })
      .bitcoinKey,
    accountOf(
      '4aa29f2aeb0127efb55138ab9e7be83b36750358751906f86c662b21a1ea1370f949e6d1a12fa56d3d93cadda93038c76ac8118597364e46f5156fde6183c82f',
      'bip84'
    )
  )
  t.is(
    imported(
      '   oStRiCh sEcUrItY DeEr aUnT ClImB       InNeR AlPhA ArM MuTuAl mArBlE   SoLiD TaSk  ',
      ELECTRUM
    ).format,
    'bip44'
  )
})

test('Electrum seeds whose keys others hold, old ones and mistyped ones are refused with the reason', t => {
  for (const text of [
    'kiss live scene rude gate step hip quarter bunker oxygen motor glove',
    'science dawn member doll dutch real can brick knife deny drive list',
    'agree install'
  ])
    t.regex(ruleOf(text, ELECTRUM), /TrustedCoin/, text)
  t.regex(ruleOf('acb740e454c3134901d7c8f16497cc1c'), /before 2014/)
  t.regex(
    ruleOf('cram swing cover prefer miss modify ritual silly deliver chunk behind inform'),
    /checksum is wrong/
  )
  t.regex(ruleOf(SEGWIT, { ...ELECTRUM, format: 'bip44' }), /one of bip84, not of bip44/)
  t.regex(ruleOf(SEGWIT, { form: 'slip39' }), /form must be/)
  t.regex(ruleOf(SEGWIT, ELECTRUM, dogecoinRow), /^NOT_SUPPORTED$/)
})

test('words that are BIP-39 and an Electrum seed at once are imported once it is said which', async t => {
  const text = Array.from({ length: 4000 }, (_, at) => {
    const entropy = new Uint8Array(16)
    new DataView(entropy.buffer).setUint32(0, at)
    return entropyToMnemonic(entropy, wordlist)
  }).find(words => /both|say which/.test(ruleOf(words)))
  if (text === undefined) return t.fail('none was found')
  const words = imported(text, { form: 'bip39' })
  t.is(words.bitcoinKey, text)
  const seed = imported(text, { form: 'electrum' })
  t.regex(String(seed.bitcoinKey), /^[xz]prv/)
  t.is(imported(ABANDON, { form: 'bip39' }).bitcoinKey, ABANDON)
  t.regex(ruleOf(ABANDON, ELECTRUM), /^it is no Electrum seed/)
})

test('words with a passphrase give the addresses of BIP-39 in each format, and the keys hold the account alone', async t => {
  const { xkeys } = bitcoinRow.networks[0]
  for (const [format, path] of [
    ['bip44', "m/44'/0'/0'"],
    ['bip49', "m/49'/0'/0'"],
    ['bip84', "m/84'/0'/0'"],
    ['bip86', "m/86'/0'/0'"],
    ['bip32', 'm/0']
  ] as const) {
    const master = HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON, 'TREZOR'), xkeys[format])
    t.deepEqual(imported(ABANDON, { format, passphrase: 'TREZOR' }), {
      bitcoinKey: master.derive(path).privateExtendedKey,
      format,
      coinType: 0
    })
  }
  // Of BIP-39 itself: the first half of the seed of these words with the passphrase TREZOR.
  t.is(
    Buffer.from(mnemonicToSeedSync(ABANDON, 'TREZOR')).toString('hex', 0, 16),
    'c55257c360c07c72029aebc1b53c05ed'
  )
})

test('an extended private key is taken for the addresses that its version bytes name, on its own network alone', async t => {
  const master = (format: 'bip44' | 'bip49' | 'bip84'): HDKey =>
    HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON), bitcoinRow.networks[0].xkeys[format])
  const zprv = master('bip84').derive("m/84'/0'/0'").privateExtendedKey
  const yprv = master('bip49').derive("m/49'/0'/0'").privateExtendedKey
  const xprv = master('bip44').derive("m/44'/0'/0'").privateExtendedKey
  t.deepEqual(imported(zprv), { bitcoinKey: zprv, format: 'bip84', coinType: 0 })
  t.deepEqual(imported(yprv), { bitcoinKey: yprv, format: 'bip49', coinType: 0 })
  t.regex(ruleOf(xprv), /give the option format/)
  t.is(imported(xprv, { format: 'bip44' }).bitcoinKey, xprv)
  t.deepEqual(await addressesOf(imported(zprv), '84/0', { count: 1 }), [
    'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'
  ])
  t.regex(ruleOf(zprv, { format: 'bip44' }), /one of bip84, not of bip44/)
  t.regex(ruleOf(master('bip84').derive("m/84'/0'/0'").publicExtendedKey), /public one/)
  t.regex(ruleOf(`${zprv.slice(0, -1)}${zprv.endsWith('1') ? '2' : '1'}`), /checksum/)

  // SLIP-132: a test network's key, and one of a wallet of several signers.
  const ofVersion = (version: number): string =>
    HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON), { public: 1, private: version }).derive("m/44'/0'/0'")
      .privateExtendedKey
  t.regex(ruleOf(ofVersion(0x04358394)), /belongs to testnet, not to mainnet/)
  t.regex(ruleOf(ofVersion(0x02aa7a99)), /several people/)
  t.regex(ruleOf(ofVersion(0x12345678)), /no network of Bitcoin/)
  // Ltpv of Trezor and Mtpv.
  t.is(imported(ofVersion(0x019d9cfe), { format: 'bip44' }, litecoinRow).format, 'bip44')
  t.is(imported(ofVersion(0x01b26792), {}, litecoinRow).format, 'bip49')
  // Dogecoin has one kind of address.
  t.is(imported(ofVersion(0x02fac398), {}, dogecoinRow).format, dogecoinRow.newFormat)
})

test('a master key gives its account, and with the form electrum is the account', async t => {
  const master = HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON), bitcoinRow.networks[0].xkeys.bip84)
  t.is(imported(master.privateExtendedKey).bitcoinKey, master.derive("m/84'/0'/0'").privateExtendedKey)
  const old = HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON))
  t.regex(ruleOf(old.privateExtendedKey, { format: 'bip44' }), /it is a master key: say with the option form/)
  t.is(
    imported(old.privateExtendedKey, { format: 'bip44', form: 'bip39' }).bitcoinKey,
    old.derive("m/44'/0'/0'").privateExtendedKey
  )
  const account = imported(imported(STANDARD, ELECTRUM).bitcoinKey as string, ELECTRUM)
  t.deepEqual(account, imported(STANDARD, ELECTRUM))
  const segwit = imported(SEGWIT, ELECTRUM)
  t.deepEqual(imported(segwit.bitcoinKey as string, ELECTRUM), segwit)
})

test('an extended key that is no account, or damaged behind a right checksum, is refused', t => {
  const master = HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON), bitcoinRow.networks[0].xkeys.bip84)
  const account = master.derive("m/84'/0'/0'").privateExtendedKey
  for (const [path, depth] of [
    ["m/84'", 1],
    ["m/84'/0'", 2],
    ["m/84'/0'/0'/0", 4],
    ["m/84'/0'/0'/0/0", 5]
  ] as const)
    t.regex(
      ruleOf(master.derive(path).privateExtendedKey),
      new RegExp(`is of depth ${depth}, and that`),
      path
    )
  const changed = (change: (bytes: Uint8Array) => void): string => {
    const bytes = base58check.decode(account)
    change(bytes)
    return ruleOf(base58check.encode(bytes))
  }
  t.is(
    changed(() => {}),
    'imported'
  )
  // A key of zeros, one with another first byte, and a master with a parent.
  t.is(
    changed(bytes => bytes.fill(0, 46)),
    'the extended key is damaged'
  )
  t.is(
    changed(bytes => bytes.set([2], 45)),
    'the extended key is damaged'
  )
  t.is(
    changed(bytes => bytes.set([0], 4)),
    'the extended key is damaged'
  )
  t.regex(ruleOf(account, {}, dogecoinRow), /kind of address that Dogecoin does not have/)
})

test('a mistyped text, of which one in 243 looks like an Electrum seed, makes no wallet unless that is said', t => {
  const words = ABANDON.split(' ').slice(0, -1)
  for (const last of wordlist) {
    const text = [...words, last].join(' ')
    const rule = ruleOf(text)
    if (rule === 'imported') t.true(validateMnemonic(text, wordlist), last)
    else t.regex(rule, /checksum is wrong|can be an Electrum seed|is both BIP-39/, last)
    t.not(ruleOf(last), 'imported', last)
  }
  // Found by trial: a WIF key and words of BIP-39 whose hashes begin as those of Electrum's seeds, and a base64 seed.
  t.regex(ruleOf('KwFevqMbSXhGxNWuVc6vuERwdXq7aDQtiLNkjPVokF87VMTAX7kC'), /single address/)
  t.regex(
    ruleOf(`abandon able trend ${'abandon '.repeat(8)}access`),
    /both BIP-39 words and an Electrum seed/
  )
  const seed = '2Poy3UCxgdglCk7N4vLxe9e/3yeTJ40G6lr8ZH89V2I='
  t.is(imported(seed, { format: 'bip32' }).bitcoinKey, seed)
})

test('an option that would be passed over is refused', t => {
  const { xkeys } = bitcoinRow.networks[0]
  const zprv = HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON), xkeys.bip84).derive("m/84'/0'/0'")
  t.regex(ruleOf(zprv.privateExtendedKey, { passphrase: 'x' }), /belongs to words/)
  t.regex(ruleOf(ABANDON, { fromat: 'bip44' }), /only the options/)
  t.regex(ruleOf(ABANDON, { Passphrase: 'x' }), /only the options/)
})

test('what is no key is refused with a reason that quotes none of it', t => {
  const wif = 'L1TnU2zbNaAqMoVh65Cyvmcjzbrj41Gs9iTLcWbpJCMynXuap6UN'
  t.regex(ruleOf(wif), /single address/)
  t.regex(ruleOf(`6P${'R'.repeat(56)}`), /BIP-38/)
  t.regex(ruleOf(ABANDON.replace('about', 'abuot')), /^word 12 of 12 is not in the English list/)
  t.regex(ruleOf(ABANDON.replace('about', 'zoo')), /checksum/)
  t.regex(ruleOf('abandon about zoo'), /there are 3 words/)
  t.regex(ruleOf(''), /no valid/)
  t.regex(ruleOf('word '.repeat(1000)), /no valid/)
  t.regex(ruleOf(ABANDON, { passphrase: 7 }), /must be text/)
  t.regex(ruleOf(ABANDON, { coinType: -1 }), /BIP-44 index/)
  t.is(imported(ABANDON, { coinType: '7' }).coinType, 7)
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ minLength: 5, unit: 'binary' }).filter(text => text.trim().length > 4),
        fc.stringMatching(/^[a-z]{5,9}( [a-z]{5,9}){0,25}$/)
      ),
      text => {
        const rule = ruleOf(text)
        return !rule.startsWith('untyped') && rule !== 'imported' && !rule.includes(text.trim().slice(0, 30))
      }
    )
  )
})
