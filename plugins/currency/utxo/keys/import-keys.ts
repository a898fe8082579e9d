import { hmac } from '@noble/hashes/hmac.js'
import { pbkdf2 } from '@noble/hashes/pbkdf2.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { type Io, type JsonObject, WalletError, type WalletKeys } from '../../../../kernel/plugin-api.ts'
import type { CoinRow, KeyFormat, NetworkRow } from '../params/coin.ts'
import { type DescribedAccount, isDescriptor, readDescriptor } from './descriptor.ts'
import {
  accountPathOf,
  formatOption,
  isExtendedKey,
  normalWords,
  ownPurposeOf,
  withVersions
} from './keys.ts'

/** A key that a person brings, and what the person says about it. */
interface ImportRequest {
  readonly coin: CoinRow
  readonly network: NetworkRow
  readonly io: Io
  readonly options: JsonObject
}

/**
 * Takes a person's own key: BIP-39 words, an Electrum seed, an extended private key or a descriptor with one, or, for old wallets, a
 * base64 seed. With the option `watch` (true), an extended public key or a descriptor with one, of a wallet that only watches.
 *
 * Options, all of them optional: `format`; `coinType`; `form`, which says what a text is that could be two things (`bip39` or
 * `electrum`; an Electrum seed always needs it, since one of 243 mistyped texts looks like one); `passphrase`, which belongs to
 * words. The keys of plain words are the words. Those of an Electrum seed, and of words with a passphrase, are the extended private key
 * of the account: a client that reads the words alone would show, and pay to, another wallet.
 *
 * @throws KEY_INTEGRITY for text that is none of these, with the reason; the message never quotes it
 * @throws NOT_SUPPORTED for a format that the coin does not have
 */
export const importWalletKeys = (
  coin: CoinRow,
  network: NetworkRow,
  text: string,
  { io, options }: { readonly io: Io; readonly options: JsonObject }
): WalletKeys => {
  const request = { coin, network, io, options }
  const { form, passphrase = '', watch } = checkOptions(options)
  if (text.length > MAX_TEXT || passphrase.length > MAX_TEXT) throw refused(NO_KEY)
  const trimmed = text.trim()
  if (isDescriptor(trimmed)) return keysOfDescriptor(request, readDescriptor(trimmed))
  if (watch && !isExtendedKey(trimmed)) throw refused(NOTHING_TO_WATCH)
  if (isExtendedKey(trimmed)) {
    if (passphrase !== '') throw refused('a passphrase belongs to words, and not to an extended key')
    return keysOfExtended(request, trimmed)
  }
  const words = normalWords(text)
  const isBip39 = validateMnemonic(words, wordlist)
  const seedType = electrumTypeOf(text)
  if (form === 'electrum') {
    if (seedType === undefined)
      throw refused('it is no Electrum seed: a word is mistyped, or it is of another program')
    return keysOfElectrumSeed(request, { text, passphrase, seedType })
  }
  if (form === undefined && isBip39 && seedType !== undefined)
    throw refused(
      'it is both BIP-39 words and an Electrum seed: say which with the option form (bip39 or electrum)'
    )
  if (isBip39) return keysOfWords(request, words, passphrase)
  const format = formatOption(coin, options)
  if (format === 'bip32' && passphrase === '' && isSeedText(trimmed, io))
    return keysOf(request, trimmed, format)
  throw refused(ruleOf(trimmed, form === undefined && seedType !== undefined))
}

/** @throws KEY_INTEGRITY for an option that there is not: it would be passed over, and another wallet be made */
const checkOptions = (
  options: JsonObject
): {
  readonly form: 'bip39' | 'electrum' | undefined
  readonly passphrase: string | undefined
  readonly watch: boolean
} => {
  const { format: _, coinType: __, form, passphrase, watch = false, ...others } = options
  if (Object.keys(others).length > 0)
    throw refused('only the options format, coinType, form, passphrase and watch are known')
  if (typeof watch !== 'boolean') throw refused('watch must be true or false')
  if (form !== undefined && form !== 'bip39' && form !== 'electrum')
    throw refused('form must be bip39 or electrum')
  if (passphrase !== undefined && typeof passphrase !== 'string') throw refused('the passphrase must be text')
  return { form, passphrase, watch }
}

const MAX_TEXT = 2000

const refused = (rule: string): WalletError => new WalletError('KEY_INTEGRITY', { rule })

