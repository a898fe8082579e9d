import { posix } from 'node:path'
import { importsOf } from './imports-of.ts'
import { barrels, layers, mutualFolders, type Room, topFolders } from './layer-table.ts'
import type { FileTexts } from './project-files.ts'

interface Place {
  readonly id: string
  readonly line: number
  readonly room: Room
}

/**
 * Finds every import that the layer table forbids, every cycle, every pair of folders that import each other and every stray
 * re-export (pure).
 *
 * @param files - the TypeScript files that were read
 * @param listed - what git lists; one that was not read is a problem, so that nothing passes unread
 * @param pairs - the pairs of folders that may still import each other
 * @returns one sentence a problem
 */
export const checkLayers = (
  files: FileTexts,
  listed: readonly string[],
  pairs: typeof mutualFolders = mutualFolders
): readonly string[] => {
  const unread = listed.filter(isSource).filter(path => !files.has(path))
  const problems = unread.map(path => `${path}: git lists it, but it was not read`)
  if (files.size === 0) problems.push('no file was read')

  const graph = new Map<string, readonly string[]>()
  for (const [path, text] of files) {
    const from = placeOf(path)
    if (from === undefined) {
      problems.push(`${path}: the layer table does not name this room`)
      continue
    }
    const targets: string[] = []
    for (const { specifier, isReexport } of importsOf(text)) {
      if (isReexport && !barrels.includes(path) && !isFree(from)) {
        problems.push(`${path}: only ${barrels.join(', ')} re-export, not this file (${specifier})`)
      }
      if (!specifier.startsWith('.')) {
        if (!mayUse(from.room, specifier)) problems.push(`${path}: ${from.id} may not import ${specifier}`)
        continue
      }
      const target = posix.join(posix.dirname(path), specifier)
      targets.push(target)
      const problem = problemOf(from, target)
      if (problem !== undefined) problems.push(`${path}: ${problem}`)
    }
    graph.set(path, targets)
  }
  return [...problems, ...cyclesOf(graph), ...mutualProblems(graph, pairs)]
}

const isSource = (path: string): boolean =>
  /\.tsx?$/.test(path) && topFolders.includes(path.split('/')[0] ?? '')

/** The most exact room that holds a path; a room by name wins over one by pattern. */
const placeOf = (path: string): Place | undefined => {
  const stem = path.replace(/\.tsx?$/, '')
  let best: Place | undefined
  for (const [line, rooms] of layers.entries()) {
    for (const room of rooms) {
      const id = idIn(room.path, stem)
      if (id === undefined) continue
      const gain = id.length - (best?.id.length ?? 0)
      if (gain > 0 || (gain === 0 && id === room.path)) best = { id, line, room }
    }
  }
  return best
}

const idIn = (pattern: string, stem: string): string | undefined => {
  if (!pattern.endsWith('/*')) return isWithin(stem, pattern) ? pattern : undefined
  const parent = pattern.slice(0, -1)
  if (!stem.startsWith(parent)) return undefined
  return parent + (stem.slice(parent.length).split('/')[0] ?? '')
}

const isWithin = (stem: string, room: string): boolean => stem === room || stem.startsWith(`${room}/`)

const isFree = ({ line }: Place): boolean => line === layers.length - 1

const problemOf = (from: Place, target: string): string | undefined => {
  const to = placeOf(target)
  if (to === undefined) return `it imports ${target}, a room that the layer table does not name`
  if (to.id === from.id || isFree(from)) return undefined
  const { only } = from.room
  const stem = target.replace(/\.tsx?$/, '')
  if (only !== undefined && !only.some(room => isWithin(stem, room))) {
    return `${from.id} may import only ${only.join(', ')}, not ${target}`
  }
  if (to.line > from.line) return `${from.id} may not import ${to.id}, which is above it`
  // `fake-server/http` names `fake-server` in its list: a part may lean on the whole that it belongs to.
  if (to.line === from.line && !from.id.startsWith(`${to.id}/`)) {
    return `${from.id} may not import ${to.id}, which stands beside it`
  }
  return undefined
}

const mayUse = ({ packages }: Room, specifier: string): boolean =>
  packages === undefined ||
  packages.some(name =>
    /[/:]$/.test(name) ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`)
  )

/** One sentence for each pair of folders that import each other and is not listed, and for each that is listed in vain. */
const mutualProblems = (
  graph: ReadonlyMap<string, readonly string[]>,
  pairs: typeof mutualFolders
): readonly string[] => {
  const arrows = new Set<string>()
  for (const [path, targets] of graph) {
    const from = posix.dirname(path)
    if (isTestCode(from)) continue
    for (const to of targets.map(target => posix.dirname(target)))
      if (to !== from) arrows.add(`${from} → ${to}`)
  }
  const known = new Set(pairs.map(([a, b]) => `${a} → ${b}`))
  const found = [...arrows].map(arrow => arrow.split(' → ') as [string, string])
  const mutual = new Set(
    found.filter(([a, b]) => a < b && arrows.has(`${b} → ${a}`)).map(([a, b]) => `${a} → ${b}`)
  )
  const unlisted = [...mutual].filter(pair => !known.has(pair))
  const gone = [...known].filter(pair => !mutual.has(pair))
  return [
    ...unlisted.map(pair => `${pair.replace('→', 'and')} import each other`),
    ...gone.map(pair => `${pair.replace('→', 'and')} no longer import each other: take them off the list`)
  ]
}

/** Tests, benchmarks, examples and scripts import as they like. */
const isTestCode = (folder: string): boolean => /^(?:test|bench|examples|scripts)(?:\/|$)/.test(folder)

/** One sentence for each ring of imports, found by walking depth first. */
const cyclesOf = (graph: ReadonlyMap<string, readonly string[]>): readonly string[] => {
  const problems: string[] = []
  const done = new Set<string>()
  const trail: string[] = []
  const visit = (path: string): void => {
    const start = trail.indexOf(path)
    if (start >= 0) {
      problems.push(`cycle: ${[...trail.slice(start), path].join(' → ')}`)
      return
    }
    if (done.has(path)) return
    trail.push(path)
    for (const target of graph.get(path) ?? []) visit(target)
    trail.pop()
    done.add(path)
  }
  for (const path of graph.keys()) visit(path)
  return problems
}
