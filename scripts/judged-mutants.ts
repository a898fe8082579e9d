import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findMutants, type Mutant } from './mutants.ts'

/** A survivor that was looked at and does not matter. The place is found again by its text, whatever line it moves to. */
export interface JudgedMutant {
  readonly file: string
  readonly line: string
  readonly change: string
  readonly reason: string
}

/** Equal for a mutant and the entry that judges it. */
export const keyOf = ({ file, line, change }: Pick<Mutant, 'file' | 'line' | 'change'>): string =>
  [file, line, change].join('\n')

/** Reads the entries of `test/mutants-judged.json`. */
export const readJudged = (root: string): readonly JudgedMutant[] =>
  JSON.parse(readFileSync(join(root, 'test/mutants-judged.json'), 'utf8'))

/**
 * The entries that judge no mutant of the built code any more: the file has another name, the line another text, or the
 * change is left alone. Such an entry hides nothing, and its mutant may be drawn again.
 */
export const findStale = (root: string, judged: readonly JudgedMutant[]): readonly JudgedMutant[] => {
  const files = [...new Set(judged.map(({ file }) => file))].filter(file => existsSync(join(root, file)))
  const keys = new Set(
    files.flatMap(file => findMutants(file, readFileSync(join(root, file), 'utf8')).map(keyOf))
  )
  return judged.filter(entry => !keys.has(keyOf(entry)))
}
