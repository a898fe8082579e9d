import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { eventually, needsNode } from './node-lab.ts'

const COMMAND = ['dist/bin/holdfast.js', 'demo', '--network', 'regtest']

/** A home, and a folder for all that the tour puts down while it runs. */
const folders = (t: ExecutionContext): NodeJS.ProcessEnv => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tour-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return { ...process.env, HOLDFAST_HOME: join(folder, 'home'), TMPDIR: folder, HOLDFAST_NO_AGENT: '1' }
}

const leftIn = ({ TMPDIR = '' }: NodeJS.ProcessEnv): readonly string[] =>
  readdirSync(TMPDIR).filter(name => name.startsWith('holdfast-'))

test('the tour on a real node pays, and the node tells the same as the wallet', async t => {
  if (!(await needsNode(t))) return
  const env = folders(t)
  const { stdout } = await promisify(execFile)(process.execPath, [...COMMAND, '--json'], { env })
  const { data } = JSON.parse(stdout)
  t.is(data.confirmations, 'confirmed')
  t.regex(data.node, /^it received 0\.0125 LTC by these \d+ vB, and counts 1 confirmation$/)
  t.deepEqual(data.secondDevice, { sameHistory: true, sameNote: true })
  t.deepEqual(
    data.steps.map(({ id }: { readonly id: string }) => id),
    'start-node account wallet receive review send confirm node note sync second-device'.split(' ')
  )
  t.false('swap' in data)
  t.deepEqual(leftIn(env), [])
})

test('a tour that is stopped ends its node, and leaves no folder behind', async t => {
  if (!(await needsNode(t))) return
  const env = folders(t)
  const child = spawn(process.execPath, COMMAND, { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await eventually(() => leftIn(env).some(name => name.startsWith('holdfast-litecoin-')))
  const [folder = ''] = leftIn(env).filter(name => name.startsWith('holdfast-litecoin-'))
  await eventually(() => existsSync(join(env.TMPDIR ?? '', folder, 'regtest')))
  child.kill('SIGINT')
  t.deepEqual((await ended)[0], 130)
  t.deepEqual(leftIn(env), [])
})
