// An observer: it hears what the kernel tells, as frozen data without secrets, and can do nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { createKernel, nativeAmount } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { makeNodeIo } from 'holdfast/node'
import type { ObserverPlugin } from 'holdfast/observer'
import { bitcoin } from 'holdfast/plugins/currency/utxo/plugin'
import { memoryStorage } from 'holdfast/plugins/storage/memory'

/** Says what happens to wallets and spends. */
const watch = (say: (line: string) => void): ObserverPlugin => ({
  kind: 'observer',
  id: 'watch',
  apply({ hooks }) {
    hooks.loginChanged.tap('watch', ({ method, stage }) => say(`login by ${method}: ${stage}`))
    hooks.engineChanged.tap('watch', ({ pluginId, state }) => say(`engine of ${pluginId}: ${state}`))
    hooks.walletChanged.tap('watch', ({ name, balances }) => say(`wallet ${name}: ${balances[''] ?? '0'}`))
    hooks.spendChanged.tap('watch', ({ stage }) => say(`spend: ${stage}`))
    hooks.pluginFault.tap('watch', ({ pluginId, hook, message }) => say(`${pluginId}, ${hook}: ${message}`))
  }
})

const lines = new Set<string>()
const say = (line: string): void => {
  // Snapshots may repeat; a line is worth reading once.
  if (!lines.has(line)) console.log(line)
  lines.add(line)
}

const io = makeNodeIo()
const world = makeFakeWorld({ io })
const { electrumServers, ...servers } = FAKE_ADDRESSES
const kernel = await createKernel({
  ...servers,
  io: world.ioFor(io),
  apiKey: '',
  plugins: [watch(say), memoryStorage(), bitcoin],
  pluginOptions: { bitcoin: { network: 'regtest', servers: [...electrumServers] } }
})
const account = await kernel.context.createAccount({})
const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
world.chain.fund((await wallet.getReceiveAddress()).publicAddress, '5000000')
world.chain.mine(1)
while (wallet.balanceDetailsOf(null).spendable === '0') await sleep(20)

const publicAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const spendTargets = [{ publicAddress, nativeAmount: nativeAmount('1250000') }]
await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
while (wallet.balanceOf(null) === '5000000') await sleep(20)
await kernel.close()
