import { objectAt } from '../repo/json-file.ts'
import type { Repo } from '../repo/repo.ts'
import { isRecord } from '../schema/fields.ts'
import { parseJson } from '../schema/parse.ts'
import type { Metadata, MetadataChange } from '../types/transaction.ts'
import { mergeMetadata } from './history/metadata.ts'
import { jsonFileOf, type WalletFiles } from './wallet-settings.ts'

const FOLDER = 'Addresses'

/** A receive address that the wallet remembers (specification §3 "Address file"). */
export interface AddressRecord {
  readonly seq: number
  readonly address: string
  /** False once it is locked: it is given out and counts as used. */
  readonly recycleable: boolean
  /** Unix seconds. */
  readonly creationDate: number
  readonly metadata: Metadata
}

/** Every address that the wallet remembers; a file that cannot be read is kept and handed to `report`. */
export const readAddresses = async (repo: Repo, report: (error: unknown) => void): Promise<AddressRecord[]> =>
  (await readPlaced(repo, report)).map(({ record }) => record)

/** What becomes of one address. */
export interface AddressChange {
  readonly address: string
  /** False locks it for good; true leaves it as it is. */
  readonly recycleable: boolean
  readonly metadata: MetadataChange
}

/**
 * Changes what the wallet remembers of an address, in the file that it has under any name, or in a new one under a name
 * that hides it. The form is the one that deployed clients read (protocol §3.5); what else they keep there stays.
 *
 * @param hashOf - the wallet's file-name hash
 * @throws STORAGE_FULL, STORAGE_FAILED
 */
export const editAddress = async (
  files: WalletFiles,
  hashOf: (text: string) => string,
  { address, recycleable, metadata }: AddressChange
): Promise<void> => {
  const { repo, clock } = files
  const hidden = `${FOLDER}/${hashOf(address)}.json`
  // What cannot be read is reported by whoever lists them.
  const placed = (await readPlaced(repo, () => {})).filter(({ record }) => record.address === address)
  const found = placed.find(({ path }) => path === hidden) ?? placed[0]
  await jsonFileOf(files, found?.path ?? hidden).edit(fields => {
    const known = isAddress(fields) ? recordOf(fields) : undefined
    const { name, category, notes } = mergeMetadata(known?.metadata ?? {}, metadata)
    const meta = objectAt(fields ?? {}, ['meta'])
    const { bizId } = metadata
    return [
      { path: ['seq'], value: known?.seq ?? 0 },
      { path: ['address'], value: address },
      { path: ['state', 'recycleable'], value: recycleable && (known?.recycleable ?? true) },
      { path: ['state', 'creationDate'], value: known?.creationDate ?? clock.now() / 1000 },
      { path: ['meta', 'amountSatoshi'], value: meta?.amountSatoshi ?? 0 },
      { path: ['meta', 'name'], value: name },
      { path: ['meta', 'category'], value: category },
      { path: ['meta', 'notes'], value: notes },
      ...(bizId === undefined ? [] : [{ path: ['meta', 'bizId'], value: bizId ?? undefined }])
    ]
  })
}

interface PlacedRecord {
  readonly path: string
  readonly record: AddressRecord
}

const readPlaced = async (repo: Repo, report: (error: unknown) => void): Promise<PlacedRecord[]> => {
  const records: PlacedRecord[] = []
  for (const path of await repo.list(FOLDER)) {
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
