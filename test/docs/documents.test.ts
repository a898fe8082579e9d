import { existsSync, readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { commandSpecs } from '../../cli/commands/commands.ts'
import { hookTable } from '../../kernel/plugins/hook-table.ts'
import { layers, topFolders } from '../../scripts/layer-table.ts'
import { blocksOf, readPages, spansOf } from '../helpers/pages.ts'

const pages = readPages()
const rooms = layers.flat().map(({ path }) => path)
const FOLDERS: ReadonlySet<string> = new Set([...topFolders, 'docs', '.ci', '.github'])

/** A path may stand in a page if it is there, or if it is a room that the layer table keeps free. */
const isKnown = (path: string): boolean => {
  const fixed = path.split(/\/?[*<…]/)[0] ?? ''
  if (fixed !== path) return isKnown(fixed)
  if (['', '.ts', '.tsx'].some(ending => existsSync(path + ending))) return true
  return !/\.[a-z]+$/.test(path) && rooms.some(room => room === path || room.startsWith(`${path}/`))
}

const filesIn = (text: string): readonly string[] =>
  spansOf(text)
    .filter(span => /^[\w.-]+(?:\/[\w.*<>…-]+)+\/?$/.test(span) && FOLDERS.has(span.split('/')[0] ?? ''))
    .map(span => span.replace(/\/$/, ''))

test('every file and folder that a page names is there', t => {
  let count = 0
  for (const [page, text] of pages) {
    for (const path of filesIn(text)) {
      count += 1
      t.true(isKnown(path), `${page} names ${path}, which is not there`)
    }
    for (const [, path = ''] of text.matchAll(/\bdist\/([\w/.-]+)\.js\b/g)) {
      t.true(existsSync(`${path}.ts`) || existsSync(`${path}.mjs`), `${page} names dist/${path}.js`)
    }
  }
  t.true(count > 100, `only ${count} paths were read`)
  t.false(isKnown('kernel/nowhere.ts'))
  t.false(isKnown('kernel/nowhere'))
})

test('the architecture page names every room of the layer table and counts the hooks', t => {
  const text = pages.get('ARCHITECTURE.md') ?? ''
  const spans = spansOf(text)
  for (const room of rooms) {
    const isNamed = spans.some(span => {
      const fixed = span.replace(/\/?\*$/, '')
      return room === fixed || room.startsWith(`${fixed}/`)
    })
    t.true(isNamed, `ARCHITECTURE.md does not name ${room}`)
  }
  t.regex(text, new RegExp(`There are ${Object.keys(hookTable).length}, and`))
})

test('every npm script and every holdfast command that a page names exists', t => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const commands = commandSpecs.map(({ name }) => name)
  for (const [page, text] of pages) {
    const named = /\bnpm (?:run (?:--silent )?([a-z]+(?::[a-z-]+)?)|(start|test))\b/g
    for (const [, run, short] of text.matchAll(named)) {
      const task = run ?? short ?? ''
      t.true(task in scripts, `${page} names npm script ${task}`)
    }
    for (const [, line = ''] of text.matchAll(/\bholdfast -- ([a-z][a-z -]*)/g)) {
      const isThere = commands.some(name => line === name || line.startsWith(`${name} `))
      t.true(isThere, `${page} names holdfast ${line}`)
    }
  }
})

test('the table of commands has every command and no other', t => {
  const table =
    /\| Group \| Commands \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(
      pages.get('docs/command-line.md') ?? ''
    )?.[1] ?? ''
  t.deepEqual(spansOf(table).toSorted(), commandSpecs.map(({ name }) => name).toSorted())
})

test('code that a page quotes stands in the file that it names, letter for letter', t => {
  let count = 0
  for (const [page, text] of pages) {
    for (const { language, file, text: code } of blocksOf(page, text)) {
      if (language === 'ts') t.truthy(file, `${page} quotes code without naming its file`)
      if (file === undefined) continue
      count += 1
      const source = readFileSync(file, 'utf8')
      t.true(source.includes(code), `${page} quotes ${file} as it is not:\n${code.slice(0, 200)}`)
    }
  }
  t.true(count > 5)
})

test('the guide mentions every example', t => {
  const guide = pages.get('docs/write-a-plugin.md') ?? ''
  for (const name of readdirSync('examples')) t.true(guide.includes(`examples/${name}`), name)
})

test('no page names a folder of the machine that it was written on', t => {
  for (const [page, text] of pages) t.notRegex(text, /(?:^|[\s("'`])\/(?:home|work|root|tmp|Users)\//m, page)
})
