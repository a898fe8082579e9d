import fc from 'fast-check'
import { nativeAmount } from '../../kernel/base/amount.ts'
import { isWalletError } from '../../kernel/base/errors.ts'
import type { Disk } from '../../kernel/io/disk.ts'
import type { EngineTransaction, Metadata, Transaction } from '../../kernel/types/transaction.ts'
import { listTransactions, type StreamQuery, streamTransactions } from '../../kernel/wallet/history/list.ts'
import { type HistoryDevice, incoming, openHistory } from './history-device.ts'
import { naiveList } from './naive-list.ts'
import { boxOf } from './repo-device.ts'
import { type ShakyDisk, shakyDiskOver } from './shaky-disk.ts'
import type { StoryPlace } from './story-place.ts'
import { makeSyncStore, type SyncStore } from './sync-store.ts'

const TXIDS = ['a', 'b', 'c', 'd', 'e'] as const
const NOW = Date.UTC(2026, 0, 1) / 1000
const DATES = [NOW - 100, NOW - 100, NOW - 99.5, NOW - 50, NOW]
const TEXTS = ['rent', 'Bob', 'bobby']
const TOKEN_IDS = [null, 'usd'] as const

const txid = fc.constantFrom(...TXIDS)
const tokenId = fc.constantFrom(...TOKEN_IDS)
const of = <K extends string>(kind: K) => fc.constant(kind)

