import { createKernel, nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { type Death, deadlyStorage } from './deadly-storage.ts'
import { CHEAP_SNRP, waitFor } from './device.ts'
import type { Medium } from './media.ts'

/** What the parent tells a spender. */
export interface SpenderOrder extends Death {
  readonly medium: Medium
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  readonly electrumServers: readonly string[]
  readonly payTo: string
  /** The txid of a payment that waits for the wallet. */
  readonly received: string
}

/** What it has been answered: a line of JSON each. */
export type SpenderStep =
  | { readonly step: 'noted' | 'synced' }
  | { readonly step: 'spent'; readonly txid: string }

// A program: `node killed-spender.js <order as JSON>`. Its wallet receives a payment, which it notes; then it pays, and syncs. It kills
// itself without warning at the given operation.
const order = JSON.parse(process.argv[2] ?? '{}') as SpenderOrder
const storage = deadlyStorage(order.medium, order)
const say = (step: SpenderStep): void => void process.stdout.write(`${JSON.stringify(step)}\n`)

const kernel = await createKernel({
  io: makeNodeIo(),
  apiKey: '',
  authServer: order.authServer,
  infoServers: order.infoServers,
  syncServers: order.syncServers,
  passwordSnrp: CHEAP_SNRP,
  pluginOptions: { bitcoin: { network: 'regtest', servers: [...order.electrumServers] } },
  plugins: [storage.plugin, bitcoin]
})
const account = await kernel.context.loginWithPassword('alice', 'Correct horse 1')
const [walletId = ''] = account.getSnapshot().walletIds
storage.isArmed = true
const wallet = await account.openWallet(walletId)
await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
await waitFor(async () => (await wallet.getTransactions()).length === 2)
await wallet.saveTxMetadata(order.received, { notes: 'salary' })
say({ step: 'noted' })
const draft = await wallet.makeSpend({
  tokenId: null,
  spendTargets: [{ publicAddress: order.payTo, nativeAmount: nativeAmount('40000') }],
  metadata: { name: 'Landlord', notes: 'rent' }
})
const { txid } = await wallet.spend(draft)
say({ step: 'spent', txid })
await account.sync()
say({ step: 'synced' })
storage.isArmed = false
await kernel.close()
