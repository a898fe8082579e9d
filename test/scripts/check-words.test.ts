import { readFileSync } from 'node:fs'
import test from 'ava'
import { checkGlossary, checkWords } from '../../scripts/check-words.ts'

const problemsIn = (files: Readonly<Record<string, string>>, paths: readonly string[] = []) =>
  checkWords(new Map(Object.entries(files)), paths, new Map([['cli/kept.ts askedAt', 'a key on the disk']]))

const KEPT = { 'cli/kept.ts': 'export const kept = { askedAt: 1 }' }

test('a retired word is found in each kind of name, with the word to use instead', t => {
  t.deepEqual(
    problemsIn({
      ...KEPT,
      'kernel/a.ts':
        'class A { #lastTold = 1; get(): unknown { return this.#lastTold } }\nexport const MAX_WISHES = 2',
      'test/b.test.tsx': 'const x = <Desk turns={1} />'
    }),
    [
      'kernel/a.ts: lastTold: the word told is retired; write notify, emit or report',
      'kernel/a.ts: MAX_WISHES: the word wishes is retired; write request, query or options',
      'test/b.test.tsx: Desk: the word desk is retired; write context',
      'test/b.test.tsx: turns: the word turns is retired; write mutex'
    ]
  )
})

test('a retired word is found in the names of files and folders', t => {
  t.deepEqual(problemsIn(KEPT, ['cli/way.ts', 'devtools/desk/rate-film.ts', 'kernel/repo/store/told.ts']), [
    'devtools/desk/rate-film.ts: the word desk is retired; write context',
    'devtools/desk/rate-film.ts: the word film is retired; write timeline'
  ])
})

test('texts, comments, longer words and the store are no problem', t => {
  t.deepEqual(
    problemsIn({
      ...KEPT,
      'cli/a.ts':
        "// Tells what was asked.\nexport const keyboard = 'told'\nexport const task = { 'ask-me': 1 }",
      'kernel/repo/store/told.ts': 'export const told = 1',
      'test/kernel/repo/store/told.test.ts': 'const told = 1'
    }),
    []
  )
})

test('a type of production code is no bag of parts, and an exception that is not needed is a problem', t => {
  t.deepEqual(
    problemsIn({ 'kernel/a.ts': 'interface WalletParts {}', 'test/a.ts': 'interface WalletParts {}' }),
    [
      'kernel/a.ts: WalletParts: name the type after what it is for: Options or Context',
      'cli/kept.ts askedAt: needs no exception in scripts/check-words.ts'
    ]
  )
})

test('the glossary has at most 60 words, none twice and none that is retired', t => {
  t.deepEqual(checkGlossary(readFileSync('docs/glossary.md', 'utf8')), [])
  const row = (word: string): string => `| ${word} | a thing |\n`
  const page = `| Word | Meaning |\n|---|---|\n${row('box')}${row('tap, box')}${row('rate desk')}`
  t.deepEqual(checkGlossary(page), [
    'docs/glossary.md: box stands there twice',
    'docs/glossary.md: the word desk is retired; write context'
  ])
  const long = Array.from({ length: 61 }, (_, at) => row(`word ${at}`)).join('')
  t.deepEqual(checkGlossary(long), ['docs/glossary.md: 61 words, and at most 60 may stand there'])
})
