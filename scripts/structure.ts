import { posix } from 'node:path'
import { importsOf } from './imports-of.ts'
import type { FileTexts } from './project-files.ts'

/**
 * Puts the table of rooms and that of the paths between their marks of a page (pure).
 *
 * @param files - the sources to count, tests excluded
 * @throws Error if the page lacks a mark, or a path names a source that is not there
 */
export const withStructure = (page: string, files: FileTexts): string =>
  withBlock(withBlock(page, 'structure', structureTable(files)), 'paths', pathTable(page, files))

const withBlock = (page: string, name: string, table: string): string => {
  const begin = `<!-- ${name}: written by npm run docs -->`
  const [from, to] = [page.indexOf(begin), page.indexOf(`<!-- end of ${name} -->`)]
  if (from < 0 || to < from) throw new Error(`The page has no markers for the ${name} table`)
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`
}

/**
 * Counts the files in the table of each section `The path of …` of a page; a file that it names twice counts once (pure).
 *
 * @throws Error if a section names a source that is not there
 */
export const pathTable = (page: string, files: FileTexts): string => {
  const rows = page
    .split(/^## /m)
    .filter(section => section.startsWith('The path of '))
    .map(section => {
      const rows = section.split('\n').filter(line => line.startsWith('|'))
      const named = [...rows.join('\n').matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, path = '']) => path)
      const missing = named.find(path => !files.has(path))
      const title = section.slice('The path of '.length, section.indexOf('\n'))
      if (missing !== undefined)
        throw new Error(`The path of ${title} names ${missing}, which does not exist`)
      return `| ${title} | ${new Set(named).size} |`
    })
  return ['| The path of | Files |', '|---|---|', ...rows].join('\n')
}

/** Counts files, code lines, files with one user and repeated names for each room (pure). */
export const structureTable = (files: FileTexts): string => {
  const users = usersOf(files)
  const rooms = new Map<string, string[]>()
  for (const path of files.keys()) rooms.set(roomOf(path), [...(rooms.get(roomOf(path)) ?? []), path])
  const rows = [...rooms]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([room, paths]) => {
      const lines = paths.reduce((sum, path) => sum + codeLines(files.get(path) ?? ''), 0)
      const single = paths.filter(path => users.get(path)?.size === 1).length
      const cells = [
        `\`${room}\``,
        paths.length,
        Math.round(lines / paths.length),
        single,
        repeated(paths.flatMap(path => exportedNames(files.get(path) ?? ''))),
        repeated(paths.flatMap(path => fileNames('', path)))
      ]
      return `| ${cells.join(' | ')} |`
    })
  const [exports, names] = [namesOf(files, exportedNames), namesOf(files, fileNames)]
  return [
    '| Room | Files | Mean code lines | Files with one user | Exported names in two files | File names in two folders |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    `${acrossRooms(exports)} exported names and ${acrossRooms(names)} file names stand in two rooms or more.`
  ].join('\n')
}

/**
 * Finds the names that stand for two things (pure): within a room an exported name or a file name, and across the entries of
 * the package an exported name. The store of repos is left out until another one replaces it.
 *
 * @param files - the sources, tests excluded
 * @param entries - the sources of the package's entries; one that ends with `/` stands for all below it
 * @returns one sentence for each name
 */
export const repeatedNames = (files: FileTexts, entries: readonly string[]): readonly string[] => {
  const isChecked = ([room]: readonly [room: string, paths: readonly string[]]): boolean => room !== STORE
  const within = (kind: string, names: NameTable): readonly string[] =>
    [...names].flatMap(([name, rooms]) =>
      [...rooms]
        .filter(isChecked)
        .filter(([, paths]) => paths.length > 1)
        .map(([room, paths]) => `${room}: the ${kind} ${name} stands for two things: ${paths.join(', ')}`)
    )
  return [
    ...within('exported name', namesOf(files, exportedNames)),
    ...within('file name', namesOf(files, fileNames)),
    ...repeatedInEntries(files, entries)
  ]
}

