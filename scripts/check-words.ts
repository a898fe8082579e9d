import { parseAst } from 'rolldown/parseAst'
import type { FileTexts } from './project-files.ts'

/** Retired words, each with the words to use instead. A word counts as a part of a name: `told` is in `lastTold`. */
const RETIRED: ReadonlyMap<string, string> = new Map(
  (
    [
      ['wish wishes', 'request, query or options'],
      ['desk desks', 'context'],
      ['lane lanes', 'provider state'],
      ['board', 'quote list'],
      ['voice inbox', 'callbacks, callback handler or reporter'],
      ['breather', 'yielder'],
      ['flying', 'in flight'],
      ['doubt doubts believe', 'suspend or resume checkpoints'],
      ['doubtful suspect', 'needs recovery'],
      ['living', 'live'],
      ['graft grafted', 'import'],
      ['proven', 'verified'],
      ['tell tells telling told untold', 'notify, emit or report'],
      ['hear hears heard unheard', 'on…, handle, receive or report'],
      ['ask asks asked asking asker unasked', 'request, query, fetch or prompt'],
      ['act acts actor', 'run an action, action handler'],
      ['talk talks', 'status line or exchange'],
      ['shelf shelves', 'cache or store'],
      ['appraiser', 'valuation'],
      ['film', 'timeline'],
      ['manners mood', 'behaviour or rate limit'],
      ['trouble troubles', 'fault'],
      ['chance chances', 'random'],
      ['purse purses', 'test wallet'],
      ['steer steers steering', 'control']
    ] as const
  ).flatMap(([words, instead]) => words.split(' ').map(word => [word, instead] as const))
)

/** Retired words that are English in a longer name; they count as a whole name. */
const RETIRED_WHOLE: ReadonlyMap<string, string> = new Map([
  ['turns', 'mutex'],
  ['kits', 'changes'],
  ['took', 'duration'],
  ['everything', 'all, or what it is'],
  ['driver', 'control'],
  ['waysIn', 'methods'],
  ['settleAll', 'allSettledOrThrow'],
  ['firstWhere', 'lowerBound']
])

/** A type of production code that only carries the fields of a class is named after what it is for. */
const BAG = /^[A-Z]\w*(?:Parts|Place|Desk)$/
const PRODUCTION = /^(?:kernel|plugins|platform|app|cells|cli|devtools|fake-server|testing)\//

/** Names that stay, by file and name, each with the reason. */
const wordExceptions: ReadonlyMap<string, string> = new Map([
  ['devtools/core/model/snapshot-fields.ts asked', 'a state in the snapshots of rate providers'],
  ['devtools/core/model/snapshot-fields.ts asking', 'a stage in the snapshots of logins'],
  ['devtools/core/model/snapshot-fields.ts proven', 'a grade of balances and transactions'],
  ['devtools/react/panels/route-tables.tsx asked', 'a state in the snapshots of rate providers'],
  ['kernel/plugins/dispatch.ts asked', 'a kind of hook, as docs/hooks.md names it'],
  ['kernel/plugins/hooks.ts asked', 'a kind of hook, as docs/hooks.md names it'],
  ['scripts/hook-pages.ts asked', 'a kind of hook, as docs/hooks.md names it'],
  ['* asks', 'what a plugin wants, as `plugins add` shows it'],
  ['* doubtfulCount', 'a field in the snapshots of repos'],
  ['cli/output/wallet-texts.ts doubtful', 'a field of the repos in --json'],
  ['cli/swap/kept-quotes.ts askedAt', 'a key on the disk']
])

const CODE =
  /^(?:kernel|plugins|platform|app|cells|cli|devtools|fake-server|testing|test|bench|examples|scripts)\//

/** The local store is left as it is until another one replaces it. */
const LEFT_OUT = /^(?:test\/)?kernel\/repo\/store\//

/**
 * Finds retired words in the identifiers of sources and tests and in the names of files and folders (pure).
 *
 * What stands in texts and comments does not count: there "ask" and "tell" are English.
 *
 * @param files - the sources to read
 * @param paths - the paths of all files of the project
 * @returns one sentence for each name in a file, for each path, and for each exception that is not needed
 */
export const checkWords = (
  files: FileTexts,
  paths: readonly string[],
  exceptions: ReadonlyMap<string, string> = wordExceptions
): readonly string[] => {
  const problems = new Set<string>()
  const needed = new Set<string>()
  for (const [path, text] of files) {
    if (LEFT_OUT.test(path)) continue
    for (const name of identifiersOf(text, path)) {
      const problem = problemOf(name, PRODUCTION.test(path))
      if (problem === undefined) continue
      const exception = [`${path} ${name}`, `* ${name}`].find(key => exceptions.has(key))
      if (exception === undefined) problems.add(`${path}: ${name}: ${problem}`)
      else needed.add(exception)
    }
  }
  for (const path of paths)
    if (CODE.test(path) && !LEFT_OUT.test(path))
      for (const word of path.split(/[/.\-_]/))
        if (RETIRED.has(word)) problems.add(`${path}: ${sentenceOf(word, RETIRED.get(word) ?? '')}`)
  const idle = [...exceptions.keys()].filter(key => !needed.has(key))
  return [...problems, ...idle.map(key => `${key}: needs no exception in scripts/check-words.ts`)]
}

const MAX_ENTRIES = 60

/**
 * Finds what is wrong with the glossary (pure): more than 60 words, one that stands there twice, and retired ones.
 *
 * @param page - the text of `docs/glossary.md`
 */
export const checkGlossary = (page: string): readonly string[] => {
  const entries = [...page.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)]
    .map(([, word = '']) => word)
    .filter(word => word !== 'Word' && !/^-+$/.test(word))
  const words = entries.flatMap(entry => entry.split(', '))
  return [
    ...(entries.length > MAX_ENTRIES
      ? [`docs/glossary.md: ${entries.length} words, and at most ${MAX_ENTRIES} may stand there`]
      : []),
    ...words
      .filter((word, at) => words.indexOf(word) !== at)
      .map(word => `docs/glossary.md: ${word} stands there twice`),
    ...words
      .flatMap(word => word.toLowerCase().split(/[ -]/))
      .filter(word => RETIRED.has(word))
      .map(word => `docs/glossary.md: ${sentenceOf(word, RETIRED.get(word) ?? '')}`)
  ]
}

const problemOf = (name: string, isProduction: boolean): string | undefined => {
  const whole = RETIRED_WHOLE.get(name)
  if (whole !== undefined) return sentenceOf(name, whole)
  const word = wordsOf(name).find(part => RETIRED.has(part))
  if (word !== undefined) return sentenceOf(word, RETIRED.get(word) ?? '')
  return isProduction && BAG.test(name) ? 'name the type after what it is for: Options or Context' : undefined
}

const sentenceOf = (word: string, instead: string): string => `the word ${word} is retired; write ${instead}`

/** `lastTold` gives `last` and `told`, `MAX_WISHES` gives `max` and `wishes`. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _$]+/)

const identifiersOf = (text: string, path: string): ReadonlySet<string> => {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item)
      return
    }
    if (typeof value !== 'object' || value === null) return
    const { type, name } = value as { readonly type?: unknown; readonly name?: unknown }
    if (typeof type === 'string' && /Identifier$/.test(type) && typeof name === 'string') names.add(name)
    for (const item of Object.values(value)) visit(item)
  }
  visit(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }))
  return names
}
