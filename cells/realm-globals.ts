/**
 * Freezes what every plugin of a realm finds there. What stands on a prototype can still be overridden in the objects below it.
 *
 * Its text is evaluated in the realm of the plugin: it uses nothing from outside of itself.
 */
export function hardenRealm(): void {
  const allowOverrides = (prototype: object, names: readonly string[]): void => {
    for (const name of names) {
      const { value, writable, configurable } = Object.getOwnPropertyDescriptor(prototype, name) ?? {}
      if (writable !== true || configurable !== true) continue
      Object.defineProperty(prototype, name, {
        configurable: true,
        get: () => value,
        set(this: object, next: unknown) {
          if (this === prototype) throw new TypeError(`${name} of a built-in prototype is frozen`)
          Object.defineProperty(this, name, {
            value: next,
            writable: true,
            enumerable: true,
            configurable: true
          })
        }
      })
    }
  }
  const globals = globalThis as unknown as Record<string, unknown>
  const roots: unknown[] = [
    Object.getPrototypeOf(function* () {}),
    Object.getPrototypeOf(async () => {}),
    Object.getPrototypeOf(async function* () {}),
    Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())),
    Object.getPrototypeOf(new Map().entries()),
    Object.getPrototypeOf(new Set().entries()),
    Object.getPrototypeOf(''[Symbol.iterator]()),
    Object.getPrototypeOf(/x/[Symbol.matchAll](''))
  ]
  for (const name of Object.getOwnPropertyNames(globals)) {
    const { value } = Object.getOwnPropertyDescriptor(globals, name) ?? {}
    if (name === 'globalThis') continue
    roots.push(value)
    Object.defineProperty(globals, name, { value, writable: false, configurable: false, enumerable: false })
  }
  allowOverrides(Object.prototype, Object.getOwnPropertyNames(Object.prototype))
  allowOverrides(Function.prototype, ['constructor', 'toString'])
  allowOverrides(Array.prototype, ['constructor', 'toString'])
  for (const type of [
    Error,
    TypeError,
    RangeError,
    SyntaxError,
    EvalError,
    ReferenceError,
    URIError,
    AggregateError
  ])
    allowOverrides(type.prototype, ['name', 'message', 'constructor', 'toString'])
  const seen = new Set<object>()
  const walk = (value: unknown): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return
    if (seen.has(value) || value === globalThis) return
    seen.add(value)
    walk(Object.getPrototypeOf(value))
    for (const key of Reflect.ownKeys(value)) {
      const { value: inner, get, set } = Object.getOwnPropertyDescriptor(value, key) ?? {}
      for (const next of [inner, get, set]) walk(next)
    }
    Object.freeze(value)
  }
  for (const root of roots) walk(root)
}
