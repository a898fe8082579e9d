import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'

// The install is a made-up npm that notes how it was called and puts a made-up compiler in place.
const NPM = `
const { appendFileSync, mkdirSync, writeFileSync, existsSync } = require('node:fs')
appendFileSync('calls.log', 'npm ' + process.argv.slice(2).join(' ') + '\\n')
setTimeout(() => {
  if (existsSync('npm-fails')) { console.error('npm error: no network'); process.exit(3) }
  mkdirSync('node_modules/typescript/bin', { recursive: true })
  writeFileSync('node_modules/typescript/bin/tsc', ${JSON.stringify(`
    const { appendFileSync, cpSync, existsSync, readdirSync, mkdirSync } = require('node:fs')
    appendFileSync('calls.log', 'tsc\\n')
    for (const room of ['cli', 'scripts']) for (const name of readdirSync(room)) {
      if (name.endsWith('.ts')) cpSync(room + '/' + name, 'dist/' + room + '/' + name.replace('.ts', '.js'))
    }
    if (existsSync('tsc-fails')) { console.log('cli/main.ts(1,1): error TS1'); process.exit(2) }
  `)})
}, 150)`

// The program that the tasks run: what it does is its first argument.
const MAIN = `
const [, , ...args] = process.argv
const last = args[args.length - 1]
if (last === 'fail') process.exitCode = 7
else if (last === 'where') console.log(process.cwd())
else if (last === 'wait') { console.log('ready'); setInterval(() => {}, 1000) }
else if (last === 'tidy') {
  for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => { console.log(name); process.exit(5) })
  console.log('ready'); setInterval(() => {}, 1000)
} else console.log(JSON.stringify(args))`

// The bundle is made up, too: the file that was emitted, where the tasks look for it.
const BUNDLE = `
import { cpSync } from 'node:fs'
export const bundleCli = async emitted => cpSync(emitted + '/cli/main.js', emitted + '/bin/holdfast.js')`

// There is no entry and no page to build.
const ENTRIES = 'export const bundleLib = async () => {}'
const PAGES = 'export const buildPages = async () => {}'

const makeProject = (t: ExecutionContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bootstrap-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const files = {
    'package.json': '{"type":"commonjs","engines":{"node":">=20.19"}}',
    'package-lock.json': '{"packages":{"":{},"node_modules/typescript":{"version":"1.0.0"}}}',
    'tsconfig.json': '{"include":["cli","scripts"]}',
    'npm-cli.js': NPM,
    'cli/main.ts': MAIN,
    'cli/extra.ts': '',
    'scripts/bundle-cli.mjs': BUNDLE,
    'scripts/bundle-lib.mjs': ENTRIES,
    'scripts/bundle-cell-frame.mjs': '',
    'scripts/bundled-licenses.mjs': '',
    'scripts/build-pages.mjs': PAGES,
    'scripts/check.ts': "console.log('checked')"
  }
  for (const [path, text] of Object.entries(files)) write(folder, path, text)
  for (const path of ['scripts/bootstrap.mjs', 'scripts/bootstrap']) {
    cpSync(path, join(folder, path), { recursive: true })
  }
  return folder
}

const write = (folder: string, path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

const envOf = (folder: string): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_ENV: 'production',
  NODE_OPTIONS: '',
  npm_execpath: join(folder, 'npm-cli.js')
})

const run = (
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {}
): SpawnSyncReturns<string> =>
  spawnSync(process.execPath, ['scripts/bootstrap.mjs', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...envOf(folder), ...env }
  })

/** How often npm and the compiler were called so far. */
const callsIn = (folder: string): { npm: number; tsc: number } => {
  const path = join(folder, 'calls.log')
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
  return {
    npm: lines.filter(line => line.startsWith('npm ')).length,
    tsc: lines.filter(line => line === 'tsc').length
  }
}

test('the first run installs with development tools, compiles and runs; the second only runs', t => {
  const folder = makeProject(t)
  const first = run(folder, ['holdfast', '--', 'wallets', '--json'])
  t.is(first.status, 0)
  t.is(first.stdout, '["wallets","--json"]\n')
  const call = readFileSync(join(folder, 'calls.log'), 'utf8').split('\n')[0]
  t.is(call, 'npm ci --include=dev --ignore-scripts --no-audit --no-fund --engine-strict=false')

  const second = run(folder, ['start'])
  t.is(second.stdout, '["demo"]\n')
  t.is(second.stderr, '')
  t.deepEqual(callsIn(folder), { npm: 1, tsc: 1 })
})

test('a moved folder is not installed or compiled again', t => {
  const folder = makeProject(t)
  run(folder, ['build'])
  const moved = `${folder}-moved`
  t.teardown(() => rmSync(moved, { recursive: true, force: true }))
  renameSync(folder, moved)
  t.is(run(moved, ['holdfast', 'x']).stdout, '["x"]\n')
  t.deepEqual(callsIn(moved), { npm: 1, tsc: 1 })
})

test('a changed lock installs again; a changed source compiles again; a deleted one leaves nothing behind', t => {
  const folder = makeProject(t)
  run(folder, ['build'])
  t.true(existsSync(join(folder, 'dist/cli/extra.js')))
  rmSync(join(folder, 'cli/extra.ts'))
  run(folder, ['build'])
  t.deepEqual(callsIn(folder), { npm: 1, tsc: 2 })
  t.false(existsSync(join(folder, 'dist/cli/extra.js')))

  write(folder, 'cli/main.ts', "console.log('new')")
  t.is(run(folder, ['start']).stdout, 'new\n')
  write(folder, 'package-lock.json', '{"packages":{"":{},"node_modules/other":{"version":"1.0.0"}}}')
  run(folder, ['start'])
  t.is(callsIn(folder).npm, 2)
})

