import { WalletError } from '../../errors/wallet-error.ts'
import { parseJson } from '../../schema/parse.ts'
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
  /** The text of a file, or undefined if there is none. */
  getText(path: string): Promise<string | undefined>
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
   * The hash of the transaction that a file is about; undefined for what is no transaction file, or is not readable.
   *
   * The name tells it. One of the oldest form says nothing in its name, so it is opened.
   */
  async hashOf(path: string): Promise<string | undefined> {
    const name = parseTransactionFilePath(path)
    if (name !== undefined) return name.txidHash
    if (!isLegacy(path)) return undefined
    const [found] = await this.readSome([path])
    return found === undefined ? undefined : this.#place.hashOf(found.file.txid)
  }

  /** What the files of one transaction say together; those that cannot be read are reported. */
  async merged(paths: readonly string[]): Promise<TransactionFile | undefined> {
    return mergeFiles(await this.readSome(paths), this.#place.legacy().currencyCode)
  }

  /** The files that can be read; the others are reported. */
  async readSome(paths: readonly string[]): Promise<PlacedFile[]> {
    const found: PlacedFile[] = []
    for (const path of paths) {
      try {
        const file = await this.#read(path)
        if (file !== undefined) found.push(file)
      } catch (error) {
        this.#place.report(error)
      }
    }
    return found
  }

  /** The files of one transaction. @throws CORRUPT_FILE if one cannot be read */
  async readAll(paths: readonly string[]): Promise<PlacedFile[]> {
    const found = await Promise.all(paths.map(path => this.#read(path)))
    return found.filter(file => file !== undefined)
  }

  async #read(path: string): Promise<PlacedFile | undefined> {
    const text = await this.#place.getText(path)
    if (text === undefined) return undefined
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

const isLegacy = (path: string): boolean => path.startsWith(`${LEGACY_FOLDER}/`)
