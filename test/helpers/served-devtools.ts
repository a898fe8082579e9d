import type { ExecutionContext } from 'ava'
import { CliError } from '../../cli/errors/cli-error.ts'
import type { Ran } from './command-line.ts'
import { waitFor } from './device.ts'
import { type InProcessOptions, runInProcess } from './in-process.ts'
import { openPanel, type PanelOverSocket } from './panel-socket.ts'

/** A `holdfast devtools` that runs. */
export interface RunningDevtools {
  readonly url: string
  readonly port: number
  /** Stops the command as Ctrl-C does. */
  interrupt(): Promise<Ran>
}

/** A `holdfast devtools` that runs, and a panel on it. */
export interface ServedDevtools extends RunningDevtools, PanelOverSocket {
  /** Stops the command when the panel has gone. */
  stop(): Promise<Ran>
}

/** Starts `holdfast devtools` in this process. */
export const startDevtools = async (
  t: ExecutionContext,
  home: string,
  args: readonly string[] = [],
  options: Pick<InProcessOptions, 'input' | 'payingGraceMs' | 'plugins'> = {}
): Promise<RunningDevtools> => {
  const controller = new AbortController()
  let text = ''
  const ran = runInProcess(['devtools', '--json', ...args], {
    home,
    ...options,
    signal: controller.signal,
    onOutput: more => {
      text += more
    }
  })
  const early = await Promise.race([ran, waitFor(() => text.includes('\n'))])
  t.is(early?.stderr, undefined)
  const { ok, data, meta } = JSON.parse(text)
  t.deepEqual([ok, meta.schema, data.pid], [true, 'devtools/1', process.pid])
  const interrupt = (): Promise<Ran> => {
    controller.abort(STOP)
    return ran
  }
  t.teardown(interrupt)
  return { url: data.url, port: data.port, interrupt }
}

/** Starts `holdfast devtools` in this process, and opens a panel on it, which is live. */
export const serve = async (
  t: ExecutionContext,
  home: string,
  args: readonly string[] = [],
  options: Pick<InProcessOptions, 'input' | 'payingGraceMs' | 'plugins'> = {}
): Promise<ServedDevtools> => {
  const running = await startDevtools(t, home, args, options)
  const panel = openPanel(running.url)
  const stop = (): Promise<Ran> => {
    panel.client.close()
    return running.interrupt()
  }
  t.teardown(stop)
  await waitFor(() => panel.client.status.getSnapshot().connection === 'live')
  return { ...panel, ...running, stop }
}

const STOP = new CliError('INTERRUPTED', 'Stopped')
