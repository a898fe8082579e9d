// A storage plugin of our own, map-storage.ts, and a look at what is in it.
import { createKernel, type Kernel } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { makeNodeIo } from 'holdfast/node'
import { bitcoin } from 'holdfast/plugins/currency/utxo/plugin'
import { mapStorage } from './map-storage.ts'

const io = makeNodeIo()
const world = makeFakeWorld({ io })
const files = new Map<string, string>()

const start = (): Promise<Kernel> => {
  const { electrumServers, ...servers } = FAKE_ADDRESSES
  return createKernel({
    ...servers,
    io: world.ioFor(io),
    apiKey: '',
    plugins: [mapStorage(files), bitcoin],
    pluginOptions: { bitcoin: { network: 'regtest', servers: [...electrumServers] } }
  })
}

const first = await start()
const account = await first.context.createAccount({ username: 'alice', password: 'correct horse battery' })
await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings for a bicycle' })
await first.close()

const folders = new Set([...files.keys()].map(path => path.split('/')[0]))
console.log(`folders: ${[...folders].sort().join(', ')}`)
const texts = [...files.values()].join('\n')
console.log(`the wallet's name in the clear: ${texts.includes('bicycle') ? 'yes' : 'no'}`)

// The Map outlives the kernel, so a second one finds the account, also without a network.
world.setOnline(false)
const second = await start()
const [user] = second.context.localUsers
const again = await second.context.loginWithPassword(user?.username ?? '', 'correct horse battery')
const [walletId = ''] = again.getSnapshot().walletIds
console.log(`again: "${(await again.openWallet(walletId)).name}"`)
await second.close()
