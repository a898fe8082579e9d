import { compact } from '../base/compact.ts'
import type { ChannelHandlers, Clock, CryptoPort, Io } from '../io/io.ts'

/** Digests and encodings, without ciphers. */
export type HashPort = Pick<
  CryptoPort,
  'sha256' | 'hmacSha256' | 'hmacSha1' | 'toBase64' | 'fromBase64' | 'toHex' | 'fromHex'
>

/** The part of the platform that a source of rates may use: time and requests. */
export type RateIo = Pick<Io, 'clock' | 'fetch' | 'isProxied'>

/** The part of the platform that a swap provider may use: time, requests, and digests to sign its requests with. */
export type SwapIo = Pick<Io, 'clock' | 'fetch' | 'isProxied'> & { readonly crypto: HashPort }

/** Called with what a plugin throws outside of a call: in a timer, or when a connection has news. */
export type OnFault = (thrown: unknown) => void

/**
 * Captures the functions that the kernel uses of an application's io: whatever is changed on that object afterwards, or
 * on anything that a plugin is given, changes nothing here. Frozen all through.
 */
export const captureIo = (io: Io): Io => {
  const { crypto, clock } = io
  const { scrypt, sha256, hmacSha256, hmacSha1, aesCbcEncrypt, aesCbcDecrypt } = crypto
  const { toBase64, fromBase64, toHex, fromHex, writeUtf8, async: later } = crypto
  const { now, monotonic, after, turn } = clock
  const { random, fetch, connect, webSocket, isProxied } = io
  return Object.freeze({
    crypto: Object.freeze({
      name: String(crypto.name),
      scrypt: own(crypto, scrypt),
      sha256: own(crypto, sha256),
      hmacSha256: own(crypto, hmacSha256),
      hmacSha1: own(crypto, hmacSha1),
      aesCbcEncrypt: own(crypto, aesCbcEncrypt),
      aesCbcDecrypt: own(crypto, aesCbcDecrypt),
      toBase64: own(crypto, toBase64),
      fromBase64: own(crypto, fromBase64),
      toHex: own(crypto, toHex),
      fromHex: own(crypto, fromHex),
      writeUtf8: own(crypto, writeUtf8),
      ...compact({
        async:
          later &&
          Object.freeze({
            sha256: own(later, later.sha256),
            aesCbcDecrypt: own(later, later.aesCbcDecrypt)
          })
      })
    }),
    clock: Object.freeze({
      now: own(clock, now),
      monotonic: own(clock, monotonic),
      after: own(clock, after),
      turn: own(clock, turn)
    }),
    random: own(io, random),
    fetch: own(io, fetch),
    ...compact({
      connect: connect && own(io, connect),
      webSocket: webSocket && own(io, webSocket),
      isProxied: isProxied === true ? true : undefined
    })
  })
}

/** An io of one currency plugin: all of the platform, in functions of its own. */
export const currencyIo = (io: Io, onFault: OnFault): Io => {
  const { connect, webSocket } = io
  return Object.freeze({
    ...captureIo(io),
    clock: pluginClock(io.clock, onFault),
    ...compact({
      connect:
        connect &&
        Object.freeze<typeof connect>((address, handlers, options) =>
          connect(address, guarded(handlers, onFault), options)
        ),
      webSocket:
        webSocket &&
        Object.freeze<typeof webSocket>((url, handlers, options) =>
          webSocket(url, guarded(handlers, onFault), options)
        )
    })
  })
}

/** An io of one rate plugin. */
export const rateIo = (io: Io, onFault: OnFault): RateIo =>
  Object.freeze({
    clock: pluginClock(io.clock, onFault),
    // What is logged in to is the chain of a currency: a source of rates must not move what a node holds.
    fetch: Object.freeze<Io['fetch']>((url, options) =>
      io.fetch(url, options && { ...options, withLogin: false })
    ),
    ...compact({ isProxied: io.isProxied })
  })

/** An io of one swap plugin. */
export const swapIo = (io: Io, onFault: OnFault): SwapIo => {
  const { sha256, hmacSha256, hmacSha1, toBase64, fromBase64, toHex, fromHex } = captureIo(io).crypto
  const crypto = Object.freeze({ sha256, hmacSha256, hmacSha1, toBase64, fromBase64, toHex, fromHex })
  return Object.freeze({ ...rateIo(io, onFault), crypto })
}

/** Returns a private copy of a function, bound to the object that it is meant to be called on. */
const own = <F extends (...args: never[]) => unknown>(owner: object, fn: F): F =>
  Object.freeze(fn.bind(owner) as F)

/** A clock whose tasks cannot end the process. */
const pluginClock = (clock: Clock, onFault: OnFault): Clock => {
  const { now, monotonic, turn } = clock
  return Object.freeze({
    now: own(clock, now),
    monotonic: own(clock, monotonic),
    after: Object.freeze((delayMs: number, task: () => void) =>
      clock.after(delayMs, () => run(task, onFault))
    ),
    turn: own(clock, turn)
  })
}

const guarded = (handlers: ChannelHandlers, onFault: OnFault): ChannelHandlers => ({
  onText: text => run(() => handlers.onText(text), onFault),
  onClose: error => run(() => handlers.onClose(error), onFault)
})

const run = (task: () => unknown, onFault: OnFault): void => {
  try {
    const answer = task()
    // An async task fits too; its failure must not end the process either.
    if (answer instanceof Promise) Promise.prototype.then.call(answer, undefined, onFault)
  } catch (thrown) {
    onFault(thrown)
  }
}
