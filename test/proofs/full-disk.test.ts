import { join } from 'node:path'
import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type Disk,
  isWalletError,
  nativeAmount,
  type ObserverPlugin,
  type Store,
  WalletError
} from '../../kernel/index.ts'
import { storeDisk } from '../../kernel/store/store-disk.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { type MemoryKind, makeFaultMedium } from '../helpers/fault-store.ts'
import { surviveFull } from '../helpers/full-media.ts'
import { mediumStorage, storageOn, storeUnder } from '../helpers/media.ts'
import { mountSmallFolder } from '../helpers/small-folder.ts'

const io = makeNodeIo()

/** A disk or store with room for so many more writes; the caller may make room again. */
const makeSmallMedium = (kind: MemoryKind) => {
  const room = { left: Number.POSITIVE_INFINITY, refused: 0 }
  const contents = new Map<string, string>()
  const take = (path: string): void => {
    if (room.left <= 0) {
      room.refused += 1
      throw new WalletError('STORAGE_FULL', { path })
    }
    room.left -= 1
  }
  const open = async (): Promise<Disk> => {
    const disk = makeFaultMedium(kind, contents)
    const store = storeUnder(disk)
    if (store === undefined)
      return {
        ...disk,
        async setText(path, text) {
          take(path)
          await disk.setText(path, text)
        }
      }
    const batch: Store['batch'] = async changes => {
      take('')
      await store.batch(changes)
    }
    return storeDisk({ ...store, batch })
  }
  return { room, storage: storageOn(kind, open) }
}

for (const kind of ['disk', 'store'] as const) {
  test(`a ${kind} that fills up at any write of a spend is reported and loses nothing, and the spend is finished later`, async t => {
    let sawUnsent = 0
    let sawSent = 0
    for (let roomLeft = 0; roomLeft < 12; roomLeft++) {
      const world = makeFakeWorld({ io })
      const { room, storage } = makeSmallMedium(kind)
      const kernel = await openDevice(world, { storage })
      const account = await kernel.context.createAccount({})
      const wallet = await account.createCurrencyWallet('wallet:bitcoin')
      const { publicAddress } = await wallet.getReceiveAddress()
      world.chain.fund(publicAddress, '100000')
      world.chain.mine(1)
      await waitFor(() => wallet.balanceDetailsOf(null).spendable === '100000')
      await account.sync()
      const shop = await account.createCurrencyWallet('wallet:bitcoin')
      const target = await shop.getReceiveAddress()
      const draft = await wallet.makeSpend({
        tokenId: null,
        spendTargets: [{ publicAddress: target.publicAddress, nativeAmount: nativeAmount('40000') }],
        metadata: { notes: 'rent' }
      })

      room.left = roomLeft
      const error = await wallet.spend(draft).then(
        () => undefined,
        failure => failure
      )
      room.left = Number.POSITIVE_INFINITY
      if (error !== undefined) {
        t.true(room.refused > 0)
        t.true(isWalletError(error), `${roomLeft}: ${error}`)
      }
      const left = wallet.unfinishedSpends()
      const isOnChain = world.chain.view.mempool.size > 0
      if (isOnChain) sawSent += 1
      else sawUnsent += 1
      t.true(left.length <= 1)
      if (error !== undefined && isOnChain)
        t.is(left.length, 1, `${roomLeft}: what left is still in the journal`)

      await wallet.changePaused(true)
      await wallet.changePaused(false)
      await waitFor(() => wallet.unfinishedSpends().length === 0)
      const sent = (await wallet.getTransactions()).filter(({ isSend }) => isSend)
      t.true(sent.length <= 1)
      if (isOnChain) t.is(sent[0]?.metadata.notes, 'rent', `${roomLeft}: the note is kept`)
      await kernel.close()
      await world.close()
    }
    t.true(sawUnsent > 0 && sawSent > 0, `${sawUnsent} unsent, ${sawSent} sent`)
  })

  test(`an incoming payment on a full ${kind} is still reported, and is saved once there is room`, async t => {
    const world = makeFakeWorld({ io })
    const { room, storage } = makeSmallMedium(kind)
    const created: string[] = []
    const watch: ObserverPlugin = {
      kind: 'observer',
      id: 'watch',
      apply: ({ hooks }) =>
        hooks.transactionsChanged.tap('watch', event => void created.push(...event.created))
    }
    const errors: unknown[] = []
    const onError = (_source: string, error: unknown): void => void errors.push(error)
    const kernel = await openDevice(world, { storage, plugins: [watch], onError })
    const account = await kernel.context.createAccount({ username: 'alice', password: 'Correct horse 1' })
    const wallet = await account.createCurrencyWallet('wallet:bitcoin')
    const { publicAddress } = await wallet.getReceiveAddress()
    await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
    await account.sync()
    room.left = 0
    world.chain.fund(publicAddress, '100000')
    await waitFor(() => created.length === 1)
    t.is((await wallet.getTransactions()).length, 1)
    t.true(errors.some(error => isWalletError(error, 'STORAGE_FULL')))
    room.left = Number.POSITIVE_INFINITY
    await wallet.saveTxMetadata(created[0] ?? '', { notes: 'salary' })
    t.is((await wallet.getTransaction(created[0] ?? '')).metadata.notes, 'salary')
    await kernel.close()
    await world.close()
  })
}

test('a wallet in a folder of a full file system shows what arrives, and saves it once there is room', async t => {
  const folder = mountSmallFolder(t)
  if (folder === undefined) return t.pass()
  await surviveFull(t, {
    open: async () => mediumStorage({ kind: 'file', folder: join(folder.path, 'wallets') }),
    fill: async () => folder.fill(),
    free: async () => folder.free(),
    code: 'STORAGE_FULL'
  })
})
