import type { KeyFormat } from '../params/coin-row.ts'

/** The path family of a script; BIP number, and 32 for the old m/0/0/i wallets. */
export type Purpose = 32 | 44 | 49 | 84 | 86

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
export const formatOf: Readonly<Record<Purpose, KeyFormat>> = {
  32: 'bip32',
  44: 'bip44',
  49: 'bip49',
  84: 'bip84',
  86: 'bip86'
}

/** The derivation path of an account key. BIP-44 and its heirs: m/purpose'/coin'/0'; old wallets: m/0. */
export const accountPathOf = (purpose: Purpose, coinType: number): string =>
  purpose === 32 ? 'm/0' : `m/${purpose}'/${coinType}'/0'`

/** Tells whether text from outside names a format. */
export const isKeyFormat = (text: unknown): text is KeyFormat =>
  typeof text === 'string' && Object.hasOwn(branchesOf, text)
