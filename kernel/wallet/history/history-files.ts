import { WalletError } from '../../base/errors.ts'
import { parseJson } from '../../base/json.ts'
import { LEGACY_FOLDER, type LegacyPlace, parseLegacyFile } from './legacy-file.ts'
import { type FoundFile, mergeFiles } from './merge-files.ts'
import {
  parseTransactionFile,
  parseTransactionFilePath,
  type TransactionFile,
  transactionFileJson
} from './transaction-file.ts'

/** Where the transaction files of a wallet are. */
export interface FilesPlace {
  /** The texts of files, one for each path; undefined where there is none, or none that opens. */
  getTexts(paths: readonly string[]): Promise<(string | undefined)[]>
  /** The wallet's file-name hash. */
  hashOf(text: string): string
  legacy(): LegacyPlace
  /** A file that cannot be read; it is kept. */
  report(error: unknown): void
}

/** A file of a transaction, with its path. */
export interface PlacedFile extends FoundFile {
  readonly path: string
}

/** Reads the synced files of transactions, of the present form and of the oldest. */
export class HistoryFiles {
  readonly #place: FilesPlace

  constructor(place: FilesPlace) {
    this.#place = place
  }

  /**
   * The hashes of the transactions that files are about, one for each path; undefined for what is no transaction file,
   * or cannot be read.
   *
   * The name tells it. One of the oldest form says nothing in its name, so it is opened.
   */
  async hashesOf(paths: readonly string[]): Promise<(string | undefined)[]> {
    const legacy = paths.filter(isLegacy)
    const txids = new Map((await this.#readSome(legacy)).map(({ path, file }) => [path, file.txid]))
    return paths.map(path => {
      const txid = txids.get(path)
      return txid === undefined ? parseTransactionFilePath(path)?.txidHash : this.#place.hashOf(txid)
    })
  }

  /** What the files of transactions say together, for many at once; those that cannot be read are reported. */
  async mergeAll(transactions: readonly (readonly string[])[]): Promise<(TransactionFile | undefined)[]> {
    const { currencyCode } = this.#place.legacy()
    const found = new Map((await this.#readSome(transactions.flat())).map(file => [file.path, file]))
    return transactions.map(paths => {
      const files = paths.map(path => found.get(path)).filter(file => file !== undefined)
      return mergeFiles(files, currencyCode)
    })
  }

  /** The files of these texts; undefined ones are left out. @throws CORRUPT_FILE if one cannot be read */
  parse(paths: readonly string[], texts: readonly (string | undefined)[]): PlacedFile[] {
    return paths.flatMap((path, index) => {
      const text = texts[index]
      return text === undefined ? [] : [this.#parseOne(path, text)]
    })
  }

  async #readSome(paths: readonly string[]): Promise<PlacedFile[]> {
    const found: PlacedFile[] = []
    const texts = paths.length === 0 ? [] : await this.#place.getTexts(paths)
    for (const [index, path] of paths.entries()) {
      try {
        found.push(...this.parse([path], [texts[index]]))
      } catch (error) {
        this.#place.report(error)
      }
    }
    return found
  }

  #parseOne(path: string, text: string): PlacedFile {
    try {
      const value = parseJson(text, 'transaction file')
      if (isLegacy(path)) {
        const file = parseLegacyFile(value, this.#place.legacy())
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

/** Tells whether a path is that of a file of the oldest form. */
export const isLegacy = (path: string): boolean => path.startsWith(`${LEGACY_FOLDER}/`)
