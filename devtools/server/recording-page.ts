import { createHash } from 'node:crypto'
import { RECORDING_ELEMENT_ID } from '../core/recording-path.ts'
import { PAGE_PATH, type PanelFiles } from './panel-files.ts'

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
