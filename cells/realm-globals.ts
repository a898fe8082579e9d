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
  for (const name of ['', 'Type', 'Range', 'Syntax', 'Eval', 'Reference', 'URI', 'Aggregate']) {
    const type = globals[`${name}Error`] as ErrorConstructor
    allowOverrides(type.prototype, ['name', 'message', 'constructor', 'toString'])
  }
  const seen = new Set<unknown>([globalThis])
  const { getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect
  const isObject = (value: unknown): value is object =>
    typeof value === 'function' || (typeof value === 'object' && value !== null)
  // Each thread does this for some 1,500 objects before its plugin can run, most of them plain functions.
  const walk = (value: unknown): void => {
    if (!isObject(value) || seen.has(value)) return
    seen.add(value)
    walk(getPrototypeOf(value))
    const keys = ownKeys(value)
    const isPlain = typeof value === 'function' && keys.length === 2 && keys[1] === 'name'
    for (const key of isPlain ? [] : keys) {
      const { value: inner, get, set } = getOwnPropertyDescriptor(value, key) ?? {}
      if (isObject(inner)) walk(inner)
      if (get !== undefined) walk(get)
      if (set !== undefined) walk(set)
    }
    Object.freeze(value)
  }
  for (const root of roots) walk(root)
}
