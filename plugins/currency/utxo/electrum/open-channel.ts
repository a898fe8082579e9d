import {
  type AbortSignalLike,
  type Channel,
  type ChannelHandlers,
  compact,
  type Io,
  makeAbort,
  patienceOf,
  type TcpAddress
} from '../../../../kernel/plugin-api.ts'

/** Where an Electrum server listens: a TCP address, or a WebSocket URL. */
export type ElectrumServer =
  | { readonly url: string; readonly tcp: TcpAddress }
  | { readonly url: string; readonly webSocket: string }

/** The callbacks of a channel, and what it is opened with. */
export interface ChannelRequest extends ChannelHandlers {
  /** Through a proxy, channels of other circuits share nothing with this one. */
  readonly circuit: string | undefined
  /** Aborts if the channel is needed no more before it is open. */
  readonly needed: AbortSignalLike | undefined
}

/**
 * Opens a channel as long as it is needed and for 10 s at most, three times that through a proxy. An attempt that is given up leaves no
 * socket. Rejects, too, if this platform has no such transport.
 */
export const openChannel = (
  io: Io,
  server: ElectrumServer,
  { circuit, needed, ...handlers }: ChannelRequest
): Promise<Channel> =>
  new Promise((resolve, reject) => {
    const { signal, abort } = makeAbort()
    const settle = (): void => {
      cancel()
      needed?.removeEventListener('abort', onUnneeded)
    }
    const giveUp = (reason: string): void => {
      settle()
      reject(new Error(reason))
      abort()
    }
    const onUnneeded = (): void => giveUp('The connection is needed no more')
    const cancel = io.clock.after(CONNECT_MS * patienceOf(io), () => giveUp('The server does not answer'))
    if (needed?.aborted === true) return onUnneeded()
    needed?.addEventListener('abort', onUnneeded)
    transportOf(io, server, { circuit, signal })(handlers).then(
      channel => {
        // A platform may not know signals.
        if (signal.aborted) return channel.close()
        settle()
        resolve(channel)
      },
      error => {
        settle()
        reject(error instanceof Error ? error : new Error('The server is not there'))
      }
    )
  })

const CONNECT_MS = 10_000

const transportOf = (
  { connect, webSocket }: Io,
  server: ElectrumServer,
  { circuit, signal }: { readonly circuit: string | undefined; readonly signal: AbortSignalLike }
): ((handlers: ChannelHandlers) => Promise<Channel>) => {
  if ('tcp' in server) {
    if (connect === undefined) return async () => refuse('TCP')
    return async handlers => connect({ ...server.tcp, ...compact({ circuit }) }, handlers, { signal })
  }
  if (webSocket === undefined) return async () => refuse('WebSocket')
  return async handlers => webSocket(server.webSocket, handlers, { signal, ...compact({ circuit }) })
}

const refuse = (transport: string): never => {
  throw new Error(`This platform has no ${transport} connections`)
}
