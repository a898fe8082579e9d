import { join } from 'node:path'
import { type PanelFiles, readPanelFiles } from '../../devtools/server/panel-files.ts'
import {
  type DevtoolsServer,
  type DevtoolsServerOptions,
  serveDevtools
} from '../../devtools/server/serve-devtools.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseCount } from '../grammar/values.ts'
import { packageFolder } from '../package-folder.ts'
import type { Session } from '../session.ts'
import { openBrowser } from './open-browser.ts'

/** What a panel is served for. */
export interface PanelOptions extends Pick<DevtoolsServerOptions, 'attach' | 'recording'> {
  /** What whoever has the address can do, such as `drives the wallet`. */
  readonly may: string
  /** What is still to be done before the panels are sent away. */
  readonly onStop?: () => Promise<void>
}

/** The built panel; empty where nobody built it. */
export const panelFiles = (): PanelFiles =>
  readPanelFiles(join(packageFolder()?.path ?? '', 'dist/devtools/panel'))

/** The value of `--port`, or 0 for any. @throws CliError USAGE */
export const portOf = (session: Session): number => {
  const text = session.text('port')
  return text === undefined ? 0 : parseCount(text, 'port', [1, 65_535])
}

/**
 * Serves the panel on this machine until the command is stopped, and opens a browser where that is asked for.
 *
 * @throws CliError USAGE if the port cannot be used
 */
export const servePanel = async (session: Session, port: number, options: PanelOptions): Promise<void> => {
  const { attach, recording, may, onStop } = options
  const opened = openPanels(session)
  const server = await listen(port, {
    ...(attach === undefined ? {} : { attach: opened.thenForget(attach) }),
    ...(recording === undefined ? {} : { recording: opened.thenForget(recording) })
  })
  try {
    await session.print({
      data: { url: server.url, port: server.port, pid: process.pid },
      view: { kind: 'text', lines: [server.url] }
    })
    if (session.isOn('open')) opened.open(server.url)
    session.talk.say(`Whoever has this address ${may}. Stop with Ctrl-C.`)
    await stopped(session.signal)
    await onStop?.()
  } finally {
    opened.forget()
    await server.close()
  }
}

const listen = (
  port: number,
  served: Pick<DevtoolsServerOptions, 'attach' | 'recording'>
): Promise<DevtoolsServer> =>
  serveDevtools({
    ...served,
    port,
    files: panelFiles()
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error
    throw new CliError('USAGE', `The port ${port} cannot be used (${error.code})`, { cause: error })
  })

interface OpenPanels {
  open(url: string): void
  /** Removes what leads a browser here. */
  forget(): void
  /** The same function, which removes that when it is called: the page is there then. */
  thenForget<A extends readonly unknown[], R>(call: (...args: A) => R): (...args: A) => R
}

const openPanels = ({ talk, terminal: { environment } }: Session): OpenPanels => {
  let forget = (): void => {}
  return {
    open(url) {
      const onFailure = (): void => talk.warn('No browser could be opened; open the address yourself')
      forget = openBrowser(url, { platform: process.platform, environment, onFailure })
    },
    forget: () => forget(),
    thenForget:
      call =>
      (...args) => {
        forget()
        return call(...args)
      }
  }
}

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
