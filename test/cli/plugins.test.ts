import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { followPlugin } from '../../cli/plugins/followed-plugin.ts'
import { loadPlugins } from '../../cli/plugins/load-plugins.ts'
import { changePluginList, pluginStamp, readPluginList } from '../../cli/plugins/plugin-list.ts'
import type { ProfilePaths } from '../../cli/profile/paths.ts'
import { lockFolder } from '../../plugins/storage/file/file-lock.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { waitFor } from '../helpers/device.ts'
import { runInProcess } from '../helpers/in-process.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const SECRETS = JSON.stringify({ password: 'correct horse battery', pin: '2468' })

/** A source of one rate that nothing else has; with a TypeScript enum, which Node cannot run by itself. */
const ratesCode = (price: number): string => `
import type { RatePlugin } from 'holdfast/plugin'
import { PAIR } from './pair.ts'
enum Price { Now = ${price} }
const plugin: RatePlugin = {
  kind: 'rates', id: 'corner', displayName: 'Corner',
  apply({ hooks }) {
    hooks.fetchRates.tapPromise('corner', async context => context.offer(PAIR, Price.Now))
  }
}
export default plugin
`

interface Stage {
  readonly home: string
  /** A folder of the author's. */
  readonly folder: string
  run(...args: readonly string[]): Promise<Ran>
  write(name: string, text: string): string
}

const openStage = (t: ExecutionContext): Stage => {
  const home = homeFor(t)
  const folder = join(home, 'author')
  mkdirSync(folder)
  const write = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  // Files are named from the nearest folder of a package, which may also be above the folder of the tests.
  write('package.json', '{}')
  write('pair.ts', "export const PAIR = { fromCurrency: 'BTC', toCurrency: 'iso:XTS' }\n")
  return { home, folder, write, run: (...args) => runInProcess(args, { home }) }
}

const succeeded = (t: ExecutionContext, ran: Ran): Ran['json']['data'] => {
  t.is(ran.code, 0, ran.stdout + ran.stderr)
  return ran.json.data
}

/** What the rate of the plugin is; undefined if nobody knows one. */
const rateOf = async ({ home }: Stage): Promise<string | undefined> => {
  const args = ['amount', 'Savings', '1', '--to', 'iso:XTS', '--json', '--secrets-stdin']
  const ran = await runInProcess(args, { home, input: SECRETS })
  return ran.code === 0 ? ran.json.data.fiat.value : undefined
}

const withWallet = async (t: ExecutionContext, stage: Stage): Promise<void> => {
  for (const args of [
    ['account', 'create', 'alice'],
    ['wallets', 'create', 'bitcoin', '--name', 'Savings']
  ])
    succeeded(
      t,
      await runInProcess([...args, '--json', '--secrets-stdin'], { home: stage.home, input: SECRETS })
    )
}

const pluginsIn = ({ home }: Stage): string => join(home, 'config', 'default', 'plugins')

/** Everything below the folder of the plugins but the list, the bundles and their maps. */
const leftIn = (stage: Stage): readonly string[] =>
  existsSync(pluginsIn(stage))
    ? readdirSync(pluginsIn(stage)).filter(name => !/^(?:plugins\.json|.*\.mjs(?:\.map)?)$/.test(name))
    : []

const bundlesIn = ({ home }: Stage): readonly string[] => {
  const folder = join(home, 'config', 'default', 'plugins')
  return existsSync(folder) ? readdirSync(folder).filter(name => name.endsWith('.mjs')) : []
}

test('a plugin in a file is bundled, shown before it runs, used by the next command, and removed', async t => {
  const stage = openStage(t)
  const path = stage.write('corner.ts', ratesCode(42))
  const refused = await stage.run('plugins', 'add', path, '--no-cell', '--json')
  t.is(refused.json.error.code, 'CONFIRMATION_REQUIRED')
  t.is(refused.json.error.details.summary.files.length, 2)
  t.false(refused.json.error.details.summary.contained)
  t.false(existsSync(join(stage.home, 'config', 'default', 'plugins', 'plugins.json')))

  await withWallet(t, stage)
  t.is(await rateOf(stage), undefined)
  const { plugin, replaced } = succeeded(
    t,
    await stage.run('plugins', 'add', path, '--no-cell', '--yes', '--json')
  )
  t.is(plugin.id, 'corner')
  t.false(replaced)
  t.is(await rateOf(stage), '42.00')
  const { plugins } = succeeded(t, await stage.run('plugins', 'list', '--kind', 'rates', '--json'))
  t.true(plugins.some((each: { id: string; shipped: boolean }) => each.id === 'coinbase' && each.shipped))
  const shown = plugins.find((each: { id: string }) => each.id === 'corner')
  t.is(shown.state, 'applied')
  t.is(shown.added.source, path)

  // What was added is what runs, whatever becomes of the file.
  stage.write('corner.ts', ratesCode(43))
  t.is(await rateOf(stage), '42.00')
  t.true(succeeded(t, await stage.run('plugins', 'add', path, '--no-cell', '--yes', '--json')).replaced)
  t.is(await rateOf(stage), '43.00')
  t.is(bundlesIn(stage).length, 1)

  const stateOf = async (): Promise<string> =>
    succeeded(t, await stage.run('plugins', 'show', 'corner', '--json')).plugin.state
  succeeded(t, await stage.run('plugins', 'disable', 'corner', '--json'))
  t.is(await stateOf(), 'disabled')
  succeeded(t, await stage.run('plugins', 'enable', 'corner', '--json'))
  t.is(await stateOf(), 'applied')
  t.is(await rateOf(stage), '43.00')
  succeeded(t, await stage.run('plugins', 'remove', 'corner', '--json'))
  t.is((await stage.run('plugins', 'show', 'corner', '--json')).json.error.code, 'NOT_FOUND')
  t.deepEqual(bundlesIn(stage), [])
  t.is((await stage.run('plugins', 'remove', 'corner', '--json')).json.error.code, 'NOT_FOUND')
})

