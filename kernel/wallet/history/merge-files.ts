import type { Metadata } from '../../types/transaction.ts'
import type { AssetRecord, TransactionFile } from './transaction-file.ts'

/** One of the files of a transaction. */
export interface FoundFile {
  /** Whole seconds, as in its name. */
  readonly date: number
  /** Of the oldest form, which is never written again. */
  readonly isLegacy: boolean
  readonly file: TransactionFile
}

/**
 * What the files of one transaction say together; undefined without a file (pure).
 *
 * Two devices that see a payment at once write a file each. The oldest wins, as in the deployed system; what it does
 * not say is taken from the next, so that a note in either of them is kept. A legacy file counts only
 * while no newer form that was made of it is as old: it stays as it is when its transaction is edited.
 *
 * @param currencyCode - of the chain's own coin, whose entry then stands among `tokens`
 * @see protocol §3.5
 */
export const mergeFiles = (
  files: readonly FoundFile[],
  currencyCode: string
): TransactionFile | undefined => {
  const [oldest, ...others] = filesThatCount(files).map(({ file }) => inNewForm(file, currencyCode))
  return oldest === undefined ? undefined : others.reduce(fill, oldest)
}

/** The files of one transaction that say something, the one that wins first (pure). */
export const filesThatCount = <F extends FoundFile>(files: readonly F[]): F[] => {
  const sorted = [...files].sort((a, b) => a.date - b.date || Number(a.isLegacy) - Number(b.isLegacy))
  const firstNew = sorted.findIndex(({ isLegacy, file }) => !isLegacy && isMadeOfLegacy(file))
  return sorted.filter(({ isLegacy }, index) => !isLegacy || firstNew < 0 || index < firstNew)
}

/**
 * Every file of the oldest form names a provider fee, and one that was made of it does too. A client that notes
 * something without reading the old file, as version 2.48.1 of the published core does, leaves it out.
 */
const isMadeOfLegacy = ({ currencies, tokens }: TransactionFile): boolean =>
  [...currencies.values(), ...tokens.values()].some(({ providerFeeSent }) => providerFeeSent !== undefined)

const inNewForm = (file: TransactionFile, currencyCode: string): TransactionFile => {
  const asset = file.currencies.get(currencyCode)
  if (asset === undefined) return file
  const currencies = new Map(file.currencies)
  currencies.delete(currencyCode)
  return { ...file, currencies, tokens: new Map([['', asset], ...file.tokens]) }
}

const fill = (kept: TransactionFile, other: TransactionFile): TransactionFile => ({
  ...other,
  ...kept,
  currencies: fillAssets(kept.currencies, other.currencies),
  tokens: fillAssets(kept.tokens, other.tokens),
  unknown: new Map([...other.unknown, ...kept.unknown])
})

const fillAssets = (
  kept: ReadonlyMap<string, AssetRecord>,
  other: ReadonlyMap<string, AssetRecord>
): ReadonlyMap<string, AssetRecord> => {
  const assets = new Map(kept)
  for (const [key, asset] of other) {
    const known = kept.get(key)
    assets.set(
      key,
      known === undefined
        ? asset
        : { ...asset, ...known, metadata: fillMetadata(known.metadata, asset.metadata) }
    )
  }
  return assets
}

const fillMetadata = (kept: Metadata, other: Metadata): Metadata => {
  const exchangeAmount = { ...other.exchangeAmount, ...kept.exchangeAmount }
  const merged = { ...other, ...kept }
  return Object.keys(exchangeAmount).length === 0 ? merged : { ...merged, exchangeAmount }
}
