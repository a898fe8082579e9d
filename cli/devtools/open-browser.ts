import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
