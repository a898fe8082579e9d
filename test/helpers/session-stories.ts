import { isWalletError } from '../../kernel/base/errors.ts'
import { openMarkedText } from '../../kernel/crypto/box.ts'
import { decodeProvenance, type Provenance } from '../../kernel/sync/lineage.ts'
import type { Box } from '../../kernel/types/keys.ts'
import { type Device, type DeviceOptions, dataKey, openDevice } from './repo-device.ts'
import { setText } from './repo-texts.ts'
import type { SyncStore } from './sync-store.ts'

/** The file of these stories. */
export const PATH = 's.json'

/** The fields of a file. */
export type Fields = Readonly<Record<string, unknown>>

/** The fields of the file on a device; none if there is no file. */
export const read = async (device: Device): Promise<Fields> => ((await device.json(PATH)) ?? {}) as Fields

/** What the file on a device says of the edits in it, the newest first. */
export const provenanceOf = async ({ repo, io }: Device): Promise<Provenance> => {
  const box = JSON.parse((await repo.getBox(PATH)) ?? '') as Box
  const { mark } = openMarkedText(io, { key: dataKey, box }, decodeProvenance)
  return mark ?? { lineage: new Map(), stamps: new Map() }
}

/** Gives some fields their values; undefined removes one. */
export const edit = async (device: Device, fields: Fields): Promise<void> => {
  await device.clock.advance(1000)
  await setText(device.repo, PATH, JSON.stringify({ ...(await read(device)), ...fields }))
}

/** A file that devices have, a few minutes after it was made. */
export const devicesWith = async (
  store: SyncStore,
  fields: Fields,
  count = 2,
  options: DeviceOptions = {}
): Promise<Device[]> => {
  const devices = await Promise.all(Array.from({ length: count }, () => openDevice(store, options)))
  for (const device of devices.slice(0, 1)) await edit(device, fields)
  for (const pause of [0, 300_000]) {
    for (const device of devices) {
      await device.clock.advance(pause)
      await device.sync()
    }
  }
  return devices
}

/** Lets many sessions of a device edit a field, and gives the last. */
export const manySessions = async (device: Device, field = 'y'): Promise<Device> => {
  let last = device
  for (let session = 1; session <= 25; session += 1) {
    last = await last.reopen()
    await edit(last, { [field]: session })
    await last.sync()
  }
  return last
}

/** Lets many devices edit a field, each once. */
export const manyDevices = async (
  store: SyncStore,
  field: string = 'y',
  count: number = 25
): Promise<void> => {
  for (let n = 1; n <= count; n += 1) {
    const device = await openDevice(store)
    await device.clock.advance(n * 3_600_000)
    await device.sync()
    await edit(device, { [field]: n })
    await device.sync()
    await device.repo.close()
  }
}

/** The number of uploads that a store has seen. */
export const uploadsOf = (store: SyncStore): number =>
  store.calls.filter(({ method }) => method === 'POST').length

/** Lets a task run after the upload of a device has left, if it has something to send, and before the server sees it. */
export const race = async (store: SyncStore, device: Device, task: () => Promise<unknown>): Promise<void> => {
  store.fault = async ({ method }) => {
    if (method !== 'POST') return undefined
    store.fault = undefined
    await task()
    return undefined
  }
  await device.sync()
  store.fault = undefined
}

/** Everybody syncs, twice or, of many, more often; after that nothing is sent any more, and nobody has reported a conflict. */
export const ends = async (
  store: SyncStore,
  devices: readonly Device[],
  { rounds = 2, mayConflict = false }: { readonly rounds?: number; readonly mayConflict?: boolean } = {}
): Promise<Fields> => {
  for (let round = 0; round < rounds; round += 1) for (const device of devices) await device.sync()
  const uploads = uploadsOf(store)
  for (const device of devices) await device.sync()
  const files = await Promise.all(devices.map(device => device.repo.getText(PATH)))
  if (uploadsOf(store) > uploads) throw new Error('There is no end of uploads')
  if (new Set(files).size > 1) throw new Error(`The devices differ: ${files.join(' ')}`)
  for (const { reports } of devices)
    for (const report of reports) if (!mayConflict && isWalletError(report, 'SYNC_CONFLICT')) throw report
  return read(devices[0] as Device)
}
