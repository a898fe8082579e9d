import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { ended, homeFor, MAIN, type Ran, stopAgent } from '../helpers/command-line.ts'
import { blocksOf, spansOf } from '../helpers/pages.ts'

const readme = readFileSync('README.md', 'utf8')
const pages = ['README.md', 'docs/command-line.md', 'docs/fake-world.md', 'docs/policies.md']
const blocks = pages.flatMap(page => blocksOf(page, readFileSync(page, 'utf8')))
const scripts = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)

/** npm as the README calls it, with everything installed and built already. */
const SHIM = `#!/bin/sh
task=$1; shift
[ "$task" = run ] && { [ "$1" = --silent ] && shift; task=$1; shift; }
[ "$1" = -- ] && shift
case "$task" in
  start) exec "$NODE" "$MAIN" demo "$@" ;;
  holdfast) exec "$NODE" "$MAIN" "$@" ;;
  devtools) exec "$NODE" "$PAGES" serve ;;
  link|unlink) exec "$NODE" -e "import(process.env.LINK).then(tasks => process.exit(tasks.$task(process.env.MAIN, [])))" ;;
  *) echo "npm run $task is not for this test" >&2; exit 64 ;;
esac
`

interface Place {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

const makePlace = (t: ExecutionContext): Place => {
  const folder = homeFor(t)
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'npm'), SHIM)
  chmodSync(join(bin, 'npm'), 0o755)
  const env = {
    PATH: `${bin}:${join(folder, '.local/bin')}:${process.env.PATH ?? ''}`,
    HOME: folder,
    LINK: pathToFileURL(join(process.cwd(), 'scripts/bootstrap/link.mjs')).href,
    NODE: process.execPath,
    MAIN,
    PAGES: join(process.cwd(), 'scripts/build-pages.mjs'),
    HOLDFAST_HOME: join(folder, 'home'),
    TZ: 'UTC'
  }
  // Its blocks start an agent, as they do for a reader.
  t.teardown(() => stopAgent(env))
  return { folder, env }
}

const start = (script: string, { folder, env }: Place) =>
  spawn('sh', ['-euc', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })

const runBlock = (script: string, place: Place): Promise<Ran> => ended(start(script, place))

const isServer = (script: string): boolean => /fake start|devtools/.test(script)
const isLink = (script: string): boolean => script.trim() === 'npm run link'
const isOwnTest = (script: string): boolean => script.trim() === 'npm test'
const isTour = (script: string): boolean => script.trim() === 'npm start'

const skipOnWindows = (t: ExecutionContext): boolean => {
  if (process.platform !== 'win32') return false
  t.log('skipped: the blocks are written for a POSIX shell')
  t.pass()
  return true
}

test('npm start ends as the README says', async t => {
  if (skipOnWindows(t)) return
  const ran = await runBlock(scripts.find(isTour) ?? 'false', makePlace(t))
  t.is(ran.code, 0, ran.stderr)
  const expected = blocks.find(({ text }) => text.startsWith('txid: …'))?.text ?? 'nothing'
  const pattern = expected
    .split('…')
    .map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^\\n]+')
  t.regex(ran.stdout, new RegExp(`(?:^|\\n)${pattern}`))
})

test('each block of commands in the README and in what it names first runs in a new home and ends with 0', async t => {
  if (skipOnWindows(t)) return
  const place = makePlace(t)
  for (const script of scripts) {
    if (isTour(script) || isServer(script)) continue
    if (isOwnTest(script)) {
      t.log('npm test: it is what runs this test')
      continue
    }
    const ran = await runBlock(script, place)
    t.is(ran.code, 0, `${script}\n${ran.stdout}${ran.stderr}`)
    t.not(ran.stdout, '')
  }
  const paid = await runBlock(
    'echo \'{"pin":"2468"}\' | holdfast tx list Savings --json --secrets-stdin',
    place
  )
  t.is(paid.json.data.transactions.length, 3, 'the payment and the swap of the README are in its history')
})

for (const [what, received, says] of [
  ['fake start', /chain.*tcp:\/\//, /login server\s+http:\/\/localhost:\d+\/api/],
  ['npm run devtools', /standalone/, /^http:\/\/127\.0\.0\.1:\d+\//],
  ['holdfast devtools', /token/, /^http:\/\/127\.0\.0\.1:\d+\/#token=/]
] as const) {
  test(`the README command with ${what} serves until it is stopped`, async t => {
    if (skipOnWindows(t)) return
    const script = scripts.find(text => text.includes(what)) ?? 'false'
    const place = makePlace(t)
    const linked = await runBlock(scripts.find(isLink) ?? 'false', place)
    t.is(linked.code, 0, linked.stderr)
    const child = start(script, place)
    const done = ended(child)
    await new Promise<void>((resolve, reject) => {
      let text = ''
      child.stdout?.on('data', chunk => {
        text += String(chunk)
        if (received.test(text)) resolve()
      })
      child.once('close', () => reject(new Error(`it ended by itself: ${text}`)))
    })
    process.kill(-(child.pid ?? 0), 'SIGINT')
    const ran = await done
    t.regex(ran.stdout, says)
  })
}

test('commands between the lines of the README are run here or by the CI script', async t => {
  const commands = new Set(
    spansOf(readme).filter(span => /^(?:npm (?:run|start|test)|npx|node|bash)\b/.test(span))
  )
  const ci = readFileSync('.ci/run', 'utf8')
  for (const command of commands) {
    if (command === 'npm run bench') {
      // The whole of it takes minutes; that its program starts and knows its sections is shown here.
      const bench = fileURLToPath(new URL('../../bench/main.js', import.meta.url))
      const ran = await ended(
        spawn(process.execPath, [bench, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
      )
      t.is(ran.code, 0, ran.stderr)
      t.log('npm run bench: run with --help only')
    } else if (command === 'npm run unlink') {
      const ran = await runBlock(
        'npm run link && holdfast -V && npm run unlink && ! holdfast -V',
        makePlace(t)
      )
      t.is(ran.code, 0, ran.stderr)
    } else if (command === 'npm run holdfast --') {
      const ran = await runBlock('npm run holdfast -- -V', makePlace(t))
      t.is(ran.code, 0, ran.stderr)
    } else t.true(ci.includes(command), `nothing runs ${command}`)
  }
})
