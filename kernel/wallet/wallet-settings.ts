import { WalletError } from '../errors/wallet-error.ts'
import type { Repo } from '../repo/repo.ts'
import { isRecord } from '../schema/fields.ts'
import { parseJson } from '../schema/parse.ts'

/** The name and fiat currency of a wallet, as its repo has them. */
export interface WalletSettings {
  readonly name: string | null
  /** Such as `iso:USD`, the default (specification §9). */
  readonly fiatCurrencyCode: string
}

const NAME_PATH = 'WalletName.json'
const FIAT_PATH = 'Currency.json'
/** The fiat currency of a wallet that names none (specification §9). */
export const DEFAULT_FIAT = 'iso:USD'

/** The files that {@link readWalletSettings} reads. */
export const WALLET_SETTINGS_PATHS: readonly string[] = [NAME_PATH, FIAT_PATH]

/**
 * Reads name and fiat code; a file that cannot be read is kept, handed to `report`, and counts as missing.
 *
 * @see protocol §3.5
 */
export const readWalletSettings = async (
  repo: Repo,
  report: (error: unknown) => void
): Promise<WalletSettings> => {
  const read = async (path: string): Promise<Record<string, unknown>> => {
    try {
      const text = await repo.getText(path)
      const value = text === undefined ? {} : parseJson(text, path)
      return isRecord(value) ? value : {}
    } catch (error) {
      report(error)
      return {}
    }
  }
  const { walletName } = await read(NAME_PATH)
  const { fiat } = await read(FIAT_PATH)
  return {
    name: typeof walletName === 'string' ? walletName : null,
    fiatCurrencyCode: typeof fiat === 'string' && fiat.startsWith('iso:') ? fiat : DEFAULT_FIAT
  }
}

/** Writes the name of a wallet. */
export const writeWalletName = (repo: Repo, walletName: string): Promise<void> =>
  repo.setText(NAME_PATH, JSON.stringify({ walletName }))

/** Checks a fiat currency that somebody chose. @throws FIAT_CODE unless it is `iso:` and three capitals */
export const checkFiatCode = (fiat: string): void => {
  if (!/^iso:[A-Z]{3}$/.test(fiat)) throw new WalletError('FIAT_CODE', {})
}

/** Writes the fiat currency of a wallet. @throws FIAT_CODE */
export const writeFiatCode = async (repo: Repo, fiat: string): Promise<void> => {
  checkFiatCode(fiat)
  await repo.setText(FIAT_PATH, JSON.stringify({ fiat }))
}
