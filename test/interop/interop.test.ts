import test from 'ava'
import { Mutex } from '../../kernel/base/mutex.ts'
import { type Cell, type Flow, pairOf, titleOf } from './flow.ts'
import { CELLS, makeFlowTable } from './flow-table.ts'
import { appFlows } from './flows/app-flows.ts'
import { credentialFlows } from './flows/credential-flows.ts'
import { edgeFlows } from './flows/edge-flows.ts'
import { fakeUserFlows } from './flows/fake-user-flows.ts'
import { fileFlows } from './flows/file-flows.ts'
import { folderFlows } from './flows/folder-flows.ts'
import { historyFlows } from './flows/history-flows.ts'
import { legacyFlows } from './flows/legacy-flows.ts'
import { wayInFlows } from './flows/login-method-flows.ts'
import { recoveryFlows } from './flows/recovery-flows.ts'
import { refreshFlows } from './flows/refresh-flows.ts'
import { settingsFlows } from './flows/settings-flows.ts'
import { twoFactorFlows } from './flows/two-factor-flows.ts'
import { usernameFlows } from './flows/username-flows.ts'
import { vectorFlows } from './flows/vector-flows.ts'
import { voucherFlows } from './flows/voucher-flows.ts'
import { walletFlows } from './flows/wallet-flows.ts'
import { walletListFlows } from './flows/wallet-list-flows.ts'
import { type InteropWorld, openInteropWorld } from './interop-world.ts'
import { PEER_VERSIONS, type PeerVersion, preparePeer } from './peer-package.ts'

// Holdfast and two versions of the published core, each in a process of its own, over real HTTP. Each version has
// worlds for itself, so that stories go on side by side: two, and one for those that mostly wait.

const FLOWS: readonly Flow[] = [
  ...wayInFlows,
  ...credentialFlows,
  ...usernameFlows,
  ...recoveryFlows,
  ...twoFactorFlows,
  ...voucherFlows,
  ...edgeFlows,
  ...appFlows,
  ...fileFlows,
  ...fakeUserFlows,
  ...walletFlows,
  ...walletListFlows,
  ...settingsFlows,
  ...historyFlows,
  ...legacyFlows,
  ...vectorFlows,
  ...folderFlows,
  ...refreshFlows
]

/** A world whose stories go on one after another. */
interface OpenWorld {
  readonly mutex: Mutex
  readonly world: InteropWorld
}

const SERIES = ['even', 'odd', 'waiting'] as const

const openWorlds = new Map<string, OpenWorld>()
const table = makeFlowTable(FLOWS, ({ version }) => openWorlds.has(worldName(version, 'even')))
const absent = new Map<PeerVersion, string>()
let people = 0

test.before(async t => {
  t.timeout(250_000)
  for (const version of PEER_VERSIONS) {
    const peer = await preparePeer(version)
    if ('reason' in peer) {
      absent.set(version, peer.reason)
      continue
    }
    for (const series of SERIES) {
      const world = await openInteropWorld(version, peer.folder)
      openWorlds.set(worldName(version, series), { mutex: new Mutex(), world })
    }
  }
})

test.after.always(async () => {
  await Promise.all([...openWorlds.values()].map(({ world }) => world.close()))
})

/** The published core may not have known what it writes over within two minutes; that is told (ADR 0031). */
const MAY_HAVE_UNDONE = /another app wrote it without saying what it knew of/

const worldName = (version: PeerVersion, series: (typeof SERIES)[number]): string => `${version}, ${series}`

/** Stories that wait go one after another in a world of their own; the others take turns in two. */
const seriesOf = (flow: Flow): (typeof SERIES)[number] => {
  if (flow.isSlow === true) return 'waiting'
  return FLOWS.indexOf(flow) % 2 === 0 ? 'even' : 'odd'
}

const emit = (flow: Flow, cell: Cell): void => {
  test(titleOf(flow, cell), async t => {
    t.timeout(900_000)
    const openWorld = openWorlds.get(worldName(cell.version, seriesOf(flow)))
    if (openWorld === undefined) {
      t.log(`skipped: ${absent.get(cell.version)}`)
      return t.pass()
    }
    const { mutex, world } = openWorld
    await mutex.run(async () => {
      t.timeout(120_000)
      const pair = pairOf(world, cell, () => ++people)
      const run = flow.run(t, pair).finally(async () => {
        const failures = await world.stopDevices()
        t.deepEqual(
          failures.filter(
            failure => !MAY_HAVE_UNDONE.test(failure) && flow.mayReport?.test(failure) !== true
          ),
          []
        )
      })
      await run
      table.passed(flow, cell)
    })
  })
}

for (const flow of FLOWS) {
  for (const cell of CELLS) {
    if (flow.lacking?.(cell) === undefined) emit(flow, cell)
  }
}

test('every flow works with each version in each direction', async t => {
  t.timeout(900_000)
  await Promise.all([...openWorlds.values()].map(({ mutex }) => mutex.settled()))
  for (const line of table.lines()) t.log(line)
  for (const reason of absent.values()) t.log(`skipped: ${reason}`)
  t.deepEqual(table.failures(), [])
})
