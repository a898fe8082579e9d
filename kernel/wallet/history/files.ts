import { WalletError } from '../../base/errors.ts'
import { parseJson } from '../../base/json.ts'
import type { FileHash } from '../../types/ids.ts'
import type { Metadata } from '../../types/transaction.ts'
import {
  type AssetRecord,
  LEGACY_TRANSACTIONS,
  parseLegacyFile,
  parseTransactionFile,
  parseTransactionFilePath,
  type TransactionFile,
  transactionFileJson
} from './file-format.ts'
import type { HistoryOptions } from './view.ts'

/** A file of a transaction, with its path. */
export interface LocatedFile extends FoundFile {
  readonly path: string
}

/** Reads the synced files of transactions, of the present form and of the oldest. */
export class TransactionFiles {
  readonly #options: HistoryOptions

  constructor(options: HistoryOptions) {
    this.#options = options
  }

  /**
   * The hashes of the transactions that files are about, one for each path; undefined for what is no transaction file,
   * or cannot be read.
   *
   * The name contains the hash. The name of one of the oldest form does not, so that it is opened.
   */
  async hashesOf(paths: readonly string[]): Promise<(FileHash | undefined)[]> {
    const legacy = paths.filter(isLegacy)
    const txids = new Map((await this.#readSome(legacy)).map(({ path, file }) => [path, file.txid]))
    return paths.map(path => {
      const txid = txids.get(path)
      return txid === undefined ? parseTransactionFilePath(path)?.txidHash : this.#options.hashOf(txid)
    })
  }

  /** Merges the files of each of many transactions; those that cannot be read are reported. */
  async mergeAll(transactions: readonly (readonly string[])[]): Promise<(TransactionFile | undefined)[]> {
    const { currencyCode } = this.#options.info
    const found = new Map((await this.#readSome(transactions.flat())).map(file => [file.path, file]))
    return transactions.map(paths => {
      const files = paths.map(path => found.get(path)).filter(file => file !== undefined)
      return mergeFiles(files, currencyCode)
    })
  }

  /** The files of these texts; undefined ones are left out. @throws CORRUPT_FILE if one cannot be read */
  parse(paths: readonly string[], texts: readonly (string | undefined)[]): LocatedFile[] {
    return paths.flatMap((path, index) => {
      const text = texts[index]
      return text === undefined ? [] : [this.#parseOne(path, text)]
    })
  }

  async #readSome(paths: readonly string[]): Promise<LocatedFile[]> {
    const found: LocatedFile[] = []
    const texts = paths.length === 0 ? [] : await this.#options.repo.getTexts(paths)
    for (const [index, path] of paths.entries()) {
      try {
        found.push(...this.parse([path], [texts[index]]))
      } catch (error) {
        this.#options.report(error)
      }
    }
    return found
  }

  #parseOne(path: string, text: string): LocatedFile {
    try {
      const value = parseJson(text, 'transaction file')
      if (isLegacy(path)) {
        const { info, fiatCode } = this.#options
        const defaults = { currencyCode: info.currencyCode, fiatCode: fiatCode() }
        const file = parseLegacyFile(value, defaults)
        return { path, isLegacy: true, date: Math.floor(file.creationDate + 0.5), file }
      }
      const file = parseTransactionFile(value)
      const date = parseTransactionFilePath(path)?.creationDate ?? file.creationDate
      return { path, isLegacy: false, date, file }
    } catch (error) {
      throw new WalletError('CORRUPT_FILE', { path, rule: 'it is no transaction file' }, error)
    }
  }
}

/** The text of a transaction file. */
export const fileText = (file: TransactionFile): string => JSON.stringify(transactionFileJson(file))

/** Checks if a path is that of a file of the oldest form. */
export const isLegacy = (path: string): boolean => path.startsWith(`${LEGACY_TRANSACTIONS}/`)

/** One of the files of a transaction. */
export interface FoundFile {
  /** Whole seconds, as in its name. */
  readonly date: number
  /** Of the oldest form, which is never written again. */
  readonly isLegacy: boolean
  readonly file: TransactionFile
}

/**
 * Merges the files of one transaction; undefined without a file (pure).
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
