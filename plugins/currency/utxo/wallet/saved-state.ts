import type { CryptoPort, EngineStore, Grade, Io, Txid, Yielder } from '../../../../kernel/plugin-api.ts'
import { isTxHash, parseRawTx } from '../chain/transaction.ts'
import type { Ledger, LedgerTx } from './ledger.ts'
import type { BlockCursor, BranchScripts, ScriptRecord, ScriptTable } from './scripts.ts'

/** Changes to write: null deletes. */
export type StoreChanges = Map<string, string | null>

// v -> version · k/<branch>/<chunk> -> programs, base64 · s/<branch>/<index> -> status · g/<branch>/<index> -> marked
// n -> "height hash branch=scripts …", the block up to which all is known · m/<branch> -> minimum · t/<txid> -> "height date seen base64 revision grade block held-since" · h -> height of the tip · e -> epoch
const VERSION = '1'
const CHUNK = 64
const PREFIXES = ['v', 'k/', 's/', 'g/', 'm/', 't/', 'h', 'e', 'n']

/**
 * What an engine keeps between runs, as compact text in its store.
 *
 * It is a cache: if anything is missing or damaged, all is dropped and read from the chain again.
 */
export class SavedState {
  readonly #store: EngineStore
  readonly #crypto: CryptoPort
  readonly #random: Io['random']
  readonly #unsaved = new Map<string, Uint8Array>()
  #newEpoch: string | undefined

  constructor(store: EngineStore, { crypto, random }: Pick<Io, 'crypto' | 'random'>) {
    this.#store = store
    this.#crypto = crypto
    this.#random = random
  }

