/** Scrypt cost of RFC 7914: block count (a power of two), block size and parallelism. */
export interface ScryptCost {
  readonly n: number
  readonly r: number
  readonly p: number
}

/**
 * The cryptographic primitives of one platform, chosen once at start and self-tested.
 *
 * Every backend gives the same bytes (`test/platform/crypto-backends.test.ts`). Functions never keep or change
 * their inputs.
 *
 * @example
 * ```ts
 * const digest = io.crypto.sha256(io.random(32))
 * io.crypto.toHex(digest) // 64 characters
 * ```
 */
export interface CryptoPort {
  /** Which backend this is, for diagnostics: `node`, `noble`. */
  readonly name: string
  /** RFC 7914. Never blocks the thread for longer than a few milliseconds. */
  scrypt(data: Uint8Array, salt: Uint8Array, cost: ScryptCost, length: number): Promise<Uint8Array>
  sha256(data: Uint8Array): Uint8Array
  hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array
  /** RFC 4226 wants SHA-1; nothing else may use it. */
  hmacSha1(key: Uint8Array, data: Uint8Array): Uint8Array
  /** AES-CBC without padding; `data` is a multiple of 16 bytes, the key 16, 24 or 32. */
  aesCbcEncrypt(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array
  /** The inverse of `aesCbcEncrypt`. */
  aesCbcDecrypt(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array
  /** Standard alphabet with padding. */
  toBase64(data: Uint8Array): string
  /** Strict: bad letters, missing padding and spare bits throw a `TypeError`. */
  fromBase64(text: string): Uint8Array
  /** Lower case. */
  toHex(data: Uint8Array): string
  /** Either case; an odd length or a bad letter throws a `TypeError`. */
  fromHex(text: string): Uint8Array
  /**
   * Writes a text's UTF-8 bytes from `start` on and gives where they end; there is room for three bytes a letter.
   * A lone surrogate throws a `TypeError`.
   */
  writeUtf8(text: string, bytes: Uint8Array, start: number): number
  /** Native cryptography that can only answer later, where the functions above are none: many boxes are opened with it. */
  readonly async?: AsyncCrypto
}

/** Functions of {@link CryptoPort} that answer later with the same bytes. They read their inputs before they return. */
export interface AsyncCrypto {
  sha256(data: Uint8Array): Promise<Uint8Array>
  aesCbcDecrypt(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Promise<Uint8Array>
}

/**
 * The source of time. Everything that waits takes one, so that a test can move it.
 *
 * @example
 * ```ts
 * const began = io.clock.monotonic()
 * const cancel = io.clock.after(5000, () => console.log('5 s later'))
 * console.log(io.clock.monotonic() - began)
 * cancel()
 * ```
 */
export interface Clock {
  /** Milliseconds since 1970, of the calendar. */
  now(): number
  /** Milliseconds that only ever grow, for measuring. */
  monotonic(): number
  /** Runs `task` once after `delayMs`; the returned function cancels it. A timer never keeps a process alive. */
  after(delayMs: number, task: () => void): () => void
  /** Resolves after the event loop has run other work, so that long loops can yield. */
  turn(): Promise<void>
}

/** The options of a request; a small part of the fetch standard. */
export interface FetchOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A body of bytes, in place of `body`. */
  readonly bodyBytes?: Uint8Array
  /** `bytes`: the reply has its body in `bytes` as it was sent, and an empty `text`. `text` by default. */
  readonly replyAs?: 'bytes' | 'text'
  /** The largest body of a reply, if it is not that of the io. */
  readonly maxReplyBytes?: number
  /** Through a proxy, requests of other circuits share no connection with this one; one circuit a server if left out. */
  readonly circuit?: string
  /**
   * True if it does no harm when the request arrives twice: it is sent again if a connection that was kept from an earlier request turns
   * out to be closed. By default true for the methods that the standard calls idempotent, and false for a POST.
   */
  readonly isRepeatable?: boolean
  /** Sends the login that the application has for this origin with it: that of a node. Only currency plugins in the process of the wallet get it. */
  readonly withLogin?: boolean
  /** Aborts the request. */
  readonly signal?: AbortSignalLike
}

/** A reply whose body has been read as text or bytes, bounded by the io (`maxReplyBytes`). */
export interface FetchReply {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body, if the request wanted bytes. */
  readonly bytes?: Uint8Array
}

/** The callbacks of a text connection. None is called after `onClose`. {@link Channel} shows them in use. */
export interface ChannelHandlers {
  /** TCP: any slice of the stream, in order. WebSocket: one whole message. */
  onText(text: string): void
  onClose(error?: Error): void
}

/**
 * An open text connection, made by {@link Io.connect} or {@link Io.webSocket}.
 *
 * @example
 * ```ts
 * const channel = await io.webSocket?.('wss://shop.example.org/prices', {
 *   onText: text => console.log(text),
 *   onClose: error => console.log(error?.message ?? 'closed')
 * })
 * channel?.send('{"subscribe":"BTC"}')
 * ```
 */
export interface Channel {
  send(text: string): void
  close(): void
}

/** The server of a TCP connection. */
export interface TcpAddress {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** Through a proxy, connections of other circuits share nothing with this one; one circuit a server if left out. */
  readonly circuit?: string
}

/** Options of {@link Io.webSocket}; {@link Io.connect} takes the signal, and the circuit in its address. */
export interface WebSocketOptions extends Pick<TcpAddress, 'circuit'> {
  /** Ends the attempt to open the connection, which then rejects at once and leaves no socket. An open connection is closed by {@link Channel.close}. */
  readonly signal?: AbortSignalLike
}

/**
 * Everything ambient that the kernel and its plugins may use; a platform makes one (`holdfast/node`, `holdfast/browser`).
 *
 * @see architecture decision 23
 *
 * @example
 * ```ts
 * import { makeNodeIo } from 'holdfast/node'
 *
 * const nodeIo = makeNodeIo()
 * const { status, text } = await nodeIo.fetch('https://shop.example.org/price')
 * ```
 */
export interface Io {
  readonly crypto: CryptoPort
  readonly clock: Clock
  /** Cryptographically strong random bytes. */
  random(count: number): Uint8Array
  /**
   * Sends one HTTP request, without redirects to another host. It rejects if there is no answer, and with
   * REPLY_TOO_LARGE for a body above 16 MB, or above the limit of the request.
   */
  fetch(url: string, options?: FetchOptions): Promise<FetchReply>
  /** Absent where the platform has no TCP (browsers). */
  readonly connect?: (
    address: TcpAddress,
    handlers: ChannelHandlers,
    options?: Pick<WebSocketOptions, 'signal'>
  ) => Promise<Channel>
  readonly webSocket?: (
    url: string,
    handlers: ChannelHandlers,
    options?: WebSocketOptions
  ) => Promise<Channel>
  /** True if every connection goes through a proxy: answers take longer ({@link patienceOf}), and each wallet has its own circuit. */
  readonly isProxied?: boolean
}

/**
 * The part of `AbortSignal` that the kernel relies on. {@link makeAbort} makes one, and a native `AbortSignal` is one.
 *
 * @example
 * ```ts
 * import type { AbortSignalLike } from 'holdfast/plugin'
 *
 * const fetchPrice = (signal: AbortSignalLike) => io.fetch('https://shop.example.org/price', { signal })
 * ```
 */
export interface AbortSignalLike {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}
