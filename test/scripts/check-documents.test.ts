import { existsSync, readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { hookTable } from '../../kernel/plugins/hook-table.ts'
import { checkLinks } from '../../scripts/check-links.ts'
import { checkPackage } from '../../scripts/check-package.ts'
import { checkRequirements, type Requirements } from '../../scripts/check-requirements.ts'
import { stalePages } from '../../scripts/docs.ts'
import { errorPage } from '../../scripts/error-page.ts'
import { hookPages } from '../../scripts/hook-pages.ts'
import { requirementIdsOf, testTitlesOf } from '../../scripts/test-titles.ts'

const wanted = (complete: boolean): Requirements => ({
  areas: [
    { id: 'pin', title: 'PIN login', complete },
    { id: 'swap', title: 'Swaps', complete: false }
  ],
  requirements: [
    { id: '97.1', area: 'pin', text: 'A PIN | opens.' },
    { id: '97.2', area: 'pin', text: 'A wrong PIN does not.' },
    { id: '98.1', area: 'swap', text: 'Quotes come.' }
  ]
})

test('an id that the specification does not have is a problem that names the test', t => {
  const { problems } = checkRequirements(wanted(false), [
    { path: 'test/a.test.ts', title: 'opens [97.1] [99.9]' }
  ])
  t.deepEqual(problems, ['test/a.test.ts: "opens [97.1] [99.9]" names 99.9, which is unknown'])
})

test('the guides send the author of a plugin to no file that the package does not have', t => {
  const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly files: readonly string[] }
  const guides = ['first-plugin', 'write-a-plugin', 'hooks', 'plugins-in-a-page', 'store', 'errors']
  const pages = [
    ...guides.map(name => `docs/${name}.md`),
    ...readdirSync('docs/hooks').map(name => `docs/hooks/${name}`)
  ]
  const named = pages.flatMap(page =>
    [...readFileSync(page, 'utf8').matchAll(/`([a-z-]+\/[\w./-]+\.[a-z]+)`/g)].map(([, path = '']) => path)
  )
  t.true(named.length > 10)
  // Others are examples of what an author has.
  const ours = named.filter(path => existsSync(path))
  t.deepEqual(
    ours.filter(path => !files.some(each => path === each || path.startsWith(`${each}/`))),
    []
  )
})

test('an open sentence is a problem only in an area that is marked complete', t => {
  const titles = [{ path: 'test/a.test.ts', title: 'opens [97.1]' }]
  t.deepEqual(checkRequirements(wanted(false), titles).problems, [])
  t.deepEqual(checkRequirements(wanted(true), titles).problems, [
    'pin is marked complete, but 97.2 has no test: A wrong PIN does not.'
  ])
})

test('a list of requirements that contradicts itself, or is empty, is a problem', t => {
  const [row] = wanted(false).requirements
  t.truthy(row)
  if (row === undefined) return
  const broken = { areas: [], requirements: [row, row] }
  t.deepEqual(checkRequirements(broken, []).problems, [
    'requirement 97.1 is in the unknown area pin',
    'requirement 97.1 is listed twice',
    'requirement 97.1 is in the unknown area pin'
  ])
  t.deepEqual(checkRequirements({ areas: [], requirements: [] }, []).problems, ['no requirement was read'])
})

test('the page of coverage shows counts, titles and what is open', t => {
  const { page } = checkRequirements(wanted(false), [{ path: 'test/a.test.ts', title: 'opens [97.1]' }])
  t.true(page.includes('| [pin](#pin) | 1 of 2 | no |'))
  t.true(page.includes('| 97.1 | A PIN \\| opens. | opens [97.1] (`test/a.test.ts`) |'))
  t.true(page.includes('| 97.2 | A wrong PIN does not. | *open* |'))
})

test('titles are read from tests that run, whatever quotes and modifiers they have', t => {
  // Put together from parts, or the check would read these titles as our own.
  const call = 'te' + 'st'
  const text = [
    `${call}('single [97.1]', t => {})`,
    `${call}.serial("double [97.2]", t => {})`,
    `${call}(\n  \`template [98.1]\`,\n  t => {})`,
    `${call}('first ' +\n  'second', t => {})`,
    `${call}<Context>('typed', t => {})`,
    `${call}.skip('skipped', t => {})`,
    `${call}.todo('planned')`,
    `${call}.failing('broken', t => {})`,
    `// ${call}('commented', t => {})`,
    `/* ${call}('blocked', t => {}) */`
  ].join('\n')
  t.deepEqual(
    testTitlesOf(new Map([['a', text]])).map(({ title }) => title),
    ['single [97.1]', 'double [97.2]', 'template [98.1]', 'first second', 'typed']
  )
  t.deepEqual(requirementIdsOf('both [97.1, 97.2] and [98.1], not [x] nor [3]'), ['97.1', '97.2', '98.1'])
})