  /** Fills table and ledger. False if there was nothing usable; the caller must then take new ones. */
  async load(table: ScriptTable, ledger: Ledger, yielder: Yielder): Promise<boolean> {
    if (this.#store.get('v') !== VERSION) return false
    try {
      for (const scripts of table.branches) this.#loadScripts(table, scripts)
      for (const [key, status] of this.#store.entries('s/')) {
        if (!isTxHash(status)) throw new TypeError('A stored status is damaged')
        this.#recordAt(table, key.slice(2)).status = status
      }
      for (const [key] of this.#store.entries('g/')) this.#recordAt(table, key.slice(2)).isMarked = true
      for (const [key, text] of this.#store.entries('t/')) {
        this.#loadTx(ledger, key.slice(2), text)
        await yielder()
      }
      ledger.takeChanges()
      return true
    } catch {
      return false
    }
  }

  /** The height of the chain when last seen, or 0. */
  height(): number {
    const text = this.#store.get('h') ?? ''
    return /^\d{1,9}$/.test(text) ? Number(text) : 0
  }

  /** The block up to which every payment is kept, and of how many scripts of each branch; undefined if no server has named one. */
  cursor(): { readonly block: BlockCursor; readonly counts: ReadonlyMap<string, number> } | undefined {
    const [height = '', hash, ...counts] = (this.#store.get('n') ?? '').split(' ')
    if (!/^\d{1,9}$/.test(height) || !isTxHash(hash)) return undefined
    const known = counts.map(text => /^(.+)=(\d{1,6})$/.exec(text))
    return {
      block: { height: Number(height), hash },
      counts: new Map(known.map(found => [found?.[1] ?? '', Number(found?.[2] ?? 0)]))
    }
  }

  /** Notes that every payment up to a block is kept. */
  noteCursor(changes: StoreChanges, { height, hash }: BlockCursor, branches: readonly BranchScripts[]): void {
    const counts = branches.map(({ branch, records }) => `${branch.id}=${records.length}`)
    const text = [height, hash, ...counts].join(' ')
    if (this.#store.get('n') !== text) changes.set('n', text)
  }

  /**
   * The random name of what has been kept since it was cleared last; revisions of another epoch mean nothing here.
   *
   * It is written with the changes that come next.
   */
  get epoch(): string {
    const kept = this.#store.get('e')
    if (kept !== undefined && /^[0-9a-f]{16}$/.test(kept)) return kept
    this.#newEpoch ??= this.#crypto.toHex(this.#random(8))
    return this.#newEpoch
  }

  /** Remembers the bytes of a transaction until {@link noteTx} is written. */
  keepBytes(txid: Txid, bytes: Uint8Array): void {
    this.#unsaved.set(txid, bytes)
  }

  /** The bytes of a transaction of this wallet. */
  txBytes(txid: Txid): Uint8Array | undefined {
    const unsaved = this.#unsaved.get(txid)
    if (unsaved !== undefined) return unsaved
    const base64 = this.#store.get(`t/${txid}`)?.split(' ')[3]
    return base64 === undefined ? undefined : this.#crypto.fromBase64(base64)
  }

  noteTx(changes: StoreChanges, tx: LedgerTx): void {
    const bytes = this.txBytes(tx.txid)
    if (bytes === undefined) return
    const text = [tx.height, tx.date, tx.isSeen ? 1 : 0, this.#crypto.toBase64(bytes), tx.revision]
    const held = tx.heldSince > 0 ? [tx.heldSince] : []
    const proof = tx.block === '' && tx.grade === 'claimed' ? [] : [tx.grade, tx.block, ...held]
    changes.set(`t/${tx.txid}`, [...text, ...proof].join(' '))
  }

  /** Notes the status of a history, unless another one came meanwhile: then the next engine asks again. */
  noteStatus(changes: StoreChanges, { branch, index, status, pushes, pushesSeen }: ScriptRecord): void {
    changes.set(`s/${branch.id}/${index}`, pushes === pushesSeen ? status : null)
  }

  noteMark(changes: StoreChanges, { branch, index }: ScriptRecord): void {
    changes.set(`g/${branch.id}/${index}`, '1')
  }

  noteMinimum(changes: StoreChanges, { branch, minimum }: BranchScripts): void {
    changes.set(`m/${branch.id}`, String(minimum))
  }

  /** The scripts of a branch from index `from` on. */
  noteScripts(changes: StoreChanges, { branch, records }: BranchScripts, from: number): void {
    for (let chunk = Math.floor(from / CHUNK); chunk * CHUNK < records.length; chunk++) {
      const slice = records.slice(chunk * CHUNK, (chunk + 1) * CHUNK)
      const bytes = Uint8Array.from(slice.flatMap(record => [...record.data]))
      changes.set(`k/${branch.id}/${chunk}`, this.#crypto.toBase64(bytes))
    }
  }

  async write(changes: StoreChanges): Promise<void> {
    if (this.#store.get('e') !== this.epoch) changes.set('e', this.epoch)
    if (changes.size === 0) return
    changes.set('v', VERSION)
    await this.#store.write(changes)
    for (const key of changes.keys()) if (key.startsWith('t/')) this.#unsaved.delete(key.slice(2))
  }

  /** Deletes everything. */
  async clear(): Promise<void> {
    this.#unsaved.clear()
    this.#newEpoch = undefined
    const changes: StoreChanges = new Map()
    for (const prefix of PREFIXES) for (const [key] of this.#store.entries(prefix)) changes.set(key, null)
    if (changes.size > 0) await this.#store.write(changes)
  }

  #loadScripts(table: ScriptTable, scripts: BranchScripts): void {
    const length = scripts.branch.purpose === 86 ? 32 : 20
    for (let chunk = 0; ; chunk++) {
      const text = this.#store.get(`k/${scripts.branch.id}/${chunk}`)
      if (text === undefined) break
      const bytes = this.#crypto.fromBase64(text)
      if (bytes.length % length !== 0) throw new TypeError('Stored scripts are damaged')
      for (let at = 0; at < bytes.length; at += length) table.add(scripts, bytes.slice(at, at + length))
      if (bytes.length < CHUNK * length) break
    }
    const minimum = this.#store.get(`m/${scripts.branch.id}`) ?? '0'
    if (!/^\d{1,6}$/.test(minimum)) throw new TypeError('A stored count is damaged')
    scripts.minimum = Number(minimum)
  }

  #recordAt(table: ScriptTable, path: string): ScriptRecord {
    const split = path.lastIndexOf('/')
    const record = table.branchById(path.slice(0, split))?.records[Number(path.slice(split + 1))]
    if (record === undefined) throw new TypeError('A stored script is missing')
    return record
  }

  #loadTx(ledger: Ledger, txid: Txid, text: string): void {
    const [height = '', date = '', seen = '', base64 = '', revision = '0', ...proof] = text.split(' ')
    const [grade = 'claimed', block = '', heldSince = '0'] = proof
    if (!isGrade(grade) || !(block === '' || isTxHash(block)))
      throw new TypeError('A stored transaction is damaged')
    if (
      !/^-?\d{1,9}$/.test(height) ||
      !/^\d{1,12}$/.test(date) ||
      !/^\d{1,15}$/.test(revision) ||
      !/^\d{1,12}$/.test(heldSince)
    )
      throw new TypeError('A stored transaction is damaged')
    const raw = parseRawTx(this.#crypto.fromBase64(base64))
    if (raw.txid !== txid) throw new TypeError('A stored transaction is damaged')
    const standing = {
      height: Number(height),
      date: Number(date),
      isSeen: seen === '1',
      block,
      grade,
      heldSince: Number(heldSince)
    }
    const tx = ledger.put(raw, standing)
    tx.revision = Number(revision)
  }
}

const isGrade = (text: string): text is Grade => GRADES.has(text)
const GRADES: ReadonlySet<string> = new Set(['agreed', 'claimed', 'proven'] satisfies Grade[])

/**
 * Counts the steps in which transactions change, so that a later engine reports only what the kernel has not seen.
 *
 * A checkpoint is the epoch of what is kept and the number of a step. Of another epoch, or without one, everything is
 * reported: a transaction must never be left out, but may be reported twice.
 */
export class SeenSteps {
  readonly #saved: SavedState
  readonly #seenEpoch: string
  readonly #seen: number
  #step = 0

  /** @param checkpoint - what the kernel says has been seen */
  constructor(saved: SavedState, checkpoint = '') {
    const [, epoch = '', step = '-1'] = /^([0-9a-f]{16}):(\d{1,15})$/.exec(checkpoint) ?? []
    this.#saved = saved
    this.#seenEpoch = epoch
    this.#seen = Number(step)
  }

  /**
   * Goes on counting after the steps there were. The kernel may have seen some that could not be kept here, so that
   * their numbers must not be given again.
   */
  begin(ledger: Ledger): void {
    this.#step = Math.max(this.#step, this.#seen)
    for (const { revision } of ledger.all()) this.#step = Math.max(this.#step, revision)
  }

  /** What the kernel has not seen. */
  unseen(ledger: Ledger): LedgerTx[] {
    const isKnown = this.#seenEpoch === this.#saved.epoch
    return [...ledger.all()].filter(({ revision }) => !isKnown || revision > this.#seen)
  }

  /** Notes that these changed in one step. */
  mark(changed: readonly LedgerTx[]): void {
    if (changed.length > 0) this.#step += 1
    for (const tx of changed) tx.revision = this.#step
  }

  /** The checkpoint to give once everything so far is reported, kept here or not. */
  get checkpoint(): string {
    return `${this.#saved.epoch}:${this.#step}`
  }
}
