// A rate source of our own, rates-and-swaps.ts, beside one of the sources that ship.
import { createKernel } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { makeNodeIo } from 'holdfast/node'
import type { ObserverPlugin } from 'holdfast/plugin'
import { coinbase } from 'holdfast/plugins/rates/coinbase'
import { memoryStorage } from 'holdfast/plugins/storage/memory'
import { onePrice } from './rates-and-swaps.ts'

const plugins: ObserverPlugin = {
  kind: 'observer',
  id: 'plugins',
  apply({ hooks }) {
    hooks.pluginChanged.tap('plugins', ({ pluginId, state }) => console.log(`${pluginId}: ${state}`))
  }
}
const io = makeNodeIo()
const world = makeFakeWorld({ io })
const { authServer, infoServers, syncServers } = FAKE_ADDRESSES
const kernel = await createKernel({
  authServer,
  infoServers,
  syncServers,
  io: world.ioFor(io),
  apiKey: '',
  plugins: [plugins, memoryStorage(), onePrice, coinbase]
})

// Rates are asked for while somebody wants some: at once, and then every 30 s.
const { rates } = kernel.context
const stop = rates.want([{ fromCurrency: 'BTC', toCurrency: 'iso:EUR' }])
await rates.refresh()
const route = rates.findRoute('BTC', 'iso:EUR')
for (const { fromCurrency, toCurrency, rate, source } of route?.hops ?? []) {
  console.log(`${fromCurrency} = ${rate.toFixed(4)} ${toCurrency} (${source})`)
}
console.log(`0.5 BTC = ${rates.convertCurrency('BTC', 'iso:EUR', 0.5).toFixed(2)} EUR`)
stop()
await kernel.close()
