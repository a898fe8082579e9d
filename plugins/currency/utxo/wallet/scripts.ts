import type { HDKey } from '@scure/bip32'
import type { Clock, Txid } from '../../../../kernel/plugin-api.ts'
import { type Program, programOf, scriptTypeOf, writeScript } from '../chain/address.ts'
import { hexOf, scriptHashOf } from '../chain/transaction.ts'
import { branchNodeOf, childKeys, type PublicNode } from '../keys/child-keys.ts'
import { type AccountKeys, type Branch, branchesOf, mainPurposeOf } from '../keys/keys.ts'
import type { Purpose } from '../params/coin.ts'

/** The scripts of one branch, from index 0 without holes. */
export class BranchScripts {
  readonly branch: Branch
  readonly records: ScriptRecord[] = []
  /** Watch at least this many, whatever the gap limit says. */
  minimum = 0
  readonly #account: HDKey
  #node: PublicNode | undefined

  constructor(branch: Branch, account: HDKey) {
    this.branch = branch
    this.#account = account
  }

  /** What its keys are derived from; a wallet whose scripts are all known needs it late or never. */
  get node(): PublicNode {
    this.#node ??= branchNodeOf(this.#account, this.branch.change)
    return this.#node
  }
}

/**
 * All scripts a wallet watches, by branch, script and Electrum name.
 *
 * Grows only; every script in it is derived from the wallet's own account keys.
 */
export class ScriptTable {
  readonly branches: readonly BranchScripts[]
  readonly #gapLimit: number
  readonly #mainPurpose: Purpose
  readonly #byScript = new Map<string, ScriptRecord>()
  readonly #byHash = new Map<string, ScriptRecord>()

  constructor(keys: AccountKeys, gapLimit: number) {
    this.#gapLimit = gapLimit
    const main = mainPurposeOf[keys.format]
    this.#mainPurpose = keys.accounts.has(main) ? main : ([...keys.accounts.keys()][0] as Purpose)
    this.branches = branchesOf[keys.format].flatMap(branch => {
      const account = keys.accounts.get(branch.purpose)
      if (account === undefined) return []
      return [new BranchScripts(branch, account)]
    })
  }

  get size(): number {
    return this.#byHash.size
  }

  /** How many scripts have to be watched. */
  get wanted(): number {
    return this.branches.reduce((count, scripts) => count + this.wantedOf(scripts), 0)
  }

  findScript(script: Uint8Array): ScriptRecord | undefined {
    return script.length > LONGEST ? undefined : this.#byScript.get(keyOf(script))
  }

  findHash(scripthash: string): ScriptRecord | undefined {
    return this.#byHash.get(scripthash)
  }

  records(): Iterable<ScriptRecord> {
    return this.#byHash.values()
  }