test('a bundle that somebody changed does not run, and each command and the list say so', async t => {
  const stage = openStage(t)
  await withWallet(t, stage)
  const path = stage.write('corner.ts', ratesCode(42))
  succeeded(t, await stage.run('plugins', 'add', path, '--no-cell', '--yes', '--json'))
  const [bundle = ''] = bundlesIn(stage)
  appendFileSync(join(stage.home, 'config', 'default', 'plugins', bundle), '\nthrow new Error("hostile")\n')
  // An agent that runs has what it read before.
  succeeded(t, await stage.run('plugins', 'disable', 'corner', '--json'))
  succeeded(t, await stage.run('plugins', 'enable', 'corner', '--json'))
  t.is(await rateOf(stage), undefined)
  const ran = await stage.run('plugins', 'list', '--kind', 'rates')
  t.is(ran.code, 0)
  t.regex(ran.stderr, /the plugin corner is not loaded: .* has changed since the plugin was added/)
  const { plugin } = succeeded(t, await stage.run('plugins', 'show', 'corner', '--json'))
  t.is(plugin.state, 'failed')
  t.regex(plugin.reason, /has changed since the plugin was added/)
})

const MISTAKES: readonly (readonly [about: string, text: string, code: string, sentence: RegExp])[] = [
  ['a syntax error', 'export default {', 'PLUGIN_REFUSED', /corner\.ts cannot be bundled: /],
  ['an import that is missing', "import 'nowhere'", 'PLUGIN_REFUSED', /nowhere/],
  ['no plugin', 'export const a = 1', 'PLUGIN_REFUSED', /exports no plugin/],
  [
    'two plugins',
    "const a = { kind: 'observer', id: 'a', apply() {} }; export const one = a, two = { ...a }",
    'PLUGIN_REFUSED',
    /exports several plugins/
  ],
  [
    'code that throws',
    "throw new Error('not today')",
    'PLUGIN_REFUSED',
    /fails when it is loaded: not today/
  ],
  [
    'a misspelt field',
    "export default { kind: 'swap', id: 'x', dispayName: 'X', apply() {} }",
    'PLUGIN_INVALID',
    /dispayName is no field of a swap plugin, and must be spelled displayName/
  ],
  [
    'an apply that throws',
    "export default { kind: 'observer', id: 'x', apply() { throw new Error('no port') } }",
    'PLUGIN_REFUSED',
    /The plugin x fails when it is applied: no port/
  ],
  [
    'an apply that fails later',
    "export default { kind: 'observer', id: 'x', async apply() { await null; throw new Error('no port') } }",
    'PLUGIN_REFUSED',
    /The plugin x fails when it is applied: no port/
  ],
  [
    'a frozen plugin whose apply fails later',
    "export default Object.freeze({ kind: 'observer', id: 'x', async apply() { await null; throw new Error('no port') } })",
    'PLUGIN_REFUSED',
    /The plugin x fails when it is applied: no port/
  ],
  [
    'a store',
    "export default { kind: 'storage', id: 'x', apply({ hooks }) { hooks.openDisk.tapPromise('x', async () => ({})) } }",
    'PLUGIN_REFUSED',
    /The plugin x is a store, and the command line keeps its files in its own/
  ],
  [
    'the id of one that ships',
    "export default { kind: 'observer', id: 'bitcoin', apply() {} }",
    'PLUGIN_REFUSED',
    /that of a plugin that ships/
  ],
  [
    'an id that is no name',
    "export default { kind: 'observer', id: 'a.b', apply() {} }",
    'PLUGIN_INVALID',
    /id is the text "a\.b", and must be 1 to 64 letters/
  ]
]

for (const [about, text, code, sentence] of MISTAKES)
  test(`a file with ${about} is not added, and the sentence says why`, async t => {
    const stage = openStage(t)
    const path = stage.write('corner.ts', text)
    const { json } = await stage.run('plugins', 'add', path, '--no-cell', '--yes', '--json')
    t.is(json.error?.code, code)
    t.regex(json.error.message, sentence)
    t.deepEqual(bundlesIn(stage), [])
  })

