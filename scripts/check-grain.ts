import { posix } from 'node:path'
import { importsOf } from './imports-of.ts'
import type { FileTexts } from './project-files.ts'
import { codeLines } from './structure.ts'

/** From so many code lines on a file may stand alone. */
const FLOOR = 40

/** Small files that stand alone, because their kind asks for one each, or for the reason given. */
const ALONE: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^cli\/commands\//, 'a command'],
  [/^devtools\/react\/panels\//, 'a panel'],
  [/^fake-server\/(?:providers|routes)\//, 'a provider or a group of routes'],
  [/^plugins\/(?:rates|swap|storage)\/[^/]+\.ts$/, 'a provider'],
  [/^plugins\/currency\/\w+\/params\//, 'the parameters of a coin'],
  [/\/index\.ts$/, 'an entry of the package']
]

/**
 * Finds small files that one other file uses alone (pure): their content belongs there. An entry has no user in the sources.
 *
 * @param files - the sources, tests excluded
 * @returns one sentence for each such file
 */
export const checkGrain = (files: FileTexts): readonly string[] => {
  const users = new Map<string, Set<string>>()
  for (const [path, text] of files)
    for (const { specifier } of importsOf(text)) {
      const target = posix.join(posix.dirname(path), specifier)
      users.set(target, (users.get(target) ?? new Set()).add(path))
    }
  return [...files].flatMap(([path, text]) => {
    const [user, second] = users.get(path) ?? []
    if (user === undefined || second !== undefined || ALONE.some(([pattern]) => pattern.test(path))) return []
    const lines = codeLines(text)
    return lines < FLOOR
      ? [`${path}: has ${lines} code lines and only ${user} uses it; move its content there`]
      : []
  })
}
