import type { ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount, type Plugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openDevice, waitFor } from './device.ts'

const SHOP = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/**
 * Makes an account with a payment and a note, and looks for them on the same storage after a restart without a network.
 *
 * @param open - makes the storage plugin, each time on what was stored before
 */
export const surviveRestart = async (t: ExecutionContext, open: () => Promise<Plugin>): Promise<void> => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const first = await openDevice(world, { storage: await open() })
  const account = await first.context.createAccount({ username: 'alice', password: 'correct horse battery' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
  const { publicAddress } = await wallet.getReceiveAddress()
  world.chain.fund(publicAddress, '150000000')
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '150000000')
  const spendTargets = [{ publicAddress: SHOP, nativeAmount: nativeAmount('50000000') }]
  const { txid } = await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  await wallet.saveTxMetadata(txid, { notes: 'A bicycle' })
  const rows = await wallet.getTransactions()
  await first.close()

  world.setOnline(false)
  const second = await openDevice(world, { storage: await open() })
  const again = await second.context.loginWithPassword('alice', 'correct horse battery')
  const same = await again.openWallet(wallet.id)
  t.is(same.name, 'Savings')
  t.deepEqual(
    (await same.getTransactions()).map(row => row.txid),
    rows.map(row => row.txid)
  )
  t.is((await same.getTransaction(txid)).metadata.notes, 'A bicycle')
  await second.close()
  await world.close()
}
