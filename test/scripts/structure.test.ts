import test from 'ava'
import { pathTable, structureTable, withStructure } from '../../scripts/structure.ts'

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
  t.throws(() => withStructure(block('structure'), files), { message: /lacks the marks of the paths table/ })
  t.throws(() => withStructure('a', files), { message: /lacks the marks of the structure table/ })
})

test('the table of paths counts each file of a section once and refuses one that is not there', t => {
  const walk =
    '## The path of a spend\n| `kernel/a/one.ts` → `kernel/a/b/one.ts` |\n| `kernel/a/one.ts` |\n\n`test/t.ts`\n'
  const table = pathTable(`# Page\n${walk}\n## Rates\n\`kernel/repo/store/s.ts\`\n`, files)
  t.is(table.split('\n').slice(2).join('\n'), '| a spend | 2 |')
  t.throws(() => pathTable('## The path of a rate\n| `kernel/gone.ts` |\n', files), {
    message: 'The path of a rate names kernel/gone.ts, which is not there'
  })
})
