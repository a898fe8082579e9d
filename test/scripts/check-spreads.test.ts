import test from 'ava'
import { checkSpreads } from '../../scripts/check-spreads.ts'

const problemsIn = (text: string, path = 'kernel/a.ts'): readonly string[] =>
  checkSpreads(new Map([[path, text]]))

test('a spread that only leaves a field out is found in each of its spellings', t => {
  for (const spread of [
    'name === undefined ? {} : { name }',
    'name !== undefined ? { name } : {}',
    'undefined === name ? {} : { name }',
    'name == null ? {} : { name }',
    "typeof name === 'undefined' ? {} : { name }",
    'name ? { name } : undefined',
    'name ? { name } : null',
    'name && { name }',
    'name !== undefined && { name }',
    'name !== undefined && ({ name } as Named)',
    '(name === undefined) ? ({}) : ({ name: name! })',
    "name === '' ? {} : { name: name.trim() }",
    'isNamed ? { name } : {}',
    'tag === undefined ? {} : { memo: tag, uniqueIdentifier: tag }',
    'tag && { memo: tag, uniqueIdentifier: tag }'
  ])
    t.deepEqual(problemsIn(`const a = 1\nconst all = { a, ...(${spread}) }`), [
      'kernel/a.ts:2: use compact instead of a spread to leave the field out'
    ])
})

test('one in a component and one within another are found', t => {
  t.is(problemsIn('const a = <Row {...{ ...(name && { name }) }} />', 'devtools/react/a.tsx').length, 1)
  t.is(problemsIn('const a = { b: { c, ...(d === undefined ? {} : { d }) } }').length, 1)
})

test('groups of fields, set undefined, lists, defaults, comments and tests are left alone', t => {
  for (const line of [
    'const all = { ...(isKnown ? { archived: false, deleted: false } : {}) }',
    'const all = { ...(block === undefined ? {} : { hash: block.hash, height: block.height }) }',
    'const all = { ...(isGone ? { box: undefined } : {}) }',
    'const all = { ...(isShort ? short : {}), ...(known ?? {}), ...compact({ name }) }',
    'const all = { ...(isCoinbase ? { coinbase } : { txid }) }',
    'const all = [...(name === undefined ? [] : [name])]',
    '// { ...(name === undefined ? {} : { name }) }',
    "const text = '{ ...(name === undefined ? {} : { name }) }'"
  ])
    t.deepEqual(problemsIn(line), [], line)
  t.deepEqual(problemsIn('const a = { ...(name && { name }) }', 'test/a.test.ts'), [])
})
