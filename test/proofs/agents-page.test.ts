import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ended, homeFor, MAIN, type Ran, stopAgent, WITH_AGENT } from '../helpers/command-line.ts'
import { waitFor } from '../helpers/device.ts'
import { onTerminal, runOnTerminal } from '../helpers/on-terminal.ts'
import { blocksOf } from '../helpers/pages.ts'

const PAGE = 'docs/agents.md'
const README = 'README.md'
const scriptsOf = (page: string): readonly string[] =>
  blocksOf(page, readFileSync(page, 'utf8'))
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text)

const isSetUp = (script: string): boolean => script.includes('account create alice')
const isProgram = (script: string): boolean => script.includes('propose-a-payment.js helper.token')
const isApproval = (script: string): boolean => script.includes('proposals approve')

onTerminal('a reader of the page about programs gets what it says, block by block', async t => {
  const folder = homeFor(t)
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/holdfast'), `#!/bin/sh\nexec "$NODE" "$MAIN" "$@"\n`)
  chmodSync(join(folder, 'bin/holdfast'), 0o755)
  symlinkSync(fileURLToPath(new URL('../..', import.meta.url)), join(folder, 'dist'))
  const home = join(folder, 'home')
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}`,
    ...{ NODE: process.execPath, MAIN, HOLDFAST_HOME: home, TZ: 'UTC' }
  }
  const start = (script: string): Promise<Ran> =>
    ended(spawn('sh', ['-euc', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  t.teardown(() => stopAgent(env))
  const program: Promise<Ran>[] = []
  const setUp = scriptsOf(README).filter(isSetUp)
  t.is(setUp.length, 1)
  for (const script of [...setUp, ...scriptsOf(PAGE)]) {
    if (isProgram(script)) {
      program.push(start(script))
      await waitFor(async () => {
        const { json } = await start('holdfast proposals list --json')
        return json.data.proposals.length > 0
      })
      continue
    }
    if (isApproval(script)) {
      const commands = script.trim().split('\n')
      for (const command of commands) {
        const typed = isApproval(command) ? ([[/\[y\/N\]/, 'y']] as const) : []
        const ran = await runOnTerminal(t, command.split(' ').slice(1), { home, typed, env: WITH_AGENT })
        t.is(ran.code, 0, `${command}\n${ran.screen}`)
      }
      continue
    }
    const ran = await start(script)
    t.is(ran.code, 0, `${script}\n${ran.stdout}${ran.stderr}`)
    if (script.includes("'a coffee'")) t.regex(ran.stdout, /^sent [0-9a-f]{64}\n$/)
    if (script.includes("'a dinner'")) {
      t.regex(ran.stdout, /^refused POLICY pocket-money \d{4}-.*\npocket-money\tat most 10 EUR in 24 hours/)
    }
  }
  const answered = await Promise.all(program)
  t.is(answered.length, 1)
  for (const { code, stdout, stderr } of answered) {
    t.is(code, 0, stderr)
    t.regex(stdout, /^waits for: holdfast proposals approve 1\nsent [0-9a-f]{64}\n$/)
  }
})
