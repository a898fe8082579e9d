import { type AbortSignalLike, type Clock, type Grade, makeAbort } from '../../../kernel/plugin-api.ts'
import type { ElectrumPool } from './electrum/pool.ts'
import type { HistoryItem } from './electrum/replies.ts'
import { fetchHistories } from './electrum/requests.ts'
import type { Testimony, Witness, WitnessLife } from './electrum/witness.ts'
import type { Ledger, LedgerTx } from './wallet/ledger.ts'
import type { ScriptRecord, ScriptSource, ScriptTable } from './wallet/scripts.ts'

type Proof = Pick<LedgerTx, 'block' | 'height'>

/** True of a transaction in a block that the linked chain does not have: it has another one at that height. */
export const isReplaced = (
  { standingOf }: Pick<ElectrumPool, 'standingOf'>,
  { height, block }: Proof
): boolean => height > 0 && standingOf(height, block) === 'other'

/**
 * The grade of a transaction that a Merkle branch has put into a block.
 *
 * @param known - what was known of it before: two servers that agreed on its block did not do so in vain
 */
export const gradeOf = (
  { standingOf }: Pick<ElectrumPool, 'standingOf'>,
  { height, block }: Proof,
  known?: Proof & Pick<LedgerTx, 'grade'>
): Grade => {
  const standing = height > 0 ? standingOf(height, block) : undefined
  if (standing === 'checkpoint') return 'proven'
  if (standing === 'agreed') return 'agreed'
  const isSame = known?.height === height && known.block === block && height > 0
  return isSame && known.grade === 'agreed' && standing !== 'other' ? 'agreed' : 'claimed'
}

/** Grades transactions by the headers that are linked now. @returns true if one lies in another block than it was proven in */
export const regrade = (pool: Pick<ElectrumPool, 'standingOf'>, ledger: Ledger, tip: number): boolean => {
  let mustProve = false
  for (const tx of ledger.all()) {
    if (tx.height <= 0 || (tx.grade === 'proven' && tx.height < tip - SETTLED)) continue
    if (isReplaced(pool, tx)) mustProve = true
    const grade = gradeOf(pool, tx, tx)
    if (grade !== tx.grade) ledger.place(tx, { ...tx, grade })
  }
  return mustProve
}

/** Blocks above a transaction after which it is not graded again. */
const SETTLED = 100

/** What a comparison needs. */
interface Compared {
  readonly pool: Pick<ElectrumPool, 'callMany' | 'serverUrl' | 'tip'>
  readonly ledger: Ledger
  readonly table: ScriptTable
  readonly scripts: ScriptSource
  /** True as long as what is known of the wallet is what the server of the pool has shown: another one is perhaps the second server. */
  isCurrent(): boolean
}

/** A difference between two servers over one script. */
interface Difference {
  readonly texts: readonly string[]
  readonly since: number
  /** False while it may be of a payment that has only moved. */
  readonly isLasting: boolean
}

/**
 * Compares the histories of a wallet with those of a second server: of scripts that have changed, those with payments that only one
 * server has claimed, and, once an hour, those with coins. A payment that both have in the same block is `agreed`.
 *
 * A difference counts once both servers show it again: at once if they have the same newest block, else after a minute. It lasts until
 * a comparison does not find it any more. Then a third server is asked, if there is one.
 */
export class SecondOpinion implements WitnessLife {
  readonly #witness: Witness | undefined
  readonly #clock: Pick<Clock, 'monotonic' | 'now'>
  readonly #changed = new Set<ScriptRecord>()
  readonly #comparedAt = new Map<ScriptRecord, number>()
  readonly #differences = new Map<ScriptRecord, Difference>()
  #silentSince: number | undefined
  #isBehind = false
  /** A payment has waited for so long that the user should know. */
  #isWaiting = false
  /** Raised where all that was compared is forgotten. */
  #round = 0
  #skip = 0
  #connection: Parameters<WitnessLife['onOpen']>[0] | undefined
  readonly #end = makeAbort()
  #comparing: Promise<void> | undefined
  #mustCompare = false

