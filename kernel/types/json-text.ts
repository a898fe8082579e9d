/** How much JSON text may hold. */
export interface JsonLimits {
  /** The deepest nesting of lists and objects; 64 if left out. */
  readonly maxDepth?: number
  /** The most values, names of fields included; a million if left out. */
  readonly maxValues?: number
}

/**
 * Parses JSON text from outside; the only place that calls `JSON.parse` on such text (`npm run check` sees to that).
 *
 * Depth and number of values are counted before anything is made of the text: 190 MB of `[` are refused at the 65th letter,
 * where `JSON.parse` would take the process down.
 *
 * @throws SyntaxError whose message is a rule such as `is no JSON` and quotes nothing of the text
 */
export const parseJsonText = (text: string, limits?: JsonLimits): unknown => {
  checkJsonText(text, limits)
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError('is no JSON')
  }
}

/** The check of {@link parseJsonText} alone, for who does something else with the text before it is parsed. @throws SyntaxError */
export const checkJsonText = (text: string, limits: JsonLimits = {}): void => {
  new JsonScan(text, limits).advance(text.length)
}

/** {@link parseJsonText}, with undefined for text that is refused. */
export const tryJsonText = (text: string, limits?: JsonLimits): unknown => {
  try {
    return parseJsonText(text, limits)
  } catch {
    return undefined
  }
}

/** What {@link JsonScan} reports of a comma or colon, or of a bracket with the depth inside of it. */
export type OnMark = (code: number, depth: number, at: number) => void

/**
 * Counts depth and values of JSON text, as much at a time as the caller likes.
 *
 * It does not check the grammar, which `JSON.parse` does; up to the first error of grammar both see the same brackets.
 */
export class JsonScan {
  readonly #text: string
  readonly #maxDepth: number
  readonly #maxValues: number
  readonly #onMark: OnMark | undefined
  #at = 0
  #depth = 0
  #values = 1

  constructor(text: string, { maxDepth = MAX_DEPTH, maxValues = MAX_VALUES }: JsonLimits, onMark?: OnMark) {
    this.#text = text
    this.#maxDepth = maxDepth
    this.#maxValues = maxValues
    this.#onMark = onMark
  }

  /**
   * Reads about `length` characters more; a string that begins among them is read to its end.
   *
   * @returns true if there is more to read
   * @throws SyntaxError as {@link parseJsonText}
   */
  advance(length: number): boolean {
    const text = this.#text
    const onMark = this.#onMark
    const end = Math.min(text.length, this.#at + length)
    let at = this.#at
    for (; at < end; at += 1) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) at = stringEnd(text, at)
      else if (code === COMMA || code === COLON) {
        this.#values += 1
        onMark?.(code, this.#depth, at)
      } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        this.#depth += 1
        this.#values += 1
        if (this.#depth > this.#maxDepth) throw new SyntaxError(`nests deeper than ${this.#maxDepth}`)
        onMark?.(code, this.#depth, at)
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        onMark?.(code, this.#depth, at)
        this.#depth -= 1
      }
      if (this.#values > this.#maxValues) throw new SyntaxError(`holds more than ${this.#maxValues} values`)
    }
    this.#at = at
    return at < text.length
  }
}

const MAX_DEPTH = 64
const MAX_VALUES = 1_000_000

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** Where the string that begins at `start` ends: its closing quotation mark, or the end of a text that has none. */
const stringEnd = (text: string, start: number): number => {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at)
    if (at < 0) return text.length
    let before = at - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    if ((at - before) % 2 === 1) return at
  }
}