/** The keys of a wallet, once their text is checked. */
const keysOf = ({ coin, network, options }: ImportRequest, text: string, format: KeyFormat): WalletKeys => {
  const { coinType: given = network.coinType } = options
  // A command passes options as texts.
  const coinType = typeof given === 'string' && /^\d{1,10}$/.test(given) ? Number(given) : given
  if (typeof coinType !== 'number' || !Number.isInteger(coinType) || coinType < 0 || coinType >= 0x80000000)
    throw refused('coinType must be a BIP-44 index')
  return { [coin.keyName]: text, format, coinType }
}

const keysOfWords = (request: ImportRequest, words: string, passphrase: string): WalletKeys => {
  const { coin, options } = request
  const format = formatOption(coin, options)
  if (passphrase === '') return keysOf(request, words, format)
  return keysOfMaster(request, masterOf(mnemonicToSeedSync(words, passphrase)), format)
}

/** Wipes the seed. */
const masterOf = (seed: Uint8Array): HDKey => {
  const master = HDKey.fromMasterSeed(seed)
  seed.fill(0)
  return master
}

/** The keys of the account of a format below a master key. */
const keysOfMaster = (request: ImportRequest, master: HDKey, format: KeyFormat): WalletKeys => {
  const { coinType } = keysOf(request, '', format)
  const account = master.derive(accountPathOf(ownPurposeOf(format), Number(coinType)))
  master.wipePrivateData()
  return keysOfAccount(request, account, format)
}

const keysOfAccount = (request: ImportRequest, account: HDKey, format: KeyFormat): WalletKeys => {
  const { depth, index, parentFingerprint, chainCode, privateKey } = account
  if (privateKey === null || chainCode === null) throw refused('it is no private key')
  const versions = request.network.xkeys[format]
  const written = new HDKey({ versions, depth, index, parentFingerprint, chainCode, privateKey })
  const text = written.privateExtendedKey
  privateKey.fill(0)
  written.wipePrivateData()
  account.wipePrivateData()
  return keysOf(request, text, format)
}

/** The keys of an account that a descriptor names; it says which key is the account's, so that each depth is good. */
const keysOfDescriptor = (request: ImportRequest, { format: own, key }: DescribedAccount): WalletKeys => {
  const format = formatOption(request.coin, { format: own, ...request.options })
  if (format !== own) throw refused(`the descriptor is one of ${own}, not of ${format}`)
  const version = versionOf(key)
  const described = { ...request, options: { ...request.options, format } }
  formatOfVersion(described, version)
  const node = nodeOf(key, versionsOf(described, version))
  return request.options.watch === true
    ? keysOfWatched(described, node, format)
    : keysOfAccount(described, node, format)
}

/** The keys of a wallet that only watches. Under a name that no client takes for a secret, since one would pay to what it derives. */
const keysOfWatched = (request: ImportRequest, account: HDKey, format: KeyFormat): WalletKeys => {
  const purpose = ownPurposeOf(format)
  const { [request.coin.keyName]: _, ...rest } = keysOf(request, '', format)
  return {
    ...rest,
    xpubs: { [purpose]: withVersions(account, request.network, purpose).publicExtendedKey },
    isWatchOnly: true
  }
}

/** An extended key is the account, or the master key that the account is derived from. */
const keysOfExtended = (request: ImportRequest, text: string): WalletKeys => {
  const { options } = request
  const version = versionOf(text)
  const format = formatOfVersion(request, version)
  const isElectrum = options.form === 'electrum'
  const node = nodeOf(text, versionsOf(request, version))
  if (options.watch === true) {
    checkDepth(node.depth, isElectrum ? [0, 1] : format === 'bip32' ? [1] : [3])
    return keysOfWatched(request, node, format)
  }
  if (node.depth === 0) {
    // Electrum shows the master key of its first seeds as that of the account.
    if (options.form === undefined && (format === 'bip44' || format === 'bip32'))
      throw refused(
        'it is a master key: say with the option form if it is one of BIP-39 (bip39) or Electrum (electrum)'
      )
    return isElectrum ? keysOfAccount(request, node, format) : keysOfMaster(request, node, format)
  }
  const { depth } = node
  node.wipePrivateData()
  checkDepth(depth, format === 'bip32' || isElectrum ? [1] : [3])
  return keysOf(request, text, format)
}

/** @throws KEY_INTEGRITY for a key of another depth than that of an account */
const checkDepth = (depth: number, usual: readonly number[]): void => {
  if (usual.includes(depth)) return
  const others = usual.includes(3) ? ', or 1 with the option form (electrum)' : ''
  throw refused(
    `the extended key is of depth ${depth}, and that of an account is of ${usual.join(' or ')}${others}`
  )
}

/** The version bytes by which a key is read: its own, on the side where it is wanted. */
const versionsOf = ({ network, options }: ImportRequest, version: number): BIP32Versions =>
  options.watch === true
    ? { public: version, private: network.xkeys.bip44.private }
    : { public: network.xkeys.bip44.public, private: version }

