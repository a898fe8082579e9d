import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One file of the panel as it is sent. */
export interface PanelFile {
  /** With its charset, for the header of the same name. */
  readonly contentType: string
  readonly body: Buffer
}

/** The files of the panel by the path of their request, such as `/panel.js`. */
export type PanelFiles = ReadonlyMap<string, PanelFile>

/**
 * Reads the built panel once, so that no path of a request ever reaches the file system (ecosystem 2.4).
 *
 * Without the page it gives no file at all, since the rest is of no use alone.
 *
 * @param folder - where the build leaves `index.html`, `panel.js` and `panel.css`
 */
export const readPanelFiles = (folder: string): PanelFiles => {
  const files = new Map<string, PanelFile>()
  for (const [path, name, contentType] of KNOWN) {
    const body = readIfThere(join(folder, name))
    if (body !== undefined) files.set(path, { contentType, body })
  }
  return files.has(PAGE_PATH) ? files : new Map()
}

/** The path of the page. */
export const PAGE_PATH = '/'

const KNOWN = [
  [PAGE_PATH, 'index.html', 'text/html; charset=utf-8'],
  ['/panel.js', 'panel.js', 'text/javascript; charset=utf-8'],
  ['/panel.css', 'panel.css', 'text/css; charset=utf-8']
] as const

const readIfThere = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
