import { setImmediate } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { mapStore } from '../../examples/map-store.ts'
import { type Disk, nativeAmount, type StoragePlugin, type Store } from '../../kernel/index.ts'
import { SortedMap } from '../../kernel/store/sorted-map.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { openDevice } from '../helpers/device.ts'
import { toyTransaction } from '../helpers/toy-currency.ts'
import { openToyHome } from '../helpers/toy-home.ts'

/** A storage that notes what is made durable until a call resolves. */
interface NotingStorage {
  storage(): StoragePlugin
  readonly written: string[]
}

/** The writes of texts, but not the deletions and merged chunks of the background. */
const notingDisk = (): NotingStorage => {
  const disk = memoryDisk()
  const written: string[] = []
  const noting: Disk = {
    ...disk,
    async setText(path, text) {
      const [, from, to] = /(\d{12})-(\d{12})$/.exec(path) ?? []
      if (from === to) written.push(path)
      await disk.setText(path, text)
    }
  }
  return {
    written,
    storage: () => ({
      kind: 'storage',
      id: 'noting',
      apply: ({ hooks }) => hooks.openDisk.tapPromise('noting', async () => noting)
    })
  }
}

/** The batches. */
const notingStore = (): NotingStorage => {
  const values = new SortedMap<Uint8Array>()
  const written: string[] = []
  const openStore = async (): Promise<Store> => {
    const store = mapStore(values)
    return {
      ...store,
      async batch(changes) {
        written.push(`${changes.length} changes`)
        await store.batch(changes)
      }
    }
  }
  return {
    written,
    storage: () => ({
      kind: 'storage',
      id: 'noting',
      apply: ({ hooks }) => hooks.openStore.tapPromise('noting', openStore)
    })
  }
}

const check = async (
  t: ExecutionContext,
  { storage, written }: NotingStorage,
  { received, writes }: { readonly received: number; readonly writes: number }
): Promise<void> => {
  const home = await openToyHome(t, { device: { storage: storage() } })
  const { account, toy, clock } = home
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  const countOf = async (run: () => Promise<unknown>): Promise<number> => {
    // Until nothing of what was before is written any more.
    for (let before = -1; before !== written.length; ) {
      before = written.length
      await account.sync()
      await clock.advance(30_000)
    }
    written.length = 0
    await run()
    return written.length
  }
  const txs = Array.from({ length: received }, (_, i) => toyTransaction(`${i}`.padStart(64, 'a')))
  const last = { startIndex: received - 1, startEntries: 1 }
  const receive = async (): Promise<void> => {
    toy.requests[0]?.callbacks.onTransactionsChanged(txs)
    while ((await wallet.getTransactions(last)).length === 0) await setImmediate()
  }
  t.is(await countOf(receive), writes)
  t.is(await countOf(() => wallet.saveTxMetadata(txs[3]?.txid ?? '', { notes: 'A bicycle' })), 1)
  t.is(await countOf(() => account.sync()), 0)

  const spend = async (): Promise<void> => {
    const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
    await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  }
  // Intended, signed, sent, then the file with its row and the end of the spend. That it was sent is noted, since what a crash leaves
  // after it is watched and not sent as if it were new.
  t.is(await countOf(spend), 4)

  await account.sync()
  await home.kernel.close()
  written.length = 0
  const kernel = await openDevice(home.world, { storage: storage(), plugins: [toy.plugin] })
  await kernel.context.loginWithPassword('tess', 'Correct horse 1')
  t.deepEqual(written, [])
  await kernel.close()
}

test('on a disk, a hundred received transactions and an edit are durable with one write each, and a sync and a login that learn nothing write nothing', t =>
  check(t, notingDisk(), { received: 100, writes: 1 }))

test('in a store, five thousand received transactions and an edit are durable with one batch each, and a sync and a login that learn nothing write nothing', t =>
  check(t, notingStore(), { received: 5000, writes: 1 }))

test('in a store, ten thousand received transactions are durable with two batches', t =>
  check(t, notingStore(), { received: 10_000, writes: 2 }))