test('a plugin of others runs in a cell: what it fetches from is shown, an update that wants more says so, and nothing is left', async t => {
  const stage = openStage(t)
  await withWallet(t, stage)
  const path = stage.write('corner.ts', ratesCode(42))
  const shown = async (): Promise<Ran['json']['error']['details']['summary']> =>
    (await stage.run('plugins', 'add', path, '--json')).json.error.details.summary
  t.like(await shown(), { id: 'corner', kind: 'rates', hosts: [], seesKeys: false, contained: true })
  const { plugin } = succeeded(t, await stage.run('plugins', 'add', path, '--yes', '--json'))
  t.true(plugin.contained)
  t.is(await rateOf(stage), '42.00')

  const wanted = ['rates.example.org', 'rates.example.org:8443', 'tls://rates.example.org:50002']
  const hosts = `hosts: ${JSON.stringify(wanted)},`
  stage.write('corner.ts', ratesCode(43).replace("kind: 'rates',", `kind: 'rates', ${hosts}`))
  t.deepEqual((await shown()).hosts, wanted)
  const asOwn = ['plugins', 'add', path, '--no-cell', '--dry-run', '--yes', '--json']
  succeeded(t, await stage.run(...asOwn))
  succeeded(t, await stage.run('plugins', 'add', path, '--yes', '--json'))
  t.is(await rateOf(stage), '43.00')
  succeeded(t, await stage.run('plugins', 'remove', 'corner', '--json'))
})

/** A currency with these fields besides in its info. */
const coinCode = (info: string): string => `export default {
  kind: 'currency',
  id: 'tollar',
  info: {
    pluginId: 'tollar', displayName: 'Tollar', walletType: 'wallet:tollar', currencyCode: 'TOL',
    denominations: [{ name: 'TOL', multiplier: '1000' }]${info}
  },
  apply({ hooks }) {
    hooks.makeTools.tapPromise('tollar', async () => ({}))
    hooks.makeEngine.tapPromise('tollar', async () => ({}))
  }
}`

for (const [flags, place] of [
  [[], 'in a cell'],
  [['--no-cell'], 'in the process of the wallet']
] as const)
  test(`a currency ${place} for which the kernel signs is not said to see keys, and any other is`, async t => {
    const stage = openStage(t)
    const keysOf = async (info: string): Promise<readonly [sees: boolean, text: string]> => {
      const path = stage.write('tollar.ts', coinCode(info))
      const { plugin } = succeeded(t, await stage.run('plugins', 'add', path, ...flags, '--yes', '--json'))
      const { stdout } = await stage.run('plugins', 'show', 'tollar')
      return [plugin.seesKeys, /^keys\s+(.*)$/m.exec(stdout)?.[1] ?? '']
    }
    // Nothing keeps code of one's own from them.
    const reads = flags.length === 0 ? '' : '; it can read all others, since it runs where they are'
    t.deepEqual(await keysOf(''), [true, `those of its own wallets, to sign${reads}`])
    t.deepEqual(await keysOf(", signing: { curve: 'ed25519', keyName: 'tollarKey' }"), [
      false,
      `no private keys: the wallet signs${reads}`
    ])
  })

test('of code that runs in the process of the wallet the command line says that it can read all keys, of a config too', async t => {
  const stage = openStage(t)
  const reads = /^keys\s+none; it can read all others, since it runs where they are$/m
  const path = stage.write('corner.ts', ratesCode(1))
  const added = await stage.run('plugins', 'add', path, '--no-cell', '--yes')
  t.regex(added.stdout, reads)
  t.regex((await stage.run('plugins', 'show', 'corner')).stdout, reads)
  succeeded(t, await stage.run('plugins', 'remove', 'corner', '--json'))
  t.regex((await stage.run('plugins', 'add', path, '--yes')).stdout, /^keys\s+none$/m)
  succeeded(t, await stage.run('plugins', 'remove', 'corner', '--json'))
  const folder = join(stage.home, 'config', 'default')
  writeFileSync(
    join(folder, 'holdfast.config.js'),
    `export { default } from ${JSON.stringify(join(stage.folder, 'all.ts'))}`
  )
  stage.write('all.ts', "import corner from './corner.ts'\nexport default { plugins: [corner] }")
  succeeded(t, await stage.run('plugins', 'allow', '--yes', '--json'))
  t.regex((await stage.run('plugins', 'show', 'corner')).stdout, reads)
  t.regex((await stage.run('plugins', 'show', 'coinbase')).stdout, /^keys\s+none$/m)
})

test('the currencies of a real network are listed as those that ship, and no plugin is added with the id of one', async t => {
  const stage = openStage(t)
  const chain = 'dogecoin=tls://127.0.0.1:9'
  const args = ['profile', 'create', 'own', '--network', 'main', '--chain', chain, '--yes', '--json']
  const input = JSON.stringify({ yes: 'yes' })
  succeeded(t, await runInProcess([...args, '--confirm', 'yes'], { home: stage.home, input }))
  const { plugins } = succeeded(t, await stage.run('plugins', 'list', '--profile', 'own', '--json'))
  t.like(
    plugins.find(({ id }: { id: string }) => id === 'dogecoin'),
    { state: 'applied', shipped: true }
  )
  const path = stage.write('tollar.ts', coinCode('').replaceAll('tollar', 'dogecoin'))
  for (const flags of [[], ['--no-cell']]) {
    const { json } = await stage.run('plugins', 'add', path, ...flags, '--yes', '--json')
    t.is(json.error?.message, 'The id dogecoin is that of a plugin that ships with holdfast')
  }
})

