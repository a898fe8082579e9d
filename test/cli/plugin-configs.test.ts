import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const SECRETS = JSON.stringify({ password: 'correct horse battery', pin: '2468' })

interface Stage {
  /** The folder of the settings of the profile. */
  readonly folder: string
  /** Writes the config of the profile, and returns how its allowance ended. */
  allow(config: string): Promise<Ran>
  write(config: string): void
  run(...args: readonly string[]): Promise<Ran>
}

const openStage = (t: ExecutionContext): Stage => {
  const home = homeFor(t)
  const folder = join(home, 'config', 'default')
  mkdirSync(folder, { recursive: true })
  const run = (...args: readonly string[]): Promise<Ran> =>
    runInProcess([...args, '--json'], { home, input: SECRETS })
  const write = (config: string): void => writeFileSync(join(folder, 'holdfast.config.js'), config)
  return {
    folder,
    run,
    write,
    allow: config => {
      write(config)
      return run('plugins', 'allow', '--yes')
    }
  }
}

const succeeded = (t: ExecutionContext, ran: Ran): Ran['json']['data'] => {
  t.is(ran.code, 0, ran.stdout + ran.stderr)
  return ran.json.data
}

const rates = (id: string): string =>
  `{ kind: 'rates', id: '${id}', displayName: 'R', apply({ hooks }) { hooks.fetchRates.tapPromise('${id}', async () => {}) } }`

test('a policy that a function of a config makes is known as one: once the config has changed, nothing is paid', async t => {
  const stage = openStage(t)
  for (const args of [
    ['account', 'create', 'alice'],
    ['wallets', 'create', 'bitcoin', '--name', 'Savings'],
    ['fake', 'chain', 'fund', 'Savings', '0.1', '--confirm']
  ])
    succeeded(t, await stage.run(...args, '--secrets-stdin'))
  const pay = (amount: string): Promise<Ran> =>
    stage.run('send', 'Savings', '--to', PAYEE, '--amount', amount, '--yes', '--secrets-stdin')
  const config = `
    const calm = { kind: 'policy', id: 'calm', apply({ hooks }) { hooks.beforeSign.tapPromise('calm', async () => {}) } }
    export default { plugins: [async () => calm, Promise.resolve(${rates('soon')})] }`
  t.deepEqual(succeeded(t, await stage.allow(config)).plugins, ['calm', 'soon'])
  succeeded(t, await pay('0.001'))
  stage.write(`${config}\n`)
  const { json } = await pay('0.002')
  t.is(json.error?.code, 'SIGN_REFUSED')
  t.regex(json.error?.message, /it is not loaded: holdfast\.config\.js: holdfast\.config\.js has changed/)
})

test('the cookbook says how the command line uses most of its recipes', t => {
  t.true(recipes().length >= 6)
})

