import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ActionError } from '../../devtools/core/model/action-error.ts'
import type { Act, ActionName } from '../../devtools/core/model/actions.ts'
import { type PanelFiles, readPanelFiles } from '../../devtools/server/panel-files.ts'
import {
  type DevtoolsServer,
  type DevtoolsServerOptions,
  serveDevtools
} from '../../devtools/server/serve-devtools.ts'
import { CliError, stopDuringPayment } from '../errors/cli-error.ts'
import { parseCount } from '../grammar/options.ts'
import type { Session } from '../session/session.ts'
import { packageFolder } from '../terminal/package-folder.ts'

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
    session.statusLine.info(`Whoever has this address ${may}. Stop with Ctrl-C.`)
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

const openPanels = ({ statusLine, terminal: { environment } }: Session): OpenPanels => {
  let forget = (): void => {}
  return {
    open(url) {
      const onFailure = (): void => statusLine.warn('No browser could be opened; open the address yourself')
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

/** How a browser is opened. */
export interface BrowserOptions {
  readonly platform: NodeJS.Platform
  /** Where the program is looked for that opens things. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Hears that no browser could be opened. */
  onFailure(): void
}

/**
 * Opens an address that holds a secret in the browser of this person.
 *
 * Everybody on a machine can read the arguments of a program. So the browser is given a file instead that its owner
 * alone can read, and that leads to the address.
 *
 * @returns removes the file; to be called when the page is there, or when nobody needs it any more
 */
const openBrowser = (url: string, { platform, environment, onFailure }: BrowserOptions): (() => void) => {
  const page = writePage(url)
  if (page === undefined) {
    onFailure()
    return () => {}
  }
  const [program, ...args] = OPENERS[platform] ?? ['xdg-open']
  const child = spawn(program ?? '', [...args, page.file], {
    detached: true,
    env: environment,
    stdio: 'ignore'
  })
  child.on('error', onFailure)
  child.on('exit', code => {
    if (code !== 0) onFailure()
  })
  child.unref()
  return page.remove
}

/** Undefined where nothing can be written, as on a full disk: the panel is served all the same. */
const writePage = (url: string): { readonly file: string; remove(): void } | undefined => {
  let remove = (): void => {}
  try {
    // Node makes it for its owner alone (mode 0700).
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-devtools-'))
    remove = () => rmSync(folder, { recursive: true, force: true })
    const file = join(folder, 'open.html')
    writeFileSync(file, pageTo(url), { mode: 0o600 })
    return { file, remove }
  } catch {
    remove()
    return undefined
  }
}

/** Programs, not words of a shell: `start` of Windows is one of those. */
const OPENERS: { readonly [P in NodeJS.Platform]?: readonly string[] } = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler']
}

/** The address is one of ours: letters, digits and `:/#=_-.`. */
const pageTo = (url: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">` +
  `<meta http-equiv="refresh" content="0;url=${url}"><title>Holdfast</title>\n`

/** The payments that panels have approved, or sent again, and that are not over yet. */
export class Approvals {
  readonly #open = new Set<Promise<unknown>>()
  readonly #graceMs: number
  #isOver = false

  /** `graceMs`: how long a stop waits for them. */
  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  /** Does the same as an act, and counts what it approves. */
  track(act: Act): Act {
    return (name, input) => {
      const isPaying = paying.has(name)
      if (isPaying && this.#isOver) {
        const message = 'The wallet is ending, so nothing was signed or sent.'
        return Promise.reject(new ActionError({ code: 'GONE', message, details: { what: 'devtools' } }))
      }
      const done = act(name, input)
      if (!isPaying) return done
      this.#open.add(done)
      const over = (): void => void this.#open.delete(done)
      done.then(over, over)
      return done
    }
  }

  /**
   * Waits for them when the command is stopped, and not for long; from now on no other is approved.
   *
   * @param reason - why the command was stopped
   * @throws CliError INTERRUPTED, TERMINATED if one may have left
   */
  async settled(reason: unknown): Promise<void> {
    this.#isOver = true
    if (this.#open.size === 0) return
    let cut: NodeJS.Timeout | undefined
    const grace = new Promise<void>(resolve => {
      cut = setTimeout(resolve, this.#graceMs)
    })
    await Promise.race([Promise.allSettled(this.#open), grace])
    clearTimeout(cut)
    if (this.#open.size > 0) throw stopDuringPayment(reason)
  }
}

const paying: ReadonlySet<ActionName> = new Set<ActionName>(['spend.approve', 'swap.approve', 'spend.resend'])
