import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { apiReports, apiTags, readApi, unnamedChanges } from '../../scripts/api-report.ts'

const ENTRIES = [
  'kernel/index',
  'kernel/plugin-api',
  'kernel/observer-api',
  'testing/index',
  'platform/node/index',
  'cells/node/open-cells',
  'platform/browser/index',
  'cells/browser/open-page-cells'
]

/** The API of a package whose declaration files have these texts; the others are empty. */
const apiOf = (t: ExecutionContext, files: Readonly<Record<string, string>>): ReturnType<typeof readApi> => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  const texts = { ...Object.fromEntries(ENTRIES.map(path => [path, 'export {}\n'])), ...files }
  for (const [path, text] of Object.entries(texts)) {
    const file = join(root, `dist/${path}.d.ts`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return readApi(root)
}

const BEFORE = {
  'kernel/types/shop': [
    'interface Inner { readonly SHUT: string }',
    'export interface Shop { readonly name: string; open(): Promise<Inner> }',
    'export declare const buy: (shop: Shop) => void',
    'export type Price = string',
    ''
  ].join('\n'),
  'kernel/index': "export { buy, type Price, type Shop } from './types/shop.ts'\n",
  'kernel/plugin-api': "export type { Shop } from './types/shop.ts'\n"
}

const changed = (from: string, to: string): Readonly<Record<string, string>> => ({
  ...BEFORE,
  'kernel/types/shop': BEFORE['kernel/types/shop'].replace(from, to)
})

/** A changelog whose next version says this; an older one names everything. */
const changelog = (text: string): string =>
  `# Changelog\n\n## Unreleased\n\n${text}\n\n## 0.1.0\n\n- \`Shop.name\`, \`Shop.close\`, \`buy\`, \`Price\`, \`SHUT\`\n`

test('the report lists exports and their members, and names what another entry has already', t => {
  const reports = apiReports(apiOf(t, BEFORE))
  t.deepEqual(reports.get('docs/api/holdfast.txt')?.split('\n').slice(3), [
    'export Price: type Price = string',
    'export Shop: interface Shop',
    '  readonly name: string',
    '  open(): Promise<Inner>',
    'export buy: declare const buy: (shop: Shop) => void',
    'uses Inner: interface Inner',
    '  readonly SHUT: string',
    ''
  ])
  t.deepEqual(reports.get('docs/api/holdfast-plugin.txt')?.split('\n').slice(3), [
    'export Shop: as in holdfast',
    ''
  ])
})

test('a comment, and a move to another file, change nothing of the report', t => {
  const api = apiOf(t, BEFORE)
  const moved = apiOf(t, {
    'kernel/deep/store': `/** Sells. */\n${BEFORE['kernel/types/shop'].replace('readonly name', '/** Its name. */ readonly name')}`,
    'kernel/index': "export * from './deep/store.ts'\n",
    'kernel/plugin-api': "export type { Shop } from './deep/store.ts'\n"
  })
  t.deepEqual([...apiReports(moved)], [...apiReports(api)])
  t.deepEqual(unnamedChanges(moved, apiTags(api), changelog('')), [])
})

const CHANGES: readonly (readonly [what: string, from: string, to: string, line: string, named: string])[] = [
  [
    'a new member',
    'readonly name: string;',
    'readonly name: string; close(): void;',
    'Shop.close of holdfast was added',
    '`shop.close()` shuts it'
  ],
  ['a member that goes', 'readonly name: string;', '', 'Shop.name of holdfast was removed', 'no `Shop.name`'],
  [
    'a member of another type',
    'name: string;',
    'name?: string;',
    'Shop.name of holdfast was changed',
    '`Shop.name` may be absent'
  ],
  ['a function', '(shop: Shop) => void', '() => void', 'buy of holdfast was changed', '`buy` takes no shop'],
  ['a type', 'Price = string', 'Price = number', 'Price of holdfast was changed', '`Price` is a number'],
  [
    'what an export uses',
    'SHUT: string',
    'SHUT: string; readonly LATE: string',
    'Inner.LATE of holdfast was added',
    'new code `LATE`'
  ],
  [
    'what an export uses, named by that export',
    'SHUT: string',
    'SHUT: number',
    'Inner.SHUT of holdfast was changed',
    '`Shop` opens later'
  ]
]

for (const [what, from, to, line, named] of CHANGES) {
  test(`the check of the API finds ${what}, until the next version in the changelog names it`, t => {
    const tags = apiTags(apiOf(t, BEFORE))
    const after = apiOf(t, changed(from, to))
    const [problem = '', ...others] = unnamedChanges(after, tags, changelog('- `Shopper.closed` and name'))
    t.deepEqual(others, [])
    t.true(problem.startsWith(`${line}; name \``), problem)
    t.deepEqual(unnamedChanges(after, tags, changelog(`- ${named}.`)), [])
  })
}

test('an export that comes or goes is named once, and its members need no names', t => {
  const tags = apiTags(apiOf(t, BEFORE))
  const without = apiOf(t, { ...BEFORE, 'kernel/plugin-api': 'export {}\n' })
  t.is(unnamedChanges(without, tags, changelog('')).length, 1)
  const more = apiOf(t, { ...BEFORE, 'testing/index': 'export interface Till { a: 1; b: 2 }\n' })
  t.deepEqual(
    unnamedChanges(more, tags, changelog('')).map(line => line.split(';')[0]),
    ['Till of holdfast/testing was added']
  )
})

test('the API of this tree is the same each time that it is read', t => {
  const reports = [...apiReports(readApi('.'))]
  t.deepEqual(reports, [...apiReports(readApi('.'))])
  for (const [path, text] of reports) t.is(readFileSync(path, 'utf8'), text, path)
})
