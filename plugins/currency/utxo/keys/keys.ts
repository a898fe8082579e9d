import { HDKey } from '@scure/bip32'
import { entropyToMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import {
  type CryptoPort,
  type Io,
  type JsonObject,
  type KeyPaths,
  WalletError,
  type WalletKeys
} from '../../../../kernel/plugin-api.ts'
import { type CoinRow, type KeyFormat, type NetworkRow, type Purpose, xpub } from '../params/coin.ts'

/** The public face of a wallet: one account-level key for each purpose. */
export interface AccountKeys {
  readonly format: KeyFormat
  readonly coinType: number
  /** Extended public keys by purpose. */
  readonly accounts: ReadonlyMap<Purpose, HDKey>
}

const VERSION = 1

/**
 * Derives the public keys an engine works with; nothing in them can spend.
 *
 * @returns `{ version, format, coinType, network, xpubs: { "84": "zpub…" } }`
 * @throws KEY_INTEGRITY
 */
export const derivePublicKeys = (
  coin: CoinRow,
  network: NetworkRow,
  keys: WalletKeys,
  crypto: CryptoPort
): JsonObject => {
  const text = keys[coin.keyName]
  const format = formatFrom(coin, keys)
  const coinType = coinTypeFrom(network, keys)
  if (keys.isWatchOnly === true) {
    const watched = { version: VERSION, format, coinType, network: network.name, xpubs: keys.xpubs ?? null }
    if (readPublicKeys(network, watched) !== undefined) return watched
    throw new WalletError('KEY_INTEGRITY', { rule: 'the public keys are damaged or of another network' })
  }
  const xpubs: Record<string, string> = {}
  if (typeof text === 'string' && isExtendedKey(text)) {
    const purpose = ownPurposeOf(format)
    xpubs[purpose] = withVersions(accountFromText(network, format, text), network, purpose).publicExtendedKey
  } else {
    const { seed } = seedOf(coin, network, keys, crypto)
    const root = HDKey.fromMasterSeed(seed)
    seed.fill(0)
    for (const purpose of purposesOf[format]) {
      const account = root.derive(accountPathOf(purpose, coinType))
      xpubs[purpose] = withVersions(account, network, purpose).publicExtendedKey
      account.wipePrivateData()
    }
    root.wipePrivateData()
  }
  return { version: VERSION, format, coinType, network: network.name, xpubs }
}

/** Reads what {@link derivePublicKeys} wrote; undefined if it is of an older form or another network. */
export const readPublicKeys = (network: NetworkRow, keys: JsonObject): AccountKeys | undefined => {
  const { version, format, coinType, xpubs } = keys
  if (version !== VERSION || !isKeyFormat(format) || typeof coinType !== 'number') return undefined
  if (keys.network !== network.name || typeof xpubs !== 'object' || xpubs === null) return undefined
  const accounts = new Map<Purpose, HDKey>()
  for (const purpose of purposesOf[format]) {
    const text = (xpubs as JsonObject)[purpose]
    if (typeof text !== 'string') continue
    try {
      const account = HDKey.fromExtendedKey(text, network.xkeys[formatOf[purpose]])
      if (account.privateKey === null) accounts.set(purpose, account)
    } catch {
      return undefined
    }
  }
  return accounts.size === 0 ? undefined : { format, coinType, accounts }
}

/** The extended public key that a watcher follows: that of the addresses the wallet gives out. @throws ENGINE_NO_KEY */
export const extendedPublicKeyOf = (network: NetworkRow, keys: JsonObject): string => {
  const { format, accounts } = readPublicKeys(network, keys) ?? {}
  const account = format && (accounts?.get(mainPurposeOf[format]) ?? accounts?.get(ownPurposeOf(format)))
  if (account === undefined) throw new WalletError('ENGINE_NO_KEY', {})
  return account.publicExtendedKey
}

/**
 * Returns the paths of the addresses that a wallet gives out and watches: from the words down where its account is one of BIP-44 and its heirs, else
 * from the account key that was imported. @throws ENGINE_NO_KEY
 */
export const keyPathsOf = (network: NetworkRow, keys: JsonObject): KeyPaths => {
  const { format, coinType, accounts } = readPublicKeys(network, keys) ?? {}
  if (format === undefined || accounts === undefined) throw new WalletError('ENGINE_NO_KEY', {})
  const branches = branchesOf[format].filter(({ purpose }) => accounts.has(purpose))
  const pathOf = ({ purpose, change }: Branch): string => {
    const { depth = 0, index = 0 } = accounts.get(purpose) ?? {}
    const isUsual = purpose === 32 ? depth === 1 && index === 0 : depth === 3 && index >= HARDENED
    if (!isUsual) return `account key/${change}/*`
    const usual = accountPathOf(purpose, coinType ?? network.coinType)
    return `${usual.replace(/0'$/, `${index - HARDENED}'`)}/${change}/*`
  }
  const main = branches.some(({ purpose }) => purpose === mainPurposeOf[format])
    ? mainPurposeOf[format]
    : ownPurposeOf(format)
  return {
    givenOut: branches.filter(({ purpose, change }) => purpose === main && change === 0).map(pathOf),
    watched: branches.map(pathOf)
  }
}

const HARDENED = 0x80000000

/** The account keys with private parts, for one signature. The caller wipes them. */
export const privateAccountOf = (
  coin: CoinRow,
  network: NetworkRow,
  secret: { readonly keys: WalletKeys; readonly crypto: CryptoPort; readonly purpose: Purpose }
): HDKey => {
  const { keys, crypto, purpose } = secret
  const text = keys[coin.keyName]
  if (typeof text === 'string' && isExtendedKey(text)) {
    return accountFromText(network, formatFrom(coin, keys), text)
  }
  const { seed, coinType } = seedOf(coin, network, keys, crypto)
  const root = HDKey.fromMasterSeed(seed)
  const account = root.derive(accountPathOf(purpose, coinType))
  root.wipePrivateData()
  seed.fill(0)
  return account
}

/** Returns true for the form of an extended key: xprv, Ltpv, dgpv and others have one length. */
export const isExtendedKey = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]{104,116}$/.test(text)

