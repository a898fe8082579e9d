// Every npm script starts here, so that a fresh clone needs nothing but Node and npm: check Node, install
// what package-lock.json names, compile what changed, then run the task. It uses no dependency, and speaks
// on stderr only, because stdout belongs to the task.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, isBuilt } from './bootstrap/build.mjs'
import { install, isInstalled } from './bootstrap/install.mjs'
import { link, unlink } from './bootstrap/link.mjs'
import { withLock } from './bootstrap/lock.mjs'
import { refuseOldNode } from './bootstrap/node-floor.mjs'
import { runToEnd } from './bootstrap/run.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const emitted = path => join(root, 'dist', path)

// `evenIfBroken`: runs although the types do not check, because the task itself reports that.
// `run`: runs in this process. `needsBuild`: false for a task that works in any tree.
const tasks = {
  build: { command: () => undefined },
  start: { command: rest => [emitted('bin/holdfast.js'), 'demo', ...rest] },
  holdfast: { command: rest => [emitted('bin/holdfast.js'), ...rest] },
  test: { command: rest => [emitted('scripts/run-tests.js'), 'unit', ...rest] },
  interop: { command: rest => [emitted('scripts/run-tests.js'), 'interop', ...rest] },
  browser: { command: rest => [emitted('scripts/run-tests.js'), 'browser', ...rest] },
  proofs: { command: rest => [emitted('scripts/run-tests.js'), 'proofs', ...rest] },
  nodes: { command: rest => [emitted('scripts/run-tests.js'), 'nodes', ...rest] },
  author: { command: rest => [emitted('scripts/run-tests.js'), 'author', ...rest] },
  agent: { command: rest => [emitted('scripts/run-tests.js'), 'agent', ...rest] },
  mutants: { command: rest => [emitted('scripts/test-mutants.js'), ...rest] },
  'node-versions': { command: rest => [emitted('scripts/test-node-versions.js'), ...rest] },
  freeze: { command: rest => [emitted('scripts/freeze.js'), ...rest] },
  check: { command: rest => [emitted('scripts/check.js'), ...rest], evenIfBroken: true },
  docs: { command: rest => [emitted('scripts/write-docs.js'), ...rest], evenIfBroken: true },
  devtools: {
    command: rest => [join(root, 'scripts/build-pages.mjs'), 'serve', ...rest],
    evenIfBroken: true
  },
  bench: { command: rest => [emitted('bench/main.js'), ...rest] },
  link: { run: rest => link(emitted('bin/holdfast.js'), rest) },
  unlink: { run: rest => unlink(emitted('bin/holdfast.js'), rest), needsBuild: false },
  fix: {
    command: rest => [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', '--write', ...rest],
    evenIfBroken: true
  }
}

const main = async ([name, ...args]) => {
  refuseOldNode(join(root, 'package.json'))
  const task = Object.hasOwn(tasks, name ?? '') ? tasks[name] : undefined
  if (task === undefined) {
    console.error(`usage: node scripts/bootstrap.mjs ${Object.keys(tasks).join('|')} [-- arguments]`)
    return 2
  }
  const failure = task.needsBuild === false ? undefined : await prepare(task.evenIfBroken === true)
  if (failure !== undefined) return failure

  const rest = args[0] === '--' ? args.slice(1) : args
  if (task.run !== undefined) return task.run(rest)
  const command = task.command(rest)
  if (command === undefined) return 0
  if (!existsSync(command[0])) {
    console.error(`holdfast: ${command[0]} does not exist; this tree is incomplete.`)
    return 1
  }
  // The wallet and its page read files where the user stands, which npm leaves for this folder; the other tasks are about it.
  const stands = process.env.npm_lifecycle_event === name ? process.env.INIT_CWD : undefined
  const cwd = ['start', 'holdfast', 'devtools'].includes(name) ? (stands ?? process.cwd()) : root
  return runToEnd(process.execPath, ['--enable-source-maps', ...command], { cwd })
}

/** Brings dependencies and emitted code up to date; gives the exit code if that failed. */
const prepare = async evenIfBroken => {
  if (isInstalled(root) && isBuilt(root)) return undefined
  return withLock(join(root, '.build/bootstrap.lock'), async () => {
    if (!isInstalled(root)) {
      const code = await install(root)
      if (code !== 0) return code
    }
    if (isBuilt(root)) return undefined
    const code = await build(root, { quiet: evenIfBroken })
    return code === 0 || evenIfBroken ? undefined : code
  })
}

process.exitCode = await main(process.argv.slice(2))