  /** The branch that receives (0) or takes change (1); old wallets have one for both. */
  mainBranch(change: 0 | 1): BranchScripts {
    return this.branchOf(this.#mainPurpose, change) ?? (this.branches[0] as BranchScripts)
  }

  branchOf(purpose: Purpose, change: 0 | 1): BranchScripts | undefined {
    const ofPurpose = this.branches.filter(({ branch }) => branch.purpose === purpose)
    return ofPurpose.find(({ branch }) => branch.change === change) ?? ofPurpose[0]
  }

  branchById(id: string): BranchScripts | undefined {
    return this.branches.find(({ branch }) => branch.id === id)
  }

  /** How many scripts of a branch have to be watched: a gap of unused ones after the last that is used or said to be. */
  wantedOf({ records, minimum }: BranchScripts): number {
    const lastUsed = records.findLastIndex(isSaidUsed)
    return Math.max(lastUsed + 1 + this.#gapLimit, minimum)
  }

  /** How many times as long a branch is likely to be: 4 where most of its newest scripts are used, 2 where the last are, else 1. */
  densityOf({ records }: BranchScripts): 1 | 2 | 4 {
    const newest = records.slice(-this.#gapLimit)
    if (newest.filter(isSaidUsed).length * 2 >= newest.length) return 4
    return newest.slice(-3).some(isSaidUsed) ? 2 : 1
  }

  /** The first script that nobody has used, or undefined before enough are derived. */
  firstUnused({ records }: BranchScripts): ScriptRecord | undefined {
    return records.find(record => !isUsed(record))
  }

  /** The numbers of the scripts that are likely to be paid next: of each branch the last used one and the first unused. */
  likely(): readonly string[] {
    return this.branches.flatMap(scripts =>
      [scripts.records.findLast(isUsed), this.firstUnused(scripts)].flatMap(
        record => record?.scripthash ?? []
      )
    )
  }

  /** Derives until a branch has `count` scripts, in slices that let other work run. */
  async extend(scripts: BranchScripts, count: number, clock: Clock): Promise<void> {
    while (scripts.records.length < count) {
      const from = scripts.records.length
      const keys = childKeys(scripts.node, from, Math.min(BATCH, count - from))
      for (const key of keys) {
        if (key === undefined) throw new TypeError('A child key is invalid')
        this.add(scripts, programOf(scripts.branch.purpose, key)).generation = NEVER
      }
      await clock.turn()
    }
  }

  /** Appends one script by its program, which must be that of the next index. */
  add({ branch, records }: BranchScripts, data: Uint8Array): ScriptRecord {
    const record = new ScriptRecord(branch, records.length, data)
    records.push(record)
    this.#byScript.set(keyOf(record.script), record)
    this.#byHash.set(record.scripthash, record)
    return record
  }

  /** Derives one script again and compares it with the table; guards against a damaged cache. */
  isGenuine(record: ScriptRecord): boolean {
    const scripts = this.branchById(record.branch.id)
    const [key] = scripts === undefined ? [] : childKeys(scripts.node, record.index, 1)
    if (key === undefined) return false
    return hexOf(programOf(record.branch.purpose, key)) === hexOf(record.data)
  }
}

const BATCH = 32

/** The most bytes of a script that a wallet can have; others have scripts of any length. */
const LONGEST = 34

/** The bytes of a script as a string of as many letters, which a map finds and which takes little memory. */
const keyOf = (script: Uint8Array): string => String.fromCharCode(...script)

/**
 * One script of the wallet and what is known of it; the scan and the ledger keep it current. A wallet has a hundred and
 * more of them, most of them unused: what can be derived is not stored.
 */
export class ScriptRecord {
  readonly branch: Branch
  readonly index: number
  /** The hash or key that the script pays to. */
  readonly data: Uint8Array
  /** Electrum's name of the script: reversed SHA-256, hex. */
  readonly scripthash: string
  /** The status whose history is in the ledger; null: never used. */
  status: string | null = null
  /** The server's latest status; undefined: not asked yet. */
  serverStatus: string | null | undefined
  /** How often the server has pushed it. */
  pushes = 0
  /** How often it had when the history in the ledger was asked for. */
  pushesSeen = 0
  /** The connection under which it is subscribed; {@link NEVER} if it has been derived since, and nothing is known of it. */
  generation = 0
  /** The user gave it away as used. */
  isMarked = false
  #txids: Set<string> | undefined

  constructor(branch: Branch, index: number, data: Uint8Array) {
    this.branch = branch
    this.index = index
    // A copy, since the bytes may be a part of a larger buffer.
    this.data = Uint8Array.from(data)
    this.scripthash = scriptHashOf(this.script)
  }

  get program(): Program {
    return { type: scriptTypeOf[this.branch.purpose], data: this.data }
  }

  get script(): Uint8Array {
    return writeScript(this.program)
  }

  /** Live and dropped transactions that touch it. */
  get txids(): ReadonlySet<string> {
    return this.#txids ?? NONE
  }

  addTxid(txid: string): void {
    this.#txids ??= new Set()
    this.#txids.add(txid)
  }
}

const NONE: ReadonlySet<string> = new Set()

/** The number of no connection: under none, of no session, a script was subscribed. */
export const NEVER = -1

/** True if it is used, or if the server says so, whose history is still to come. */
const isSaidUsed = (record: ScriptRecord): boolean => isUsed(record) || (record.serverStatus ?? null) !== null

/**
 * True if its history has to be asked for. A push counts also if its status is the known one: a history that was asked
 * for before a block and answered after it is younger than its status, and a reorg brings that status back.
 */
export const isDirty = ({ serverStatus, status, pushes, pushesSeen }: ScriptRecord): boolean =>
  serverStatus !== undefined && (serverStatus !== status || pushes !== pushesSeen)

/** True if money has moved here or the user said so; such an address is not offered again. */
export const isUsed = (record: ScriptRecord): boolean =>
  record.isMarked || record.status !== null || record.txids.size > 0

/** Scripts that follow from one key: those of a branch of a wallet. */
export interface WatchedBranch {
  /** The address of the first script, which names the branch. */
  readonly first: string
  /** The descriptor of the scripts without a checksum, once for each version of extended keys that nodes may have. */
  readonly descriptors: readonly string[]
  /** How many scripts are watched. */
  readonly count: number
}

/** A block of the chain. */
export interface BlockCursor {
  readonly hash: string
  readonly height: number
}

/** All payments of a wallet up to a block, as it knew them when it was up to date last. */
export interface KeptHistory {
  readonly cursor: BlockCursor
  /** How many scripts of each branch, which the address of its first one names. */
  readonly counts: ReadonlyMap<string, number>
  /** Their heights are 0 or less for those that no block has. */
  payments(): Iterable<{ readonly txid: Txid; readonly height: number; readonly bytes: Uint8Array }>
}

/** The keys behind the scripts that are asked about: a node's wallet finds payments by descriptors. */
export interface ScriptSource {
  /** The place of a script that a wallet watches. */
  placeOf(scripthash: string): { readonly first: string; readonly index: number } | undefined
  /** The branches of all wallets. */
  branches(): readonly WatchedBranch[]
  /** The numbers of the scripts that are likely to be paid next: of each branch the last used one and the first unused. */
  likely(): readonly string[]
  /** What wallets knew, for a server whose payments are read by block. */
  kept?(): readonly KeptHistory[]
}
