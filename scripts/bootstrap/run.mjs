import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Runs a program with our own stdin, stdout and stderr and gives its exit code.
 *
 * A signal to us reaches it, and if a signal ends it, the same one ends us, so that the caller sees no
 * difference. A terminal sends Ctrl-C to both of us, so there it is not sent a second time: a second one
 * means "stop at once" to many programs.
 */
export const runToEnd = (program, args, options) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: 'inherit' })
    const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
    const pass = signal => {
      if (signal !== 'SIGINT' || !hasTerminal) child.kill(signal)
    }
    for (const signal of SIGNALS) process.on(signal, pass)

    child.on('error', reject)
    child.on('exit', (code, signal) => {
      for (const name of SIGNALS) process.off(name, pass)
      if (signal === null) {
        resolve(code)
        return
      }
      resolve(128 + (constants.signals[signal] ?? 0))
      process.kill(process.pid, signal)
    })
  })

/** Runs a program silently; its output comes back, to be shown if it fails. */
export const runQuietly = (program, args, options) =>
  new Promise(resolve => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    const stop = signal => child.kill(signal)
    for (const signal of SIGNALS) process.on(signal, stop)

    const chunks = []
    child.stdout.on('data', chunk => chunks.push(chunk))
    child.stderr.on('data', chunk => chunks.push(chunk))
    const end = (code, text) => {
      for (const name of SIGNALS) process.off(name, stop)
      resolve({ code, output: text ?? Buffer.concat(chunks).toString('utf8') })
    }
    child.on('error', error => end(1, error.message))
    child.on('close', (code, signal) => end(signal === null ? code : 128 + (constants.signals[signal] ?? 0)))
  })
