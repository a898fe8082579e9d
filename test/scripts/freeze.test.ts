import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { assertionsOf, lostAssertions } from '../../scripts/freeze/assertions.ts'
import { compareDeclarations, staleAcceptedChanges } from '../../scripts/freeze/compare-declarations.ts'
import { compareRecords } from '../../scripts/freeze/compare-records.ts'
import { declarationsOf, reachableDeclarations } from '../../scripts/freeze/declarations.ts'
import { withNewNames } from '../../scripts/freeze/renames.ts'
import { sameTypes } from '../../scripts/freeze/same-types.ts'
import { shapeOf } from '../../scripts/freeze/shape.ts'

const declared = (t: ExecutionContext, files: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'deep'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return declarationsOf(join(folder, 'index.d.ts'))
}

test('declarations are equal in any file, and a changed member is reported', t => {
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

test('a member has its own rename, and a whole call can replace another', t => {
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

test('a shape holds names and kinds, and no contents', t => {
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

const changedNames = (before: string, now: string): readonly string[] =>
  compareDeclarations(before, now, []).changed.map(({ name }) => name)

test('a type of ids is the same as string, and a parameter may have another name', t => {
  const before = 'export find: declare const find: (id: string, { x }: Options) => void;\n'
  const now = [
    "export Txid: type Txid = Flavoured<'Txid'>;",
    'export find: declare const find: (txid: Txid, options: Options) => void;',
    ''
  ].join('\n')
  t.deepEqual(compareDeclarations(before, now, []), { changed: [], added: [] })
  t.deepEqual(changedNames(before, now.replace('options: Options', 'options?: Options')), ['find'])
  t.deepEqual(changedNames(before, now.replace('options: Options', '...options: Options')), ['find'])
  t.deepEqual(changedNames(before, now.replace('txid: Txid', 'txid: number')), ['find'])
})

test('a declaration may become public or go unused, and an export may not go', t => {
  const before =
    'export a: interface a { x: 1 }\nuses b: interface b { y: 1 }\nuses c: interface c { z: 1 }\n'
  const now = 'export a: interface a { x: 1 }\nexport b: interface b { y: 1 }\n'
  t.deepEqual(compareDeclarations(before, now, []), { changed: [], added: ['b'] })
  t.deepEqual(compareDeclarations(now, before, []).changed, [
    { name: 'b', before: 'interface b { y: 1 }', now: 'interface b { y: 1 }' }
  ])
  t.deepEqual(changedNames(before, before.replace('z: 1', 'z: 2')), ['c'])
})

test('an accepted change covers one member of one declaration, and has to show today', t => {
  const accepted = [{ in: 'A', before: 'x: 1;', now: 'y: 1;', why: 'a better name' }]
  const before = 'export A: interface A { x: 1; z: 1; }\nexport B: interface B { x: 1; }\n'
  const now = 'export A: interface A { y: 1; z: 1; }\nexport B: interface B { x: 1; }\n'
  t.deepEqual(compareDeclarations(before, now, accepted).changed, [])
  t.is(compareDeclarations(before, now.replace('z: 1', 'z: 2'), accepted).changed.length, 1)
  t.is(compareDeclarations(before, now.replace('B { x', 'B { y'), accepted).changed.length, 1)
  t.deepEqual(staleAcceptedChanges(accepted, [now]), [])
  t.deepEqual(staleAcceptedChanges(accepted, [before]), ['accepted.json: A has no "y: 1;"'])
})

test('a name below one export path is mapped there alone, and a generic type apart from another', t => {
  const renames = new Map([
    ['holdfast/devtools:Channel<', 'PanelChannel<'],
    ['holdfast/fake-server:Coin', 'ChainCoin']
  ])
  const text = 'Channel<A> Channel Coin'
  t.is(withNewNames(text, renames, 'holdfast/devtools/core'), 'PanelChannel<A> Channel Coin')
  t.is(withNewNames(text, renames, 'holdfast/fake-server'), 'Channel<A> Channel ChainCoin')
  t.is(withNewNames(text, renames), text)
})

test('the compiler says if a type that is written in another way is the same', t => {
  mkdirSync(join(process.cwd(), '.build'), { recursive: true })
  const folder = mkdtempSync(join(process.cwd(), '.build', 'freeze-test-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'index.d.ts'),
    "export interface Table { readonly a: 1; readonly b: 2 }\nexport type A = Pick<Table, 'a'>\nexport type B = Pick<Table, 'b'>\n"
  )
  const old = [
    { name: 'A', before: 'interface A { readonly a: 1; }' },
    { name: 'B', before: 'interface B { b: 2; }' },
    { name: 'B', before: 'interface B { readonly b: 2; readonly c?: 3; }' },
    { name: 'Gone', before: 'type Gone = 1;' }
  ]
  const known = reachableDeclarations(join(folder, 'index.d.ts'))
  t.deepEqual(sameTypes(old, known, join(folder, 'types')), old.slice(0, 1))
})

test('records differ by what went or changed; the words about hooks say nothing', t => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const hooks = '# Hooks\n| `ready` | gathered |  | at the start | nothing | all | 30 s |\n'
  const write = (side: string, files: Readonly<Record<string, string>>): void => {
    mkdirSync(join(folder, side), { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, side, name), text)
  }
  const compared = () =>
    compareRecords({
      ...{ base: join(folder, 'base'), now: join(folder, 'now'), accepted: [] },
      renames: new Map([
        ['old', 'new'],
        ['holdfast/old', 'holdfast/new']
      ]),
      declarations: () => [],
      folder: join(folder, 'types')
    })
  const declaration = 'export a: declare const a: 1;\n'
  write('base', { 'hooks.txt': hooks, 'wire.txt': 'old\n', 'holdfast_old.d.txt': declaration })
  write('now', {
    ...{ 'hooks.txt': hooks.replace('at the start', 'once'), 'wire.txt': 'new\n' },
    'holdfast_new.d.txt': `${declaration}export b: declare const b: 1;\n`
  })
  t.deepEqual(compared(), { differences: [], added: ['b'] })
  write('now', {
    ...{ 'hooks.txt': hooks.replace('30 s', '5 s'), 'wire.txt': 'newer\n' },
    'holdfast_new.d.txt': declaration.replace('1', '2')
  })
  t.deepEqual(compared().differences, [
    '- hooks.txt: `ready` | gathered |  | all | 30 s',
    '+ hooks.txt: `ready` | gathered |  | all | 5 s',
    '- wire.txt: new',
    '+ wire.txt: newer',
    '- holdfast/old a: declare const a: 1;',
    '+ holdfast/old a: declare const a: 2;'
  ])
  rmSync(join(folder, 'now', 'holdfast_new.d.txt'))
  t.true(compared().differences.includes('holdfast/old: gone'))
})
