import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Runs the tests on the other versions of Node that people have, each installed from npm into `.build/node-versions` as
 * `scripts/node-versions/package-lock.json` pins it; on the newest also `npm run check`. The version at hand is tested
 * by `npm test` itself. The newest goes first. If its tests show that the machine is too slow for CI's 40 minutes, the
 * others run a part of theirs by a draw, each group of test files on one of them at most, and the newest its tests alone, and say so; a third
 * of them, if CI's own run of `npm test` has shown it (`HOLDFAST_TEST_SECONDS`). With `--full` they never do.
 *
 * @example npm run test:node-versions -- 26
 * @example npm run test:node-versions -- --full
 */
const manifest = join(process.cwd(), 'scripts/node-versions')
const folder = join(process.cwd(), '.build/node-versions')

interface Version {
  readonly major: string
  readonly version: string
}

/** The pinned versions, oldest first. */
const versionsOf = (path: string): readonly Version[] => {
  const { dependencies } = JSON.parse(readFileSync(path, 'utf8')) as { dependencies: Record<string, string> }
  return Object.entries(dependencies)
    .map(([name, source]) => ({ major: name.replace('node-', ''), version: source.replace(/^.*@/, '') }))
    .sort((a, b) => Number(a.major) - Number(b.major))
}

const run = (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd = process.cwd()
): Promise<{ output: string; code: number }> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      process.stdout.write(chunk)
    })
    child.on('error', reject)
    child.on('close', code => resolve({ output: Buffer.concat(chunks).toString('utf8'), code: code ?? 1 }))
  })

const install = async (): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(manifest, name), join(folder, name))
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false']
  const { code } = await run('npm', args, process.env, folder)
  if (code !== 0) throw new Error(`npm ci ended with ${code} in ${folder}`)
}

const isInstalled = (versions: readonly Version[]): boolean =>
  versions.every(({ major, version }) => {
    const path = join(folder, `node_modules/node-${major}/package.json`)
    return existsSync(path) && (JSON.parse(readFileSync(path, 'utf8')) as Version).version === version
  })

/** Passed and failed of a suite's last line; what ends badly without one counts as one failure. */
const countsOf = (output: string, code: number): { passed: number; failed: number } => {
  const [, passed = 0, failed = 0] = [...output.matchAll(/^(\d+) passed, (\d+) failed/gm)].at(-1) ?? []
  return { passed: Number(passed), failed: Number(failed) === 0 && code !== 0 ? 1 : Number(failed) }
}

const versions = versionsOf(join(manifest, 'package.json'))
const wanted = process.argv.slice(2).filter(arg => arg !== '--full')
const isFull = process.argv.includes('--full') || wanted.length > 0
const unknown = wanted.filter(major => !versions.some(version => version.major === major))
if (unknown.length > 0) {
  throw new Error(
    `No Node ${unknown.join(', ')} is pinned here, only ${versions.map(v => v.major).join(', ')}`
  )
}
const newest = versions.at(-1)
const others = versions.filter(version => version !== newest)
const drawn = Math.random()

/** A whole CI run takes about fourteen times as long as the tests on the newest version, so that beyond this it takes more than 40 minutes. */
const SLOW_MS = 150_000
/** The time of the whole of them. */
let newestMs = 0
/** With what it takes to install and to build, `npm test` takes twice as long as its tests. */
const isSlow = Number(process.env.HOLDFAST_TEST_SECONDS ?? 0) * 1000 > 2 * SLOW_MS

/** The part of the tests that a version runs (`shareOf`): the slower the machine, the smaller, so that all of them take about as long. */
const shareFor = (version: Version): string => {
  if (isFull) return '0/1'
  if (version === newest) return isSlow ? `${Math.floor(drawn * 3)}/3` : '0/1'
  if (newestMs < SLOW_MS) return '0/1'
  const parts = others.length * Math.round(newestMs / SLOW_MS)
  return `${(others.indexOf(version) + Math.floor(drawn * parts)) % parts}/${parts}`
}

/** What the newest version runs; of the tests with an agent, those of the agent itself, and of the proofs, those of hostile plugins in cells. */
const NEWEST = [
  ['test'],
  ['check'],
  ['agent', 'dist/test/cli/agent/*.test.js'],
  [
    'proofs',
    ...['cell-rights', 'hostile-cells', 'hostile-kinds'].map(name => `dist/test/proofs/${name}.test.js`)
  ]
] as const

let passed = 0
let failed = 0
let skipped = ''
if (process.platform !== 'linux' || process.arch !== 'x64') {
  if (process.env.HOLDFAST_CI === '1') failed += 1
  else skipped = ', 1 skipped'
  console.log('The pinned versions of Node run on Linux x64 only; nothing was tested here.')
} else {
  if (!isInstalled(versions)) await install()
  for (const one of [...versions].reverse()) {
    const { major, version } = one
    if (wanted.length > 0 && !wanted.includes(major)) continue
    const bin = join(folder, `node_modules/node-${major}/bin`)
    const share = shareFor(one)
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      HOLDFAST_TEST_SHARE: share,
      PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`
    }
    // npm passes the path of its own Node on, and with it every child would run on that one.
    for (const name of ['npm_node_execpath', 'NODE', 'npm_execpath']) delete env[name]
    for (const [suite, ...files] of one === newest ? NEWEST : [['test']]) {
      if (suite !== 'test' && !isFull && newestMs > SLOW_MS) {
        console.log(`Node ${version}: ${suite} is left to faster machines`)
        continue
      }
      console.log(`== Node ${version}: ${suite}${share === '0/1' ? '' : `, share ${share}`}`)
      const start = performance.now()
      const { output, code } = await run(join(bin, 'node'), ['scripts/bootstrap.mjs', suite, ...files], env)
      if (one === newest && suite === 'test') newestMs = (performance.now() - start) * Number(share.slice(-1))
      const counts = countsOf(output, code)
      passed += counts.passed
      failed += counts.failed
    }
  }
}
console.log(`\n${passed} passed, ${failed} failed${skipped}`)
process.exitCode = failed > 0 ? 1 : 0
