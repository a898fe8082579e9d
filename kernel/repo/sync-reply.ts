import { WalletError } from '../errors/wallet-error.ts'
import type { Clock } from '../io/io.ts'
import { isBox } from '../types/keys.ts'
import { makeBreather } from './breather.ts'
import { checkPath } from './disk.ts'
import { type BoxText, boxText, isHash, isPlainBox, plainBoxText } from './repo-record.ts'
import type { Report } from './report.ts'

// The most files that one reply may name, and the longest box that one may hold.
const MAX_CHANGES = 250_000
const MAX_BOX_LENGTH = 12 * 1024 * 1024
const MAX_IV_LENGTH = 64
const MAX_REPORTS = 10

/** A checked reply of a sync server. Null is a deletion. */
export interface StoreReply {
  readonly changes: ReadonlyMap<string, BoxText | null>
  readonly hash?: string
}

/** How to read a reply. */
export interface ReplyOptions {
  /** Whether it answers an upload: then it must have a hash. */
  readonly isUpload: boolean
  readonly clock: Pick<Clock, 'monotonic' | 'turn'>
  /** Hears of each entry that cannot be used, up to ten. */
  readonly report: Report
}

/**
 * Checks a reply of the store route (protocol §2.9).
 *
 * A path outside the grammar, or a value that is neither box nor null, is reported and left out: it can never
 * be written. A reply in the ordinary spelling is read entry by entry, with pauses and without making objects of it;
 * any other is read as the JSON that it is.
 *
 * @throws SYNC_FAILED if the reply as a whole cannot be used; the reason quotes nothing of it
 */
export const parseStoreReply = async (text: string, options: ReplyOptions): Promise<StoreReply> => {
  const { changes, hash } = (await readPlain(text, options)) ?? readJson(text, options)
  if (options.isUpload && hash === undefined) fail('has no hash')
  return hash === undefined ? { changes } : { changes, hash }
}

const HEAD = /^\{(?:"hash":"([\w=-]{1,256})",)?"changes":\{/
const TAIL = /\}(?:,"hash":(?:"([\w=-]{1,256})"|null))?\}$/y

/** Undefined if the reply is not in the ordinary spelling. */
const readPlain = async (text: string, options: ReplyOptions): Promise<StoreReply | undefined> => {
  const head = HEAD.exec(text)
  // With a backslash a string may end elsewhere than at the next quotation mark.
  if (head === null || text.includes('\\')) return undefined
  const breathe = makeBreather(options.clock)
  const changes = new Map<string, BoxText | null>()
  const faults: WalletError[] = []
  let at = head[0].length
  for (let count = 0; text[at] === '"'; count += 1) {
    if (count === MAX_CHANGES) fail(`names more than ${MAX_CHANGES} files`)
    const pathEnd = text.indexOf('"', at + 1)
    const isNull = text.startsWith(':null', pathEnd + 1)
    const end = isNull ? pathEnd + 6 : text.indexOf('}', pathEnd) + 1
    const path = text.slice(at + 1, pathEnd)
    const box = isNull ? null : plainBox(text.slice(pathEnd + 2, end))
    // A comma at the end is no JSON.
    if (end <= pathEnd || box === undefined || text.startsWith(',}', end)) return undefined
    const fault = faultOf(path, box)
    if (fault === undefined) changes.set(path, box)
    else faults.push(fault)
    at = text[end] === ',' ? end + 1 : end
    if (count % 64 === 0) await breathe()
  }
  TAIL.lastIndex = at
  const tail = TAIL.exec(text)
  if (tail === null) return undefined
  tellFaults(faults, options)
  const hash = tail[1] ?? head[1]
  return hash === undefined ? { changes } : { changes, hash }
}

/**
 * A box whose three fields stand in their usual order or in another; undefined for anything that has to be read as JSON.
 *
 * What is in the fields shows when the box is opened.
 */
const plainBox = (text: string): BoxText | undefined => {
  if (isPlainBox(text)) return text
  return PLAIN_BOX.test(text) ? spelt(text) : undefined
}

const PLAIN_BOX = /^\{"\w+":(?:0|"[A-Za-z0-9+/=]*")(?:,"\w+":(?:0|"[A-Za-z0-9+/=]*")){2}\}$/

/** Its three fields are looked for as text: making objects of ten thousand boxes takes three times as long. */
const spelt = (text: string): BoxText | undefined => {
  const vector = fieldOf(text, '"iv_hex":"')
  const data = fieldOf(text, '"data_base64":"')
  const isKnown = text.includes('"encryptionType":0')
  return isKnown && vector !== undefined && data !== undefined ? plainBoxText(vector, data) : undefined
}

const fieldOf = (text: string, name: string): string | undefined => {
  const start = text.indexOf(name) + name.length
  return start < name.length ? undefined : text.slice(start, text.indexOf('"', start))
}

const readJson = (text: string, options: ReplyOptions): StoreReply => {
  const { changes, hash } = recordOf(text)
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) fail('has no changes')
  const entries = Object.entries(changes as object)
  if (entries.length > MAX_CHANGES) fail(`names more than ${MAX_CHANGES} files`)
  if (hash !== undefined && hash !== null && !isHash(hash)) fail('has a hash of the wrong form')
  const sound = new Map<string, BoxText | null>()
  const faults: WalletError[] = []
  for (const [path, value] of entries) {
    const isSound = isBox(value) && value.iv_hex.length <= MAX_IV_LENGTH
    const box = isSound ? boxText(value) : value === null ? null : undefined
    const fault = faultOf(path, box)
    if (fault === undefined && box !== undefined) sound.set(path, box)
    else if (fault !== undefined) faults.push(fault)
  }
  tellFaults(faults, options)
  return isHash(hash) ? { changes: sound, hash } : { changes: sound }
}

const FORBIDDEN = /(?:^|\/)(?:__proto__|constructor|prototype)(?:\/|$)/

const tellFaults = (faults: readonly WalletError[], { report }: ReplyOptions): void => {
  for (const fault of faults.slice(0, MAX_REPORTS)) report(fault)
}

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

const faultOf = (path: string, box: BoxText | null | undefined): WalletError | undefined => {
  try {
    checkPath(path)
  } catch (error) {
    return error as WalletError
  }
  if (FORBIDDEN.test(path)) {
    return new WalletError('PATH_REFUSED', { rule: 'has a segment that is not allowed' })
  }
  if (box === null || (box !== undefined && box.length <= MAX_BOX_LENGTH)) return undefined
  return new WalletError('BAD_REPLY', { source: 'sync reply', path, rule: 'is neither a box nor null' })
}

const fail = (what: string): never => {
  throw new WalletError('SYNC_FAILED', { reason: `the reply ${what}` })
}
