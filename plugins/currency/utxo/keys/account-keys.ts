import { HDKey } from '@scure/bip32'
import {
  type CryptoPort,
  type JsonObject,
  WalletError,
  type WalletKeys
} from '../../../../kernel/plugin-api.ts'
import type { CoinRow, KeyFormat, NetworkRow } from '../params/coin-row.ts'
import { accountPathOf, formatOf, isKeyFormat, mainPurposeOf, type Purpose, purposesOf } from './branches.ts'
import { coinTypeFrom, formatFrom, seedOf } from './seed.ts'

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
  const xpubs: Record<string, string> = {}
  if (typeof text === 'string' && isExtendedPrivate(text)) {
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

/** The account keys with private parts, for one signature. The caller wipes them. */
export const privateAccountOf = (
  coin: CoinRow,
  network: NetworkRow,
  secret: { readonly keys: WalletKeys; readonly crypto: CryptoPort; readonly purpose: Purpose }
): HDKey => {
  const { keys, crypto, purpose } = secret
  const text = keys[coin.keyName]
  if (typeof text === 'string' && isExtendedPrivate(text)) {
    return accountFromText(network, formatFrom(coin, keys), text)
  }
  const { seed, coinType } = seedOf(coin, network, keys, crypto)
  const root = HDKey.fromMasterSeed(seed)
  const account = root.derive(accountPathOf(purpose, coinType))
  root.wipePrivateData()
  seed.fill(0)
  return account
}

/** Tells an extended private key (xprv, yprv, zprv, the test forms, and Ltpv and Mtpv of Litecoin) from words. */
export const isExtendedPrivate = (text: string): boolean =>
  /^(?:[a-zA-Z]prv|[LM]tpv)[1-9A-HJ-NP-Za-km-z]{100,112}$/.test(text)

/** An imported account-level private key. @throws KEY_INTEGRITY if it is damaged or of another network */
export const accountFromText = (network: NetworkRow, format: KeyFormat, text: string): HDKey => {
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

const ownPurposeOf = (format: KeyFormat): Purpose => Number(format.slice(3)) as Purpose

const withVersions = (account: HDKey, network: NetworkRow, purpose: Purpose): HDKey =>
  new HDKey({
    versions: network.xkeys[formatOf[purpose]],
    depth: account.depth,
    index: account.index,
    parentFingerprint: account.parentFingerprint,
    chainCode: account.chainCode ?? new Uint8Array(32),
    publicKey: account.publicKey ?? new Uint8Array(33)
  })