const UNCONTAINABLE: readonly (readonly [about: string, text: string, sentence: RegExp])[] = [
  ['reads a file', "import 'node:fs'; export default {}", /imports node:fs, which a cell does not have/],
  [
    'imports a package that is not installed',
    "import axios from 'axios-of-nobody'; export default axios",
    /imports axios-of-nobody, which is not installed beside it/
  ],
  [
    'loads code later',
    "export default { go: () => import('node:fs') }",
    /imports node:fs, which a cell does not have/
  ],
  ['loads code of any name', 'export default { go: name => import(name) }', /import in line \d+/],
  ['looks for the process', 'export default process.env', /process is not defined/],
  ['never ends', 'for (;;) {}', /does not say what it is|its cell ended/],
  ['is a store', "export default { kind: 'storage', id: 'x', apply() {} }", /a cell has no place|in a cell/i],
  ['is no plugin', 'export const a = 7', /gives no plugin/],
  [
    'names hosts that are none',
    "export default { kind: 'rates', id: 'x', hosts: ['*'], apply() {} }",
    /hosts is a list, and must be a list of up to 50 names of servers/
  ],
  [
    'has a path as its id',
    "export default { kind: 'observer', id: '../../../escaped', apply() {} }",
    /id is the text "\.\.\/\.\.\/\.\.\/escaped", and must be 1 to 64 letters/
  ],
  [
    'throws in apply',
    "export default { kind: 'observer', id: 'x', apply() { throw new Error('no port') } }",
    /no port/
  ],
  [
    'throws later in apply',
    "export default { kind: 'observer', id: 'x', async apply() { await null; throw new Error('no port') } }",
    /The plugin x fails when it is applied: no port \(at corner\.ts:1:\d+\)/
  ]
]

for (const [about, text, sentence] of UNCONTAINABLE)
  test(`a file that ${about} is not added to run in a cell, and the sentence says why`, async t => {
    const stage = openStage(t)
    const path = stage.write('corner.ts', text)
    const { json } = await stage.run('plugins', 'add', path, '--yes', '--json')
    t.regex(`${json.error?.message} ${json.error?.hint}`, sentence)
    t.not(json.error.code, 'INTERNAL')
    t.deepEqual(bundlesIn(stage), [])
  })

/** As long as an id may be. */
const CALM = `calm${'-'.repeat(60)}`

test('while a policy or the list of plugins cannot be loaded, nothing is paid, and the refusal says why', async t => {
  const stage = openStage(t)
  await withWallet(t, stage)
  const as = async (...args: readonly string[]): Promise<Ran> =>
    runInProcess([...args, '--json', '--secrets-stdin'], { home: stage.home, input: SECRETS })
  succeeded(t, await as('fake', 'chain', 'fund', 'Savings', '0.1', '--confirm'))
  let paid = 0
  // Each is another amount: the same one again would need more than --yes.
  const pay = (): Promise<Ran> => {
    paid += 1
    return as('send', 'Savings', '--to', PAYEE, '--amount', `0.00${paid}`, '--yes')
  }
  const path = stage.write(
    'calm.ts',
    `export default { kind: 'policy', id: '${CALM}', apply({ hooks }) { hooks.beforeSign.tapPromise('${CALM}', async () => {}) } }`
  )
  succeeded(t, await stage.run('plugins', 'add', path, '--yes', '--json'))
  succeeded(t, await pay())

  const folder = join(stage.home, 'config', 'default', 'plugins')
  const [bundle = ''] = bundlesIn(stage)
  const good = readFileSync(join(folder, bundle))
  appendFileSync(join(folder, bundle), '//')
  succeeded(t, await stage.run('plugins', 'disable', CALM, '--json'))
  succeeded(t, await stage.run('plugins', 'enable', CALM, '--json'))
  const refused = await pay()
  t.is(refused.json.error.code, 'SIGN_REFUSED')
  t.regex(refused.json.error.message, /policy calm-+ refused to sign: it is not loaded: .* has changed/)
  writeFileSync(join(folder, bundle), good)
  succeeded(t, await stage.run('plugins', 'disable', CALM, '--json'))
  succeeded(t, await pay())

  const moody = stage.write(
    'moody.ts',
    `import { existsSync } from 'node:fs'
    export default { kind: 'policy', id: 'moody', apply() { if (existsSync('${stage.folder}/gone')) throw new Error('bad mood') } }`
  )
  succeeded(t, await stage.run('plugins', 'add', moody, '--no-cell', '--yes', '--json'))
  succeeded(t, await pay())
  stage.write('gone', '')
  const failed = await pay()
  t.is(failed.json.error.code, 'SIGN_REFUSED')
  t.regex(failed.json.error.message, /policy moody refused to sign: it is not loaded: bad mood/)
  succeeded(t, await stage.run('plugins', 'disable', 'moody', '--json'))
  succeeded(t, await pay())

  const list = readFileSync(join(folder, 'plugins.json'), 'utf8')
  writeFileSync(join(folder, 'plugins.json'), list.slice(0, -20))
  const lost = await pay()
  t.is(lost.json.error.code, 'SIGN_REFUSED')
  t.regex(lost.json.error.message, /it is not loaded: plugins\.json: .* is damaged/)
  t.is((await stage.run('plugins', 'remove', CALM, '--json')).json.error.code, 'PLUGIN_REFUSED')
  writeFileSync(join(folder, 'plugins.json'), list)
  succeeded(t, await pay())
})

