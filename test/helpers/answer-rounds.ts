import type { Channel, Io } from '../../kernel/plugin-api.ts'

/** What went over the connections of {@link withRounds}. */
export interface Rounds {
  readonly io: Io
  /** Dependent round trips: all that is sent before an answer has come shares one. */
  readonly trips: number
  /** Characters, which are bytes here. */
  readonly sent: number
  readonly received: number
  /** Resolves once everything is delivered, and nothing was sent for it. */
  settled(): Promise<void>
  reset(): void
}

/**
 * An io whose TCP connections answer in rounds: everything that has come is delivered once the client has nothing more to do, as if each
 * reply took far longer than any work. How many rounds a step takes is then no matter of the machine's speed.
 */
export const withRounds = (base: Io): Rounds => {
  const { connect } = base
  if (connect === undefined) throw new TypeError('This io has no connections')
  const rounds = { trips: 0, sent: 0, received: 0 }
  let held: (() => void)[] = []
  let activity = 0
  let isRunning = false
  const run = async (): Promise<void> => {
    while (held.length > 0) {
      for (let quiet = 0, seen = activity; quiet < QUIET_TURNS; quiet = seen === activity ? quiet + 1 : 0) {
        seen = activity
        await new Promise(resolve => setImmediate(resolve))
      }
      const round = held
      held = []
      rounds.trips += 1
      for (const deliver of round) deliver()
    }
    isRunning = false
  }
  const hold = (deliver: () => void): void => {
    activity += 1
    held.push(deliver)
    if (isRunning) return
    isRunning = true
    void run()
  }
  const io: Io = {
    ...base,
    clock: {
      ...base.clock,
      turn() {
        activity += 1
        return base.clock.turn()
      }
    },
    async connect(address, handlers) {
      const channel: Channel = await connect(address, {
        onText: text =>
          hold(() => {
            rounds.received += text.length
            handlers.onText(text)
          }),
        onClose: error => hold(() => handlers.onClose(error))
      })
      return {
        close: () => channel.close(),
        send(text) {
          activity += 1
          rounds.sent += text.length
          channel.send(text)
        }
      }
    }
  }
  return {
    io,
    get trips() {
      return rounds.trips
    },
    get sent() {
      return rounds.sent
    },
    get received() {
      return rounds.received
    },
    async settled() {
      for (let quiet = 0; quiet < 2 * QUIET_TURNS; quiet = isRunning ? 0 : quiet + 1)
        await new Promise(resolve => setImmediate(resolve))
    },
    reset: () => Object.assign(rounds, { trips: 0, sent: 0, received: 0 })
  }
}

/** Turns of the event loop without anything happening, after which a client waits for an answer. */
const QUIET_TURNS = 40
