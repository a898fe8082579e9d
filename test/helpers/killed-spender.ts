import { createKernel, nativeAmount, type StoragePlugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'
import { type DeadlyDisk, type Death, deadlyDisk } from './deadly-disk.ts'
import { CHEAP_SNRP, waitFor } from './device.ts'

/** What the parent tells a spender. */
export interface SpenderOrder extends Death {
  readonly folder: string
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  readonly electrumServers: readonly string[]
  readonly payTo: string
}

// A program: `node killed-spender.js <order as JSON>`. It pays from the one wallet in the folder, and kills itself
// without warning at the given operation.
const order = JSON.parse(process.argv[2] ?? '{}') as SpenderOrder
let disk: DeadlyDisk | undefined
const storage: StoragePlugin = {
  kind: 'storage',
  id: 'deadly',
  apply: ({ hooks }) =>
    hooks.openDisk.tapPromise('deadly', async () => {
      disk = deadlyDisk(await openFileDisk(order.folder, { waitMs: 5000 }), order)
      return disk
    })
}

const arm = (isArmed: boolean): void => {
  if (disk !== undefined) disk.isArmed = isArmed
}

const kernel = await createKernel({
  io: makeNodeIo(),
  apiKey: '',
  authServer: order.authServer,
  infoServers: order.infoServers,
  syncServers: order.syncServers,
  passwordSnrp: CHEAP_SNRP,
  pluginOptions: { bitcoin: { network: 'regtest', servers: [...order.electrumServers] } },
  plugins: [storage, bitcoin]
})
const account = await kernel.context.loginWithPassword('alice', 'Correct horse 1')
const [walletId = ''] = account.getSnapshot().walletIds
const wallet = await account.openWallet(walletId)
await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
const draft = await wallet.makeSpend({
  tokenId: null,
  spendTargets: [{ publicAddress: order.payTo, nativeAmount: nativeAmount('40000') }],
  metadata: { name: 'Landlord', notes: 'rent' }
})
arm(true)
await wallet.spend(draft)
await account.sync()
arm(false)
await kernel.close()
