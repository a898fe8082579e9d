import test from 'ava'
import fc from 'fast-check'
import type { Metadata } from '../../../../kernel/types/transaction.ts'
import { listTransactions } from '../../../../kernel/wallet/history/list.ts'
import { type HistoryDevice, incoming, openHistory, outgoing } from '../../../helpers/history-device.ts'
import { makeSyncStore, type SyncStore } from '../../../helpers/sync-store.ts'

const TXIDS = ['a', 'b', 'c', 'd'] as const
const FIELDS = ['name', 'category', 'notes'] as const

type Txid = (typeof TXIDS)[number]

type Step =
  | { readonly kind: 'report'; readonly device: number; readonly txids: Txid[]; readonly blockHeight: number }
  | {
      readonly kind: 'note'
      readonly device: number
      readonly txid: Txid
      readonly field: (typeof FIELDS)[number]
      readonly value: string | null
    }
  | { readonly kind: 'restart'; readonly device: number; readonly isClosed: boolean }
  | { readonly kind: 'resync'; readonly device: number }
  | { readonly kind: 'sync'; readonly device: number }

const device = fc.constantFrom(0, 1)
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('report' as const),
    device,
    txids: fc.subarray([...TXIDS], { minLength: 1 }),
    blockHeight: fc.nat({ max: 3 })
  }),
  fc.record({
    kind: fc.constant('note' as const),
    device,
    txid: fc.constantFrom(...TXIDS),
    field: fc.constantFrom(...FIELDS),
    value: fc.constantFrom(null, 'one', 'two', '')
  }),
  fc.record({ kind: fc.constant('restart' as const), device, isClosed: fc.boolean() }),
  fc.record({ kind: fc.constant('resync' as const), device }),
  fc.record({ kind: fc.constant('sync' as const), device })
)

/** Half of them come in and get a file by themselves. */
const reportOf = (txid: Txid, blockHeight: number) =>
  (txid < 'c' ? incoming : outgoing)(txid, { blockHeight, date: 1_700_000_000 + txid.charCodeAt(0) })

const syncOne = async (shown: HistoryDevice): Promise<void> => {
  await shown.sync()
  await shown.settled()
}

/** Two devices; whoever is to be edited or looked at has seen what the other one wrote. */
class Pair {
  readonly #devices: HistoryDevice[]
  /** What each device's engine has told. */
  readonly #reported = [new Set<Txid>(), new Set<Txid>()]
  readonly #notes = new Map<Txid, Map<string, string>>()

  constructor(devices: HistoryDevice[]) {
    this.#devices = devices
  }

  async run(step: Step): Promise<void> {
    const shown = this.#devices[step.device] as HistoryDevice
    const reported = this.#reported[step.device] as Set<Txid>
    if (step.kind === 'report') {
      await shown.table.applyReports(step.txids.map(txid => reportOf(txid, step.blockHeight)))
      for (const txid of step.txids) reported.add(txid)
    } else if (step.kind === 'restart') {
      this.#devices[step.device] = await shown.again({ isClosed: step.isClosed })
    } else if (step.kind === 'resync') {
      await shown.table.clear()
      reported.clear()
    } else if (step.kind === 'sync') {
      await syncOne(shown)
    } else if (reported.has(step.txid)) {
      await this.#exchange()
      const { txid, field, value } = step
      await shown.table.saveMetadata({ txid, tokenId: null }, { [field]: value })
      const notes = this.#notes.get(txid) ?? new Map<string, string>()
      this.#notes.set(txid, notes)
      if (value === null) notes.delete(field)
      else notes.set(field, value)
      await this.#check(step.device)
    }
  }

  async finish(): Promise<void> {
    await this.#exchange()
    for (const place of [0, 1]) await this.#check(place)
  }

  async #exchange(): Promise<void> {
    for (const place of [0, 1, 0, 1]) await syncOne(this.#devices[place] as HistoryDevice)
  }

  async #check(place: number): Promise<void> {
    const { table, reports } = this.#devices[place] as HistoryDevice
    const listed = await listTransactions(table, {})
    const shown = new Map(listed.map(({ txid, metadata }) => [txid, metadata]))
    const expected = new Map<string, Metadata>()
    for (const txid of this.#reported[place] ?? []) {
      expected.set(txid, Object.fromEntries(this.#notes.get(txid) ?? []))
    }
    const sorted = (map: ReadonlyMap<string, Metadata>) => [...map].sort(([a], [b]) => a.localeCompare(b))
    if (reports.length > 0) throw reports[0]
    const [found, wanted] = [sorted(shown), sorted(expected)]
    if (JSON.stringify(found.map(canonical)) !== JSON.stringify(wanted.map(canonical))) {
      throw new Error(`device ${place}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`)
    }
  }
}

const canonical = ([txid, metadata]: [string, Metadata]): unknown => [
  txid,
  ...FIELDS.map(field => metadata[field] ?? null)
]

const openPair = async (store: SyncStore): Promise<Pair> => {
  const devices = [await openHistory(store), await openHistory(store)]
  // Their automatic files must not have one name by chance.
  await devices[1]?.clock.advance(7000)
  return new Pair(devices)
}

test('after any reports, notes, syncs, restarts and resyncs the history shows what was acknowledged last', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArbitrary, { maxLength: 30 }), async steps => {
      const pair = await openPair(makeSyncStore())
      for (const step of steps) await pair.run(step)
      await pair.finish()
    }),
    { numRuns: 60 }
  )
  t.pass()
})