test('the config of a profile is used once it is allowed, and no longer when one of its files changes', async t => {
  const stage = openStage(t)
  await withWallet(t, stage)
  const folder = join(stage.home, 'config', 'default')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'pair.ts'), readFileSync(join(stage.folder, 'pair.ts')))
  writeFileSync(join(folder, 'corner.ts'), ratesCode(7))
  writeFileSync(
    join(folder, 'holdfast.config.ts'),
    "import corner from './corner.ts'\nexport default { plugins: [corner] }\n"
  )
  t.is(await rateOf(stage), undefined)
  const before = await stage.run('plugins', 'list')
  t.regex(before.stderr, /holdfast\.config\.ts is not loaded: nobody has allowed it yet.*plugins allow/)
  const allowed = succeeded(t, await stage.run('plugins', 'allow', '--yes', '--json'))
  t.deepEqual(allowed.plugins, ['corner'])
  t.is(allowed.files.length, 3)
  t.is(await rateOf(stage), '7.00')
  t.notRegex((await stage.run('plugins', 'list')).stderr, /not loaded/)

  writeFileSync(join(folder, 'corner.ts'), ratesCode(8))
  succeeded(t, await stage.run('agent', 'status', '--json'))
  const after = await stage.run('plugins', 'list', '--no-agent')
  t.regex(after.stderr, /is not loaded: corner\.ts has changed/)
  succeeded(t, await stage.run('plugins', 'allow', '--yes', '--json'))
  t.is(await rateOf(stage), '8.00')
})

test('a plugin that needs options is tried with those of the config', async t => {
  const stage = openStage(t)
  const path = stage.write(
    'picky.ts',
    "export default { kind: 'rates', id: 'picky', displayName: 'P', apply({ hooks, options }) { if (options.level !== 3) throw new Error('no level'); hooks.fetchRates.tapPromise('picky', async () => {}) } }"
  )
  for (const flags of [[], ['--no-cell']])
    t.regex(
      (await stage.run('plugins', 'add', path, '--yes', '--json', ...flags)).json.error.message,
      /no level/
    )
  const folder = join(stage.home, 'config', 'default')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'holdfast.config.ts'),
    'export default { pluginOptions: { picky: { level: 3 } } }\n'
  )
  succeeded(t, await stage.run('plugins', 'allow', '--yes', '--json'))
  for (const flags of [[], ['--no-cell']]) {
    succeeded(t, await stage.run('plugins', 'add', path, '--yes', '--json', ...flags))
    t.is(succeeded(t, await stage.run('plugins', 'show', 'picky', '--json')).plugin.state, 'applied')
  }
})

test('a plugin is added with options, which are kept by an update and replaced by others', async t => {
  const stage = openStage(t)
  const path = stage.write(
    'picky.ts',
    "export default { kind: 'rates', id: 'picky', displayName: 'P', apply({ hooks, options }) { if (options.level !== 3 || options.name !== 'x y' || options.token !== 'hush') throw new Error('no level'); hooks.fetchRates.tapPromise('picky', async () => {}) } }"
  )
  const secrets = stage.write('secrets.json', '{"token":"hush"}')
  const add = (...flags: readonly string[]): Promise<Ran> =>
    stage.run('plugins', 'add', path, '--yes', '--json', ...flags)
  const given = ['--option', 'level=3', '--option', 'name=x y', '--options-file', secrets]
  t.regex((await add('--option', 'level=3')).json.error.message, /no level/)
  for (const flags of [[], ['--no-cell']]) {
    const { plugin } = succeeded(t, await add(...given, ...flags))
    t.deepEqual(plugin.options, { level: 3, name: 'x y' })
    t.deepEqual(plugin.secretOptions, ['token'])
    const shown = await stage.run('plugins', 'show', 'picky', '--json')
    t.is(succeeded(t, shown).plugin.state, 'applied')
    t.deepEqual(shown.json.data.plugin.added.options, { level: 3, name: 'x y' })
    t.false(shown.stdout.includes('hush'))
    const text = await stage.run('plugins', 'show', 'picky')
    t.regex(text.stdout, /level=3, name="x y", token \(from a file\)/)
    // An update of the code keeps them.
    succeeded(t, await add(...flags))
    t.is(succeeded(t, await stage.run('plugins', 'show', 'picky', '--json')).plugin.state, 'applied')
  }
  t.regex((await add('--option', 'level=4')).json.error.message, /no level/)
  for (const [name, content, sentence] of [
    ['list.json', '[]', /is no JSON object of up to 100000 characters/],
    ['large.json', `{"a":"${'x'.repeat(100_000)}"}`, /is no JSON object of up to 100000 characters/]
  ] as const) {
    const { error } = (await add('--options-file', stage.write(name, content))).json
    t.is(error.code, 'USAGE')
    t.regex(error.message, sentence)
  }
  t.is((await add('--option', 'level')).json.error.code, 'USAGE')
})

test('the config of another folder is used by the commands that name it with -C', async t => {
  const stage = openStage(t)
  stage.write('corner.ts', ratesCode(5))
  stage.write(
    'holdfast.config.js',
    "import corner from './corner.ts'\nexport default { plugins: [corner], pluginOptions: { corner: { a: 1 } } }\n"
  )
  succeeded(t, await stage.run('plugins', 'allow', '-C', stage.folder, '--yes', '--json'))
  const ids = async (...flags: readonly string[]): Promise<readonly string[]> =>
    succeeded(t, await stage.run('plugins', 'list', '--json', ...flags)).plugins.map(
      ({ id }: { id: string }) => id
    )
  t.true((await ids('-C', stage.folder)).includes('corner'))
  t.false((await ids()).includes('corner'))
  stage.write('holdfast.config.js', 'export default 7')
  t.is(
    (await stage.run('plugins', 'allow', '-C', stage.folder, '--yes', '--json')).json.error.code,
    'PLUGIN_REFUSED'
  )
})

