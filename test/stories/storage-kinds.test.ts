import test from 'ava'
import { mapStoreStorage } from '../../examples/map-store.ts'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount, type Plugin } from '../../kernel/index.ts'
import { SortedMap } from '../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { openDevice, waitFor } from '../helpers/device.ts'

const SHOP = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const files = new Map<string, string>()
const values = new SortedMap<Uint8Array>()

/** Each opens what it had before, again. */
const kinds: Readonly<Record<string, () => Plugin>> = {
  'a disk of texts': () => memoryStorage(files),
  'a store of bytes': () => mapStoreStorage(values)
}

for (const [kind, open] of Object.entries(kinds)) {
  test(`an account, a payment and its note are there after a restart without a network, on ${kind}`, async t => {
    const world = makeFakeWorld({ io: makeNodeIo() })
    const first = await openDevice(world, { storage: open() })
    const account = await first.context.createAccount({
      username: 'alice',
      password: 'correct horse battery'
    })
    const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
    const { publicAddress } = await wallet.getReceiveAddress()
    world.chain.fund(publicAddress, '150000000')
    world.chain.mine(1)
    await waitFor(() => wallet.balanceDetailsOf(null).spendable === '150000000')
    const draft = await wallet.makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress: SHOP, nativeAmount: nativeAmount('50000000') }]
    })
    const { txid } = await wallet.spend(draft)
    await wallet.saveTxMetadata(txid, { notes: 'A bicycle' })
    const rows = await wallet.getTransactions()
    await first.close()

    world.setOnline(false)
    const second = await openDevice(world, { storage: open() })
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
  })
}
