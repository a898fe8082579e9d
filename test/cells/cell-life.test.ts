import test from 'ava'
import { Cell } from '../../cells/cell.ts'
import type { CellFault, ThreadRequest } from '../../cells/platform.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'

const READY = JSON.stringify({
  ...{ type: 'ready', taps: [], answers: {} },
  found: { kind: 'rates', id: 'corner', apply: { $: 'function' } }
})

/** A cell whose threads are played by the test. */
const openStage = () => {
  const clock = makeFakeClock()
  const started: ThreadRequest[] = []
  const killed: number[] = []
  const faults: CellFault[] = []
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const cell = new Cell({
    ...{ pluginId: 'corner', code: '', options: {}, hooks: {}, parts: [], log },
    grants: { kind: 'rates', hosts: [], keys: false },
    onFault: fault => faults.push(fault),
    platform: {
      clock,
      start(request) {
        const at = started.push(request) - 1
        return { send() {}, hold() {}, kill: () => killed.push(at) }
      }
    }
  })
  return { clock, started, killed, faults, cell, opened: cell.open() }
}

test('a cell that is closed while it starts is no fault later', async t => {
  const { clock, cell, opened, faults, started } = openStage()
  const refused = t.throwsAsync(opened, { code: 'CONTEXT_CLOSED' })
  cell.close()
  await refused
  await clock.advance(60_000)
  t.deepEqual(faults, [])
  t.is(started.length, 1)
})

test('a thread that ended while it started does not take the next one with it', async t => {
  const { clock, opened, killed, faults, started } = openStage()
  started[0]?.onText(READY)
  await opened
  started[0]?.onEnd({ reason: 'error', blame: 'this' })
  await clock.advance(1000)
  // It sends what no cell sends, before it says what it is.
  started[1]?.onText('nonsense')
  await clock.advance(2000)
  t.is(started.length, 3)
  started[2]?.onText(READY)
  await clock.advance(60_000)
  t.deepEqual(killed, [1])
  t.is(started.length, 3)
  t.is(faults.at(-1)?.state, 'running')
})
