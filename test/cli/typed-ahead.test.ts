import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ended, environmentOf, homeFor, MAIN } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { onTerminal } from '../helpers/on-terminal.ts'

const PIN = '481516'

onTerminal(
  'a PIN that is typed before it is asked for is taken, and never shown; echo is back afterwards',
  async t => {
    const home = homeFor(t)
    await runInProcess(['account', 'create', 'alice', '--secrets-stdin', '--json'], {
      home,
      input: JSON.stringify({ password: 'Correct Horse 1', pin: PIN })
    })
    const hold = fileURLToPath(new URL('../helpers/hold-until-typed.js', import.meta.url))
    const words = [process.execPath, '--import', hold, MAIN, 'login', 'alice', '--with', 'pin']
      .map(word => `'${word}'`)
      .join(' ')
    const child = spawn('/usr/bin/script', ['-qec', `stty cols 80 rows 24; ${words}; stty -a`, '/dev/null'], {
      env: environmentOf(home, { TERM: 'xterm' })
    })
    t.teardown(() => child.kill('SIGKILL'))
    const run = ended(child)
    let seen = ''
    await new Promise<void>(resolve => {
      child.stdout.on('data', text => {
        seen += text
        if (/echo is off|PIN of alice/.test(seen)) resolve()
      })
      child.on('close', () => resolve())
    })
    t.notRegex(seen, /PIN of alice/, 'it is typed before the question')
    child.stdin.write(`${PIN}\r`)
    const { stdout } = await run
    t.regex(stdout, /PIN of alice/)
    t.regex(stdout, /alice is now|Logged in|logged in/)
    t.false(stdout.includes(PIN), stdout)
    t.regex(stdout, / echo /, 'the terminal is as it was')
  }
)