test('a package is installed without its scripts, and its version is kept', async t => {
  const stage = openStage(t)
  const code = `import { PAIR } from './pair.js'
export default { kind: 'rates', id: 'packed', displayName: 'Packed', apply({ hooks }) {
  hooks.fetchRates.tapPromise('packed', async context => context.offer(PAIR, 9))
} }`
  stage.write('index.js', code)
  stage.write('pair.js', "export const PAIR = { fromCurrency: 'BTC', toCurrency: 'iso:XTS' }\n")
  stage.write(
    'package.json',
    JSON.stringify({
      ...{ name: 'holdfast-packed', version: '1.2.3', type: 'module', exports: './index.js' },
      scripts: { postinstall: 'touch ../../ran' },
      peerDependencies: { holdfast: '*' }
    })
  )
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts'], { cwd: stage.folder })
  const archive = join(stage.folder, 'holdfast-packed-1.2.3.tgz')
  // What a command that was killed has left behind, and what one that runs is using.
  const [stale, used] = [2 ** 22 + 1, process.pid].map(pid => join(pluginsIn(stage), `staged-${pid}-abc`))
  for (const path of [stale, used]) mkdirSync(join(path ?? '', 'node_modules'), { recursive: true })
  const unanswered = await stage.run('plugins', 'add', archive, '--no-cell', '--json')
  t.is(unanswered.json.error.code, 'CONFIRMATION_REQUIRED')
  t.deepEqual(leftIn(stage), [basename(used ?? '')])
  rmSync(used ?? '', { recursive: true })
  t.deepEqual(bundlesIn(stage), [])
  const ran = await stage.run('plugins', 'add', archive, '--no-cell', '--yes', '--json')
  const { plugin } = succeeded(t, ran)
  t.is(plugin.source, 'holdfast-packed@1.2.3')
  t.is(plugin.version, '1.2.3')
  t.regex(ran.json.warnings.join(' '), /has install scripts, which did not run/)
  t.deepEqual(leftIn(stage), [])

  // An update in its place, of the same version too.
  stage.write('index.js', code.replace('PAIR, 9', 'PAIR, 10'))
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts'], { cwd: stage.folder })
  const question = await stage.run('plugins', 'add', archive, '--no-cell', '--json')
  t.regex(question.json.error.details.summary.replaced, /^the plugin packed that was added on \d{4}-/)
  const again = succeeded(t, await stage.run('plugins', 'add', archive, '--no-cell', '--yes', '--json'))
  t.true(again.replaced)
  t.not(again.plugin.sha512, plugin.sha512)
})

test('a plugin reaches a server on this computer by its number, but not while the fake world is offline', async t => {
  const stage = openStage(t)
  await withWallet(t, stage)
  const server = createServer((_request, response) => response.end('{"price":42}'))
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const path = stage.write(
    'corner.ts',
    `import { type RatePlugin, Reply } from 'holdfast/plugin'
     import { PAIR } from './pair.ts'
     const SERVER = 'http://127.0.0.1:${port}'
     export const plugin: RatePlugin = {
       kind: 'rates', id: 'corner', displayName: 'Corner', hosts: [SERVER],
       apply({ hooks, io }) {
         hooks.fetchRates.tapPromise('corner', async ({ offer }) => {
           const { text } = await io.fetch(SERVER + '/price')
           offer(PAIR, Reply.of(text, 'reply of the corner').field('price').number())
         })
       }
     }`
  )
  succeeded(t, await stage.run('plugins', 'add', path, '--yes', '--json'))
  succeeded(t, await stage.run('fake', 'net', 'offline', '--json'))
  t.is(await rateOf(stage), undefined)
  succeeded(t, await stage.run('fake', 'net', 'online', '--json'))
  t.is(await rateOf(stage), '42.00')
})

test('what was installed for a plugin that is refused is gone', async t => {
  const stage = openStage(t)
  const archive = stage.write('broken.tgz', 'no archive')
  t.is((await stage.run('plugins', 'add', archive, '--yes', '--json')).json.error.code, 'PLUGIN_REFUSED')
  t.deepEqual(leftIn(stage), [])
})

test.serial('a command that is interrupted while npm installs leaves nothing of the package', async t => {
  const stage = openStage(t)
  // An npm that has begun to write, and waits.
  const npm = stage.write(
    'npm.js',
    "import('node:fs').then(fs => fs.writeFileSync('half', 'x')); setInterval(() => {}, 1000)"
  )
  const before = process.env.npm_execpath
  process.env.npm_execpath = npm
  const interruption = new AbortController()
  const args = ['plugins', 'add', 'holdfast-packed', '--yes', '--json']
  const running = runInProcess(args, { home: stage.home, signal: interruption.signal })
  const isWriting = (): boolean => {
    const [staging] = leftIn(stage)
    return staging !== undefined && existsSync(join(pluginsIn(stage), staging, 'half'))
  }
  await waitFor(isWriting)
  interruption.abort()
  t.not((await running).code, 0)
  t.deepEqual(leftIn(stage), [])
  if (before === undefined) delete process.env.npm_execpath
  else process.env.npm_execpath = before
})

