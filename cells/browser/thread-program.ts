/// <reference lib="dom" />
// The program of a cell's thread in a web page: a worker of the sandboxed frame. It is bundled into the frame's file.
import { cbc } from '@noble/ciphers/aes.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { scrypt } from '@noble/hashes/scrypt.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { base64 } from '@scure/base'
import { makeRealm } from '../realm.ts'
import type { ThreadStart } from './host-frame.ts'

// A worker of one plugin has one realm, which becomes the plugin's: what this program needs is taken before that.
const { importScripts } = globalThis as unknown as { importScripts(address: string): void }
const [load, wait] = [importScripts.bind(globalThis), globalThis.setTimeout.bind(globalThis)]
const now = performance.now.bind(performance)
const random = crypto.getRandomValues.bind(crypto)
const notify = globalThis.postMessage.bind(globalThis) as (message: unknown) => void
const listen = globalThis.addEventListener.bind(globalThis)
const encoder = new TextEncoder()

listen('message', ({ data }: MessageEvent<ThreadStart>) => run(data), { once: true })

/** Takes the globals of the web away, loads the plugin, and passes messages between the kernel and its realm. */
const run = ({ line, script, open, maxUnreadLength, maxUnreadMessages }: ThreadStart): void => {
  const post = line.postMessage.bind(line) as (message: unknown) => void
  const { enter, busyMs } = watchTime()
  let unreadLength = 0
  let unreadMessages = 0
  let hasEnded = false
  const send = (text: string): void => {
    unreadLength += text.length
    unreadMessages += 1
    const isFlood = unreadLength > maxUnreadLength || unreadMessages > maxUnreadMessages
    if (isFlood && !hasEnded) post({ end: 'flood' })
    hasEnded ||= isFlood
    if (hasEnded) throw new Error('The cell has ended')
    post(text)
  }
  const sleep = (milliseconds: number, id: number): void => {
    wait(() => enter(() => realm.fire(id)), milliseconds)
  }
  const native = (name: string, ...texts: [string, string, string]): string =>
    natives.get(name)?.(...texts) ?? ''
  line.addEventListener('message', ({ data }: MessageEvent<string | number | null>) => {
    if (typeof data === 'string') enter(() => realm.receive(data))
    else if (data === null) post(busyMs())
    else {
      unreadMessages -= 1
      unreadLength -= data
    }
  })
  listen('unhandledrejection', event => {
    event.preventDefault()
    enter(() => realm.thrown(event.reason))
  })
  line.start()
  takeAway()
  const realm = makeRealm({ send, sleep, native })
  // From here on the page expects pauses.
  post(0)
  enter(() => {
    try {
      load(script)
      realm.receive(open)
    } catch (error) {
      realm.unusable(error)
    } finally {
      notify('loaded')
    }
  })
}

/** Counts the time that tasks take, with the microtasks that they leave. */
const watchTime = (): { enter(task: () => void): void; busyMs(): number } => {
  const { port1, port2 } = new MessageChannel()
  const mark = port2.postMessage.bind(port2) as (message: unknown) => void
  let since: number | undefined
  let isMarked = false
  let total = 0
  const passed = (): number => (since === undefined ? 0 : now() - since)
  port1.onmessage = () => {
    total += passed()
    since = undefined
    isMarked = false
  }
  return {
    enter(task) {
      since ??= now()
      try {
        task()
      } finally {
        // It arrives after the microtasks, and after what was due before it.
        if (!isMarked) mark(null)
        isMarked = true
      }
    },
    busyMs: () => total + passed()
  }
}

const aesCbc = (key: string, iv: string): ReturnType<typeof cbc> =>
  cbc(hexToBytes(key), hexToBytes(iv), { disablePadding: true })

/** The functions of `RealmPort.native`. */
const natives: ReadonlyMap<string, (...texts: [string, string, string]) => string> = new Map(
  Object.entries({
    monotonic: () => String(now()),
    random: (count: string) => bytesToHex(random(new Uint8Array(Math.min(Number(count), 65_536)))),
    sha256: (data: string) => bytesToHex(sha256(hexToBytes(data))),
    hmacSha256: (key: string, data: string) => bytesToHex(hmac(sha256, hexToBytes(key), hexToBytes(data))),
    hmacSha1: (key: string, data: string) => bytesToHex(hmac(sha1, hexToBytes(key), hexToBytes(data))),
    scrypt(data: string, salt: string, cost: string) {
      const [N = 0, r = 0, p = 0, dkLen = 0] = cost.split(',').map(Number)
      return bytesToHex(scrypt(hexToBytes(data), hexToBytes(salt), { N, r, p, dkLen, maxmem: 100_000_000 }))
    },
    toBase64: (data: string) => base64.encode(hexToBytes(data)),
    fromBase64: (text: string) => bytesToHex(base64.decode(text)),
    toUtf8(text: string) {
      if (!(text as string & { isWellFormed(): boolean }).isWellFormed())
        throw new TypeError('A lone surrogate')
      return bytesToHex(encoder.encode(text))
    },
    aesCbcEncrypt: (key: string, iv: string, data: string) =>
      bytesToHex(aesCbc(key, iv).encrypt(hexToBytes(data))),
    aesCbcDecrypt: (key: string, iv: string, data: string) =>
      bytesToHex(aesCbc(key, iv).decrypt(hexToBytes(data)))
  })
)

/** Leaves of the globals those of the language. */
const takeAway = (): void => {
  let owner: object = globalThis
  while (owner !== Object.prototype) {
    for (const name of Reflect.ownKeys(owner)) {
      if (owner === globalThis && LANGUAGE.has(String(name))) continue
      if (Reflect.deleteProperty(owner, name)) continue
      // A constant of an interface, such as TEMPORARY.
      if (typeof Reflect.getOwnPropertyDescriptor(owner, name)?.value === 'number') continue
      if (!Reflect.defineProperty(owner, name, { value: undefined, writable: false }))
        throw new Error(`${String(name)} cannot be taken away`)
    }
    if (owner !== globalThis) Object.freeze(owner)
    owner = Object.getPrototypeOf(owner) ?? Object.prototype
  }
}

const LANGUAGE: ReadonlySet<string> = new Set([
  ...['globalThis', 'undefined', 'NaN', 'Infinity', 'isFinite', 'isNaN', 'parseFloat', 'parseInt'],
  ...['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape'],
  ...['Object', 'Function', 'Boolean', 'Symbol', 'Number', 'BigInt', 'Math', 'Date', 'String', 'RegExp'],
  ...['Array', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Iterator'],
  ...['ArrayBuffer', 'DataView', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array'],
  ...['Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array'],
  ...['Float64Array', 'JSON', 'Promise', 'Proxy', 'Reflect', 'Intl', 'Temporal', 'Error', 'AggregateError'],
  ...['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', 'SuppressedError'],
  ...['DisposableStack', 'AsyncDisposableStack']
])
