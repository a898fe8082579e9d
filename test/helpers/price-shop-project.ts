import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The source of the plugin `priceshop` of the examples. */
export const PRICE_SHOP: string = readFileSync(
  new URL('../../../examples/price-shop.ts', import.meta.url),
  'utf8'
)

const TEST = `
import { rateSuite, type Suite, type SuiteOptions } from 'holdfast/testing'
import { priceShop } from '../src/index.ts'

const replies = { 'https://shop.example.org/price': '{"usd":64000}' }
export const suite = (options: SuiteOptions = {}): Suite =>
  rateSuite(priceShop, { valid: [{ wanted: ['BTC iso:USD'], replies, offers: { 'BTC iso:USD': 64_000 } }], ...options })
`

/** Makes a project of this plugin with its tests in a folder. @returns a function that writes another source */
export const makePriceShopProject = (folder: string): ((source: string) => void) => {
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  write('package.json', '{ "name": "shop", "type": "module", "exports": "./src/index.ts" }')
  write('src/index.ts', PRICE_SHOP)
  write('test/plugin.test.ts', TEST)
  return source => write('src/index.ts', source)
}
