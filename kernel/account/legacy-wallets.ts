import { parseJson } from '../base/json.ts'
import { makeYielder } from '../base/yielder.ts'
import { walletIdOf } from '../keys/ids.ts'
import { hideWalletInfo } from '../keys/wallet-info.ts'
import type { Services } from '../plugins/services.ts'
import { type LegacyWalletFile, parseLegacyWalletFile } from '../schema/account-files.ts'
import type { Repo } from '../sync/repo.ts'
import type { SecretWalletInfo } from '../types/keys.ts'
import type { StoredWalletStates } from './wallet-states.ts'

/** A wallet that only a file of an old account repo names, and what the file says of its place. */
export interface LegacyWallet {
  readonly info: SecretWalletInfo
  readonly states: StoredWalletStates
}

/** The folder of the account's repo that the first clients kept their wallets in. */
export const LEGACY_FOLDER = 'Wallets'

/**
 * Reads the wallets of the first clients, all of them Bitcoin (protocol §3.4). The files are only ever read.
 *
 * A file that cannot be read is left as it is and handed to `report`.
 */
export const readLegacyWallets = async (
  { io, config, report }: Pick<Services, 'io' | 'config' | 'report'>,
  repo: Repo
): Promise<LegacyWallet[]> => {
  const wallets: LegacyWallet[] = []
  const breathe = makeYielder(io.clock)
  for (const path of await repo.list(LEGACY_FOLDER)) {
    try {
      const text = await repo.getText(path)
      if (text === undefined) continue
      wallets.push(
        legacyWalletOf(io, parseLegacyWalletFile(parseJson(text, 'legacy wallet file')), config.appId)
      )
    } catch (error) {
      report('account', error)
    }
    await breathe()
  }
  return wallets
}

const TYPE = 'wallet:bitcoin'

const legacyWalletOf = (
  { crypto }: Pick<Services['io'], 'crypto'>,
  file: LegacyWalletFile,
  appId: string
): LegacyWallet => {
  const { toBase64, fromHex } = crypto
  const dataKey = fromHex(file.MK)
  const id = walletIdOf({ crypto }, TYPE, dataKey)
  const keys = {
    dataKey: toBase64(dataKey),
    syncKey: toBase64(fromHex(file.SyncKey)),
    bitcoinKey: toBase64(fromHex(file.BitcoinSeed)),
    format: 'bip32'
  }
  dataKey.fill(0)
  return {
    info: hideWalletInfo({ id, type: TYPE, keys }, appId),
    states: { archived: file.Archived ?? false, sortIndex: file.SortIndex ?? 0 }
  }
}
