import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { homeFor } from '../helpers/command-line.ts'
import { onTerminal, runOnTerminal } from '../helpers/on-terminal.ts'
import { makePriceShopProject } from '../helpers/price-shop-project.ts'

/**
 * Stands for the user's browser: it follows the page that it is given to its address, keeps what it found there, and then changes
 * the plugin, so that the screen shows that it has been there.
 */
const browserIn = (folder: string, source: string): { readonly path: string; readonly found: string } => {
  const found = join(folder, 'found.json')
  const program = `#!${process.execPath}
const fs = require('node:fs')
const [, , page] = process.argv
const [, url] = /url=([^"]+)"/.exec(fs.readFileSync(page, 'utf8'))
fetch(url)
  .then(async reply => ({ url, status: reply.status, text: await reply.text() }))
  .then(got => {
    fs.writeFileSync(${JSON.stringify(found)}, JSON.stringify({ ...got, page }))
    fs.appendFileSync(${JSON.stringify(source)}, '// seen in the devtools\\n')
  })
`
  mkdirSync(folder)
  writeFileSync(join(folder, 'xdg-open'), program)
  chmodSync(join(folder, 'xdg-open'), 0o755)
  return { path: `${folder}${delimiter}${process.env.PATH ?? ''}`, found }
}

const CHECKED = /quick checks: \d+ passed, 0 failed/

const projectFor = (t: ExecutionContext): { readonly home: string; readonly folder: string } => {
  const home = homeFor(t)
  const folder = join(home, 'shop')
  makePriceShopProject(folder)
  return { home, folder }
}

onTerminal(
  'each key in the last line of plugins dev does what stands there, and d opens the devtools at the plugin',
  async t => {
    const { home, folder } = projectFor(t)
    const { path, found } = browserIn(join(home, 'bin'), join(folder, 'src/index.ts'))
    const { code, screen } = await runOnTerminal(t, ['plugins', 'dev', folder], {
      home,
      env: { PATH: path },
      typed: [
        [CHECKED, 'o'],
        [/offline {3}[\s\S]*o online {2}d devtools/, 'o'],
        [/online {3}[\s\S]*o offline {2}d devtools/, 't'],
        [/full checks: \d+ passed, 0 failed/, 'r'],
        [/version 2, live after[\s\S]*quick checks: \d+ passed, 0 failed/, 'f'],
        [/The faucet paid/, 'd'],
        [/version 3, live after/, 'x'],
        [/quick checks: \d+ passed, 0 failed/, 'q']
      ]
    })
    t.is(code, 0, screen)
    const { url, status, text, page } = JSON.parse(readFileSync(found, 'utf8'))
    t.regex(url, /^http:\/\/127\.0\.0\.1:\d+\/.*\/plugins\/priceshop$/)
    t.true(screen.replace(/\s/g, '').includes(url), 'the address stands on the screen, too')
    t.is(status, 200)
    t.regex(text, /<title>Holdfast/)
    t.throws(() => readFileSync(page), { code: 'ENOENT' }, 'the page with the address stays')
  }
)

onTerminal('Ctrl-C leaves plugins dev as q does, also while a plugin cannot be loaded', async t => {
  const { home, folder } = projectFor(t)
  writeFileSync(join(folder, 'src/index.ts'), 'export const plugin = {')
  const { code, screen } = await runOnTerminal(t, ['plugins', 'dev', folder], {
    home,
    typed: [[/src\/index\.ts:\d+:\d+/, '\u0003']]
  })
  t.is(code, 0, screen)
  t.regex(screen, /no version runs yet/)
})
