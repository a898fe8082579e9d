// A rate source and a swap provider, rates-and-swaps.ts. The kernel asks the first, beside one of the sources that
// ship; the desk of the second is made by hand here, as a unit test of such a plugin would.
import { createKernel, nativeAmount } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { makeNodeIo } from 'holdfast/node'
import type { Host, ObserverPlugin, QuoteDesk } from 'holdfast/plugin'
import { coinbase } from 'holdfast/plugins/rates/coinbase'
import { memoryStorage } from 'holdfast/plugins/storage/memory'
import { cornerShop, onePrice } from './rates-and-swaps.ts'

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
  plugins: [plugins, memoryStorage(), onePrice, coinbase, cornerShop]
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

// A host made by hand keeps what the plugin taps, so that it can be called.
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const base: Host = { log: quiet, options: {} }
const never = { tapPromise() {} }
const disk = {
  getText: async () => undefined,
  setText: async () => {},
  delete: async () => {},
  list: async () => []
}
const { signal } = new AbortController()

const taps: ((desk: QuoteDesk) => Promise<void>)[] = []
cornerShop.apply({
  ...base,
  io,
  disk,
  hooks: { ready: never, closing: never, fetchQuotes: { tapPromise: (_name, fn) => void taps.push(fn) } }
})
const askQuotes = async (desk: QuoteDesk): Promise<void> => {
  for (const tap of taps) await tap(desk)
}
const deskFor = (amount: string): QuoteDesk => ({
  request: {
    from: { pluginId: 'bitcoin', tokenId: null, currencyCode: 'BTC', multiplier: '100000000' },
    to: { pluginId: 'tollar', tokenId: null, currencyCode: 'TOL', multiplier: '100' },
    nativeAmount: nativeAmount(amount),
    quoteFor: 'from'
  },
  userSettings: {},
  signal,
  depositTo: async () => 'our address',
  refundTo: async () => 'our other address',
  feeFor: async () => nativeAmount('150'),
  maxFrom: async () => nativeAmount('1000000'),
  offer: ({ toNativeAmount }) => console.log(`${amount} satoshi buy ${toNativeAmount} tollar units`)
})
await askQuotes(deskFor('50000'))
await askQuotes(deskFor('5')).catch((error: unknown) => console.log(`5 satoshi: ${error}`))
