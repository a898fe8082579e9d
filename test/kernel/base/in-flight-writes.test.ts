import test from 'ava'
import { WalletError } from '../../../kernel/base/errors.ts'
import { InFlightWrites } from '../../../kernel/base/mutex.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { type Device, openDevice } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'
import { setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore, type SyncStore } from '../../helpers/sync-store.ts'

const { clock } = makeRepoIo()

interface Held {
  readonly device: Device
  /** From now on writes wait for {@link Held.fail}. */
  hold(): void
  fail(): void
  /** From now on reads wait for the returned function. */
  holdReads(): () => void
}

const openHeld = async (store: SyncStore): Promise<Held> => {
  const files = new Map<string, string>()
  const plain = makeFaultDisk(files)
  let gate: Promise<void> | undefined
  let open = (): void => {}
  let reading: Promise<void> | undefined
  const disk: Disk = {
    ...plain,
    async getText(path) {
      if (path.includes('/log/')) await reading
      return plain.getText(path)
    },
    async setText(path, text) {
      if (gate !== undefined && path.includes('/log/')) {
        await gate
        throw new WalletError('STORAGE_FULL', { path })
      }
      await plain.setText(path, text)
    }
  }
  return {
    device: await openDevice(store, { files, disk }),
    hold() {
      gate = new Promise(resolve => {
        open = resolve
      })
    },
    fail() {
      open()
      gate = undefined
    },
    holdReads() {
      let release = (): void => {}
      reading = new Promise(resolve => {
        release = resolve
      })
      return release
    }
  }
}

const mutex = async (): Promise<void> => {
  for (let i = 0; i < 30; i += 1) await clock.turn()
}

test('a write that is not yet durable is not sent: when it fails the server has nothing of it', async t => {
  const store = makeSyncStore()
  const { device, hold, fail } = await openHeld(store)
  await device.sync()
  hold()
  const write = setText(device.repo, 'transaction/1-t.json', 'text')
  const sync = device.sync()
  await mutex()
  fail()
  await t.throwsAsync(write, { code: 'STORAGE_FULL' })
  await sync
  t.deepEqual([...store.files.keys()], [])
  t.is(await device.repo.getText('transaction/1-t.json'), undefined)
})

test('a remote change is not based on a local write that fails', async t => {
  const store = makeSyncStore()
  const { device, hold, fail } = await openHeld(store)
  const other = await openDevice(store)
  await setText(device.repo, 'f', 'old')
  await device.sync()
  await other.sync()
  await setText(other.repo, 'f', 'of the other')
  await other.sync()
  hold()
  const write = device.repo.write({
    texts: new Map([
      ['f', 'fails'],
      ['transaction/1-t.json', 'text']
    ])
  })
  const sync = device.sync()
  await mutex()
  fail()
  await t.throwsAsync(write, { code: 'STORAGE_FULL' })
  await sync
  await device.sync()
  await other.sync()
  t.is(await device.repo.getText('f'), 'of the other')
  t.is(await other.repo.getText('f'), 'of the other')
})

test('a text that equals one on its way is acknowledged with it, or fails with it', async t => {
  const { device, hold, fail } = await openHeld(makeSyncStore())
  hold()
  const first = setText(device.repo, 'transaction/1-t.json', 'text')
  let isDone = false
  const second = setText(device.repo, 'transaction/1-t.json', 'text')
  second.then(
    () => {
      isDone = true
    },
    () => {}
  )
  await mutex()
  t.false(isDone)
  fail()
  await t.throwsAsync(first, { code: 'STORAGE_FULL' })
  await t.throwsAsync(second, { code: 'STORAGE_FULL' })
})

test('a text that equals one on its way fails with it although another in the same call is new, and that is not written', async t => {
  const { device, hold, fail } = await openHeld(makeSyncStore())
  hold()
  const first = setText(device.repo, 'transaction/1-t.json', 'text')
  const second = device.repo.write({
    texts: new Map([
      ['transaction/1-t.json', 'text'],
      ['new', 'text']
    ])
  })
  const ends = Promise.allSettled([first, second])
  await mutex()
  fail()
  await ends
  await t.throwsAsync(first, { code: 'STORAGE_FULL' })
  await t.throwsAsync(second, { code: 'STORAGE_FULL' })
  t.deepEqual(await device.repo.list(''), [])
})

