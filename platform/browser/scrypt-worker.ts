/// <reference lib="dom" />
// The file of a Web Worker that does scrypt beside the page; `makeBrowserIo({ scryptWorker })` speaks to it.
import { scrypt } from '@noble/hashes/scrypt.js'
import type { ScryptAnswer, ScryptJob } from './browser-crypto.ts'

globalThis.addEventListener('message', ({ data: job }: MessageEvent<ScryptJob>) => {
  const { id, data, salt, cost, length } = job
  const { n: N, r, p } = cost
  const answer: ScryptAnswer = answerOf(id, () => scrypt(data, salt, { N, r, p, dkLen: length }))
  data.fill(0)
  globalThis.postMessage(answer)
})

/** The library's words may quote its input. */
const answerOf = (id: number, run: () => Uint8Array): ScryptAnswer => {
  try {
    return { id, key: run() }
  } catch {
    return { id }
  }
}