type BIP32Versions = { readonly public: number; readonly private: number }

const nodeOf = (text: string, versions: BIP32Versions): HDKey => {
  try {
    return HDKey.fromExtendedKey(text, versions)
  } catch {
    // The library's own words could quote the key.
    throw refused('the extended key is damaged')
  }
}

/** The version bytes of an extended key. @throws KEY_INTEGRITY if its checksum is wrong */
const versionOf = (text: string): number => {
  try {
    const bytes = base58check.decode(text)
    if (bytes.length === 78) return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  } catch {
    // The message below must not quote the key.
  }
  throw refused('the extended key is mistyped or cut off: its checksum is wrong')
}

const base58check = createBase58check(sha256)

/** The format that version bytes and options agree on. @throws KEY_INTEGRITY for a key that is not this network's, or of the other side: private, or public to watch */
const formatOfVersion = (request: ImportRequest, version: number): KeyFormat => {
  const { coin, network, options } = request
  const { xkeys, xkeysReadAlso = xkeys.bip44 } = network
  const side = sideOf(request)
  const isLegacy = [xkeys.bip44[side], xkeysReadAlso[side]].includes(version)
  if (!isLegacy) {
    const own = coin.formats.find(format => xkeys[format][side] === version)
    if (own === undefined) throw refused(ruleOfVersion(request, version))
    if (formatOption(coin, { format: own, ...options }) !== own)
      throw refused(`the extended key is one of ${own}, not of ${String(options.format)}`)
    return own
  }
  if (options.format !== undefined) return formatOption(coin, options)
  if (options.form === 'electrum') return formatOption(coin, { format: 'bip44' })
  // An xprv can be of any kind of address; where there is more than one, a guess could show an empty wallet.
  if (network.bech32 !== undefined)
    throw refused(
      `the extended key does not say of which addresses it is: give the option format (${coin.formats.join(', ')})`
    )
  return formatOption(coin, options)
}

type KeySide = 'private' | 'public'

const sideOf = ({ options }: ImportRequest): KeySide => (options.watch === true ? 'public' : 'private')

const ruleOfVersion = (request: ImportRequest, version: number): string => {
  const { coin, network } = request
  if (MULTISIG_VERSIONS.has(version))
    return 'the extended key is one of a wallet that several people sign for'
  const hasVersion = ({ xkeys, xkeysReadAlso }: NetworkRow, side: KeySide): boolean =>
    [...Object.values(xkeys), ...(xkeysReadAlso === undefined ? [] : [xkeysReadAlso])].some(
      each => each[side] === version
    )
  const side = sideOf(request)
  if (side === 'private' && hasVersion(network, 'public'))
    return 'the extended key is a public one, which can spend nothing: with it a wallet can only watch'
  if (side === 'public' && hasVersion(network, 'private'))
    return 'the extended key is a private one, which can spend: import it, and keep it from where it can be read'
  if (hasVersion(network, side))
    return `the extended key is of a kind of address that ${coin.displayName} does not have`
  const other = [...coin.networks, ...coin.foreignNetworks].find(
    each => hasVersion(each, 'private') || hasVersion(each, 'public')
  )
  return other === undefined
    ? `the extended key is of no network of ${coin.displayName}`
    : `the extended key belongs to ${other.name}, not to ${network.name}`
}

/** Ypub, Yprv, Zpub, Zprv, Upub, Uprv, Vpub and Vprv (SLIP-132). */
const MULTISIG_VERSIONS = new Set([
  ...[0x0295b43f, 0x0295b005, 0x02aa7ed3, 0x02aa7a99],
  ...[0x024289ef, 0x024285b5, 0x02575483, 0x02575048]
])

type ElectrumType = '2fa' | 'segwit' | 'standard'

const ELECTRUM_FORMATS = { standard: 'bip44', segwit: 'bip84' } as const

/** Electrum derives from its seeds without the purpose and the coin: `m` itself, or `m/0'` with segwit. */
const keysOfElectrumSeed = (
  request: ImportRequest,
  seed: { readonly text: string; readonly passphrase: string; readonly seedType: ElectrumType }
): WalletKeys => {
  const { coin, options } = request
  if (seed.seedType === '2fa')
    throw refused('it is an Electrum seed with two-factor authentication, whose second key TrustedCoin has')
  const own = formatOption(coin, { format: ELECTRUM_FORMATS[seed.seedType] })
  const format = options.format === undefined ? own : formatOption(coin, options)
  if (format !== own) throw refused(`the Electrum seed is one of ${own}, not of ${format}`)
  const salt = `electrum${electrumText(seed.passphrase)}`
  const master = masterOf(
    pbkdf2(sha512, utf8ToBytes(electrumText(seed.text)), utf8ToBytes(salt), { c: 2048, dkLen: 64 })
  )
  if (seed.seedType === 'standard') return keysOfAccount(request, master, format)
  const account = master.derive("m/0'")
  master.wipePrivateData()
  return keysOfAccount(request, account, format)
}

