import { mkdirSync, realpathSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { watchProject } from '../../cli/dev/watch-project.ts'
import { homeFor } from '../helpers/command-line.ts'
import { waitFor } from '../helpers/device.ts'

interface Stage {
  readonly folder: string
  write(path: string): string
  readonly calls: readonly number[]
  readonly watching: ReturnType<typeof watchProject>
}

const openStage = (t: ExecutionContext): Stage => {
  const home = realpathSync(homeFor(t))
  const folder = join(home, 'project')
  const write = (path: string): string => {
    const file = join(home, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, String(Math.random()))
    return file
  }
  write('project/package.json')
  const calls: number[] = []
  const watching = watchProject(folder, savedAt => void calls.push(savedAt))
  t.teardown(() => watching.close())
  return { folder, write, calls, watching }
}

/** Long after this test. */
const FAR = new Date('2100-01-01T00:00:00Z')

test('a file that is imported counts wherever it is, and one beside it does not', async t => {
  const { write, calls, watching } = openStage(t)
  const folders = ['shared/deep', 'project/src/parts/deep']
  const paths = folders.map(name => write(`${name}/part.ts`))
  watching.follow({ paths, isAll: false, since: Date.now() + 1000 })
  for (const name of folders) {
    const count = calls.length
    // It would be the newest of those that have changed.
    utimesSync(write(`${name}/other.ts`), FAR, FAR)
    write(`${name}/part.ts`)
    await waitFor(() => calls.length > count)
  }
  t.true(calls.every(savedAt => savedAt < FAR.getTime()))
})

test('while it is not known what is imported, each file of the project counts, a new one too', async t => {
  const { write, calls, watching } = openStage(t)
  write('project/src/index.ts')
  await waitFor(() => calls.length > 0)
  const outside = write('shared/pair.ts')
  watching.follow({ paths: [outside], isAll: true, since: Date.now() + 1000 })
  for (const path of ['project/src/new.ts', 'shared/pair.ts']) {
    const count = calls.length
    write(path)
    await waitFor(() => calls.length > count)
  }
  t.pass()
})

test('what was saved between its reading and its watching counts', async t => {
  const { write, calls, watching } = openStage(t)
  const outside = write('shared/pair.ts')
  utimesSync(outside, FAR, FAR)
  watching.follow({ paths: [outside], isAll: false, since: Date.now() })
  await waitFor(() => calls.length > 0)
  t.deepEqual(calls, [FAR.getTime()])
})
