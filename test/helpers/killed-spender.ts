import { createKernel } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { type Death, deadlyStorage } from './deadly-storage.ts'
import { CHEAP_SNRP } from './device.ts'
import type { Medium } from './media.ts'
import { receiveNotePay, type SpenderStep, type SpenderTask } from './spender-story.ts'

/** What the parent tells a spender. */
export interface SpenderOrder extends Death, SpenderTask {
  readonly medium: Medium
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  readonly electrumServers: readonly string[]
}

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
await receiveNotePay(kernel.context, order, {
  say,
  begin: () => {
    storage.isArmed = true
  }
})
storage.isArmed = false
await kernel.close()
