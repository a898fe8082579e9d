import test from 'ava'
import { Cell } from '../../cells/cell.ts'
import type { CellFault, ThreadRequest } from '../../cells/platform.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'

const READY = JSON.stringify({
  ...{ type: 'ready', taps: [], answers: {} },
  found: { kind: 'rates', id: 'corner', apply: { $: 'function' } }
})

/** A cell whose threads are played by the test. */
const openStage = (kind: 'policy' | 'rates' = 'rates') => {
  const clock = makeFakeClock()
  const started: ThreadRequest[] = []
  const killed: number[] = []
  const faults: CellFault[] = []
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  /** What the system says in place of a thread. */
  const system: { error?: Error } = {}
  const cell = new Cell({
    ...{ pluginId: 'corner', code: '', options: {}, hooks: {}, parts: [], log },
    grants: { kind, hosts: [], keys: false },
    onFault: fault => faults.push(fault),
    platform: {
      clock,
      start(request) {
        if (system.error !== undefined) throw system.error
        const at = started.push(request) - 1
        return { send() {}, hold() {}, kill: () => killed.push(at) }
      }
    }
  })
  return { clock, started, killed, faults, cell, system, open: () => cell.open() }
}

test('a cell that is closed while it starts is no fault later', async t => {
  const { clock, cell, open, faults, started } = openStage()
  const opened = open()
  const refused = t.throwsAsync(opened, { code: 'CONTEXT_CLOSED' })
  cell.close()
  await refused
  await clock.advance(60_000)
  t.deepEqual(faults, [])
  t.is(started.length, 1)
})

test('a thread that ended while it started does not take the next one with it', async t => {
  const { clock, open, killed, faults, started } = openStage()
  const opened = open()
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

const FULL = Object.assign(new Error("ENOSPC: no space left, mkdtemp '/home/me/x'"), { code: 'ENOSPC' })

test('a cell that the system does not start again is reported, rejects what waits, and is tried again', async t => {
  const { clock, open, faults, started, system, cell } = openStage()
  const opened = open()
  started[0]?.onText(READY)
  await opened
  system.error = FULL
  const waiting = t.throwsAsync(cell.call({ target: { hook: 'ready' }, isRepeatable: true }), {
    code: 'PLUGIN_FAILED',
    message: /the system does not start its thread \(ENOSPC\)/
  })
  started[0]?.onEnd({ reason: 'died', blame: 'neighbour' })
  await waiting
  t.deepEqual(faults, [
    {
      ...{ pluginId: 'corner', state: 'restarting' },
      reason: 'the system does not start its thread (ENOSPC)'
    }
  ])
  delete system.error
  await clock.advance(250)
  started[1]?.onText(READY)
  t.is(faults.at(-1)?.state, 'running')
  await clock.advance(60_000)
  t.is(started.length, 2)
})

test('a cell that the system never starts again stays stopped with the reason', async t => {
  const { clock, open, faults, started, system, cell } = openStage()
  const opened = open()
  started[0]?.onText(READY)
  await opened
  system.error = FULL
  started[0]?.onEnd({ reason: 'died', blame: 'unclear' })
  await clock.advance(60_000)
  t.deepEqual(
    faults.map(({ state }) => state),
    ['restarting', 'restarting', 'stopped']
  )
  await t.throwsAsync(cell.call({ target: { hook: 'ready' }, isRepeatable: true }), {
    message: /stopped after 3 faults in ten minutes, the last: the system does not start its thread/
  })
})

test('a cell that the system does not start at all is refused, without a word of its folders', async t => {
  const { clock, open, faults, system } = openStage()
  system.error = FULL
  const error = await t.throwsAsync(open(), { code: 'PLUGIN_FAILED' })
  t.regex(error?.message ?? '', /does not start its thread \(ENOSPC\)/)
  t.notRegex(error?.message ?? '', /home/)
  await clock.advance(60_000)
  t.deepEqual(faults, [])
})

test('a policy that taps other hooks in a later life than in its first is stopped', async t => {
  const { open, faults, started, cell } = openStage('policy')
  const ready = (...hooks: string[]): string =>
    JSON.stringify({
      ...{ type: 'ready', taps: hooks.map(hook => ({ hook })), answers: {} },
      found: { kind: 'policy', id: 'corner', apply: { $: 'function' } }
    })
  const opened = open()
  started[0]?.onText(ready('judgeRules'))
  await opened
  const failures: string[] = []
  cell.onFailure(({ message }) => failures.push(message))
  started[0]?.onEnd({ reason: 'died', blame: 'neighbour' })
  started[1]?.onText(ready('judgeRules', 'beforeSign'))
  t.deepEqual(failures, ['it taps other hooks than in its first life'])
  t.is(faults.at(-1)?.state, 'stopped')
  await t.throwsAsync(cell.call({ target: { hook: 'judgeRules', tap: 0 }, isRepeatable: true }), {
    ...{ code: 'PLUGIN_FAILED', message: /other hooks/ }
  })
})
