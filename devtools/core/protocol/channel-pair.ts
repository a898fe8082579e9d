import type { ClientMessage, HostMessage, PanelChannel } from './protocol.ts'

/** The two ends of a channel within one page. */
export interface ChannelPair {
  /** For `attach` of the devtools. */
  readonly host: PanelChannel<HostMessage, ClientMessage>
  /** For `makeClient`. */
  readonly client: PanelChannel<ClientMessage, HostMessage>
}

/**
 * Makes a channel within one page. Messages are handed over as they are, not serialised, in their order and in a later
 * microtask; those that come before somebody listens are kept for the first listener.
 */
export const makeChannelPair = (): ChannelPair => {
  const toClient = makeOneWayChannel<HostMessage>()
  const toHost = makeOneWayChannel<ClientMessage>()
  const close = (): void => {
    toClient.close()
    toHost.close()
  }
  return {
    host: { send: toClient.send, onMessage: toHost.onMessage, onClose: toHost.onClose, close },
    client: { send: toHost.send, onMessage: toClient.onMessage, onClose: toClient.onClose, close }
  }
}

interface OneWayChannel<M> extends PanelChannel<M, M> {}

const makeOneWayChannel = <M>(): OneWayChannel<M> => {
  const listeners: ((message: M) => void)[] = []
  const closeListeners: (() => void)[] = []
  let waiting: M[] = []
  let isClosed = false
  const deliver = (): void => {
    if (listeners.length === 0) return
    const messages = waiting
    waiting = []
    for (const message of messages) for (const listener of listeners) listener(message)
  }
  const soon = (): void => void Promise.resolve().then(deliver)
  return {
    send(message) {
      if (isClosed) return
      waiting.push(message)
      soon()
    },
    onMessage(listener) {
      listeners.push(listener)
      soon()
    },
    onClose: listener => void closeListeners.push(listener),
    close() {
      if (isClosed) return
      isClosed = true
      // After what was sent before.
      void Promise.resolve().then(() => {
        deliver()
        for (const listener of closeListeners) listener()
      })
    }
  }
}
