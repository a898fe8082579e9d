/** Why an edit may be gone although nobody changed its field later. */
export type LossReason =
  /** A deployed client, or a deletion, that could not know of it: a device has said so and keeps the text. */
  | 'reported'
  /** It was the deployed client's own. */
  | 'deployed client'
  | 'server replaced'

/** One change of one field of a file, as somebody made it on one device. */
export interface Edit {
  readonly id: number
  readonly device: string
  readonly path: string
  /** {@link WHOLE} for a file that is no JSON object and for the deletion of a file; or {@link REPEATED}. */
  readonly field: string
  /** Never used by another edit; undefined removes the field, or the file. */
  readonly value: string | undefined
  /** The edits of the same file that the device had seen: this one is later than each of them. */
  readonly seen: ReadonlySet<number>
  /** Whether the device said that it is safe. */
  isAcknowledged: boolean
}

/** The field that stands for a file as a whole. */
export const WHOLE = ''
/** The field of an edit that changes nothing and yet is one: somebody sent an old text once more. */
export const REPEATED = '*'

/**
 * Who edited what, and what each knew of the others' edits: the causal order that a lost edit is judged by.
 *
 * Knowledge travels with the file: who takes in a version of a file knows every edit that went into it.
 */
export class EditHistory {
  readonly edits: Edit[] = []
  /** How many edits were gone, and nobody could have kept them. */
  readonly losses: Record<LossReason, number> = {
    reported: 0,
    'deployed client': 0,
    'server replaced': 0
  }
  readonly #seen = new Map<string, Set<number>>()
  readonly #excused = new Map<number, LossReason>()

  /** Notes an edit before it is made. */
  begin(device: string, { path, field, value }: Pick<Edit, 'path' | 'field' | 'value'>): Edit {
    const seen = this.seenBy(device, path)
    const id = this.edits.length
    const edit: Edit = { id, device, path, field, value, seen: new Set(seen), isAcknowledged: false }
    this.edits.push(edit)
    seen.add(id)
    return edit
  }

  /** The edits of a file that a device knows of. */
  seenBy(device: string, path: string): Set<number> {
    const key = `${device} ${path}`
    const seen = this.#seen.get(key) ?? new Set()
    this.#seen.set(key, seen)
    return seen
  }

  /** Lets a device know of edits. */
  show(device: string, path: string, edits: ReadonlySet<number>): void {
    const seen = this.seenBy(device, path)
    for (const id of edits) seen.add(id)
  }

  /** Lets a device know of what it shows. */
  showValues(device: string, path: string, values: Iterable<string>): void {
    const shown = new Set(values)
    for (const { id, path: where, value, seen } of this.edits) {
      if (where === path && value !== undefined && shown.has(value))
        this.show(device, path, new Set([...seen, id]))
    }
  }

  /** The edits of a file so far. */
  editsOf(path: string): number[] {
    return this.edits.filter(edit => edit.path === path).map(({ id }) => id)
  }

  /** Edits that were overwritten by somebody who could not know of them. */
  excuse(edits: Iterable<number>, reason: LossReason): void {
    for (const id of edits) if (!this.#excused.has(id)) this.#excused.set(id, reason)
  }

  /**
   * Tells what is wrong with a field's final value, or undefined if it is right.
   *
   * It is right if an edit made it and each later one of that field, made safe and not undone, is excused or told. A
   * deletion of a file is undone by any edit of the file that neither knew of the other; then the file is as that
   * edit knew it, without what else was deleted.
   */
  faultOf(
    path: string,
    field: string,
    value: string | undefined,
    isReported: (edit: Edit) => boolean
  ): string | undefined {
    const edits = this.edits.filter(edit => edit.path === path && (edit.field === field || isDeletion(edit)))
    // An edit that no device has called safe may have been made, or not.
    const isSafe = (edit: Edit): boolean => edit.isAcknowledged
    const stands = (deletion: Edit): boolean =>
      [() => true, isSafe].some(
        counts => !isUndone(this.edits.filter(counts), deletion) || isAfterAll(edits.filter(counts), deletion)
      )
    const isMaker = (edit: Edit): boolean => edit.value === value && (!isDeletion(edit) || stands(edit))
    const makers: (Edit | undefined)[] = edits.filter(isMaker)
    if (value === undefined) makers.push(undefined)
    if (makers.length === 0) return `${path} ${field} holds ${value}, which nobody wrote`
    const missing = makers.map(maker => this.#missingAfter(edits, maker))
    // What a later edit, or one of the same time, had replaced is gone with that one.
    const reported = edits.filter(isReported)
    const isExcused = (edit: Edit): boolean =>
      this.#excused.has(edit.id) || reported.some(({ id }) => id === edit.id || !edit.seen.has(id))
    const best = missing.find(list => list.every(isExcused))
    if (best === undefined) {
      const lost = missing.at(-1)?.filter(edit => !isExcused(edit)) ?? []
      return `${path} ${field} holds ${value}, but later came ${lost.map(nameOf).join(', ')}`
    }
    for (const { id } of best) this.losses[this.#excused.get(id) ?? 'reported'] += 1
    return undefined
  }

  #missingAfter(edits: readonly Edit[], maker: Edit | undefined): Edit[] {
    const isLater = (edit: Edit): boolean => maker === undefined || edit.seen.has(maker.id)
    const undone = edits.filter(edit => isDeletion(edit) && isUndone(this.edits, edit))
    return edits.filter(
      edit =>
        edit.value !== maker?.value &&
        edit.isAcknowledged &&
        isLater(edit) &&
        !undone.some(deletion => deletion === edit || deletion.seen.has(edit.id))
    )
  }
}

/** Tells whether one of some edits of the file neither knew of a deletion nor was known to it. */
const isUndone = (edits: readonly Edit[], deletion: Edit): boolean =>
  edits.some(
    edit =>
      edit.path === deletion.path &&
      !isDeletion(edit) &&
      !deletion.seen.has(edit.id) &&
      !edit.seen.has(deletion.id)
  )

/**
 * Tells whether each edit of a field that a deletion did not know may have given way to one that it did know: of two that are
 * merged one stands.
 */
const isAfterAll = (edits: readonly Edit[], deletion: Edit): boolean => {
  const fields = edits.filter(edit => !isDeletion(edit))
  const known = fields.filter(({ id }) => deletion.seen.has(id))
  return fields.every(
    edit =>
      deletion.seen.has(edit.id) ||
      known.some(other => !edit.seen.has(other.id) && !other.seen.has(edit.id)) ||
      edit.seen.has(deletion.id)
  )
}

const isDeletion = ({ field, value }: Edit): boolean => field === WHOLE && value === undefined

const nameOf = ({ id, device, value }: Edit): string => `#${id} ${value ?? 'deletion'} of ${device}`