test('a link to a missing file or heading is a problem; web, mail and code are not links of ours', t => {
  const pages = new Map([
    [
      'README.md',
      '[a](docs/a.md) [b](docs/b.md) [c](docs/a.md#two-words) [d](docs/a.md#three) [e](https://x/y)'
    ],
    [
      'docs/a.md',
      '# Two words\n[up](../README.md) [out](../../secret.md) [here](#two-words) `[no](x.md)`\n```\n[no](y.md)\n```'
    ]
  ])
  t.deepEqual(
    checkLinks(pages, path => pages.has(path)),
    [
      'README.md: docs/b.md does not exist',
      'README.md: docs/a.md#three names a heading that does not exist',
      'docs/a.md: ../../secret.md does not exist'
    ]
  )
  t.deepEqual(
    checkLinks(new Map(), () => true),
    ['no Markdown file was read']
  )
})

test('the package may not name missing files or whole folders, install scripts or a lock without other platforms', t => {
  const manifest = {
    exports: { '.': { types: 'a.d.ts', default: 'a.js' }, './b': 'b.js', './c/*': 'c/*.js' },
    bin: { x: 'x.js' }
  }
  const lock = {
    packages: {
      'node_modules/hooked': { hasInstallScript: true },
      'node_modules/native': { optionalDependencies: { 'native-mac': '1', 'native-linux': '1' } },
      'node_modules/native-linux': {}
    }
  }
  t.deepEqual(
    checkPackage(manifest, lock, path => path === 'a.js'),
    [
      'package.json: ./c/* makes every file below it public; name each entry',
      'package.json: . names a.d.ts, which does not exist',
      'package.json: ./b names b.js, which does not exist',
      'package.json: x names x.js, which does not exist',
      'package-lock.json: node_modules/hooked has an install script',
      'package-lock.json lacks native-mac; run node scripts/complete-lock.mjs'
    ]
  )
})

test('a generated page that differs from its source or is missing is stale', t => {
  const pages = new Map([
    ['package.json', 'something else'],
    ['docs/absent.md', '']
  ])
  t.deepEqual(stalePages(process.cwd(), pages), [
    'package.json differs from its source; run npm run docs',
    'docs/absent.md differs from its source; run npm run docs'
  ])
})

test('the page of errors prints details as names in braces, and nothing of how it got them', t => {
  const page = errorPage()
  t.true(page.includes('| `INVALID_CHECKSUM` | `Error` | 50 | Invalid checksum |'))
  t.true(page.includes('missing or failed to load: {pluginIds}'))
  t.notRegex(page, /NaN|\[object|undefined|=>/)
})

test('the page of hooks has a row for each hook, with how it runs', t => {
  const page = hookPages('.').get('docs/hooks.md') ?? ''
  t.regex(page, /\| \[`makeEngine`\]\(hooks\/makeEngine\.md\) \| asked \| pluginId \| when a wallet opens/)
  t.regex(page, /\| \[`tapRan`\]\(hooks\/tapRan\.md\) \| observed \|/)
})

test('each hook has a page with its moment, its arguments, its answer, what a failure does, and an example', t => {
  const pages = hookPages('.')
  for (const name of Object.keys(hookTable)) {
    const page = pages.get(`docs/hooks/${name}.md`) ?? ''
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    t.deepEqual(headings, ['When', 'Arguments', 'May return', 'Time limit and failure', 'Example'], name)
    t.regex(page, new RegExp(`hooks\\.${name}\\.tap`), name)
    t.notRegex(page, /undefined of|\[object/, name)
  }
  const quotes = pages.get('docs/hooks/fetchQuotes.md') ?? ''
  t.regex(
    quotes,
    /\| `depositTo` \| `\(\): Promise<string>` \| An address of the receiving wallet, the same each time\. \|/
  )
  t.regex(quotes, /A tap may take 60 s/)
  t.regex(pages.get('docs/hooks/makeTools.md') ?? '', /\| `parseUri` \|/)
})
