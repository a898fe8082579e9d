import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { ended, environmentOf, MAIN } from './command-line.ts'

// `script` of util-linux gives a child a terminal of its own; without it there is nothing to type into.
const hasScript = process.platform === 'linux' && existsSync('/usr/bin/script')
/** A test that types; skipped where no terminal can be had. */
export const onTerminal: typeof test | typeof test.skip = hasScript ? test : test.skip

/** What is typed into a run. */
export interface TypedRun {
  readonly home: string
  readonly env?: Readonly<Record<string, string>>
  /** What is typed, each after its question was seen. */
  readonly typed: readonly (readonly [question: RegExp, answer: string])[]
  /** Hears what is drawn, as it comes. */
  readonly onDrawn?: (text: string) => void
}

/** Runs the command line on a terminal of 80 columns and 24 rows; `screen` is all that was drawn, without styles; `drawn` is it with them. */
export const runOnTerminal = async (
  t: ExecutionContext,
  args: readonly string[],
  { home, typed, env = {}, onDrawn }: TypedRun
): Promise<{ code: number; screen: string; drawn: string }> => {
  // A question is drawn a moment before its keys are read. What is typed until then waits in the terminal, which without
  // this would make another key of Enter.
  const setUp = 'stty cols 80 rows 24 -icrnl'
  const words = [process.execPath, MAIN, ...args].map(word => `'${word}'`).join(' ')
  const child = spawn('/usr/bin/script', ['-qec', `${setUp}; exec ${words}`, '/dev/null'], {
    // A terminal shows its questions also where the environment says that nobody looks.
    env: environmentOf(home, { TERM: 'xterm', CI: 'true', ...env })
  })
  t.teardown(() => child.kill('SIGKILL'))
  const run = ended(child)
  let seen = ''
  let isOver = false
  let look = (): void => {}
  child.stdout.on('data', text => {
    seen += text
    onDrawn?.(String(text))
    look()
  })
  child.on('close', () => {
    isOver = true
    look()
  })
  for (const [question, answer] of typed) {
    await new Promise<void>((resolve, reject) => {
      look = () => {
        if (question.test(seen)) resolve()
        else if (isOver) reject(new Error(`never asked ${question}: ${seen}`))
      }
      look()
    })
    seen = ''
    child.stdin.write(answer)
  }
  const { code, stdout } = await run
  return { code: code ?? -1, screen: stripVTControlCharacters(stdout), drawn: stdout }
}
