import type { WalletInfo, WalletKeys } from '../types/keys.ts'

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

/** The type that plugins know a wallet by. */
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
