import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { MAIN } from '../helpers/command-line.ts'

type Link = (
  program: string,
  args: readonly string[],
  options: { readonly env: object; log(line: string): void; error?(line: string): void }
) => number

const { link, unlink } = (await import(
  pathToFileURL(join(process.cwd(), 'scripts/bootstrap/link.mjs')).href
)) as { readonly link: Link; readonly unlink: Link }

const NAME = process.platform === 'win32' ? 'holdfast.cmd' : 'holdfast'

/** A home, and functions that link from it. */
const makeUser = (t: ExecutionContext) => {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-link-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  const run = (
    task: Link,
    path: readonly string[],
    args: readonly string[] = []
  ): { code: number; text: string } => {
    const lines: string[] = []
    const log = (line: string): void => void lines.push(line)
    const env = { HOME: home, PATH: path.join(delimiter) }
    const code = task(MAIN, args, { env, log, error: log })
    return { code, text: lines.join('\n') }
  }
  return { home, run, local: join(home, '.local', 'bin') }
}

test('link makes holdfast a command in a folder of the user that is on the PATH, and unlink removes it', t => {
  const { home, run, local } = makeUser(t)
  t.deepEqual(run(link, ['/bin', local]), { code: 0, text: `holdfast is linked: ${join(local, NAME)}` })
  const version = spawnSync(NAME, ['-V'], {
    env: { PATH: `${local}${delimiter}${process.env.PATH}`, HOLDFAST_HOME: home },
    encoding: 'utf8',
    shell: process.platform === 'win32'
  })
  t.regex(version.stdout, /^\d+\.\d+\.\d+\n$/)
  t.regex(run(link, ['/bin', local]).text, /is linked already/)
  t.deepEqual(run(unlink, ['/bin', local]), { code: 0, text: `removed ${join(local, NAME)}` })
  t.false(existsSync(join(local, NAME)))
  t.deepEqual(run(unlink, ['/bin', local]), { code: 0, text: 'holdfast is not linked' })
})

test('without such a folder on the PATH, link says how to add the one that it has made', t => {
  const { run, local } = makeUser(t)
  const { code, text } = run(link, ['/nowhere'])
  t.is(code, 0)
  t.true(text.includes(`${join(local, NAME)}\nThis folder is not on your PATH yet.`))
  t.regex(text, process.platform === 'win32' ? /set PATH=/ : /export PATH="/)
  t.is(run(unlink, ['/nowhere']).text, `removed ${join(local, NAME)}`)
})

test('link replaces no other program, and says what to do instead', t => {
  const { home, run, local } = makeUser(t)
  mkdirSync(local, { recursive: true })
  writeFileSync(join(local, NAME), 'another')
  const refused = run(link, [], [local])
  t.is(refused.code, 1)
  t.regex(refused.text, /is another program; remove it, or name another folder:\n {2}npm run link -- ~\/bin/)
  t.is(run(unlink, [local]).text, 'holdfast is not linked')
  t.true(lstatSync(join(local, NAME)).isFile())
  // Another folder of the user takes it, but the other program still comes first.
  const second = run(link, [local, join(home, 'bin')])
  t.is(second.code, 0)
  t.is(
    second.text,
    `holdfast is linked: ${join(home, 'bin', NAME)}\nBut ${join(local, NAME)} comes first on your PATH.`
  )
})

test('a folder that cannot be written is named with the way out', t => {
  const { home, run } = makeUser(t)
  writeFileSync(join(home, 'file'), '')
  const { code, text } = run(link, [], [join(home, 'file', 'bin')])
  t.is(code, 1)
  t.regex(text, /cannot be written; name a folder that can:\n {2}npm run link -- ~\/bin/)
})
