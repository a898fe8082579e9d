import { Secret } from '../../kernel/base/secret.ts'
import type { Disk } from '../../kernel/io/disk.ts'
import {
  type BulkChange,
  type BulkRow,
  type BulkTable,
  parseBulkPrefixes
} from '../../kernel/repo/store/bulk.ts'
import { openRepoStore, type RepoStoreOptions } from '../../kernel/repo/store/open-store.ts'
import type { SealedStore } from '../../kernel/repo/store/sealed-store.ts'
import { makeFaultDisk } from './fault-disk.ts'
import { makeRepoIo } from './repo-io.ts'

const io = makeRepoIo()

const FOLDER = 'repos/r'
const KEY: Uint8Array = new Uint8Array(32).fill(7)

/** A store with the tables `t/` and `u/<name>/`. */
export interface OpenedStore {
  readonly store: SealedStore
  /** `t/`. */
  readonly table: BulkTable
  readonly reports: unknown[]
  readonly key: Secret<Uint8Array>
}

/** Opens a store with small blocks. What notes its damage is the entry `damaged`, unless something else is given. */
export const openTestStore = async (
  files: Map<string, string>,
  disk: Disk = makeFaultDisk(files),
  damaged: RepoStoreOptions['damaged'] = () => new Map([['damaged', 'yes']])
): Promise<OpenedStore> => {
  const reports: unknown[] = []
  const key = new Secret(KEY.slice())
  const store = await openRepoStore({
    ...{ io, disk, folder: FOLDER, key, bulk: parseBulkPrefixes(['t/', 'u/+/']) },
    ...{
      paths: await disk.list(FOLDER),
      report: (error: unknown) => void reports.push(error),
      blockLength: 600
    },
    damaged
  })
  return { store, table: store.table('t/'), reports, key }
}

/** Rows k0, k1 … whose order is their number, each with about 60 letters. */
export const rowsOf = (count: number, from = 0, text: string = 'x'.repeat(60)): Map<string, BulkChange> =>
  new Map(
    Array.from({ length: count }, (_, i) => {
      const number = from + i
      return [`t/k${number}`, { text: `${number} ${text}`, order: number, mark: number % 7 }]
    })
  )

/** Rows k0, k1 … with these orders. */
export const rowsAt = (orders: readonly number[], from = 0): Map<string, BulkChange> =>
  new Map(
    orders.map((order, n) => [
      `t/k${from + n}`,
      { text: `${from + n} ${'x'.repeat(80)}`, order, mark: (order % 3) + 1 }
    ])
  )

/** The keys of rows. */
export const keysOf = (rows: readonly BulkRow[]): string[] => rows.map(({ key }) => key)

/** All rows of a table, as a scan gives them. */
export const allOf = async (table: BulkTable, ordered = false): Promise<BulkRow[]> => {
  const rows: BulkRow[] = []
  for await (const batch of table.scan({ ordered })) rows.push(...batch)
  return rows
}
