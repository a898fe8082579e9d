import { spawn, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended, homeFor, MAIN } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { onTerminal } from '../helpers/on-terminal.ts'

const PIN = '481516'

const modesOf = (terminal: string): string =>
  spawnSync('stty', ['-F', terminal, '-a'], { encoding: 'utf8' }).stdout

onTerminal(
  'a PIN that is typed before it is asked for is taken, and never shown; echo is back afterwards',
  async t => {
    const home = homeFor(t)
    await runInProcess(['account', 'create', 'alice', '--secrets-stdin', '--json'], {
      home,
      input: JSON.stringify({ password: 'Correct Horse 1', pin: PIN })
    })
    const words = [process.execPath, MAIN, 'login', 'alice', '--with', 'pin']
      .map(word => `'${word}'`)
      .join(' ')
    const child = spawn(
      '/usr/bin/script',
      ['-qec', `stty cols 80 rows 24; tty; ${words}; stty -a`, '/dev/null'],
      {
        env: { PATH: process.env.PATH ?? '', TERM: 'xterm', HOLDFAST_HOME: home }
      }
    )
    t.teardown(() => child.kill('SIGKILL'))
    const run = ended(child)
    let seen = ''
    child.stdout.on('data', text => {
      seen += text
    })
    const deadline = Date.now() + 15_000
    // The question is drawn in a mode of its own; what counts is the time before.
    const isHidden = (): boolean => {
      const terminal = /\/dev\/pts\/\d+/.exec(seen)?.[0]
      return terminal !== undefined && / icanon .* -echo /.test(modesOf(terminal))
    }
    while (!isHidden()) {
      if (/PIN of alice/.test(seen) || Date.now() > deadline) break
      await sleep(5)
    }
    // On a busy machine the question can come before this process sees that the echo is off.
    if (/PIN of alice/.test(seen)) t.log('typed after the question')
    child.stdin.write(`${PIN}\r`)
    const { stdout } = await run
    t.regex(stdout, /PIN of alice/)
    t.regex(stdout, /alice is now|Logged in|logged in/)
    t.false(stdout.includes(PIN), stdout)
    t.regex(stdout, / echo /, 'the terminal is as it was')
  }
)
