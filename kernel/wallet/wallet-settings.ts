import { WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { JsonFile } from '../sync/json-file.ts'
import { fiatCodeOfNumber } from './fiat-numbers.ts'
import type { WalletParts } from './wallet-place.ts'

/** The name and fiat currency of a wallet, as its repo has them. */
export interface WalletSettings {
  /** Null for a wallet without a name; undefined where no file says whether it has one. */
  readonly name: string | null | undefined
  /** Such as `iso:USD`, the default (specification §9). */
  readonly fiatCurrencyCode: string
}

/** The files of the name and of the fiat currency. */
export const NAME_PATH = 'WalletName.json'
export const FIAT_PATH = 'Currency.json'
/** The fiat currency of a wallet that names none (specification §9). */
export const DEFAULT_FIAT = 'iso:USD'

/** The files that {@link readWalletSettings} reads. */
export const WALLET_SETTINGS_PATHS: readonly string[] = [NAME_PATH, FIAT_PATH]

/** Where the files of a wallet are, and who hears of those that cannot be read. */
export type WalletFiles = Pick<WalletParts, 'repo' | 'disk' | 'clock' | 'report'>

/** One JSON file of a wallet. */
export const jsonFileOf = ({ repo, disk, clock, report }: WalletFiles, path: string): JsonFile =>
  new JsonFile({ repo, disk, clock, report, path })

/**
 * Reads name and fiat code; a file that cannot be read is kept, reported, and counts as missing.
 *
 * @see protocol §3.5
 */
export const readWalletSettings = async (files: WalletFiles): Promise<WalletSettings> => {
  const read = async (path: string): Promise<JsonObject> => (await jsonFileOf(files, path).read()) ?? {}
  const { walletName } = await read(NAME_PATH)
  const { fiat, num } = await read(FIAT_PATH)
  const code = typeof num === 'number' ? fiatCodeOfNumber(num) : undefined
  return {
    name: typeof walletName === 'string' || walletName === null ? walletName : undefined,
    fiatCurrencyCode: typeof fiat === 'string' && fiat.startsWith('iso:') ? fiat : (code ?? DEFAULT_FIAT)
  }
}

/** Writes the name of a wallet, or that it has none. */
export const writeWalletName = (files: WalletFiles, walletName: string | null): Promise<void> =>
  jsonFileOf(files, NAME_PATH).edit(() => [{ path: ['walletName'], value: walletName }])

/** Checks a fiat currency that somebody chose. @throws FIAT_CODE unless it is `iso:` and three capitals */
export const checkFiatCode = (fiat: string): void => {
  if (!/^iso:[A-Z]{3}$/.test(fiat)) throw new WalletError('FIAT_CODE', {})
}

/** Writes the fiat currency of a wallet; the number that older clients wrote goes. @throws FIAT_CODE */
export const writeFiatCode = async (files: WalletFiles, fiat: string): Promise<void> => {
  checkFiatCode(fiat)
  await jsonFileOf(files, FIAT_PATH).edit(() => [
    { path: ['fiat'], value: fiat },
    { path: ['num'], value: undefined }
  ])
}
