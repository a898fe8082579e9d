import type { Channel, Io } from '../kernel/index.ts'

/** What went over the TCP connections of an io. */
export interface Traffic {
  /**
   * How often something was sent after something had been heard, the first time included: requests that leave
   * before any reply has come share one round trip.
   */
  roundTrips: number
  /** UTF-8 bytes. */
  sent: number
  received: number
}

/** An io whose TCP connections are counted. `reset` begins anew. */
export const makeCountedIo = (base: Io): { readonly io: Io; readonly traffic: Traffic; reset(): void } => {
  const traffic: Traffic = { roundTrips: 0, sent: 0, received: 0 }
  let isWaiting = false
  const { connect } = base
  if (connect === undefined) throw new Error('This io has no TCP')
  const io: Io = {
    ...base,
    async connect(address, handlers) {
      const channel = await connect(address, {
        ...handlers,
        onText(text) {
          isWaiting = false
          traffic.received += Buffer.byteLength(text)
          handlers.onText(text)
        }
      })
      return counted(channel, text => {
        if (!isWaiting) traffic.roundTrips++
        isWaiting = true
        traffic.sent += Buffer.byteLength(text)
      })
    }
  }
  return {
    io,
    traffic,
    reset() {
      isWaiting = false
      Object.assign(traffic, { roundTrips: 0, sent: 0, received: 0 })
    }
  }
}

const counted = (channel: Channel, receive: (text: string) => void): Channel => ({
  send(text) {
    receive(text)
    channel.send(text)
  },
  close: () => channel.close()
})
