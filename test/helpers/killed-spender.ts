import { createKernel, type Disk, nativeAmount, type StoragePlugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'
import { CHEAP_SNRP, waitFor } from './device.ts'

/** What the parent tells a spender. */
export interface SpenderOrder {
  readonly folder: string
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  readonly electrumServers: readonly string[]
  readonly payTo: string
  /** The disk operation of the spend path at which to die, from 1; 0 to live. */
  readonly killAt: number
  /** Before it begins, or while it is on its way. */
  readonly moment: 'before' | 'during'
}

// A program: `node killed-spender.js <order as JSON>`. It pays from the one wallet in the folder, and kills itself
// without warning at the given operation.
const order = JSON.parse(process.argv[2] ?? '{}') as SpenderOrder
let count = 0
let isCounting = false

const die = (): void => void process.kill(process.pid, 'SIGKILL')

const deadly = async (operation: () => Promise<void>): Promise<void> => {
  if (!isCounting) return operation()
  count += 1
  if (count !== order.killAt) return operation()
  if (order.moment === 'before') die()
  setImmediate(die)
  return operation()
}

const deadlyDisk = (disk: Disk): Disk => ({
  ...disk,
  setText: (path, text) => deadly(() => disk.setText(path, text)),
  delete: path => deadly(() => disk.delete(path))
})

const storage: StoragePlugin = {
  kind: 'storage',
  id: 'deadly',
  apply: ({ hooks }) =>
    hooks.openDisk.tapPromise('deadly', async () =>
      deadlyDisk(await openFileDisk(order.folder, { waitMs: 5000 }))
    )
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
isCounting = true
await wallet.spend(draft)
await account.sync()
isCounting = false
await kernel.close()
