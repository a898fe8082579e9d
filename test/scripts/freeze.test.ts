import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { assertionsOf, lostAssertions } from '../../scripts/freeze/assertions.ts'
import { declarationsOf } from '../../scripts/freeze/declarations.ts'
import { shapeOf } from '../../scripts/freeze/shape.ts'

const declared = (t: ExecutionContext, files: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'deep'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return declarationsOf(join(folder, 'index.d.ts'))
}

test('declarations are the same wherever they stand, and tell a member that changed', t => {
  const before = declared(t, {
    'index.d.ts': "export * from './a.ts';\nexport { type B as Bee } from './deep/b.ts';\n",
    'a.d.ts':
      "import type { Inner } from './deep/b.ts';\n/** Says. */\nexport declare const say: (it: Inner) => void;\n",
    'deep/b.d.ts': 'export interface B { readonly b: string }\nexport interface Inner { i: number }\n'
  })
  t.is(
    before,
    [
      'export Bee: interface B { readonly b: string }',
      'export say: declare const say: (it: Inner) => void;',
      'uses Inner: interface Inner { i: number }',
      ''
    ].join('\n')
  )
  const moved = declared(t, {
    'index.d.ts':
      'interface Inner { i: number }\ninterface B {\n  // its b\n  readonly b: string }\nexport declare const say: (it: Inner) => void;\nexport type { B as Bee };\n'
  })
  t.is(moved, before)
  t.not(declared(t, { 'index.d.ts': 'export interface Bee { readonly b?: string }' }), before)
})

test('a constructor that takes what is not exported is the package’s own', t => {
  const text = declared(t, {
    'index.d.ts':
      'interface Parts { x: 1 }\nexport declare class A { constructor(parts: Parts); }\nexport declare class B { constructor(x: number); }\n'
  })
  t.regex(text, /class A \{ constructor\(internal\); \}/)
  t.regex(text, /class B \{ constructor\(x: number\); \}/)
  t.notRegex(text, /uses Parts/)
})

test('an assertion may move and take new names, and is missed when it goes', t => {
  const old = new Map([
    ['a.test.ts', "test('a', t => { t.is(oldName(1), 2); t.is(oldName(1), 2); failed(t, run, 'CODE') })"]
  ])
  const renames = new Map([['oldName', 'newName']])
  const before = assertionsOf(old, renames)
  const kept = "test('b', t => { t.is(\n newName(1),\n 2) ; failed(t, run, 'CODE',) })"
  t.deepEqual(lostAssertions(before, assertionsOf(new Map([['c.test.tsx', kept]]), new Map())), [
    '1 × t.is(newName(1),2)'
  ])
  t.deepEqual(lostAssertions(before, before), [])
})

test('a member has a rename of its own, and a whole call can stand for another', t => {
  const old = new Map([
    ['a.test.ts', "test('a', t => { t.is(box.take(take), 1); t.is(store(disk, 'a'), 'b') })"]
  ])
  const renames = new Map([
    ['.take', '.run'],
    ["t.is(store(disk,'a'),'b')", "t.is(disk.store('a'),'b')"]
  ])
  const now = new Map([
    ['a.test.ts', "test('a', t => { t.is(box.run(take), 1); t.is(disk.store('a'), 'b') })"]
  ])
  t.deepEqual(lostAssertions(assertionsOf(old, renames), assertionsOf(now, new Map())), [])
  t.is(lostAssertions(assertionsOf(old, new Map()), assertionsOf(now, new Map())).length, 2)
})

test('a shape tells names and kinds, and no contents', t => {
  t.is(
    shapeOf({ data_base64: 'x', list: [1, 'a', 2], 'Keys/x.json': null, other: {} }),
    '{<key>: null, data_base64: string, list: [number | string], other: {}}'
  )
})

test('a name of the tests below one path is mapped there alone, and never inside a text', t => {
  const renames = new Map([
    ['test/:told', 'reported'],
    ['test/cli/:told', 'printed']
  ])
  const text = "t.is(told, 'told')"
  t.deepEqual(
    ['test/a.test.ts', 'test/cli/a.test.ts', 'bench/a.ts'].flatMap(path => [
      ...assertionsOf(new Map([[path, text]]), renames).keys()
    ]),
    ["t.is(reported,'told')", "t.is(printed,'told')", "t.is(told,'told')"]
  )
})
