import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { mapStorage } from '../../examples/map-storage.ts'
import { mapStoreStorage } from '../../examples/map-store.ts'
import { SortedMap } from '../../kernel/plugin-api.ts'
import { testStoragePlugin } from '../../testing/storage-suite.ts'
import { blocksOf } from '../helpers/pages.ts'

const FOLDER = new URL('../../examples/', import.meta.url)

/** Runs an example as a user does: a process of its own that imports the package by name. */
const run = async (name: string): Promise<string> => {
  const script = fileURLToPath(new URL(`${name}.js`, FOLDER))
  const args = ['--disallow-code-generation-from-strings', script]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 })
  return stdout + stderr
}

/** Everything that each example prints; an example without a row fails. */
const outputs: Readonly<Record<string, RegExp>> = {
  '00-quick-start': /^sent [0-9a-f]{64}, fee \d+ satoshi\n$/,
  '01-create-and-spend':
    /^receive on bcrt1q\w+\nbalance 5000000 satoshi\nreview: -125\d{4} satoshi, of which \d+ are the fee\nsecond device: "Savings", Landlady: Rent for October\n$/,
  '02-toy-currency':
    /^paid -1501, fee included\nrefused: Insufficient TOL\nAlice: 3\.499 TOL\nShop: 1\.5 TOL\n$/,
  '03-storage-on-a-map':
    /^folders: backup, client\.json, logins, repos\nthe wallet's name in the clear: no\nagain: "Savings for a bicycle"\n$/,
  '04-refuse-large-spends':
    /^200000: sent\n2000000: The policy spend-limit refused to sign: more than 1000000\nunfinished spends: 0\n$/,
  '05-watch-a-wallet':
    /^login by create: deriving\n(?:.+\n)*wallet Savings: 5000000\n(?:.+\n)*spend: intended\n(?:.+\n)*spend: signed\n(?:.+\n)*spend: broadcast\n(?:.+\n)*spend: saved\n(?:.+\n)*engine of bitcoin: stopped\n(?:.+\n)*$/,
  '06-rates':
    /^plugins: applied\nmemory: applied\noneprice: applied\ncoinbase: applied\nBTC = 64000\.0000 iso:USD \(oneprice\)\niso:USD = 0\.9225 iso:EUR \(coinbase\)\n0\.5 BTC = 29520\.30 EUR\n$/,
  '07-swaps':
    /^500 satoshi: SwapBelowLimitError: Amount is too low\nChangeNOW: 7\.64251781 LTC\nCorner Shop: 7\.4 LTC\nreview: 1 payment, \d+ satoshi for the network\npaid order-1 with Corner Shop\nreceived 7\.4 LTC\norder-1 is paidOut\n$/,
  '08-test-a-plugin': /^priceshop \(rates\): conformance 23\/23, 2 skipped, full\n$/,
  '09-contain-a-plugin':
    /^stranger \(rates\) fetches from rates\.example\.org\nstranger: it sees undefined, undefined, undefined\n1 BTC = 64000 EUR\n$/
}

const GUIDE = 'docs/write-a-plugin.md'
const guide = blocksOf(GUIDE, readFileSync(GUIDE, 'utf8'))

/** The lines of an output without what differs each time. */
const linesOf = (text: string): readonly string[] =>
  text
    .trim()
    .split('\n')
    .map(line => line.replace(/bcrt1q.+/, '…'))

const names = readdirSync(FOLDER)
  .filter(name => /^\d\d-.*\.js$/.test(name))
  .map(name => name.replace('.js', ''))

for (const name of names) {
  test(`the example ${name} runs offline to its end and prints the expected output`, async t => {
    const expected = outputs[name]
    t.truthy(expected, `${name} has no expected output`)
    const printed = await run(name)
    if (expected !== undefined) t.regex(printed, expected)
    const shown = guide.find(block => block.run === `examples/${name}.ts`)?.text ?? ''
    const lines = linesOf(printed)
    // Events of two sources may come in another order.
    for (const line of linesOf(shown))
      t.true(line === '' || lines.includes(line), `the guide shows "${line}"`)
  })
}

test('no example is missing, and the guide shows what all but the first print', t => {
  t.deepEqual(names, Object.keys(outputs))
  const shown = guide.flatMap(({ run: file }) => (file === undefined ? [] : [file]))
  t.deepEqual(
    shown,
    names.slice(1).map(name => `examples/${name}.ts`)
  )
})

const places = new Map<number, Map<string, string>>()
testStoragePlugin(
  test,
  place => {
    const files = places.get(place) ?? new Map<string, string>()
    places.set(place, files)
    return mapStorage(files)
  },
  { pluginId: 'the storage of the examples' }
)

const stores = new Map<number, SortedMap<Uint8Array>>()
testStoragePlugin(
  test,
  place => {
    const values = stores.get(place) ?? new SortedMap<Uint8Array>()
    stores.set(place, values)
    return mapStoreStorage(values)
  },
  { pluginId: 'the store of the examples' }
)
