import type { ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { type CurrencyWallet, isWalletError, nativeAmount, type Plugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openDevice, waitFor } from './device.ts'

const SHOP = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const PASSWORD = 'correct horse battery'
/** A note that needs more room than is left when a byte has none. */
const LONG = 'too early '.repeat(1000)

/** A medium that a test fills up. */
export interface FullMedium {
  /** Makes the storage plugin, each time on what was stored before. */
  open(): Promise<Plugin>
  /** Takes all room; once more what has become free since. */
  fill(): Promise<void>
  /** Makes room again. */
  free(): Promise<void>
  /** The code of what it refuses; where it is STORAGE_FAILED, the medium takes no more until it is opened again. */
  readonly code: 'STORAGE_FAILED' | 'STORAGE_FULL'
}

/**
 * Fills the medium of a wallet up: what arrives is shown, an edit and a payment fail and send nothing, and all of it is saved once there
 * is room.
 */
export const surviveFull = async (t: ExecutionContext, medium: FullMedium): Promise<void> => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const errors: unknown[] = []
  const onError = (_source: string, error: unknown): void => void errors.push(error)
  let kernel = await openDevice(world, { storage: await medium.open(), onError })
  const account = await kernel.context.createAccount({ username: 'alice', password: PASSWORD })
  let wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
  const { publicAddress } = await wallet.getReceiveAddress()
  world.chain.fund(publicAddress, '100000')
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '100000')
  await account.sync()

  await medium.fill()
  // What is refused may have left room for less.
  for (const length of [20_000, 2000, 1]) {
    const refusal = await t.throwsAsync(async () => {
      for (let count = 0; count < 200; count += 1)
        await account.dataStore.setItem('shop', `${length}-${count}`, 'x'.repeat(length))
    })
    t.true(isWalletError(refusal, medium.code), String(refusal))
  }
  // What was refused may have made room, too.
  await medium.fill()
  const received = world.chain.fund(publicAddress, '50000')
  world.chain.mine(1)
  await waitFor(async () => (await wallet.getTransactions()).length === 2)
  await waitFor(() => errors.some(error => isWalletError(error, medium.code)))
  await t.throwsAsync(wallet.saveTxMetadata(received, { notes: LONG }), { code: medium.code })
  await t.throwsAsync(pay(wallet, LONG), { code: medium.code })
  t.is(world.chain.view.mempool.size, 0)
  await waitFor(() => wallet.balanceOf(null) === '150000')

  await medium.free()
  if (medium.code === 'STORAGE_FAILED') {
    await kernel.close()
    kernel = await openDevice(world, { storage: await medium.open(), onError })
    const again = await kernel.context.loginWithPassword('alice', PASSWORD)
    wallet = await again.openWallet(wallet.id)
    await waitFor(async () => (await wallet.getTransactions()).length >= 2)
    await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1 && wallet.unfinishedSpends().length === 0)
  }
  await wallet.saveTxMetadata(received, { notes: 'salary' })
  const isSent = (await wallet.getTransactions()).some(({ isSend }) => isSend)
  // The note of the first try may have been saved after all: then it is sent by whoever opens the wallet.
  if (!isSent || medium.code === 'STORAGE_FULL') await pay(wallet, 'rent')
  await kernel.close()

  world.setOnline(false)
  const later = await openDevice(world, { storage: await medium.open() })
  const alone = await later.context.loginWithPassword('alice', PASSWORD)
  const same = await alone.openWallet(wallet.id)
  const rows = await same.getTransactions()
  t.is(rows.length, 3)
  t.is(rows.filter(({ isSend }) => isSend).length, 1)
  t.is(rows.find(({ txid }) => txid === received)?.metadata.notes, 'salary')
  await later.close()
  await world.close()
}

const pay = async (wallet: CurrencyWallet, notes: string): Promise<void> => {
  const spendTargets = [{ publicAddress: SHOP, nativeAmount: nativeAmount('40000') }]
  await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets, metadata: { notes } }))
}