test('rows localChanges a text that equals one on its way are written with it, or not at all', async t => {
  const { device, hold, fail } = await openHeld(makeSyncStore())
  hold()
  const text = new Map([['transaction/1-t.json', 'text']])
  const first = device.repo.write({ texts: text })
  const second = device.repo.write({ texts: text, localChanges: new Map([['taken', '1']]) })
  const ends = Promise.allSettled([first, second])
  await mutex()
  fail()
  await ends
  await t.throwsAsync(first, { code: 'STORAGE_FULL' })
  await t.throwsAsync(second, { code: 'STORAGE_FULL' })
  t.is(device.repo.local.get('taken'), undefined)
})

test('a write has one revision, which all its files bear, although the one before it fails while it is planned', async t => {
  const { device, hold, fail, holdReads } = await openHeld(makeSyncStore())
  await setText(device.repo, 'transaction/1-t.json', 'text')
  const { repo } = await device.reopen()
  const first = repo.revision
  hold()
  const failing = setText(repo, 'transaction/2-t.json', 'text')
  const release = holdReads()
  const paths = Array.from({ length: 600 }, (_, i) => `transaction/9${i}-t.json`).concat(
    'transaction/1-t.json'
  )
  const write = repo.write({ texts: new Map(paths.map(path => [path, path])) })
  await mutex()
  fail()
  await t.throwsAsync(failing, { code: 'STORAGE_FULL' })
  release()
  const { revision = 0 } = await write
  t.is(revision, repo.revision)
  t.deepEqual(await repo.changedSince(revision), { paths: [], revision })
  t.deepEqual(await repo.changedSince(first, new Set([revision])), { paths: [], revision })
  t.deepEqual((await repo.changedSince(first)).paths.toSorted(), paths.toSorted())
})

test('the revision of a failed write is not reused, so that a reader which saw it misses no later file', async t => {
  const { device, hold, fail } = await openHeld(makeSyncStore())
  const { repo } = device
  hold()
  const failing = setText(repo, 'transaction/1-t.json', 'text')
  const seen = repo.changedSince(0)
  await mutex()
  fail()
  await t.throwsAsync(failing, { code: 'STORAGE_FULL' })
  const { revision } = await seen
  await setText(repo, 'transaction/2-t.json', 'later')
  t.deepEqual((await repo.changedSince(revision)).paths, ['transaction/2-t.json'])
})

test('waiting for in-flight writes waits for each of them, in any order, and reports one that fails', async t => {
  for (const order of [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0]
  ]) {
    for (const failing of [0, 1, 2]) {
      const inFlight = new InFlightWrites()
      const log: string[] = []
      const writes = [0, 1, 2].map(() => makeGate())
      for (const { done } of writes) inFlight.add(done).catch(() => {})
      const waits: Promise<unknown>[] = []
      for (const [place, at] of order.entries()) {
        const isFailureAhead = order.indexOf(failing) >= place
        waits.push(inFlight.ended().then(() => log.push('ended')))
        const durable = inFlight.durable()
        waits.push(isFailureAhead ? t.throwsAsync(durable) : t.notThrowsAsync(durable))
        await clock.turn()
        log.push('write')
        writes[at]?.end(at === failing ? new Error('the disk is full') : undefined)
        await clock.turn()
      }
      await Promise.all(waits)
      t.deepEqual(log, ['write', 'write', 'write', 'ended', 'ended', 'ended'])
      await inFlight.durable()
      await inFlight.ended()
    }
  }
})

/** A write that ends when it is told to. */
const makeGate = (): { readonly done: Promise<void>; end(error?: Error): void } => {
  let end = (_error?: Error): void => {}
  const done = new Promise<void>((resolve, reject) => {
    end = error => (error === undefined ? resolve() : reject(error))
  })
  return { done, end: error => end(error) }
}
