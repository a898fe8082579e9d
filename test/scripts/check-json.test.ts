import test from 'ava'
import { checkJson } from '../../scripts/check-json.ts'

const problemsIn = (files: Readonly<Record<string, string>>): readonly string[] =>
  checkJson(new Map(Object.entries(files)))

test('unbounded parsing of foreign JSON is found, in each folder that handles such JSON', t => {
  for (const path of [
    'kernel/a.ts',
    'plugins/rates/b.ts',
    'platform/node/c.ts',
    'cli/d.ts',
    'devtools/react/e.tsx'
  ])
    for (const line of ['const a = JSON.parse(text)', 'texts.map(JSON.parse)', 'await reply.json()'])
      t.deepEqual(problemsIn({ [path]: line }), [
        `${path}: parses JSON without a bound; use parseJsonText or parseJson`
      ])
})

test('a copy, a comment, a test and the reader itself are no problem, and an exception that is not needed is one', t => {
  t.deepEqual(
    problemsIn({
      'kernel/a.ts':
        '/** As `JSON.parse` has it. */\n// JSON.parse(x)\nconst copy = JSON.parse(JSON.stringify(value))',
      'kernel/base/json.ts': 'return JSON.parse(text)',
      'test/a.test.ts': 'JSON.parse(text)'
    }),
    []
  )
  t.deepEqual(problemsIn({ 'kernel/base/json.ts': '' }), [
    'kernel/base/json.ts: needs no exception in scripts/check-json.ts'
  ])
})
