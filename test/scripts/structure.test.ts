import test from 'ava'
import { pathTable, repeatedNames, structureTable, withStructure } from '../../scripts/structure.ts'

const files = new Map([
  ['kernel/a/one.ts', '/** A thing. */\nexport const x = 1\n\n// A note.\nexport const y = 2\n'],
  ['kernel/a/b/one.ts', "import { y } from '../one.ts'\nexport const x = y\n"],
  ['kernel/repo/store/s.ts', 'export const x = 1\n']
])

test('the structure table counts code lines, single users and repeated names for each room', t => {
  const table = structureTable(files)
  t.true(table.includes('| `kernel/a` | 2 | 2 | 1 | 1 | 1 |'), table)
  t.true(table.includes('| `kernel/repo/store` | 1 | 1 | 0 | 0 | 0 |'), table)
})

test('the structure table replaces what stands between its marks, and needs both', t => {
  const block = (name: string) =>
    `<!-- ${name}: written by npm run docs -->\nstale row\n<!-- end of ${name} -->\n`
  const page = `a\n${block('structure')}b\n${block('paths')}c\n`
  const made = withStructure(page, files)
  t.false(made.includes('stale row'))
  t.is(withStructure(made, files), made)
  t.throws(() => withStructure(block('structure'), files), { message: /has no markers for the paths table/ })
  t.throws(() => withStructure('a', files), { message: /has no markers for the structure table/ })
})

test('the table of paths counts each file of a section once and refuses one that is not there', t => {
  const walk =
    '## The path of a spend\n| `kernel/a/one.ts` → `kernel/a/b/one.ts` |\n| `kernel/a/one.ts` |\n\n`test/t.ts`\n'
  const table = pathTable(`# Page\n${walk}\n## Rates\n\`kernel/repo/store/s.ts\`\n`, files)
  t.is(table.split('\n').slice(2).join('\n'), '| a spend | 2 |')
  t.throws(() => pathTable('## The path of a rate\n| `kernel/gone.ts` |\n', files), {
    message: 'The path of a rate names kernel/gone.ts, which does not exist'
  })
})

test('a name that stands for two things within a room is found, and one of the store is left', t => {
  const twice = new Map([
    ...files,
    ['kernel/repo/store/t.ts', 'export const x = 2\n'],
    ['kernel/b/three.ts', 'export const x = 3\n']
  ])
  t.deepEqual(repeatedNames(twice, []), [
    'kernel/a: the exported name x stands for two things: kernel/a/one.ts, kernel/a/b/one.ts',
    'kernel/a: the file name one stands for two things: kernel/a/one.ts, kernel/a/b/one.ts'
  ])
  t.regex(structureTable(twice), /^1 exported names and 0 file names stand in two rooms or more\.$/m)
})

test('a public name has one declaration, by whichever entries it comes', t => {
  const sources = new Map([
    ['kernel/index.ts', "export { type Coin, rate as price } from './coin.ts'\n"],
    ['kernel/plugin-api.ts', "export type { Coin } from './coin.ts'\n"],
    ['kernel/coin.ts', 'export interface Coin {}\nexport const rate = 1\n'],
    ['plugins/a.ts', 'export const price = 2\nexport const other = 3\n']
  ])
  t.deepEqual(repeatedNames(sources, ['kernel/index.ts', 'kernel/plugin-api.ts']), [])
  t.deepEqual(repeatedNames(sources, ['kernel/index.ts', 'kernel/plugin-api.ts', 'plugins/']), [
    'the public name price stands for two things: kernel/coin.ts (rate), plugins/a.ts'
  ])
})
