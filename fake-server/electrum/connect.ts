import type { AbortSignalLike, Channel, ChannelHandlers, Clock, Io } from '../../kernel/io/io.ts'
import { errorReply, RPC } from './json-rpc.ts'
import type { ServerKind } from './kinds.ts'
import { serverKinds } from './kinds.ts'
import type { ServedChain } from './methods.ts'
import { DEFAULT_LIMITS, type ElectrumLimits, type ElectrumSession, makeElectrumSession } from './session.ts'

/** Options of the in-process server. */
export interface ElectrumConnectOptions {
  readonly limits?: Partial<ElectrumLimits>
  /** Longest piece of the stream that `onText` of a TCP connection gets at once; whole messages if left out. */
  readonly sliceLength?: number
  /** The kind of server that it is like; the fake one's own if left out. */
  readonly kind?: ServerKind
  /** Every reply comes so much later; small ones of a kind that holds them, until others have come or twice that is over. */
  readonly delayMs?: number
}

/** The two ways to reach the chain without a network, shaped as the kernel's `Io` has them. */
export interface ElectrumConnect {
  /** TCP: messages end with a newline. Takes any address. */
  readonly connect: NonNullable<Io['connect']>
  /** WebSocket: one message a frame. Takes any URL. */
  readonly webSocket: NonNullable<Io['webSocket']>
  /** Ends all connections, as if the server had stopped; later ones are refused. */
  close(): void
}

/**
 * Serves a chain to engines in the same process. As with a socket, nothing arrives before the caller has returned
 * to the event loop (`clock.turn`), and everything arrives in order.
 */
export const makeElectrumConnect = (
  chain: ServedChain,
  options: ElectrumConnectOptions = {}
): ElectrumConnect => {
  const open = new Set<() => void>()
  let isClosed = false
  const start = async (
    handlers: ChannelHandlers,
    isStream: boolean,
    signal: AbortSignalLike | undefined
  ): Promise<Channel> => {
    await chain.clock.turn()
    if (signal?.aborted === true) throw new Error('The connection is needed no more')
    if (isClosed) throw new Error('connect ECONNREFUSED')
    const line = openLine(chain, handlers, { ...options, isStream, onEnd: end => open.delete(end) })
    open.add(line.end)
    return line.channel
  }
  return {
    connect: (_address, handlers, options) => start(handlers, true, options?.signal),
    webSocket: (_url, handlers, options) => start(handlers, false, options?.signal),
    close: () => {
      isClosed = true
      for (const end of [...open]) end()
    }
  }
}

/**
 * Cuts a stream into messages at newlines, keeping an unfinished one for the next piece.
 *
 * @returns false once a message is longer than the limit; the connection should then be ended
 */
export const makeLineReader = (
  session: ElectrumSession,
  send: (message: string) => void,
  maxMessage: number = DEFAULT_LIMITS.maxMessage
): ((text: string) => boolean) => {
  let rest = ''
  return text => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') session.receive(line)
    if (rest.length <= maxMessage) return true
    rest = ''
    send(errorReply(null, { code: RPC.request, message: `message too large (limit ${maxMessage})` }))
    return false
  }
}

interface LineOptions extends ElectrumConnectOptions {
  readonly isStream: boolean
  readonly onEnd: (end: () => void) => void
}

const openLine = (
  chain: ServedChain,
  handlers: ChannelHandlers,
  { isStream, sliceLength, limits, onEnd, kind = serverKinds.ours, delayMs = 0 }: LineOptions
): { channel: Channel; end: () => void } => {
  let isOpen = true
  const toServer = makeQueue(chain.clock)
  const toClient = makeQueue(chain.clock)
  const deliverNow = (text: string): void =>
    toClient(() => {
      for (const piece of isStream ? slicesOf(`${text}\n`, sliceLength) : [text]) {
        if (isOpen) handlers.onText(piece)
      }
    })
  const deliver = makeHold(chain.clock, deliverNow, { holdsBelow: kind.holdsBelow ?? 0, delayMs })
  const session = makeElectrumSession(chain, deliver, limits, { kind, end: () => end() })
  const read = makeLineReader(session, deliver, limits?.maxMessage)
  const end = (): void => {
    session.close()
    onEnd(end)
    toClient(() => {
      if (!isOpen) return
      isOpen = false
      handlers.onClose()
    })
  }
  const channel: Channel = {
    send: text => {
      if (!isOpen) return
      toServer(() => {
        if (!isOpen) return
        if (!isStream) session.receive(text)
        else if (!read(text)) end()
      })
    },
    close: () => {
      if (!isOpen) return
      isOpen = false
      session.close()
      onEnd(end)
      toClient(() => handlers.onClose())
    }
  }
  return { channel, end }
}

/** Delays replies, each by the same time; what is small is held until it is no longer, or twice that time is over. */
const makeHold = (
  clock: Clock,
  deliver: (text: string) => void,
  { holdsBelow, delayMs }: { readonly holdsBelow: number; readonly delayMs: number }
): ((text: string) => void) => {
  if (delayMs === 0) return deliver
  let held: string[] = []
  let cancel: (() => void) | undefined
  const release = (): void => {
    cancel?.()
    cancel = undefined
    const texts = held
    held = []
    clock.after(delayMs, () => {
      for (const text of texts) deliver(text)
    })
  }
  return text => {
    held.push(text)
    if (held.join('').length >= holdsBelow) release()
    else cancel ??= clock.after(delayMs * 2, release)
  }
}

/** Runs tasks in order, each batch after the event loop has turned. */
const makeQueue = (clock: Clock): ((task: () => void) => void) => {
  let waiting: (() => void)[] = []
  let isRunning = false
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      await clock.turn()
      const batch = waiting
      waiting = []
      for (const task of batch) task()
    }
    isRunning = false
  }
  return task => {
    waiting.push(task)
    if (isRunning) return
    isRunning = true
    void run()
  }
}

const slicesOf = (text: string, length = text.length): readonly string[] => {
  const slices: string[] = []
  for (let at = 0; at < text.length; at += length) slices.push(text.slice(at, at + length))
  return slices
}
