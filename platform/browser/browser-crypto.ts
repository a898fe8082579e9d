/// <reference lib="dom" />

/// <reference lib="dom" />

import { checkAesInput } from '../../kernel/crypto/aes-input.ts'
import type { AsyncCrypto, CryptoPort, ScryptCost } from '../../kernel/io/io.ts'

/**
 * The cryptography of the browser itself, which answers later.
 *
 * @param fallback - for AES keys of 24 bytes, which Chromium has not
 */
export const makeWebCrypto = (
  subtle: SubtleCrypto,
  fallback: { aesCbcDecrypt(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array }
): AsyncCrypto => ({
  sha256: async data => new Uint8Array(await subtle.digest('SHA-256', owned(data))),
  async aesCbcDecrypt(key, iv, data) {
    checkAesInput(key, iv, data)
    if (data.length === 0 || key.length === 24) return fallback.aesCbcDecrypt(key, iv, data)
    const padded = new Uint8Array(data.length + BLOCK)
    padded.set(data)
    const vector = iv.slice()
    const secret = await subtle.importKey('raw', owned(key), 'AES-CBC', false, ['encrypt', 'decrypt'])
    // It always wants padding: a block of it that follows on the last one.
    const padding = await subtle.encrypt(
      { name: 'AES-CBC', iv: padded.slice(-2 * BLOCK, -BLOCK) },
      secret,
      new Uint8Array(0)
    )
    padded.set(new Uint8Array(padding), data.length)
    return new Uint8Array(await subtle.decrypt({ name: 'AES-CBC', iv: vector }, secret, padded))
  }
})

const BLOCK = 16

/** The types of the DOM leave out memory that threads share; nothing here lies in such. */
const owned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => bytes as Uint8Array<ArrayBuffer>

/** A job that the page sends to the worker. */
export interface ScryptJob {
  readonly id: number
  readonly data: Uint8Array
  readonly salt: Uint8Array
  readonly cost: ScryptCost
  /** Bytes. */
  readonly length: number
}

/** The worker's reply; without a key if it failed. */
export interface ScryptAnswer {
  readonly id: number
  readonly key?: Uint8Array
}

/**
 * Makes scrypt that runs in a Web Worker, one job after another, so that the page stays quick and the key comes about twice
 * as soon as in slices.
 *
 * The worker is started by the first job. If it cannot be loaded, dies or refuses, the page does the work itself.
 *
 * @param startWorker - starts `holdfast/browser/scrypt-worker`
 * @param inPage - what is done without a worker
 */
export const makeWorkerScrypt = (
  startWorker: () => Worker,
  inPage: CryptoPort['scrypt']
): CryptoPort['scrypt'] => {
  const waiting = new Map<number, (key: Uint8Array | undefined) => void>()
  let count = 0
  let isBroken = false
  let worker: Worker | undefined
  const giveUp = (): void => {
    isBroken = true
    worker?.terminate()
    for (const answer of waiting.values()) answer(undefined)
    waiting.clear()
  }
  const start = (): Worker => {
    const started = startWorker()
    started.addEventListener('error', giveUp)
    started.addEventListener('messageerror', giveUp)
    started.addEventListener('message', ({ data: { id, key } }: MessageEvent<ScryptAnswer>) => {
      waiting.get(id)?.(key)
      waiting.delete(id)
    })
    return started
  }
  const query = (job: Omit<ScryptJob, 'id'>): Promise<Uint8Array | undefined> =>
    new Promise(resolve => {
      count += 1
      waiting.set(count, resolve)
      try {
        worker ??= start()
        const message: ScryptJob = { id: count, ...job }
        worker.postMessage(message)
      } catch {
        // A policy of the page may forbid workers.
        giveUp()
      }
    })
  return async (data, salt, cost, length) => {
    const own = { data: data.slice(), salt: salt.slice(), cost, length }
    const key = isBroken ? undefined : await query(own)
    try {
      return key ?? (await inPage(own.data, own.salt, cost, length))
    } finally {
      own.data.fill(0)
    }
  }
}
