import type { ExecutionContext } from 'ava'
import test from 'ava'
import type { Plugin } from '../../kernel/index.ts'
import { fileCalls } from '../../plugins/storage/file/file-store.ts'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'

const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })

const run = (home: string, ...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin', '--json'], { home, input })

/**
 * The disk answers no write below a folder any more. Of a device, half a minute of waiting is a third of a second; of the
 * fake world, a minute is three seconds, so that the device's own disk has time.
 */
const silence = (t: ExecutionContext, folder: 'device' | 'fake-world'): void => {
  const { open, fsync } = fileCalls
  const { setTimeout } = globalThis
  t.teardown(() => {
    Object.assign(fileCalls, { open, fsync })
    Object.assign(globalThis, { setTimeout })
  })
  const silent = new Set<number>()
  Object.assign(fileCalls, {
    async open(...args: Parameters<typeof open>) {
      const file = await open(...args)
      if (args[0].includes(`/${folder}/`)) silent.add(file)
      return file
    },
    fsync: (file: number) => (silent.has(file) ? new Promise<never>(() => {}) : fsync(file))
  })
  const waits: Readonly<Record<number, number>> =
    folder === 'device' ? { 30000: 300 } : { 30000: 1500, 60000: 3000 }
  const quick = (task: () => void, milliseconds = 0): unknown =>
    setTimeout(task, waits[milliseconds] ?? milliseconds)
  Object.assign(globalThis, { setTimeout: quick })
}

test.serial('a command whose write the disk does not answer ends with 50 and advice', async t => {
  const home = homeFor(t)
  await run(home, 'account', 'create', 'alice')
  t.is((await run(home, 'wallets', 'create', 'bitcoin', '--name', 'Savings')).code, 0)
  silence(t, 'device')
  const { code, json, stderr } = await run(home, 'wallets', 'rename', 'Savings', 'Late')
  t.is(code, 50)
  t.is(json.error.code, 'STORAGE_TIMEOUT')
  t.is(json.error.details.what, 'write')
  t.regex(stderr, /^error file: The disk has not answered for a minute; the change may or may not be saved/m)
  t.regex(stderr, /^warning: The disk has not finished an earlier write; the data stays locked/m)
  t.regex(
    stderr,
    /^hint: Saved data is unharmed\. Check the disk, open the wallet again, and check the result/m
  )
})

test.serial('the result of a command is printed although the disk does not answer at its end', async t => {
  const home = homeFor(t)
  await run(home, 'account', 'create', 'bob')
  t.is((await run(home, 'wallets', 'create', 'bitcoin', '--name', 'Savings')).code, 0)
  silence(t, 'device')
  const writer: Plugin = {
    kind: 'rates',
    id: 'writer',
    displayName: 'Writer',
    apply: ({ disk }) => void disk.setText('late', 'text').catch(() => {})
  }
  const { code, json } = await runInProcess(['wallets', 'list', '--secrets-stdin', '--json'], {
    ...{ home, input },
    plugins: [writer]
  })
  t.is(code, 0)
  t.is(json.data.wallets[0].name, 'Savings')
  // Half a minute is a third of a second here, so that a busy machine is behind its servers, too, and says so before.
  t.is(
    json.warnings.at(-1),
    'The disk has not finished an earlier write; the data stays locked until this process ends'
  )
})

test.serial(
  'a command ends although the disk of the fake world does not answer when it is closed',
  async t => {
    const home = homeFor(t)
    await run(home, 'account', 'create', 'carol')
    t.is((await run(home, 'wallets', 'create', 'bitcoin', '--name', 'Savings')).code, 0)
    silence(t, 'fake-world')
    const { code, json } = await run(home, 'wallets', 'rename', 'Savings', 'Late')
    t.is(code, 0)
    t.is(json.data.name, 'Late')
    t.is(json.warnings.at(-1), 'Saving the fake world took longer than 60 seconds')
  }
)

test.serial('a change of the fake world that its disk cannot save is an error', async t => {
  const home = homeFor(t)
  await run(home, 'account', 'create', 'dora')
  silence(t, 'fake-world')
  const { code, json } = await runInProcess(['fake', 'chain', 'mine', '--json'], { home })
  t.is(code, 8)
  t.is(json.error.code, 'DEADLINE')
  t.is(json.error.message, 'Saving the fake world took longer than 60 seconds')
})
