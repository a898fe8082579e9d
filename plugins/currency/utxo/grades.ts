import type { Grade } from '../../../kernel/plugin-api.ts'
import type { ElectrumPool } from './electrum/pool.ts'
import type { Testimony, WitnessQuery } from './electrum/witness.ts'
import type { Ledger, LedgerTx } from './wallet/ledger.ts'
import type { ScriptRecord, ScriptTable } from './wallet/scripts.ts'

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

/** Asks another server than one for histories and blocks; undefined if none answers. */
export type Witness = (url: string, query: WitnessQuery) => Promise<Testimony | undefined>

/** What a comparison needs. */
interface Compared {
  readonly pool: Pick<ElectrumPool, 'serverUrl' | 'tip'>
  readonly ledger: Ledger
  readonly table: ScriptTable
}

/**
 * Compares the histories of a wallet with those of a second server, for scripts that have changed and those with payments that
 * only one server has claimed. A payment that both have in the same block is `agreed`.
 */
export class SecondOpinion {
  readonly #changed = new Set<ScriptRecord>()
  readonly #compared = new Set<ScriptRecord>()
  readonly #witness: Witness | undefined

  /** @param witness - absent where the user named one server */
  constructor(witness: Witness | undefined) {
    this.#witness = witness
  }

  /** Notes scripts whose histories were read. */
  readonly note = (records: readonly ScriptRecord[]): void => {
    for (const record of records) this.#changed.add(record)
  }

  /** @returns the differences, as sentences; payments that a second server without news could not have are compared later */
  async compare({ pool, ledger, table }: Compared): Promise<readonly string[]> {
    const witness = this.#witness
    if (witness === undefined) return []
    const records = [...table.records()].filter(record => this.#isDue(record, ledger)).slice(0, MAX_COMPARED)
    if (records.length === 0) return []
    const heights = records.flatMap(record => confirmedOf(record, ledger).map(({ height }) => height))
    const scripthashes = records.map(({ scripthash }) => scripthash)
    const testimony = await witness(pool.serverUrl, { scripthashes, heights })
    if (testimony === undefined) return []
    return records.flatMap((record, at) => this.#judge(record, at, { testimony, pool, ledger }))
  }

  #isDue(record: ScriptRecord, ledger: Ledger): boolean {
    if (this.#changed.has(record)) return true
    return !this.#compared.has(record) && confirmedOf(record, ledger).some(({ grade }) => grade === 'claimed')
  }

  #judge(
    record: ScriptRecord,
    at: number,
    { testimony, pool, ledger }: Omit<Compared, 'table'> & { readonly testimony: Testimony }
  ): readonly string[] {
    const { server, height: end, hashes, histories } = testimony
    const shown = new Map((histories[at] ?? []).map(({ txid, height }) => [txid, height]))
    const differences: string[] = []
    let isBehind = false
    for (const tx of confirmedOf(record, ledger)) {
      if (tx.height > end) isBehind = true
      else if (shown.get(tx.txid) !== tx.height || (tx.block !== '' && hashes.get(tx.height) !== tx.block))
        differences.push(
          `${server} has no payment ${tx.txid} in block ${tx.height}, where ${pool.serverUrl} has it`
        )
      else if (tx.grade === 'claimed') ledger.place(tx, { ...tx, grade: 'agreed' })
    }
    for (const [txid, height] of shown) {
      const known = ledger.find(txid)?.height ?? 0
      if (height > 0 && known <= 0 && height <= (pool.tip?.height ?? 0))
        differences.push(
          `${server} has payment ${txid} in block ${height}, which ${pool.serverUrl} does not show`
        )
    }
    this.#compared.add(record)
    if (!isBehind) this.#changed.delete(record)
    return differences
  }
}

/** Scripts of one comparison. */
const MAX_COMPARED = 500

const confirmedOf = ({ txids }: ScriptRecord, ledger: Ledger): readonly LedgerTx[] =>
  [...txids].flatMap(txid => {
    const tx = ledger.find(txid)
    return tx !== undefined && tx.height > 0 ? [tx] : []
  })
