import { near } from '../kernel/plugins/plugin-mistake.ts'
import { hardenRealm } from './realm-globals.ts'
import { RealmHost } from './realm-host.ts'
import { RealmLink, type RealmPort } from './realm-link.ts'
import { RealmTextDecoder, RealmTextEncoder } from './realm-text.ts'
import { type Fn, type Message, RealmValues } from './realm-values.ts'

/** The parts of a realm, which cannot import each other: each is the text of a class. */
interface RealmClasses {
  readonly values: RealmValues
  readonly link: RealmLink
  readonly host: RealmHost
  readonly harden: () => void
  /** What packages turn texts into bytes with, by its name. */
  readonly codecs: Readonly<Record<string, unknown>>
}

/**
 * The inside of a cell: what a contained plugin finds in place of a platform. Its text is evaluated in the realm of the plugin,
 * so that it uses nothing from outside of the class and does not name itself; see {@link realmText}.
 *
 * It is no boundary: a plugin that breaks it breaks its own realm. The boundaries are the {@link RealmPort}, of which a
 * plugin never gets a function, and the kernel's check of every text that comes out.
 */
class Realm {
  readonly #values: RealmValues
  readonly #link: RealmLink
  readonly #host: RealmHost
  readonly #aborts = new Map<number, Fn>()
  readonly #objects = new Map<number, object>()
  #given: unknown
  #isDefined = false
  #settings: Fn | undefined

  constructor({ values, link, host, harden, codecs }: RealmClasses) {
    this.#values = values
    this.#link = link
    this.#host = host
    this.#addGlobals(codecs)
    harden()
  }

  /** Takes one message of the kernel. */
  receive(text: string): void {
    const message: Message = JSON.parse(text)
    switch (message.type) {
      case 'open':
        this.#open(message).catch(error => this.unusable(error))
        return
      case 'call':
        this.#answer(message)
        return
      case 'answer':
        this.#link.settle(message)
        return
      case 'timer':
        this.#link.fire(message.id)
        return
      case 'abort':
        this.#link.guard(() => this.#aborts.get(message.id)?.())
        return
      case 'channel':
        this.#host.onChannel(message)
    }
  }

  /** Runs a task of `setTimeout`. */
  fire(id: number): void {
    this.#link.fire(id)
  }

  /** Reports what was thrown outside of any call. */
  thrown(error: unknown): void {
    this.#link.thrown(error)
  }

  /** Reports why the bundle is no plugin. */
  unusable(error: unknown): void {
    this.#link.post({ type: 'unusable', error: this.#values.describe(error) })
  }

  async #open(message: Message): Promise<void> {
    this.#link.sync(message)
    const plugin = await this.#definition()
    const fields = this.#read(plugin)
    const found = this.#values.exact(fields ?? plugin)
    const { kind, id, apply } = fields ?? {}
    if (fields === undefined || kind !== message.kind || typeof apply !== 'function') {
      this.#link.post({ type: 'ready', found, taps: [], answers: {} })
      return
    }
    const { checkOptions, checkSettings } = fields
    const options = (): unknown => this.#values.decode(message.options)
    const answers: Record<string, unknown> = {}
    try {
      const late: unknown = apply.call(plugin, this.#host.host(message, options(), id))
      // What is tapped later would not count, so that it fails the apply instead.
      this.#host.seal()
      answers.isLate = typeof (late as { then?: unknown } | null | undefined)?.then === 'function'
      if (answers.isLate === true)
        Promise.resolve(late).then(
          () => {
            if (!this.#host.hasFailed) this.#link.post({ type: 'late', error: null })
          },
          error => this.#host.fail(error)
        )
      if (typeof checkOptions === 'function')
        answers.leftOutReason = this.#values.exact(checkOptions.call(plugin, options()))
      if (typeof checkSettings === 'function') {
        this.#settings = settings => checkSettings.call(plugin, settings)
        answers.needsActivation = this.#needsActivation({})
      }
    } catch (error) {
      this.#link.post({ type: 'unusable', error: this.#values.describe(error), found })
      return
    }
    const taps = this.#host.taps.map(({ hook, stage, before }) => ({ hook, stage, before }))
    this.#link.post({ type: 'ready', found, taps, answers })
  }

  /** The fields of a plugin, each read once: those that there are, and all others that it has. */
  #read(plugin: unknown): Record<string, unknown> | undefined {
    if (typeof plugin !== 'object' || plugin === null || Array.isArray(plugin)) return undefined
    const known = ['kind', 'id', 'apply', 'hosts', 'info', 'displayName', 'bias', 'retired', 'isDex']
    const named = [...known, 'supportEmail', 'checkOptions', 'checkSettings', 'default']
    const fields: Record<string, unknown> = {}
    for (const name of new Set([
      ...named.filter(name => name in plugin),
      ...Object.keys(plugin).slice(0, 200)
    ]))
      if (name !== '__proto__' && name !== 'constructor' && name !== 'prototype')
        fields[name] = (plugin as Record<string, unknown>)[name]
    return fields
  }

