import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** Where an exported name is declared. */
interface Declared {
  readonly file: string
  readonly local: string
}

/** The parts of a syntax tree that are read here. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

interface ModuleFacts {
  readonly text: string
  /** Declarations by name; a function with overloads, and a type beside a value of one name, have several. */
  readonly declarations: ReadonlyMap<string, readonly SyntaxNode[]>
  readonly imports: ReadonlyMap<string, Declared>
  readonly exports: ReadonlyMap<string, Declared>
  readonly stars: readonly string[]
}

/**
 * Lists what a declaration file exports, each name with its whole declaration, and below them the declarations of what
 * these use and do not export. Comments, files and their order leave no trace, so that only a change that a user of the
 * package could notice shows.
 *
 * @param entry - the path of a `.d.ts` file that `npm run build` has emitted
 * @returns a line for each name, sorted
 */
export const declarationsOf = (entry: string): string => {
  const lines = reachableDeclarations(entry).map(
    ({ name, isPublic, body }) =>
      `${isPublic ? 'export' : 'uses'} ${name}: ${body === '' ? 'another package' : body}`
  )
  return `${[...new Set(lines)].sort().join('\n')}\n`
}

/** A declaration that a user of an entry meets, exported or used by what is. */
export interface ReachableDeclaration {
  readonly name: string
  readonly isPublic: boolean
  /** The path of the `.d.ts` file that declares it, or the name of another package. */
  readonly file: string
  /** Its name there. */
  readonly local: string
  /** The whole declaration without comments; empty for a name of another package. */
  readonly body: string
}

/** Finds the exports of an entry and what their declarations use. `entry` is as in {@link declarationsOf}. */
export const reachableDeclarations = (entry: string): readonly ReachableDeclaration[] => {
  const read = moduleReader()
  const exported = exportsOf(entry, read)
  const found: ReachableDeclaration[] = []
  const seen = new Set<string>()
  const queue = [...exported].map(([name, declared]) => ({ name, declared, isPublic: true }))
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
    const { name, declared, isPublic } = item
    const { file, local } = resolveLocal(declared, read)
    const key = `${file} ${local} ${isPublic ? name : ''}`
    if (seen.has(key)) continue
    seen.add(key)
    const { text, declarations, imports } = read(file)
    const nodes = declarations.get(local) ?? []
    const isHere = (word: string): boolean => declarations.has(word) || imports.has(word)
    const isInside = (word: string): boolean => isHere(word) && !exported.has(word)
    const body = nodes
      .map(node => plainText(text.slice(node.start, node.end)))
      .join(' ; ')
      .replace(CONSTRUCTOR, match => (wordsOf(match).some(isInside) ? 'constructor(internal);' : match))
    const origin = nodes.length === 0 ? imports.get(local) : undefined
    found.push({ name, isPublic, ...(origin ?? { file, local }), body })
    for (const word of new Set(wordsOf(body))) {
      if (word === local || !isInside(word)) continue
      queue.push({ name: word, declared: { file, local: word }, isPublic: false })
    }
  }
  return found
}

/** An export of a declaration file, at the place where it is declared. */
export interface PublicDeclaration {
  readonly name: string
  /** The path of the `.d.ts` file that declares it. */
  readonly file: string
  /** The text of this file, which the positions of the nodes refer to. */
  readonly text: string
  /** Several for overloads, and for a type beside a value; none for a name of another package. */
  readonly nodes: readonly SyntaxNode[]
}

/** Lists what a declaration file exports, each name where it is declared. `entry` is as in {@link declarationsOf}. */
export const publicDeclarations = (entry: string): readonly PublicDeclaration[] => {
  const read = moduleReader()
  return [...exportsOf(entry, read)].map(([name, declared]) => {
    const { file, local } = resolveLocal(declared, read)
    const { text, declarations } = read(file)
    return { name, file, text, nodes: declarations.get(local) ?? [] }
  })
}

/** Reads each file once. */
const moduleReader = (): ((file: string) => ModuleFacts) => {
  const modules = new Map<string, ModuleFacts>()
  return file => {
    const known = modules.get(file) ?? readModule(file)
    modules.set(file, known)
    return known
  }
}

const wordsOf = (text: string): readonly string[] => text.match(/[A-Za-z_$][\w$]*/g) ?? []

/** One that takes what is not exported is called by the package alone. */
const CONSTRUCTOR = /\bconstructor\([^;]*\);/g

const exportsOf = (file: string, read: (file: string) => ModuleFacts): Map<string, Declared> => {
  const { exports, stars } = read(file)
  const found = new Map<string, Declared>()
  for (const star of stars)
    for (const [name, declared] of exportsOf(star, read)) if (name !== 'default') found.set(name, declared)
  for (const [name, declared] of exports) found.set(name, declared)
  return found
}

/** Follows imports and re-exports to the file that declares a name; a name of another package stays where it is. */
const resolveLocal = (declared: Declared, read: (file: string) => ModuleFacts): Declared => {
  const { declarations, imports } = read(declared.file)
  if (declarations.has(declared.local)) return declared
  const target = imports.get(declared.local)
  if (target === undefined || !existsSync(target.file)) return declared
  const next = exportsOf(target.file, read).get(target.local)
  return next === undefined ? declared : resolveLocal(next, read)
}

const readModule = (file: string): ModuleFacts => {
  const text = readFileSync(file, 'utf8')
  const declarations = new Map<string, SyntaxNode[]>()
  const imports = new Map<string, Declared>()
  const exports = new Map<string, Declared>()
  const stars: string[] = []
  const declare = (node: SyntaxNode): readonly string[] => {
    const names = namesOf(node)
    for (const name of names) declarations.set(name, [...(declarations.get(name) ?? []), node])
    return names
  }
  for (const node of parseAst(text, { lang: 'dts' }).body as unknown as readonly SyntaxNode[]) {
    const source = (node.source as { readonly value: string } | null | undefined)?.value
    const target = source === undefined ? file : fileOf(file, source)
    const specifiers = (node.specifiers ?? []) as readonly Record<string, { readonly name: string }>[]
    if (node.type === 'ImportDeclaration') {
      for (const { imported, local } of specifiers)
        if (local !== undefined) imports.set(local.name, { file: target, local: imported?.name ?? 'default' })
    } else if (node.type === 'ExportAllDeclaration') stars.push(target)
    else if (node.type === 'ExportNamedDeclaration') {
      if (node.declaration)
        for (const name of declare(node.declaration as SyntaxNode)) exports.set(name, { file, local: name })
      for (const { exported, local } of specifiers) {
        if (exported === undefined || local === undefined) continue
        // A name that passes through is found again as if it had been imported here.
        const own = source === undefined ? local.name : `${local.name} of ${source}`
        if (source !== undefined) imports.set(own, { file: target, local: local.name })
        exports.set(exported.name, { file, local: own })
      }
    } else declare(node)
  }
  return { text, declarations, imports, exports, stars }
}

const namesOf = (node: SyntaxNode): readonly string[] => {
  const { id, declarations } = node as unknown as {
    readonly id?: { readonly name?: string }
    readonly declarations?: readonly { readonly id: { readonly name?: string } }[]
  }
  return [id?.name, ...(declarations ?? []).map(({ id: { name } }) => name)].filter(
    name => name !== undefined
  )
}

/** The emitted declarations of a relative import; a package is named and not followed. */
const fileOf = (file: string, source: string): string =>
  source.startsWith('.') ? join(dirname(file), source.replace(/\.([cm]?)[jt]sx?$/, '.d.$1ts')) : source

const plainText = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .trim()
