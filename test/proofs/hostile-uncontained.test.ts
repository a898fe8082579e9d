import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { rateCode } from '../helpers/cell-stage.ts'
import { drawPart } from '../helpers/drawn-runs.ts'
import { HOSTILE, type Hostile, type Uncontained } from '../helpers/hostile-plugins.ts'
import type { UncontainedReport } from '../helpers/uncontained-plugin.ts'

const PROGRAM = fileURLToPath(new URL('../helpers/uncontained-plugin.js', import.meta.url))
const CANARY = 'canary-7f3d1c9b'
/** A process whose timers did not run for so long stands still. */
const STILL_MS = 8000
const WHOLE_MS = 60_000
const MAX_BYTES = 700_000_000

interface Ended {
  readonly report: UncontainedReport | undefined
  readonly isStill: boolean
  readonly output: string
}

/** The memory that a process uses, in bytes; 0 if the system does not say. */
const memoryOf = (pid: number | undefined): number => {
  try {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
    return Number(pages) * 4096
  } catch {
    return 0
  }
}

const runAlone = (path: string): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--max-old-space-size=256', PROGRAM, path], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { HOLDFAST_CANARY: CANARY }
    })
    const started = Date.now()
    let output = ''
    let lastSign: number | undefined
    let isStill = false
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      lastSign = Date.now()
      // A plugin may print without end.
      output = (output + text).slice(-100_000)
    })
    const watch = setInterval(() => {
      const now = Date.now()
      isStill = lastSign !== undefined && (now - lastSign > STILL_MS || now - started > WHOLE_MS)
      if (isStill || memoryOf(child.pid) > MAX_BYTES) child.kill('SIGKILL')
    }, 50)
    child.once('error', reject)
    child.once('close', code => {
      clearInterval(watch)
      const last = output.trimEnd().split('\n').at(-1) ?? ''
      resolve({ report: code === 0 && last.startsWith('{') ? JSON.parse(last) : undefined, isStill, output })
    })
  })

const endOf = ({ report }: Ended): Uncontained => {
  if (report === undefined) return 'stops'
  if (report.said.some(line => line.includes('GOT ')) || !report.isWhole) return 'reaches'
  return report.refused === undefined ? 'contained' : 'refused'
}

const isAsSaid = (end: Uncontained, said: Uncontained): boolean =>
  said === 'slows' ? end === 'contained' || end === 'stops' : end === said

test('each hostile plugin does without a cell what docs/hostile-plugins.md says', async t => {
  t.timeout(900_000)
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-uncontained-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'key'), CANARY)
  const server = createServer((_, reply) => reply.end('reached'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const port = String((server.address() as AddressInfo).port)
  const bundleOf = ({ code, call = '', apply = '' }: Hostile): string => {
    const text = (code ?? rateCode(call, apply))
      .replaceAll('PORT', port)
      .replaceAll('KEYFILE', JSON.stringify(join(folder, 'key')))
    return `let given; const definePlugin = plugin => { given = plugin }\n${text}\nexport default given`
  }
  const problems: string[] = []
  const path = join(folder, 'plugin.js')
  for (const hostile of drawPart(t, HOSTILE, 10)) {
    writeFileSync(path, bundleOf(hostile))
    const started = Date.now()
    const ended = await runAlone(path)
    const end = endOf(ended)
    const { said = [], refused = '' } = ended.report ?? {}
    t.log(
      `${hostile.name}: ${end}${ended.isStill ? ' (still)' : ''} in ${Date.now() - started} ms ${refused} ${said.join(' / ').slice(0, 200)}`
    )
    if (!isAsSaid(end, hostile.uncontained))
      problems.push(`${hostile.name}: ${end}, and not ${hostile.uncontained}`)
  }
  t.deepEqual(problems, [])
})
