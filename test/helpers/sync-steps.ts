import fc from 'fast-check'
import type { Fault, FaultKind } from './fault-disk.ts'
import type { RequestFate } from './sync-wire.ts'
import type { FileEdit } from './synced-file.ts'

/** One step of a story; `device` counts from 0. */
export type SyncStep =
  | {
      readonly kind: 'edit'
      readonly device: number
      readonly path: string
      readonly fields: readonly FieldChange[]
    }
  | { readonly kind: 'remove'; readonly device: number; readonly path: string }
  /** Begins a sync. */
  | { readonly kind: 'begin'; readonly device: number }
  /** Brings the request of a sync to the server, or the reply back. */
  | { readonly kind: 'move'; readonly device: number; readonly fate: RequestFate }
  /** A whole sync, honestly served. */
  | { readonly kind: 'sync'; readonly device: number }
  | {
      readonly kind: 'strike'
      readonly device: number
      readonly fault: Fault
      /** What befalls the starts after it. */
      readonly again: readonly Fault[]
    }
  /** Somebody opens the repo on a new device, edits a file, and uses the device again only when all is over. */
  | { readonly kind: 'visit'; readonly path: string; readonly fields: readonly FieldChange[] }
  | { readonly kind: 'restart'; readonly device: number; readonly faults: readonly Fault[] }
  /** The server is replaced by itself as it was so many changes ago. */
  | { readonly kind: 'replace'; readonly steps: number }

/** A field, and whether it is removed. */
export interface FieldChange {
  readonly field: string
  readonly isRemoved: boolean
}

/** A story of three devices. */
export interface SyncPlan {
  readonly steps: readonly SyncStep[]
  /** Whether the third device runs a deployed client. */
  readonly hasDeployed: boolean
  /** Whether the server answers 404 to a hash that it does not know. */
  readonly isStrict: boolean
}

const PATHS = ['s.json', 't.json', 'w.txt']
const FIELDS = ['x', 'y', 'n.a', 'n.b']
const FATES: readonly RequestFate[] = [
  ...(['lost', 'refused', 'twice', 'forgotten', 'reply lost', 'reply cut', 'reply old'] as const)
]
const KINDS: readonly FaultKind[] = ['lost', 'torn', 'empty', 'late', 'full', 'gone']

const device = fc.nat(2)
const path = fc.constantFrom(...PATHS)
const fieldChange: fc.Arbitrary<FieldChange> = fc.record({
  field: fc.constantFrom(...FIELDS),
  isRemoved: fc.nat(4).map(number => number === 0)
})
const fault: fc.Arbitrary<Fault> = fc.record({
  at: fc.integer({ min: 1, max: 3 }),
  kind: fc.constantFrom(...KINDS),
  share: fc.constantFrom(0.02, 0.3, 0.7, 0.99)
})
const startFault: fc.Arbitrary<Fault> = fc.record({
  at: fc.integer({ min: 1, max: 2 }),
  kind: fc.constantFrom(...KINDS)
})
const fate = fc.oneof(
  { weight: 4, arbitrary: fc.constant<RequestFate>('served') },
  { weight: 1, arbitrary: fc.constantFrom(...FATES) }
)

const anyStep: fc.Arbitrary<SyncStep> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      device,
      path,
      fields: fc.uniqueArray(fieldChange, { minLength: 1, maxLength: 2, selector: ({ field }) => field })
    })
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), device, path }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('begin' as const), device }) },
  { weight: 14, arbitrary: fc.record({ kind: fc.constant('move' as const), device, fate }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('sync' as const), device }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('strike' as const),
      device,
      fault,
      again: fc.array(startFault, { maxLength: 2 })
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('restart' as const),
      device,
      faults: fc.array(startFault, { maxLength: 2 })
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('replace' as const), steps: fc.constantFrom(1, 2, 1000) })
  }
)

/** Any story. */
export const anySyncPlan: fc.Arbitrary<SyncPlan> = fc.record({
  steps: fc.array(anyStep, { minLength: 5, maxLength: 80, size: 'max' }),
  hasDeployed: fc.boolean(),
  isStrict: fc.boolean()
})

interface Burst {
  readonly at: number
  readonly steps: readonly SyncStep[]
}

const burst = {
  at: fc.nat(1000),
  path,
  field: fc.constantFrom(...FIELDS),
  every: fc.constantFrom(1, 4),
  sessions: fc.integer({ min: 5, max: 30 })
}

/** Many sessions of a device, one after another, that edit one file. */
const anySessions: fc.Arbitrary<Burst> = fc
  .record({ ...burst, device, syncEvery: fc.constantFrom(1, 1, 1, 5) })
  .map(({ at, device, path, field, every, sessions, syncEvery }) => ({
    at,
    steps: Array.from({ length: sessions }, (_, n): SyncStep[] => [
      { kind: 'restart', device, faults: [] },
      { kind: 'edit', device, path, fields: [{ field: n % every === 0 ? field : 'z', isRemoved: false }] },
      ...(n % syncEvery === 0 ? [{ kind: 'sync', device } as const] : [])
    ]).flat()
  }))

/**
 * Many new devices, one after another, that edit a file of their own, each within an hour, and after all that was on its way has
 * arrived; and edits of the three beside that.
 */
const anyVisits: fc.Arbitrary<Burst> = fc
  .record({
    ...burst,
    edits: fc.array(
      fc.record({ at: fc.nat(40), device, isSynced: fc.boolean(), fields: fc.tuple(fieldChange) }),
      {
        maxLength: 4
      }
    )
  })
  .map(({ at, field, every, sessions, edits }) => {
    const path = 'visited.json'
    const steps: SyncStep[] = Array.from({ length: sessions }, (_, n) => ({
      kind: 'visit',
      path,
      fields: [{ field: n % every === 0 ? field : 'z', isRemoved: false }]
    }))
    for (const { at, device, isSynced, fields } of edits) {
      const sync: SyncStep[] = isSynced ? [{ kind: 'sync', device }] : []
      steps.splice(at % (steps.length + 1), 0, { kind: 'edit', path, device, fields }, ...sync)
    }
    return {
      at,
      steps: [...[0, 1, 2, 0, 1, 2].map((device): SyncStep => ({ kind: 'sync', device })), ...steps]
    }
  })

/** Any story with files that more sessions, or more devices, have edited than a version lists. */
export const anyLongSyncPlan: fc.Arbitrary<SyncPlan> = fc
  .record({
    plan: anySyncPlan,
    bursts: fc.array(fc.oneof({ weight: 3, arbitrary: anySessions }, { weight: 1, arbitrary: anyVisits }), {
      minLength: 1,
      maxLength: 3
    })
  })
  .map(({ plan, bursts }) => {
    const steps = [...plan.steps]
    for (const burst of bursts) steps.splice(burst.at % (steps.length + 1), 0, ...burst.steps)
    return { ...plan, steps }
  })

/** The edit of a step, with values that nobody else ever writes. */
export const editOf = (
  { path, fields }: Extract<SyncStep, { kind: 'edit' | 'visit' }>,
  name: string
): FileEdit => {
  if (!path.endsWith('.json')) return { path, fields: { '': name } }
  return {
    path,
    fields: Object.fromEntries(fields.map(({ field, isRemoved }) => [field, isRemoved ? undefined : name]))
  }
}