/** What the cookbook says of each recipe that the command line can use: its command, or what stands in a config. */
function recipes(): readonly { readonly file: string; readonly how: string }[] {
  const page = readFileSync('docs/cookbook.md', 'utf8')
  return page.split('\n## ').flatMap(section => {
    const [, file = ''] = /file=examples\/cookbook\/(\S+)/.exec(section) ?? []
    const [, how] =
      /`(holdfast plugins add [^`]+)`|config\.ts` makes it: `([^`]+)`/.exec(section)?.filter(Boolean) ?? []
    return how === undefined ? [] : [{ file, how }]
  })
}

for (const [about, config, sentence] of [
  [
    'a plugin that is missing',
    `import * as mine from './mine.js'\nexport default { plugins: [${rates('one')}, mine.two] }`,
    /^plugins\[1\] of .*holdfast\.config\.js is missing, and must be a plugin$/
  ],
  [
    'null for a plugin',
    'export default { plugins: [null] }',
    /^plugins\[0\] of .* is null, and must be a plugin$/
  ],
  [
    'a function that makes a text',
    "export default { plugins: [() => 'bitcoin'] }",
    /^plugins\[0\] of .* is a string, and must be a plugin$/
  ],
  [
    'a function that throws',
    "export default { plugins: [() => { throw new Error('No server answers') }] }",
    /No server answers/
  ],
  [
    'a misspelt field',
    `export default { plugins: [${rates('one')}], pluginOption: { one: { key: 'x' } } }`,
    /^.*holdfast\.config\.js exports pluginOption, and may have plugins and pluginOptions$/
  ],
  [
    'a list in place of an object',
    `export default [${rates('one')}]`,
    /does not export an object by default$/
  ],
  [
    'a single plugin that is no list',
    `export default { plugins: ${rates('one')} }`,
    /does not export a list in plugins$/
  ],
  [
    'options that are no object',
    "export default { pluginOptions: { one: 'x' } }",
    /does not export an object for each plugin in pluginOptions$/
  ],
  [
    'a plugin with the id of one that ships',
    `export default { plugins: [${rates('coinbase')}] }`,
    /^The id coinbase is that of a plugin that ships with holdfast$/
  ],
  [
    'two plugins of one id',
    `export default { plugins: [${rates('one')}, ${rates('one')}] }`,
    /^Two plugins of .*holdfast\.config\.js have the id one$/
  ],
  [
    'a store',
    "export default { plugins: [{ kind: 'storage', id: 'shelf', apply() {} }] }",
    /^The plugin shelf is a store, and the command line keeps its files in its own$/
  ]
] as const)
  test(`a config with ${about} is not allowed, and the sentence says why`, async t => {
    const stage = openStage(t)
    writeFileSync(join(stage.folder, 'mine.js'), 'export const one = 1\n')
    const { json } = await stage.allow(config)
    t.is(json.error?.code, 'PLUGIN_REFUSED', JSON.stringify(json))
    t.regex(json.error?.message, sentence)
  })

for (const { file, how } of recipes())
  test(`the recipe ${file} of the cookbook is used as its page says`, async t => {
    const stage = openStage(t)
    cpSync(join('examples/cookbook', file), join(stage.folder, file))
    const [, flag] = /^holdfast plugins add [\w.-]+\.ts( --no-cell)?$/.exec(how) ?? [undefined, undefined]
    if (how.startsWith('holdfast ')) {
      const args = ['plugins', 'add', join(stage.folder, file), '--yes', ...(flag ? ['--no-cell'] : [])]
      const { id } = succeeded(t, await stage.run(...args)).plugin
      t.is(succeeded(t, await stage.run('plugins', 'show', id)).plugin.state, 'applied')
      return
    }
    const [name] = how.split('(')
    const allowed = await stage.allow(
      `import { appendFileSync } from 'node:fs'
       import { ${name} } from './${file}'
       export default { plugins: [${how.replace("'payments.csv'", JSON.stringify(join(stage.folder, 'payments.csv')))}] }`
    )
    const [id] = succeeded(t, allowed).plugins
    t.is(succeeded(t, await stage.run('plugins', 'show', id)).plugin.state, 'applied')
  })

test('a config that fails although it was allowed is listed as failed, with its reason', async t => {
  const stage = openStage(t)
  const gone = join(stage.folder, 'gone')
  succeeded(
    t,
    await stage.allow(
      `import { existsSync } from 'node:fs'
       const made = () => {
         if (existsSync(${JSON.stringify(gone)})) throw new Error('The price list is gone')
         return ${rates('one')}
       }
       export default { plugins: [made] }`
    )
  )
  const states = async (): Promise<unknown> =>
    succeeded(t, await stage.run('plugins', 'list', '--no-agent'))
      .plugins.filter(({ shipped }: { shipped: boolean }) => !shipped)
      .map(({ id, state, reason }: Record<string, string>) => [id, state, reason])
  t.deepEqual(await states(), [['one', 'applied', null]])
  writeFileSync(gone, '')
  t.deepEqual(await states(), [['holdfast-config', 'failed', 'The price list is gone']])
})
