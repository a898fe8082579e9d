/// <reference lib="dom" />
// Runs in a browser: what a test calls there, over the parts for web pages.
import { compact } from '../../../kernel/base/compact.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import type { KeyRange, Store } from '../../../kernel/io/store.ts'
import { makeBrowserIo } from '../../../platform/browser/index.ts'
import { openBrowserStore } from '../../../plugins/storage/browser/browser-storage.ts'
import { openLocalDisk } from '../../../plugins/storage/local-storage.ts'

/** An answer that can leave the page. */
export type Answer =
  | { readonly value: unknown }
  | { readonly code: string; readonly details: Readonly<Record<string, unknown>> }

/** What the page offers, as `globalThis.parts`. */
export interface Parts {
  openStore(name: string, importsLocalStorage?: boolean): Promise<Answer>
  /** Calls a method of a store; bytes are base64 here, and null where there are none. */
  getMany(name: string, keys: readonly string[]): Promise<Answer>
  batch(name: string, changes: readonly (readonly [key: string, value: string | null])[]): Promise<Answer>
  keys(name: string, range: PageRange): Promise<Answer>
  close(name: string): Promise<Answer>
  /**
   * Scrypt of two texts, hexadecimal, and how often a timer of the page fired meanwhile.
   *
   * @param worker - the address of the worker's file; none if it is null
   */
  scrypt(worker: string | null, n: number): Promise<{ readonly key: string; readonly ticks: number }>
}

/** A {@link KeyRange} with base64 for bytes. */
export interface PageRange extends Pick<KeyRange, 'limit' | 'reverse'> {
  readonly after?: string
  readonly before?: string
}

const stores = new Map<string, Store>()
const { toBase64, fromBase64 } = makeBrowserIo().crypto
const textOf = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : toBase64(bytes)
const bytesOf = (text: string | null | undefined): Uint8Array | undefined =>
  typeof text === 'string' ? fromBase64(text) : undefined

const answerOf = async (task: () => Promise<unknown>): Promise<Answer> => {
  try {
    return { value: await task() }
  } catch (error) {
    if (!isWalletError(error)) throw error
    return { code: error.code, details: { ...error.details } }
  }
}

interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string }
  ): { createScriptURL(url: string): string }
}

const { trustedTypes } = globalThis as unknown as { readonly trustedTypes: Policies }
const policy = trustedTypes.createPolicy('parts', { createScriptURL: url => url })

const parts: Parts = {
  openStore: (name, importsLocalStorage = false) =>
    answerOf(async () => {
      const options = importsLocalStorage ? { name, importFrom: () => openLocalDisk() } : { name }
      stores.set(name, await openBrowserStore(options))
    }),
  getMany: (name, keys) =>
    answerOf(async () => (await stores.get(name)?.getMany(keys.map(fromBase64)))?.map(textOf)),
  batch: (name, changes) =>
    answerOf(async () =>
      stores
        .get(name)
        ?.batch(changes.map(([key, value]) => ({ key: fromBase64(key), value: bytesOf(value) })))
    ),
  keys: (name, { after, before, ...range }) =>
    answerOf(async () => {
      const bounds = compact({ after: bytesOf(after), before: bytesOf(before) })
      return (await stores.get(name)?.keys({ ...range, ...bounds }))?.map(textOf)
    }),
  close: name => answerOf(async () => stores.get(name)?.close()),
  async scrypt(worker, n) {
    const scryptWorker = (): Worker => new Worker(policy.createScriptURL(worker ?? ''), { type: 'module' })
    const { crypto } = makeBrowserIo(worker === null ? {} : { scryptWorker })
    let ticks = 0
    const timer = setInterval(() => {
      ticks += 1
    }, 1)
    const [data, salt] = [new TextEncoder().encode('password'), new TextEncoder().encode('salt')]
    const key = crypto.toHex(await crypto.scrypt(data, salt, { n, r: 8, p: 1 }, 32))
    clearInterval(timer)
    return { key, ticks }
  }
}

Object.assign(globalThis, { parts })
