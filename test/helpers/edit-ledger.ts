/** What a field of a JSON file holds: `x`, `n.a` for a field of an object, `ids/7` for an item of a list. */
export type FieldValues = ReadonlyMap<string, string>

interface LedgerEdit {
  readonly path: string
  readonly field: string
  /** Undefined removes the field. */
  readonly value: string | undefined
  /** The edit whose value stood there before, if it is known which. */
  readonly before: LedgerEdit | undefined
  /** Whether a later edit of somebody who saw this one has replaced it. */
  isReplaced: boolean
  /** After how many edits it was made. */
  readonly at: number
  /** After how many edits a device that saw it deleted the file; undefined while none has. */
  deletedAt: number | undefined
}

/**
 * Who edited what, and what each saw when they did: the order that tells a lost edit from one that was replaced.
 *
 * An edit is later than the one whose value stood in the field. Of two that did not see each other either may stand. A
 * deletion of a file takes what was seen of it, and nothing else.
 */
export class EditLedger {
  /** How many edits were made. */
  count = 0
  readonly #edits = new Map<string, LedgerEdit[]>()

  /** Notes an edit of a field, given what stood in it. */
  edit(
    path: string,
    field: string,
    change: { readonly seen: string | undefined; readonly value?: string }
  ): void {
    const edits = this.#editsOf(path, field)
    const before =
      change.seen === undefined ? undefined : edits.findLast(({ value }) => value === change.seen)
    for (let edit = before; edit !== undefined; edit = edit.before) edit.isReplaced = true
    edits.push({
      ...{ path, field, value: change.value, before, isReplaced: false },
      ...{ at: this.count, deletedAt: undefined }
    })
    this.count += 1
  }

  /** Notes that somebody who saw these fields has deleted the file. */
  remove(path: string, seen: FieldValues): void {
    for (const [key, edits] of this.#edits) {
      const field = key.slice(path.length + 1)
      if (key !== `${path} ${field}` || seen.has(field)) continue
      // A field that was removed before: with the removal all that it replaced was seen.
      for (const removal of edits.filter(({ value }) => value === undefined))
        for (let edit: LedgerEdit | undefined = removal; edit !== undefined; edit = edit.before)
          edit.deletedAt = this.count
    }
    for (const [field, shown] of seen) {
      let edit = this.#editsOf(path, field).findLast(({ value }) => value === shown)
      for (; edit !== undefined; edit = edit.before) edit.deletedAt = this.count
    }
    this.count += 1
  }

  /** The fields whose last value is gone, as `path field`, and how many fields were edited at all. */
  lost(files: ReadonlyMap<string, FieldValues>): { readonly lost: string[]; readonly fields: number } {
    const lost: string[] = []
    for (const [key, edits] of this.#edits) {
      const [path = '', field = ''] = key.split(' ')
      const last = edits.filter(({ isReplaced }) => !isReplaced)
      const value = files.get(path)?.get(field)
      // What a deletion has seen may be gone, and what was merged with that and gave way to it. It may stand where an edit has
      // undone the deletion: as that edit knew it, without what else was deleted.
      const isGone = (edit: LedgerEdit): boolean => isDeleted(edit) || edits.some(gaveWayTo(edit))
      const isRight =
        (value === undefined && last.every(isGone)) ||
        edits.some(
          maker => maker.value === value && edits.every(edit => isGone(edit) || !isLaterThan(edit, maker))
        )
      if (!isRight) lost.push(`${path} ${field}: ${value}`)
    }
    return { lost, fields: this.#edits.size }
  }

  /** The value that a field had before its present one; undefined unless that one is the newest of all. */
  valueBefore(path: string, field: string, seen: string | undefined): string | undefined {
    const newest = this.#editsOf(path, field).at(-1)
    return newest === undefined || newest.value !== seen ? undefined : newest.before?.value
  }

  #editsOf(path: string, field: string): LedgerEdit[] {
    const key = `${path} ${field}`
    const edits = this.#edits.get(key) ?? []
    this.#edits.set(key, edits)
    return edits
  }
}

const isDeleted = ({ deletedAt }: LedgerEdit): boolean => deletedAt !== undefined

/** Tells of which deleted edits an edit may have given way to each, when the two were merged before the deletion. */
const gaveWayTo =
  (edit: LedgerEdit) =>
  (other: LedgerEdit): boolean =>
    edit.at < (other.deletedAt ?? 0) &&
    other !== edit &&
    !isLaterThan(edit, other) &&
    !isLaterThan(other, edit)

const isLaterThan = (edit: LedgerEdit, other: LedgerEdit): boolean => {
  let before = edit.before
  while (before !== undefined && before !== other) before = before.before
  return before === other
}

/** The fields of a JSON file. */
export const fieldValuesOf = (text: string | undefined): FieldValues => {
  const values = new Map<string, string>()
  if (text === undefined) return values
  const { n = {}, ids = [], ...flat } = JSON.parse(text) as Fields
  for (const [field, value] of Object.entries(flat)) values.set(field, value)
  for (const [field, value] of Object.entries(n)) values.set(`n.${field}`, value)
  for (const id of ids) values.set(`ids/${id}`, id)
  return values
}

/** The text of a file whose field gets another value; undefined removes it. */
export const withValue = (text: string | undefined, field: string, value: string | undefined): string => {
  const { n = {}, ids = [], ...flat } = (text === undefined ? {} : JSON.parse(text)) as Fields
  if (field.startsWith('ids/')) {
    const id = field.slice(4)
    const others = ids.filter(known => known !== id)
    return JSON.stringify({ ...flat, n, ids: value === undefined ? others : [...others, id].sort() })
  }
  const inner = field.startsWith('n.')
  const name = inner ? field.slice(2) : field
  const { [name]: _, ...rest } = inner ? n : flat
  const next = value === undefined ? rest : { ...rest, [name]: value }
  return JSON.stringify(inner ? { ...flat, n: next, ids } : { ...next, n, ids })
}

type Fields = { readonly n?: Record<string, string>; readonly ids?: readonly string[] } & Record<
  string,
  string
>
