#!/usr/bin/env node
import { PassThrough } from 'node:stream'
import { runByAgent } from './agent/client.ts'
import { newAgentProfileOf, runByNewAgent } from './agent/start-agent.ts'
import { CliError } from './errors/cli-error.ts'
import { processTerminal } from './terminal/process-terminal.ts'
import { isClosedPipe } from './terminal/terminal.ts'

/** The time that system calls have at the end, in milliseconds. */
const STUCK_MS = 1000

const terminal = { ...processTerminal() }
const controller = new AbortController()
let isReaderGone = false

// The first Ctrl-C stops the command; a second one ends the process at once.
const stopBy = (error: CliError) => (): void => {
  if (controller.signal.aborted) end(error.exitCode)
  controller.abort(error)
}
process.on('SIGINT', stopBy(new CliError('INTERRUPTED', 'Stopped')))
process.on('SIGTERM', stopBy(new CliError('TERMINATED', 'Terminated')))

terminal.stdout.on('error', error => {
  if (!isClosedPipe(error)) throw error
  isReaderGone = true
  // A reader such as `head` has what it wanted: a command that is cut off there reports nothing.
  terminal.stderr = new PassThrough().resume() as unknown as NodeJS.WriteStream
  controller.abort(new CliError('INTERRUPTED', 'The reader has gone'))
})
terminal.stderr.on('error', () => {})

// An unhandled rejection is a bug. It is printed by our rules, since Node would print everything that the error holds.
process.on('unhandledRejection', error => {
  controller.abort(new CliError('INTERNAL', 'A background task failed', { cause: error }))
})

// The kernel's timers never keep a process alive by themselves.
const alive = setInterval(() => {}, 1 << 30)
/** The reason why no agent could be started. */
let agentProblem: string | undefined
const request = { argv: process.argv.slice(2), terminal, signal: controller.signal }
run().catch((error: unknown) => {
  // A file of the package is missing: nothing else fails here.
  console.error(`error: ${String(error)}`)
  end(1)
})

/** Runs the command, and ends the process. */
async function run(): Promise<void> {
  const exitCode = (await byAgent()) ?? (await byItself())
  clearInterval(alive)
  end(isReaderGone ? 0 : exitCode)
}

/** Runs the command in this process, or where the parser finds that it belongs. */
async function byItself(): Promise<number> {
  const { runCli } = await import('./run.ts')
  return runCli({ ...request, usesAgent: true, agentProblem })
}

/** Runs the command in the agent of the profile, or in a new one; a failure is printed as any other. */
async function byAgent(): Promise<number | undefined> {
  try {
    const exitCode = await runByAgent(request)
    const profile = exitCode === undefined ? newAgentProfileOf(request) : undefined
    if (profile === undefined) return exitCode
    return await runByNewAgent(request, profile, problem => {
      agentProblem = problem
    })
  } catch (error) {
    return (await import('./run.ts')).reportFailure(error, request)
  }
}

/**
 * Ends the process. An exit waits for the system calls of the disk, and one that never returns would block it: then the
 * process is killed, as by a crash, and the next command sees that it is gone.
 */
function end(code: number): void {
  const isStuck = (): boolean => process.getActiveResourcesInfo().some(name => name.startsWith('FSReq'))
  if (!isStuck()) process.exit(code)
  setTimeout(() => (isStuck() ? process.kill(process.pid, 'SIGKILL') : process.exit(code)), STUCK_MS)
}
