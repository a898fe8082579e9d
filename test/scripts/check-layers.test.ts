import test from 'ava'
import { checkLayers } from '../../scripts/check-layers.ts'
import { importsOf } from '../../scripts/imports-of.ts'

/** Checks a made-up tree of which git lists exactly the files given. */
const problemsIn = (tree: Readonly<Record<string, string>>): readonly string[] =>
  checkLayers(new Map(Object.entries(tree)), Object.keys(tree), [])

test('a tree that keeps to the table has no problem', t => {
  t.deepEqual(
    problemsIn({
      'kernel/base/errors/a.ts': "import { b } from './b.ts'",
      'kernel/base/errors/b.ts': '',
      'kernel/base/amount.ts': "import bigInt from 'big-integer'\nimport { a } from './errors/a.ts'",
      'kernel/base/disk-path.ts': "import type { Disk } from '../io/disk.ts'",
      'kernel/io/disk.ts': '',
      'kernel/sync/repo.ts':
        "import { text } from '../base/disk-path.ts'\nimport { box } from '../crypto/box.ts'",
      'kernel/types/t.ts': '',
      'kernel/crypto/box.ts': "import { gcm } from '@noble/ciphers/aes.js'",
      'kernel/plugin-api.ts': "export { box } from './crypto/box.ts'",
      'kernel/index.ts': "export * from './kernel.ts'",
      'kernel/kernel.ts': '',
      'plugins/currency/utxo/plugin.ts':
        "import { p } from '../../../kernel/plugin-api.ts'\nimport { t } from './t.ts'",
      'plugins/currency/utxo/t.ts': '',
      'plugins/storage/file/file.ts':
        "import { open } from 'node:fs/promises'\nimport { d } from '../keyv-disk.ts'",
      'plugins/storage/keyv-disk.ts': "import { Keyv } from 'keyv'",
      'fake-server/http/serve.ts': "import { w } from '../fake-world.ts'\nimport http from 'node:http'",
      'fake-server/fake-world.ts':
        "import { k } from '../kernel/index.ts'\nimport { b } from '../kernel/crypto/box.ts'",
      'test/kernel/a.test.ts':
        "import { a } from '../../kernel/base/errors/a.ts'\nimport { s } from '../../scripts/s.ts'",
      'scripts/s.ts': "export { b } from '../kernel/base/errors/b.ts'"
    }),
    []
  )
})

const refused: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
  [
    'a lower room imports a higher one',
    { 'kernel/types/a.ts': "import '../crypto/b.ts'" },
    /which is above it/
  ],
  ['a room imports one beside it', { 'kernel/crypto/a.ts': "import '../schema/b.ts'" }, /stands beside it/],
  [
    'a plugin imports another plugin',
    { 'plugins/rates/a/p.ts': "import '../b/p.ts'" },
    /may import only kernel\/plugin-api/
  ],
  [
    'a plugin imports the inside of the kernel',
    { 'plugins/swap/a.ts': "import '../../kernel/base/amount.ts'" },
    /may import only/
  ],
  [
    'the command line imports the inside of the kernel',
    { 'cli/a.ts': "import '../kernel/base/amount.ts'" },
    /may import only/
  ],
  ['the kernel imports Node', { 'kernel/io/a.ts': "import 'node:fs'" }, /kernel\/io may not import node:fs/],
  [
    'the kernel imports a user interface',
    { 'kernel/kernel.ts': "import { Box } from 'ink'" },
    /may not import ink/
  ],
  [
    'a second file of the kernel imports big-integer',
    { 'kernel/base/time.ts': "import b from 'big-integer'" },
    /big-integer/
  ],
  [
    'the page part of the fake server imports Node',
    { 'fake-server/a.ts': "import 'node:http'" },
    /node:http/
  ],
  [
    'the fake server imports its own HTTP part',
    { 'fake-server/a.ts': "import './http/b.ts'" },
    /may import only/
  ],
  [
    'a package is taken for another that begins alike',
    { 'kernel/schema/a.ts': "import 'yupp'" },
    /may not import yupp/
  ],
  [
    'a file passes on the exports of another',
    { 'kernel/io/a.ts': "export { b } from './b.ts'" },
    /re-export/
  ],
  ['a type is passed on', { 'kernel/io/a.ts': "export type { B } from './b.ts'" }, /re-export/],
  ['a file stands in no room', { 'kernel/helpers/a.ts': '' }, /does not name this room/],
  ['an import leads to no room', { 'kernel/io/a.ts': "import '../../helpers/b.ts'" }, /does not name/],
  [
    'an import is deferred',
    { 'kernel/types/a.ts': "const b = await import('../crypto/b.ts')" },
    /which is above it/
  ]
]

for (const [what, tree, problem] of refused) {
  test(`a problem is found when ${what}`, t => {
    const problems = problemsIn(tree)
    t.is(problems.length, 1)
    t.regex(problems[0] ?? '', problem)
  })
}

test('two folders that import each other are a problem unless they are listed, and so is an unneeded entry of the list', t => {
  const tree = {
    'kernel/plugins/a.ts': "import './engine/b.ts'",
    'kernel/plugins/c.ts': '',
    'kernel/plugins/engine/b.ts': "import '../c.ts'"
  }
  const pair = ['kernel/plugins', 'kernel/plugins/engine'] as const
  const check = (files: Readonly<Record<string, string>>, pairs: readonly (readonly [string, string])[]) =>
    checkLayers(new Map(Object.entries(files)), Object.keys(files), pairs)
  t.deepEqual(check(tree, []), ['kernel/plugins and kernel/plugins/engine import each other'])
  t.deepEqual(check(tree, [pair]), [])
  t.deepEqual(check({ 'kernel/plugins/a.ts': '' }, [pair]), [
    'kernel/plugins and kernel/plugins/engine no longer import each other: take them off the list'
  ])
})

test('a ring of imports is shown from end to end, also when it is of types only', t => {
  t.deepEqual(
    problemsIn({
      'kernel/io/a.ts': "import './b.ts'",
      'kernel/io/b.ts': "import type { C } from './c.ts'",
      'kernel/io/c.ts': "import './a.ts'"
    }),
    ['cycle: kernel/io/a.ts → kernel/io/b.ts → kernel/io/c.ts → kernel/io/a.ts']
  )
})

test('a file that git lists and that was not read is a problem, and so is an empty tree', t => {
  t.deepEqual(
    checkLayers(
      new Map([['kernel/base/time.ts', '']]),
      ['kernel/base/time.ts', 'kernel/io/io.ts', 'README.md'],
      []
    ),
    ['kernel/io/io.ts: git lists it, but it was not read']
  )
  t.deepEqual(checkLayers(new Map(), [], []), ['no file was read'])
})

test('imports are read from code, not from comments or text', t => {
  const text = [
    "// import 'commented'",
    "/* import 'blocked' */",
    `const url = 'https://x'; import "after-url"`,
    `const said = "import 'quoted'"`,
    'import {',
    '  many',
    "} from 'multi-line'",
    "import type { T } from 'typed'",
    "import 'bare'",
    "export * as all from 'passed-on'",
    "const lazy = import('lazy')"
  ].join('\n')
  t.deepEqual(
    importsOf(text).map(({ specifier, isReexport }) => `${specifier}${isReexport ? ' again' : ''}`),
    ['after-url', 'multi-line', 'typed', 'bare', 'passed-on again', 'lazy']
  )
})