/** A public name has one declaration, by whichever entries it comes. */
const repeatedInEntries = (files: FileTexts, entries: readonly string[]): readonly string[] => {
  const paths = [...files.keys()].filter(path =>
    entries.some(entry => (entry.endsWith('/') ? path.startsWith(entry) : path === entry))
  )
  const declared = new Map<string, Set<string>>()
  for (const path of paths)
    for (const [name, file] of declarationsIn(files, path))
      declared.set(name, (declared.get(name) ?? new Set()).add(file))
  return [...declared]
    .filter(([, places]) => places.size > 1)
    .map(([name, places]) => `the public name ${name} stands for two things: ${[...places].join(', ')}`)
}

const REEXPORT = /^export (?:type )?\{([^}]*)\} from '(\.[^']*)'/gm

/** What a file exports, each name with the file that declares it. */
const declarationsIn = (files: FileTexts, path: string): ReadonlyMap<string, string> => {
  const text = files.get(path) ?? ''
  const found = new Map(exportedNames(text).map(name => [name, path]))
  for (const [, list = '', specifier = ''] of text.matchAll(REEXPORT)) {
    const target = declarationsIn(files, posix.join(posix.dirname(path), specifier))
    for (const item of list.split(',')) {
      const [local, name = local] = item
        .trim()
        .replace(/^type /, '')
        .split(' as ')
      if (local === undefined || name === undefined || local === '') continue
      found.set(name, `${target.get(local) ?? specifier}${local === name ? '' : ` (${local})`}`)
    }
  }
  return found
}

/** The files that have a name, by name and room. */
type NameTable = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>

const namesOf = (files: FileTexts, namesIn: (text: string, path: string) => readonly string[]): NameTable => {
  const table = new Map<string, Map<string, string[]>>()
  for (const [path, text] of files)
    for (const name of namesIn(text, path)) {
      const rooms = table.get(name) ?? new Map<string, string[]>()
      rooms.set(roomOf(path), [...(rooms.get(roomOf(path)) ?? []), path])
      table.set(name, rooms)
    }
  return table
}

const acrossRooms = (names: NameTable): number =>
  [...names.values()].filter(rooms => [...rooms.keys()].filter(room => room !== STORE).length > 1).length

/** The name without its ending; each platform has an `index.ts`, which the package names as an entry. */
const fileNames = (_text: string, path: string): readonly string[] =>
  posix.basename(path) === 'index.ts' ? [] : [posix.basename(path).replace(/\.tsx?$/, '')]

const STORE = 'kernel/repo/store'

/** `kernel` is counted by its folders, and the store of repos apart from `kernel/repo`. */
const roomOf = (path: string): string => {
  if (path.startsWith('kernel/repo/store/')) return 'kernel/repo/store'
  const parts = path.split('/')
  return parts[0] === 'kernel' && parts.length > 2 ? parts.slice(0, 2).join('/') : (parts[0] ?? '')
}

const usersOf = (files: FileTexts): ReadonlyMap<string, ReadonlySet<string>> => {
  const users = new Map<string, Set<string>>()
  for (const [path, text] of files)
    for (const { specifier } of importsOf(text)) {
      const target = posix.join(posix.dirname(path), specifier)
      users.set(target, (users.get(target) ?? new Set()).add(path))
    }
  return users
}

/** Counts the lines of a source that hold code: no blank ones, no comments (pure). */
export const codeLines = (text: string): number =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .filter(line => line.trim() !== '' && !line.trim().startsWith('//')).length

const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|class|function\*?|interface|type) (\w+)/gm

/** A type beside a value of one name is one thing. */
const exportedNames = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(EXPORTED)].map(([, name = '']) => name))
]

const repeated = (names: readonly string[]): number =>
  new Set(names.filter((name, at) => names.indexOf(name) !== at)).size
