import { spawn } from 'node:child_process'

/**
 * Runs a program until it ends or kills itself, and reads what it printed, JSON line by line.
 *
 * @throws Error if it ends with a code other than 0
 */
export const runToDeath = <Line>(
  program: string,
  order: unknown
): Promise<{ readonly signal: NodeJS.Signals | null; readonly lines: Line[] }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
    })
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code !== null && code !== 0) reject(new Error(`${program}: the process ended with ${code}`))
      // A line that was cut off was heard by nobody.
      const lines = output.split('\n').slice(0, -1)
      resolve({ signal, lines: lines.map(line => JSON.parse(line) as Line) })
    })
  })