test('packages that were installed by hand are used as they are', t => {
  const folder = makeProject(t)
  run(folder, ['build'])
  rmSync(join(folder, 'node_modules/.holdfast-stamp'))
  write(folder, 'node_modules/typescript/package.json', '{}')
  const hidden = (version: string): string =>
    `{"packages":{"node_modules/typescript":{"version":"${version}"}}}`
  write(folder, 'node_modules/.package-lock.json', hidden('1.0.0'))
  run(folder, ['build'])
  t.is(callsIn(folder).npm, 1)

  rmSync(join(folder, 'node_modules/.holdfast-stamp'))
  write(folder, 'node_modules/.package-lock.json', hidden('0.9.0'))
  run(folder, ['build'])
  t.is(callsIn(folder).npm, 2)
})

test('an install that fails says why, gives the code of npm, and is tried again', t => {
  const folder = makeProject(t)
  write(folder, 'npm-fails', '')
  const failed = run(folder, ['start'])
  t.is(failed.status, 3)
  t.is(failed.stdout, '')
  t.regex(failed.stderr, /npm error: no network/)
  rmSync(join(folder, 'npm-fails'))
  t.is(run(folder, ['start']).status, 0)
})

test('code that does not compile is not run, except by the checks, which report it themselves', t => {
  const folder = makeProject(t)
  write(folder, 'tsc-fails', '')
  const start = run(folder, ['start'])
  t.is(start.status, 2)
  t.is(start.stdout, '')
  t.regex(start.stderr, /error TS1/)
  const check = run(folder, ['check'])
  t.is(check.stdout, 'checked\n')
  t.is(check.status, 0)
  rmSync(join(folder, 'tsc-fails'))
  t.is(run(folder, ['start']).status, 0)
})

test('a Node that is too old is refused with one sentence and code 2, before anything is done', t => {
  const folder = makeProject(t)
  write(folder, 'old.cjs', "Object.defineProperty(process.versions, 'node', { value: '20.18.3' })")
  const { status, stderr } = run(folder, ['start'], { NODE_OPTIONS: `--require ${join(folder, 'old.cjs')}` })
  t.is(status, 2)
  t.regex(stderr, /^holdfast needs Node 20\.19 or newer; this is Node 20\.18\.3\./)
  t.deepEqual(callsIn(folder), { npm: 0, tsc: 0 })
})

test('an unknown task is a usage error', t => {
  const { status, stderr } = run(makeProject(t), ['toString'])
  t.is(status, 2)
  t.regex(stderr, /^usage: /)
})

test('the wallet and its page run where the user stands, also if npm has left for the folder of the project', t => {
  const folder = makeProject(t)
  const page = "if (process.argv[2] === 'serve') console.log(process.cwd())"
  write(folder, 'scripts/build-pages.mjs', `${PAGES}\n${page}`)
  run(folder, ['build'])
  const stands = realpathSync(join(folder, 'cli'))
  for (const task of ['holdfast', 'devtools']) {
    const args = [task, '--', 'where']
    t.is(run(folder, args, { npm_lifecycle_event: task, INIT_CWD: stands }).stdout, `${stands}\n`)
    // Of a script of another project, which has started ours.
    t.is(
      run(folder, args, { npm_lifecycle_event: 'other', INIT_CWD: stands }).stdout,
      `${realpathSync(folder)}\n`
    )
  }
})

test('exit codes pass through', t => {
  t.is(run(makeProject(t), ['holdfast', '--', 'fail']).status, 7)
})

test('signals pass through: to a program that handles them, and from one that dies of them', async t => {
  const folder = makeProject(t)
  run(folder, ['build'])
  const endOf = async (mode: string, signal: NodeJS.Signals): Promise<unknown[]> => {
    const child = spawn(process.execPath, ['scripts/bootstrap.mjs', 'holdfast', mode], {
      cwd: folder,
      env: envOf(folder),
      stdio: ['ignore', 'pipe', 'pipe']
    })
    const ended = once(child, 'close')
    await once(child.stdout, 'data')
    child.kill(signal)
    return ended
  }
  t.deepEqual(await endOf('tidy', 'SIGTERM'), [5, null])
  t.deepEqual(await endOf('tidy', 'SIGINT'), [5, null])
  t.deepEqual(await endOf('wait', 'SIGTERM'), [null, 'SIGTERM'])
})

test('two first runs at once install and compile once', async t => {
  const folder = makeProject(t)
  const runs = [1, 2].map(() =>
    spawn(process.execPath, ['scripts/bootstrap.mjs', 'start'], {
      cwd: folder,
      env: envOf(folder),
      stdio: 'ignore'
    })
  )
  const ends = await Promise.all(runs.map(child => once(child, 'close')))
  t.deepEqual(ends, [
    [0, null],
    [0, null]
  ])
  t.deepEqual(callsIn(folder), { npm: 1, tsc: 1 })
  t.false(existsSync(join(folder, '.build/bootstrap.lock')))
})

test('a lock whose holder died is broken', t => {
  const folder = makeProject(t)
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  write(folder, '.build/bootstrap.lock', `${pid} ${hostname()}`)
  t.is(run(folder, ['start']).status, 0)
})
