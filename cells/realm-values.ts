/** Any function of a realm. */
export type Fn = (...args: unknown[]) => unknown

/** A message between the kernel and a cell, as JSON gives it; `protocol.ts` has the shapes. */
// biome-ignore lint/suspicious/noExplicitAny: the reader of each message knows its type.
export type Message = any

/**
 * How values are written between a cell and the kernel: JSON in which `{ $: … }` stands for a date, bytes or a function.
 *
 * Its text is evaluated in the realm of the plugin, as that of every class of `realm.ts`: it uses nothing from outside of itself.
 */
export class RealmValues {
  /** The functions that the kernel may call by their number. */
  readonly functions: Map<number, Fn> = new Map()
  #nextId = 1

  /** Says what was thrown, in data. */
  describe(thrown: unknown): object {
    try {
      // As the kernel says it of a plugin in its own process.
      if (typeof thrown === 'string') return { name: 'Error', message: thrown.slice(0, 10_000) }
      if (typeof thrown !== 'object' || thrown === null)
        return { name: 'Error', message: `It threw ${typeof thrown}` }
      const { name, message, code, details, stack } = thrown as Record<string, unknown>
      const text = (value: unknown, length: number): string =>
        typeof value === 'string' ? value.slice(0, length) : ''
      const shown = {
        name: text(name, 100) || 'Error',
        message: text(message, 10_000),
        stack: text(stack, 4000)
      }
      if (typeof code !== 'string') return shown
      return { ...shown, code: text(code, 100), details: this.encode(details ?? {}, undefined, 0) }
    } catch {
      return { name: 'Error', message: 'It threw something that cannot be read' }
    }
  }

  toHex(data: Uint8Array): string {
    let hex = ''
    for (const byte of data) hex += (byte < 16 ? '0' : '') + byte.toString(16)
    return hex
  }

  fromHex(hex: string): Uint8Array {
    const bytes = new Uint8Array(hex.length / 2)
    for (let at = 0; at < bytes.length; at += 1)
      bytes[at] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16)
    return bytes
  }

  errorOf({ name, message, code, details }: Message): Error {
    const error = new Error(message)
    const show = (field: string, value: unknown): void => {
      Object.defineProperty(error, field, { value, enumerable: field === 'code', configurable: true })
    }
    show('name', name)
    if (code !== undefined) show('code', code)
    if (details !== undefined) show('details', this.decode(details))
    return error
  }

  /** JSON data of a value; dates, bytes and functions as `{ $: … }`, which a plain `$` becomes too. */
  encode(value: unknown, owner: unknown, depth: number): unknown {
    if (depth > 64) throw new TypeError('The data nests deeper than 64')
    if (typeof value === 'bigint') throw new TypeError('A BigInt is no JSON')
    if (typeof value === 'function') {
      const id = this.#nextId++
      this.functions.set(id, (...args: unknown[]) => value.call(owner, ...args))
      this.forgetOldest(this.functions)
      return { $: 'function', value: id }
    }
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Date) return { $: 'date', value: value.getTime() }
    if (value instanceof Uint8Array) return { $: 'bytes', value: this.toHex(value) }
    if (Array.isArray(value)) return value.map(item => this.encode(item, value, depth + 1) ?? null)
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') return this.encode(toJSON.call(value), undefined, depth + 1)
    const fields: Record<string, unknown> = {}
    for (const name of Object.keys(value)) {
      const field = (value as Record<string, unknown>)[name]
      if (field !== undefined) fields[name] = this.encode(field, value, depth + 1)
    }
    return '$' in fields ? { $: 'plain', value: fields } : fields
  }

  /**
   * Writes what a plugin says of itself, so that the kernel can tell everything from everything else that stands there: what JSON
   * does not have is written as `{ $: … }` too.
   */
  exact(value: unknown, depth = 0): unknown {
    switch (typeof value) {
      case 'string':
        return value.slice(0, 200_000)
      case 'number':
        return Number.isFinite(value) ? value : { $: 'number', value: String(value) }
      case 'object':
        break
      case 'boolean':
        return value
      default:
        return { $: typeof value }
    }
    if (value === null) return value
    if (depth > 28) return { $: 'deep' }
    if (Array.isArray(value)) return value.slice(0, 10_000).map(item => this.exact(item, depth + 1))
    const { then, toJSON } = value as { then?: unknown; toJSON?: unknown }
    if (typeof then === 'function') return { $: 'promise' }
    if (typeof toJSON === 'function') return { $: 'toJSON', value: this.exact(toJSON.call(value), depth + 1) }
    const fields: Record<string, unknown> = {}
    for (const name of Object.keys(value)) {
      if (['__proto__', 'constructor', 'prototype'].includes(name)) return { $: 'forbidden' }
      try {
        fields[name] = this.exact((value as Record<string, unknown>)[name], depth + 1)
      } catch {
        fields[name] = { $: 'unreadable' }
      }
    }
    return '$' in fields ? { $: 'plain', value: fields } : fields
  }

  decode(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(item => this.decode(item))
    const { $: type, value: inner } = value as { $?: string; value?: Message }
    if (type === 'date') return new Date(inner)
    if (type === 'bytes') return this.fromHex(inner)
    const fields = type === 'plain' ? inner : value
    return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, this.decode(field)]))
  }

  /** Arguments that are left out stay left out. */
  trimmed(args: readonly unknown[]): readonly unknown[] {
    let end = args.length
    while (end > 0 && args[end - 1] === undefined) end -= 1
    return args.slice(0, end)
  }

  forgetOldest(map: Map<number, unknown>): void {
    for (const id of map.keys()) {
      if (map.size <= 1000) return
      map.delete(id)
    }
  }
}