/** An imported account-level private key. @throws KEY_INTEGRITY if it is damaged or of another network */
const accountFromText = (network: NetworkRow, format: KeyFormat, text: string): HDKey => {
  const { xkeys, xkeysReadAlso = xkeys.bip44 } = network
  for (const versions of [xkeys[format], xkeys.bip44, xkeysReadAlso]) {
    try {
      const account = HDKey.fromExtendedKey(text, versions)
      if (account.privateKey !== null) return account
    } catch {
      // The next version bytes may fit; the message below must not quote the key.
    }
  }
  throw new WalletError('KEY_INTEGRITY', { rule: 'the extended key is damaged or of another network' })
}

export const ownPurposeOf = (format: KeyFormat): Purpose => Number(format.slice(3)) as Purpose

/** The descriptors of the scripts of a branch, for nodes, with each version of extended keys that they may have. */
export const branchDescriptorsOf = (
  { xkeys, xkeysReadAlso = xkeys.bip44 }: NetworkRow,
  { depth, index, parentFingerprint, chainCode, publicKey }: HDKey,
  { purpose, change }: Branch
): readonly string[] => {
  if (chainCode === null || publicKey === null) return []
  const versions = new Set([xkeys.bip44.public, xkeysReadAlso.public, xpub.public])
  return [...versions].map(version => {
    // The second version is that of a private key, which is not there.
    const key = new HDKey({
      versions: { public: version, private: 0 },
      depth,
      index,
      parentFingerprint,
      chainCode,
      publicKey
    })
    return FORMS[purpose](`${key.publicExtendedKey}/${change}/*`)
  })
}

const FORMS: Readonly<Record<Purpose, (key: string) => string>> = {
  32: key => `pkh(${key})`,
  44: key => `pkh(${key})`,
  49: key => `sh(wpkh(${key}))`,
  84: key => `wpkh(${key})`,
  86: key => `tr(${key})`
}

/** An account with the version bytes of a purpose, without its private part. */
export const withVersions = (account: HDKey, network: NetworkRow, purpose: Purpose): HDKey =>
  new HDKey({
    versions: network.xkeys[formatOf[purpose]],
    depth: account.depth,
    index: account.index,
    parentFingerprint: account.parentFingerprint,
    chainCode: account.chainCode ?? new Uint8Array(32),
    publicKey: account.publicKey ?? new Uint8Array(33)
  })

/** Makes the keys of a new wallet: 24 words of BIP-39 from 32 random bytes. @throws NOT_SUPPORTED for an unknown format */
export const makeWalletKeys = (
  coin: CoinRow,
  network: NetworkRow,
  io: Io,
  options: JsonObject
): WalletKeys => {
  const format = formatOption(coin, options)
  const entropy = io.random(32)
  if (format === 'bip32') {
    return { [coin.keyName]: io.crypto.toBase64(entropy), format, coinType: network.coinType }
  }
  return { [coin.keyName]: entropyToMnemonic(entropy, wordlist), format, coinType: network.coinType }
}

/** The key format that options name, else the one of new wallets. @throws NOT_SUPPORTED for an unknown format */
export const formatOption = (coin: CoinRow, options: JsonObject): KeyFormat => {
  const format = options.format ?? coin.newFormat
  if (isKeyFormat(format) && coin.formats.includes(format)) return format
  throw new WalletError('NOT_SUPPORTED', { what: `this key format of ${coin.displayName}` })
}

