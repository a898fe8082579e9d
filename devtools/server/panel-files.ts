import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RECORDING_ELEMENT_ID } from '../core/protocol/server-paths.ts'

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

/**
 * One file that has a recording and the panel that shows it, to be opened from a disk. Its policy lets in its own script
 * and style and nothing else, by their hashes (pure).
 *
 * @param recording - its text, not compressed
 * @returns undefined if the panel has not been built
 */
export const recordingPage = (files: PanelFiles, recording: string): string | undefined => {
  const [script, style] = ['/panel.js', '/panel.css'].map(path => files.get(path)?.body.toString('utf8'))
  if (!files.has(PAGE_PATH) || script === undefined || style === undefined) return undefined
  const code = withoutEnds(script)
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(code)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join('; ')
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <title>Holdfast devtools: a recording</title>
    <link rel="icon" href="data:,">
    <style>${style}</style>
  </head>
  <body>
    <div id="devtools"></div>
    <noscript>The devtools need JavaScript.</noscript>
    <script type="application/x-ndjson" id="${RECORDING_ELEMENT_ID}">${recording.replaceAll('<', '\\u003c')}</script>
    <script>${code}</script>
  </body>
</html>
`
}

/** A script that says the same in its strings, and that the page cannot take for its end. */
const withoutEnds = (script: string): string => script.replace(/<(?=\/script|!--)/gi, '\\x3c')

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
