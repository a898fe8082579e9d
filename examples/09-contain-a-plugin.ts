// A plugin of somebody else in a cell: a process without files, environment and network of its own.
import { createHash } from 'node:crypto'
import { createKernel } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { makeNodeIo } from 'holdfast/node'
import { openCells } from 'holdfast/node/cells'
import type { ObserverPlugin } from 'holdfast/plugin'
import { memoryStorage } from 'holdfast/plugins/storage/memory'

// One script without imports, as a bundler makes it. This one tries to read what it must not.
const code = `definePlugin({
  kind: 'rates', id: 'stranger', displayName: 'Stranger', hosts: ['rates.example.org'],
  apply({ hooks, log }) {
    hooks.fetchRates.tapPromise('stranger', async ({ wanted, offer }) => {
      log.warn('it sees ' + [typeof process, typeof fetch, typeof require].join(', '))
      for (const pair of wanted) offer(pair, 64000)
    })
  }
})`
const sha512 = createHash('sha512').update(code).digest('hex')

const line = (text: string): void => console.log(text)
const cells = openCells({
  log: { debug: line, info: line, warn: line, error: line },
  onFault: ({ pluginId, reason }) => console.log(`${pluginId}: ${reason}`)
})

// Show this to the person who adds the plugin; afterwards only code with the same hash is loaded.
const { id, kind, hosts } = await cells.inspect(code)
console.log(`${id} (${kind}) fetches from ${hosts.join(', ')}`)
const stranger = await cells.plugin({ id, code, sha512, asks: { kind: 'rates', hosts, keys: false } })

const watch: ObserverPlugin = {
  kind: 'observer',
  id: 'watch',
  apply({ hooks }) {
    hooks.logged.tap('watch', ({ source, text }) => console.log(`${source}: ${text}`))
  }
}
const io = makeNodeIo()
const world = makeFakeWorld({ io })
const { authServer, infoServers, syncServers } = FAKE_ADDRESSES
const kernel = await createKernel({
  ...{ authServer, infoServers, syncServers },
  io: world.ioFor(io),
  apiKey: '',
  plugins: [memoryStorage(), watch, stranger]
})
const { rates } = kernel.context
const stop = rates.want([{ fromCurrency: 'BTC', toCurrency: 'iso:EUR' }])
await rates.refresh()
console.log(`1 BTC = ${rates.convertCurrency('BTC', 'iso:EUR', 1)} EUR`)
stop()
await kernel.close()
cells.close()
