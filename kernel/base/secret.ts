const HIDDEN = '[secret]'

/**
 * Key material that cannot be printed, cloned or serialised by accident.
 *
 * The value lives in a private field; text, JSON and inspection give `[secret]`, `structuredClone` an empty
 * object. `use` is the only reader. `destroy` overwrites bytes; JavaScript cannot promise more (SECURITY.md).
 *
 * @example
 * ```ts
 * import { Secret } from 'holdfast'
 *
 * const key = new Secret(io.random(32))
 * const id = key.use(bytes => io.crypto.toHex(io.crypto.sha256(bytes)))
 * key.destroy()
 * ```
 */
export class Secret<T> {
  #value: T | undefined

  constructor(value: T) {
    this.#value = value
  }

  /**
   * Runs `reader` with the value and returns its result; the reader must not keep the value.
   *
   * @throws TypeError after `destroy`
   */
  use<R>(reader: (value: T) => R): R {
    if (this.#value === undefined) throw new TypeError('This secret has been destroyed')
    return reader(this.#value)
  }

  /** True until `destroy`. */
  get isAlive(): boolean {
    return this.#value !== undefined
  }

  /** Overwrites bytes with zeros and drops the value. */
  destroy(): void {
    if (this.#value instanceof Uint8Array) this.#value.fill(0)
    this.#value = undefined
  }

  toString(): string {
    return HIDDEN
  }

  toJSON(): string {
    return HIDDEN
  }

  static {
    Object.defineProperty(Secret.prototype, Symbol.for('nodejs.util.inspect.custom'), { value: () => HIDDEN })
  }
}
