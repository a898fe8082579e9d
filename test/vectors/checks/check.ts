import type { ExecutionContext } from 'ava'
import type { Io } from "../../../kernel/io/io.ts"
import { makeNodeIo } from '../../../platform/node/index.ts'
import type { Vector } from '../vector.ts'

/** Asserts every vector of a group, in order. */
export type GroupCheck = (t: ExecutionContext, vectors: readonly Vector[]) => void | Promise<void>

/** A {@link GroupCheck} of vectors that do not depend on each other. */
export const eachVector =
  (check: (t: ExecutionContext, vector: Vector) => void | Promise<void>): GroupCheck =>
  async (t, vectors) => {
    for (const vector of vectors) await check(t, vector)
  }

/** The io that checks run on. */
export const io: Io = makeNodeIo()

/** Bytes of base64. */
export const bytes = (base64: string): Uint8Array => io.crypto.fromBase64(base64)

/** Base64 of bytes. */
export const base64 = (data: Uint8Array): string => io.crypto.toBase64(data)
