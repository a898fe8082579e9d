import { openBox, openText, sealText } from '../crypto/box.ts'
import { openTexts, sealTexts } from '../crypto/box-batch.ts'
import { WalletError } from '../errors/wallet-error.ts'
import type { Clock, Io } from '../io/io.ts'
import type { Secret } from '../state/secret.ts'
import type { Box } from '../types/keys.ts'
import type { FileBoxes } from './apply-reply.ts'
import { type BoxText, boxText, parseBox } from './repo-record.ts'

/** The boxes of one repo: opening and sealing with its data key, which is never kept in the clear. */
export class RepoBoxes implements FileBoxes {
  readonly #io: BoxesIo
  readonly #dataKey: Secret<Uint8Array>

  constructor(io: BoxesIo, dataKey: Secret<Uint8Array>) {
    this.#io = io
    this.#dataKey = dataKey
  }

  open(box: BoxText): string | undefined {
    try {
      return this.#open(box)
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

  seal(text: string): BoxText {
    return boxText(this.#dataKey.use(key => sealText(this.#io, key, text)))
  }

  /** {@link open} of many boxes, with pauses. */
  openMany(boxes: readonly (BoxText | undefined)[]): Promise<(string | undefined)[]> {
    const task = (group: readonly (BoxText | undefined)[]): Promise<(string | undefined)[]> => {
      const parsed = group.map(box => parseBox(box) ?? NO_BOX)
      return this.#dataKey.use(key => openTexts(this.#io, key, parsed))
    }
    return inGroups(this.#io.clock, boxes, { lengthOf: box => box?.length ?? 0, task })
  }

  /** {@link seal} of many texts, with pauses. @throws TypeError if one holds half a character */
  sealMany(texts: readonly string[]): Promise<BoxText[]> {
    const task = (group: readonly string[]): BoxText[] =>
      this.#dataKey.use(key => sealTexts(this.#io, key, group))
    return inGroups(this.#io.clock, texts, { lengthOf: text => text.length, task })
  }

  #open(box: BoxText): string {
    const parsed = parseBox(box)
    if (parsed === undefined) throw new WalletError('INVALID_CHECKSUM', {})
    return this.#dataKey.use(key => openText(this.#io, key, parsed))
  }
}

type BoxesIo = Pick<Io, 'crypto' | 'random'> & { readonly clock: Pick<Clock, 'turn'> }

/** What has not even the shape of a box; it does not open. */
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