test.serial('a package is installed by npm, also for a command that yarn has started', async t => {
  const stage = openStage(t)
  const seen = join(stage.folder, 'seen')
  const yarn = stage.write(
    'yarn.js',
    `import('node:fs').then(fs => fs.writeFileSync(${JSON.stringify(seen)}, ''))`
  )
  const before = { ...process.env }
  Object.assign(process.env, {
    npm_execpath: yarn,
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_fetch_retries: '0'
  })
  const { json } = await stage.run('plugins', 'add', 'holdfast-packed', '--yes', '--json')
  for (const name of ['npm_execpath', 'npm_config_registry', 'npm_config_fetch_retries'])
    if (before[name] === undefined) delete process.env[name]
    else process.env[name] = before[name]
  t.regex(json.error.message, /The package holdfast-packed cannot be installed: npm error/)
  t.false(existsSync(seen))
})

test('an observer reaches no server, and the question names none', async t => {
  const stage = openStage(t)
  const path = stage.write(
    'eye.ts',
    "export default { kind: 'observer', id: 'eye', hosts: ['eye.example'], apply() {} }"
  )
  const { json } = await stage.run('plugins', 'add', path, '--json')
  t.deepEqual(json.error.details.summary.hosts, [])
})

test('a config that is allowed again, and a file that takes the place of another, are named in the question', async t => {
  const stage = openStage(t)
  const folder = join(stage.home, 'config', 'default')
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'holdfast.config.ts')
  writeFileSync(config, 'export default {}\n')
  const replacedBy = async (...args: readonly string[]): Promise<unknown> =>
    (await stage.run('plugins', ...args, '--json')).json.error.details.summary.replaced
  t.is(await replacedBy('allow'), '')
  succeeded(t, await stage.run('plugins', 'allow', '--yes', '--json'))
  t.is(await replacedBy('allow'), 'what was allowed of it before')

  const path = stage.write('corner.ts', ratesCode(42))
  t.is(await replacedBy('add', path, '--no-cell'), '')
  succeeded(t, await stage.run('plugins', 'add', path, '--yes', '--json'))
  t.regex(
    String(await replacedBy('add', path, '--no-cell')),
    /^the plugin corner that was added on .* and runs in a cell$/
  )
})

test('an agent notices a change of each file that the config of its profile is made of', async t => {
  const stage = openStage(t)
  const folder = join(stage.home, 'config', 'default')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'options.ts'), 'export const options = {}\n')
  writeFileSync(
    join(folder, 'holdfast.config.ts'),
    "import { options } from './options.ts'\nexport default { pluginOptions: options }\n"
  )
  succeeded(t, await stage.run('plugins', 'allow', '--yes', '--json'))
  const paths = { config: folder } as ProfilePaths
  const before = pluginStamp(paths)
  t.is(pluginStamp(paths), before)
  writeFileSync(join(folder, 'options.ts'), 'export const options = { a: {} }\n')
  t.not(pluginStamp(paths), before)
})

const onPosix = process.platform === 'win32' ? test.skip : test
onPosix('the text that was checked is what runs, whatever is in the file when it is read again', async t => {
  const stage = openStage(t)
  const path = stage.write('corner.ts', ratesCode(42))
  succeeded(t, await stage.run('plugins', 'add', path, '--no-cell', '--yes', '--json'))
  const [bundle = ''] = bundlesIn(stage)
  const file = join(pluginsIn(stage), bundle)
  const good = join(stage.folder, 'good')
  renameSync(file, good)
  const evil = stage.write('evil', 'globalThis.holdfastEvil = true; export default {}')
  // The first reader gets the file that was added, and one that opens it after its end another.
  execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', file])
  const writer = spawn('sh', ['-c', 'cat "$1" > "$3"; sleep 1; cat "$2" > "$3"', 'sh', good, evil, file])
  t.teardown(() => writer.kill())
  const { plugins } = await loadPlugins({ config: dirname(pluginsIn(stage)) } as ProfilePaths)
  t.deepEqual(
    plugins.map(({ id, apply }) => [id, typeof apply]),
    [['corner', 'function']]
  )
  t.false('holdfastEvil' in globalThis)
})

const pathsOf = (stage: Stage): ProfilePaths => ({ config: dirname(pluginsIn(stage)) }) as ProfilePaths

test('two processes that change the list at once lose nothing of each other', async t => {
  const stage = openStage(t)
  const path = stage.write('corner.ts', ratesCode(42))
  succeeded(t, await stage.run('plugins', 'add', path, '--no-cell', '--yes', '--json'))
  const list = join(pluginsIn(stage), 'plugins.json')
  // Another process has read the list, and is about to write it with one plugin more.
  const lock = await lockFolder(pluginsIn(stage), { holder: 'another command' })
  const read = JSON.parse(readFileSync(list, 'utf8'))
  const watcher = watch(pluginsIn(stage))
  t.teardown(() => watcher.close())
  const tried = once(watcher, 'change')
  const running = stage.run('plugins', 'disable', 'corner', '--json')
  await Promise.race([running, tried])
  const [{ file }] = read.plugins
  const other = join(pluginsIn(stage), file.replace('corner', 'other'))
  linkSync(join(pluginsIn(stage), file), other)
  writeFileSync(
    list,
    JSON.stringify({
      ...read,
      plugins: [...read.plugins, { ...read.plugins[0], id: 'other', file: basename(other) }]
    })
  )
  await lock.release()
  succeeded(t, await running)
  t.deepEqual(
    readPluginList(pathsOf(stage)).plugins.map(({ id, isEnabled }) => [id, isEnabled]),
    [
      ['corner', false],
      ['other', true]
    ]
  )
  t.true(existsSync(other))
})