  async #definition(): Promise<unknown> {
    const given = this.#isDefined ? this.#given : this.#exported()
    // kind and info may come from a factory.
    return typeof given === 'function' ? given() : given
  }

  /** What a bundle exports by default, or as its only plugin. */
  #exported(): unknown {
    const exported = (globalThis as Record<string, unknown>).__plugin
    // A function has an `apply`, too: that of every function.
    const isPlugin = (value: unknown): boolean =>
      typeof value === 'object' && typeof (value as { apply?: unknown } | null)?.apply === 'function'
    const inner = (exported as { default?: unknown } | undefined)?.default
    if (inner !== undefined) return inner
    if (isPlugin(exported)) return exported
    const all: readonly unknown[] = Object.values(exported ?? {})
    const plugins = all.filter(isPlugin)
    const [plugin, another] = plugins.length > 0 ? plugins : all.filter(value => typeof value === 'function')
    if (another !== undefined) throw new TypeError('The bundle exports several plugins')
    if (plugin !== undefined) return plugin
    throw new TypeError('The bundle gives no plugin: call definePlugin, or export it as the default')
  }

  #needsActivation(settings: unknown): boolean {
    const answer = this.#settings?.(settings) as { needsActivation?: unknown } | undefined
    return answer?.needsActivation === true
  }

  async #answer(message: Message): Promise<void> {
    const { id, args, context, methods } = message
    try {
      this.#link.sync(message)
      const values = (args as unknown[]).map(value => this.#values.decode(value))
      if (context !== null) values[context.at] = this.#contextOf(values[context.at], id, context)
      const answer = await this.#target(message)(...values)
      const value =
        methods === null ? this.#values.encode(answer, answer, 0) : this.#handleOf(answer, methods)
      this.#link.post({ type: 'done', id, value: value ?? null })
    } catch (error) {
      this.#link.post({ type: 'failed', id, error: this.#values.describe(error) })
    }
  }

  #target({ hook, tap, object, method, fn }: Message): Fn {
    if (hook === 'checkSettings') return settings => this.#needsActivation(settings)
    let found: unknown
    if (hook !== null) {
      const one = this.#host.taps[tap ?? -1]
      if (one !== undefined && one.hook === hook) found = one.fn
    } else if (fn !== null) found = this.#values.functions.get(fn)
    else if (method === 'forget') found = () => void this.#objects.delete(object)
    else {
      const { owner, inner } = this.#member(this.#objects.get(object), method)
      if (typeof inner === 'function') found = (...args: unknown[]) => inner.call(owner, ...args)
    }
    if (typeof found !== 'function') throw new TypeError('There is no such function any more')
    return found as Fn
  }

  /** Keeps an object with methods, such as an engine, and gives its number with those that it has. */
  #handleOf(answer: unknown, methods: readonly string[]): unknown {
    // As it is: the kernel says what is wrong with it.
    if (typeof answer !== 'object' || answer === null) return { answer: this.#values.exact(answer) }
    const id = this.#link.nextId++
    this.#objects.set(id, answer)
    const names = methods.filter(name => typeof this.#member(answer, name).inner === 'function')
    return { object: id, methods: names }
  }

  /** The member of an object by its name, or by two as in `otherMethods.getAllowance`. */
  #member(object: unknown, path: string): { readonly owner: unknown; readonly inner: unknown } {
    const [first = '', second] = path.split('.')
    const field = (owner: unknown, name: string): unknown =>
      (owner as Record<string, unknown> | null | undefined)?.[name]
    const inner = field(object, first)
    return second === undefined ? { owner: object, inner } : { owner: inner, inner: field(inner, second) }
  }

  /** The object that a hook is called with: data, and functions that send. */
  #contextOf(data: unknown, id: number, { notes, requests, signal, store, units }: Message): unknown {
    const context = (data ?? {}) as Record<string, unknown>
    const put = (path: string, value: unknown): void => {
      const [first = '', second] = path.split('.')
      if (second === undefined) context[first] = value
      else context[first] = { ...(context[first] as object | undefined), [second]: value }
    }
    for (const name of notes)
      put(name, (...given: unknown[]) => {
        const args = this.#values.trimmed(given).map(arg => this.#values.encode(arg, arg, 0) ?? null)
        this.#link.post({ type: 'note', context: id, name, args })
      })
    for (const name of requests)
      put(name, async (...args: unknown[]) => (await this.#link.request(id, name, args)) ?? undefined)
    if (signal === true) put('signal', this.#signalOf(id))
    if (store !== null) put('store', this.#storeOf(id, store))
    if (units !== null) {
      const known = new Map<string, unknown>(units)
      put('unitsOf', ({ pluginId, tokenId }: Message) => known.get(JSON.stringify([pluginId, tokenId])))
    }
    return context
  }

  #signalOf(id: number): object {
    const listeners = new Set<Fn>()
    let aborted = false
    this.#aborts.set(id, () => {
      aborted = true
      for (const listener of [...listeners]) this.#link.guard(listener)
    })
    this.#values.forgetOldest(this.#aborts)
    return Object.freeze({
      get aborted() {
        return aborted
      },
      addEventListener: (_type: string, listener: Fn) => void listeners.add(listener),
      removeEventListener: (_type: string, listener: Fn) => void listeners.delete(listener)
    })
  }

  #storeOf(id: number, entries: readonly (readonly [string, string])[]): object {
    const texts = new Map(entries)
    return Object.freeze({
      get: (key: string) => texts.get(key),
      entries: (prefix: string) => [...texts].filter(([key]) => key.startsWith(prefix)),
      write: async (changes: ReadonlyMap<string, string | null>) => {
        const list = [...changes]
        await this.#link.request(id, 'store.write', [list])
        for (const [key, text] of list) {
          if (text === null) texts.delete(key)
          else texts.set(key, text)
        }
      }
    })
  }

  #addGlobals(codecs: RealmClasses['codecs']): void {
    const add = (name: string, value: unknown): void => {
      Object.defineProperty(globalThis, name, { value, writable: false, configurable: false })
    }
    for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics'])
      delete (globalThis as Record<string, unknown>)[name]
    const lines = this.#host.log() as Record<string, Fn>
    const print =
      (name: string) =>
      (...args: unknown[]): void =>
        void lines[name]?.(args.map(String).join(' '))
    const [debug, info, warn, error] = ['debug', 'info', 'warn', 'error'].map(print)
    add('console', { debug, log: info, info, warn, error })
    add('setTimeout', (task: Fn, milliseconds: number) => {
      if (typeof task !== 'function') throw new TypeError('setTimeout takes a function')
      return this.#link.sleep(milliseconds, task)
    })
    for (const [name, codec] of Object.entries(codecs)) add(name, codec)
    add('clearTimeout', (id: number) => void this.#link.timers.delete(id))
    add('definePlugin', (plugin: unknown) => {
      if (this.#isDefined) throw new TypeError('definePlugin was called twice')
      this.#isDefined = true
      this.#given = plugin
    })
  }
}

