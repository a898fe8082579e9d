import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ActionError } from '../../app/actions/action-error.ts'
import type { ActionHandler, ActionName } from '../../app/actions/actions.ts'
import { type PanelFiles, readPanelFiles } from '../../devtools/server/panel-files.ts'
import {
  type DevtoolsServer,
  type DevtoolsServerOptions,
  serveDevtools
} from '../../devtools/server/serve-devtools.ts'
import { compact } from '../../kernel/base/compact.ts'
import { CliError, stopDuringPayment } from '../errors/cli-error.ts'
import { parseCount } from '../grammar/options.ts'
import type { Session } from '../session/session.ts'
import { packageFolder } from '../terminal/package-folder.ts'

/** Options of {@link servePanel}. */
export interface PanelOptions extends Pick<DevtoolsServerOptions, 'attach' | 'recording'> {
  /** The rights of a user who has the address, such as `controls the wallet`. */
  readonly may: string
  /** Runs before the panels are disconnected. */
  readonly onStop?: () => Promise<void>
}

/** Reads the built panel; empty if it is not built. */
export const panelFiles = (): PanelFiles =>
  readPanelFiles(join(packageFolder()?.path ?? '', 'dist/devtools/panel'))

/** The value of `--port`, or 0 for any. @throws CliError USAGE */
export const portOf = (session: Session): number => {
  const text = session.text('port')
  return text === undefined ? 0 : parseCount(text, 'port', [1, 65_535])
}

/**
 * Serves the panel on this machine until the command is stopped, and opens a browser with `--open`.
 *
 * @throws CliError USAGE if the port cannot be used
 */
export const servePanel = async (session: Session, port: number, options: PanelOptions): Promise<void> => {
  const { attach, recording, may, onStop } = options
  const opened = openPanels(session)
  const server = await listen(
    port,
    compact({
      attach: attach === undefined ? undefined : opened.thenForget(attach),
      recording: recording === undefined ? undefined : opened.thenForget(recording)
    })
  )
  try {
    await session.print({
      data: { url: server.url, port: server.port, pid: process.pid },
      view: { kind: 'text', lines: [server.url] }
    })
    if (session.isOn('open')) opened.open(server.url)
    session.statusLine.info(`Anyone who has this address ${may}. Stop with Ctrl-C.`)
    await stopped(session.signal)
    await onStop?.()
  } finally {
    opened.forget()
    await server.close()
  }
}

/** Options of {@link DevPanel}. */
export interface DevPanelOptions {
  serve(): Promise<Pick<DevtoolsServer, 'close' | 'url'>>
  /** Opens a browser at an address. @returns removes what leads it there */
  browse(url: string): () => void
}

/** The devtools of a session, served once they are wanted. */
export class DevPanel {
  readonly #options: DevPanelOptions
  #server: ReturnType<DevPanelOptions['serve']> | undefined
  #forget = (): void => {}
  #url: string | undefined

  constructor(options: DevPanelOptions) {
    this.#options = options
  }

  /** The address at one plugin, a secret; undefined before it is open. */
  get url(): string | undefined {
    return this.#url
  }

  /** Serves the devtools and opens a browser at the calls of a plugin. What fails is tried again the next time. */
  async open(pluginId: string): Promise<void> {
    const server = this.#server ?? this.#options.serve()
    this.#server = server
    try {
      this.#url = `${(await server).url}/plugins/${encodeURIComponent(pluginId)}`
    } catch (error) {
      if (this.#server === server) this.#server = undefined
      throw error
    }
    this.#forget()
    this.#forget = this.#options.browse(this.#url)
  }

  async close(): Promise<void> {
    this.#forget()
    await (await this.#server?.catch(() => undefined))?.close()
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
  /** Removes the page that redirects the browser. */
  forget(): void
  /** Wraps a function: when it is called, the browser has arrived, and the page is removed. */
  thenForget<A extends readonly unknown[], R>(call: (...args: A) => R): (...args: A) => R
}

const openPanels = ({ statusLine, terminal: { environment } }: Session): OpenPanels => {
  let forget = (): void => {}
  return {
    open(url) {
      const onFailure = (): void => statusLine.warn('Could not open a browser; open the address yourself')
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

/** Options of {@link openBrowser}. */
export interface BrowserOptions {
  readonly platform: NodeJS.Platform
  /** The environment of the program that opens the browser. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Called if no browser could be opened. */
  onFailure(): void
}

/**
 * Opens an address that holds a secret in the user's browser.
 *
 * All users of a machine can read the arguments of a program. So the browser opens a file that only its owner can read,
 * and that redirects to the address.
 *
 * @returns removes the file; to be called when the page has loaded or is no longer needed
 */
export const openBrowser = (
  url: string,
  { platform, environment, onFailure }: BrowserOptions
): (() => void) => {
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

/** Returns undefined if nothing can be written, as on a full disk: the panel is served all the same. */
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

/** Programs, not shell built-ins such as `start` of Windows. */
const OPENERS: { readonly [P in NodeJS.Platform]?: readonly string[] } = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler']
}

/** The address consists of letters, digits and `:/#=_-.?%` only. */
const pageTo = (url: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">` +
  `<meta http-equiv="refresh" content="0;url=${url}"><title>Holdfast</title>\n`

/** The payments that panels have approved or sent again, and that are in flight. */
export class Approvals {
  readonly #open = new Set<Promise<unknown>>()
  readonly #graceMs: number
  readonly #onPayment: (payment: Promise<unknown>) => void
  #isOver = false

  /**
   * @param graceMs - how long a stop waits for them
   * @param onPayment - receives each payment that begins
   */
  constructor(graceMs: number, onPayment: (payment: Promise<unknown>) => void = () => {}) {
    this.#graceMs = graceMs
    this.#onPayment = onPayment
  }

  /** Wraps an action handler to track its payments. */
  track(runAction: ActionHandler): ActionHandler {
    return (name, input) => {
      const isPaying = paying.has(name)
      if (isPaying && this.#isOver) {
        const message = 'The wallet is closing; nothing was signed or sent.'
        return Promise.reject(new ActionError({ code: 'GONE', message, details: { what: 'devtools' } }))
      }
      const done = runAction(name, input)
      if (!isPaying) return done
      this.#open.add(done)
      this.#onPayment(done)
      const over = (): void => void this.#open.delete(done)
      done.then(over, over)
      return done
    }
  }

  /**
   * Waits for the payments in flight when the command is stopped, up to the grace period; later ones are rejected.
   *
   * @param reason - why the command was stopped
   * @throws CliError INTERRUPTED, TERMINATED if a payment may have left
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
