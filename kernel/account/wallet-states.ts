import type { Repo } from '../repo/repo.ts'
import { isRecord } from '../schema/fields.ts'
import { parseJson } from '../schema/parse.ts'
import type { WalletStates } from '../types/keys.ts'

/** What an account's repo says of one wallet; absent fields have their defaults elsewhere. */
export type StoredWalletStates = Partial<WalletStates>

/**
 * Reads what the account remembers of its wallets, by wallet id (protocol §3.4 `Keys/`).
 *
 * A file that cannot be read is kept and handed to `report`.
 */
export const readWalletStates = async (
  repo: Repo,
  report: (error: unknown) => void
): Promise<ReadonlyMap<string, StoredWalletStates>> => {
  const states = new Map<string, StoredWalletStates>()
  for (const path of await repo.list('Keys')) {
    try {
      const text = await repo.getText(path)
      if (text === undefined) continue
      const value = parseJson(text, 'wallet states')
      if (!isRecord(value) || typeof value.id !== 'string')
        throw new TypeError('A wallet states file has no id')
      states.set(value.id, statesOf(value))
    } catch (error) {
      report(error)
    }
  }
  return states
}

const statesOf = (value: Record<string, unknown>): StoredWalletStates => ({
  ...(typeof value.archived === 'boolean' ? { archived: value.archived } : {}),
  ...(typeof value.deleted === 'boolean' ? { deleted: value.deleted } : {}),
  ...(typeof value.hidden === 'boolean' ? { hidden: value.hidden } : {}),
  ...(typeof value.sortIndex === 'number' ? { sortIndex: value.sortIndex } : {}),
  ...(typeof value.migratedFromWalletId === 'string'
    ? { migratedFromWalletId: value.migratedFromWalletId }
    : {})
})
