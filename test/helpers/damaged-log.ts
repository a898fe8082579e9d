import { decodeIndex, parseChunkName, textLength } from '../../kernel/store/chunk.ts'
import { makeRepoIo } from './repo-io.ts'

const { crypto } = makeRepoIo()

/** A value of a sealed store in the files of its log. */
export interface StoredValue {
  readonly path: string
  /** In the text of the file, in characters. */
  readonly start: number
  readonly end: number
  /** The tag of the table, a byte for the part and the number of the block; see `kernel/repo/store/block.ts`. */
  readonly key: string
  readonly part: 'body' | 'head'
}

/** The values of a log's files that are not deletions, oldest first; those that were replaced are among them. */
export const valuesIn = (files: ReadonlyMap<string, string>): StoredValue[] =>
  [...files]
    .filter(([path]) => path.includes('/log/'))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([path, text]) => {
      const range = parseChunkName(path.slice(path.lastIndexOf('/') + 1))
      const entries = (range && decodeIndex(crypto, range, text)?.entries) ?? []
      return entries.flatMap(([key, { start, length }]) =>
        length < 0
          ? []
          : [
              {
                ...{ path, start, end: start + textLength(length), key },
                part: key.charCodeAt(8) === 0 ? ('head' as const) : ('body' as const)
              }
            ]
      )
    })

/** The bodies of tables' blocks: those that have a head. */
export const bodiesIn = (files: ReadonlyMap<string, string>): StoredValue[] => {
  const values = valuesIn(files)
  const heads = new Set(
    values.filter(({ part }) => part === 'head').map(({ key }) => key.slice(0, 8) + key.slice(9))
  )
  return values.filter(({ part, key }) => part === 'body' && heads.has(key.slice(0, 8) + key.slice(9)))
}

/** Puts other letters in the place of a value. */
export const damageValue = (files: Map<string, string>, { path, start, end }: StoredValue): void => {
  const text = files.get(path) ?? ''
  files.set(path, text.slice(0, start) + 'A'.repeat(end - start) + text.slice(end))
}
