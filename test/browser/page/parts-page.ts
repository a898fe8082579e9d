/// <reference lib="dom" />
// Runs in a browser: what a test calls there, over the parts for web pages.
import { isWalletError } from '../../../kernel/base/errors.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import { makeBrowserIo } from '../../../platform/browser/index.ts'
import { openBrowserDisk } from '../../../plugins/storage/browser/browser-storage.ts'
import { openLocalDisk } from '../../../plugins/storage/local-storage.ts'

/** An answer that can leave the page. */
export type Answer =
  | { readonly value: unknown }
  | { readonly code: string; readonly details: Readonly<Record<string, unknown>> }

/** What the page offers, as `globalThis.parts`. */
export interface Parts {
  openDisk(name: string, importsLocalStorage?: boolean): Promise<Answer>
  callDisk(name: string, method: keyof Disk, args: readonly unknown[]): Promise<Answer>
  /**
   * Scrypt of two texts, hexadecimal, and how often a timer of the page fired meanwhile.
   *
   * @param worker - the address of the worker's file; none if it is null
   */
  scrypt(worker: string | null, n: number): Promise<{ readonly key: string; readonly ticks: number }>
}

const disks = new Map<string, Disk>()

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
  openDisk: (name, importsLocalStorage = false) =>
    answerOf(async () => {
      const options = importsLocalStorage ? { name, importFrom: () => openLocalDisk() } : { name }
      disks.set(name, await openBrowserDisk(options))
    }),
  callDisk: (name, method, args) =>
    answerOf(async () => {
      const disk = disks.get(name)
      const call = disk?.[method] as ((...args: readonly unknown[]) => Promise<unknown>) | undefined
      return call?.(...args)
    }),
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
