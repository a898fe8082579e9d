import { isWalletError, type ReportError, WalletError } from '../base/errors.ts'
import { isRecord, isSameJson, type Json, type JsonObject, parseJson } from '../base/json.ts'
import { quarantine } from '../base/quarantine.ts'
import type { Disk } from '../io/disk.ts'
import type { Clock } from '../io/io.ts'
import type { Repo } from './repo.ts'

/** The way to one field of a JSON object, and its new value; undefined removes it. */
export interface FieldEdit {
  readonly path: readonly string[]
  readonly value: Json | undefined
}

/** Returns the edits of a file, given its present fields; undefined if there is no file. */
export type MakeEdits = (fields: JsonObject | undefined) => readonly FieldEdit[]

/** The repo of JSON files, and the disk that quarantines damaged ones. */
export interface JsonFileOptions {
  readonly repo: Repo
  readonly disk: Disk
  readonly clock: Pick<Clock, 'now'>
  /** Called for a file that cannot be read. */
  readonly report: ReportError
}

/**
 * One JSON object in a repo that is edited field by field: what this version does not know stays as it is.
 *
 * Damage is never taken for an empty file: before an edit replaces something that cannot be read, the file goes to
 * quarantine, as the encrypted box that it is.
 */
export class JsonFile {
  readonly path: string
  readonly #options: JsonFileOptions

  constructor(options: JsonFileOptions, path: string) {
    this.path = path
    this.#options = options
  }

  /** The object; undefined if there is no file, and {} for one that cannot be read, which is reported. */
  async read(): Promise<JsonObject | undefined> {
    const { repo, report } = this.#options
    const { path } = this
    try {
      const text = await repo.getText(path)
      return text === undefined ? undefined : parseFields(text, path)
    } catch (error) {
      report(error)
      return {}
    }
  }

  /**
   * Edits fields, durable when it resolves. Edits that change nothing write nothing.
   *
   * Edits that may run at once are put in order by their caller.
   *
   * @throws STORAGE_FULL, STORAGE_FAILED; then nothing has changed
   */
  async edit(makeEdits: MakeEdits): Promise<void> {
    const { repo } = this.#options
    const { path } = this
    for (;;) {
      const { fields: present, rule, expect } = await this.#readToEdit()
      const start = present ?? {}
      const { fields, isDisplacing } = editFields(start, makeEdits(present))
      const damage = rule ?? (isDisplacing ? 'a field in it is no object' : undefined)
      const isChanged = fields !== start
      if (isChanged && damage !== undefined) await this.#quarantine(damage)
      const texts = new Map(isChanged ? [[path, JSON.stringify(fields)]] : [])
      const { isStale } = await repo.write({ texts, expect })
      if (!isStale) return
    }
  }

  async #readToEdit(): Promise<ReadFile> {
    const { repo } = this.#options
    const { path } = this
    try {
      const text = await repo.getText(path)
      return { ...presentOf(text, path), expect: new Map([[path, text]]) }
    } catch (error) {
      if (!isWalletError(error, 'CORRUPT_FILE')) throw error
      return { fields: {}, rule: error.details.rule, expect: new Map() }
    }
  }

  async #quarantine(rule: string): Promise<void> {
    const { repo, disk, clock, report } = this.#options
    const { path } = this
    const text = await repo.getBox(path)
    if (text === undefined) return
    report(await quarantine(disk, clock, { path: `repos/${repo.id}/${path}`, text, rule }))
  }
}

/**
 * Applies edits to an object without changing it; the answer is the object itself if they change nothing.
 *
 * `isDisplacing`: a value that is no object stood on the way to a field and had to go.
 */
export const editFields = (
  fields: JsonObject,
  edits: readonly FieldEdit[]
): { readonly fields: JsonObject; readonly isDisplacing: boolean } => {
  let isDisplacing = false
  const editOne = (
    present: JsonObject,
    [name = '', ...rest]: readonly string[],
    value?: Json
  ): JsonObject => {
    const old = Object.hasOwn(present, name) ? present[name] : undefined
    if (rest.length === 0) return isSameJson(old, value) ? present : withField(present, name, value)
    const inner = isObject(old) ? old : {}
    const next = editOne(inner, rest, value)
    if (next === inner) return present
    if (old !== undefined && !isObject(old)) isDisplacing = true
    return withField(present, name, next)
  }
  const edited = edits.reduce((present, { path, value }) => editOne(present, path, value), fields)
  return { fields: edited, isDisplacing }
}

/** The object at the end of a way through fields, if there is one. */
export const objectAt = (fields: JsonObject, path: readonly string[]): JsonObject | undefined => {
  let found: unknown = fields
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  return isObject(found) ? found : undefined
}

// Defines own fields only, so that a field called __proto__ is a field like any other.
const withField = (fields: JsonObject, name: string, value: Json | undefined): JsonObject =>
  value === undefined
    ? Object.fromEntries(Object.entries(fields).filter(([known]) => known !== name))
    : { ...fields, [name]: value }

/** The content of a file; `rule` says what is wrong with one that cannot be read. */
interface Present {
  readonly fields: JsonObject | undefined
  readonly rule?: string
}

interface ReadFile extends Present {
  /** What the file must still be when it is written: its text, or anything if that cannot be opened. */
  readonly expect: ReadonlyMap<string, string | undefined>
}

const presentOf = (text: string | undefined, path: string): Present => {
  if (text === undefined) return { fields: undefined }
  try {
    return { fields: parseFields(text, path) }
  } catch (error) {
    return { fields: {}, rule: isWalletError(error, 'CORRUPT_FILE') ? error.details.rule : 'it is no text' }
  }
}

const parseFields = (text: string, path: string): JsonObject => {
  const corrupt = (rule: string, cause?: unknown): WalletError =>
    new WalletError('CORRUPT_FILE', { path, rule }, cause)
  let value: unknown
  try {
    value = parseJson(text, path)
  } catch (error) {
    throw corrupt(isWalletError(error, 'BAD_REPLY') ? `it ${error.details.rule}` : 'it is no text', error)
  }
  if (!isObject(value)) throw corrupt('it is no object')
  return value
}

const isObject = (value: unknown): value is JsonObject => isRecord(value)
