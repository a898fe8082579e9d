import test from 'ava'
import { SyncLoop } from '../../../kernel/sync/sync-loop.ts'
import { openDevice } from '../../helpers/repo-device.ts'
import { setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore, replyOf, type SyncStore } from '../../helpers/sync-store.ts'

/** Half of what chance may add or take. */
const MIDDLE = [128, 0]

/** A loop on a device of its own, with the two bytes that chance gives and how long each timer waits. */
const openLoop = async (store: SyncStore, bytes: readonly number[] = MIDDLE) => {
  const device = await openDevice(store)
  const delays: number[] = []
  const drawn = { bytes }
  const clock = {
    ...device.clock,
    after(delayMs: number, task: () => void) {
      delays.push(delayMs)
      return device.clock.after(delayMs, task)
    }
  }
  const io = { clock, random: () => Uint8Array.from(drawn.bytes) }
  const loop = new SyncLoop({ io, servers: device.servers, report: () => {} })
  /** Waits for the last timer, and gives how long the next one waits. */
  const next = async (): Promise<number | undefined> => {
    await device.clock.advance(delays.at(-1) ?? 0)
    return delays.at(-1)
  }
  return { ...device, drawn, delays, loop, next }
}

for (const [bytes, delayMs] of [
  [[0, 0], 0],
  [[0, 255], 3],
  [[1, 0], 3],
  [[128, 0], 500],
  [[255, 255], 1000]
] as const) {
  test(`the first sync of a repo comes after ${delayMs} ms where chance gives ${bytes.join(' and ')}`, async t => {
    const { loop, repo, delays } = await openLoop(makeSyncStore(), bytes)
    loop.add(repo)
    t.deepEqual(delays, [delayMs])
    loop.close()
  })
}

test('chance spreads the period of a repo by a tenth to both sides, also after an upload', async t => {
  const { loop, repo, drawn, next } = await openLoop(makeSyncStore(), [0, 0])
  loop.add(repo)
  t.is(await next(), 27_000)
  drawn.bytes = [255, 255]
  t.is(await next(), 33_000)
  await setText(repo, 'f', '1')
  drawn.bytes = [0, 0]
  t.is(await next(), 27_000)
  t.is(repo.pendingCount, 0)
  loop.close()
})

test('a repo of this device alone is synced without a request, and has sent and received nothing', async t => {
  const store = makeSyncStore()
  const { loop, repo } = await openLoop(store)
  await setText(repo, 'f', '1')
  repo.keepHere(true)
  t.deepEqual(await loop.syncNow(repo), { sent: [], changed: [] })
  t.is(store.calls.length, 0)
  repo.keepHere(false)
  t.deepEqual(await loop.syncNow(repo), { sent: ['f'], changed: [] })
  loop.close()
})

test('a repo that fails waits twice as long each time, up to ten minutes, and half a minute once a requested sync succeeds', async t => {
  const store = makeSyncStore()
  const { loop, repo, delays, next } = await openLoop(store)
  store.fault = () => replyOf(500, '')
  loop.add(repo)
  const waits: unknown[] = []
  for (let time = 0; time < 7; time += 1) waits.push(await next())
  t.deepEqual(waits, [30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000])
  store.fault = undefined
  await setText(repo, 'f', '1')
  t.deepEqual(await loop.syncNow(repo), { sent: ['f'], changed: [] })
  t.is(delays.at(-1), 30_000)
  t.is(await next(), 30_000)
  loop.close()
})

test('five syncs in a row may each leave something for the next second; the wait then doubles up to half a minute', async t => {
  const store = makeSyncStore()
  const { loop, repo, next } = await openLoop(store)
  loop.add(repo)
  // Syncs that leave nothing do not count.
  for (let time = 0; time < 6; time += 1) t.is(await next(), 30_000)
  let edits = 0
  const edit = async (): Promise<void> => {
    edits += 1
    await setText(repo, 'f', `${edits}`)
  }
  await edit()
  store.beforeAnswer = edit
  const waits: unknown[] = []
  for (let time = 0; time < 11; time += 1) waits.push(await next())
  t.deepEqual(waits, [1000, 1000, 1000, 1000, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  store.beforeAnswer = undefined
  t.is(await next(), 30_000)
  store.beforeAnswer = edit
  await edit()
  t.is(await next(), 1000)
  loop.close()
})

test('a shorter period calls in the repos that would wait longer, and no other', async t => {
  const store = makeSyncStore()
  const { loop, repo, delays, next } = await openLoop(store)
  loop.add(repo)
  t.is(await next(), 30_000)
  loop.changePeriod(30_000)
  t.is(delays.at(-1), 30_000)
  loop.changePeriod(60_000)
  t.is(delays.at(-1), 30_000)
  loop.changePeriod(10_000)
  t.is(delays.at(-1), 5000)
  t.is(await next(), 10_000)
  store.fault = () => replyOf(500, '')
  t.is(await next(), 10_000)
  t.is(await next(), 20_000)
  loop.changePeriod(1000)
  t.is(delays.at(-1), 20_000)
  store.fault = undefined
  t.is(await next(), 1000)
  store.fault = () => replyOf(500, '')
  t.is(await next(), 1000)
  loop.changePeriod(100)
  t.is(delays.at(-1), 1000)
  loop.close()
})

test('a repo that syncs begins no other sync for a write, and a period that changes meanwhile holds afterwards', async t => {
  const store = makeSyncStore()
  const { loop, repo, clock, next } = await openLoop(store)
  let isHeld = true
  let answer = (): void => {}
  const answered = new Promise<undefined>(resolve => {
    answer = () => resolve(undefined)
  })
  store.fault = () => (isHeld ? answered : undefined)
  loop.add(repo)
  await next()
  t.is(store.calls.length, 1)
  await setText(repo, 'f', '1')
  loop.changePeriod(20_000)
  await clock.advance(15_000)
  isHeld = false
  answer()
  await clock.advance(100)
  t.deepEqual(
    store.calls.map(({ method }) => method),
    ['GET', 'POST']
  )
  t.is(repo.pendingCount, 0)
  await clock.advance(19_000)
  t.is(store.calls.length, 2)
  await clock.advance(1000)
  t.is(store.calls.length, 3)
  loop.close()
})

test('a loop lets go of a repo that it never had', async t => {
  const { loop, repo, clock } = await openLoop(makeSyncStore())
  t.notThrows(() => loop.remove(repo))
  t.is(clock.timerCount, 0)
})
