import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AcceptedChange, compareDeclarations, staleAcceptedChanges } from './compare-declarations.ts'
import type { ReachableDeclaration } from './declarations.ts'
import { withNewNames } from './renames.ts'
import { type OldType, sameTypes } from './same-types.ts'

export interface RecordOptions {
  /** The folder with the record of the other commit, and the one with the record of this tree. */
  readonly base: string
  readonly now: string
  readonly renames: ReadonlyMap<string, string>
  readonly accepted: readonly AcceptedChange[]
  /** Finds the present declarations of all export paths; called only if a declaration changed. */
  readonly declarations: () => readonly ReachableDeclaration[]
  /** Where {@link sameTypes} may write. */
  readonly folder: string
}

export interface RecordDifferences {
  /** What went or changed, a line for each difference. */
  readonly differences: readonly string[]
  /** The names of exports that the other commit does not have. They break nothing. */
  readonly added: readonly string[]
}

/** Compares the record of another commit with that of this tree; old names are read as the new ones. */
export const compareRecords = (options: RecordOptions): RecordDifferences => {
  const { base, now, renames, accepted } = options
  const names = readdirSync(base).filter(name => name.endsWith('.txt'))
  const texts = names
    .filter(name => !name.endsWith(DECLARATIONS))
    .flatMap(name =>
      textDifferences(name, withNewNames(readFileSync(join(base, name), 'utf8'), renames), readOf(now, name))
    )
  const paths = names.filter(name => name.endsWith(DECLARATIONS)).map(exportPathOf)
  const types = typeDifferences(paths, options)
  const records = readdirSync(now)
    .filter(name => name.endsWith(DECLARATIONS))
    .map(name => readFileSync(join(now, name), 'utf8'))
  return {
    differences: [...texts, ...types.differences, ...staleAcceptedChanges(accepted, records)],
    added: types.added
  }
}

const DECLARATIONS = '.d.txt'

/** The name of the file with the declarations of an export path such as `holdfast/plugin`. */
export const declarationFileOf = (path: string): string => `${path.replaceAll('/', '_')}${DECLARATIONS}`

const exportPathOf = (name: string): string => name.slice(0, -DECLARATIONS.length).replaceAll('_', '/')

const readOf = (folder: string, name: string): string | undefined => {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

const typeDifferences = (
  paths: readonly string[],
  { base, now, renames, accepted, declarations, folder }: RecordOptions
): RecordDifferences => {
  const gone: string[] = []
  const added = new Set<string>()
  const changed: (OldType & { readonly path: string; readonly now?: string })[] = []
  for (const path of paths) {
    const current = readOf(now, declarationFileOf(renames.get(path) ?? path))
    if (current === undefined) {
      gone.push(`${path}: gone`)
      continue
    }
    const old = withNewNames(readFileSync(join(base, declarationFileOf(path)), 'utf8'), renames, path)
    const found = compareDeclarations(old, current, accepted)
    for (const name of found.added) added.add(name)
    changed.push(...found.changed.map(change => ({ ...change, path })))
  }
  const isWritten = new Map(changed.map(change => [textOf(change), change]))
  const same = new Set(
    isWritten.size === 0 ? [] : sameTypes([...isWritten.values()], declarations(), folder).map(textOf)
  )
  const differences = changed
    .filter(change => !same.has(textOf(change)))
    .flatMap(({ path, name, before, now: next }) => [
      `- ${path} ${name}: ${before}`,
      ...(next === undefined ? [] : [`+ ${path} ${name}: ${next}`])
    ])
  return { differences: [...gone, ...differences], added: [...added].sort() }
}

const textOf = ({ name, before }: OldType): string => `${name}: ${before}`

/** The lines that one of two records has and the other lacks, without regard to their order where that says nothing. */
const textDifferences = (name: string, before: string, now: string | undefined): readonly string[] => {
  if (now === undefined) return [`${name}: gone`]
  const [old, next] = [before, now].map(text => partsOf(name, text)) as [readonly string[], readonly string[]]
  const rest = new Set(next)
  const had = new Set(old)
  return [
    ...old.filter(part => !rest.has(part)).map(part => `- ${name}: ${part}`),
    ...next.filter(part => !had.has(part)).map(part => `+ ${name}: ${part}`)
  ]
}

const partsOf = (name: string, text: string): readonly string[] => {
  if (name === 'commands.txt' || name === 'profile.txt') return text.split('\n\n').map(part => part.trim())
  return name === 'hooks.txt' ? hookRows(text) : text.split('\n')
}

/** Reads the page of the hooks without its prose: of each hook its name, kind and key, who taps it, and its time limit. */
const hookRows = (page: string): readonly string[] =>
  page
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line => {
      const [hook, kind, key, , , tappedBy, limit] = line.slice(2, -2).split(' | ')
      return [hook, kind, key, tappedBy, limit].join(' | ')
    })
