import { AsyncLocalStorage } from 'node:async_hooks'

/** Calls plugin code and notes which globals it uses that a plugin has to take from its host. */
export interface GlobalUses {
  /** Such as `fetch()` and `Date.now()`, each once. */
  readonly names: ReadonlySet<string>
  /** Runs plugin code, and what it starts. */
  within<T>(run: () => T): T
  /** Runs code of the kit or of an author's fake provider that plugin code has called. */
  without<T>(run: () => T): T
  /** Gives the globals back. */
  end(): void
}

/** Watches the globals until `end` is called; several watches may overlap. */
export const watchGlobals = (): GlobalUses => {
  const names = new Set<string>()
  if (watchCount === 0) originals = replaceGlobals()
  watchCount += 1
  return {
    names,
    within: run => current.run(names, run),
    without: run => current.exit(run),
    end() {
      watchCount -= 1
      if (watchCount === 0) Object.assign(globalThis, originals)
    }
  }
}

const current = new AsyncLocalStorage<Set<string>>()
let watchCount = 0
let originals: object = {}

const note = (name: string): void => void current.getStore()?.add(name)

const WATCHED = ['fetch', 'setTimeout', 'setInterval', 'setImmediate'] as const

type AnyFunction = (...args: never[]) => unknown

/** Puts functions that note their use in the place of the globals; returns what stood there. */
const replaceGlobals = (): object => {
  const all = globalThis as unknown as Record<string, unknown>
  const kept: Record<string, unknown> = { Date: all.Date, Math: all.Math }
  for (const name of WATCHED) {
    const original = all[name]
    if (typeof original !== 'function') continue
    kept[name] = original
    all[name] = new Proxy(original, {
      apply(target, self, args) {
        note(`${name}()`)
        return Reflect.apply(target as AnyFunction, self, args)
      }
    })
  }
  all.Date = new Proxy(Date, {
    construct(target, args, self) {
      if (args.length === 0) note('new Date()')
      return Reflect.construct(target, args, self)
    },
    get(target, name, self) {
      if (name === 'now') note('Date.now()')
      return Reflect.get(target, name, self)
    }
  })
  all.Math = new Proxy(Math, {
    get(target, name, self) {
      if (name === 'random') note('Math.random()')
      return Reflect.get(target, name, self)
    }
  })
  return kept
}
