import { WalletError } from '../errors/wallet-error.ts'
import { type Box, isBox } from '../types/keys.ts'
import { checkPath } from './disk.ts'
import { isHash } from './repo-record.ts'
import type { Report } from './report.ts'

// The most files that one reply may name, and the longest box that one may hold (architecture decision 18).
const MAX_CHANGES = 20_000
const MAX_BOX_LENGTH = 12 * 1024 * 1024
const MAX_IV_LENGTH = 64
const MAX_REPORTS = 10

/** A checked reply of a sync server. Null is a deletion. */
export interface StoreReply {
  readonly changes: ReadonlyMap<string, Box | null>
  readonly hash?: string
}

/**
 * Checks a reply of the store route (protocol §2.9).
 *
 * A path outside the grammar, or a value that is neither box nor null, is reported and left out: it can never
 * be written. A guard by hand, because replies are large.
 *
 * @throws SYNC_FAILED if the reply as a whole cannot be used; the reason quotes nothing of it
 */
export const parseStoreReply = (text: string, isUpload: boolean, report: Report): StoreReply => {
  const { changes, hash } = recordOf(text)
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) fail('has no changes')
  const entries = Object.entries(changes as object)
  if (entries.length > MAX_CHANGES) fail(`names more than ${MAX_CHANGES} files`)
  if (hash !== undefined && hash !== null && !isHash(hash)) fail('has a hash of the wrong form')
  if (isUpload && !isHash(hash)) fail('has no hash')
  const sound = new Map<string, Box | null>()
  let refused = 0
  for (const [path, value] of entries) {
    const fault = faultOf(path, value)
    if (fault === undefined) sound.set(path, value)
    else if (++refused <= MAX_REPORTS) report(fault)
  }
  return isHash(hash) ? { changes: sound, hash } : { changes: sound }
}

const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

const recordOf = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>
    }
  } catch {
    return fail('is no JSON')
  }
  return fail('is no object')
}

const faultOf = (path: string, value: unknown): WalletError | undefined => {
  try {
    checkPath(path)
  } catch (error) {
    return error as WalletError
  }
  if (path.split('/').some(segment => FORBIDDEN.has(segment))) {
    return new WalletError('PATH_REFUSED', { rule: 'has a segment that is not allowed' })
  }
  if (value === null) return undefined
  const isSound =
    isBox(value) && value.iv_hex.length <= MAX_IV_LENGTH && value.data_base64.length <= MAX_BOX_LENGTH
  if (isSound) return undefined
  return new WalletError('BAD_REPLY', { source: 'sync reply', path, rule: 'is neither a box nor null' })
}

const fail = (what: string): never => {
  throw new WalletError('SYNC_FAILED', { reason: `the reply ${what}` })
}
