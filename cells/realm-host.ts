import type { RealmLink } from './realm-link.ts'
import type { Fn, Message, RealmValues } from './realm-values.ts'

/** Finds the name that another one nearly is. */
type Near = (name: string, names: readonly string[]) => string | undefined

/** One tap of a plugin, with the place that it wants among those of others. */
interface RealmTap {
  readonly hook: string
  readonly fn: Fn
  readonly stage: number | undefined
  readonly before: string | undefined
}

interface ChannelFunctions {
  readonly onText: Fn
  readonly onClose: Fn
}

/** The host that a contained plugin is applied with: everything in it is a request to the kernel. Evaluated in the realm. */
export class RealmHost {
  /** What the plugin has tapped, in its order: the kernel calls each by its place here. */
  readonly taps: RealmTap[] = []
  /** True once the kernel was told that the plugin cannot do its work. */
  hasFailed = false
  #isSealed = false
  readonly #link: RealmLink
  readonly #values: RealmValues
  readonly #channels = new Map<number, ChannelFunctions>()
  readonly #near: Near

  constructor(link: RealmLink, values: RealmValues, near: Near) {
    this.#link = link
    this.#values = values
    this.#near = near
  }

  /** The host that `apply` gets: `parts` names what its kind may use. */
  host({ hooks, parts, kind }: Message, options: unknown, pluginId: unknown): object {
    const refuse = (mistake: object): never => {
      const details = { pluginId, ...mistake }
      const { field, found, expected } = details as Message
      const message = `${field} is ${found}, and must be ${expected}`
      throw this.#values.errorOf({ name: 'Error', message, code: 'PLUGIN_INVALID', details })
    }
    const tapped: Record<string, object> = {}
    for (const [name, method] of Object.entries(hooks as Record<string, string>))
      tapped[name] = this.#hook(name, method, refuse)
    const names = Object.keys(tapped)
    const probed = ['then', 'toJSON', 'constructor', 'asymmetricMatch', 'nodeType']
    const known = this.#guarded(tapped, name => {
      if (probed.includes(name)) return
      const meant = this.#near(name, names)
      const isLate = name === 'rankQuotes' && kind === 'policy'
      const mistake: Record<string, string> = {
        field: `hooks.${name.slice(0, 40)}`,
        found: isLate
          ? 'a hook that is answered at once, which a cell cannot'
          : `no hook of ${kind === 'observer' ? 'an' : 'a'} ${kind} plugin`,
        expected: `one of ${names.join(', ')}`
      }
      if (meant !== undefined) mistake.hint = `Did you mean ${meant}?`
      refuse(mistake)
    })
    const all: Record<string, unknown> = {
      options,
      log: this.log(),
      clock: this.#clock(),
      disk: this.#disk(),
      io: this.#io(parts),
      fail: (error: unknown) => this.fail(error)
    }
    const host: Record<string, unknown> = { hooks: known }
    for (const part of parts) if (part in all) host[part] = all[part]
    return Object.freeze(host)
  }

  /** One hook, in the words of the kernel for a plugin in its own process. */
  #hook(name: string, method: string, refuse: (mistake: object) => never): object {
    const tap = (_name: unknown, fn: Fn, order: { stage?: unknown; before?: unknown } = {}): void => {
      if (typeof fn !== 'function')
        refuse({
          field: `the call of hooks.${name}.${method}`,
          found: 'without a function as its second argument',
          expected: `${method}(name, function)`
        })
      if (this.#isSealed) {
        const error = new Error(`hooks.${name} is tapped after apply has returned, and would never be called`)
        this.fail(error)
        throw error
      }
      const { stage, before } = order
      this.taps.push({
        ...{ hook: name, fn },
        stage: typeof stage === 'number' && Number.isFinite(stage) ? stage : undefined,
        before: typeof before === 'string' ? before.slice(0, 100) : undefined
      })
    }
    return this.#guarded({ [method]: tap }, other => {
      if (!['tap', 'tapPromise', 'tapAsync'].includes(other)) return
      const hint = method === 'tap' ? 'It waits for no promise.' : 'Its function gives a promise.'
      refuse({
        field: `hooks.${name}.${other}`,
        ...{ found: 'not how this hook is tapped', expected: method, hint }
      })
    })
  }

  /** Takes no more taps: the kernel knows those that there are when `apply` returns, and calls no other. */
  seal(): void {
    this.#isSealed = true
  }

  /** Tells the kernel at once, and once, that the plugin cannot do its work. */
  fail(error: unknown): void {
    if (this.hasFailed) return
    this.hasFailed = true
    this.#link.post({ type: 'late', error: this.#values.describe(error) })
  }

  /** Has a function called when a property is read that is not there. */
  #guarded(known: Record<string, unknown>, missed: (name: string) => void): object {
    return new Proxy(Object.freeze(known), {
      get: (target, name) => {
        if (typeof name === 'string' && !(name in target)) missed(name)
        return target[name as string]
      }
    })
  }

  #io(parts: readonly string[]): object {
    const io: Record<string, unknown> = { clock: this.#clock(), fetch: this.#fetch.bind(this) }
    if (parts.includes('hashes')) io.crypto = this.#hashes()
    if (parts.includes('crypto')) {
      io.crypto = this.#crypto()
      io.random = (count: number) => this.#values.fromHex(this.#link.native('random', String(count)))
    }
    for (const name of ['connect', 'webSocket']) {
      if (parts.includes(name))
        io[name] = (to: unknown, handlers: ChannelFunctions, options?: { readonly signal?: unknown }) =>
          this.#connect([name, to], handlers, options?.signal)
    }
    return Object.freeze(io)
  }

  log(): object {
    const line = (name: string) => (text: unknown) =>
      this.#link.post({ type: 'note', context: 0, name: `log.${name}`, args: [String(text).slice(0, 1000)] })
    return Object.freeze({
      debug: line('debug'),
      info: line('info'),
      warn: line('warn'),
      error: line('error')
    })
  }

  #clock(): object {
    const passed = (): number => Number(this.#link.native('monotonic')) - this.#link.time.syncedAt
    return Object.freeze({
      now: () => this.#link.time.epoch + Math.round(passed()),
      monotonic: () => this.#link.time.monotonic + passed(),
      after: (milliseconds: number, task: Fn) => {
        const id = this.#link.nextId++
        this.#link.timers.set(id, task)
        this.#link.post({ type: 'note', context: 0, name: 'after', args: [id, Number(milliseconds)] })
        return () => {
          if (this.#link.timers.delete(id))
            this.#link.post({ type: 'note', context: 0, name: 'cancel', args: [id] })
        }
      },
      turn: () => new Promise<void>(resolve => this.#link.sleep(0, () => resolve()))
    })
  }

  #disk(): object {
    const call =
      (name: string) =>
      (...args: unknown[]) =>
        this.#link.request(0, `disk.${name}`, args)
    const [getText, setText, remove, list] = ['getText', 'setText', 'delete', 'list'].map(call)
    return Object.freeze({
      getText: async (path: string) => (await getText?.(path)) ?? undefined,
      setText,
      delete: remove,
      list
    })
  }

  async #fetch(url: unknown, options: Record<string, unknown> = {}): Promise<unknown> {
    const { signal, ...others } = options
    const id = this.#link.nextId++
    const pending = this.#link.request(0, 'fetch', [id, String(url), others])
    const { aborted, addEventListener } = (signal ?? {}) as Record<string, unknown>
    const abort = (): void => this.#link.post({ type: 'note', context: 0, name: 'abort', args: [id] })
    if (aborted === true) abort()
    else if (typeof addEventListener === 'function') addEventListener.call(signal, 'abort', abort)
    return pending
  }

  async #connect(
    [name, to]: [string, unknown],
    handlers: ChannelFunctions,
    signal: unknown
  ): Promise<unknown> {
    const id = this.#link.nextId++
    this.#channels.set(id, handlers)
    const note = (what: string, args: unknown[]): void =>
      this.#link.post({ type: 'note', context: 0, name: what, args: [id, ...args] })
    let isOpen = false
    const abort = (): void => {
      if (!isOpen) note('channel.close', [])
    }
    const opening = this.#link.request(0, name, [id, to])
    const { aborted, addEventListener } = (signal ?? {}) as Record<string, unknown>
    if (aborted === true) abort()
    else if (typeof addEventListener === 'function') addEventListener.call(signal, 'abort', abort)
    try {
      await opening
      isOpen = true
    } catch (error) {
      this.#channels.delete(id)
      throw error
    }
    return Object.freeze({
      send: (text: unknown) => note('channel.send', [String(text)]),
      close: () => note('channel.close', [])
    })
  }

  onChannel({ id, text, error }: Message): void {
    const handlers = this.#channels.get(id)
    if (typeof text === 'string') this.#link.guard(() => handlers?.onText(text))
    else {
      this.#channels.delete(id)
      this.#link.guard(() => handlers?.onClose(error === null ? undefined : this.#values.errorOf(error)))
    }
  }

  #hashes(): Record<string, unknown> {
    const bytes =
      (name: string) =>
      (...inputs: Uint8Array[]) =>
        this.#values.fromHex(this.#link.native(name, ...inputs.map(input => this.#values.toHex(input))))
    return {
      sha256: bytes('sha256'),
      hmacSha256: bytes('hmacSha256'),
      hmacSha1: bytes('hmacSha1'),
      toBase64: (data: Uint8Array) => this.#link.native('toBase64', this.#values.toHex(data)),
      fromBase64: (text: string) => this.#values.fromHex(this.#link.native('fromBase64', String(text))),
      toHex: (data: Uint8Array) => this.#values.toHex(data),
      fromHex: (text: string) => {
        if (typeof text !== 'string' || text.length % 2 > 0 || /[^0-9a-f]/i.test(text))
          throw new TypeError('This is no hex')
        return this.#values.fromHex(text)
      }
    }
  }

  #crypto(): object {
    const hashes = this.#hashes()
    const cipher = (name: string) => (key: Uint8Array, iv: Uint8Array, data: Uint8Array) =>
      this.#values.fromHex(
        this.#link.native(name, this.#values.toHex(key), this.#values.toHex(iv), this.#values.toHex(data))
      )
    return Object.freeze({
      ...hashes,
      name: 'cell',
      aesCbcEncrypt: cipher('aesCbcEncrypt'),
      aesCbcDecrypt: cipher('aesCbcDecrypt'),
      scrypt: async (
        data: Uint8Array,
        salt: Uint8Array,
        { n, r, p }: { n: number; r: number; p: number },
        length: number
      ) => {
        const cost = [n, r, p, length].map(Number).join()
        return this.#values.fromHex(
          this.#link.native('scrypt', this.#values.toHex(data), this.#values.toHex(salt), cost)
        )
      },
      writeUtf8: (text: string, bytes: Uint8Array, start: number) => {
        const written = this.#values.fromHex(this.#link.native('toUtf8', String(text)))
        bytes.set(written, start)
        return start + written.length
      }
    })
  }
}