test('a change of the list that another process keeps waiting ends with its name, and changes nothing', async t => {
  const stage = openStage(t)
  const paths = pathsOf(stage)
  const lock = await lockFolder(pluginsIn(stage), { holder: 'another command' })
  const empty = { plugins: [], configs: [] }
  await t.throwsAsync(
    changePluginList(paths, () => empty, { waitMs: 0 }),
    { code: 'STORAGE_LOCKED', message: /in use by another command/ }
  )
  t.false(existsSync(join(pluginsIn(stage), 'plugins.json')))
  await lock.release()
  await changePluginList(paths, () => empty, { waitMs: 0 })
  t.deepEqual(readPluginList(paths), empty)
})

test('a bundle is replaced as a whole, and what a killed command has left behind is removed', async t => {
  const stage = openStage(t)
  const path = stage.write('corner.ts', ratesCode(42))
  const add = () => stage.run('plugins', 'add', path, '--no-cell', '--yes', '--json')
  succeeded(t, await add())
  const [bundle = ''] = bundlesIn(stage)
  const file = join(pluginsIn(stage), bundle)
  const whole = readFileSync(file, 'utf8')
  // A torn file that a process reads just now, under another name so that it can be looked at later.
  writeFileSync(file, 'torn')
  const reading = join(stage.home, 'reading')
  linkSync(file, reading)
  for (const name of [`gone-${'0'.repeat(16)}.mjs`, `gone-${'0'.repeat(16)}.mjs.map`, 'plugins.json.7.tmp'])
    writeFileSync(join(pluginsIn(stage), name), '')
  succeeded(t, await add())
  t.is(readFileSync(file, 'utf8'), whole)
  t.is(readFileSync(reading, 'utf8'), 'torn')
  t.deepEqual(readdirSync(pluginsIn(stage)).sort(), [bundle, `${bundle}.map`, 'plugins.json'])
})

test('a plugin whose apply asks a server is added, although there is none while it is checked', async t => {
  const stage = openStage(t)
  const path = stage.write(
    'far.ts',
    `export default { kind: 'rates', id: 'far', displayName: 'Far', hosts: ['far.example'],
      async apply({ hooks, io }) {
        hooks.fetchRates.tapPromise('far', async () => {})
        await io.fetch('https://far.example/')
      }
    }`
  )
  for (const flags of [[], ['--no-cell']]) {
    const ran = await stage.run('plugins', 'add', path, '--yes', ...flags)
    t.is(ran.code, 0, ran.stderr)
    t.regex(ran.stderr, /far fails when it is applied: .*no network while a plugin is checked/)
  }
})

test('an apply that never ends is waited for, but not for ever', async t => {
  const clock = makeFakeClock()
  const { ended } = followPlugin({ kind: 'observer', id: 'slow', apply: () => {} })
  await ended(clock)
  const never = { kind: 'observer', id: 'never', apply: () => new Promise<void>(() => {}) } as const
  const followed = followPlugin(never)
  followed.plugin.apply({} as never)
  const failed = t.throwsAsync(followed.ended(clock), {
    message: /The plugin never fails when it is applied: Its asynchronous apply .*15 s/
  })
  await clock.advance(15_000)
  await failed
})

test('what never loads has failed after a while, and the other plugins are loaded', async t => {
  const stage = openStage(t)
  const gate = join(stage.folder, 'gate')
  const path = stage.write(
    'gated.ts',
    `import { existsSync } from 'node:fs'
     const plugin = { kind: 'observer', id: 'gated', apply() {} }
     export default () => existsSync(${JSON.stringify(gate)}) ? plugin : new Promise(() => {})`
  )
  writeFileSync(gate, '')
  succeeded(t, await stage.run('plugins', 'add', path, '--no-cell', '--yes', '--json'))
  const corner = stage.write('corner.ts', ratesCode(42))
  succeeded(t, await stage.run('plugins', 'add', corner, '--no-cell', '--yes', '--json'))
  const paths = pathsOf(stage)
  await changePluginList(paths, list => ({
    ...list,
    plugins: list.plugins.flatMap(each => [
      each,
      ...(each.id === 'corner' ? [{ ...each, id: 'store', kind: 'storage' }] : [])
    ])
  }))
  rmSync(gate)
  const { plugins } = await loadPlugins(paths, { loadMs: 500 })
  const reasons = plugins.map(each => {
    try {
      return [each.id, typeof each.apply]
    } catch (error) {
      return [each.id, (error as Error).message]
    }
  })
  t.deepEqual(reasons, [
    ['gated', 'It has not loaded after 0.5 s'],
    ['corner', 'function'],
    ['store', 'The plugin store is a store, and the command line keeps its files in its own']
  ])
  // A store that was added before it was refused keeps nobody from the wallet.
  writeFileSync(gate, '')
  const { plugin } = succeeded(t, await stage.run('plugins', 'show', 'store', '--json'))
  t.is(plugin.state, 'failed')
})
