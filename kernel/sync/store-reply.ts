import { checkPath } from '../base/disk-path.ts'
import { type ReportError, WalletError } from '../base/errors.ts'
import { type JsonLimits, JsonScan, parseJsonText } from '../base/json.ts'
import { makeYielder } from '../base/yielder.ts'
import type { Clock } from '../io/io.ts'
import { isBox } from '../types/keys.ts'
import { type BoxText, boxText, isPlainBox, plainBoxText } from './repo-record.ts'
import { isHash } from './repo-state.ts'

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

export interface ReplyOptions {
  /** True for the reply to an upload, which must have a hash. */
  readonly isUpload: boolean
  readonly clock: Pick<Clock, 'monotonic' | 'turn'>
  /** Called for each entry that cannot be used, up to ten. */
  readonly report: ReportError
}

/**
 * Checks a reply of the store route (protocol §2.9).
 *
 * A path outside the grammar, or a value that is neither box nor null, is reported and left out: it can never
 * be written. A reply in the ordinary spelling is read entry by entry, with pauses and without making objects of it;
 * any other is read as the JSON that it is, bounded in depth and in slices.
 *
 * @throws SYNC_FAILED if the reply as a whole cannot be used; the reason quotes nothing of it
 */
export const parseStoreReply = async (text: string, options: ReplyOptions): Promise<StoreReply> => {
  const { changes, hash } = (await readPlain(text, options)) ?? (await readJson(text, options))
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
  const pause = makeYielder(options.clock)
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
    if (text[pathEnd + 1] !== ':' || end <= pathEnd || box === undefined || text.startsWith(',}', end))
      return undefined
    const fault = faultOf(path, box)
    if (fault === undefined) changes.set(path, box)
    else faults.push(fault)
    at = end
    if (text[end] !== ',') break
    at += 1
    if (count % 64 === 0) await pause()
  }
  TAIL.lastIndex = at
  const tail = TAIL.exec(text)
  if (tail === null) return undefined
  reportFaults(faults, options)
  const hash = tail[1] ?? head[1]
  return hash === undefined ? { changes } : { changes, hash }
}

/**
 * A box whose three fields stand in their usual order or in another; undefined for anything that has to be read as JSON.
 *
 * The fields themselves are checked when the box is opened.
 */
const plainBox = (text: string): BoxText | undefined => {
  if (isPlainBox(text)) return text
  return PLAIN_BOX.test(text) ? normalizedBox(text) : undefined
}

const PLAIN_BOX = /^\{"\w+":(?:0|"[A-Za-z0-9+/=]*")(?:,"\w+":(?:0|"[A-Za-z0-9+/=]*")){2}\}$/

/** Its three fields are looked for as text: making objects of ten thousand boxes takes three times as long. */
const normalizedBox = (text: string): BoxText | undefined => {
  const vector = fieldOf(text, '"iv_hex":"')
  const data = fieldOf(text, '"data_base64":"')
  const isKnown = text.includes('"encryptionType":0')
  return isKnown && vector !== undefined && data !== undefined ? plainBoxText(vector, data) : undefined
}

const fieldOf = (text: string, name: string): string | undefined => {
  const start = text.indexOf(name) + name.length
  return start < name.length ? undefined : text.slice(start, text.indexOf('"', start))
}

const readJson = async (text: string, options: ReplyOptions): Promise<StoreReply> => {
  const pause = makeYielder(options.clock)
  const { changes, hash } = await fieldsOf(text, pause)
  if (changes === undefined) return fail('has no changes')
  if (hash !== undefined && hash !== null && !isHash(hash)) fail('has a hash of the wrong form')
  const sound = new Map<string, BoxText | null>()
  const faults: WalletError[] = []
  let count = 0
  for (const chunk of changes) {
    for (const [path, value] of Object.entries(parseChunk(`{${chunk}}`) as object)) {
      count += 1
      if (count > MAX_CHANGES) fail(`names more than ${MAX_CHANGES} files`)
      const isSound = isBox(value) && value.iv_hex.length <= MAX_IV_LENGTH
      const box = isSound ? boxText(value) : value === null ? null : undefined
      const fault = faultOf(path, box)
      if (fault === undefined && box !== undefined) sound.set(path, box)
      else if (fault !== undefined) faults.push(fault)
    }
    await pause()
  }
  reportFaults(faults, options)
  return isHash(hash) ? { changes: sound, hash } : { changes: sound }
}

