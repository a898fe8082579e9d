import test, { type ExecutionContext } from 'ava'
import type { SealedStore } from '../../../../kernel/repo/store/sealed-store.ts'
import { makePluginStore, openOn, type PluginStore } from '../../../helpers/plugin-store.ts'

/** A store with a write that waits, and how many batches have been made. */
const openWaiting = async (
  t: ExecutionContext
): Promise<{ medium: PluginStore; store: SealedStore; failures: unknown[]; batches(): number }> => {
  const medium = makePluginStore()
  let batches = 0
  const counting: PluginStore = {
    ...medium,
    async batch(changes) {
      batches += 1
      // The fate of the next batch is that of the one below.
      medium.fate = counting.fate
      await medium.batch(changes)
    }
  }
  const store = await openOn(counting)
  const failures: unknown[] = []
  const onHeld = (failure: unknown): void => void failures.push(failure)
  store.write(new Map([['e/1', 'waits']]), { mayWait: true, onHeld }).catch(onHeld)
  t.is(store.get('e/1'), 'waits')
  t.deepEqual([...store.entries('e/')], [['e/1', 'waits']])
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  t.is(batches, 0)
  return { medium: counting, store, failures, batches: () => batches }
}

const savedIn = async (medium: PluginStore): Promise<[string, string][]> => [
  ...(await openOn(medium)).entries('e/')
]

test('a write that may wait is shown at once and saved in one batch with the next', async t => {
  const { medium, store, batches } = await openWaiting(t)
  await store.write(new Map([['e/2', 'comes']]))
  t.is(batches(), 1)
  t.deepEqual((await savedIn(medium)).sort(), [
    ['e/1', 'waits'],
    ['e/2', 'comes']
  ])
})

test('a later write of the same entry is the newer one, whichever of the two waits', async t => {
  const { medium, store } = await openWaiting(t)
  const second = store.write(new Map([['e/1', 'second']]))
  t.is(store.get('e/1'), 'second')
  await second
  void store.write(new Map([['e/1', 'third']]), { mayWait: true })
  t.is(store.get('e/1'), 'third')
  await store.close()
  t.deepEqual(await savedIn(medium), [['e/1', 'third']])
})

const waiters: readonly [string, (store: SealedStore) => Promise<unknown>][] = [
  ['a write without changes', store => store.write(new Map())],
  ['a count of rows', store => store.table('t/').count()],
  ['a page', store => store.table('t/').page(0, 10)],
  ['the reading of everything', store => store.contents()],
  ['who waits until all writes have ended', store => store.settled()],
  ['the closing of the store', store => store.close()]
]
for (const [what, wait] of waiters)
  test(`${what} saves what waits, and does not hang`, async t => {
    const { medium, store, batches } = await openWaiting(t)
    await wait(store)
    t.is(batches(), 1)
    t.deepEqual(await savedIn(medium), [['e/1', 'waits']])
  })

test('what waits is still shown where the batch that it goes with fails, and goes with the one after it', async t => {
  const { medium, store, failures } = await openWaiting(t)
  medium.fate = 'refused'
  await t.throwsAsync(store.write(new Map([['e/2', 'fails']])), { code: 'STORAGE_FAILED' })
  t.is(failures.length, 1)
  t.deepEqual([...store.entries('e/')], [['e/1', 'waits']])
  medium.fate = 'made'
  await store.write(new Map([['e/3', 'comes']]))
  t.deepEqual((await savedIn(medium)).sort(), [
    ['e/1', 'waits'],
    ['e/3', 'comes']
  ])
})
