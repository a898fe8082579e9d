// A rate source and a swap provider, rates-and-swaps.ts. The kernel of this version applies them and does not
// ask them yet, so the desks are made by hand here, as a unit test of such a plugin would.
import { createKernel, nativeAmount } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { makeNodeIo } from 'holdfast/node'
import type { Host, ObserverPlugin, QuoteDesk, RateDesk } from 'holdfast/plugin'
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
  plugins: [plugins, memoryStorage(), onePrice, cornerShop]
})
await kernel.close()

// A host made by hand keeps what the plugin taps, so that it can be called.
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const base: Host = { log: quiet, options: {} }
const tapOf = <Desk>(apply: (keep: (name: string, fn: (desk: Desk) => Promise<void>) => void) => void) => {
  const taps: ((desk: Desk) => Promise<void>)[] = []
  apply((_name, fn) => void taps.push(fn))
  return async (desk: Desk): Promise<void> => {
    for (const tap of taps) await tap(desk)
  }
}
const never = { tapPromise() {} }
const disk = {
  getText: async () => undefined,
  setText: async () => {},
  delete: async () => {},
  list: async () => []
}
const common = { ...base, io, disk }
const { signal } = new AbortController()

const askRates = tapOf<RateDesk>(tapPromise =>
  onePrice.apply({
    ...common,
    hooks: { ready: never, closing: never, fetchRates: { tapPromise }, fetchHistoricRates: never }
  })
)
await askRates({
  signal,
  wanted: [{ fromCurrency: 'BTC', toCurrency: 'iso:USD' }],
  offer: ({ fromCurrency, toCurrency }, rate) => console.log(`${fromCurrency} = ${rate} ${toCurrency}`)
})

const askQuotes = tapOf<QuoteDesk>(tapPromise =>
  cornerShop.apply({ ...common, hooks: { ready: never, closing: never, fetchQuotes: { tapPromise } } })
)
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
