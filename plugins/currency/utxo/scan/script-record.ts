import type { Program } from '../address/script.ts'
import type { Branch } from '../keys/branches.ts'

/** One script of the wallet and what is known of it; the scan and the ledger keep it current. */
export interface ScriptRecord {
  readonly branch: Branch
  readonly index: number
  readonly program: Program
  readonly script: Uint8Array
  /** Electrum's name of the script: reversed SHA-256, hex. */
  readonly scripthash: string
  /** Live and dropped transactions that touch it. */
  readonly txids: Set<string>
  /** The status whose history is in the ledger; null: never used. */
  status: string | null
  /** The status the server told last; undefined: not asked yet. */
  serverStatus: string | null | undefined
  /** How often the server has told of it unasked. */
  pushes: number
  /** How often it had when the history in the ledger was asked for. */
  pushesSeen: number
  /** The connection under which it is subscribed. */
  generation: number
  /** The user gave it away as used. */
  isMarked: boolean
}

/**
 * True if its history has to be asked for. A push counts also if its status is the known one: a history that was asked
 * for before a block and answered after it is younger than its status, and a reorg brings that status back.
 */
export const isDirty = ({ serverStatus, status, pushes, pushesSeen }: ScriptRecord): boolean =>
  serverStatus !== undefined && (serverStatus !== status || pushes !== pushesSeen)

/** True if money has moved here or the user said so; such an address is not offered again. */
export const isUsed = (record: ScriptRecord): boolean =>
  record.isMarked || record.status !== null || record.txids.size > 0
