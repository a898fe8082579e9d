import { isRecord, type JsonObject, parseJson } from '../base/json.ts'
import { type FieldEdit, JsonFile, type JsonFileOptions, objectAt } from '../sync/json-file.ts'
import type { Repo } from '../sync/repo.ts'
import type { FileHash } from '../types/ids.ts'
import type { Metadata, MetadataChange } from '../types/transaction.ts'
import { mergeMetadata } from './history/metadata.ts'

const FOLDER = 'Addresses'

/** A saved receive address (specification §3 "Address file"). */
export interface AddressRecord {
  readonly seq: number
  readonly address: string
  /** False for a locked address: it is in use and never offered again. */
  readonly recycleable: boolean
  /** Unix seconds. */
  readonly creationDate: number
  readonly metadata: Metadata
}

/** Every address that the wallet remembers; a file that cannot be read is kept and handed to `report`. */
export const readAddresses = async (repo: Repo, report: (error: unknown) => void): Promise<AddressRecord[]> =>
  (await readRecords(repo, await repo.list(FOLDER), report)).map(({ record }) => record)

/** A change of one saved address. */
export interface AddressChange {
  readonly address: string
  /** False locks it for good; true leaves it as it is. */
  readonly recycleable: boolean
  readonly metadata: MetadataChange
}

/**
 * Edits the addresses that one wallet remembers, a file each (protocol §3.5), one edit after another.
 *
 * It remembers where they are; once another client has changed files of theirs, another takes its place.
 */
export class SavedAddresses {
  readonly #files: JsonFileOptions
  readonly #hashOf: (text: string) => FileHash
  /** The path of each address; read when first wanted. */
  #paths: ReadonlyMap<string, string> | undefined

  /** @param hashOf - the wallet's file-name hash */
  constructor(files: JsonFileOptions, hashOf: (text: string) => FileHash) {
    this.#files = files
    this.#hashOf = hashOf
  }

  /**
   * Changes what is remembered of an address, in the file that it has under any name, or in a new one under a name that
   * hides it. The form is the one that deployed clients read; what else they keep there stays.
   *
   * @throws STORAGE_FULL, STORAGE_FAILED
   */
  async edit(change: AddressChange): Promise<void> {
    const path = await this.#pathOf(change.address)
    await new JsonFile(this.#files, path).edit(fields =>
      editsOf(fields, change, this.#files.clock.now() / 1000)
    )
  }

  /** Each file is read once, however many addresses are looked for. */
  async #pathOf(address: string): Promise<string> {
    const { repo } = this.#files
    const hidden = `${FOLDER}/${this.#hashOf(address)}.json`
    if (await repo.has(hidden)) return hidden
    this.#paths ??= await readPaths(repo)
    const path = this.#paths.get(address)
    if (path === undefined) return hidden
    // A sync that is still under way may have made something else of that file.
    const [present] = await readRecords(repo, [path], ignoreError)
    return present?.record.address === address ? path : hidden
  }
}

/** Of several files of an address, the first counts. */
const readPaths = async (repo: Repo): Promise<ReadonlyMap<string, string>> => {
  const placed = await readRecords(repo, await repo.list(FOLDER), ignoreError)
  return new Map(placed.reverse().map(({ path, record }) => [record.address, path]))
}

/** Ignores files that cannot be read: listing the addresses reports them. */
const ignoreError = (): void => {}

const editsOf = (
  fields: JsonObject | undefined,
  { address, recycleable, metadata }: AddressChange,
  seconds: number
): readonly FieldEdit[] => {
  const known = isAddress(fields) ? recordOf(fields) : undefined
  const { name, category, notes } = mergeMetadata(known?.metadata ?? {}, metadata)
  const meta = objectAt(fields ?? {}, ['meta'])
  const { bizId } = metadata
  return [
    { path: ['seq'], value: known?.seq ?? 0 },
    { path: ['address'], value: address },
    { path: ['state', 'recycleable'], value: recycleable && (known?.recycleable ?? true) },
    { path: ['state', 'creationDate'], value: known?.creationDate ?? seconds },
    { path: ['meta', 'amountSatoshi'], value: meta?.amountSatoshi ?? 0 },
    { path: ['meta', 'name'], value: name },
    { path: ['meta', 'category'], value: category },
    { path: ['meta', 'notes'], value: notes },
    ...(bizId === undefined ? [] : [{ path: ['meta', 'bizId'], value: bizId ?? undefined }])
  ]
}

interface LocatedRecord {
  readonly path: string
  readonly record: AddressRecord
}

const readRecords = async (
  repo: Repo,
  paths: readonly string[],
  report: (error: unknown) => void
): Promise<LocatedRecord[]> => {
  const records: LocatedRecord[] = []
  for (const path of paths) {
    try {
      const text = await repo.getText(path)
      if (text !== undefined) records.push({ path, record: parseAddress(parseJson(text, 'address file')) })
    } catch (error) {
      report(error)
    }
  }
  return records
}

const parseAddress = (value: unknown): AddressRecord => {
  if (isAddress(value)) return recordOf(value)
  throw new TypeError('An address file has the wrong shape')
}

type AddressFields = Record<string, unknown> & Pick<AddressRecord, 'address' | 'seq'>

const isAddress = (value: unknown): value is AddressFields =>
  isRecord(value) && typeof value.seq === 'number' && typeof value.address === 'string'

const recordOf = (value: AddressFields): AddressRecord => {
  const state = isRecord(value.state) ? value.state : {}
  const meta = isRecord(value.meta) ? value.meta : {}
  const textOf = (key: 'name' | 'category' | 'notes'): Metadata =>
    typeof meta[key] === 'string' ? { [key]: meta[key] } : {}
  return {
    seq: value.seq,
    address: value.address,
    recycleable: state.recycleable !== false,
    creationDate: typeof state.creationDate === 'number' ? state.creationDate : 0,
    metadata: { ...textOf('name'), ...textOf('category'), ...textOf('notes') }
  }
}