/** The secret of a wallet, ready for BIP-32. */
export interface SeedInfo {
  readonly seed: Uint8Array
  readonly format: KeyFormat
  readonly coinType: number
}

/**
 * Reads the seed of a wallet from its keys.
 *
 * Wallets of format bip32 keep 32 raw bytes in base64; all others keep BIP-39 words. The words win if both fit.
 *
 * @throws KEY_INTEGRITY if the key is missing or neither words nor base64 of 16 to 64 bytes
 */
const seedOf = (coin: CoinRow, network: NetworkRow, keys: WalletKeys, crypto: CryptoPort): SeedInfo => {
  const text = keys[coin.keyName]
  const format = formatFrom(coin, keys)
  const coinType = coinTypeFrom(network, keys)
  if (typeof text !== 'string') throw new WalletError('KEY_INTEGRITY', { rule: `no ${coin.keyName}` })
  const words = normalWords(text)
  if (validateMnemonic(words, wordlist)) return { seed: mnemonicToSeedSync(words), format, coinType }
  return { seed: rawSeedOf(text, crypto), format, coinType }
}

/** The format a wallet's keys name; old wallets name none. @throws KEY_INTEGRITY for a format unknown here */
const formatFrom = (coin: CoinRow, keys: WalletKeys): KeyFormat => {
  const format = keys.format ?? coin.oldFormat
  if (isKeyFormat(format) && coin.formats.includes(format)) return format
  throw new WalletError('KEY_INTEGRITY', { rule: `${coin.pluginId} has no such key format` })
}

/** The coin type a wallet's keys name, else the network's. @throws KEY_INTEGRITY for anything but a BIP-44 index */
const coinTypeFrom = (network: NetworkRow, keys: WalletKeys): number => {
  const coinType = keys.coinType ?? network.coinType
  if (typeof coinType === 'number' && Number.isInteger(coinType) && coinType >= 0 && coinType < 0x80000000) {
    return coinType
  }
  throw new WalletError('KEY_INTEGRITY', { rule: 'coinType must be a BIP-44 index' })
}

/** Words in the one form that BIP-39 hashes: lower case, one space between. */
export const normalWords = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, ' ')

const rawSeedOf = (text: string, crypto: CryptoPort): Uint8Array => {
  let seed: Uint8Array | undefined
  try {
    seed = crypto.fromBase64(text.trim())
  } catch {
    // Not base64; the message below must not quote it.
  }
  if (seed === undefined || seed.length < 16 || seed.length > 64) {
    throw new WalletError('KEY_INTEGRITY', { rule: 'the key is neither BIP-39 words nor a base64 seed' })
  }
  return seed
}

/** A run of scripts that the wallet watches: one purpose, receive (0) or change (1). */
export interface Branch {
  readonly purpose: Purpose
  readonly change: 0 | 1
  /** `84/0`; names the branch in the store and in drafts. */
  readonly id: string
}

const both = (purpose: Purpose): readonly Branch[] => [
  { purpose, change: 0, id: `${purpose}/0` },
  { purpose, change: 1, id: `${purpose}/1` }
]

/**
 * The branches of each format.
 *
 * Formats 49 and 84 watch each other's branches, so that a wallet finds its coins whichever of the two it was
 * made as; old wallets have no change branch.
 */
export const branchesOf: Readonly<Record<KeyFormat, readonly Branch[]>> = {
  bip32: [{ purpose: 32, change: 0, id: '32/0' }],
  bip44: both(44),
  bip49: [...both(49), ...both(84)],
  bip84: [...both(49), ...both(84)],
  bip86: both(86)
}

/** The purposes of each format, in the order of their account keys. */
export const purposesOf: Readonly<Record<KeyFormat, readonly Purpose[]>> = {
  bip32: [32],
  bip44: [44],
  bip49: [49, 84],
  bip84: [49, 84],
  bip86: [86]
}

/** The purpose that receives and takes change. Wallets of 49 and 84 use native segwit for both. */
export const mainPurposeOf: Readonly<Record<KeyFormat, Purpose>> = {
  bip32: 32,
  bip44: 44,
  bip49: 84,
  bip84: 84,
  bip86: 86
}

/** The format whose extended-key bytes a purpose uses. */
const formatOf: Readonly<Record<Purpose, KeyFormat>> = {
  32: 'bip32',
  44: 'bip44',
  49: 'bip49',
  84: 'bip84',
  86: 'bip86'
}

/** The derivation path of an account key. BIP-44 and its heirs: m/purpose'/coin'/0'; old wallets: m/0. */
export const accountPathOf = (purpose: Purpose, coinType: number): string =>
  purpose === 32 ? 'm/0' : `m/${purpose}'/${coinType}'/0'`

/** Checks if text from outside names a format. */
const isKeyFormat = (text: unknown): text is KeyFormat =>
  typeof text === 'string' && Object.hasOwn(branchesOf, text)