/** What an engine, a person, another device or a disk does. */
type Step =
  | {
      readonly kind: 'report'
      readonly tokenId: string | null
      readonly txid: string
      readonly date: number
      readonly blockHeight: number
      readonly isSend: boolean
      readonly hasFee: boolean
    }
  | {
      readonly kind: 'note'
      readonly tokenId: string | null
      readonly txid: string
      readonly name: string | null
    }
  | {
      readonly kind: 'afar'
      readonly txid: string
      readonly date: number
      readonly metadata: Metadata | null
      readonly tokenId: string | null
    }
  | { readonly kind: 'height'; readonly height: number }
  | { readonly kind: 'full'; readonly at: number }
  | { readonly kind: 'resync' | 'sync' }

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: of('report'),
      tokenId,
      txid,
      date: fc.constantFrom(...DATES),
      blockHeight: fc.integer({ min: -1, max: 3 }),
      isSend: fc.boolean(),
      hasFee: fc.boolean()
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: of('note'),
      tokenId,
      txid,
      name: fc.constantFrom(null, ...TEXTS)
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: of('afar'),
      txid,
      date: fc.constantFrom(...DATES.map(Math.floor)),
      metadata: fc.option(fc.record({ name: fc.constantFrom(...TEXTS) }, { requiredKeys: [] })),
      tokenId
    })
  },
  { weight: 4, arbitrary: fc.record({ kind: of('sync') }) },
  { weight: 1, arbitrary: fc.record({ kind: of('height'), height: fc.nat({ max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: of('resync') }) },
  { weight: 1, arbitrary: fc.record({ kind: of('full'), at: fc.integer({ min: 1, max: 3 }) }) }
)
type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>

const queryArbitrary: fc.Arbitrary<StreamQuery> = fc.record(
  {
    tokenId,
    startDate: fc.constantFrom(...DATES).map(date => new Date(date * 1000)),
    endDate: fc.constantFrom(...DATES).map(date => new Date(date * 1000)),
    searchString: fc.constantFrom('', 'BOB', 'rent', 'a', 'bulk7'),
    startIndex: fc.nat({ max: 3 }),
    limit: fc.nat({ max: 6 }),
    batchSize: fc.integer({ min: 1, max: 4 })
  },
  { requiredKeys: [] }
)

/** What happens to a history before it is looked at. */
export interface HistoryRound {
  /** Begun at once, one after another, without waiting. */
  readonly steps: readonly Step[]
  readonly restart: 'cut' | 'close' | undefined
  readonly query: StreamQuery
}

/** Rounds for {@link playHistory}. */
export const historyRounds: fc.Arbitrary<HistoryRound> = fc.record({
  steps: fc.array(stepArbitrary, { maxLength: 5 }),
  restart: fc.constantFrom(undefined, undefined, undefined, 'cut' as const, 'close' as const),
  query: queryArbitrary
})

/** What the engine has told of one transaction, by asset. */
type Reported = Map<string | null, EngineTransaction>

interface Opened {
  readonly store: SyncStore
  readonly place: StoryPlace
  readonly raw: Disk
  readonly disk: ShakyDisk
  readonly device: HistoryDevice
}

/** A device, and what it must show: what its engine has told last, joined with the files that are in its repo. */
class World {
  readonly #store: SyncStore
  #device: HistoryDevice
  readonly #place: StoryPlace
  #raw: Disk
  #disk: ShakyDisk
  readonly #reported = new Map<string, Reported>()
  /** Something may not be durable, so that an engine tells it again when it is started. */
  #isBehind = false

  private constructor({ store, place, raw, disk, device }: Opened) {
    this.#store = store
    this.#place = place
    this.#raw = raw
    this.#disk = disk
    this.#device = device
  }

  /** Opens a device with an empty history on a place. */
  static async open(place: StoryPlace): Promise<World> {
    const store = makeSyncStore()
    const raw = await place.open()
    const disk = shakyDiskOver(raw)
    const device = await openHistory(store, { disk, tokens: { usd: 'USD' } })
    return new World({ store, place, raw, disk, device })
  }

  async close(): Promise<void> {
    await this.#device.table.close()
    await this.#device.repo.close()
    await this.#raw.close?.()
  }

  async play({ steps, restart, query }: HistoryRound): Promise<void> {
    const isForgetting = steps.some(({ kind }) => kind === 'resync')
    const running = steps
      .filter(({ kind }) => !(kind === 'full' && isForgetting))
      .map(step => this.#begin(step).catch(passOver))
    await Promise.all(running)
    await this.#device.settled()
    this.#disk.calm()
    // Whoever read a file that did not get onto the disk reads it again with the next sync.
    if (steps.some(({ kind }) => kind === 'full')) await this.#device.sync()
    await this.#device.settled()
    if (restart !== undefined) await this.#restart(restart)
    for (const asset of TOKEN_IDS) await this.#check(asset, query)
  }

  async emit(reports: readonly EngineTransaction[]): Promise<void> {
    for (const report of reports) {
      const reported: Reported = this.#reported.get(report.txid) ?? new Map()
      const { date, blockHeight } = report
      for (const [asset, other] of reported) reported.set(asset, { ...other, date, blockHeight })
      this.#reported.set(report.txid, reported.set(report.tokenId, report))
    }
    await this.#device.table.applyReports(reports)
  }

  async #begin(step: Step): Promise<unknown> {
    const { table } = this.#device
    if (step.kind === 'report') return this.emit([reportOf(step)])
    if (step.kind === 'note')
      return table.saveMetadata({ txid: step.txid, tokenId: step.tokenId }, { name: step.name })
    if (step.kind === 'afar') return this.#store.put(this.#fileFromAfar(step))
    if (step.kind === 'sync') return this.#device.sync()
    if (step.kind === 'height') return table.applyHeight(step.height)
    if (step.kind === 'full') {
      this.#isBehind = true
      return this.#disk.fail({ call: 'set', at: step.at, arrives: false, isFull: true })
    }
    this.#reported.clear()
    return table.clear()
  }

  #fileFromAfar({ txid: id, date, metadata, tokenId: asset }: StepOf<'afar'>) {
    const path = `transaction/${date}-${this.#device.hashOf(id)}.json`
    const tokens = { [asset ?? '']: { metadata } }
    const file = { txid: id, internal: false, creationDate: date, currencies: {}, tokens }
    return { [path]: metadata === null ? null : boxOf(JSON.stringify(file)) }
  }

  async #restart(how: 'cut' | 'close'): Promise<void> {
    if (how === 'close') await this.close()
    else {
      await this.#disk.cutPower()
      await this.#place.crash(this.#raw)
    }
    this.#raw = await this.#place.open()
    this.#disk = shakyDiskOver(this.#raw)
    this.#device = await this.#device.again({ disk: this.#disk })
    if (this.#isBehind)
      await this.emit([...this.#reported.values()].flatMap(reported => [...reported.values()]))
  }

  async #check(asset: string | null, query: StreamQuery): Promise<void> {
    const { table, reports } = this.#device
    // A disk was full, or another device deleted or replaced what was edited a moment ago: both are told.
    const isExpected = (error: unknown): boolean =>
      isWalletError(error, 'STORAGE_FULL') || isWalletError(error, 'SYNC_CONFLICT')
    const odd = reports.find(error => !isExpected(error))
    if (odd !== undefined) throw odd
    const listed = await listTransactions(table, { tokenId: asset })
    expectSame('facts', factsOf(listed).sort(), (await this.#expected(asset)).sort())
    const dates = listed.map(({ date }) => date)
    expectSame(
      'order',
      dates,
      dates.toSorted((a, b) => b - a)
    )
    const { batchSize: _, ...plain } = { ...query, tokenId: asset }
    const wanted = factsOf(naiveList(listed, plain))
    expectSame('list', factsOf(await listTransactions(table, plain)), wanted)
    const streamed: Transaction[] = []
    for await (const batch of streamTransactions(table, { ...query, tokenId: asset })) streamed.push(...batch)
    expectSame('stream', factsOf(streamed), wanted)
    const found = await Promise.all(listed.slice(0, 8).map(tx => table.find(tx.txid, asset)))
    expectSame('find', found, listed.slice(0, 8))
  }

  async #expected(asset: string | null): Promise<string[]> {
    const files = await this.#files()
    return [...this.#reported].flatMap(([id, reported]) => {
      const report = reported.get(asset)
      const fee = asset === null && [...reported.values()].some(one => one.parentNetworkFee !== undefined)
      if (report === undefined && !fee) return []
      const [{ date, blockHeight } = incoming(id)] = reported.values()
      const own = files.get(this.#device.hashOf(id)) ?? []
      const shown = Math.min(date, ...own.slice(0, 1).map(({ creationDate }) => creationDate))
      const noted = (key: string) => own.map(({ tokens }) => tokens[key]?.metadata.name)
      const names = [...(asset === null ? [] : noted(asset)), ...noted('')]
      const name = names.find(text => text !== undefined)
      return [factOf({ txid: id, date: shown, blockHeight, name, amount: report?.nativeAmount ?? '0' })]
    })
  }

  /** The files in the repo by the hash of their transaction, the oldest first. */
  async #files(): Promise<Map<string, PlainFile[]>> {
    const byHash = new Map<string, PlainFile[]>()
    for (const path of await this.#device.repo.list('transaction')) {
      const [, date, hash = ''] = /(\d+)-(\w+)\.json$/.exec(path) ?? []
      const file = (await this.#device.json(path)) as PlainFile
      byHash.set(hash, [...(byHash.get(hash) ?? []), { ...file, inName: Number(date) }])
    }
    for (const list of byHash.values()) list.sort((a, b) => a.inName - b.inName)
    return byHash
  }
}

interface PlainFile {
  readonly inName: number
  readonly creationDate: number
  readonly tokens: Readonly<Record<string, { readonly metadata: Metadata }>>
}

const reportOf = ({
  txid: id,
  isSend,
  hasFee,
  tokenId: asset,
  ...rest
}: StepOf<'report'>): EngineTransaction =>
  incoming(id, {
    ...{ date: rest.date, blockHeight: rest.blockHeight, tokenId: asset },
    nativeAmount: nativeAmount(isSend ? '-7' : '7'),
    ...(hasFee && asset !== null ? { parentNetworkFee: nativeAmount('1') } : {})
  })

/** A disk that is full for a moment, and a note on what has not been told, are part of the game. */
const passOver = (error: unknown): void => {
  if (!isWalletError(error, 'STORAGE_FULL') && !isWalletError(error, 'TX_NOT_FOUND')) throw error
}

interface Facts extends Pick<Transaction, 'blockHeight' | 'date' | 'txid'> {
  readonly name: string | undefined
  readonly amount: string
}

const factOf = ({ txid: id, date, blockHeight, name, amount }: Facts): string =>
  JSON.stringify([id, date, blockHeight, name ?? null, amount])

const factsOf = (transactions: readonly Transaction[]): string[] =>
  transactions.map(({ metadata, nativeAmount: amount, ...tx }) =>
    factOf({ ...tx, name: metadata.name, amount })
  )

const expectSame = (what: string, found: unknown, expected: unknown): void => {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)]
  if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`)
}

/**
 * Plays rounds on the history of a device that keeps it on a place, and looks at it after each.
 *
 * @param received - how many transactions are there before
 * @throws Error at the first answer that plain lists would not give
 */
export const playHistory = async (
  place: StoryPlace,
  rounds: readonly HistoryRound[],
  received = 0
): Promise<void> => {
  const world = await World.open(place)
  if (received > 0)
    await world.emit(
      Array.from({ length: received }, (_, index) =>
        incoming(`bulk${index}`, { date: NOW - 200 + index / 2 })
      )
    )
  for (const round of rounds) await world.play(round)
  await world.close()
}
