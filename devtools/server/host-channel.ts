import type { WebSocket } from 'ws'
import { tryJsonText } from '../../kernel/index.ts'
import type { ClientMessage, HostMessage, PanelChannel } from '../core/protocol/protocol.ts'

/** The kernel's end of a socket. */
export interface HostChannel extends PanelChannel<HostMessage, ClientMessage> {
  /** The panel reads slower than we write: events are to be sampled until it has caught up. */
  isSlow(): boolean
}

/** The number of unread bytes from which a panel counts as slow. */
export const SLOW_BYTES = 1_000_000
/** The number of unread bytes from which a panel is cut off. */
export const CUT_BYTES = 16_000_000

/** Codes of the WebSocket standard (RFC 6455 §7.4.1). */
export const closeCodes = { goingAway: 1001, textOnly: 1003, policy: 1008, tryLater: 1013 } as const

/**
 * Makes a channel of a socket that was let in: JSON text, one message a frame.
 *
 * A frame that is not JSON ends it with 1008, a binary one with 1003. A panel that leaves {@link CUT_BYTES} unread
 * is cut off, so that it costs no memory without bound.
 */
export const makeHostChannel = (socket: WebSocket): HostChannel => {
  // What comes after a bad frame is not listened to, though the other side has not heard of the end yet.
  let isOver = false
  const end = (code: number, reason: string): void => {
    isOver = true
    socket.close(code, reason)
  }
  return {
    send(message) {
      if (isOver || socket.readyState !== socket.OPEN) return
      // What was unread before counts: the tables of many wallets are larger alone, and a panel that was cut off for
      // them would come back and ask for them again.
      if (socket.bufferedAmount > CUT_BYTES) socket.terminate()
      else socket.send(JSON.stringify(message))
    },
    onMessage(listener) {
      socket.on('message', (data, isBinary) => {
        if (isOver) return
        if (isBinary) return end(closeCodes.textOnly, 'text only')
        const message = tryJsonText(data.toString())
        if (message === undefined) end(closeCodes.policy, 'not JSON')
        // Which message it is, if it is any, is looked at by whoever is attached.
        else listener(message as ClientMessage)
      })
    },
    onClose(listener) {
      socket.once('close', listener)
    },
    close: () => end(closeCodes.goingAway, ''),
    isSlow: () => socket.bufferedAmount > SLOW_BYTES
  }
}
