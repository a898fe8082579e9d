import { CliError } from '../../cli/errors/cli-error.ts'
import type { Ran } from './command-line.ts'
import { type InProcessOptions, runInProcess } from './in-process.ts'

/** A command that goes on until it is stopped. */
export interface RunningCommand {
  /** Waits until standard output has something that fits. Rejects if the command ends first. */
  waitFor(said: RegExp): Promise<void>
  /** Stops it as Ctrl-C does, and gives all it said. */
  stop(): Promise<Ran>
}

/** Starts a command in this process. */
export const startInProcess = (args: readonly string[], options: InProcessOptions): RunningCommand => {
  const controller = new AbortController()
  let text = ''
  let receive = (): void => {}
  const ran = runInProcess(args, {
    ...options,
    signal: controller.signal,
    onOutput(more) {
      text += more
      receive()
    }
  })
  return {
    waitFor: said =>
      new Promise((resolve, reject) => {
        receive = () => (said.test(text) ? resolve() : undefined)
        receive()
        ran.then(({ stderr }) => reject(new Error(`it ended by itself: ${text}${stderr}`)), reject)
      }),
    stop() {
      controller.abort(new CliError('INTERRUPTED', 'Stopped'))
      return ran
    }
  }
}