  /** @param witness - absent where the user named one server */
  constructor(witness: Witness | undefined, clock: Pick<Clock, 'monotonic' | 'now'>) {
    this.#witness = witness
    this.#clock = clock
  }

  /** Notes scripts whose histories were read. */
  readonly note = (records: readonly ScriptRecord[]): void => {
    for (const record of records) this.#changed.add(record)
  }

  /** True if a block that one server claims counts only once a second one has it. */
  get mustAgree(): boolean {
    return this.#witness !== undefined
  }

  /** What asks a second server for something else. */
  get second(): { readonly witness: Witness | undefined; readonly life: WitnessLife } {
    const { signal } = this
    return {
      witness: this.#witness,
      life: {
        get isEnded() {
          return signal.aborted
        },
        signal,
        onOpen() {}
      }
    }
  }

  /** True if no second server has answered for as long as a payment waits for one. */
  get #isAlone(): boolean {
    return this.#silentSince !== undefined && this.#clock.monotonic() - this.#silentSince >= HELD_MS
  }

  /** The differences that last, as sentences. */
  get differences(): readonly string[] {
    return [...this.#differences.values()].flatMap(({ texts, isLasting }) => (isLasting ? texts : []))
  }

  /** What the user should know, in a sentence: a lasting difference, or that no second server has a say; '' for nothing. */
  get concern(): string {
    const [first, ...others] = this.differences
    if (first !== undefined)
      return `Two servers disagree${others.length === 0 ? '' : `, also about ${others.length} more`}: ${first}`
    if (this.#isAlone) return 'No second server answers: blocks count by the word of one'
    if (!this.#isWaiting) return ''
    return `A payment waits for a second server, which ${this.#isBehind ? 'has not come to its block' : 'does not answer'}`
  }

  /** True of a script whose history a second server had, too, an hour ago or later. */
  readonly isAgreed = (record: ScriptRecord): boolean =>
    !this.#changed.has(record) && !this.#differences.has(record) && this.#isFresh(record, COMPARED_MS * 2)

  /**
   * Compares what is due, in the background. Payments that a second server without news could not have are compared later.
   *
   * @param onCompared - is called after each comparison, with the differences that are new
   */
  compareSoon(source: () => Compared, onCompared: (fresh: readonly string[]) => Promise<void>): void {
    this.#mustCompare = true
    this.#comparing ??= this.#compareLoop(source, onCompared).finally(() => (this.#comparing = undefined))
  }

  async #compareLoop(...[source, onCompared]: Parameters<SecondOpinion['compareSoon']>): Promise<void> {
    while (this.#mustCompare && !this.isEnded) {
      this.#mustCompare = false
      const before = new Set(this.differences)
      const compared = source()
      // A failure means that the next look compares again.
      await this.#compareDue(compared).catch(() => undefined)
      if (this.isEnded || source().ledger !== compared.ledger) continue
      this.#endWaits(compared)
      await onCompared(this.differences.filter(text => !before.has(text))).catch(() => undefined)
    }
  }

  async #compareDue(compared: Compared): Promise<void> {
    const tried = new Set<ScriptRecord>()
    while (!this.isEnded) {
      const records = [...compared.table.records()]
        .filter(record => !tried.has(record) && this.#isDue(record, compared.ledger))
        .slice(0, MAX_COMPARED)
      for (const record of records) tried.add(record)
      const disputed = await this.#compare(compared, records)
      if (disputed === undefined) return
      await this.#compare(compared, disputed)
    }
  }

  /** Lets payments count that have waited long enough for a second server which has said nothing of them. */
  #endWaits({ ledger }: Compared): void {
    const now = Math.floor(this.#clock.now() / 1000)
    const isContradicted = (txid: string): boolean =>
      [...this.#differences.keys()].some(({ txids }) => txids.has(txid))
    let longest = 0
    for (const tx of ledger.all()) {
      if (tx.heldSince === 0 || isContradicted(tx.txid)) continue
      // A clock that was set back does not make it wait for years.
      const heldSince = Math.min(tx.heldSince, now)
      const isOver = (now - heldSince) * 1000 >= HELD_MS
      if (isOver || heldSince !== tx.heldSince) ledger.place(tx, { ...tx, heldSince: isOver ? 0 : heldSince })
      if (!isOver) longest = Math.max(longest, now - heldSince)
    }
    this.#isWaiting = longest * 1000 >= MOVING_MS
  }

  /** Forgets all that was compared: the scripts are others. */
  forget(): void {
    this.#round++
    this.#changed.clear()
    this.#comparedAt.clear()
    this.#differences.clear()
  }

  get isEnded(): boolean {
    return this.signal.aborted
  }

  get signal(): AbortSignalLike {
    return this.#end.signal
  }

  onOpen(connection: Parameters<WitnessLife['onOpen']>[0]): void {
    this.#connection = connection
    if (this.isEnded) this.end()
  }

  /** Ends a comparison, and asks no server any more. */
  end(): void {
    this.#end.abort()
    this.#connection?.close(new Error('The wallet was closed'))
  }

  #isDue(record: ScriptRecord, ledger: Ledger): boolean {
    if (this.#changed.has(record) || this.#differences.has(record)) return true
    const confirmed = confirmedOf(record, ledger)
    const isFresh = this.#isFresh(record, COMPARED_MS)
    if (confirmed.some(({ grade, heldSince }) => heldSince > 0 || (grade === 'claimed' && !isFresh)))
      return true
    return !isFresh && hasCoin(record, confirmed, ledger)
  }

  #isFresh(record: ScriptRecord, forMs: number): boolean {
    const at = this.#comparedAt.get(record)
    return at !== undefined && this.#clock.monotonic() - at < forMs
  }

  /** @returns scripts with differences that are to be looked at once more at once; undefined if no comparison was made */
  async #compare(
    { pool, ledger, scripts, isCurrent }: Compared,
    records: readonly ScriptRecord[]
  ): Promise<readonly ScriptRecord[] | undefined> {
    const { tip, serverUrl } = pool
    const round = this.#round
    if (this.#witness === undefined || tip === undefined || records.length === 0 || !isCurrent())
      return undefined
    const heights = records.flatMap(record => confirmedOf(record, ledger).map(({ height }) => height))
    const testimony = await this.#witness(serverUrl, {
      ...{ life: this, skip: this.#skip, heights: [...heights, tip.height] },
      ...{ scripts, scripthashes: records.map(({ scripthash }) => scripthash) }
    })
    if (round !== this.#round || !isCurrent()) return undefined
    if (testimony === undefined) {
      this.#silentSince ??= this.#clock.monotonic()
      this.#isBehind = false
      return undefined
    }
    this.#silentSince = undefined
    const judged = records.map((record, at) => ({
      record,
      ...judge(record, at, { testimony, pool, ledger })
    }))
    for (const { record, texts, isOpen } of judged) if (texts.length === 0 && !isOpen) this.#settle(record)
    this.#isBehind = judged.some(({ isOpen }) => isOpen)
    const found = judged.filter(({ texts }) => texts.length > 0)
    // The next comparison is with another server, where there is one.
    if (this.#isBehind || found.some(({ record }) => this.#differences.has(record))) this.#skip++
    if (found.length === 0) return []
    // What the first server says now may be something else than what is known of it.
    const own = await fetchHistories(
      pool,
      found.map(({ record }) => record)
    )
    if (round !== this.#round || !isCurrent()) return undefined
    const isSameTip =
      pool.tip?.header.hash === tip.header.hash && testimony.hashes.get(tip.height) === tip.header.hash
    return found.flatMap(({ record, texts }, at) => {
      if (!isAsKnown(own[at] ?? [], record, ledger)) return []
      return this.#dispute(record, texts, isSameTip) ? [record] : []
    })
  }

  #settle(record: ScriptRecord): void {
    this.#changed.delete(record)
    this.#differences.delete(record)
    this.#comparedAt.set(record, this.#clock.monotonic())
  }

  /** @returns true if the difference is new, and can be looked at once more at once */
  #dispute(record: ScriptRecord, texts: readonly string[], isSameTip: boolean): boolean {
    const before = this.#differences.get(record)
    const now = this.#clock.monotonic()
    const { since = now } = before ?? {}
    const isLasting = before !== undefined && (before.isLasting || isSameTip || now - since >= MOVING_MS)
    this.#differences.set(record, { texts, since, isLasting })
    return before === undefined && isSameTip
  }
}

/** Lets payments count that have waited for a second server: the user has named none. */
export const releaseHeld = (ledger: Ledger): void => {
  for (const tx of ledger.all()) if (tx.heldSince > 0) ledger.place(tx, { ...tx, heldSince: 0 })
}

/** Compares what a second server says of a script. `isOpen`: its word on a payment is still to come. */
const judge = (
  record: ScriptRecord,
  at: number,
  { testimony, pool, ledger }: Pick<Compared, 'ledger' | 'pool'> & { readonly testimony: Testimony }
): { readonly texts: readonly string[]; readonly isOpen: boolean } => {
  const { server, height: end, hashes, histories } = testimony
  const shown = new Map((histories[at] ?? []).map(({ txid, height }) => [txid, height]))
  const texts: string[] = []
  let isOpen = false
  for (const tx of confirmedOf(record, ledger)) {
    const isThere = shown.get(tx.txid) === tx.height
    const hash = tx.block === '' ? '' : hashes.get(tx.height)
    // It has moved since the question.
    if (tx.height > end || (isThere && hash === undefined)) isOpen = true
    else if (!isThere || hash !== tx.block)
      texts.push(`${server} has no payment ${tx.txid} in block ${tx.height}, where ${pool.serverUrl} has it`)
    else if (tx.grade === 'claimed') ledger.place(tx, { ...tx, grade: 'agreed' })
  }
  for (const [txid, height] of shown) {
    if (texts.length >= MAX_DIFFERENCES) break
    const known = ledger.find(txid)?.height ?? 0
    if (height > 0 && known <= 0 && height <= (pool.tip?.height ?? 0))
      texts.push(`${server} has payment ${txid} in block ${height}, which ${pool.serverUrl} does not show`)
  }
  return { texts, isOpen }
}

/** True if a server still says of a script what is known of it. */
const isAsKnown = (history: readonly HistoryItem[], record: ScriptRecord, ledger: Ledger): boolean => {
  const confirmed = new Map(history.flatMap(({ txid, height }) => (height > 0 ? [[txid, height]] : [])))
  const known = confirmedOf(record, ledger)
  return known.length === confirmed.size && known.every(({ txid, height }) => confirmed.get(txid) === height)
}

const hasCoin = (record: ScriptRecord, confirmed: readonly LedgerTx[], ledger: Ledger): boolean =>
  confirmed.some(({ txid, ours }) =>
    ours.some(output => output.record === record && !ledger.isSpent(`${txid}:${output.vout}`))
  )

/** Scripts of one question. */
const MAX_COMPARED = 500
/** Differences over one script that are shown. */
const MAX_DIFFERENCES = 20
/** So often a script with coins is compared, because a server could keep back that they were spent. */
const COMPARED_MS = 3_600_000
/** A payment can be in two blocks for so long before two servers differ about it. */
const MOVING_MS = 60_000
/** A payment waits so long for a second server that says nothing of it; then the word of one has to do. */
const HELD_MS = 600_000

const confirmedOf = ({ txids }: ScriptRecord, ledger: Ledger): readonly LedgerTx[] =>
  [...txids].flatMap(txid => {
    const tx = ledger.find(txid)
    return tx !== undefined && tx.height > 0 ? [tx] : []
  })
