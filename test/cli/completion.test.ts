import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { commandSpecs } from '../../cli/commands/commands.ts'
import { homeFor } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'

const has = (shell: string): boolean => ['/bin', '/usr/bin'].some(folder => existsSync(`${folder}/${shell}`))
const inShell = (shell: string): typeof test | typeof test.skip => (has(shell) ? test : test.skip)

const scriptFor = async (t: Parameters<typeof homeFor>[0], shell: string): Promise<string> => {
  const { code, stdout, stderr } = await runInProcess(['completion', shell], { home: homeFor(t) })
  t.is(code, 0, stderr)
  return stdout
}

/** What is typed, and what is offered at its end. */
const CASES: readonly (readonly [typed: string, offered: RegExp, left: RegExp])[] = [
  ['tx l', /^list$/m, /^(?:show|send|--limit)$/m],
  ['account p', /^password$/m, /^show$/m],
  ['send Savings --am', /^--amount$/m, /^--to$/m],
  ['--json wallets cr', /^create$/m, /^list$/m],
  ['agent st', /^status$/m, /^lock$/m]
]

inShell('bash')('bash completes commands, groups and flags', async t => {
  const script = await scriptFor(t, 'bash')
  for (const [typed, offered, left] of CASES) {
    const words = `holdfast ${typed}`.split(' ')
    const run = `${script}\nCOMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', { input: run, encoding: 'utf8' })
    t.is(stderr, '')
    t.regex(stdout, offered, typed)
    t.notRegex(stdout, left, typed)
  }
})

inShell('zsh')('zsh completes them with a sentence for each', async t => {
  const script = await scriptFor(t, 'zsh')
  for (const [typed, offered] of CASES) {
    const words = `holdfast ${typed}`.split(' ')
    const run = `compdef() { : }; _files() { : }\n${script}\n_describe() { print -l -- \${(P)2%%:*} }\nwords=(${words.join(' ')}); CURRENT=${words.length}; _holdfast`
    const { stdout, stderr } = spawnSync('zsh', ['-f'], { input: run, encoding: 'utf8' })
    t.is(stderr, '')
    t.regex(stdout, offered, typed)
  }
})

inShell('fish')('fish completes them with a sentence for each', async t => {
  const script = await scriptFor(t, 'fish')
  for (const [typed, offered, left] of CASES) {
    const run = `${script}\ncomplete -C "holdfast ${typed}" | cut -f 1`
    const file = join(homeFor(t), 'completion.fish')
    writeFileSync(file, run)
    const { stdout, stderr } = spawnSync('fish', ['--no-config', file], { encoding: 'utf8' })
    t.is(stderr, '')
    t.regex(stdout, offered, typed)
    t.notRegex(stdout, left, typed)
  }
})

test('another shell is refused with those that there are', async t => {
  const { code, stderr } = await runInProcess(['completion', 'tcsh'], { home: homeFor(t) })
  t.is(code, 2)
  t.regex(stderr, /Use one of bash, zsh, fish/)
})

test('help --json describes every command, and with a topic those of it', async t => {
  const home = homeFor(t)
  const all = (await runInProcess(['help', '--json'], { home })).json.data
  t.deepEqual(
    all.commands.map(({ name }: { name: string }) => name),
    commandSpecs.map(({ name }) => name)
  )
  t.true(all.globalFlags.some(({ flags }: { flags: string }) => flags === '--json'))
  const send = (await runInProcess(['help', 'send', '--json'], { home })).json.data
  t.is(send.commands.length, 1)
  t.like(send.commands[0], { name: 'send', runsUntilStopped: false })
  t.true(send.commands[0].flags.some(({ flags }: { flags: string }) => flags.startsWith('--amount')))
  t.true(send.commands[0].secrets.includes('pin'))
  const tx = (await runInProcess(['help', 'tx', '--json'], { home })).json.data
  t.true(tx.commands.every(({ name }: { name: string }) => name.startsWith('tx ')))
  const none = await runInProcess(['help', 'nothing', '--json'], { home })
  t.is(none.json.error.code, 'NOT_FOUND')
})
