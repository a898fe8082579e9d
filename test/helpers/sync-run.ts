import { type Edit, EditHistory, type LossReason, REPEATED, WHOLE } from './edit-history.ts'
import type { MemoryKind } from './fault-store.ts'
import { syncKey } from './repo-device.ts'
import { SyncNetwork } from './sync-network.ts'
import { editOf, type SyncPlan, type SyncStep } from './sync-steps.ts'
import { makeDeployedDevice, openSyncedDevice, type SyncedDevice } from './synced-device.ts'
import { fieldsOf } from './synced-file.ts'

/** What many stories came to. */
export interface SyncTally {
  stories: number
  edits: number
  /** How often each trouble came. */
  readonly faultCounts: Map<string, number>
  /** Edits that are gone. */
  readonly losses: Record<LossReason, number>
  /** Stories with a deployed client in which an edit is gone, and no device has told. */
  unreported: number
}

/** An empty tally. */
export const makeSyncTally = (): SyncTally => ({
  stories: 0,
  edits: 0,
  faultCounts: new Map(),
  losses: { reported: 0, 'deployed client': 0, 'server replaced': 0 },
  unreported: 0
})

/**
 * Plays a story, lets the network be honest until nobody has anything to tell, and checks what is left.
 *
 * @throws Error if devices differ, or an edit is gone that nobody overwrote, and no device has told; with a deployed
 *   client among the devices such a story is counted
 */
export const runSyncPlan = async (
  plan: SyncPlan,
  tally: SyncTally = makeSyncTally(),
  medium: MemoryKind = 'disk'
): Promise<void> => {
  const history = new EditHistory()
  const network = new SyncNetwork(history, Buffer.from(syncKey).toString('hex'))
  // A deployed client never gets beyond a hash that is refused, and sends nothing again.
  network.isStrict = plan.isStrict && !plan.hasDeployed
  const world = { network, history, medium }
  const devices = [
    await openSyncedDevice('A', world),
    await openSyncedDevice('B', world),
    plan.hasDeployed ? makeDeployedDevice('C', network, history) : await openSyncedDevice('C', world)
  ]
  // Nobody can tell a replaced server from another device unless it says that it does not know the hash.
  const steps = plan.steps.filter(({ kind }) => kind !== 'replace' || network.isStrict)
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'visit') {
      const visitor = await openSyncedDevice(`visitor ${index}`, world)
      devices.push(visitor)
      await visit(visitor, network, step, `v${index}`)
    } else await play(devices, network, { step, name: `v${index}` })
  }
  await quiet(devices)
  const newcomer = await openSyncedDevice('new', world)
  await syncWhole(newcomer)
  // A deployed client does not say what it knew of, and sends nothing again: its edits may be merged as older ones.
  const foreign = history.edits.filter(({ device }) => plan.hasDeployed && device === 'C')
  history.excuse(
    foreign.map(({ id }) => id),
    'deployed client'
  )
  const fault = await check([...devices, newcomer], history, plan.hasDeployed)
  if (fault !== undefined && !plan.hasDeployed) throw new Error(fault)
  if (fault !== undefined) tally.unreported += 1
  tally.stories += 1
  tally.edits += history.edits.length
  for (const [what, count] of network.faultCounts)
    tally.faultCounts.set(what, (tally.faultCounts.get(what) ?? 0) + count)
  for (const [reason, count] of Object.entries(history.losses)) tally.losses[reason as LossReason] += count
}

const play = async (
  devices: readonly SyncedDevice[],
  network: SyncNetwork,
  { step, name }: { readonly step: Exclude<SyncStep, { kind: 'visit' }>; readonly name: string }
): Promise<void> => {
  if (step.kind === 'replace') return network.replace(step.steps)
  const device = devices[step.device] as SyncedDevice
  if (step.kind === 'edit') await device.edit(editOf(step, name))
  else if (step.kind === 'remove') await device.remove(step.path)
  else if (step.kind === 'begin') await device.beginSync()
  else if (step.kind === 'move') await device.move(step.fate)
  else if (step.kind === 'sync') await syncWhole(device)
  else if (step.kind === 'strike') device.strike(step.fault, step.again)
  else await device.restart(step.faults)
}

const visit = async (
  device: SyncedDevice,
  network: SyncNetwork,
  step: Extract<SyncStep, { kind: 'visit' }>,
  name: string
): Promise<void> => {
  await syncWhole(device)
  network.now += 3600_000
  await device.edit(editOf(step, name))
  await syncWhole(device)
}

/** A sync from beginning to end, or the rest of the present one, honestly served. */
export const syncWhole = async (device: SyncedDevice): Promise<void> => {
  await device.beginSync()
  while (device.isSyncing) await device.move('served')
}

const MAX_ROUNDS = 12

/** Everybody syncs until two whole rounds have changed nothing. */
const quiet = async (devices: readonly SyncedDevice[]): Promise<void> => {
  for (const device of devices) await device.restart()
  let before = ''
  for (let round = 0, same = 0; round < MAX_ROUNDS; round += 1) {
    for (const device of devices) await syncWhole(device)
    const now = await describe(devices)
    same = now === before && devices.every(({ pendingCount }) => pendingCount === 0) ? same + 1 : 0
    if (same === 2) return
    before = now
  }
  throw new Error(`There is no end of it: ${before}`)
}

const describe = async (devices: readonly SyncedDevice[]): Promise<string> =>
  JSON.stringify(await Promise.all(devices.map(async device => [...(await device.files())].sort())))

/** @throws Error if devices differ; returns what edit is gone that nobody overwrote, or told of beside a deployed client */
const check = async (
  devices: readonly SyncedDevice[],
  history: EditHistory,
  hasDeployed: boolean
): Promise<string | undefined> => {
  const reported = await Promise.all(devices.map(device => device.reported()))
  const isReported = ({ path, field, value }: Edit): boolean =>
    hasDeployed &&
    reported.some(
      ({ paths, kept }) =>
        paths.has(path) &&
        (value === undefined ||
          (kept.get(path) ?? []).some(text => fieldsOf(path, text).get(field) === value))
    )
  const [first, ...others] = await Promise.all(devices.map(device => device.files()))
  const files = first ?? new Map<string, string>()
  for (const [index, other] of others.entries()) {
    for (const path of new Set([...files.keys(), ...other.keys()])) {
      if (files.get(path) === other.get(path)) continue
      throw new Error(`${path}: ${files.get(path)} on A, ${other.get(path)} on ${devices[index + 1]?.name}`)
    }
  }
  for (const path of new Set(history.edits.map(edit => edit.path))) {
    const fields = fieldsOf(path, files.get(path))
    const edited = history.edits.filter(edit => edit.path === path).map(({ field }) => field)
    const names = path.endsWith('.json') ? [...fields.keys(), ...edited] : [WHOLE]
    for (const field of new Set(names)) {
      if (field === REPEATED || (field === WHOLE && path.endsWith('.json'))) continue
      const fault = history.faultOf(path, field, fields.get(field), isReported)
      if (fault !== undefined) return fault
    }
  }
  return undefined
}
