import type { Repo } from '../repo/repo.ts'
import { isRecord } from '../schema/fields.ts'
import { parseJson } from '../schema/parse.ts'
import type { Metadata } from '../types/transaction.ts'

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
export const readAddresses = async (
  repo: Repo,
  report: (error: unknown) => void
): Promise<AddressRecord[]> => {
  const records: AddressRecord[] = []
  for (const path of await repo.list(FOLDER)) {
    try {
      const text = await repo.getText(path)
      if (text !== undefined) records.push(parseAddress(parseJson(text, 'address file')))
    } catch (error) {
      report(error)
    }
  }
  return records
}

/** Writes an address under a name that hides it. The form is the one that deployed clients read (protocol §3.5). */
export const writeAddress = (repo: Repo, record: AddressRecord, addressHash: string): Promise<void> => {
  const { seq, address, recycleable, creationDate, metadata } = record
  const { exchangeAmount: _amounts, ...texts } = metadata
  return repo.setText(
    `${FOLDER}/${addressHash}.json`,
    JSON.stringify({
      seq,
      address,
      state: { recycleable, creationDate },
      meta: { amountSatoshi: 0, ...texts }
    })
  )
}

const parseAddress = (value: unknown): AddressRecord => {
  if (!isRecord(value) || typeof value.seq !== 'number' || typeof value.address !== 'string') {
    throw new TypeError('An address file has the wrong shape')
  }
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
