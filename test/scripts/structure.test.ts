import test from 'ava'
import { structureTable, withStructure } from '../../scripts/structure.ts'

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
  const page = 'a\n<!-- structure: written by npm run docs -->\nstale row\n<!-- end of structure -->\nb\n'
  const made = withStructure(page, files)
  t.false(made.includes('stale row'))
  t.is(withStructure(made, files), made)
  t.throws(() => withStructure('a', files), { message: /lacks the marks/ })
})
