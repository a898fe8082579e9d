import type { Schema } from 'yup'
import { leaf, objectOf, optional, optionalFinite, parse } from './shape.ts'

/** A wallet of the first clients, as a file of the account's repo holds it (protocol §3.4 `Wallets/`). */
export interface LegacyWalletFile {
  readonly SortIndex: number | undefined
  readonly Archived: boolean | undefined
  /** Base16, like the other two. */
  readonly BitcoinSeed: string
  /** The data key. */
  readonly MK: string
  readonly SyncKey: string
}

/** Checks a legacy wallet file. @throws BAD_REPLY */
export const parseLegacyWalletFile = (value: unknown): LegacyWalletFile =>
  parse(asLegacyWalletFile, value, 'legacy wallet file')

const isHex = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:[0-9a-fA-F]{2}){1,1000}$/.test(value)

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'

const asLegacyWalletFile: Schema<LegacyWalletFile> = objectOf<LegacyWalletFile>({
  SortIndex: optionalFinite(),
  Archived: optional('true or false', isBoolean),
  BitcoinSeed: leaf('hex', isHex),
  MK: leaf('hex', isHex),
  SyncKey: leaf('hex', isHex)
})
