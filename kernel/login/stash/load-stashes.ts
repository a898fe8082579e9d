import { isWalletError, WalletError } from '../../base/errors.ts'
import { stashPathOf } from '../../keys/wallet-id.ts'
import type { Services } from '../../plugins/services.ts'
import type { DoubledFiles } from '../../sync/credential-files.ts'
import type { LoginStash } from '../../types/login.ts'
import { parseStashFile } from './stash-file.ts'

/** A login as the disk has it, and every file that holds it: old clients named files otherwise. */
export interface FoundStash {
  readonly saved: LoginStash
  readonly paths: ReadonlySet<string>
}

/** What `logins/` holds: the logins, last used first, and the texts that are none, by path. */
export interface StashFolder {
  readonly found: readonly FoundStash[]
  readonly unreadable: ReadonlyMap<string, string>
}

/**
 * Reads `logins/`. A file that cannot be read is reported and left as it is (protocol §3.2).
 *
 * @throws STORAGE_FAILED
 */
export const loadStashes = async (
  port: Pick<Services, 'io' | 'report'>,
  files: DoubledFiles
): Promise<StashFolder> => {
  const found = new Map<string, FoundStash>()
  const unreadable = new Map<string, string>()
  for (const path of await files.list('logins')) {
    if (!path.endsWith('.json')) continue
    const text = await textOf(port, files, path)
    if (text === undefined) continue
    try {
      const stash = parseStashFile(port.io, text)
      found.set(stash.loginId, choose(port, { path, stash, known: found.get(stash.loginId) }))
    } catch (error) {
      unreadable.set(path, text)
      const rule = isWalletError(error) ? error.message : 'it is no login stash'
      port.report('logins', new WalletError('CORRUPT_FILE', { path, rule }, error))
    }
  }
  return { found: [...found.values()].sort(byLastLogin), unreadable }
}

const textOf = async (
  port: Pick<Services, 'report'>,
  files: DoubledFiles,
  path: string
): Promise<string | undefined> => {
  try {
    return await files.getText(path)
  } catch (error) {
    if (!isWalletError(error, 'CORRUPT_FILE')) throw error
    port.report('logins', error)
    return undefined
  }
}

interface Candidate {
  readonly path: string
  readonly stash: LoginStash
  readonly known: FoundStash | undefined
}

/** Of several files with one login, the one under the name that every client writes today is the newest. */
const choose = ({ io }: Pick<Services, 'io'>, { path, stash, known }: Candidate): FoundStash => {
  if (known === undefined) return { saved: stash, paths: new Set([path]) }
  const canonical = stashPathOf(io.crypto.fromBase64(stash.loginId))
  const isNewer = !known.paths.has(canonical) && (path === canonical || timeOf(stash) > timeOf(known.saved))
  return { saved: isNewer ? stash : known.saved, paths: new Set([...known.paths, path]) }
}

const byLastLogin = (left: FoundStash, right: FoundStash): number => timeOf(right.saved) - timeOf(left.saved)

const timeOf = ({ lastLogin }: LoginStash): number => (lastLogin === undefined ? 0 : Date.parse(lastLogin))