/**
 * Makes a realm of the global object that it is called in, which becomes that of the plugin. For a thread that has only one
 * realm; whatever it needs of its platform it must have kept before.
 */
export const makeRealm = (port: RealmPort): Realm => {
  const values = new RealmValues()
  const link = new RealmLink(port, values)
  const host = new RealmHost(link, values, near)
  const codecs = { TextEncoder: RealmTextEncoder, TextDecoder: RealmTextDecoder }
  return new Realm({ values, link, host, harden: hardenRealm, codecs })
}

/**
 * The text of a function that makes a realm of its {@link RealmPort}, to be evaluated in the realm of the plugin before the
 * plugin. The thread calls `receive` with each message, `fire` for timers, `thrown` and `unusable` with what it caught.
 *
 * @example
 * ```ts
 * const realm = vm.runInContext(realmText, context)(port)
 * realm.receive('{"type":"open"}')
 * ```
 */
export const realmText: string = `(() => {
'use strict'
const Values = ${RealmValues}
const Link = ${RealmLink}
const Host = ${RealmHost}
const Realm = ${Realm}
const harden = ${hardenRealm}
const TextEncoder = ${RealmTextEncoder}
const TextDecoder = ${RealmTextDecoder}
const near = ${near}
return port => {
  const values = new Values()
  const link = new Link(port, values)
  const host = new Host(link, values, near)
  return new Realm({ values, link, host, harden, codecs: { TextEncoder, TextDecoder } })
}
})()`
