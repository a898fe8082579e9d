import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One known answer of the deployed system. The names of the fields say the encoding, such as `key_base64`. */
export interface Vector {
  readonly id: string
  readonly description: string
  // biome-ignore lint/suspicious/noExplicitAny: every group has another shape, which its check knows
  readonly inputs: any
  // biome-ignore lint/suspicious/noExplicitAny: as the inputs
  readonly outputs: any
}

/** One file of `test/vectors`. */
export interface VectorFile {
  readonly group: string
  readonly vectors: readonly Vector[]
  /** What every search of `tx-search` looks into. */
  readonly sampleTransaction?: unknown
}

/** Reads a group of vectors. */
export const readVectorFile = (group: string): VectorFile =>
  JSON.parse(readFileSync(join(process.cwd(), 'test', 'vectors', `${group}.json`), 'utf8'))
