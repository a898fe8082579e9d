import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import { utf8Of } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import type { LegacyWalletFile } from '../schema/account-files.ts'
import type { WalletInfo, WalletKeys } from '../types/keys.ts'
import { walletIdOf } from './ids.ts'

/**
 * Gives a wallet of an old type the type that plugins know, and says in its keys what the old name said (protocol §5.2).
 *
 * Keys that are there win. A type that needs nothing gives the same object. Ids stay: they follow from the old type.
 */
export const fixWalletType = <Info extends Pick<WalletInfo, 'type' | 'keys'>>(info: Info): Info => {
  const defaults = LEGACY_TYPES.get(info.type)
  if (defaults === undefined) return info
  const type = fixedTypeOf(info.type)
  const isComplete = Object.keys(defaults).every(name => Object.hasOwn(info.keys, name))
  return type === info.type && isComplete ? info : { ...info, type, keys: { ...defaults, ...info.keys } }
}

/** Gives the type that plugins know a wallet by. */
export const fixedTypeOf = (type: string): string =>
  LEGACY_TYPES.has(type) ? type.replace(/-bip\d\d/, '') : type

/** The format and the coin type of BIP-44 that an old type stands for (specification §9). */
const LEGACY_TYPES: ReadonlyMap<string, WalletKeys> = new Map([
  ['wallet:bitcoin', { format: 'bip32' }],
  ['wallet:bitcoin-bip44', { format: 'bip44', coinType: 0 }],
  ['wallet:bitcoin-bip49', { format: 'bip49', coinType: 0 }],
  ['wallet:bitcoin-testnet', { format: 'bip32' }],
  ['wallet:bitcoin-bip44-testnet', { format: 'bip44', coinType: 1 }],
  ['wallet:bitcoin-bip49-testnet', { format: 'bip49', coinType: 1 }],
  ['wallet:bitcoincash-bip32', { format: 'bip32' }],
  ['wallet:bitcoincash-bip44', { format: 'bip44', coinType: 145 }],
  ['wallet:bitcoincash-testnet', { format: 'bip32' }],
  ['wallet:bitcoincash-bip44-testnet', { format: 'bip44', coinType: 1 }],
  ['wallet:dash-bip44', { format: 'bip44', coinType: 5 }],
  ['wallet:dogecoin-bip44', { format: 'bip44', coinType: 3 }],
  ['wallet:feathercoin-bip44', { format: 'bip44', coinType: 8 }],
  ['wallet:feathercoin-bip49', { format: 'bip49', coinType: 8 }],
  ['wallet:litecoin', { format: 'bip32', coinType: 2 }],
  ['wallet:litecoin-bip44', { format: 'bip44', coinType: 2 }],
  ['wallet:litecoin-bip49', { format: 'bip49', coinType: 2 }],
  ['wallet:qtum-bip44', { format: 'bip44', coinType: 2301 }],
  ['wallet:ufo-bip49', { format: 'bip49', coinType: 202 }],
  ['wallet:ufo-bip84', { format: 'bip84', coinType: 202 }],
  ['wallet:zcoin', { format: 'bip32', coinType: 136 }],
  ['wallet:zcoin-bip44', { format: 'bip44', coinType: 136 }]
])

/**
 * Gives the same keys as a wallet of another currency that shares its chain's past (protocol §5.3).
 *
 * Id and sync key change by a mask that follows from the data key and the two types, so that a split has one result
 * wherever it is made, and splitting back gives the first wallet. All other keys stay; the network's own is renamed.
 *
 * @throws KEY_INTEGRITY if the wallet has no data key or no sync key
 */
export const splitWalletInfo = (io: Pick<Io, 'crypto'>, info: WalletInfo, type: string): WalletInfo => {
  const { toBase64, fromBase64, hmacSha256 } = io.crypto
  const { id, keys } = info
  const { dataKey, syncKey, [keyNameOf(info.type)]: networkKey, ...rest } = keys
  if (typeof dataKey !== 'string' || typeof syncKey !== 'string')
    throw new WalletError('KEY_INTEGRITY', { rule: 'a wallet without a repo cannot be split' })
  const key = fromBase64(dataKey)
  const mask = xor(hmacSha256(key, utf8Of(info.type)), hmacSha256(key, utf8Of(type)))
  key.fill(0)
  return {
    id: toBase64(xor(fromBase64(id), mask)),
    type,
    keys: {
      ...rest,
      dataKey,
      syncKey: toBase64(xor(fromBase64(syncKey), mask)),
      ...compact({ [keyNameOf(type)]: networkKey })
    }
  }
}

/** The field that has the network's own key: `wallet:lab-cash` has `labcashKey`. */
const keyNameOf = (type: string): string => `${type.replace('wallet:', '').replace('-', '')}Key`

const xor = (bytes: Uint8Array, mask: Uint8Array): Uint8Array =>
  bytes.map((byte, at) => byte ^ (mask[at] ?? 0))

/** Returns true for a split of Bitcoin into Bitcoin Cash whose keys have no addresses there. */
export const isSegwitSplit = ({ type, keys }: WalletInfo, newType: string): boolean =>
  type === 'wallet:bitcoin' && newType === 'wallet:bitcoincash' && SEGWIT_FORMATS.includes(keys.format)

const SEGWIT_FORMATS: readonly unknown[] = ['bip49', 'bip84', 'bip86']

/** Returns true if payments on the new chain would be valid on the old one, and the reverse (protocol §5.3). */
export const needsReplayProtection = (type: string, newType: string): boolean =>
  type === 'wallet:bitcoincash' && newType === 'wallet:bitcoinsv'

/** Makes the identity of a wallet that a file of the first clients describes, all of them Bitcoin (protocol §3.4). */
export const legacyWalletInfo = ({ crypto }: Pick<Io, 'crypto'>, file: LegacyWalletFile): WalletInfo => {
  const { toBase64, fromHex } = crypto
  const type = 'wallet:bitcoin'
  const dataKey = fromHex(file.MK)
  const id = walletIdOf({ crypto }, type, dataKey)
  const keys = {
    dataKey: toBase64(dataKey),
    syncKey: toBase64(fromHex(file.SyncKey)),
    bitcoinKey: toBase64(fromHex(file.BitcoinSeed)),
    format: 'bip32'
  }
  dataKey.fill(0)
  return { id, type, keys }
}

/** The types that the repos of the root app had in old accounts (protocol §8 row 30). */
export const OLD_ACCOUNT_REPO_TYPES: readonly string[] = ['account:repo:co.airbitz.wallet', '']
