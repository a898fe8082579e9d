import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { pluginTemplates } from '../../cli/plugins/new-project.ts'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { onTerminal, runOnTerminal } from '../helpers/on-terminal.ts'

const ROOT = process.cwd()
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')

// A project is made where the author stands: all tests of this file stand in one folder, whose packages are those of this one.
const AUTHOR = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-author-')))
process.chdir(AUTHOR)
test.after.always(() => rmSync(AUTHOR, { recursive: true, force: true }))
for (const name of ['@types/node', '@noble', 'undici-types', 'rolldown', 'holdfast']) {
  const link = join(AUTHOR, 'node_modules', name)
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(name === 'holdfast' ? ROOT : join(ROOT, 'node_modules', name), link, 'junction')
}

const run = (t: ExecutionContext, ...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--json'], { home: homeFor(t) })

for (const { name, kind } of pluginTemplates)
  test.serial(
    `the template ${name} is a project whose types and full suite pass, and which can be added if the command line has a place for it`,
    async t => {
      const id = `my-${name}`
      const home = homeFor(t)
      const inHome = async (...args: readonly string[]): Promise<Ran['json']['data']> => {
        const ran = await runInProcess([...args, '--json'], { home })
        t.is(ran.code, 0, ran.stdout + ran.stderr)
        return ran.json.data
      }
      const made = await inHome('plugins', 'new', id, '--kind', kind, '--template', name)
      t.like(made, { id, kind, template: name, folder: join(AUTHOR, id) })
      t.deepEqual(
        readdirSync(AUTHOR).filter(file => file.startsWith(`.${id}`)),
        []
      )
      for (const file of made.files)
        t.notRegex(readFileSync(join(id, file), 'utf8'), /my-plugin|My Plugin|MYP/)
      await t.notThrowsAsync(promisify(execFile)(process.execPath, [TSC, '-p', id, '--pretty', 'false']))
      const tested = await inHome('plugins', 'test', id)
      t.like(tested, { pluginId: id, kind, level: 'full', failed: 0 })
      t.true(tested.passed > 5)
      if (kind === 'storage') return
      const { plugin } = await inHome('plugins', 'add', id, '--yes')
      t.like(plugin, { id, kind, contained: true })
      const { plugins } = await inHome('plugins', 'list')
      t.is(plugins.find((each: { id: string }) => each.id === id)?.state, 'applied')
    }
  )

test.serial(
  'a folder with files is refused and left as it is, and --overwrite replaces those of the template only',
  async t => {
    mkdirSync('taken/src', { recursive: true })
    writeFileSync('taken/src/index.ts', 'mine')
    writeFileSync('taken/notes.txt', 'mine')
    const args = ['plugins', 'new', 'taken', '--kind', 'rates']
    const { error } = failed(t, await run(t, ...args), 'USAGE', 2)
    t.regex(error.message, /taken is not empty; nothing was written/)
    t.deepEqual(readdirSync('taken').sort(), ['notes.txt', 'src'])
    t.is(readFileSync('taken/src/index.ts', 'utf8'), 'mine')
    succeeded(t, await run(t, ...args, '--overwrite'), 'plugins.new/1')
    t.is(readFileSync('taken/notes.txt', 'utf8'), 'mine')
    t.regex(readFileSync('taken/src/index.ts', 'utf8'), /id: 'taken'/)
    writeFileSync('file', 'mine')
    failed(t, await run(t, 'plugins', 'new', 'file', '--kind', 'rates', '--overwrite'), 'USAGE', 2)
    t.is(readFileSync('file', 'utf8'), 'mine')
  }
)

test.serial('an empty folder is filled, and a dry run writes nothing', async t => {
  mkdirSync('empty')
  succeeded(t, await run(t, 'plugins', 'new', 'empty', '--kind', 'policy'), 'plugins.new/1')
  t.true(existsSync('empty/package.json'))
  const dry = ['--kind', 'policy', '--dry-run']
  const planned = succeeded(t, await run(t, 'plugins', 'new', 'none', ...dry), 'plugins.new/1')
  t.false(existsSync('none'))
  t.deepEqual(
    planned.data.files,
    succeeded(t, await run(t, 'plugins', 'new', 'none', '--kind', 'policy'), 'plugins.new/1').data.files
  )
  t.true(planned.data.files.includes('src/index.ts'))
  // It is refused where the project would be.
  const { error } = failed(t, await run(t, 'plugins', 'new', 'none', ...dry), 'USAGE', 2)
  t.regex(error.message, /none is not empty; nothing was written/)
  writeFileSync('a-file', 'mine')
  failed(t, await run(t, 'plugins', 'new', 'a-file', ...dry, '--overwrite'), 'USAGE', 2)
})

test.serial('a name that has a text of the template in it is written once', async t => {
  succeeded(t, await run(t, 'plugins', 'new', 'my-plugin-x', '--template', 'account'), 'plugins.new/1')
  const source = readFileSync('my-plugin-x/src/index.ts', 'utf8')
  t.true(source.includes('return `my-plugin-x:'))
  t.false(source.includes('my-plugin-x-x'))
})

const REFUSED: readonly (readonly [about: string, args: readonly string[], sentence: RegExp])[] = [
  ['that is a path', ['../out', '--kind', 'rates'], /1 to 64 letters/],
  ['that is too long', ['a'.repeat(65), '--kind', 'rates'], /1 to 64 letters/],
  ['that begins with a digit', ['1coin', '--kind', 'currency'], /begins with a letter/],
  ['of a plugin that ships', ['bitcoin', '--kind', 'currency'], /ships with holdfast/],
  ['that is missing', ['--kind', 'rates'], /The name of the plugin is missing/],
  ['without a kind', ['mine'], /The kind of the plugin is missing/],
  [
    'with a template of another kind',
    ['mine', '--kind', 'rates', '--template', 'utxo'],
    /has no template utxo/
  ],
  [
    'with a template that does not exist',
    ['mine', '--template', 'dex'],
    /No kind has no template dex|no template dex/
  ]
]

for (const [about, args, sentence] of REFUSED)
  test.serial(`a name ${about} makes no project where nobody can be asked`, async t => {
    const before = readdirSync(AUTHOR)
    const { error } = failed(t, await run(t, 'plugins', 'new', ...args), 'USAGE', 2)
    t.regex(error.message, sentence)
    t.deepEqual(readdirSync(AUTHOR), before)
  })

test.serial('the id of a plugin may have capitals and _, and its package and link do without', async t => {
  succeeded(t, await run(t, 'plugins', 'new', 'Tol_lar', '--template', 'account'), 'plugins.new/1')
  const { name, exports } = JSON.parse(readFileSync('Tol_lar/package.json', 'utf8'))
  t.deepEqual([name, exports], ['holdfast-tol_lar', './src/index.ts'])
  const source = readFileSync('Tol_lar/src/index.ts', 'utf8')
  for (const text of ["id: 'Tol_lar'", "displayName: 'Tol Lar'", 'return `tol-lar:', "currencyCode: 'TOL'"])
    t.true(source.includes(text), text)
})

onTerminal('on a terminal it asks for what is missing, and for nothing else', async t => {
  const prompted = await runOnTerminal(t, ['plugins', 'new'], {
    home: homeFor(t),
    env: { CI: '' },
    typed: [
      [/Name of the plugin/, 'asked\r'],
      [/What kind of plugin/, '\r'],
      [/Which one/, '\r']
    ]
  })
  t.is(prompted.code, 0, prompted.screen)
  t.true(existsSync('asked/test/ledger.js'))
  const named = await runOnTerminal(t, ['plugins', 'new', 'told', '--kind', 'observer'], {
    home: homeFor(t),
    env: { CI: '' },
    typed: []
  })
  t.is(named.code, 0, named.screen)
  t.true(existsSync('told/src/index.ts'))
})