/**
 * The kind of an Electrum seed, which the first digits of a hash say (`seed_type` in `mnemonic.py` of Electrum); undefined if it is none.
 * Seeds with two-factor authentication have 12 words, or 20 and more.
 */
const electrumTypeOf = (text: string): ElectrumType | undefined => {
  const normal = electrumText(text)
  if (normal === '') return undefined
  const hash = bytesToHex(hmac(sha512, utf8ToBytes('Seed version'), utf8ToBytes(normal)))
  if (hash.startsWith('01')) return 'standard'
  if (hash.startsWith('100')) return 'segwit'
  const { length } = normal.split(' ')
  if (hash.startsWith('102') || (hash.startsWith('101') && (length === 12 || length >= 20))) return '2fa'
  return undefined
}

/** The form that Electrum hashes (`normalize_text` in its `mnemonic.py`): without accents, and without spaces between Chinese or Japanese signs. */
const electrumText = (text: string): string => {
  const plain = [...text.normalize('NFKD').toLowerCase()].filter(sign => !isAccent(sign)).join('')
  return plain
    .split(/\s+/)
    .filter(word => word !== '')
    .join(' ')
    .replace(SPACE_BETWEEN_CJK, '')
}

/** Returns true for a mark that has a place in canonical order, which normal forms show by moving it. */
const isAccent = (sign: string): boolean =>
  /\p{M}/u.test(sign) && [`a${sign}\u0334`, `a\u0301${sign}`].some(order => order.normalize('NFD') !== order)

// The blocks of `CJK_INTERVALS` in Electrum's `mnemonic.py`.
const CJK =
  '\\u1100-\\u11ff\\u2e80-\\u2fdf\\u2ff0-\\u2fff\\u3040-\\u312f\\u3130-\\u319f\\u31a0-\\u31bf\\u31c0-\\u31ef\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff' +
  '\\ua000-\\ua4ff\\ua960-\\ua97f\\uac00-\\ud7ff\\uf900-\\ufaff\\uff00-\\uffef\\u{16f00}-\\u{16f9f}\\u{1b000}-\\u{1b0ff}\\u{20000}-\\u{2a6df}\\u{2a700}-\\u{2b81f}' +
  '\\u{2f800}-\\u{2fa1d}\\u{e0100}-\\u{e01ef}'
const SPACE_BETWEEN_CJK = new RegExp(`(?<=[${CJK}]) (?=[${CJK}])`, 'gu')

const isSeedText = (text: string, io: Io): boolean => {
  try {
    const { length } = io.crypto.fromBase64(text)
    return length >= 16 && length <= 64
  } catch {
    return false
  }
}

/** Says what is wrong with a text that is no key, without quoting any of it. */
const ruleOf = (text: string, canBeElectrum: boolean): string => {
  if (/^6P[1-9A-HJ-NP-Za-km-z]{56}$/.test(text)) return 'it is a key under a passphrase of its own (BIP-38)'
  if (/^(?:p2\w+(?:-p2sh)?:)?[1-9A-HJ-NP-Za-km-z]{51,52}$/.test(text))
    return 'it is the key of a single address, and a wallet has many: sweep it into a wallet'
  if (/^(?:[0-9a-f]{32}|[0-9a-f]{64})$/i.test(text))
    return 'it looks like a seed of Electrum before 2014, whose keys this cannot make'
  const words = normalWords(text).split(' ')
  if (words.length < 2) return NO_KEY
  if (canBeElectrum)
    return 'it is no BIP-39 phrase, and can be an Electrum seed: if it is one, give the option form (electrum); else a word is mistyped'
  const unknown = words.findIndex(word => !wordlist.includes(word))
  if (unknown >= 0)
    return `word ${unknown + 1} of ${words.length} is not in the English list of BIP-39, and all together are no Electrum seed since 2014`
  return [12, 15, 18, 21, 24].includes(words.length)
    ? 'the words are known, but their checksum is wrong: one is mistyped or in another place'
    : `there are ${words.length} words, and BIP-39 has 12, 15, 18, 21 or 24`
}

const NOTHING_TO_WATCH = 'to watch, it takes an extended public key or an output descriptor'

const NO_KEY = 'the text is no valid BIP-39 phrase, Electrum seed or extended private key'