interface ReplyFields {
  /** The text between the braces of `changes`, cut at commas so that each chunk is about 1 MB. */
  readonly changes: readonly string[] | undefined
  readonly hash: unknown
}

/** Finds the fields of a reply without parsing it as a whole: 192 MB would keep the thread for seconds. */
const fieldsOf = async (text: string, pause: () => Promise<void> | undefined): Promise<ReplyFields> => {
  const first: number[] = []
  const cuts: number[] = []
  let last = 0
  const scan = new JsonScan(text, REPLY_LIMITS, (code, depth, at) => {
    if (depth === 1) first.push(at)
    if (first.length > MAX_FIELDS) throw new SyntaxError('is no reply')
    if (depth !== 2 || code !== COMMA || at < last + CHUNK_LENGTH) return
    cuts.push(at)
    last = at
  })
  try {
    while (scan.advance(SLICE_LENGTH)) await pause()
  } catch (error) {
    return fail(error instanceof SyntaxError ? error.message : 'is no JSON')
  }
  const isObject = text.charAt(first[0] ?? 0) === '{' && text.slice(0, first[0]).trim() === ''
  const end = first.at(-1) ?? 0
  if (!isObject || text.charAt(end) !== '}' || text.slice(end + 1).trim() !== '') return fail('is no object')
  if (first.length > 2 && first.length % 2 === 0) return fail('is no JSON')
  let changes: readonly string[] | undefined
  let hash: unknown
  // The marks at depth one are the opening brace, a colon and a comma for each field, and the closing brace.
  for (let i = 1; i + 1 < first.length; i += 2) {
    const [before = 0, colon = 0, after = 0] = first.slice(i - 1, i + 2)
    if (text.charAt(colon) !== ':' || !',}'.includes(text.charAt(after))) fail('is no JSON')
    const name = parseChunk(text.slice(before + 1, colon))
    if (name === 'changes') changes = chunksOf(text, { start: colon + 1, end: after, cuts })
    else {
      if (after - colon > CHUNK_LENGTH) fail('has a field too long')
      const value = parseChunk(text.slice(colon + 1, after))
      if (name === 'hash') hash = value
    }
  }
  return { changes, hash }
}

interface Span {
  readonly start: number
  readonly end: number
  readonly cuts: readonly number[]
}

const chunksOf = (text: string, { start, end, cuts }: Span): readonly string[] | undefined => {
  const open = start + text.slice(start, start + 100).search(/\S/)
  let close = end - 1
  while (close > open && /\s/.test(text.charAt(close))) close -= 1
  if (text.charAt(open) !== '{' || text.charAt(close) !== '}') return undefined
  const bounds = [open, ...cuts.filter(at => at > open && at < close), close]
  const chunks = bounds.slice(1).map((at, i) => text.slice((bounds[i] ?? 0) + 1, at))
  if (chunks.length > 1 && chunks.some(chunk => chunk.trim() === '')) fail('is no JSON')
  return chunks
}

const parseChunk = (text: string): unknown => {
  try {
    return parseJsonText(text, REPLY_LIMITS)
  } catch {
    return fail('is no JSON')
  }
}

/** A box in any spelling nests three deep and has seven values; some of it may be unknown. */
const REPLY_LIMITS: JsonLimits = { maxDepth: 16, maxValues: 4_000_000 }
const MAX_FIELDS = 200
const COMMA = 44
const SLICE_LENGTH = 1024 * 1024
const CHUNK_LENGTH = 1024 * 1024

const FORBIDDEN = /(?:^|\/)(?:__proto__|constructor|prototype)(?:\/|$)/

const reportFaults = (faults: readonly WalletError[], { report }: ReplyOptions): void => {
  for (const fault of faults.slice(0, MAX_REPORTS)) report(fault)
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
