import type { ExecutionContext } from 'ava'
import test from 'ava'
import { diskWithDeadline, storeWithDeadline } from '../../../kernel/base/disk-deadline.ts'
import type { WalletError } from '../../../kernel/base/errors.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeSilentDisk } from '../../helpers/silent-disk.ts'

const openDisk = () => {
  const files = new Map([['a', 'old']])
  const clock = makeFakeClock()
  const silent = makeSilentDisk(files)
  const closings: WalletError[] = []
  const disk = diskWithDeadline(silent, { clock, onClosed: error => void closings.push(error) })
  return { clock, closings, disk, files, silent }
}

/** Notes how a call ends. */
const watched = (call: Promise<unknown>) => {
  const state: { end: string } = { end: 'waits' }
  call.then(
    () => {
      state.end = 'answered'
    },
    (error: WalletError<'STORAGE_TIMEOUT'>) => {
      state.end = `${error.code} ${error.details?.what}`
    }
  )
  return state
}

const endsOf = async (
  t: ExecutionContext,
  call: Promise<unknown>,
  what: WalletError<'STORAGE_TIMEOUT'>['details']['what']
): Promise<void> => {
  const error = await t.throwsAsync(call, { code: 'STORAGE_TIMEOUT' })
  t.is((error as WalletError<'STORAGE_TIMEOUT'>).details.what, what)
}

test('a read that is not answered for a minute fails, and the next one is tried again', async t => {
  const { clock, closings, disk, silent } = openDisk()
  silent.silence('read')
  const reads = [disk.getText('a'), disk.list('')].map(watched)
  await clock.advance(60_000)
  t.deepEqual(
    reads.map(({ end }) => end),
    ['waits', 'waits']
  )
  await clock.advance(30_000)
  t.deepEqual(
    reads.map(({ end }) => end),
    ['STORAGE_TIMEOUT read', 'STORAGE_TIMEOUT read']
  )
  silent.comeBack()
  t.is(await disk.getText('a'), 'old')
  await disk.setText('a', 'new')
  t.deepEqual(closings, [])
})

test('after a write that is not answered, nothing more is written, also once it has landed', async t => {
  const { clock, closings, disk, files, silent } = openDisk()
  silent.silence('write')
  const write = watched(disk.setText('a', 'late'))
  await clock.advance(90_000)
  t.is(write.end, 'STORAGE_TIMEOUT write')
  t.is(closings.length, 1)
  t.is(await disk.getText('a'), 'old')
  await endsOf(t, disk.setText('a', 'newer'), 'later write')
  await endsOf(t, disk.delete('a'), 'later write')
  silent.comeBack()
  await clock.advance(0)
  t.is(await disk.getText('a'), 'late')
  await endsOf(t, disk.setText('a', 'newer'), 'later write')
  t.is(files.get('a'), 'late')
  t.is(closings.length, 1)
})

test('a disk with a late write lets its owner close, and is released only after the write', async t => {
  const { clock, disk, files, silent } = openDisk()
  silent.silence('write')
  const write = watched(disk.delete('a'))
  await clock.advance(90_000)
  t.is(write.end, 'STORAGE_TIMEOUT write')
  await endsOf(t, disk.close?.() ?? Promise.resolve(), 'close')
  t.is(silent.unanswered, 1, 'the disk is not closed yet')
  silent.comeBack()
  await clock.advance(0)
  t.true(silent.isClosed)
  t.false(files.has('a'))
  await clock.advance(300_000)
  t.is(clock.timerCount, 0)
})

test('a disk whose late write has ended meanwhile closes as any other', async t => {
  const { clock, disk, silent } = openDisk()
  silent.silence('write')
  const write = watched(disk.setText('a', 'late'))
  await clock.advance(90_000)
  t.is(write.end, 'STORAGE_TIMEOUT write')
  silent.comeBack()
  await clock.advance(0)
  await disk.close?.()
  t.true(silent.isClosed)
})

test('a close that is not answered is not awaited', async t => {
  const { clock, disk, silent } = openDisk()
  silent.silence('write')
  const close = watched(disk.close?.() ?? Promise.resolve())
  await clock.advance(90_000)
  t.is(close.end, 'STORAGE_TIMEOUT close')
})

test('a disk that is slow but answers has five minutes for each write', async t => {
  const { clock, closings, disk, silent } = openDisk()
  silent.silence('write')
  const first = watched(disk.setText('long/0', 'text'))
  for (let turn = 1; turn <= 9; turn += 1) {
    silent.answer()
    await disk.setText(`quick/${turn}`, 'text')
    await clock.advance(30_000)
    t.is(first.end, 'waits')
  }
  silent.comeBack()
  await clock.advance(0)
  t.is(first.end, 'answered')
  t.deepEqual(closings, [])
})

test('ten thousand calls cost one timer, and an idle disk has none', async t => {
  const { clock, disk, silent } = openDisk()
  silent.silence('write')
  const writes = Array.from({ length: 10_000 }, (_, index) => disk.setText(`many/${index}`, 'text'))
  t.is(clock.timerCount, 1)
  silent.comeBack()
  await Promise.all(writes)
  await clock.advance(30_000)
  t.is(clock.timerCount, 0)
})

test('an hour of machine sleep does not count as silence of the disk', async t => {
  const clock = makeFakeClock()
  const tasks: (() => void)[] = []
  const silent = makeSilentDisk(new Map())
  // All timers that fell due meanwhile run at once when it wakes up.
  const sleeper = {
    ...clock,
    after(_: number, task: () => void) {
      tasks.push(task)
      return () => {}
    }
  }
  const disk = diskWithDeadline(silent, { clock: sleeper, onClosed: () => t.fail() })
  silent.silence('write')
  const write = watched(disk.setText('a', 'new'))
  while (tasks.length > 0) tasks.shift()?.()
  silent.comeBack()
  await clock.turn()
  await clock.turn()
  t.is(write.end, 'answered')
})

test('a store is waited for no longer than a disk: after a batch without an answer it takes no more, and closes when that has ended', async t => {
  const clock = makeFakeClock()
  const closings: WalletError[] = []
  let answer = (): void => {}
  let isClosed = false
  const silent = new Promise<void>(resolve => {
    answer = resolve
  })
  const store = storeWithDeadline(
    {
      getMany: async keys => keys.map(() => undefined),
      batch: () => silent,
      keys: () => new Promise(() => {}),
      async close() {
        isClosed = true
      }
    },
    { clock, onClosed: error => void closings.push(error) }
  )
  t.deepEqual(await store.getMany([Uint8Array.of(1)]), [undefined])
  const listing = watched(store.keys({ limit: 1 }))
  const writing = watched(store.batch([]))
  await clock.advance(91_000)
  t.deepEqual([listing.end, writing.end], ['STORAGE_TIMEOUT read', 'STORAGE_TIMEOUT write'])
  t.is(closings.length, 1)
  await endsOf(t, store.batch([]), 'later write')
  t.deepEqual(await store.getMany([Uint8Array.of(1)]), [undefined])
  await endsOf(t, store.close(), 'close')
  t.false(isClosed)
  answer()
  await silent
  await clock.advance(0)
  t.true(isClosed)
})
