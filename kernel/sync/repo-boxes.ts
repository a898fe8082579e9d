import { WalletError } from '../base/errors.ts'
import type { Secret } from '../base/secret.ts'
import {
  type BoxMark,
  type MarkedText,
  openBox,
  openMarkedText,
  openMarkedTexts,
  openText,
  openTexts,
  sealTexts
} from '../crypto/box.ts'
import type { Clock, Io } from '../io/io.ts'
import type { Box } from '../types/keys.ts'
import { EditCount } from './edit-count.ts'
import { decodeProvenance, encodeProvenance, foreignProvenance, type Provenance } from './lineage.ts'
import type { FileBoxes, FileVersion } from './merge-versions.ts'
import { type BoxText, parseBox } from './repo-record.ts'

/** The boxes of one repo: opening and sealing with its data key, which is never kept in the clear. */
export class RepoBoxes implements FileBoxes {
  readonly #io: BoxesIo
  readonly #dataKey: Secret<Uint8Array>
  /** The edits that are sealed here. */
  readonly edits: EditCount

  /** @param sessions - those of this device until now; see {@link EditCount} */
  constructor(io: BoxesIo, dataKey: Secret<Uint8Array>, sessions?: string) {
    this.#io = io
    this.#dataKey = dataKey
    this.edits = new EditCount(io, sessions)
  }

  open(box: BoxText): FileVersion | undefined {
    const parsed = parseBox(box)
    if (parsed === undefined) return undefined
    try {
      const { text, mark } = this.#dataKey.use(key =>
        openMarkedText(this.#io, { key, box: parsed }, decodeProvenance)
      )
      return versionOf(parsed, text, mark)
    } catch {
      return undefined
    }
  }

  /** The text of a file's box. @throws CORRUPT_FILE if it does not open */
  read(path: string, box: BoxText): string {
    try {
      return this.#open(box)
    } catch (error) {
      throw new WalletError('CORRUPT_FILE', { path, rule: 'its box does not open' }, error)
    }
  }

  canOpen(box: BoxText): boolean {
    const parsed = parseBox(box)
    try {
      if (parsed !== undefined) this.#dataKey.use(key => openBox(this.#io, key, parsed)).fill(0)
      return parsed !== undefined
    } catch {
      return false
    }
  }

  seal(text: string, provenance: Provenance): BoxText {
    const item = { text, mark: encodeProvenance(provenance) }
    return this.#dataKey.use(key => sealTexts(this.#io, key, [item])).join('')
  }

  /** {@link open} of many boxes, with pauses. */
  openVersions(boxes: readonly (BoxText | undefined)[]): Promise<(FileVersion | undefined)[]> {
    const task = async (group: readonly (BoxText | undefined)[]): Promise<(FileVersion | undefined)[]> => {
      const parsed = group.map(box => parseBox(box) ?? NO_BOX)
      const opened = await this.#dataKey.use(key =>
        openMarkedTexts(this.#io, key, { boxes: parsed, readMark: decodeProvenance })
      )
      return opened.map((item, i) => item && versionOf(parsed[i] ?? NO_BOX, item.text, item.mark))
    }
    return inGroups(this.#io.clock, boxes, { lengthOf: box => box?.length ?? 0, task })
  }

  /** The texts of many boxes, with pauses. */
  openMany(boxes: readonly (BoxText | undefined)[]): Promise<(string | undefined)[]> {
    const task = (group: readonly (BoxText | undefined)[]): Promise<(string | undefined)[]> => {
      const parsed = group.map(box => parseBox(box) ?? NO_BOX)
      return this.#dataKey.use(key => openTexts(this.#io, key, parsed))
    }
    return inGroups(this.#io.clock, boxes, { lengthOf: box => box?.length ?? 0, task })
  }

  /** {@link seal} of many texts, with pauses. @throws TypeError if one holds half a character */
  sealMany(items: readonly SealedVersion[]): Promise<BoxText[]> {
    const task = (group: readonly MarkedText<BoxMark>[]): BoxText[] =>
      this.#dataKey.use(key => sealTexts(this.#io, key, group))
    const marked = items.map(({ text, provenance }) => ({ text, mark: encodeProvenance(provenance) }))
    return inGroups(this.#io.clock, marked, { lengthOf: ({ text }) => text.length, task })
  }

  #open(box: BoxText): string {
    const parsed = parseBox(box)
    if (parsed === undefined) throw new WalletError('INVALID_CHECKSUM', {})
    return this.#dataKey.use(key => openText(this.#io, key, parsed))
  }
}

const versionOf = ({ iv_hex }: Box, text: string, provenance: Provenance | undefined): FileVersion => ({
  text,
  ...(provenance ?? foreignProvenance(iv_hex)),
  isForeign: provenance === undefined
})

type BoxesIo = Pick<Io, 'crypto' | 'random'> & { readonly clock: Pick<Clock, 'now' | 'turn'> }

/** A text, and where it comes from. */
export interface SealedVersion {
  readonly text: string
  readonly provenance: Provenance
}

/** Stands for text without the shape of a box; it does not open. */
const NO_BOX: Box = { encryptionType: -1, iv_hex: '', data_base64: '' }

/** About a millisecond of work, where cryptography is native. */
const GROUP_LENGTH = 128 * 1024

interface GroupWork<T, R> {
  lengthOf(item: T): number
  task(group: readonly T[]): readonly R[] | Promise<readonly R[]>
}

const inGroups = async <T, R>(
  clock: Pick<Clock, 'turn'>,
  items: readonly T[],
  { lengthOf, task }: GroupWork<T, R>
): Promise<R[]> => {
  const results: R[] = []
  for (let start = 0; start < items.length; ) {
    let end = start
    let length = 0
    while (end < items.length && length < GROUP_LENGTH) {
      length += lengthOf(items[end] as T) + 100
      end += 1
    }
    for (const result of await task(items.slice(start, end))) results.push(result)
    start = end
    if (start < items.length) await clock.turn()
  }
  return results
}
