import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { sourcePlaces } from '../../cli/plugins/source-places.ts'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'

const THROW = 'const none: { x?: { y: number } } = {}; if (none.x!.y > 1) return'

/** A rate source in TypeScript; its lines are not those of the bundle. */
const ratesCode = ({
  load = '',
  apply = '',
  fetch = ''
}): string => `import { type RatePlugin, WalletError } from 'holdfast/plugin'
interface Lines {
  readonly that: 'a bundler removes'
}
${load}
const plugin: RatePlugin = {
  kind: 'rates', id: 'corner', displayName: 'Corner', hosts: [],
  apply({ hooks }) {
    ${apply}
    hooks.fetchRates.tapPromise('corner', async ({ offer, signal }) => {
      ${fetch}
      if (signal.aborted) throw new WalletError('NETWORK', {})
      offer({ fromCurrency: 'BTC', toCurrency: 'iso:XTS' }, 42)
    })
  }
}
export default plugin
`

interface Stage {
  add(code: string): Promise<Ran>
  /** What the source says when it is used. */
  failure(): Promise<string>
  /** The path of the source map of the bundle. */
  map(): string
}

const openStage = (t: ExecutionContext): Stage => {
  const home = homeFor(t)
  const folder = join(home, 'author')
  mkdirSync(join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "exports": "./src/index.ts" }')
  const run = (...args: readonly string[]): Promise<Ran> => runInProcess([...args, '--json'], { home })
  const plugins = join(home, 'config', 'default', 'plugins')
  return {
    add(code) {
      writeFileSync(join(folder, 'src/index.ts'), code)
      return run('plugins', 'add', folder, '--yes')
    },
    async failure() {
      const { providers } = (await run('rates', 'providers')).json.data
      return providers.find((each: { id: string }) => each.id === 'corner').message
    },
    map: () => join(plugins, readdirSync(plugins).find(name => name.endsWith('.map')) ?? '')
  }
}

const REASON = "Cannot read properties of undefined (reading 'y')"

test('a plugin in a cell that throws names the line of its source, also while it is added', async t => {
  const stage = openStage(t)
  const load = await stage.add(ratesCode({ load: THROW.replace('return', 'throw 1') }))
  t.is(load.json.error.code, 'PLUGIN_REFUSED')
  t.true(load.json.error.message.includes(`${REASON} (at src/index.ts:5:`), load.json.error.message)
  const apply = await stage.add(ratesCode({ apply: THROW }))
  t.true(apply.json.error.message.includes(`${REASON} (at src/index.ts:9:`), apply.json.error.message)
  t.is((await stage.add(ratesCode({ fetch: THROW }))).code, 0)
  t.true((await stage.failure()).includes(`${REASON} (at src/index.ts:11:`), await stage.failure())
})

test('a source map that is gone, damaged or too long changes no more than the message', async t => {
  const stage = openStage(t)
  t.is((await stage.add(ratesCode({ fetch: THROW }))).code, 0)
  const text = readFileSync(stage.map(), 'utf8')
  t.false(text.includes('sourcesContent'))
  const damaged = ['', '{', '[]', '{"version":3}', '{"version":3,"sources":[1],"names":[],"mappings":"!!"}']
  for (const each of damaged) {
    writeFileSync(stage.map(), each)
    const failure = await stage.failure()
    t.true(failure.endsWith(REASON), `${each}: ${failure}`)
  }
  writeFileSync(stage.map(), text)
  t.regex(await stage.failure(), /\(at src\/index\.ts:11:/)
  // The same map, with more space than any has.
  writeFileSync(stage.map(), text.padEnd(16_000_001))
  t.true((await stage.failure()).endsWith(REASON))
  rmSync(stage.map())
  t.true((await stage.failure()).endsWith(REASON))
})

test('a place shows no character that moves a cursor, and no file of this program', t => {
  const stack = 'TypeError: x\n    at tap (corner.js:1:1)\n    at corner.js:1:3'
  const mapOf = (sources: readonly string[]): string =>
    JSON.stringify({ version: 3, file: 'a.js', names: [], sources, mappings: 'AAAA,ECAA' })
  const placeIn = (...sources: readonly string[]): string | undefined =>
    sourcePlaces(() => mapOf(sources))(stack)
  t.is(placeIn('src/a.ts', 'src/b.ts'), 'src/a.ts:1:1')
  t.is(placeIn('holdfast/dist/lib/plugin.js', 'src/b.ts'), 'src/b.ts:1:1')
  t.is(placeIn('src/\u001b[2J.ts', 'src/\u202e.ts'), undefined)
  t.is(placeIn('s'.repeat(201), 's'.repeat(201)), undefined)
  t.is(sourcePlaces(() => undefined)(stack), undefined)
  t.is(sourcePlaces(() => mapOf(['a.ts', 'b.ts']).padEnd(16_000_001))(stack), undefined)
  t.is(sourcePlaces(() => mapOf(['a.ts', 'b.ts']))('no stack'), undefined)
})
